"""Processes that are killed at a chosen point and started again; what their calls did is counted outside of them."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.errors import EmptyInputError
from langgraph.types import Command

from graphs.fenced import Fenced
from graphs.react import build
from graphs.saver import open_saver
from nodes.calls import Admission, Calls
from nodes.decisions import Decisions
from nodes.observe import Observe
from nodes.policy import Policy
from nodes.records import Records
from nodes.runs import UNKNOWN, Runs
from nodes.thoughts import Thoughts
from tools.database import Database, Transaction
from tools.orders import Shop, shop_tools
from tools.tool import Tool

Kind = Literal["pure", "transactional", "keyed", "reconcilable", "once"]
Durability = Literal["sync", "async", "exit"]

PARALLEL = 4
PATIENCE = 60.0
"""Seconds one life may take."""

# The calls of a run, in order: `free` beside the open question, then the approved `asked`, then `free` of step 2.
# "inside" is in the open transaction, before its commit: whatever is written there is written for the audit log too.
POINTS = (
    *("before begin 1", "inside question 1", "after begin 1"),
    *("before record 1", "inside thought 1", "after record 1"),
    *("before record 2", "inside thought 2", "after record 2"),
    *("before ask 1", "inside asked 1", "after ask 1", "before ask 2"),
    *("before decide 1", "inside decision 1", "after decide 1"),
    *("before start 1", "inside intent 1", "after start 1"),
    *("before start 2", "inside intent 2", "after start 2"),
    *("before effect 1", "after effect 1", "before effect 2", "after effect 2", "before effect 3", "after effect 3"),
    *("before finish 1", "inside observation 1", "after finish 1"),
    *("before finish 2", "inside observation 2", "after finish 2"),
    *("before write 1", "after write 1", "before write 2", "after write 2"),
    *("before put 1", "after put 1", "before put 2", "after put 2"),
    *("before observe 1", "after observe 1", "before observe 2", "after observe 2"),
    *("before end 1", "inside result 1", "after end 1"),
)
QUIET = ("begin", "question", "record", "thought", "decide", "decision", "observe", "end", "result")
"""Where no tool is running, so that nothing may be unknown afterwards."""


@dataclass
class Cell:
    """One run, and what kills it: a point of its first life, or the clock in each of its first lives."""

    thread: str
    kind: Kind
    durability: Durability
    point: str = ""
    delays: Sequence[float] = ()
    asynchronous: bool = False
    forgetful: bool = False
    """Whether the ledger admits every call and remembers none."""
    folder: Path = Path()
    number: int = 0
    kills: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        how = self.point or ", ".join(f"{delay * 1000:.0f} ms" for delay in self.delays)
        return f"{self.kind} {self.durability}{' ainvoke' if self.asynchronous else ''} [{how}] {self.thread}"

    def file(self, name: str) -> Path:
        """A file that outlives the processes of the cell."""
        return self.folder / f"{self.thread}.{name}"


class Trap:
    """Kills the process when a point is passed for the n-th time."""

    def __init__(self, point: str) -> None:
        self.label, _, number = point.rpartition(" ")
        self.left = int(number or 0)

    def hit(self, label: str) -> None:
        if label == self.label:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(PATIENCE)

    def around(self, owner: type, method: str, label: str, when: Callable[..., bool] = lambda *_: True) -> None:
        """Pass "before" and "after" the method, where `when` says that it counts."""
        original = getattr(owner, method)

        def watched(*values: Any, **named: Any) -> Any:
            counts = when(*values)
            if counts:
                self.hit(f"before {label}")
            result = original(*values, **named)
            if counts:
                self.hit(f"after {label}")
            return result

        setattr(owner, method, watched)

    def set(self) -> None:
        """Watch every point but the effects themselves; for good, so only in a process that ends soon."""
        finished = [0]

        def acted(*_: Any) -> bool:
            finished[0] -= (one := min(finished[0], 1))
            return one > 0

        def count(label: str) -> None:
            if label == "inside observation":
                finished[0] += 1

        self.around(Runs, "begin", "begin")
        self.around(Thoughts, "record", "record")
        self.around(Decisions, "ask", "ask")
        self.around(Decisions, "decide", "decide")
        self.around(Calls, "start", "start")
        self.around(Calls, "finish", "finish")
        self.around(Calls, "together", "finish")
        self.around(Observe, "__call__", "observe")
        self.around(Runs, "end", "end")
        self.around(Fenced, "put", "put", acted)
        self.around(
            Fenced,
            "put_writes",
            "write",
            lambda _, __, writes, *___: ("results", True) in {(w[0], bool(w[1])) for w in writes},
        )
        tell = Records.tell

        def told(records: Records, transaction: Transaction, thread: str, run: str, kind: str, *rest: Any) -> None:
            tell(records, transaction, thread, run, kind, *rest)
            count(f"inside {kind}")
            self.hit(f"inside {kind}")

        Records.tell = told  # type: ignore[assignment]


class Restless(BaseChatModel):
    """Asks for `free` and `asked`, then for `free`, then answers; asked again, it wants something else each time."""

    args: Callable[[str], dict[str, Any]]

    def __init__(self, args: Callable[[str], dict[str, Any]]) -> None:
        super().__init__(args=args)  # type: ignore[call-arg]
        self.profile = {"tool_calling": True, "structured_output": False}

    @property
    def _llm_type(self) -> str:
        return "restless"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self.bind(tools=list(tools), **kwargs)

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        observed = sum(isinstance(message, ToolMessage) for message in messages)
        wanted = {0: ("free", "asked"), 2: ("free",)}.get(observed, ())
        calls = [{"name": name, "args": self.args(name), "id": f"call_{nonce()}"} for name in wanted]
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        message = AIMessage("" if calls else "all is done", tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


def nonce() -> str:
    """Never the same again, whatever was forked from what."""
    return os.urandom(8).hex()


def args_of(cell: Cell) -> Callable[[str], dict[str, Any]]:
    """Arguments that no other call has."""

    def shopping(name: str) -> dict[str, Any]:
        if name == "free":
            return {"customer": cell.thread, "sku": cell.thread, "quantity": 1 + int.from_bytes(os.urandom(3))}
        return {"order_id": f"O-{order_id(cell)}", "reason": nonce(), "amount": "0.01"}

    return shopping if cell.kind == "transactional" else lambda name: {"what": f"{name} {nonce()}"}


def order_id(cell: Cell) -> int:
    """The order that the cell pays back a cent of."""
    return 100_000 + cell.number


@dataclass
class Service:
    """The world outside: a file, to which every effect adds a line."""

    cell: Cell
    trap: Trap

    def do(self, args: dict[str, Any], key: str = "") -> str:
        """Have an effect; with the `keyed` class a key that was used is answered, and nothing is done."""
        self.trap.hit("before effect")
        before = self.seen(key) if self.cell.kind == "keyed" else None
        if before is None or before != args:
            self.write({"key": key, "args": args} | ({} if before is None else {"conflict": before}))
        self.trap.hit("after effect")
        return f"did {args['what']}"

    def write(self, line: Mapping[str, Any]) -> None:
        file = os.open(self.cell.file("effects"), os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        os.write(file, (json.dumps(line) + "\n").encode())
        os.close(file)

    def lines(self) -> list[dict[str, Any]]:
        file = self.cell.file("effects")
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def seen(self, key: str) -> Any:
        return next((line["args"] for line in self.lines() if line["key"] == key), None)

    def reconcile(self, key: str, args: Mapping[str, Any]) -> str | None:
        """What came of a call, or None."""
        return None if (found := self.seen(key)) is None else f"did {found['what']}"

    def tools(self, database: Database) -> list[Tool]:
        """`free` and `asked`, both of the cell's class."""
        if self.cell.kind == "transactional":
            place, refund = (tool for tool in shop_tools(database) if tool.writes)
            return [self.keyless(place, "free"), self.keyless(refund, "asked")]

        def bare(what: str) -> str:
            return self.do({"what": what})

        def known(what: str, idempotency_key: str) -> str:
            return self.do({"what": what}, idempotency_key)

        facts: dict[str, Any] = {
            "pure": {"function": bare, "idempotent": True},
            "once": {"function": bare},
            "keyed": {"function": known},
            "reconcilable": {"function": known, "reconcile": self.reconcile},
        }[self.cell.kind]
        schema = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
        return [Tool(n, "Does it.", schema=schema, effect="irreversible", **facts) for n in ("free", "asked")]

    def keyless(self, tool: Tool, name: str) -> Tool:
        """The shop's own tool without its own memory for keys, so that nothing but the transaction protects it."""
        place: Any = tool.function

        def function(transaction: Transaction, **args: Any) -> Any:
            self.trap.hit("before effect")
            done = place(**args, transaction=transaction)
            self.trap.hit("after effect")
            return done

        return replace(tool, name=name, function=function)

    def effects(self, database: Database) -> list[dict[str, Any]]:
        """The arguments of everything that was done."""
        if self.cell.kind != "transactional":
            return [line["args"] for line in self.lines()]
        orders = "SELECT customer, sku, quantity FROM orders WHERE customer = ? AND id <> ?"
        refunds = "SELECT reason FROM refunds WHERE order_id = ?"
        with database.transaction() as transaction:
            placed = transaction.all(orders, self.cell.thread, order_id(self.cell))
            paid = transaction.all(refunds, order_id(self.cell))
        return [*placed, *({"order_id": f"O-{order_id(self.cell)}", "amount": "0.01"} | row for row in paid)]


