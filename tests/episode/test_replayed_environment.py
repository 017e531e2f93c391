"""The environment of an episode that continues a recording: when it is used, how often, and from which state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.boxes import Boxes, Replies

from codeplan.episode.episode import Episode
from codeplan.errors import Diverged, EnvironmentFailure
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    CallDecided,
    DoubtDecided,
    EnvironmentReset,
    Event,
    PictureSaved,
    ToolFailed,
    ValueJudged,
)
from codeplan.recording.trace import Trace
from codeplan.types import Answer, Call, Checkpoint, Finished, Observation, ResourceUsage, Task

TASK = Task("ball/2", "boxes", "find", "find the ball", 2)
EMPTY = Observation("It is empty.")


class Watched(Boxes):
    """Boxes that log what is done to them."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def reset(self, task: Task) -> Observation:
        self.log.append("reset")
        return super().reset(task)

    def step(self, action: str) -> Observation:
        self.log.append(action)
        return super().step(action)


class Real(Watched):
    """Boxes whose actions cannot be undone."""

    def take_up(self, in_doubt: Call | None) -> None:
        self.log.append(f"take up {in_doubt and in_doubt.name}")
        self.ball = 2


class Around:
    """Passes on what it is asked for to an environment, as a wrapper does."""

    def __init__(self, env: Watched) -> None:
        self._env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


class Judge(Watched):
    """Boxes that judge values."""

    def __init__(self, verdict: Observation | None) -> None:
        super().__init__()
        self.verdict = verdict

    def judge(self, value: object) -> Observation | None:
        self.log.append(f"judge {value}")
        return self.verdict


class Pictured(Watched):
    """Boxes whose picture is what was done to them."""

    def picture(self) -> bytes:
        return " ".join(["after", *self.log]).encode()


def episode(env: Any, recording: tuple[Event, ...] = (), path: Path | None = None, *, live: bool = True) -> Episode:
    return Episode(env, TASK, Replies(), trace=Trace(path, recording=recording, live=live))


def recorded(*actions: str) -> list[Event]:
    """The events of a reset and these actions; the action ``restart`` resets again."""
    made = episode(Boxes())
    for action in actions:
        made.restart() if action == "restart" else made.act(action)
    return made.trace.events


def finished(value: object = 3, **omitted: str) -> Finished:
    return Finished("", 1, Checkpoint(), {}, ResourceUsage(0, 0, 0, 0, 0), value, omitted=omitted)


# ------------------------------------------------------------------ fast-forward


def test_the_environment_repeats_what_followed_the_latest_recorded_reset_and_nothing_before() -> None:
    env = Watched()
    resumed = episode(env, tuple(recorded("open 1", "restart", "open 3")))
    resumed.act("open 1")
    resumed.restart()
    resumed.act("open 3")
    assert env.log == []
    assert resumed.act("open 2").success
    assert env.log == ["reset", "open 3", "open 2"]


def test_an_environment_that_was_reset_after_the_recordings_end_repeats_nothing() -> None:
    env = Watched()
    resumed = episode(env, tuple(recorded("open 1")))
    resumed.act("open 1")
    resumed.restart()
    resumed.act("open 3")
    assert env.log == ["reset", "open 3"]


@pytest.mark.parametrize("around", [lambda env: env, Around])
def test_an_environment_whose_actions_are_real_continues_before_it_is_reset(around: Callable[[Real], Any]) -> None:
    env = Real()
    resumed = episode(around(env), tuple(recorded("open 1")))
    resumed.act("open 1")
    resumed.restart()
    resumed.act("open 3")
    assert env.log == ["take up None", "reset", "open 3"]


@pytest.mark.parametrize(
    "after",
    [
        [],
        [CallDecided(id=1, tool="open", allowed=True, by="approver")],
        [DoubtDecided(id=1, tool="open", way="retry", by="user")],
        [ToolFailed(id=1, tool="open", error="E", message="", traceback="")],
    ],
    ids=lambda events: "".join(type(e).__name__ for e in events),
)
def test_a_call_that_was_begun_is_in_doubt_whatever_was_noted_about_it(after: list[Any]) -> None:
    trace = Trace()
    for event in (EnvironmentReset(observation=Observation("Boxes.")), CallBegun(id=1, call=Call("open 1")), *after):
        trace.append(event)
    env = Real()
    assert episode(env, tuple(trace.events)).act("open 1") == EMPTY
    assert env.log == ["take up open 1", "open 1"]


def test_an_answer_that_is_another_now_is_named_with_its_event() -> None:
    class Locked(Watched):
        def step(self, action: str) -> Observation:
            super().step(action)
            return Observation("It is locked.")

    resumed = episode(Locked(), tuple(recorded("open 1")))
    resumed.act("open 1")
    with pytest.raises(Diverged) as caught:
        resumed.act("open 2")
    assert str(caught.value) == (
        f"the environment differs from the recording at event 2: it said {EMPTY}, "
        f"and now says {Observation('It is locked.')}"
    )


def test_an_environment_that_breaks_at_its_reset_is_named_with_the_task() -> None:
    class Broken(Boxes):
        def reset(self, task: Task) -> Observation:
            raise KeyError("no boxes")

    with pytest.raises(EnvironmentFailure, match="boxes broke while resetting to task ball/2: KeyError"):
        episode(Broken())


