"""The steps of a run, as an auditor reads them."""

from __future__ import annotations

from langchain_core.messages import AIMessage

from tests.walking import calls, walk


def test_every_reply_is_a_step_with_all_that_came_of_it() -> None:
    both = calls(("look", {"what": "a"}), ("pay", {"amount": 5}), thought="Two things.")
    walked = walk([both, AIMessage("Thought: hm."), "done"], [{"type": "reject", "message": "no money"}])
    first, second, third = walked.state["steps"]
    assert (first["number"], first["thought"]) == (1, "Two things.")
    assert [(call["name"], call["args"]) for call in first["calls"]] == [
        ("look", {"what": "a"}),
        ("pay", {"amount": 5}),
    ]
    seen, refused = first["observations"]
    assert (seen["number"], seen["text"], seen["code"]) == (1, "found a", "ok") and seen["seconds"] >= 0
    assert refused["code"] == "rejected" and "no money" in refused["text"]
    assert [o["call_id"] for o in first["observations"]] == [call["id"] for call in first["calls"]]
    assert second["number"] == 2 and second["error"] and not second["calls"]
    assert third["number"] == 3 and "error" not in third