def live(cell: Cell, url: str, trap: Trap) -> None:
    """One life: from whatever the last one left behind to the end of the run, and what is wrong with that end."""
    with open_saver(url) as saver:
        database, service = saver.records.database, Service(cell, trap)
        policy = Policy(tools={"free": "allow", "asked": "ask"})
        graph = build(Restless(args_of(cell)), service.tools(database), approve=policy, checkpointer=saver)
        if cell.forgetful:
            forget()
        state = drive(graph, cell)
        cell.file("verdict").write_text(json.dumps(judge(cell, state, database, service)))


def drive(graph: Any, cell: Cell) -> Any:
    """Go on until nothing is left to do: what anybody does who finds a thread after a crash."""
    config: Any = {"configurable": {"thread_id": cell.thread}}
    task = {"messages": [("user", f"do it for {cell.thread}")]}

    def run(given: Any) -> None:
        if cell.asynchronous:
            asyncio.run(graph.ainvoke(given, config, durability=cell.durability))
        else:
            graph.invoke(given, config, durability=cell.durability)

    for _ in range(8):
        state = graph.get_state(config)
        try:
            if state.interrupts:
                run(Command(resume={question.id: "approve" for question in state.interrupts}))
            elif state.tasks:  # not `next`: a task whose writes are saved is missing there, though nobody took them up
                run(None)
            elif not state.values.get("run"):
                run(task)  # nothing was saved
            else:
                break
        except EmptyInputError:
            run(task)
    return state


