"""Environments, agents and models of the user's own: what they lack is named, and a function is a model."""

import asyncio
import re
import sys
from fractions import Fraction
from functools import partial

import pytest
from msgspec.structs import replace
from support.boxes import BoxAgent, Boxes, Replies

import codeplan
from codeplan import Completion, ModelError, Usage, UsageError

PLAN = "```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.open(2)\n        assert 1\n```"


class WithoutReport:
    def __init__(self, act):
        self._act = act


def lacking(*names, **others):
    """An environment without these members."""
    every = {n: v for n, v in {**vars(Boxes), **others}.items() if n not in names and n != "__dict__"}
    return type("Mine", (), every)()


NEEDS = "an Environment needs name, agent, tasks, reset, close, step"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": lacking("step")}, f"the environment Mine has no method step; {NEEDS}"),
        ({"env": lacking("agent", "close")}, f"the environment Mine has no attribute agent and no method close; {NEEDS}"),
        ({"env": lacking(reset=3)}, f"the environment Mine has an attribute reset in place of the method; {NEEDS}"),
        ({"env": lacking(name=7)}, f"the environment Mine has a name that is no text; {NEEDS}"),
        ({"env": lacking(agent=WithoutReport)}, "the Agent class WithoutReport has no method report; an Agent needs report"),
        ({"model": type("M", (), {"complete": print})()}, "the model M has no attribute name; an LLM needs name, complete"),
        (
            {"method": type("M", (), {"solve": print})()},
            "the method M has no attribute name; a Method needs name, solve",
        ),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)  # fmt: skip
def test_what_a_participant_lacks_is_named(arguments, message):
    with pytest.raises(UsageError) as refused:
        codeplan.run(**{"env": Boxes(), "model": Replies(PLAN), **arguments})
    assert str(refused.value) == message


class Unwatched(Boxes):
    """Boxes that do not count their actions themselves."""

    def step(self, action):
        observation = super().step(action)
        return replace(observation, done=observation.success)


def test_the_last_of_an_environments_actions_ends_the_episode_with_any_method():
    looking = PLAN.replace("agent.open(2)", "[agent.open(n) for n in (1, 3, 2)]")
    result = codeplan.run(Unwatched(2), "ball/2", model=Replies(looking))
    assert (result.success, result.actions, type(result.ending).__name__) == (False, 2, "EnvironmentEnded")
    with pytest.raises(UsageError, match="max_actions of the environment boxes is 'two'; give a whole number from 1"):
        codeplan.run(Unwatched("two"), model=Replies(PLAN))


def test_a_function_gets_the_purpose_and_the_seed_if_it_names_them(tmp_path):
    asked = []

    def model(messages, *, purpose, seed=5):
        asked.append((purpose, seed))
        return PLAN

    codeplan.run(Boxes(), "ball/2", model=model)
    codeplan.bench.run(Boxes, model=model, repeats=3, n=1, out=tmp_path / "bench")
    assert asked[0] == ("plan", 0) and {seed for _, seed in asked[1:]} == {0, 1, 2}
    with pytest.raises(UsageError, match="cannot be called with the messages"):
        codeplan.run(Boxes(), model=lambda: PLAN)


def answer(messages):
    assert messages[0]["role"] == "system"
    return PLAN


async def answer_later(messages):
    await asyncio.sleep(0)
    return PLAN


class Answerer:
    def __call__(self, messages):
        return Completion(PLAN, Usage(10, 5))


@pytest.mark.parametrize(
    ("model", "name", "tokens"),
    [
        (answer, "answer", None),
        (answer_later, "answer_later", None),
        (lambda messages: PLAN, "function", None),
        (partial(lambda given, messages: given, PLAN), "partial", None),
        (Answerer(), "Answerer", 15),
    ],
)
def test_a_function_is_a_model(model, name, tokens, tmp_path):
    result = codeplan.run(Boxes(), "ball/2", model=model, out=tmp_path)
    assert (result.success, result.model, result.usage.total_tokens) == (True, name, tokens)
    assert codeplan.replay(tmp_path, env=Boxes()) == result


def test_a_function_may_be_called_within_a_running_event_loop():
    async def main():
        return codeplan.run(Boxes(), "ball/2", model=answer_later)

    assert asyncio.run(main()).success


