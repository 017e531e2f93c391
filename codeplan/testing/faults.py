"""Faults injected into a run: does an assertion of the plan notice, rather than a traceback or nothing at all?

A fault happens once, at one place of a run: an action, a question, or between two steps. A run without it shows the
possible places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from codeplan.envs.household.faults import HOUSEHOLD_FAULTS, EditableHousehold, HouseholdFault
from codeplan.protocols import LLM, BaseEnvironment, Environment, OffersTools, answer_schema, described_actions
from codeplan.recording.events import NO_SITE, CallSite, EventHandler
from codeplan.runner.recorded_calls import RecordedCalls
from codeplan.testing.plan_runs import PlanRun
from codeplan.types import Answer, Call, Completion, Message, Observation, Purpose, Task
from codeplan.untrusted.values import in_quotes, shown_call

FaultAction = Callable[[Environment, Task, str, Observation], Observation]
"""Executes an action under the fault. The last argument is the previous observation."""


class InjectedFault(NamedTuple):
    """One kind of fault. ``places`` yields where it can happen in a run: indices of actions or questions, or step
    numbers.
    """

    name: str
    description: str
    """A description of the fault, for people."""
    where: Literal["action", "question", "step"]
    places: Callable[[PlanRun, BaseEnvironment], Iterator[int]]
    act: FaultAction | None = None
    between_steps: Callable[[PlanRun, Any], None] | None = None
    """Acts with the agent between two steps; the run is the one without the fault."""
    raises: str = ""
    """The message of the error that a plan gets from the fault, if any. A plan may end with it."""


def inject_fault(fault: InjectedFault, at: int, env: BaseEnvironment, model: LLM) -> tuple[BaseEnvironment, LLM]:
    """Return the environment and the model with the fault at place ``at``."""
    if fault.where == "question":
        return env, WrongAnswerModel(model, at)
    if isinstance(env, RecordedCalls):
        return (FaultyTools(env, fault.raises, at) if fault.raises else env), model
    if not fault.act or not isinstance(env, Environment):
        return env, model
    return FaultyEnvironment(env, fault.act, at), model


def locate_fault(fault: InjectedFault, at: int, run: PlanRun) -> tuple[int | None, str]:
    """Return the step of the fault's place ``at`` in the run without it, and a description of the place."""
    if fault.where == "step":
        return at, f"before step {at}"
    if fault.where == "action":
        acted = run.action_events[at]
        step, place = run.step_of(acted.event), f"at {in_quotes(shown_call(acted.call))}"
    else:
        step, place = run.step_of(run.question_events[at]), f"at question {at + 1}"
    return step, place if step is None else f"{place} in step {step}"


class FaultyEnvironment:
    """An environment in which one action goes wrong."""

    def __init__(self, env: Environment, strike: FaultAction, at: int) -> None:
        self.name, self.agent = env.name, env.agent
        self._env, self._strike, self._at = env, strike, at
        self._count = 0

    def tasks(self, split: str) -> Sequence[Task]:
        return self._env.tasks(split)

    def reset(self, task: Task) -> Observation:
        self._task, self._count = task, 0
        self._last = self._env.reset(task)
        return self._last

    def step(self, action: str) -> Observation:
        faulty = self._count == self._at
        self._count += 1
        if faulty:
            self._last = self._strike(self._env, self._task, action, self._last)
        else:
            self._last = self._env.step(action)
        return self._last

    def close(self) -> None:
        """Do nothing: the caller owns the environment."""


class FaultyTools:
    """Recorded tools with one call that fails. The values that plans return are judged as without the fault."""

    def __init__(self, env: RecordedCalls, message: str, at: int) -> None:
        self.name, self.agent = env.name, env.agent
        self.described_tools, self.tools_doc, self.verifier_name = env.described_tools, env.tools_doc, env.verifier_name
        self.tasks, self.judge = env.tasks, env.judge
        self.once_tools, self.readonly_tools, self.carried = env.once_tools, env.readonly_tools, env.carried
        self.has_flows, self.is_blind, self.instructions = env.has_flows, env.is_blind, env.instructions
        self.returns = env.returns
        self.asks_user, self.variables = env.asks_user, env.variables
        self._env, self._message, self._at = env, message, at
        self._count = 0

    def reset(self, task: Task) -> Observation:
        self._count = 0
        return self._env.reset(task)

    def call(self, id: int, call: Call, record: EventHandler, site: CallSite = NO_SITE) -> Answer:
        faulty = self._count == self._at
        self._count += 1
        return Answer(error="RuntimeError", message=self._message) if faulty else self._env.call(id, call, record, site)

    def close(self) -> None:
        """Do nothing: the caller owns the environment."""


