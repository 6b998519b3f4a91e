"""What is said to the model about a reply that cannot be read: what was wrong, and what to write instead."""

from __future__ import annotations

from nodes.move import FormatError
from tools.arguments import signature
from tools.tool import Tool
from tools.toolbox import Toolbox

_NAMED = 30
"""Names of tools listed in one sentence."""


def shown(text: str, most: int = 60) -> str:
    """A piece of the reply, short and printable, to be quoted back."""
    clean = "".join(mark if mark.isprintable() else " " for mark in text[: most + 1].strip())
    return f"{clean[: most - 1]}…" if len(text.strip()) > most else clean


def truncated() -> FormatError:
    """The output limit cut the part that would have been used."""
    return FormatError(
        "truncated",
        "Your reply was cut by the output limit, so none of it was used. Write less: a short thought, "
        "and a smaller input or a shorter answer.",
    )


def too_long() -> FormatError:
    """The reply is longer than anything that is read."""
    return FormatError("truncated", "Only 64 kB of a reply are read, and yours is not complete there. Write less.")


def empty() -> FormatError:
    """Nothing was said outside the reasoning."""
    return FormatError("empty_output", "Your reply was empty. Write an action, or the final answer.")


def empty_answer() -> FormatError:
    """A finish without an answer."""
    return FormatError("empty_output", "You finished without an answer. Finish again, with the answer.")


def no_action(why: str = "Your reply had no action and no answer.") -> FormatError:
    """Words that neither call a tool nor answer."""
    return FormatError("no_action", f"{why} Call one of the tools, or give the final answer.")


def missing_name() -> FormatError:
    """An input without an action."""
    return FormatError("missing_action_name", 'The action has no name. Write "Action:" and the name of one tool.')


def missing_input(tool: Tool) -> FormatError:
    """A tool that needs arguments was called with none."""
    return FormatError("missing_action_input", f"{tool.name} was called without its input. It takes {signature(tool)}.")


def unknown(name: str, toolbox: Toolbox) -> FormatError:
    """No tool has this name."""
    if not toolbox:
        return FormatError(
            "unknown_tool", f'There is no tool "{shown(name)}": no tools are offered. Give the final answer.'
        )
    names = ", ".join(list(toolbox)[:_NAMED]) + (", …" if len(toolbox) > _NAMED else "")
    near = toolbox.nearest(name)
    hint = f" Did you mean {near}?" if near else ""
    return FormatError("unknown_tool", f'There is no tool "{shown(name)}". The tools are: {names}.{hint}')


def wrong_arguments(error: ValueError) -> FormatError:
    """The arguments do not fit the tool, as the error says."""
    return FormatError("invalid_arguments", f"{str(error)[:900]}")


def unreadable_input(tool: Tool, why: str) -> FormatError:
    """The input of a known tool is no value."""
    return FormatError(
        "invalid_arguments",
        f"The input of {tool.name} cannot be read: {why}. Write it as JSON. It takes {signature(tool)}.",
    )


def bad_shape(why: str) -> FormatError:
    """A call whose form cannot be read."""
    return FormatError(
        "invalid_call_shape",
        f'The call cannot be read: {why}. Write it as {{"name": "…", "arguments": {{…}}}}, in valid JSON.',
    )


def ambiguous() -> FormatError:
    """An answer, and an action after it."""
    return FormatError(
        "ambiguous_action_and_answer",
        "You gave an answer and then an action, so neither was used. Write only one: the action, or the final answer.",
    )