def judge(cell: Cell, state: Any, database: Database, service: Service) -> list[str]:
    """What is wrong with a run that came to its end."""
    wrong = []
    if state.tasks or state.values.get("status") != "finished":
        wrong.append(f"not finished: {state.tasks}, {state.values.get('status')}, {state.values.get('reason')}")
    messages = state.values.get("messages", [])
    calls = {call["id"]: call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls}
    told = [message for message in messages if isinstance(message, ToolMessage)]
    if len(calls) != 3 or Counter(message.tool_call_id for message in told) != Counter(dict.fromkeys(calls, 1)):
        wrong.append(f"{len(calls)} calls and {len(told)} observations")
    with database.transaction() as transaction:
        rows = transaction.all("SELECT * FROM tool_calls WHERE thread_id = ? ORDER BY step, idx", cell.thread)
    made = service.effects(database)
    if cell.kind == "pure":
        made = [args for place, args in enumerate(made) if args not in made[:place]]
    if len(rows) != 3:
        wrong.append(f"{len(rows)} rows: {[(row['step'], row['idx'], row['status']) for row in rows]}")
    texts = {message.tool_call_id: message.text for message in told}
    for row in rows:
        args = json.loads(row["args_json"])
        where = f"{row['tool']} of step {row['step']}: "
        call = calls.get(row["provider_call_id"], {})
        if call.get("args") != args:
            wrong.append(f"{where}the ledger says {args}, the history {call.get('args')}")
        told_so = texts.get(row["provider_call_id"], "")
        wrong += [where + why for why in fate(cell, row, made.count(args), told_so)]
    if len(made) > 3:
        wrong.append(f"{len(made)} effects of 3 calls")
    known = [json.loads(row["args_json"]) for row in rows]
    wrong += [f"an effect that nobody decided on: {args}" for args in made if args not in known]
    wrong += [f"a key used for another call: {line}" for line in service.lines() if "conflict" in line]
    return wrong


