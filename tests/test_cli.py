from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from typer.testing import CliRunner
from werkzeug import Request, Response

from reasonact import equipment, tables
from reasonact.cli import app
from reasonact.endings import ExitCode
from reasonact.home import thread_id
from reasonact.settings import Settings, label, read_label
from tests.command import counted_tools
from tests.terminal import Terminal

ROOT = Path(__file__).parent.parent
COMMANDS = ([], ["ask"], ["resume"], ["threads"], ["threads", "show"], ["threads", "delete"], ["tools"], ["graph"],
    ["migrate"], ["approvals"], ["approvals", "approve"], ["approvals", "settle"], ["audit"], ["audit", "verify"],
)  # fmt: skip
HEAVY = ("langgraph", "langchain_core", "langchain", "openai", "rich.live", "sqlite3")

Reply = tuple[str, list[tuple[str, dict[str, Any]]]]
"""What the model says: words, and calls."""


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


class Command:
    """`reasonact` in a process of its own, on a model that a loopback server plays."""

    def __init__(self, server: HTTPServer, home: Path) -> None:
        self.server, self.home = server, home
        self.effects_file = home / "effects"
        self.requests: list[dict[str, Any]] = []
        self.env = {
            **os.environ,
            "OPENAI_BASE_URL": server.url_for("/v1"),
            "OPENAI_API_KEY": "test",
            "REASONACT_HOME": str(home / "reasonact"),
            "REASONACT_MODEL": "openai:test-model",
            "EFFECTS": str(self.effects_file),
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "100",
        }
        for name in ("VISUAL", "EDITOR", "OPENAI_API_BASE"):
            self.env.pop(name, None)

    def says(self, *replies: Reply) -> None:
        """The model's replies; which one it gives goes by the observations it has seen since the last question."""
        self.server.clear()
        self.server.expect_request("/v1/chat/completions").respond_with_handler(
            lambda request: self._reply(request, replies)
        )

    def _reply(self, request: Request, replies: tuple[Reply, ...]) -> Response:
        asked = json.loads(request.data)
        self.requests.append(asked)
        place = 0
        for message in asked["messages"]:
            place = place + 1 if message["role"] == "assistant" else place
        words, calls = replies[min(place, len(replies) - 1)]
        made = [
            {"id": f"call-{place}-{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for i, (name, args) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": words, **({"tool_calls": made} if made else {})}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}
        whole = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "test-model",
            "choices": [choice],
            "usage": usage,
        }
        return Response(json.dumps(whole), content_type="application/json")

    @property
    def effects(self) -> list[str]:
        return self.effects_file.read_text().splitlines() if self.effects_file.exists() else []

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "tests.command", *words]

    def run(self, *words: str, stdin: str = "", **env: str) -> Done:
        """In this process, which is quick."""
        with pytest.MonkeyPatch.context() as patch:
            for name in set(os.environ) - set(self.env):
                patch.delenv(name)
            for name, value in {**self.env, **env}.items():
                patch.setenv(name, value)
            patch.setattr(equipment, "demo_tools", counted_tools)
            patch.setattr(tables, "demo_tools", counted_tools)
            done = CliRunner().invoke(app, words, input=stdin)
        return Done(done.exit_code, done.stdout, done.stderr)

    def process(self, *words: str, **env: str) -> Done:
        """In a process of its own, as a user runs it."""
        line = self.line(*words)
        done = subprocess.run(line, capture_output=True, text=True, env={**self.env, **env}, cwd=self.home, timeout=120)
        return Done(done.returncode, done.stdout, done.stderr)

    def terminal(self, *words: str, **env: str) -> Terminal:
        return Terminal(self.line(*words), {**self.env, **env})


@pytest.fixture
def command(httpserver: HTTPServer, tmp_path: Path) -> Command:
    return Command(httpserver, tmp_path)


ANSWER: Reply = ("Final Answer: it is done.", [])
ADD: Reply = ("I add.", [("add", {"a": 17, "b": 23})])
PAY: Reply = ("I pay.", [("pay", {"to": "Ann", "amount": 20})])


