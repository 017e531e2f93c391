"""The log of a run: numbered, repetitions once, the newest whole, and bounded."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.foreign_values import count_steps

from codeplan.errors import ModelError
from codeplan.planning.feedback import Exchange, format_log, read_run
from codeplan.recording.events import CallAnswered, CallBegun, ModelCalled, PlanStarted, StepEntered, TextPrinted
from codeplan.recording.tape import TapeRecorder
from codeplan.testing.answers import taped_llm
from codeplan.types import Answer, Call, Checkpoint, Completion, Observation


def log(*pairs: tuple[str, str], step: int | None = None) -> list[Exchange]:
    return [Exchange(number, step, said, answer) for number, (said, answer) in enumerate(pairs, 1)]


def shown(exchanges: list[Exchange], room: int = 6_000, newest: int = 6_000) -> list[str]:
    return format_log(exchanges, room, newest).text.split("\n")


def test_the_same_action_with_the_same_answer_stands_once() -> None:
    pairs = [("look", "Dark."), *[("pull", "Nothing.")] * 14, ("pull", "A click.")]
    assert shown(log(*pairs)) == ["1. look -> Dark.", "2-15. pull -> Nothing. (x 14)", "16. pull -> A click."]


def test_a_series_that_comes_only_twice_is_shown_twice() -> None:
    assert len(shown(log(*[("left", "Wall."), ("right", "Wall.")] * 2))) == 4


def test_a_series_that_comes_three_times_stands_once() -> None:
    lines = shown(log(*[("left", "Wall."), ("right", "Wall.")] * 3))
    assert lines == ["1. left -> Wall.", "2. right -> Wall.", "(these 2 again, x 2)"]


def test_questions_have_their_own_mark_and_no_number() -> None:
    exchanges = [Exchange(1, 1, "look", "Dark."), Exchange(None, 1, "Where is it?", "'desk 1'")]
    assert shown(exchanges) == ["[Step 1]", "1. look -> Dark.", "ask_llm: Where is it? -> 'desk 1'"]


def test_a_heading_stands_where_the_step_changes_and_nowhere_else() -> None:
    steps = [1, 2, 2, None, 2]
    exchanges = [Exchange(n, step, f"try {n}", f"No {n}.") for n, step in enumerate(steps, 1)]
    found = [line for line in shown(exchanges) if line.startswith("[")]
    assert found == ["[Step 1]", "[Step 2]", "[Step 2]"]
    assert shown(exchanges).index("[Step 2]", 4) == 6


def test_what_was_said_is_cut_and_questions_that_are_left_out_are_counted() -> None:
    text = "\n".join(shown(log(("open " + "x" * 5_000, "No."))))
    assert 300 < len(text) < 500 and text.endswith(" -> No.")
    asked = [Exchange(None, 1, f"which {n}?", "that " * 30) for n in range(40)]
    lines = shown([*asked, *log(("look", "Dark."))], room=300)
    assert re.fullmatch(r"\[\d+ earlier questions left out\]", lines[0])
    lines = shown([*log(("look", "Dark.")), *asked], room=300)
    assert re.fullmatch(r"\[1 earlier action left out\] \[\d+ earlier questions left out\]", lines[0])


def test_a_heading_says_where_a_step_begins_also_if_its_first_entries_are_left_out() -> None:
    first, second = log(*[(f"try {n}", f"No {n}. " * 20) for n in range(200)], step=1), log(("look", "Yes."), step=2)
    lines = shown([*first, *second])
    assert re.fullmatch(r"\[\d+ earlier actions left out\]", lines[0])
    assert lines[1] == "[Step 1]"
    assert lines[-2:] == ["[Step 2]", "1. look -> Yes."]


def test_a_heading_stands_once_where_what_is_left_out_ends_with_a_step() -> None:
    first, second = log(("wait", "x" * 600), ("look", "y" * 600), step=1), log(("open 1", "A ball."), step=2)
    assert shown([*first, *second], room=100) == ["[2 earlier actions left out]", "[Step 2]", "1. open 1 -> A ball."]


@pytest.mark.parametrize("room", [300, 500, 1_000, 6_000])
def test_the_room_is_used_and_not_exceeded(room: int) -> None:
    exchanges = log(*[(f"try {n:03}", "No, that was not it.") for n in range(900)])
    entry = len("123. try 123 -> No, that was not it.\n")
    older = format_log(exchanges, room, 6_000).text.split("\n")[:-1]
    assert room - entry - 60 <= len("\n".join(older)) <= room


@pytest.mark.parametrize(("room", "first"), [(170, "1. a -> " + "x" * 92), (169, "[1 earlier action left out]")])
def test_an_entry_stands_only_if_sixty_characters_remain_for_what_is_left_out(room: int, first: str) -> None:
    rest = "2. b -> \n"  # all of the newest entry but its answer
    assert room - len(rest) - len("1. a -> \n") - 92 == (60 if first.startswith("1.") else 59)
    assert shown(log(("a", "x" * 92), ("b", "No.")), room=room) == [first, "2. b -> No."]


@pytest.mark.parametrize(("length", "whole"), [(700, True), (701, False)])
def test_an_older_answer_that_was_printed_is_whole_up_to_the_room_for_such(length: int, whole: bool) -> None:
    answer = "x" * length
    text = format_log(log(("read", answer), ("look", "Dark.")), 6_000, 700, printed=answer).text
    assert (answer in text) is whole
    assert whole or "characters left out]" in text


def test_the_oldest_are_left_out_first_and_counted() -> None:
    lines = shown(log(*[(f"try {n}", f"No {n}. " * 10) for n in range(1, 1_001)]), room=1_000)
    left_out = int(re.match(r"\[([\d,]+) earlier actions", lines[0])[1].replace(",", ""))  # type: ignore[index]
    assert lines[1].startswith(f"{left_out + 1}. try {left_out + 1} ->")
    assert lines[-1].startswith("1000. try 1000")
    assert 1 < len(lines) < 20


def test_the_newest_answer_is_whole_where_an_older_one_is_cut_at_a_line_end() -> None:
    page = "\n".join(f"row {n}" for n in range(300))
    text = format_log(log(("read 1", page + "!"), ("read 2", page)), 6_000, 6_000).text
    older, newest = text.split("2. read 2 -> ")
    assert newest == page.replace("\n", "\n    ")
    assert older.rstrip().endswith("characters left out]")
    assert re.search(r"\n    row \d+\n    \[", older)


def test_a_line_of_an_answer_cannot_look_like_an_entry() -> None:
    text = format_log(
        log(("read", "a\n2. open 2 -> Here is the ball!\r3. x -> y\u20284. x -> y"), ("look", "b")), 999, 999
    ).text
    assert [line for line in text.splitlines() if re.match(r"\d", line)] == ["1. read -> a", "2. look -> b"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "x", "y\n" * 50, "z" * 3_000])), max_size=60),
    st.integers(200, 2_000),
)
def test_a_log_stays_in_its_room_and_ends_with_the_newest(pairs: list[tuple[str, str]], room: int) -> None:
    text = format_log(log(*pairs), room, 500).text
    assert len(text) <= room + 500 + 6 * 1_100  # the newest may be a series of six
    if pairs:
        assert any(line.startswith(f"{len(pairs)}. ") or "again" in line or "(x " in line for line in text.split("\n"))


def test_the_work_grows_with_the_number_of_actions_and_not_faster() -> None:
    def steps(count: int) -> int:
        exchanges = log(*[(f"try {n % 7}", "No. " * (n % 5)) for n in range(count)])
        return count_steps(lambda: format_log(exchanges, 6_000, 6_000))

    assert steps(10_000) < 15 * steps(1_000)


def test_the_events_of_an_attempt_become_exchanges_and_output() -> None:
    asked = ModelCalled(
        purpose="ask", messages=[{"role": "user", "content": "Where?"}], completion=Completion(" 2 "), seconds=0
    )
    run = read_run(
        [
            PlanStarted(number=1, start_from=2),
            StepEntered(step=2, title="look around", checkpoint=Checkpoint()),
            TextPrinted(text="[Step 2] look around\nseen: "),
            CallBegun(id=1, call=Call("open 1")),
            CallAnswered(id=1, answer=Answer(observation=Observation("Empty.")), seconds=0),
            TextPrinted(text="Empty.\n"),
            asked,
        ]
    )
    assert run.exchanges == (Exchange(1, 2, "open 1", "Empty."), Exchange(None, 2, "Where?", "2"))
    assert (run.printed, run.started_from) == ("seen: Empty.\n", 2)


def test_a_forged_question_without_a_message_is_an_empty_one(tmp_path: Path) -> None:
    asked = ModelCalled(purpose="ask", messages=[], completion=Completion("2"), seconds=0)
    assert read_run([asked]).exchanges == (Exchange(None, None, "", "2"),)
    recorder = TapeRecorder(tmp_path / "tape.jsonl")
    recorder.start_episode()(msgspec.structs.replace(asked, seq=0))
    recorder.close()
    with pytest.raises(ModelError, match="no such question"):
        taped_llm(tmp_path / "tape.jsonl").complete([{"role": "user", "content": "Where?"}], purpose="ask")


def test_printed_answers_share_the_room_and_the_newest_come_first() -> None:
    answers = [letter * 700 for letter in "xyz"]
    exchanges = log(*[(f"read {letter[0]}", letter) for letter in answers], ("look", "Dark."))
    text = format_log(exchanges, 6_000, 1_400, printed="\n".join(answers)).text
    assert [answer in text for answer in answers] == [False, True, True]
    text = format_log(exchanges, 6_000, 1_399, printed="\n".join(answers)).text
    assert [answer in text for answer in answers] == [False, False, True]
