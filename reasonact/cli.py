"""The command `reasonact`: options and help; what they do is imported when a command runs, so that help is quick."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from reasonact import __version__
from reasonact.approval_commands import approvals_app
from reasonact.audit_commands import audit_app
from reasonact.commands import HELP, Commands
from reasonact.endings import EPILOG
from reasonact.info_commands import ApproveOption, PolicyOption, graph, migrate, rules, tools
from reasonact.settings import Settings
from reasonact.thread_commands import threads_app
from reasonact.worker_commands import enqueue, worker

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings=HELP,
    epilog=EPILOG,
)
app.add_typer(threads_app, name="threads")
app.add_typer(approvals_app, name="approvals")
app.add_typer(audit_app, name="audit")

Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print the answer and nothing else.")]
Json = Annotated[bool, typer.Option("--json", help="Print the typed result as one JSON object and nothing else.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reasonact {__version__}")
        raise typer.Exit


@app.callback()
def reasonact(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Ask an agent that thinks, uses tools, and lets you decide what it may do."""


@app.command(epilog=EPILOG)
def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads it from stdin.", metavar="QUESTION")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="provider:name, or local; given again, one that takes over when the first fails.  [default: "
            "REASONACT_MODEL, else OpenAI's if OPENAI_API_KEY is set, else local]",
        ),
    ] = None,
    dialect: Annotated[
        Literal["auto", "text", "json", "native"],
        typer.Option(help="How the model is spoken to; auto goes by what it can do."),
    ] = "auto",
    thread: Annotated[str | None, typer.Option(metavar="ID", help="Continue this thread, or begin it.")] = None,
    approve: ApproveOption = None,
    policy: PolicyOption = None,
    max_steps: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Calls of the model; 0 is no limit.  [default: 10]")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Tokens read and written; 0 is no limit.  [default: 50000]")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Working time without waiting for you; 0 is no limit.  [default: 120]"
        ),
    ] = None,
    on_limit: Annotated[
        Literal["stop", "answer", "ask"],
        typer.Option(help="At a limit: stop, give the best answer so far, or ask you."),
    ] = "stop",
    language: Annotated[
        Literal["auto", "en", "zh"],
        typer.Option(help="Language of the agent's instructions; auto goes by the question."),
    ] = "auto",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Ask a question: watch the agent think and act, then read its answer.

    Calls that may change something wait for your approval: y, n, edit or reply. Ctrl-C stops after the present step and
    loses nothing.
    """
    from reasonact.session import Session

    settings = Settings(
        tuple(model or ()),
        dialect,
        approve or "",
        str(policy or ""),
        on_limit,
        language,
        max_steps,
        max_tokens,
        timeout,
    )
    asked = sys.stdin.read() if question == "-" else question
    raise typer.Exit(Session(quiet, json).ask(asked, settings, thread))


@app.command(epilog=EPILOG)
def resume(
    thread: Annotated[
        str | None,
        typer.Argument(metavar="[THREAD]", help="The thread; without, the newest that waits or is unfinished."),
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Answer the open question: approve, 'reject REASON', 'edit JSON', 'respond TEXT'; at a limit extend, "
            "'hint TEXT', 'answer TEXT', abort.",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a run that waits for you, was interrupted or crashed."""
    from reasonact.session import Session

    raise typer.Exit(Session(quiet, json).resume(thread, answer))


for told in (tools, graph, rules, migrate, worker, enqueue):
    app.command()(told)


def main() -> None:
    """Run the command; a mark that the terminal cannot show is written as an escape, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()


if __name__ == "__main__":
    main()