def test_help_imports_nothing_heavy_and_names_the_exit_codes() -> None:
    for words in COMMANDS:
        code = (
            "import sys; sys.argv = ['reasonact', *sys.argv[1:]]\n"
            "from reasonact.cli import main\n"
            "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
            f"print([name for name in {HEAVY!r} if name in sys.modules])"
        )
        line = [sys.executable, "-c", code, *words, "--help"]
        done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "COLUMNS": "100"})
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Usage: reasonact"), done.stdout
        assert done.stdout.splitlines()[-1] == "[]", words
        assert max(map(len, done.stdout.splitlines())) <= 100
        if words in ([], ["ask"], ["resume"]):
            assert "4 waiting for a person" in " ".join(done.stdout.split())


def test_help_takes_a_small_part_of_the_time_of_the_libraries() -> None:
    def seconds(*line: str) -> float:
        times = []
        for _ in range(3):
            began = time.perf_counter()
            subprocess.run([sys.executable, *line], capture_output=True, cwd=ROOT, check=True)
            times.append(time.perf_counter() - began)
        return min(times)

    helped = seconds("-m", "reasonact.cli", "ask", "--help")
    assert helped < 0.5 * seconds("-c", "import graphs.react, langchain_openai")


def test_the_answer_is_on_stdout_and_the_steps_are_not(command: Command) -> None:
    command.says(ADD, ANSWER)
    done = command.run("ask", "What is 17 + 23?")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "it is done."
    for shown in (
        "Dialect native",
        "Step 1 (",
        "tokens)",
        "Thought: I add.",
        "Action: add(a=17, b=23)",
        "Observation: 40",
    ):
        assert shown in done.stderr
    assert "finished · 2 steps" in done.stderr


