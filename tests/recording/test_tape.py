import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import data, integers, sampled_from
from msgspec.structs import replace
from support.boxes import Boxes, Replies
from support.task_runs import run_tasks
from support.trace_samples import acted, ended, started

from codeplan import envs
from codeplan.errors import Diverged, UsageError
from codeplan.recording.tape import Tape, TapeRecorder, read_tape
from codeplan.runner.episodes import run

OPEN = "def solution(agent, start_from=1):\n    print(agent.open({}))\n"


class Untouchable(Boxes):
    def reset(self, task):
        raise AssertionError("a replay does not touch the environment")


def recorded(path, *plans, task="ball/2"):
    recorder = TapeRecorder(path)
    results = [run(Boxes(), task, model=Replies(*plan), record=recorder, tries=len(plan)) for plan in plans]
    recorder.close()
    return results


def test_an_episode_plays_from_the_tape_without_environment_or_model(tmp_path):
    (first,) = recorded(tmp_path / "tape", [OPEN.format(1), OPEN.format(2)])
    again = run(Untouchable(), "ball/2", model=Replies(), tape=Tape(tmp_path / "tape"), tries=2)
    assert again == first


def test_repeats_play_in_the_order_of_recording(tmp_path):
    won, lost = recorded(tmp_path / "tape", [OPEN.format(2)], [OPEN.format(1)])
    tape = Tape(tmp_path / "tape")
    assert run(Untouchable(), "ball/2", model=Replies(), tape=tape, tries=1).success is won.success is True
    assert run(Untouchable(), "ball/2", model=Replies(), tape=tape, tries=1).success is lost.success is False
    with pytest.raises(Diverged, match="no episode of boxes ball/2 by adaplanner with replies left"):
        run(Untouchable(), "ball/2", model=Replies(), tape=tape, tries=1)


def test_what_is_not_on_the_tape_is_an_error_and_never_goes_live(tmp_path):
    recorded(tmp_path / "tape", [OPEN.format(2)])
    model = Replies(OPEN.format(3))
    with pytest.raises(Diverged, match="no episode of boxes ball/3"):
        run(Untouchable(), "ball/3", model=model, tape=Tape(tmp_path / "tape"))
    assert model.asked == []


def test_a_changed_setting_is_shown_as_a_difference(tmp_path):
    recorded(tmp_path / "tape", [OPEN.format(2)])
    with pytest.raises(Diverged, match="event 0 is not what was recorded: settings"):
        run(Untouchable(), "ball/2", model=Replies(), tape=Tape(tmp_path / "tape"), tries=3)


def test_a_changed_prompt_is_shown_as_a_difference(tmp_path):
    recorded(tmp_path / "tape", [OPEN.format(2)])

    class Renamed(Untouchable):
        class agent(Boxes.agent):
            def shake(self, box: int) -> str:
                """Shake a box."""
                return ""

    with pytest.raises(Diverged, match=r"messages differs:(?s:.*)\+.*def shake"):
        run(Renamed(), "ball/2", model=Replies(), tape=Tape(tmp_path / "tape"), tries=1)


def test_episodes_of_a_bench_find_theirs_whatever_the_order(tmp_path):
    tasks = envs.make("household").tasks("test")[:6]
    recorder = TapeRecorder(tmp_path / "tape")
    try:
        live = run_tasks("household", tasks, workers=3, record=recorder)
    finally:
        recorder.close()
    tape = Tape(tmp_path / "tape")
    played = run_tasks("household", list(reversed(tasks)), workers=2, tape=tape)
    assert [r.model_calls for r in reversed(played)] == [r.model_calls for r in live]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [*lines[:3], *lines[4:]], 4),
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 4),
        (lambda lines: [*lines[:4], *lines[3:]], 5),
        (lambda lines: lines[1:], 1),
        (lambda lines: [*lines, lines[-1]], "last"),
    ],
)
def test_a_line_that_is_missing_or_out_of_its_place_is_named(tmp_path, change, line):
    recorded(tmp_path / "tape", [OPEN.format(2)])
    lines = change((tmp_path / "tape").read_bytes().splitlines(keepends=True))
    (tmp_path / "tape").write_bytes(b"".join(lines))
    number = len(lines) if line == "last" else line
    with pytest.raises(UsageError, match=f"line {number} is out of order"):
        Tape(tmp_path / "tape")


@given(data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_character_that_was_changed_is_found_in_its_line(tmp_path, data):
    tape, changed = tmp_path / "tape", tmp_path / "changed"
    if not tape.exists():
        recorded(tape, [OPEN.format(1), OPEN.format(2)])
    lines = tape.read_text().splitlines()
    number = data.draw(integers(0, len(lines) - 1))
    at = data.draw(integers(0, len(lines[number]) - 1))
    other = data.draw(sampled_from(sorted(set('0123456789abcxyzE{}[]",:. \u00e9') - {lines[number][at]})))
    lines[number] = f"{lines[number][:at]}{other}{lines[number][at + 1 :]}"
    changed.write_text("\n".join(lines) + "\n")
    with pytest.raises(UsageError, match=rf", line {number + 1} (was changed|is no line|is out of order)"):
        Tape(changed)


def test_a_tape_is_not_overwritten_and_a_damaged_line_is_named(tmp_path):
    recorded(tmp_path / "tape", [OPEN.format(2)])
    with pytest.raises(UsageError, match="exists already"):
        TapeRecorder(tmp_path / "tape")
    lines = (tmp_path / "tape").read_bytes().split(b"\n")
    for damaged in (b"{", b'{"episode":0,"event":{"event":"\xff', b"\x00", b"[" * 100_000):
        (tmp_path / "tape").write_bytes(b"\n".join([*lines[:3], damaged, *lines[4:]]))
        with pytest.raises(UsageError, match="line 4"):
            Tape(tmp_path / "tape")
    with pytest.raises(UsageError, match="cannot be read"):
        Tape(tmp_path / "nowhere")


def test_episodes_are_numbered_from_zero_in_the_order_in_which_they_start(tmp_path):
    recorded(tmp_path / "tape", *[[OPEN.format(2)]] * 3)
    lines = (tmp_path / "tape").read_text().splitlines()
    assert list(dict.fromkeys(json.loads(line)["episode"] for line in lines)) == [0, 1, 2]
    assert [*read_tape(tmp_path / "tape")] == [0, 1, 2]


def test_a_tape_with_an_event_after_the_end_is_damaged(tmp_path):
    recorder = TapeRecorder(tmp_path / "tape")
    handle = recorder.start_episode()
    for number, event in enumerate((started(), ended(started()), *acted())):
        handle(replace(event, seq=number))
    recorder.close()
    with pytest.raises(UsageError, match="line 3 is damaged: its event follows the episode's end"):
        Tape(tmp_path / "tape")


def test_what_does_not_begin_as_an_episode_does_not_play_and_leaves_the_others_alone(tmp_path):
    recorder = TapeRecorder(tmp_path / "tape")
    header = replace(started(), seq=0)
    for first in (replace(acted()[0], seq=0), header):
        recorder.start_episode()(first)
    recorder.close()
    tape = Tape(tmp_path / "tape")
    assert tape.take_episode(header) == [header]
    with pytest.raises(Diverged, match="left"):
        tape.take_episode(header)


def test_a_tape_of_more_than_512_mib_is_refused_before_it_is_read(tmp_path):
    recorded(tmp_path / "tape", [OPEN.format(2)])
    os.truncate(tmp_path / "tape", 512 * 2**20 + 1)
    with pytest.raises(UsageError, match="cannot be read: it is larger than 536,870,912 bytes"):
        Tape(tmp_path / "tape")
