"""The one gate. An Episode owns the environment, the model, the meter and the trace of one attempt at one task.

``act`` and ``ask`` are the only way to the world and to the model; each charges the budget, does the thing, records it,
and only then returns. So no method can miscount, and every method is traced alike.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from codeplan.agent_api import agent_api
from codeplan.episode.agent import agent_class, build_agent
from codeplan.episode.embedding import find_embedding_model
from codeplan.episode.meter import Meter
from codeplan.episode.replayable_environment import ReplayableEnvironment
from codeplan.errors import EpisodeOver, ModelError, UsageError
from codeplan.protocols import LLM, Environment, TakesActions
from codeplan.recording.events import (
    ActionTaken,
    EnvironmentReset,
    Event,
    ModelCalled,
    ModelCallFailed,
    PictureSaved,
    PlanDrafted,
    SpanClosed,
    SpanOpened,
    TextsEmbedded,
)
from codeplan.recording.trace import Trace
from codeplan.types.agent import AgentApi
from codeplan.types.ending import Ending, NotSolved, Success
from codeplan.types.model import Completion, Embeddings, Message, Purpose, Usage
from codeplan.types.result import Result
from codeplan.types.task import ActionSpace, Observation, Task


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
        self._replayable_env = ReplayableEnvironment(env, task, self.trace)
        self._spans: list[int] = []
        self._span_count = 0
        self._agent: Any = None
        self.first_observation = self.observation = self._reset()

    # -------------------------------------------------------------- the gate

    def act(self, action: str) -> Observation:
        """Do one action in the environment.

        Raises EpisodeOver when the environment has said done, BudgetExceeded when no action is left, and
        EnvironmentFailure when the environment breaks.
        """
        if self.observation.done:
            raise EpisodeOver("the environment has ended this episode")
        self.meter.reserve_action()
        observation, seconds = self._replayable_env.step(action)
        self.record(ActionTaken(action=action, observation=observation, seconds=seconds))
        self._update_state(observation)
        self._save_picture()
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
                answer = self.trace.next_recorded(ModelCalled, ModelCallFailed)
                if isinstance(answer, ModelCallFailed):
                    raise _model_error_from(answer)
                if isinstance(answer, ModelCalled):
                    completion = answer.completion
                else:
                    completion = self.llm.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
            except ModelError as e:
                spent = e.usage or Usage()
                self.record(ModelCallFailed(**about, error=str(e), usage=spent, seconds=time.perf_counter() - started))
                raise
            settle(completion.usage)
        seconds = time.perf_counter() - started
        self.record(ModelCalled(**about, completion=completion, seconds=seconds))
        return completion

    def embed(self, texts: Sequence[str], model: str) -> Embeddings:
        """Ask the model's endpoint for the vectors of texts, from the embedding model of that name.

        The trace does not keep vectors. So whoever asks records what came of them, and asks nothing while that can be
        had from a recording: see ``follow_embeddings``.

        Raises BudgetExceeded when no call is left, ModelError when the vectors cannot be had, UsageError where this
        model does not embed.
        """
        self.replay_embeddings()
        self.trace.next_recorded(
            TextsEmbedded
        )  # it tells of no more of them: Diverged where it goes on with something else
        model_that_embeds = find_embedding_model(self.llm)
        with self.meter.call("embed") as settle:
            started = time.perf_counter()
            try:
                answer = model_that_embeds.embed(texts, model=model)
            except ModelError as e:
                spent, seconds = e.usage or Usage(), time.perf_counter() - started
                self.record(ModelCallFailed(purpose="embed", messages=[], error=str(e), usage=spent, seconds=seconds))
                raise
            settle(answer.usage)
        about: dict[str, Any] = {"model": model, "texts": len(texts), "digest": _digest(texts)}
        self.record(TextsEmbedded(**about, usage=answer.usage, seconds=time.perf_counter() - started))
        return answer

    def replay_embeddings(self) -> None:
        """Go past the calls for embeddings that a recording tells of next, each charged as it was.

        What was made of the vectors comes after them on the trace. Raises as ``embed`` did.
        """
        while event := self._upcoming_embedding():
            with self.meter.call("embed") as settle:
                self.record(event)
                if isinstance(event, ModelCallFailed):
                    raise _model_error_from(event)
                settle(event.usage)

    def restart(self) -> Observation:
        """Reset the environment to the same task, for methods that try again from the start. Counts go on."""
        self.success, self.reward = False, 0.0
        self.first_observation = self.observation = self._reset()
        return self.first_observation

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

    @property
    def action_space(self) -> ActionSpace:
        """The environment's actions in words, for models that act themselves.

        Raises UsageError where it does not tell them.
        """
        if not isinstance(self.env, TakesActions):
            raise UsageError(
                f"the environment {self.env.name} does not say what its actions look like (an attribute 'space'), "
                "and this method's model writes actions; take a method that plans in code"
            )
        return self.env.space

    def is_subtask(self, task: Task) -> bool:
        """Whether this is a part of the episode's task, on which the environment has no word."""
        return task.goal != self.task.goal

    def agent(self) -> Any:
        """The agent that acts through this episode: one from ``reset`` to ``reset``, so that it knows what it did."""
        if self._agent is None:
            self._agent = build_agent(self.env, self.act, self.first_observation)
        return self._agent

    def result(self, ending: Ending | str, method: str, claim: bool | None = None) -> Result:
        """The episode's result so far. A text as ``ending`` stands for ``NotSolved``.

        The environment decides on success, which overrides ``ending``; ``claim`` is what the method believes.
        """
        if self.success:
            ending = Success()
        elif isinstance(ending, str):
            ending = NotSolved(ending)
        plans = (e.source for e in reversed(self.trace.events) if isinstance(e, PlanDrafted))
        return Result(
            task=self.task,
            ending=ending,
            method=method,
            model=self.llm.name,
            reward=self.reward,
            actions=self.meter.actions,
            asks=self.meter.calls_for("ask") + self.meter.calls_for("bind"),
            refinements=self.meter.refinements,
            model_calls=self.meter.model_calls,
            usage=self.meter.usage,
            seconds=round(self.meter.seconds, 4),
            trace=str(self.trace.path) if self.trace.path else None,
            plan=next(plans, None),
            claim=claim,
        )

    def _upcoming_embedding(self) -> TextsEmbedded | ModelCallFailed | None:
        failed = self.trace.peek_recorded(ModelCallFailed)
        return failed if failed and failed.purpose == "embed" else self.trace.peek_recorded(TextsEmbedded)

    def _reset(self) -> Observation:
        observation = self._replayable_env.reset()
        self._agent = None
        self.record(EnvironmentReset(observation=observation))
        self._update_state(observation)
        self._save_picture()
        return observation

    def _save_picture(self) -> None:
        """Keep a picture of the world beside the trace, where there is one to be had; or the recorded one's name."""
        if recorded := self.trace.peek_recorded(PictureSaved):
            self.record(recorded)
        elif png := self._replayable_env.picture():
            self.record(PictureSaved(file=self.trace.save_file("pictures", ".png", png)))

    def _update_state(self, observation: Observation) -> None:
        self.observation = observation
        self.success = self.success or observation.success
        self.reward = max(self.reward, observation.reward)


def _model_error_from(recorded: ModelCallFailed) -> ModelError:
    error = ModelError(recorded.error)
    error.usage = recorded.usage
    return error


def _digest(texts: Sequence[str]) -> str:
    """16 hexadecimal digits that change with the texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]