def test_quiet_prints_the_answer_and_nothing_else(command: Command) -> None:
    command.says(ADD, ANSWER)
    done = command.process("ask", "-q", "What is 17 + 23?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "it is done.\n", "")


def test_json_is_one_object_with_the_typed_result(command: Command) -> None:
    command.says(ADD, ANSWER)
    done = command.run("ask", "--json", "--thread", "sums", "What is 17 + 23?")
    result = json.loads(done.stdout)
    assert done.returncode == 0 and done.stderr == ""
    assert set(result) == {"status", "reason", "answer", "steps", "tokens", "thread"}
    assert (result["status"], result["answer"], result["thread"]) == ("finished", "it is done.", "sums")
    assert result["tokens"] == {"input": 200, "output": 20, "total": 220}
    assert result["steps"][0]["observations"][0]["text"] == "40"


def test_json_can_be_read_whatever_the_encoding(command: Command) -> None:
    command.says(("Final Answer: 北京 \u00e9 \u202e", []))
    for encoding in ("ascii", "latin-1", "utf-8"):
        done = command.process("ask", "--json", "Where?", PYTHONIOENCODING=encoding)
        assert json.loads(done.stdout)["answer"] == "北京 \u00e9 \u202e"


def test_the_question_comes_from_stdin(command: Command) -> None:
    command.says(ANSWER)
    assert command.run("ask", "-q", "-", stdin="What is\nthe time?").returncode == 0
    assert "What is\nthe time?" in json.dumps(command.requests[0], ensure_ascii=False).replace("\\n", "\n")


@pytest.mark.parametrize("dialect", ["text", "json"])
def test_the_dialect_is_the_one_asked_for(command: Command, dialect: str) -> None:
    said = (
        'Thought: Sure.\nFinish["it is done."]'
        if dialect == "text"
        else json.dumps({"thought": "Sure.", "answer": "it is done."})
    )
    command.says((said, []))
    done = command.run("ask", "--dialect", dialect, "Are you there?")
    assert f"Dialect {dialect}" in done.stderr
    assert "tools" not in command.requests[0]


def test_a_thread_goes_on(command: Command) -> None:
    command.says(ANSWER)
    assert command.run("ask", "-q", "--thread", "t", "First?").returncode == 0
    assert command.run("ask", "-q", "--thread", "t", "Second?").returncode == 0
    assert "First?" in json.dumps(command.requests[-1])
    assert command.run("threads").stdout.split("\t")[3].strip() == "First?"


def test_a_limit_has_its_own_code_and_prints_no_answer(command: Command) -> None:
    command.says(ADD, ("More.", [("add", {"a": 1, "b": 2})]))
    done = command.run("ask", "--max-steps", "1", "Add.")
    assert (done.returncode, done.stdout) == (ExitCode.STOPPED, "")
    assert "Stopped: the limit of 1 steps was reached." in done.stderr
    result = json.loads(command.run("ask", "--json", "--max-tokens", "150", "Add.").stdout)
    assert (result["status"], result["answer"]) == ("token_budget", None)


def test_a_model_that_fails_ends_with_its_own_code(command: Command) -> None:
    command.server.expect_request("/v1/chat/completions").respond_with_data("secret-words", status=401)
    done = command.run("ask", "Hello?")
    assert done.returncode == ExitCode.FAILED
    assert "the key was refused" in done.stderr
    assert "secret-words" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", ""], "there is no question"),
        (["ask", "-"], "there is no question"),
        (["ask", "--model", "gpt", "Hello?"], "does not say whose model it is"),
        (["ask", "--model", "nobody:gpt", "Hello?"], "nobody"),
        (["ask", "--thread", "../x", "Hello?"], "is no thread id"),
        (["ask", "--thread", "", "Hello?"], "is no thread id"),
        (["ask", "--thread", "x" * 65, "Hello?"], "is no thread id"),
        (["ask", "--max-steps", "-1", "Hello?"], "--max-steps"),
        (["ask", "--max-steps", "many", "Hello?"], "--max-steps"),
        (["ask", "--dialect", "latin", "Hello?"], "--dialect"),
        (["ask", "--on-limit", "cry", "Hello?"], "--on-limit"),
        (["ask"], "QUESTION"),
        (["asks"], "asks"),
        (["resume"], "no thread waits for you"),
        (["resume", "nope"], "there is no thread nope"),
        (["resume", "a b"], "is no thread id"),
        (["threads", "show", "nope"], "there is no thread nope"),
        (["threads", "delete", "--yes", "nope"], "there is no thread nope"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(command: Command, words: list[str], said: str) -> None:
    done = command.run(*words)
    assert (done.returncode, done.stdout) == (ExitCode.REFUSED, "")
    assert said in done.stderr and "Traceback" not in done.stderr


def test_without_any_model_it_says_what_to_do(command: Command) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "REASONACT_MODEL"):
        del command.env[name]
    done = command.run("ask", "--model", "openai:gpt-5.5", "Hello?")
    assert done.returncode == ExitCode.REFUSED and "OPENAI_API_KEY" in done.stderr
    assert command.run("threads").stdout == "", "nothing is kept of a question that no model was asked"


def test_a_home_that_cannot_be_is_said(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command.run("threads", REASONACT_HOME=str(tmp_path / "file" / "home"))
    assert done.returncode == ExitCode.REFUSED and "REASONACT_HOME" in done.stderr
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "checkpoints.sqlite").write_bytes(b"no database at all" * 100)
    done = command.run("threads", REASONACT_HOME=str(tmp_path / "broken"))
    assert done.returncode == ExitCode.REFUSED and "Traceback" not in done.stderr


def test_threads_are_kept_where_xdg_says(command: Command, tmp_path: Path) -> None:
    command.says(ANSWER)
    del command.env["REASONACT_HOME"]
    command.run("ask", "-q", "Hello?", XDG_DATA_HOME=str(tmp_path / "data"))
    path = tmp_path / "data" / "reasonact" / "checkpoints.sqlite"
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()
    assert path.parent.stat().st_mode & 0o077 == 0, "threads are nobody else's business"


def test_where_nobody_can_answer_the_run_waits(command: Command) -> None:
    command.says(PAY, ANSWER)
    done = command.run("ask", "--thread", "bill", "Pay Ann.")
    assert (done.returncode, done.stdout, command.effects) == (ExitCode.WAITING, "", [])
    assert "reasonact resume bill --answer approve" in done.stderr and "amount: 20" in done.stderr
    result = json.loads(command.run("resume", "--json").stdout)
    assert f"reasonact approvals approve {result['approval']} " in done.stderr
    assert (result["status"], result["question"]["name"]) == ("waiting", "pay")
    assert command.run("ask", "--thread", "bill", "And now?").returncode == ExitCode.REFUSED
    assert command.run("threads").stdout.split("\t")[2] == "waiting for approval"
    done = command.run("resume", "bill", "--answer", "approve", "-q")
    assert (done.returncode, done.stdout) == (0, "it is done.\n")
    assert command.effects == ["pay Ann 20"]


@pytest.mark.parametrize(
    ("answer", "effects"),
    [
        ("y", ["pay Ann 20"]),
        ("同意", ["pay Ann 20"]),
        ('{"decisions": [{"type": "approve"}]}', ["pay Ann 20"]),
        ('edit {"to": "Ann", "amount": 5}', ["pay Ann 5"]),
        ("reject too much", []),
        ("respond already paid", []),
    ],
)
def test_an_answer_on_the_command_line(command: Command, answer: str, effects: list[str]) -> None:
    command.says(PAY, ANSWER)
    command.run("ask", "Pay Ann.")
    assert command.run("resume", "--answer", answer).returncode == 0
    assert command.effects == effects
    assert answer.partition(" ")[2].strip("{}") in json.dumps(command.requests[-1]["messages"][-1]) or effects


@pytest.mark.parametrize(
    "answer", ["yes but less", "sure", "", "edit {", 'edit {"amount": "x"}', "edit [1]", "respond", "[]"]
)
def test_an_answer_that_is_none_changes_nothing(command: Command, answer: str) -> None:
    command.says(PAY, ANSWER)
    command.run("ask", "Pay Ann.")
    done = command.run("resume", "--answer", answer)
    assert done.returncode == ExitCode.REFUSED and "Traceback" not in done.stderr
    assert command.effects == []
    assert command.run("resume").returncode == ExitCode.WAITING


def test_a_finished_thread_is_not_run_again(command: Command) -> None:
    command.says(PAY, ANSWER)
    assert command.run("ask", "--thread", "t", "--approve", "none", "Pay Ann.").returncode == 0
    asked = len(command.requests)
    for words in (["resume", "t"], ["resume", "t", "--answer", "approve"]):
        done = command.run(*words)
        assert done.returncode == ExitCode.REFUSED and "is finished" in done.stderr
    assert (command.effects, len(command.requests)) == (["pay Ann 20"], asked)


def test_a_person_decides_at_a_limit(command: Command) -> None:
    command.says(ADD, ANSWER)
    assert command.run("ask", "--max-steps", "1", "--on-limit", "ask", "Add.").returncode == ExitCode.WAITING
    assert "waiting at a limit" in command.run("threads").stdout
    assert command.run("resume", "--answer", "hint").returncode == ExitCode.REFUSED
    assert command.run("resume", "--answer", "extend", "-q").stdout == "it is done.\n"


def test_threads_are_shown_and_deleted(command: Command) -> None:
    command.says(PAY, ANSWER)
    command.run("ask", "--thread", "one", "--approve", "none", "Pay\x1b[2J Ann.")
    command.run("ask", "--thread", "two", "Pay Bob.")
    shown = command.run("threads", "show", "one").stdout
    assert "Action: pay(" in shown and "Observation: paid 20 to Ann" in shown and "Answer: it is done." in shown
    assert "\x1b" not in shown
    assert [row.split("\t")[0] for row in command.run("threads").stdout.splitlines()] == ["two", "one"]
    assert command.run("threads", "delete", "one").returncode == ExitCode.REFUSED
    assert command.run("threads", "delete", "--yes", "one").returncode == 0
    assert [row.split("\t")[0] for row in command.run("threads").stdout.splitlines()] == ["two"]


def test_two_processes_do_not_work_on_one_thread(command: Command) -> None:
    command.says(("I wait.", [("wait", {"name": "a"})]), ANSWER)
    with subprocess.Popen(
        command.line("ask", "-q", "--thread", "t", "Wait."), env={**command.env, "WAIT": "8"}
    ) as first:
        until(lambda: command.effects == ["wait a"])
        assert "another reasonact is at work" in command.run("ask", "--thread", "t", "Me too.").stderr
        assert command.run("resume", "t").returncode == ExitCode.REFUSED
        assert first.wait(30) == 0
    assert command.effects == ["wait a"]


def test_tools_graph_rules_and_version(command: Command) -> None:
    rows = [row.split("\t") for row in command.run("tools").stdout.splitlines()]
    assert rows[0] == ["add", "a b", "read", "allow", "10", "30", "30"]
    assert rows[2] == ["pay", "to amount", "irreversible", "ask", "5", "30", "30"]
    assert "guard -. &nbsp;ask&nbsp; .-> approve" in command.run("graph").stdout
    assert "step_limit\tbefore think\tstop\tsteps" in command.run("rules").stdout
    assert command.run("--version").stdout.startswith("reasonact ")


def test_a_tree_is_drawn_on_a_terminal(command: Command) -> None:
    command.says(ADD, ANSWER)
    with command.terminal("ask", "What is 17 + 23?") as terminal:
        assert terminal.end() == 0
        for shown in (
            "Step 1  ",
            "├── Thought I add.",
            "└── Action add(a=17, b=23)",
            "    └── Observation 40",
            "it is done.",
        ):
            assert shown in terminal.screen


def test_a_person_approves(command: Command) -> None:
    command.says(
        ("I pay.", [("pay", {"to": "Ann\u202e\u200b\n  amount: 1", "amount": 20}), ("add", {"a": 1, "b": 2})]), ANSWER
    )
    with command.terminal("ask", "Pay Ann.") as terminal:
        asked = terminal.wait_for("y approve")
        assert "pay  effect: irreversible" in asked and "amount: 20" in asked and "I pay." in asked
        assert r'to: "Ann\u202e\u200b\n  amount: 1"' in asked
        assert command.effects == []
        terminal.type("y")
        assert terminal.end() == 0
    assert command.effects[0].startswith("pay Ann")


def test_only_a_clear_yes_is_a_yes(command: Command) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "Pay Ann.") as terminal:
        for words in ("", "sure", "yes but less", "ja", "approve all"):
            terminal.type(words)
            terminal.wait_for("y approve")
        assert command.effects == []
        terminal.type("q")
        assert terminal.end() == ExitCode.WAITING
    assert command.effects == []