def test_stop_sequences_cut_what_a_function_returns():
    from support.boxes import BoxesInWords

    asked = []

    def act(messages):
        asked.append(messages)
        return "open 2\nopen 3"

    result = codeplan.run(BoxesInWords(), "ball/2", method="react", model=act)
    assert (result.success, result.actions) == (True, 1)


def test_an_exception_of_a_function_is_a_failure_of_the_model():
    def broken(messages):
        raise ValueError("no\nroute")

    with pytest.raises(
        ModelError, match="^the model broken failed: ValueError: no route .test_own_participants.py, line \\d+.$"
    ) as failed:
        codeplan.run(Boxes(), model=broken)
    assert isinstance(failed.value.__cause__, ValueError)


def quits(messages):
    sys.exit(0)


async def quits_later(messages):
    sys.exit(0)


async def cancels_itself(messages):
    raise asyncio.CancelledError


class Quits:
    name = "quits"

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        sys.exit(0)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (quits, "SystemExit: 0"),
        (quits_later, "SystemExit: 0"),
        (cancels_itself, "CancelledError"),
        (Quits(), "SystemExit: 0"),
    ],
)
def test_a_model_that_leaves_the_program_has_failed(model, said):
    with pytest.raises(ModelError, match=rf"^the model \w+ failed: {said}"):
        codeplan.run(Boxes(), model=model)


def test_later_models_answer_after_a_task_of_another_left_the_program():
    async def leaves_a_task(messages):
        task = asyncio.create_task(quits_later(messages))
        await asyncio.wait([task])
        return PLAN

    assert codeplan.run(Boxes(), "ball/2", model=leaves_a_task).success
    assert codeplan.run(Boxes(), "ball/2", model=answer_later).success


@pytest.mark.parametrize("returned", [None, b"text", ["a"], 3])
def test_a_function_must_return_a_text(returned):
    said = rf"the model function returned an? {type(returned).__name__} \(purpose plan\); a function that is a model"
    with pytest.raises(ModelError, match=said) as broken:
        codeplan.run(Boxes(), model=lambda messages: returned)
    assert broken.value.is_users_bug


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (PLAN, "the model mine returned a str (purpose plan); complete must return a codeplan.Completion"),
        (
            Completion(PLAN, {"input_tokens": 3}),
            "the model mine returned a dict as usage (purpose plan); give a codeplan.Usage",
        ),
        (
            Completion(PLAN, Usage(-1, 2)),
            "the model mine returned a wrong Completion (purpose plan); Expected `int` >= 0",
        ),
        (
            Completion(PLAN, Usage(money=float("nan"))),
            "the model mine returned a wrong Completion (purpose plan); Expected `float`",
        ),
        (
            Completion(PLAN, Usage(Fraction(3), 2)),
            "the model mine returned a wrong Completion (purpose plan); Encoding objects of type",
        ),
        (
            Completion(PLAN, model=None),
            "the model mine returned a wrong Completion (purpose plan); Expected `str`, got `null`",
        ),
    ],
)
def test_an_answer_that_no_trace_could_hold_is_refused(returned, message, tmp_path):
    class Mine:
        name = "mine"

        def complete(self, messages, *, purpose, stop=(), max_tokens=None):
            return returned

    with pytest.raises(ModelError) as refused:
        codeplan.run(Boxes(), model=Mine(), out=tmp_path / "run")
    assert str(refused.value).startswith(message)
    assert codeplan.Trace.read(tmp_path / "run" / "trace.jsonl")


def test_a_wrong_reply_breaks_off_its_episode_alone(tmp_path):
    class ToldBoxes(Boxes):
        name = "told"

        def reset(self, task):
            return replace(super().reset(task), text=f"This is {task.id}.")

    def returns(messages):
        return 3 if "ball/2" in str(messages) else PLAN

    def raises(messages):
        return PLAN if "ball/2" not in str(messages) else 1 / 0

    found = codeplan.bench.run(ToldBoxes, tries=1, model=[returns, raises], out=tmp_path / "bench").bench
    for model in ("returns", "raises"):
        assert [one.broken for one in found.outcomes_of(f"told.adaplanner.{model}")] == [False, True, False]
    reasons = [one.result.reason for one in found.outcomes if one.broken]
    assert reasons == [
        "infrastructure: the model returns returned an int (purpose plan); a function that is a model returns a text",
        "infrastructure: the model raises failed: ZeroDivisionError: division by zero (test_own_participants.py, line "
        f"{raises.__code__.co_firstlineno + 1})",
    ]


