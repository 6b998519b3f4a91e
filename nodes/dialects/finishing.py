"""The finish, written as an action: `Finish[…]`, `finish(answer="…")`, `Finish: …`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodes.dialects import brackets, faults, names
from nodes.dialects.objects import Unreadable, first
from nodes.move import Move

_INVENTED = re.compile(r"\s(?:Observation|观察结果|观察)(?:\s?\d{1,6})?\s?[:：]")


@dataclass(frozen=True)
class Read:
    """A move, and what stood after it in the same part."""

    move: Move
    rest: str = ""


def finish(text: str, *, truncated: bool = False) -> Read:
    """The answer in the brackets of a finish; a bracket that never closes is forgiven unless the reply was cut.

    Raises:
        FormatError: the answer is empty or cut.
    """
    text = text.strip()
    end = brackets.closing(text, 0)
    if end < 0 and truncated:
        raise faults.truncated()
    inner, rest = (text[1:end], text[end + 1 :]) if end >= 0 else (unclosed(text[1:]), "")
    return Read(answered(_finished(inner)), rest)


def answered(text: str) -> Move:
    """An answer as a move.

    Raises:
        FormatError: there is none.
    """
    if not text.strip():
        raise faults.empty_answer()
    return Move(answer=text.strip())


def finish_plain(text: str, truncated: bool) -> Move:
    """The answer written behind the label, without brackets.

    Raises:
        FormatError: it is empty or cut.
    """
    if truncated:
        raise faults.truncated()
    return answered(_finished(text) if text.strip().startswith(("{", '"')) else text)


def _finished(inner: str) -> str:
    """The answer as it stands in the brackets: quoted, `answer="…"`, an object, or words."""
    inner = inner.strip()
    if inner.startswith("{"):
        try:
            value, end = first(inner)
        except Unreadable:
            return inner
        return names.answer_in(value) if not inner[end:].strip() else inner
    by_name = brackets.named(inner, ("answer", "final_answer", "result", "text", "output", "response"))
    return names.answer_in(by_name) if by_name and len(by_name) == 1 else brackets.unquoted(inner)


def unclosed(inner: str) -> str:
    """What stands in brackets that never close: up to the invented observation, without what is left of a pair."""
    if told := _INVENTED.search(inner):
        inner = inner[: told.start()]
    inner = inner.strip()
    for opener, closer in ("[]", "()", "［］", "（）", "【】"):
        if inner.endswith(closer) and inner.count(closer) > inner.count(opener):
            inner = inner[:-1].rstrip()
    if inner[:1] in brackets.QUOTES and inner.count(brackets.QUOTES[inner[0]], 1) == 0:
        inner = inner[1:]
    return inner