def test_a_person_rejects(command: Command) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "Pay Ann.") as terminal:
        terminal.type("n")
        terminal.wait_for("Why?")
        terminal.type("she is rich")
        assert terminal.end() == 0
    assert command.effects == []
    assert "she is rich" in json.dumps(command.requests[-1])


def test_a_person_replies(command: Command) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "Pay Ann.") as terminal:
        terminal.type("r paid already, in cash")
        assert terminal.end() == 0
    assert command.effects == []
    assert "paid already, in cash" in json.dumps(command.requests[-1])


def test_a_person_edits_on_the_line(command: Command) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "Pay Ann.") as terminal:
        terminal.type("e")
        terminal.wait_for('now {"to": "Ann", "amount": 20}')
        terminal.type("{oops")
        terminal.wait_for("are not JSON")
        terminal.type('e {"to": "Ann", "amount": "lots"}')
        terminal.wait_for("do not fit")
        terminal.type('e {"to": "Ann", "amount": 5}')
        assert "+ amount: 5" in terminal.wait_for("May this run?")
        terminal.type("y")
        assert terminal.end() == 0
    assert command.effects == ["pay Ann 5"]


def test_a_person_edits_in_the_editor(command: Command) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "Pay Ann.", EDITOR="sed -i s/20/7/") as terminal:
        terminal.type("e")
        terminal.wait_for("+ amount: 7")
        terminal.type("y")
        assert terminal.end() == 0
    assert command.effects == ["pay Ann 7"]