class WrongAnswerModel:
    """A model that answers one question of the plan wrongly, in the requested form."""

    def __init__(self, model: LLM, at: int) -> None:
        self.name = model.name
        self._model, self._at = model, at
        self._count = 0

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        completion = self._model.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
        faulty = self._count == self._at
        self._count += 1
        return (
            Completion(
                wrong_answer(completion.text, _choices()), completion.usage, completion.finish_reason, completion.model
            )
            if faulty
            else completion
        )


def _choices() -> list[object]:
    """The values of the ``Literal`` that the plan wants as its answer; empty if it wants another form."""
    schema = answer_schema.get() or {"properties": {"answer": {}}}
    options = schema["properties"]["answer"].get("anyOf", [{}])
    return list(options[0].get("enum", ()))


_OPPOSITES: Final = {"true": "false", "false": "true", "True": "False", "False": "True"}


def wrong_answer(answer: str, choices: Sequence[object] = ()) -> str:
    """Return another answer of the same form: another choice, other years, numbers or truth, or else other words."""
    if others := [choice for choice in choices if str(choice) != answer.strip("\"' ")]:
        return json.dumps(others[0])
    numbers = re.sub(r"(\d{4})(-\d\d-\d\d)|\d+", lambda n: f"{int((n[1] or n[0])[:9]) + 70}{n[2] or ''}", answer)
    changed = re.sub(r"\b(?:true|false|True|False)\b", lambda word: _OPPOSITES[word[0]], numbers)
    return changed if changed != answer else re.sub(r"[A-Za-z]+", lambda word: f"no{word[0]}", answer)


def _every_action(run: PlanRun, env: BaseEnvironment) -> Iterator[int]:
    if isinstance(env, OffersTools):  # a tool's answer is data, which a text cannot replace
        return iter(())
    return iter(range(len(run.action_events)))


def _every_call(run: PlanRun, env: BaseEnvironment) -> Iterator[int]:
    return iter(range(len(run.action_events)) if isinstance(env, OffersTools) else ())


def _every_question(run: PlanRun, env: BaseEnvironment) -> Iterator[int]:
    return iter(range(len(run.question_events)))


def _do_nothing(env: Environment, task: Task, action: str, before: Observation) -> Observation:
    space = described_actions(env)
    prefixes = space.no_effect_prefixes if space else ()
    return Observation(next(iter(prefixes), "Nothing happens."), before.reward)


def _show_notice(env: Environment, task: Task, action: str, before: Observation) -> Observation:
    return Observation("A notice covers everything: 'Please read this first.' It is gone now.", before.reward)


def _answer_late(env: Environment, task: Task, action: str, before: Observation) -> Observation:
    now = env.step(action)
    return Observation(before.text, now.reward, now.done, now.success)


def _of_household(fault: HouseholdFault) -> InjectedFault:
    """A fault that can only happen in a household."""

    def places(run: PlanRun, env: BaseEnvironment) -> Iterator[int]:
        if not isinstance(env, EditableHousehold):
            return
        if fault.places is None:  # it is between two steps
            yield from dict.fromkeys(run.steps[1:])
        else:
            yield from fault.places(env, run.task, run.actions)

    def act(env: Environment, task: Task, action: str, before: Observation) -> Observation:
        assert isinstance(env, EditableHousehold), "it has no places elsewhere"
        assert fault.act is not None
        return fault.act(env, task, action)

    def between_steps(run: PlanRun, agent: Any) -> None:
        assert fault.between_steps is not None
        fault.between_steps(agent, run.actions)

    if fault.act is None:
        return InjectedFault(fault.name, fault.description, "step", places, between_steps=between_steps)
    return InjectedFault(fault.name, fault.description, "action", places, act)


_TOOL_ERROR: Final = "the tool failed, as this test wants it to"

_ALL = (
    InjectedFault(
        "nothing", "an action has no effect, and the observation says so", "action", _every_action, _do_nothing
    ),
    InjectedFault("popup", "a notice appears in place of the action's effect", "action", _every_action, _show_notice),
    InjectedFault("slow", "an action gets the previous answer", "action", _every_action, _answer_late),
    InjectedFault("tool-error", "a tool fails", "action", _every_call, raises=_TOOL_ERROR),
    InjectedFault("wrong-answer", "a question gets a wrong answer in the right form", "question", _every_question),
    *map(_of_household, HOUSEHOLD_FAULTS),
)

FAULTS: Final[Mapping[str, InjectedFault]] = {fault.name: fault for fault in _ALL}
"""All faults by name."""
