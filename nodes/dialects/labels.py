"""The labelled parts of a reply: Thought, Action, Action Input, Observation, Question, Answer, in every spelling."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["words", "thought", "action", "input", "observation", "question", "answer"]

_SPACE = r"[^\S\n]"
_WORDS: dict[Kind, str] = {
    "thought": r"thoughts?|思考过程|思考|想法",
    "input": r"(?:action|tool)(?:[ _-]?\d{1,6})?[ _-]?(?:inputs?|args|arguments|params|parameters)"
    r"|(?:行动|动作|工具)(?:输入|参数)|args|arguments|inputs?|parameters|params|参数|输入",
    "action": r"action(?:[ _-]name)?|行动|动作",
    "observation": r"observations?|obs|观察结果|观察",
    "question": r"questions?|问题",
    "answer": r"final[ _-]?answer|answer|最终答案|最终回答|答案|回答",
}
_ALONE = {"args", "arguments", "input", "inputs", "parameters", "params", "参数", "输入"}
"""Labels of an input only right after an action; elsewhere they are words."""

_WORD = "|".join(f"(?P<{kind}>{words})" for kind, words in _WORDS.items())
_NUMBER = rf"{_SPACE}?[#(（]?\d{{1,9}}(?:\.\d{{1,4}})?[)）]?"
_LABEL = re.compile(
    rf"^(?P<before>[^\S\n]{{0,200}}+(?:[>#*_`•\u200b\ufeff-][>#*_`•\u200b\ufeff \t-]{{0,24}}+)?)"
    r"(?=[taioqpf思想行动工参输观问答最回])"
    rf"(?:(?:{_WORD})(?:{_NUMBER})?(?P<between>[ \t\u3000*_`]{{0,24}}+)(?P<colon>[:：﹕]|$)"
    rf"|(?P<finish>finish)(?:{_SPACE}{{0,8}}+(?P<opens>[:：]|(?=[\[(（［【]))))",
    re.I | re.M,
)
_FENCE = re.compile(r"^[^\S\n]{0,200}+(?P<fence>```|~~~)(?P<info>[^\n]*)$", re.M)
_MARKS = re.compile(r"[*_`]+")
_NOT_ITS_OWN = ("observation", "question")
_MOST = 256
"""Labels of one reply that are read; a model that writes more repeats itself, and the first ones decide."""
_RESIDUE = re.compile(r"\n[\s>#*_`-]{0,24}+(?P<rest>[^\W\d_]{1,11})[^\S\n]{0,8}+\d{0,4}\s{0,8}\Z")


@dataclass(frozen=True)
class Section:
    """One labelled part: what it is, and what stands under its label."""

    kind: Kind
    body: str
    at: int = 0
    """Where its label starts in the text."""
    final: bool = False
    """An answer that is called final."""
    label: str = ""
    """Its label as written."""
    bracketed: bool = False
    """A finish with its answer in brackets."""


def sections(text: str) -> list[Section]:
    """The parts of the text in order; words before the first label are a part of the kind "words".

    A label counts at the start of a line, with or without a number and markdown, outside code fences. The parts end
    with the first observation or question: what follows is not the model's to say.
    """
    found = _own(text)
    parts = [Section("words", text[: found[0].start() if found else len(text)])]
    for number, label in enumerate(found[:_MOST]):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        kind = _kind(label)
        final = kind == "answer" and (label["answer"] or "").lower() != "answer"
        bracketed = bool(label["finish"]) and not label["opens"]
        body = _body(label, text[label.end() : end])
        parts.append(Section(kind, body, label.start(), final, label[0], bracketed))
    return parts


def label_at(text: str, at: int) -> Kind | None:
    """The kind of label that stands at this place, as if a line began there."""
    label = _LABEL.match(text[at : at + 120].lstrip())
    return _kind(label) if label and (label["colon"] or label["finish"]) else None


def without_residue(text: str) -> str:
    """The text without the half of a stop word that was left on its last line."""
    left = _RESIDUE.search(text, max(0, len(text) - 64))
    if left is None:
        return text
    rest = left["rest"].lower()
    half = any(len(rest) >= 3 and stop.startswith(rest) for stop in _NOT_ITS_OWN) or rest == "观"
    return text[: left.start()] if half else text


def unwrapped(text: str) -> str:
    """The text without a code fence that holds all of it, if labels stand in the fence."""
    fence = _FENCE.match(text.lstrip())
    if fence is None:
        return text
    inner = text.lstrip()[fence.end() :].rstrip()
    bare = inner.removesuffix(fence["fence"])
    whole = bare != inner or fence["fence"] not in inner
    return bare if whole and _LABEL.match(inner.lstrip()) else text


def _kind(label: re.Match[str]) -> Kind:
    if label["finish"]:
        return "answer"
    return next(kind for kind in _WORDS if label[kind])


def _own(text: str) -> list[re.Match[str]]:
    """The labels up to the first that is not the model's, and no more than anyone means."""
    found: list[re.Match[str]] = []
    for label in _found(text):
        found.append(label)
        if _kind(label) in _NOT_ITS_OWN or len(found) > _MOST:
            break
    return found


def _found(text: str) -> Iterator[re.Match[str]]:
    """The labels outside fences; a fence that is never closed hides none."""
    fences = list(_FENCE.finditer(text)) if "```" in text or "~~~" in text else []
    last = {fence["fence"]: fence.start() for fence in fences if not fence["info"].strip()}
    events = heapq.merge(fences, _LABEL.finditer(text), key=lambda event: event.start())
    opened = ""
    before: Kind = "words"
    for event in events:
        label = event.re is _LABEL
        if opened:
            if not label and event["fence"] == opened and not event["info"].strip():
                opened = ""
            continue
        if label:
            if not _counts(event, before):
                continue
            yield event
            before = _kind(event)
        opened = _opens(text, event, last)


def _opens(text: str, event: re.Match[str], last: dict[str, int]) -> str:
    """The fence that a line opens, by itself or after its label."""
    line = text[event.end() : event.end() + 8].strip() if event.re is _LABEL else event["fence"]
    fence = line[:3]
    return fence if last.get(fence, -1) > event.start() else ""


def _counts(label: re.Match[str], before: Kind) -> bool:
    if label["finish"]:
        return True
    if label["input"] and label["input"].lower() in _ALONE and before != "action":
        return False
    if label["colon"]:
        return True
    # Without a colon it is a heading, or an observation that stands alone on its line.
    decorated = "#" in label["before"] or "**" in label["before"] and "**" in label["between"]
    return decorated or bool(label["observation"])


def _body(label: re.Match[str], text: str) -> str:
    """What stands under a label, without the marks that made the label bold or code."""
    if label["finish"]:
        return text
    opening = _MARKS.findall(label["before"])
    closing = _MARKS.search(label["between"])
    bare = text.lstrip()
    if opening and not closing:
        if bare.startswith(opening[-1]):
            return bare.removeprefix(opening[-1])
        odd = text.count(opening[-1]) % 2
        return text.rstrip().removesuffix(opening[-1]) if odd else text
    loose = re.match(r"\*{1,3}\s", bare)
    if not opening and not closing and loose and loose[0].startswith("**"):
        return bare[loose.end() :].rstrip().removesuffix(loose[0].strip())
    return text