def test_what_was_typed_before_the_question_is_no_answer(command: Command) -> None:
    command.says(("I wait.", [("wait", {"name": "a"})]), PAY, ANSWER)
    with command.terminal("ask", "Pay Ann.") as terminal:
        terminal.wait_for("running wait")
        terminal.press(b"y\n")
        terminal.wait_for("y approve")
        time.sleep(0.5)
        assert command.effects == ["wait a"]
        terminal.type("q")
        assert terminal.end() == ExitCode.WAITING


@pytest.mark.parametrize("key", [b"\x03", b"\x04"])
def test_leaving_a_question_keeps_it(command: Command, key: bytes) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "--thread", "t", "Pay Ann.") as terminal:
        terminal.wait_for("> ")
        time.sleep(0.5)  # CPython misses a signal between showing the prompt and reading
        terminal.press(key)
        assert terminal.end() == ExitCode.WAITING
        assert "reasonact resume t" in terminal.screen
    with command.terminal("resume") as terminal:
        terminal.type("y")
        assert terminal.end() == 0
        assert "it is done." in terminal.screen
    assert command.effects == ["pay Ann 20"]


def test_a_person_decides_at_a_limit_on_the_terminal(command: Command) -> None:
    command.says(ADD, ANSWER)
    with command.terminal("ask", "--max-steps", "1", "--on-limit", "ask", "Add.") as terminal:
        terminal.type("h")
        terminal.wait_for("What the model is told")
        terminal.type("be quick")
        assert terminal.end() == 0
    assert "be quick" in json.dumps(command.requests[-1])