def fate(cell: Cell, row: Mapping[str, Any], effects: int, told: str) -> list[str]:
    """What is wrong with one call."""
    wrong = []
    if row["tool"] == "asked" and row["decision"] != "approve":
        wrong.append(f"its decision is {row['decision']}")
    if row["status"] == "unknown" and cell.kind == "once":
        if effects > 1:
            wrong.append(f"unknown with {effects} effects")
        if UNKNOWN not in told:
            wrong.append(f"unknown, and the model was told {told!r}")
        if cell.point and cell.point.split(" ")[1] in QUIET:
            wrong.append("unknown though no tool was running")
    elif row["status"] != "done":
        wrong.append(f"{row['status']} ({row['error_code']}) with {effects} effects")
    elif effects != 1:
        wrong.append(f"done with {effects} effects")
    elif UNKNOWN in told or "not executed" in told:
        wrong.append(f"done, and the model was told {told!r}")
    return wrong


def forget() -> None:
    """Take the ledger away; for good, so only in a process that ends soon."""
    Calls.start = lambda *_: Admission(attempt=1)  # type: ignore[method-assign]
    Calls.finish = lambda _, __, ___, observation, ____: observation  # type: ignore[method-assign]
    Thoughts.recorded = lambda *_: None  # type: ignore[method-assign]
    Thoughts.record = lambda _, __, ___, update, ____: update  # type: ignore[method-assign]


@dataclass
class Life:
    """A process at work on a cell."""

    cell: Cell
    pid: int
    due: float
    """When it is killed."""
    deadline: float