def test_an_environment_that_answers_with_another_type_is_named_with_it_and_the_action() -> None:
    class Wrong(Boxes):
        def step(self, action: str) -> Any:
            return ["a list"]

    with pytest.raises(EnvironmentFailure, match=r"boxes answered a list while doing 'open 1'; reset and step must"):
        episode(Wrong()).act("open 1")


# ------------------------------------------------------------------ verdicts


REFUSED, ACCEPTED = Observation("no letter came"), Observation("", success=True)


def judged(verdict: Observation | None) -> tuple[Event, ...]:
    made = episode(Judge(verdict))
    made.judge(finished())
    return tuple(made.trace.events)


def test_a_recorded_refusal_stands_without_asking_again() -> None:
    env = Judge(ACCEPTED)
    verdict = episode(env, judged(REFUSED)).judge(finished())
    assert verdict is not None
    assert (verdict.verdict, env.log) == (REFUSED, [])


def test_a_recorded_success_is_confirmed_in_a_live_episode_alone() -> None:
    env = Judge(ACCEPTED)
    replayed = episode(env, judged(ACCEPTED), live=False)
    replayed.judge(finished())
    assert (replayed.success, env.log) == (True, [])
    resumed = episode(env, judged(ACCEPTED))
    resumed.judge(finished())
    assert (resumed.success, env.log) == (True, ["reset", "judge 3"])


def test_an_environment_judges_in_the_state_that_the_episode_has_reached() -> None:
    env = Judge(ACCEPTED)
    resumed = episode(env, tuple(recorded("open 1")))
    resumed.act("open 1")
    resumed.judge(finished())
    assert (resumed.success, env.log) == (True, ["reset", "open 1", "judge 3"])


@pytest.mark.parametrize(("now", "said"), [(None, ""), (REFUSED, ": 'no letter came'")])
def test_a_recorded_success_that_is_not_confirmed_diverges(now: Observation | None, said: str) -> None:
    with pytest.raises(Diverged) as caught:
        episode(Judge(now), judged(ACCEPTED)).judge(finished())
    assert str(caught.value) == f"the recording says that the result was verified, but now it is not{said}"


def test_a_value_that_could_not_leave_the_sandbox_is_refused_without_asking() -> None:
    env = Judge(ACCEPTED)
    verdict = episode(env).judge(finished(None, **{"return": "it is a module"}))
    assert isinstance(verdict, ValueJudged) and verdict.verdict is not None
    assert verdict.verdict.text.startswith("The result was not accepted: what the plan returned cannot be handed over")
    assert (verdict.verdict.success, env.log) == (False, ["reset"])


# ------------------------------------------------------------------ pictures


def test_a_picture_is_of_the_state_that_the_episode_has_reached(tmp_path: Path) -> None:
    resumed = episode(Pictured(), tuple(recorded("open 1")), tmp_path / "trace.jsonl")
    resumed.act("open 1")
    assert not any(isinstance(e, PictureSaved) for e in resumed.trace.events)
    resumed.act("open 3")
    assert isinstance(resumed.trace.events[-2], CallAnswered)
    saved = resumed.trace.events[-1]
    assert isinstance(saved, PictureSaved)
    assert (tmp_path / saved.file).read_bytes() == b"after reset open 1 open 3"
    resumed.trace.close()


def test_no_picture_is_made_where_there_is_no_place_beside_a_trace() -> None:
    made = episode(Pictured())
    made.act("open 1")
    assert [type(e) for e in made.trace.events] == [EnvironmentReset, CallBegun, CallAnswered]


@pytest.mark.parametrize("live", [True, False])
def test_a_recorded_success_of_an_action_counts_only_if_the_environment_confirms_it(live: bool) -> None:
    """An episode that is done would otherwise not use the environment at all."""
    found = Answer(observation=Observation("You found it.", 1.0, True, True))
    opened = CallAnswered(seq=2, id=1, answer=found, seconds=0.0)
    made = Episode(Watched(), TASK, Replies())
    begun = made.trace.events[0]
    recording: list[Event] = [begun, CallBegun(seq=1, id=1, call=Call("open 1")), opened]
    env = Watched()
    episode = Episode(env, TASK, Replies(), trace=Trace(recording=recording, live=live))
    if not live:
        assert episode.act("open 1").success
        assert env.log == []
        return
    with pytest.raises(Diverged, match="differs from the recording at event 2"):
        episode.act("open 1")
    assert env.log == ["reset", "open 1"]


def test_a_changed_flag_is_named_where_the_text_is_the_same() -> None:
    made = Episode(Watched(), TASK, Replies())
    begun = made.trace.events[0]
    empty = made.act("open 1")
    answer = Answer(observation=replace(empty, done=True, success=True))
    opened = [CallBegun(seq=1, id=1, call=Call("open 1")), CallAnswered(seq=2, id=1, answer=answer, seconds=0.0)]
    episode = Episode(Watched(), TASK, Replies(), trace=Trace(recording=[begun, *opened]))
    with pytest.raises(Diverged, match=r"at event 2: its done was True, and now is False$"):
        episode.act("open 1")


def test_a_success_at_the_reset_is_confirmed_too() -> None:
    begun = EnvironmentReset(seq=0, observation=Observation("Solved.", 1.0, True, True))
    with pytest.raises(Diverged, match="differs from the recording at event 0"):
        Episode(Watched(), TASK, Replies(), trace=Trace(recording=[begun]))
