"""The one gate: an Episode owns the environment, the model, the meter and the trace of one attempt at one task.

``act`` and ``ask`` are the only ways to the environment and to the model. Each charges the budget, does its work and
records it before it returns. Methods therefore cannot miscount, and all are traced the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from codeplan.agent_interface import agent_api
from codeplan.episode.agent import agent_class, build_agent
from codeplan.episode.meter import Meter
from codeplan.episode.replayable_environment import ReplayableEnvironment
from codeplan.episode.replayable_model import ReplayableModel
from codeplan.episode.result_parts import explain_end, final_variables, last_failure, returned_value
from codeplan.episode.text_limits import observation_too_long
from codeplan.errors import EpisodeOver, SizeExceeded, UsageError
from codeplan.protocols import LLM, ActsForReal, Environment, JudgesValues, OffersTools, TakesActions
from codeplan.recording.events import (
    Event,
    PictureSaved,
    PlanDrafted,
    PlanFixed,
    ReportsEvents,
    SpanClosed,
    SpanOpened,
    ValueJudged,
)
from codeplan.recording.trace import Trace
from codeplan.types import (
    ActionSpace,
    AgentApi,
    Completion,
    Embeddings,
    Ending,
    Finished,
    Message,
    NotSolved,
    Observation,
    Outcome,
    Purpose,
    Result,
    Success,
    Task,
)

_GOAL_IN_OBSERVATION = "what the observation asks for"


class Episode:
    """One attempt at one task.

    ``observation`` is the latest observation, ``first_observation`` that of the latest reset. ``finished`` is the
    outcome of the latest plan if it ran to its end; its value is the result of the task or of its latest part.

    Creating it resets the environment. While the trace replays a recording, the recording answers for environment and
    model; afterwards the episode fast-forwards the environment to the same state and continues live.
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
        self._refusal: SizeExceeded | None = None
        self.finished: Finished | None = None
        if isinstance(env, ReportsEvents):
            env.on_event = self.record
        self._replayable_model = ReplayableModel(llm, self.meter, self.trace, self.record)
        self.first_observation = self.observation = self._reset()

    # -------------------------------------------------------------- the gate

    def act(self, action: str) -> Observation:
        """Do one action in the environment.

        Raises:
            EpisodeOver: the environment has ended the episode.
            BudgetExceeded: no action is left.
            SizeExceeded: the observation is too long; the action was done.
            EnvironmentFailure: the environment breaks.
        """
        self._require_usable_start()
        if self.observation.done:
            raise EpisodeOver("the environment has ended this episode")
        self.meter.reserve_action()
        for event in self._replayable_env.recorded_events(action):
            self.record(event)
        taken = self._replayable_env.step(action)
        self.record(taken)
        self._update_state(taken.observation)
        if taken.cut_from:
            raise observation_too_long(taken.cut_from)
        return taken.observation

    def note_outcome(self, outcome: Outcome) -> None:
        """Remember the outcome of a plan for a sub-task. The environment does not judge it."""
        self.finished = outcome if isinstance(outcome, Finished) else None

    def judge(self, outcome: Outcome) -> ValueJudged | None:
        """Remember a plan's outcome. If the plan finished, the environment judges the value that it returned.

        A value that could not leave the sandbox is not accepted, and the verdict says why.
        None if the plan did not finish, or if the environment judges no values. The verdict is an observation.
        """
        self.note_outcome(outcome)
        if self.finished is None or self.observation.done:
            return None
        judged = self._replayable_env.judge(self.finished)
        if judged is None:
            return None
        self.record(judged)
        if judged.verdict is not None:
            self._update_state(judged.verdict)
        return judged

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
            SizeExceeded: texts made in this episode make the prompt too long, or the reply is too long.
            UsageError: the task and the settings alone make the prompt too long.
            ModelError: there is no complete answer.
        """
        self._require_usable_start()
        return self._replayable_model.ask(messages, purpose, prompt, stop, max_tokens)

    def embed(self, texts: Sequence[str], model: str) -> Embeddings:
        """The vectors of texts, from the embedding model of that name at the model's endpoint.

        The trace does not keep vectors. The caller must record what it derives from them, and must not call this while
        a recording can answer instead (see ``replay_embeddings``).

        Raises:
            BudgetExceeded: no call is left.
            ModelError: the endpoint does not return the vectors.
            UsageError: this model does not embed.
        """
        return self._replayable_model.embed(texts, model)

    def replay_embeddings(self) -> None:
        """Replay the embedding calls that come next in the recording, and charge each as recorded.

        The events that the caller derived from the vectors follow in the trace. Raises as ``embed``.
        """
        self._replayable_model.replay_embeddings()

    def restart(self) -> Observation:
        """Reset the environment to the same task, for methods that start over. The meter keeps its counts."""
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

    @property
    def has_tools(self) -> bool:
        """Whether the actions are calls of tools, as JSON (see ``codeplan.tools.wire``)."""
        return isinstance(self.env, OffersTools)

    @property
    def acts_for_real(self) -> bool:
        """Whether actions are real: they cannot be undone, so the episode cannot start over."""
        return isinstance(self.env, ActsForReal)

    def is_done(self, task: Task, claim: bool | None) -> bool:
        """Whether ``task`` counts as done; ``claim`` is what the method that tried it believes.

        The claim counts for a sub-task, and with tools: there the environment judges before a method claims success,
        if it has a verifier.
        """
        return self.success or (claim is True and (self.has_tools or self.is_subtask(task)))

    def goal_of(self, task: Task) -> str:
        """The sentence that prompts show as the goal of ``task``; never empty.

        If the task has none, it is what the environment's reset revealed, possibly its whole observation.
        """
        return task.goal or self.first_observation.goal or _GOAL_IN_OBSERVATION

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
        ending = explain_end(ending, self.trace.events)
        finished = self.finished if isinstance(self.env, JudgesValues) else None
        plans = (e.source for e in reversed(self.trace.events) if isinstance(e, PlanDrafted | PlanFixed))
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
            depth=self.meter.depth,
            failure=last_failure(self.trace.events, ending),
            value=returned_value(finished),
            variables=final_variables(finished),
        )

    def _reset(self) -> Observation:
        begun = self._replayable_env.reset()
        self._agent = None
        self.record(begun)
        self._update_state(begun.observation)
        self._refusal = observation_too_long(begun.cut_from) if begun.cut_from else None
        return begun.observation

    def _require_usable_start(self) -> None:
        """Raise SizeExceeded if the first observation is too long: then the episode is lost, but it has begun."""
        if self._refusal:
            raise self._refusal

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
        self._save_picture()