def test_an_agent_class_without_its_own_act_keeps_working():
    class Own(BoxAgent):
        """Looks for the ball, too."""

    assert codeplan.run(lacking(agent=Own), "ball/2", model=answer).success


class LookingAgent(BoxAgent):
    async def look(self) -> str:
        """Look around."""
        return "nothing"


class LookingWorld(Boxes):
    agent = LookingAgent


class AsyncWorld(Boxes):
    async def reset(self, task):
        return await super().reset(task)


class AsyncModel:
    name = "slow"

    async def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        return codeplan.Completion("x")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"env": LookingWorld()}, "the Agent class LookingAgent has an asynchronous method look"),
        ({"env": AsyncWorld()}, "the environment AsyncWorld has an asynchronous method reset"),
        ({"env": "household", "model": AsyncModel()}, "the model AsyncModel has an asynchronous method complete"),
    ],
    ids=["agent", "environment", "model"],
)
def test_asynchronous_participants_are_refused_before_anything_runs(arguments, sentence, tmp_path):
    with pytest.raises(codeplan.UsageError, match=sentence):
        codeplan.run(**arguments, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"out": 3}, "out is the path of a folder, not 3"),
        ({"out": ""}, "out is empty; name a folder, or give None for no trace"),
        ({"out": "new\udcff"}, r"the folder's path 'new\udcff' is not text in UTF-8; name another folder"),
        ({"out": "new\0"}, r"the folder's path 'new\x00' is not text in UTF-8; name another folder"),
        ({"on_event": 3}, "on_event must be a function on_event(event), not 3"),
        ({"on_event": lambda: None}, "on_event must be a function on_event(event); its signature is another one"),
    ],
    ids=["out", "empty", "bytes", "null", "on_event", "signature"],
)
def test_a_wrong_folder_or_handler_is_refused_before_anything_runs(argument, message, tmp_path):
    def unused(messages):
        raise AssertionError("the model was asked")

    codeplan.run(Boxes(), "ball/2", model=answer, out=tmp_path)
    given = {"out": tmp_path / "new", **argument}
    handler = {name: value for name, value in argument.items() if name == "on_event"}
    calls = [
        lambda: codeplan.do("Do it.", tools=[answer], model=unused, **given),
        lambda: codeplan.run(Boxes(), "ball/2", model=unused, **given),
        lambda: codeplan.fork(tmp_path, at=1, model=unused, env=Boxes(), **given),
    ]
    calls += [partial(f, tmp_path, env=Boxes(), **handler) for f in (codeplan.resume, codeplan.replay) if handler]
    for call in calls:
        with pytest.raises(UsageError) as refused:
            call()
        assert str(refused.value) == message
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("id", 3, "the task 3 of boxes is no sound codeplan.Task: Expected `str`, got `int` - at `$.id`"),
        ("seed", 2**63, "Expected `int` <= 9223372036854775807 - at `$.seed`"),
        ("seed", -(2**63) - 1, "Expected `int` >= -9223372036854775808 - at `$.seed`"),
        ("seed", Fraction(1), "Encoding objects of type Fraction is unsupported"),
    ],
)
def test_a_task_that_no_trace_could_hold_is_refused_before_anything_runs(field, value, message, tmp_path):
    class Odd(Boxes):
        def tasks(self, split):
            return [replace(task, **{field: value}) for task in super().tasks(split)[1:2]]

    model = Replies(PLAN)
    with pytest.raises(UsageError, match=re.escape(message)):
        codeplan.run(Odd(), model=model, out=tmp_path / "run")
    with pytest.raises(UsageError, match=re.escape(message)):
        codeplan.bench.run(Odd(), out=tmp_path / "bench")
    assert (model.asked, [*tmp_path.iterdir()]) == ([], [])


@pytest.mark.parametrize("seed", [2**63 - 1, -(2**63)])
def test_a_seed_may_have_sixty_four_bits(seed):
    class Odd(Boxes):
        def reset(self, task):
            return super().reset(replace(task, seed=2))

    assert codeplan.run(Odd(), codeplan.Task("ball", seed=seed), model=Replies(PLAN)).success
