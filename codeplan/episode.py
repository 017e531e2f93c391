"""The one gate. An Episode owns the environment, the model, the meter and the trace of one attempt at one task.

``act`` and ``ask`` are the only way to the world and to the model; each charges the budget, does the thing, records it,
and only then returns. So no method can miscount, and every method is traced alike.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from codeplan.api import agent_api
from codeplan.budget import Meter
from codeplan.errors import CodeplanError, Diverged, EnvironmentFailure, EpisodeOver, ModelError
from codeplan.events import Acted, Asked, AskFailed, EnvironmentReset, Event, PlanDrafted, SpanClosed, SpanOpened
from codeplan.protocols import LLM, Environment
from codeplan.trace import Trace
from codeplan.types import AgentApi, Completion, Message, Observation, Purpose, Result, Task, Usage


class Episode:
    """One attempt at one task. ``observation`` is the latest; ``first`` the one that ``reset`` gave.

    Create it with the environment already chosen; it resets the environment at once. While the trace follows a
    recording, that answers for the world and the model; then the world is brought to the same place and goes on.
    """

    def __init__(self, env: Environment, task: Task, llm: LLM, meter: Meter | None = None, trace: Trace | None = None):
        self.env, self.task, self.llm = env, task, llm
        self.trace = trace or Trace()
        self.meter = meter or Meter(clock=self.trace.now)
        self.success = False
        self.reward = 0.0
        self._spans: list[int] = []
        self._span_count = 0
        self.first = self.observation = self._reset()

    # -------------------------------------------------------------- the gate

    def act(self, action: str) -> Observation:
        """Do one action in the environment.

        Raises EpisodeOver when the environment has said done, BudgetExceeded when no action is left, and
        EnvironmentFailure when the environment breaks.
        """
        if self.observation.done:
            raise EpisodeOver("the environment has ended this episode")
        self.meter.reserve_action()
        if recorded := self.trace.recorded(Acted):
            observation, seconds = recorded.observation, recorded.seconds
        else:
            self._catch_up()
            started = time.perf_counter()
            observation = self._step(action)
            seconds = time.perf_counter() - started
        self.record(Acted(action=action, observation=observation, seconds=seconds))
        self._notice(observation)
        return observation

    def ask(
        self,
        messages: Sequence[Message],
        *,
        purpose: Purpose,
        prompt: str = "",
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        """Ask the model. ``prompt`` names the template and its digest, for the trace.

        Raises BudgetExceeded when no call is left, ModelError when there is no whole answer.
        """
        with self.meter.call(purpose) as settle:
            started = time.perf_counter()
            about: dict[str, Any] = {"purpose": purpose, "messages": list(messages), "prompt": prompt}
            try:
                answer = self.trace.recorded(Asked, AskFailed)
                if isinstance(answer, AskFailed):
                    raise _failure(answer)
                if isinstance(answer, Asked):
                    completion = answer.completion
                else:
                    completion = self.llm.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
            except ModelError as e:
                spent = e.usage or Usage()
                self.record(AskFailed(**about, error=str(e), usage=spent, seconds=time.perf_counter() - started))
                raise
            settle(completion.usage)
        seconds = time.perf_counter() - started
        self.record(Asked(**about, completion=completion, seconds=seconds))
        return completion

    def restart(self) -> Observation:
        """Reset the environment to the same task, for methods that try again from the start. Counts go on."""
        self.success, self.reward = False, 0.0
        self.first = self.observation = self._reset()
        return self.first

    @contextmanager
    def span(self, kind: str, name: str) -> Iterator[None]:
        """A part of the episode (a trial, a sub-task): the events inside bear its number in the trace."""
        self._span_count += 1
        number = self._span_count
        self.record(SpanOpened(id=number, kind=kind, name=name))
        self._spans.append(number)
        try:
            yield
        finally:
            self._spans.pop()
            self.record(SpanClosed(id=number))

    def record(self, event: Event) -> None:
        """Write an event to the trace, under the innermost open span."""
        self.trace.append(event, self._spans[-1] if self._spans else None)

    # -------------------------------------------------------------- what stands around it

    @property
    def api(self) -> AgentApi:
        """The agent's API as data, for the prompt and the checker."""
        return agent_api(agent_class(self.env))

    def agent(self) -> Any:
        """A new agent that acts through this episode, at the state of ``first``."""
        cls = agent_class(self.env)
        takes = list(inspect.signature(cls).parameters.values())
        wants_observation = len([p for p in takes if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) > 1
        return cls(self.act, self.first) if wants_observation else cls(self.act)

    def result(self, reason: str, method: str) -> Result:
        """What the episode has come to, with its counts. Success is the environment's word."""
        plans = (e.source for e in reversed(self.trace.events) if isinstance(e, PlanDrafted))
        return Result(
            task=self.task,
            success=self.success,
            reason="success" if self.success else reason,
            method=method,
            model=self.llm.name,
            reward=self.reward,
            actions=self.meter.actions,
            asks=self.meter.calls_for("ask"),
            refinements=self.meter.refinements,
            model_calls=self.meter.model_calls,
            usage=self.meter.usage,
            seconds=round(self.meter.seconds, 4),
            trace=str(self.trace.path) if self.trace.path else None,
            plan=next(plans, None),
        )

    def _reset(self) -> Observation:
        recorded = self.trace.recorded(EnvironmentReset)
        self._behind = recorded is not None
        observation = recorded.observation if recorded else self._begin()
        self.record(EnvironmentReset(observation=observation))
        self._notice(observation)
        return observation

    def _notice(self, observation: Observation) -> None:
        self.observation = observation
        self.success = self.success or observation.success
        self.reward = max(self.reward, observation.reward)

    def _catch_up(self) -> None:
        """Bring the world to where a recording left it: reset it, play the recorded actions, compare each answer."""
        if not self._behind:
            return
        self._behind = False
        last = max(i for i, e in enumerate(self.trace.events) if isinstance(e, EnvironmentReset))
        for event in self.trace.events[last:]:
            if isinstance(event, EnvironmentReset):
                self._expect(event.seq, event.observation, self._begin())
            elif isinstance(event, Acted):
                self._expect(event.seq, event.observation, self._step(event.action))

    def _expect(self, seq: int, recorded: Observation, now: Observation) -> None:
        if recorded != now:
            raise Diverged(f"the world is not what was recorded at event {seq}: it said {recorded}, and says now {now}")

    def _begin(self) -> Observation:
        return self._guarded(lambda: self.env.reset(self.task), f"resetting to task {self.task.id}")

    def _step(self, action: str) -> Observation:
        return self._guarded(lambda: self.env.step(action), f"doing {action!r}")

    def _guarded(self, do: Any, what: str) -> Observation:
        try:
            observation = do()
        except CodeplanError:
            raise
        except Exception as e:
            raise EnvironmentFailure(f"the environment {self.env.name} broke while {what}: {e!r}") from e
        if not isinstance(observation, Observation):
            raise EnvironmentFailure(
                f"the environment {self.env.name} answered a {type(observation).__name__} while {what}; "
                "reset and step must return a codeplan.Observation"
            )
        return observation


def _failure(recorded: AskFailed) -> ModelError:
    error = ModelError(recorded.error)
    error.usage = recorded.usage
    return error


def agent_class(env: Environment) -> type:
    """The environment's Agent class. Raises EnvironmentFailure where it has none."""
    if not isinstance(env.agent, type):
        raise EnvironmentFailure(
            f"the environment {env.name} has no Agent class: its attribute 'agent' must be a class"
        )
    return env.agent
