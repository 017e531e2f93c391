"""The conversation about a plan: what was sent stays the same, until the oldest turns are dropped."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from codeplan.planning.feedback import MAX_CONVERSATION_CHARS, ShownParts
from codeplan.planning.planner import ConversationTurn, PlanConversation

HALF = MAX_CONVERSATION_CHARS // 2


def turn(name: str, length: int = 100) -> ConversationTurn:
    """A turn whose reply and told take so many characters together, and which shows a variable of its own."""
    told = "t" * (length - len(f"reply {name}"))
    return ConversationTurn(f"reply {name}", f"plan {name}", told, f"summary {name}", ShownParts(variables={name: 1}))


def conversation(*turns: ConversationTurn) -> tuple[PlanConversation, list[list[str]]]:
    """A conversation with these turns, and the summaries that each text for a shortened one was made from."""
    opened, dropped = PlanConversation([{"role": "system", "content": "s"}, {"role": "user", "content": "task"}]), []

    for each in turns:

        def write(summaries: Sequence[str], above: ShownParts, each: ConversationTurn = each) -> ConversationTurn:
            if not summaries:
                return each
            dropped.append([*summaries, *(f"above: {name}" for name in above.variables)])
            return replace(each, told="told anew")

        opened.add(write)
    return opened, dropped


def programs(opened: PlanConversation) -> list[str]:
    return [m["content"] for m in opened.messages if m["role"] == "assistant"]


def test_each_reply_is_followed_by_what_was_told() -> None:
    opened, dropped = conversation(turn("a"), turn("b"))
    assert [m["role"] for m in opened.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert programs(opened) == ["```python\nreply a\n```", "```python\nreply b\n```"]
    assert opened.messages[3]["content"] == turn("a").told
    assert dropped == []


def test_a_reply_without_a_program_is_a_comment() -> None:
    opened, _ = conversation(ConversationTurn(" \n", "", "told", ""))
    assert programs(opened) == ["```python\n# no program\n```"]


@pytest.mark.parametrize(("more", "kept"), [(0, 2), (1, 1)])
def test_turns_are_dropped_only_beyond_the_maximum(more: int, kept: int) -> None:
    opened, dropped = conversation(turn("a", HALF), turn("b", HALF + more))
    assert len(programs(opened)) == kept
    assert dropped == ([] if kept == 2 else [["summary a"]])


@pytest.mark.parametrize(("last", "kept"), [(HALF // 2, ["plan c", "reply d"]), (HALF // 2 + 1, ["plan d"])])
def test_the_rest_takes_half_at_most_and_begins_with_a_whole_plan(last: int, kept: list[str]) -> None:
    turns = turn("a", HALF), turn("b", HALF // 2), turn("c", HALF // 2), turn("d", last)
    opened, dropped = conversation(*turns)
    assert programs(opened) == [f"```python\n{program}\n```" for program in kept]
    above = ["above: c"][: len(kept) - 1]  # what was dropped is above no longer
    assert dropped == [["summary a", "summary b", "summary c"][: 4 - len(kept)] + above]
    assert opened.messages[-1]["content"] == "told anew"


def test_only_the_newest_is_told_anew_and_names_all_that_were_dropped() -> None:
    opened, dropped = conversation(turn("a", HALF), turn("b", HALF + 1), turn("c", 500), turn("d", HALF))
    assert dropped == [["summary a"]]
    assert programs(opened) == ["```python\nplan b\n```", "```python\nreply c\n```", "```python\nreply d\n```"]
    opened, dropped = conversation(turn("a", HALF), turn("b", HALF + 1), turn("c", MAX_CONVERSATION_CHARS), turn("d"))
    assert dropped == [["summary a"], ["summary a", "summary b"]]
    assert programs(opened) == ["```python\nplan c\n```", "```python\nreply d\n```"]
    assert [m["content"] for m in opened.messages[3::2]] == ["told anew", turn("d").told]


def test_the_newest_turn_stays_however_long_it_is() -> None:
    opened, dropped = conversation(turn("a", 3 * MAX_CONVERSATION_CHARS))
    assert programs(opened) == ["```python\nreply a\n```"]
    assert opened.messages[-1]["content"] == turn("a", 3 * MAX_CONVERSATION_CHARS).told
    assert dropped == []
