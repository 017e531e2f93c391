"""The one gate: an Episode owns the environment, the model, the meter and the trace of one attempt at one task.

``act`` and ``ask`` are the only ways to the environment and to the model. Each charges the budget, does its work and
records it before it returns. So no method can miscount, and all are traced alike.
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
from codeplan.types import (
    ActionSpace,
    AgentApi,
    Completion,
    Embeddings,
    Ending,
    Message,
    NotSolved,
    Observation,
    Purpose,
    Result,
    Success,
    Task,
    Usage,
)


class Episode:
    """One attempt at one task. ``observation`` is the latest, ``first_observation`` that of the latest reset.

    Creating it resets the environment. While the trace replays a recording, the recording answers for environment and
    model; afterwards the environment is fast-forwarded to the same state and goes on.
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

        Raises:
            EpisodeOver: the environment has ended the episode.
            BudgetExceeded: no action is left.
            EnvironmentFailure: the environment breaks.
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

        Raises:
            BudgetExceeded: no call is left.
            ModelError: there is no complete answer.
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
                used = e.usage or Usage()
                self.record(ModelCallFailed(**about, error=str(e), usage=used, seconds=time.perf_counter() - started))
                raise
            settle(completion.usage)
        seconds = time.perf_counter() - started
        self.record(ModelCalled(**about, completion=completion, seconds=seconds))
        return completion

    def embed(self, texts: Sequence[str], model: str) -> Embeddings:
        """The vectors of texts, from the embedding model of that name at the model's endpoint.

        The trace does not keep vectors. So the caller records what it derives from them, and does not call this while a
        recording can answer instead (see ``replay_embeddings``).

        Raises:
            BudgetExceeded: no call is left.
            ModelError: the endpoint does not return the vectors.
            UsageError: this model does not embed.
        """
        self.replay_embeddings()
        self.trace.next_recorded(TextsEmbedded)  # raises Diverged if another event is next in the recording
        embedding_model = find_embedding_model(self.llm)
        with self.meter.call("embed") as settle:
            started = time.perf_counter()
            try:
                answer = embedding_model.embed(texts, model=model)
            except ModelError as e:
                used, seconds = e.usage or Usage(), time.perf_counter() - started
                self.record(ModelCallFailed(purpose="embed", messages=[], error=str(e), usage=used, seconds=seconds))
                raise
            settle(answer.usage)
        about: dict[str, Any] = {"model": model, "texts": len(texts), "digest": _digest(texts)}
        self.record(TextsEmbedded(**about, usage=answer.usage, seconds=time.perf_counter() - started))
        return answer

    def replay_embeddings(self) -> None:
        """Replay the embedding calls that come next in the recording, and charge each as recorded.

        What was derived from the vectors follows them in the trace. Raises as ``embed``.
        """
        while event := self._upcoming_embedding():
            with self.meter.call("embed") as settle:
                self.record(event)
                if isinstance(event, ModelCallFailed):
                    raise _model_error_from(event)
                settle(event.usage)

    def restart(self) -> Observation:
        """Reset the environment to the same task, for methods that start over. The counts go on."""
        self.success, self.reward = False, 0.0
        self.first_observation = self.observation = self._reset()
        return self.first_observation

    @contextmanager
    def span(self, kind: str, name: str) -> Iterator[None]:
        """A part of the episode (a trial, a sub-task): the events inside carry its number in the trace."""
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

    # -------------------------------------------------------------- agent, action space, result

    @property
    def api(self) -> AgentApi:
        """The agent's API as data, for the prompt and the checker."""
        return agent_api(agent_class(self.env))

    @property
    def action_space(self) -> ActionSpace:
        """The description of the environment's actions, for models that write actions themselves.

        Raises: UsageError: the environment does not describe them.
        """
        if not isinstance(self.env, TakesActions):
            raise UsageError(
                f"the environment {self.env.name} does not describe its actions (no attribute 'space'), but this "
                "method's model writes actions; take a method that plans in code"
            )
        return self.env.space

    def is_subtask(self, task: Task) -> bool:
        """Whether ``task`` is a sub-task, which the environment cannot judge."""
        return task.goal != self.task.goal

    def agent(self) -> Any:
        """The agent that acts through this episode; ``restart`` replaces it."""
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
        """Save a picture beside the trace if the environment has one, or repeat the recorded event."""
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
    """16 hexadecimal digits that identify the texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]
