"""The desk: every question about a call, whatever its thread, found by a short id and decided there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from graphs.fenced import Fenced
from nodes.answers import UnclearAnswer
from nodes.decisions import Decisions
from nodes.policy import Policy
from reasonact.approval_question import Question, question_of
from reasonact.endings import Refused
from reasonact.equipment import policy_of, toolbox_of
from reasonact.home import saver
from reasonact.questions import short_id, standing
from reasonact.settings import Settings, read_label
from tools.database import Row

HASH_CHARS = 16
"""Characters of a hash that are enough to mean it; so many are shown with the question."""
_ROWS = "SELECT tool_calls.*, runs.requester FROM tool_calls LEFT JOIN runs ON runs.run_id = tool_calls.run_id"
_KNOWN = "asked_at IS NOT NULL OR decided_at IS NOT NULL OR status = 'unknown'"


class Desk:
    """Where people decide without the run that asked."""

    def __init__(self, store: Fenced) -> None:
        self.store, self.records, self.toolbox = store, store.records, toolbox_of(store)

    def waiting(self) -> list[Question]:
        """What a person has to look at, oldest first; questions whose time has passed are closed before.

        Raises:
            Refused: the ledger cannot be read.
        """
        with readable():
            Decisions(self.records, Policy(), self.toolbox).sweep()
            rows = self._rows(
                f"{_ROWS} WHERE status IN ('awaiting', 'unknown') ORDER BY COALESCE(asked_at, created_at), call_uid"
            )
            return [self._question(row) for row in rows]

    def question(self, id: str) -> Question:
        """The question with this id: the beginning of a short one, or a call's whole uid.

        Raises:
            Refused: there is none, or several.
        """
        rows = self._rows(f"{_ROWS} WHERE call_uid = ?", id) if "/" in id else self._beginning_with(id.casefold())
        if not rows:
            raise Refused(f"there is no call {id}: see reasonact approvals")
        if len(rows) > 1:
            found = ", ".join(short_id(row["call_uid"]) for row in rows[:5])
            raise Refused(f"{id} is the beginning of several ids ({found}): give more of it")
        with readable():
            return self._question(rows[0])

    def decide(self, id: str, answer: Mapping[str, Any], who: str | None, why: str = "", hash: str = "") -> Question:
        """Decide an open question, under the policy of its thread.

        Raises:
            Refused: it is not open, was changed since `hash` was read, or may not be decided like this or by `who`.
        """
        asked = self.question(id)
        if asked.status != "awaiting":
            raise Refused(f"too late for {asked.id}: {standing(asked.row)}")
        if hash and (len(hash) < HASH_CHARS or not asked.sha256.startswith(hash.casefold())):
            raise Refused(f"the hash is not that of this call: read it again with reasonact approvals show {asked.id}")
        if asked.tool not in self.toolbox:
            raise Refused(f"reasonact has no tool {asked.tool}: decide where the agent with that tool runs")
        decisions = Decisions(self.records, self.policy(asked), self.toolbox)
        call = {"name": asked.tool, "args": asked.args, "id": asked.row["provider_call_id"]}
        try:
            decision = decisions.judged(answer, call, asked.row["requester"], who)
        except UnclearAnswer as unclear:
            raise Refused(f"not decided: {unclear}") from unclear
        if why:
            decision = {**decision, "message": why}
        with readable():
            stands = decisions.decide(asked.call_uid, asked.row["approval_id"], decision, who, asked.sha256)
        after = self.question(asked.call_uid)
        if stands != decision:
            late = standing(after.row) if after.status != "awaiting" else "the question has changed, read it again"
            raise Refused(f"too late for {asked.id}: {late}")
        return after

    def settle(self, id: str, status: Literal["done", "failed"], who: str | None, why: str) -> Question:
        """Close a call of which nobody knew whether it took effect.

        Raises:
            Refused: it is none of these.
        """
        asked = self.question(id)
        with readable():
            settled = Decisions(self.records, Policy(), self.toolbox).settle(asked.call_uid, status, who, why)
        if not settled:
            raise Refused(f"{asked.id} cannot be settled: it is {asked.status}, not unknown")
        return self.question(asked.call_uid)

    def policy(self, asked: Question) -> Policy:
        """The policy in force on the thread that asks."""
        found = self.store.get_tuple({"configurable": {"thread_id": asked.thread}})
        settings = read_label(found.metadata)[1] if found else Settings()
        return policy_of(settings, self.toolbox)

    def _question(self, row: Row) -> Question:
        return question_of(row, self.records, self.toolbox)

    def _beginning_with(self, prefix: str) -> Sequence[Row]:
        """Also what is decided already: an id that was typed for it must not mean another call."""
        uids = [row["call_uid"] for row in self._rows(f"SELECT call_uid FROM tool_calls WHERE {_KNOWN}")]
        found = [uid for uid in uids if prefix and short_id(uid).startswith(prefix)]
        return [row for uid in found[:6] for row in self._rows(f"{_ROWS} WHERE call_uid = ?", uid)]

    def _rows(self, sql: str, *values: Any) -> Sequence[Row]:
        with self.records.database.transaction() as transaction:
            return transaction.all(sql, *values)


@contextmanager
def desk() -> Iterator[Desk]:
    """The desk on this user's database."""
    with saver() as store:
        yield Desk(store)


@contextmanager
def readable() -> Iterator[None]:
    """Say what to do about a ledger that was sealed with another key.

    Raises:
        Refused: it was.
    """
    try:
        yield
    except ValueError as error:
        raise Refused(
            "the ledger cannot be read: set REASONACT_ENCRYPTION_KEY to the key it was written with"
        ) from error
