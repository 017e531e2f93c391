"""``codeplan.bench.run`` and ``codeplan.abench``: benches from Python, of names, classes and objects."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.boxes import Boxes

import codeplan
from codeplan.bench import TotalBudget
from codeplan.envs.household import Household
from codeplan.errors import UsageError
from codeplan.types import ActionSpace

SHORT = codeplan.Budget(model_calls=1)


class Kitchen(Household):
    """The household under a name that no package registers."""

    name = "kitchen"


def test_a_bench_of_a_name_reports_each_episode_that_ends() -> None:
    told: list[codeplan.bench.EpisodeOutcome] = []
    outcome = codeplan.bench.run("household", ["adaplanner", "react"], kind="clean", n=2, on_outcome=told.append)
    assert outcome.stopped_by is None
    assert len(outcome.bench.outcomes) == 4
    assert {one.key for one in told} == {one.key for one in outcome.bench.outcomes}
    assert {one.cell for one in told} == {"household.adaplanner.scripted", "household.react.scripted"}


def test_an_environment_object_plays_all_its_episodes_and_stays_open() -> None:
    env = Kitchen()
    outcome = codeplan.bench.run(env, kind="clean", n=2, repeats=2)
    assert [one.result.success for one in outcome.bench.outcomes] == [True] * 4
    assert outcome.bench.cells[0].env == "kitchen"
    assert codeplan.run(env, "clean/1").success


def test_an_object_of_a_known_name_is_played_itself() -> None:
    class Counting(Household):
        resets = 0

        def reset(self, task: codeplan.Task) -> codeplan.Observation:
            self.resets += 1
            return super().reset(task)

    env = Counting()
    codeplan.bench.run(env, kind="clean", n=2)
    assert env.resets >= 2


def test_a_class_plays_several_episodes_at_a_time() -> None:
    outcome = codeplan.bench.run(Kitchen, kind="clean", n=2, jobs=2)
    assert all(one.result.success for one in outcome.bench.outcomes)


class DescribedBoxes(Boxes):
    """Boxes for methods whose model writes the actions itself."""

    space = ActionSpace(forms=("open BOX",), no_effect_prefixes=())


def one_plan(messages: list[codeplan.Message]) -> str:
    return "```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        assert False, 'no'\n```"


def another_plan(messages: list[codeplan.Message]) -> str:
    return one_plan(messages).replace("no", "nothing")


def test_functions_are_models_of_a_bench() -> None:
    outcome = codeplan.bench.run("household", model=[one_plan, another_plan], kind="clean", n=1, budget=SHORT)
    assert [one.result.model for one in outcome.bench.outcomes] == ["one_plan", "another_plan"]
    assert {one.result.model_calls for one in outcome.bench.outcomes} == {1}


def test_a_wrong_use_leaves_no_folder(tmp_path: Path) -> None:
    class Bare(Kitchen):
        name = "bare"

        @property
        def space(self) -> Any:
            raise AttributeError("space")

    with pytest.raises(codeplan.UsageError, match="does not describe its actions"):
        codeplan.bench.run(Bare, "react", kind="clean", n=1, out=tmp_path / "bench")
    assert not (tmp_path / "bench").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": [3]}, "the model has no attribute"),
        ({"model": [one_plan, one_plan]}, "two models of this bench are called 'one_plan'; give one another name"),
        ({"method": {"react": 1}}, "a bench takes the name of a method, or several names, not a dict"),
        ({"jobs": 0}, "jobs is 0; give a whole number from 1 up"),
        ({"repeats": "2"}, "repeats is '2'; give a whole number from 1 up"),
        ({"n": True}, "n is True; give a whole number from 1 up"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(codeplan.UsageError) as refused:
        codeplan.bench.run("household", **{"kind": "clean", "n": 1, **arguments})
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("method", "what"), [("adaplanner", "does not know what to do"), ("react", "cannot act turn by")]
)
def test_a_world_that_the_stand_in_does_not_know_is_refused_before_the_first_episode(
    tmp_path: Path, method: str, what: str
) -> None:
    with pytest.raises(
        codeplan.UsageError, match=rf"^the scripted stand-in {what}.* in boxes \(task 'ball/1'\); name an"
    ):
        codeplan.bench.run(DescribedBoxes, method, out=tmp_path / "bench")
    assert not (tmp_path / "bench").exists()
    asked = codeplan.bench.run(DescribedBoxes, method, one_plan, budget=SHORT)
    assert all(one.result.model_calls == 1 for one in asked.bench.outcomes)


def test_tasks_with_one_id_are_refused() -> None:
    class Twins(Kitchen):
        def tasks(self, split: str) -> list[codeplan.Task]:
            return [replace(task, id="twin") for task in super().tasks(split)]

    with pytest.raises(codeplan.UsageError, match="kitchen has several tasks with the id 'twin' in its split test"):
        codeplan.bench.run(Twins(), kind="clean", n=2)
    assert codeplan.bench.run(Twins(), kind="clean", n=1).bench.outcomes


def test_one_object_does_not_play_several_episodes_at_a_time() -> None:
    with pytest.raises(codeplan.UsageError, match="one episode at a time, not 2"):
        codeplan.bench.run(Kitchen(), n=1, jobs=2)
    assert codeplan.bench.run(Kitchen(), kind="clean", n=1, jobs=1).bench.outcomes


def test_a_class_with_the_name_of_an_installed_environment_is_refused_and_an_object_advised() -> None:
    with pytest.raises(UsageError, match="installed environment 'household'.*or give an object in place of"):
        codeplan.bench.run(Household, kind="clean", n=1)


def test_what_is_no_environment_is_refused() -> None:
    with pytest.raises(codeplan.UsageError, match="not an int"):
        codeplan.bench.run(3)


def test_a_bench_in_a_folder_goes_on_with_what_is_left(tmp_path: Path) -> None:
    first = codeplan.bench.run(Kitchen(), kind="clean", n=3, out=tmp_path, bench_budget=TotalBudget(tokens=1))
    assert first.stopped_by is not None
    assert len(first.bench.outcomes) == 1
    told: list[codeplan.bench.EpisodeOutcome] = []
    second = codeplan.bench.run(Kitchen(), kind="clean", n=3, out=tmp_path, on_outcome=told.append)
    assert len(told) == 2
    assert len(second.bench.outcomes) == 3


def test_a_bench_that_is_awaited_can_be_cancelled_and_goes_on(tmp_path: Path) -> None:
    one_ended = threading.Event()

    async def main() -> None:
        told = lambda outcome: one_ended.set()  # noqa: E731
        playing = asyncio.create_task(codeplan.abench(Kitchen, n=30, out=tmp_path, on_outcome=told))
        while not one_ended.is_set():
            await asyncio.sleep(0.01)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

    asyncio.run(main())
    bench = codeplan.bench.read_bench(tmp_path)
    assert 1 <= len(bench.outcomes) < bench.total_episodes
    again = asyncio.run(codeplan.abench(Kitchen, n=30, out=tmp_path, bench_budget=TotalBudget(tokens=0)))
    assert len(again.bench.outcomes) == len(bench.outcomes)