@dataclass
class Harness:
    """Runs cells, a few at a time, each in processes of its own; the database is never opened in this one."""

    url: str
    folder: Path
    killed: int = 0

    def run(self, cells: Iterable[Cell], enough: Callable[[], bool] = lambda: False) -> list[Cell]:
        """Every cell to its end, or until it is enough; what was wrong with each is in it."""
        preload(self.url)
        cells = [replace(cell, folder=self.folder, number=number) for number, cell in enumerate(cells)]
        self.prepare(cells)
        waiting, working, ended = iter(cells), list[Life](), list[Cell]()
        more = True
        gc.collect()
        gc.freeze()  # what is not collected is not copied in each child
        try:
            while more or working:
                while more and len(working) < PARALLEL:
                    cell = next(waiting, None)
                    more = cell is not None and not enough()
                    if cell is not None and more:
                        working.append(self.start(cell))
                time.sleep(0.002)
                for life in list(working):
                    if (code := self.look(life)) is None:
                        continue
                    working.remove(life)
                    if self.again(life, code):
                        working.append(self.start(life.cell))
                    else:
                        ended.append(life.cell)
        finally:
            gc.unfreeze()
            for life in working:
                os.kill(life.pid, signal.SIGKILL)
                os.waitpid(life.pid, 0)
        return ended

    def start(self, cell: Cell) -> Life:
        """A new life."""
        now = time.monotonic()
        delay = cell.delays[cell.kills] if cell.kills < len(cell.delays) else float("inf")
        trap = Trap("" if cell.kills else cell.point)

        def work() -> None:
            trap.set()
            live(cell, self.url, trap)

        return Life(cell, forked(work, cell.file("error")), now + delay, now + PATIENCE)

    def look(self, life: Life) -> int | None:
        """How the process ended, if it did; it is killed when its time has come."""
        pid, status = os.waitpid(life.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        now = time.monotonic()
        if now > min(life.due, life.deadline):
            os.kill(life.pid, signal.SIGKILL)
            os.waitpid(life.pid, 0)
            return -signal.SIGKILL if now < life.deadline else 2
        return None

    def again(self, life: Life, code: int) -> bool:
        """Whether the cell needs another life."""
        cell = life.cell
        if code == -signal.SIGKILL:
            cell.kills += 1
            self.killed += 1
            if cell.kills <= max(1, len(cell.delays)):
                return True
            cell.wrong.append("killed more often than it should be")
        elif code == 0:
            cell.wrong += json.loads(cell.file("verdict").read_text())
        else:
            error = cell.file("error")
            cell.wrong.append(error.read_text()[-1500:] if error.exists() else f"ended with {code}")
        return False

    def prepare(self, cells: Sequence[Cell]) -> None:
        """Make every table, and each cell's customer, product and order."""

        def work() -> None:
            with open_saver(self.url) as saver:
                database = saver.records.database
                Shop(database).list_orders("Ada Lovelace")
                with database.transaction() as shop:
                    for cell in cells:
                        name, id = cell.thread, order_id(cell)
                        shop.run("INSERT INTO customers VALUES (?, ?)", name, f"{name}@example.com")
                        shop.run("INSERT INTO products VALUES (?, ?, 1, 1000000000)", name, name)
                        order = "INSERT INTO orders VALUES (?, ?, ?, 1, 1000, 0, 'placed', '2026-01-01')"
                        shop.run(order, id, name, name)

        error = self.folder / "prepare.error"
        if os.waitpid(forked(work, error), 0)[1]:
            raise RuntimeError(error.read_text() if error.exists() else "the tables could not be made")


def preload(url: str) -> None:
    """Import once what every child would import for itself when it first needs it."""
    late = ["limits.storage", "limits.strategies", "langchain_core.tracers.context", "langchain_core.tracers.stdout"]
    late += ["langchain_core.messages.block_translators.langchain_v0"]
    late += ["psycopg_pool", "langgraph.checkpoint.postgres"] if url.startswith("postgresql") else []
    for name in late:
        importlib.import_module(name)


def forked(work: Callable[[], None], error: Path) -> int:
    """Do the work in a copy of this process; what it raises is in the file."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        gc.disable()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        work()
        code = 0
    except BaseException:
        error.write_text(traceback.format_exc())
    finally:
        os._exit(code)


def random_cells(seed: int, number: int) -> list[Cell]:
    """Runs of every kind, each killed a few times."""
    dice = random.Random(seed)
    kinds: tuple[Kind, ...] = ("pure", "transactional", "keyed", "reconcilable", "once")
    durabilities: tuple[Durability, ...] = ("sync", "async", "exit")
    return [
        Cell(
            f"random-{place}",
            dice.choice(kinds),
            dice.choice(durabilities),
            delays=[dice.uniform(0.005, 0.4) for _ in range(dice.randint(1, 6))],
            asynchronous=dice.random() < 0.3,
        )
        for place in range(number)
    ]
