"""What surrounds a model's words: its reasoning blocks and the special tokens that leak into the text."""

from __future__ import annotations

import re

_OPEN = re.compile(
    r"<(think|thinking|reasoning|reason|thought_process)>|\[(THINK)\]|<\|channel>(thought)\b|◁(think)▷", re.I
)
_CLOSE = re.compile(r"</(think|thinking|reasoning|reason|thought_process)>|\[/(THINK)\]|<(channel)\|>|◁/(think)▷", re.I)
_ANSWERED = re.compile(
    r"^[\s>#*_`-]{0,24}+(?:final[ _-]?answer|answer|最终答案|答案|回答)[ \d*_`]{0,12}+[:：]", re.I | re.M
)
_TURN = re.compile(
    r"(?<![`'\"“‘])(?:<\|(?:im_end|im_start|eot_id|eom_id|endoftext|end_of_text|end|return|user|start_header_id)\|>"
    r"|</s>|<end_of_turn>|<start_of_turn>|<eos>|<｜end▁of▁sentence｜>|<\|end▁of▁sentence\|>)"
)
_SPECIAL = (
    r"(?:<\|(?!/?tool|python|channel)[^|<>\s]{1,40}\|>|<｜(?!tool)[^｜<>]{1,40}｜>"
    r"|</?s>|<(?:bos|eos|pad|unk|end_of_turn)>)"
)
_LEADING = re.compile(rf"(?:\s|{_SPECIAL})*")
_TRAILING = re.compile(rf"{_SPECIAL}\s*\Z")
_CHANNEL = re.compile(r"<\|channel\|>(?P<head>[^<]{0,200})(?:<\|constrain\|>[^<]{0,40})?(?:<\|message\|>)")
_CHANNEL_END = re.compile(r"<\|(?:end|call|return|start|channel)\|>")


def apart(text: str) -> tuple[str, str, bool]:
    """The visible text, the reasoning, and whether the text ends inside the reasoning.

    A block counts where a line or the text begins with it, up to the answer: inside an answer it is text. A closing
    tag alone ends a reasoning whose opening tag stood in the prompt.
    """
    kept: list[str] = []
    thought: list[str] = []
    at = 0
    if (orphan := _orphan(text)) is not None:
        thought.append(text[: orphan.start()])
        at = orphan.end()
    while opening := _OPEN.search(text, at):
        before = text[at : opening.start()]
        kept.append(before)
        if _ANSWERED.search(before):
            kept.append(text[opening.start() :])
            return "".join(kept), _joined(thought), False
        if before.rpartition("\n")[2].strip():
            kept.append(opening[0])
            at = opening.end()
            continue
        closing = _CLOSE.search(text, opening.end())
        thought.append(text[opening.end() : closing.start() if closing else len(text)])
        if closing is None:
            return "".join(kept), _joined(thought), True
        at = closing.end()
    kept.append(text[at:])
    return "".join(kept), _joined(thought), False


def _orphan(text: str) -> re.Match[str] | None:
    closing = _CLOSE.search(text)
    if closing is None or _OPEN.search(text, 0, closing.start()):
        return None
    after = text[closing.end() : closing.end() + 1]
    before = text[: closing.start()]
    alone = not before or before.endswith("\n") or after in ("", "\n")
    return closing if alone or not _ANSWERED.search(before) else None


def _joined(blocks: list[str]) -> str:
    return "\n".join(filter(None, (block.strip() for block in blocks)))


def opened(text: str) -> str:
    """The text without special tokens before its first word."""
    start = _LEADING.match(text)
    return text[start.end() if start else 0 :]


def bare(text: str) -> str:
    """The model's own turn: special tokens at both ends removed, and what follows the end of the turn."""
    text = opened(text)
    if turn := _TURN.search(text):
        text = text[: turn.start()]
    while trailing := _TRAILING.search(text, max(0, len(text) - 64)):
        text = text[: trailing.start()]
    return text


def name_before_token(name: str) -> str:
    """A tool's name up to the first special token that leaked into it."""
    return re.split(r"<[|｜]", name, maxsplit=1)[0].strip()


def channels(text: str) -> list[tuple[str, str]]:
    """The channels of a gpt-oss reply: what each head says (`commentary to=functions.search`) and its message."""
    parts = []
    for head in _CHANNEL.finditer(text):
        end = _CHANNEL_END.search(text, head.end())
        parts.append((head["head"].strip(), text[head.end() : end.start() if end else len(text)]))
    return parts