def test_ctrl_c_loses_nothing(command: Command) -> None:
    command.says(*[(f"I wait for {name}.", [("wait", {"name": name})]) for name in "ab"], ANSWER)
    with command.terminal("ask", "--thread", "t", "Wait.") as terminal:
        terminal.wait_for("running wait")
        until(lambda: command.effects == ["wait a"])
        terminal.press(b"\x03")
        terminal.wait_for("Stopping after this step")
        assert terminal.end() == ExitCode.INTERRUPTED
        assert "reasonact resume t" in terminal.screen
    assert command.run("threads").stdout.split("\t")[2] == "unfinished"
    assert command.run("ask", "--thread", "t", "Else?").returncode == ExitCode.REFUSED
    done = command.run("resume")
    assert done.returncode == 0, done.stderr
    assert command.effects == ["wait a", "wait b"], "what was done is not done again"


def test_a_second_ctrl_c_ends_at_once(command: Command) -> None:
    command.says(("I wait.", [("wait", {"name": "a"})]), ANSWER)
    with command.terminal("ask", "Wait.", WAIT="25") as terminal:
        terminal.wait_for("running wait")
        terminal.press(b"\x03")
        terminal.wait_for("Stopping after this step")
        began = time.monotonic()
        terminal.press(b"\x03")
        assert terminal.end() == ExitCode.INTERRUPTED
        assert time.monotonic() - began < 5
    assert command.run("resume", "-q", WAIT="0").stdout == "it is done.\n"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_goes_on(command: Command, how: signal.Signals) -> None:
    command.says(ADD, ("I wait.", [("wait", {"name": "a"})]), ANSWER)
    with subprocess.Popen(command.line("ask", "-q", "Wait."), env=command.env) as process:
        until(lambda: command.effects == ["wait a"])
        process.send_signal(how)
        assert process.wait(30) == (ExitCode.INTERRUPTED if how == signal.SIGTERM else -how)
    done = command.run("resume", "--json", WAIT="0")
    assert [step["number"] for step in json.loads(done.stdout)["steps"]] == [1, 2, 3]


def test_resuming_goes_on_with_the_settings_of_the_question(command: Command) -> None:
    command.says(PAY, ("More.", [("add", {"a": 1, "b": 2})]), ("More.", [("add", {"a": 2, "b": 2})]), ANSWER)
    command.run("ask", "--max-steps", "2", "Pay Ann.")
    done = command.run("resume", "--answer", "y", "--json")
    assert json.loads(done.stdout)["status"] == "step_limit"


def test_settings_are_kept_as_text() -> None:
    settings = Settings(model=("a:b", "c:d"), max_steps=3, timeout=1.5, on_limit="ask")
    assert read_label(label("What?", settings)) == ("What?", settings)
    assert read_label({"reasonact": "no json"}) == read_label(None) == ("", Settings())
    assert settings.limits == {"steps": 3, "seconds": 1.5, "on_limit": "ask"}


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("mysql://a:pass-word@b/c", "is no database"),
        ("postgresql://me:pass-word@127.0.0.1:1/x", "is its server running"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_sentence(command: Command, address: str, told: str) -> None:
    done = command.run("threads", REASONACT_DATABASE=address)
    assert done.returncode == ExitCode.REFUSED and told in done.stderr
    assert "Traceback" not in done.stderr and "pass-word" not in done.stderr


def test_thread_ids() -> None:
    assert thread_id("A-z_09") == "A-z_09"


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
