"""A labelled reply as one move: the thoughts, then the first action or the answer, and nothing the model invented."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nodes.dialects import actions, faults, finishing, loose, markup, names
from nodes.dialects.labels import Section, label_at
from nodes.dialects.shapes import ANSWER_DROPPED
from nodes.move import Move
from tools.toolbox import Toolbox

OBSERVATION_DROPPED = "an observation that you wrote yourself, with everything after it: only tools observe"
QUESTION_DROPPED = "a question that you asked yourself, with everything after it"
_INVENTED = {"observation": "an observation", "question": "a question"}
ACTION_DROPPED = "a further action: only the first of a reply is run"


@dataclass
class _Turn:
    """What has been read so far."""

    toolbox: Toolbox
    truncated: bool
    thoughts: list[str] = field(default_factory=list)
    move: Move | None = None
    declined: bool = False
    """An action was written that says there is none."""
    dropped: list[str] = field(default_factory=list)

    def drop(self, what: str) -> None:
        if what not in self.dropped:
            self.dropped.append(what)


def decide(parts: list[Section], toolbox: Toolbox, *, truncated: bool = False) -> Move:
    """The move of a reply's parts.

    Raises:
        FormatError: they hold no move, or one that cannot be read.
    """
    kept, invented = _own(parts)
    turn = _Turn(toolbox, truncated and not invented)
    if invented:
        turn.drop(OBSERVATION_DROPPED if invented == "observation" else QUESTION_DROPPED)
    place = 0
    while place < len(kept):
        place = _take(turn, kept, place)
    if turn.move is None:
        raise _undecided(turn, kept, invented)
    thought = "\n".join(filter(None, (*turn.thoughts, turn.move.thought)))
    return replace(turn.move, thought=thought, dropped=(*turn.move.dropped, *turn.dropped))


def _own(parts: list[Section]) -> tuple[list[Section], str]:
    """The parts before the first observation or question, and which of the two it was."""
    for place, part in enumerate(parts):
        if part.kind in ("observation", "question"):
            return parts[:place], part.kind
    return parts, ""


def _take(turn: _Turn, parts: list[Section], place: int) -> int:
    """Read the part at `place`; the place of the next one to read."""
    part = parts[place]
    last = place == len(parts) - 1
    if part.kind in ("words", "thought"):
        _think(turn, part, last)
    elif part.kind == "input":
        if turn.move is None and not turn.declined:
            raise faults.missing_name()
    elif part.kind == "action":
        follows = parts[place + 1] if not last and parts[place + 1].kind == "input" else None
        if not part.body.strip() and not last and parts[place + 1].kind == "answer":
            # An empty line between the label and `Finish[…]`.
            return place + 1
        if turn.move is not None:
            turn.drop(ACTION_DROPPED)
        else:
            _act(turn, part, follows, place + (2 if follows else 1) == len(parts))
        return place + (2 if follows else 1)
    elif turn.move is None:
        return _answer(turn, parts, place)
    elif turn.move.calls:
        turn.drop(ANSWER_DROPPED)
    return place + 1


def _think(turn: _Turn, part: Section, last: bool) -> None:
    if turn.move is not None:
        return
    at = markup.opening(part.body) if part.kind == "thought" else -1
    if at >= 0 and not part.body[:at].rpartition("\n")[2].strip() and not loose.inside_fence(part.body, at):
        found = markup.marked(part.body, at, turn.toolbox, truncated=turn.truncated and last)
        turn.thoughts.append(found.before)
        turn.move = found.move
    elif part.body.strip():
        turn.thoughts.append(part.body.strip())


def _act(turn: _Turn, part: Section, follows: Section | None, last: bool) -> None:
    given = follows.body if follows else None
    if names.nothing(part.body.strip()) and names.registered(part.body.split("\n")[0], turn.toolbox) is None:
        turn.declined = True
        return
    read = actions.action(part.body, given, turn.toolbox, truncated=turn.truncated and last)
    turn.move = read.move
    after = label_at(read.rest, 0)
    if after == "observation":
        turn.drop(OBSERVATION_DROPPED)
    elif after == "action":
        turn.drop(ACTION_DROPPED)


def _answer(turn: _Turn, parts: list[Section], place: int) -> int:
    """The answer, with parts that are its own text; an action of a tool after it makes the reply ambiguous."""
    text = parts[place].body
    end = place + 1
    while end < len(parts) and _belongs(parts[place], parts[end], turn.toolbox):
        text += parts[end].label + parts[end].body
        end += 1
    if end < len(parts) and parts[end].final and not parts[place].final and parts[end].body.strip():
        return _answer(turn, parts, end)
    if any(part.kind == "action" and _calls(part, turn.toolbox) for part in parts[end:]):
        raise faults.ambiguous()
    cut = turn.truncated and end == len(parts)
    if parts[place].bracketed:
        turn.move = finishing.finish(text, truncated=cut).move
        return len(parts)
    if cut:
        raise faults.truncated()
    turn.move = finishing.answered(text)
    return len(parts)


def _belongs(answer: Section, part: Section, toolbox: Toolbox) -> bool:
    """Whether a labelled part after the answer is words of the answer itself."""
    if part.kind == "action":
        return not _calls(part, toolbox)
    if part.kind == "answer":
        return answer.final and not part.final
    return part.kind == "input"


def _calls(part: Section, toolbox: Toolbox) -> bool:
    """Whether an action names a tool, so that it was meant to be run."""
    line = part.body.strip().partition("\n")[0]
    if line.startswith(("{", "```")):
        return True
    name = line
    for mark in "[(（［【{｛:：":
        name = name.partition(mark)[0] or name
    return names.registered(line, toolbox) is not None or names.registered(name, toolbox) is not None


def _undecided(turn: _Turn, parts: list[Section], invented: str) -> Exception:
    if turn.declined:
        return faults.no_action("Your action was none.")
    if turn.truncated:
        return faults.truncated()
    if turn.thoughts:
        return faults.no_action("You wrote a thought alone.")
    if invented:
        return faults.no_action(
            f"You began with {'an observation' if invented == 'observation' else 'a question'} of your own."
        )
    return faults.no_action()
