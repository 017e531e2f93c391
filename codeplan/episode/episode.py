"""The one gate: an Episode owns the environment, the model, the meter and the trace of one attempt at one task.

``call`` (``act`` in a world of text) and ``ask`` are the only ways to the environment and to the model. Each charges
the budget, does its work and records it before it returns. Methods therefore cannot miscount, and all are traced the
same way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from codeplan.agent_interface import agent_api, plan_place
from codeplan.budget import Meter
from codeplan.episode.history import NO_HISTORY, OnceCalls
from codeplan.episode.open_calls import NextAnswer, OpenCalls
from codeplan.episode.replayable import ReplayableEnvironment, ReplayableModel, observation_too_long
from codeplan.errors import AgentError, EnvironmentFailure, EpisodeOver, SizeExceeded, UsageError
from codeplan.plain_data import pack, unpack
from codeplan.protocols import LLM, ActsForReal, BaseEnvironment, JudgesValues, OffersTools, described_actions
from codeplan.recording.event_log import events_of, latest_of, places_of, standing_events
from codeplan.recording.events import (
    AnsweredCall,
    CallAnswered,
    CallBegun,
    CallDecided,
    CallRepeated,
    CallSite,
    EnvironmentReset,
    EnvironmentRestored,
    EpisodeContinued,
    EpisodeStarted,
    Event,
    KeepsCallsOpen,
    PictureSaved,
    PlanDrafted,
    PlanEnded,
    PlanFixed,
    PlanStarted,
    SpanClosed,
    SpanOpened,
    StepEntered,
    TakesTurns,
    ToolFailed,
    TurnStarted,
    ValueJudged,
)
from codeplan.recording.trace import Trace
from codeplan.sandbox.host.agent_port import plan_error
from codeplan.sandbox.protocol.limits import shorten
from codeplan.tools.agent import OpenToolCalls, ToolAgent
from codeplan.tools.failures import show_failure, shows_each_failure
from codeplan.types import (
    ASK_USER,
    ActionSpace,
    AgentApi,
    Answer,
    Call,
    Completion,
    Crashed,
    Embeddings,
    Ending,
    EnvironmentEnded,
    Failed,
    Finished,
    InfrastructureFailed,
    LastFailure,
    Message,
    NotSolved,
    Observation,
    Outcome,
    Purpose,
    Result,
    ReturnType,
    Stopped,
    Success,
    Task,
    Value,
)
from codeplan.untrusted.json_values import json_value, json_variables
from codeplan.untrusted.texts import MAX_REASON_CHARS, escape_in_data, one_line
from codeplan.untrusted.values import shown_answer

MAX_VALUE_BYTES = 256 << 10
"""Maximum size of ``Result.value`` as JSON, in bytes; a larger one is None."""

MAX_VARIABLES_BYTES = 256 << 10
"""Maximum size of ``Result.variables`` as JSON, in bytes; those that do not fit are left out."""


def actions_not_described(env: str) -> UsageError:
    """The error for an environment without ``space`` and a method whose model writes actions."""
    return UsageError(
        f"the environment {env} does not describe its actions, but this method's model writes them itself: give the "
        "environment space = ActionSpace(forms=…), the form of each action (docs/own-environment.md), or take a method "
        "that plans in code, such as adaplanner"
    )


_GOAL_IN_OBSERVATION = "what the observation asks for"


class EpisodeState(Value, frozen=True, kw_only=True):
    """Where an episode stands after one of its events. ``snapshot`` is that of the environment with the
    number of its actions, None without one.
    """

    last_event: int
    observation: Observation
    first_observation: Observation
    success: bool
    reward: float
    finished: Finished | None
    snapshot: Any


class Episode:
    """One attempt at one task.

    ``observation`` is the latest observation, ``first_observation`` that of the latest reset. ``finished`` is the
    outcome of the latest plan if it ran to its end; its value is the result of the task or of its latest part.
    ``once_tools`` are the tools of which prompts say that their calls are made once, ``new_tools`` those that the user
    has added for the present turn of a session. ``acts_for_real``: actions are real and cannot be undone, so the
    episode cannot start over.

    Creating it resets the environment. While the trace replays a recording, the recording answers for environment and
    model; afterwards the episode fast-forwards the environment to the same state and continues live.
    """

    def __init__(
        self, env: BaseEnvironment, task: Task, llm: LLM, meter: Meter | None = None, trace: Trace | None = None
    ):
        self.env, self.task, self.llm = env, task, llm
        self.trace = trace or Trace()
        self.meter = meter or Meter(clock=self.trace.now)
        self.success = False
        self.reward = 0.0
        header = next(iter(self.trace.events), None)
        started = header if isinstance(header, EpisodeStarted) else None
        self._tools = env if isinstance(env, OffersTools) else None
        self.acts_for_real = isinstance(env, ActsForReal)
        offered = self._tools.once_tools if self._tools else frozenset()
        self.once_tools = started.once if started else tuple(sorted(offered))
        self._once = OnceCalls(offered, started.carried if started else ())
        self._replayable_env = ReplayableEnvironment(env, task, self.trace, self.record, self._once)
        self._open_calls: OpenCalls | None = None
        self._expect_calls()
        self._spans: list[int] = []
        self._span_count = 0
        self._agent: Any = None
        self._refusal: SizeExceeded | None = None
        self.finished: Finished | None = None
        self._replayable_model = ReplayableModel(llm, self.meter, self.trace, self.record)
        self._call_count = 0
        self._answer: Answer | None = None  # of the latest call of a tool, if nothing was observed since
        self.history = NO_HISTORY if started is None else NO_HISTORY.given(started.variables)
        self.new_tools: tuple[str, ...] = ()
        self._turn_start = 0
        self.first_observation = self._reset()

    def _expect_calls(self) -> None:
        """Be ready for calls at the same time, if the environment makes them."""
        if isinstance(self.env, KeepsCallsOpen):
            take_up = self._replayable_env.take_up
            self._open_calls = OpenCalls(self.env, self.trace, self.record, self._take_answer, take_up, self._once)

    # -------------------------------------------------------------- the turns of a session

    def begin_turn(self, turn: TurnStarted) -> None:
        """Begin the next turn of a session: a new goal, in the world as it is, with what the turns before left.

        The budget holds for each turn.

        Raises: UsageError: the environment has no turns; only that of tools has.
        """
        if not isinstance(self.env, TakesTurns):
            raise UsageError(f"the environment {self.env.name} has no sessions; tools have")
        history = self.history.after(self.task.goal, self.turn_events, turn.before)
        if self._open_calls is not None:
            self._open_calls.abandon()
            self._expect_calls()
        self.record(turn)
        self._turn_start = len(self.trace.events) - 1
        self.history = history.given(turn.variables)
        number, before = len(history.turns) + 1, {method.name for method in self.api.methods}
        self.task = self.env.begin_turn(turn, number, recalls=history.is_long, lately=history.tools_of_late)
        self.new_tools = ()
        if turn.tools is not None:
            self.new_tools = tuple(tool.method.name for tool in turn.tools if tool.method.name not in before)
            self.once_tools = turn.once
            self._once.watch(turn.once)
        self.meter.begin_turn()
        self._spans.clear()
        self._agent = self._answer = self.finished = None
        self.success, self.reward = False, 0.0
        self._observation = self.first_observation

    @property
    def turn_events(self) -> Sequence[Event]:
        """The events of the present turn of a session; otherwise those of the episode."""
        return self.trace.events[self._turn_start :] if self._turn_start else self.trace.events

    # -------------------------------------------------------------- the gate

    def call(self, call: Call) -> Answer:
        """Make one call of a tool, or do one action in a world of text.

        Raises:
            EpisodeOver: the environment has ended the episode.
            BudgetExceeded: no action is left, or the time was over before the answer.
            TraceExhausted: the call and its answer might not fit into the trace.
            SizeExceeded: the observation is too long; the action was done.
            EnvironmentFailure: the environment breaks.
        """
        self._require_usable_start()
        if self.is_over:
            raise EpisodeOver("the environment has ended this episode")
        self.trace.require_room()
        self._reserve_action(call)
        self._call_count += 1
        site = CallSite(*plan_place.get(), self.trace.events)
        before = plan_place.set((None, None))  # not _without_place: a context manager costs more than the rest of this
        try:
            with self.meter.time_left():
                answered = self._replayable_env.call(self._call_count, call, site)
        finally:
            plan_place.reset(before)
        self.record(answered)
        if answered.answer.observation is None:
            self._answer = answered.answer
        else:
            self._update_state(answered.answer.observation)
        if answered.cut_from:
            raise observation_too_long(answered.cut_from)
        if answered.answer.in_doubt:
            self.meter.require_time()
        return answered.answer

    def _reserve_action(self, call: Call) -> None:
        """Count an action; a question to the user is none. Raises: BudgetExceeded: none is left."""
        if not (self.asks_user and call.name == ASK_USER.name):
            self.meter.reserve("actions")

    def ask_user(self, question: str) -> str:
        """The user's answer to the model's own question. It is a call, and no action.

        Raises as ``call``, and WaitingForAnswer: the user is not there.
        """
        return str(unpack(self.call(Call(ASK_USER.name, {"question": pack(question)})).value))

    # -------------------------------------------------------------- calls at the same time

    def begin(self, call: Call) -> int:
        """Begin a call of a tool without waiting for its answer, and return its id. Raises as ``call``."""
        assert self._open_calls is not None, "the environment keeps calls open"
        self._require_usable_start()
        if self.is_over:
            raise EpisodeOver("the environment has ended this episode")
        self.trace.require_room(1 + len(self._open_calls))
        self._reserve_action(call)
        self._call_count += 1
        site = CallSite(*plan_place.get(), self.trace.events)
        with _without_place(), self.meter.time_left():
            self._open_calls.begin(self._call_count, call, site)
        return self._call_count

    def next_answer(self, seconds: float | None) -> NextAnswer | None:
        """Wait for the next answer of an open call; None: ``seconds`` have passed (None: no limit).

        Raises as ``call``.
        """
        assert self._open_calls is not None, "the environment keeps calls open"
        with _without_place(), self.meter.time_left():
            answered = self._open_calls.next_answer(seconds)
        if answered is not None and answered.event.answer.in_doubt:
            self.meter.require_time()
        return answered

    def drop_call(self, id: int) -> bool:
        """Drop an open call that is not made yet; False if it is being made, or is answered."""
        assert self._open_calls is not None, "the environment keeps calls open"
        return self._open_calls.drop(id)

    def end_calls(self, *, wait: bool) -> None:
        """Nobody waits for open calls any more: wait until those that are being made are answered, or leave them."""
        assert self._open_calls is not None, "the environment keeps calls open"
        if not wait:
            self._open_calls.abandon()
            return
        with self.meter.time_left():
            self._open_calls.finish()

    def _take_answer(self, answered: CallAnswered) -> None:
        self.record(answered)
        if not self.is_over:  # calls that were open when a tool ended the episode are answered afterwards
            self._answer = answered.answer

    def act(self, action: str) -> Observation:
        """Do one action, by its words, in a world of text. Raises as ``call``."""
        observation = self.call(Call(action)).observation
        assert observation is not None, "tools are called by name, not by an action's words"
        return observation

    def note_outcome(self, outcome: Outcome) -> None:
        """Remember the outcome of a plan for a sub-task. The environment does not judge it."""
        self.finished = outcome if isinstance(outcome, Finished) else None

    def judge(self, outcome: Outcome) -> ValueJudged | None:
        """Remember a plan's outcome. If the plan finished, the environment judges the value that it returned.

        A value that could not leave the sandbox is not accepted, and the verdict says why.
        None if the plan did not finish, or if the environment judges no values. The verdict is an observation.
        """
        self.note_outcome(outcome)
        if self.finished is None or self.is_over:
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

    def repeat_calls(self) -> None:
        """Repeat the calls that come next in the recording, and were made outside of a plan.

        One without an answer is made only if its tool only reads: the recording may come from a stranger. Raises as
        ``call``.
        """
        free = self._tools.readonly_tools if self._tools else frozenset()
        while self.trace.peek_recorded(CallDecided, CallRepeated, CallBegun):
            left = self.trace.recording[len(self.trace.events) :]
            begun = next((event for event in left if isinstance(event, CallBegun)), None)
            answered = begun and any(isinstance(event, CallAnswered) and event.id == begun.id for event in left)
            if begun is None or not (answered or begun.call.name in free):
                return
            self.call(begun.call)

    def restart(self) -> Observation:
        """Reset the environment to the same task, for methods that start over. The meter keeps its counts."""
        self.success, self.reward = False, 0.0
        self.first_observation = self._reset()
        return self.first_observation

    def mark(self) -> EpisodeState:
        """The present state, for ``go_back``."""
        return EpisodeState(
            last_event=len(self.trace.events) - 1,
            observation=self.observation,
            first_observation=self.first_observation,
            success=self.success,
            reward=self.reward,
            finished=self.finished,
            snapshot=self._replayable_env.snapshot(),
        )

    def go_back(self, state: EpisodeState) -> None:
        """Take the episode and its world back to a state that it was in. It costs no action, and the meter goes on.

        An environment without snapshots is reset, and repeats its actions. Raises as ``call``, and Diverged: it answers
        them otherwise.
        """
        self.record(EnvironmentRestored(to=state.last_event))
        self._replayable_env.restore(state.snapshot)
        self._observation, self._answer, self.first_observation = state.observation, None, state.first_observation
        self.success, self.reward, self.finished = state.success, state.reward, state.finished
        self._agent = None

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
        event = self.trace.append(event, self._spans[-1] if self._spans else None)
        while self.trace.has_recording and (continued := self.trace.next_continuation()):
            self.meter.budget = continued.budget
        if self._once.watched:  # otherwise no call can get an earlier answer
            self._once.follow(event)

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
        space = described_actions(self.env)
        if space is None:
            raise actions_not_described(self.env.name)
        return space

    @property
    def observation(self) -> Observation:
        """The latest observation. After a call of a tool, its text is the answer as a plan prints it."""
        if self._answer is not None:
            self._observation, self._answer = Observation(shown_answer(self._answer), done=self._answer.done), None
        return self._observation

    @property
    def is_over(self) -> bool:
        """Whether the environment has ended the episode: no further call counts."""
        return self._observation.done if self._answer is None else self._answer.done

    @property
    def further_tries(self) -> int:
        """The further runs of a plan that the episode got if it had ended at this point, and goes on; otherwise 0."""
        latest = self.trace.events[-1]
        return latest.tries if isinstance(latest, EpisodeContinued) else 0

    @property
    def has_tools(self) -> bool:
        """Whether the environment's agent consists of tools, which are called by name."""
        return self._tools is not None

    @property
    def is_blind(self) -> bool:
        """Whether prompts for revised plans have shapes in place of what tools answered."""
        return self._tools is not None and self._tools.is_blind

    @property
    def has_flows(self) -> bool:
        """Whether the user's flows decide about calls."""
        return self._tools is not None and self._tools.has_flows

    @property
    def instructions(self) -> str:
        """The user's own system text, for prompts that act for the user; empty if there is none."""
        return self._tools.instructions if self._tools else ""

    @property
    def returns(self) -> ReturnType | None:
        """The type that the value of a plan must have; None if it may have any."""
        return self._tools.returns if self._tools else None

    @property
    def asks_user(self) -> bool:
        """Whether plans may ask the user."""
        return self._tools is not None and self._tools.asks_user

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
            self._agent = build_agent(self.env, self.call if self.has_tools else self.act, self.first_observation)
            if isinstance(self._agent, ToolAgent):
                self._agent._history_ = self.history
                if self._open_calls is not None:
                    self._agent._open_calls_ = OpenToolCalls(self._agent, self)
        return self._agent

    def result(self, ending: Ending | str, method: str, claim: bool | None = None) -> Result:
        """The episode's result so far. A text as ``ending`` stands for ``NotSolved``.

        The environment decides on success, which overrides ``ending``; ``claim`` is what the method believes.
        """
        if self.success:
            ending = Success()
        elif isinstance(ending, str):
            ending = NotSolved(ending)
        events = self.turn_events if self.acts_for_real else standing_events(self.trace.events)  # tools cannot go back
        ending = explain_end(ending, events)
        finished = self.finished if isinstance(self.env, JudgesValues) else None
        plan = latest_of(events, PlanDrafted, PlanFixed)
        variables = json_variables(finished.variables, MAX_VARIABLES_BYTES).values if finished else {}
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
            plan=plan.source if plan else None,
            claim=claim,
            depth=self.meter.depth,
            failure=last_failure(events, ending),
            value=storable_value(finished.value) if finished else None,
            variables=escape_in_data(variables),
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

    def _update_state(self, observation: Observation) -> None:
        """Take an observation over, with a picture beside the trace if the environment has one."""
        self._observation, self._answer = observation, None
        self.success = self.success or observation.success
        self.reward = max(self.reward, observation.reward)
        if self.trace.events.left and (recorded := self.trace.peek_recorded(PictureSaved)):
            self.record(recorded)
        elif self._replayable_env.shows_pictures and (png := self._replayable_env.picture()):
            self.record(PictureSaved(file=self.trace.save_file("pictures", ".png", png)))


@contextmanager
def _without_place() -> Iterator[None]:
    """What a call does by itself, such as an episode of its own, has no place in the plan."""
    before = plan_place.set((None, None))
    try:
        yield
    finally:
        plan_place.reset(before)


def agent_class(env: BaseEnvironment) -> type:
    """The environment's Agent class. Raises: EnvironmentFailure: its attribute ``agent`` is not a class."""
    if not isinstance(env.agent, type):
        raise EnvironmentFailure(
            f"the environment {env.name} has no Agent class: its attribute 'agent' must be a class"
        )
    return env.agent


def build_agent(env: BaseEnvironment, act: Callable[..., Any], first: Observation) -> Any:
    """An agent that acts through ``act``. Passes the first observation if ``__init__`` takes it."""
    cls = agent_class(env)
    parameters = inspect.signature(cls).parameters.values()
    takes_observation = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) > 1
    return cls(act, first) if takes_observation else cls(act)


def last_failure(events: Sequence[Event], ending: Ending) -> LastFailure | None:
    """The failure that ended the episode, otherwise the last one that ended a plan. A tool's exception that a plan
    caught is none.
    """
    if isinstance(ending, Crashed | InfrastructureFailed):
        return LastFailure(ending.error, ending.message)
    if isinstance(ending, EnvironmentEnded) and (failed := _ending_failure(events)):
        step, line = _place_of_call(events, failed.id)
        return LastFailure(failed.error, failed.message, step, line, failed.tool)
    for at in places_of(events, PlanEnded):
        match events[at]:
            case PlanEnded(outcome=Failed() as end):
                call = failed_call(events[:at], end)
                return LastFailure(end.error, end.message, end.step, end.line, call.call.name if call else "")
            case PlanEnded(outcome=Stopped() as end):
                return LastFailure(end.limit, end.message, end.step, end.line)
    return None


def failed_call(events: Sequence[Event], end: Failed) -> AnsweredCall | None:
    """The call whose error ended a plan as ``end``, after these events; None if the plan failed by itself.

    It is the last call that the plan got an answer to, or one that was open at the same time as that, directly or one
    after the other; and the plan ended with the error of its answer.
    """
    answers: list[CallAnswered] = []
    waiting, begun = set[int](), dict[int, Call]()
    for event in reversed(events):
        if isinstance(event, PlanStarted):
            break
        if isinstance(event, CallAnswered):
            answers.append(event)
            waiting.add(event.id)
        elif isinstance(event, CallBegun) and event.id in waiting:
            begun[event.id] = event.call
            waiting.remove(event.id)
            if not waiting:
                break
    calls = (AnsweredCall(begun[answer.id], answer) for answer in answers if answer.id in begun)
    return next((call for call in calls if _ended_with(call.answer, end)), None)


def _ended_with(answer: Answer, end: Failed) -> bool:
    """Whether a plan ended with the error of this answer."""
    if not answer.error:
        return False
    error = plan_error(AgentError(answer.message, answer.error))
    texts = {shorten(error.message), shorten(str(KeyError(error.message)))}  # a KeyError shows its message quoted
    return error.error == end.error and end.message in texts


def show_failed_tool(events: Sequence[Event], end: Failed, recorded: int) -> None:
    """Show the developer the traceback of a tool whose exception ended a plan as ``end``, after these events.

    The first ``recorded`` events were shown when they happened, and so is each failure where the developer wants that.
    """
    call = failed_call(events, end)
    if call is None or shows_each_failure():
        return
    for event in reversed(events[recorded:]):
        if isinstance(event, ToolFailed) and event.id == call.event.id:
            show_failure(event.tool, event.traceback)
            return


def _place_of_call(events: Sequence[Event], id: int) -> tuple[int | None, int | None]:
    """The step and the plan's line of the last call, which has this id; None where no plan made it."""
    line = next((e.line for e in reversed(events) if isinstance(e, CallBegun) and e.id == id), None)
    for event in reversed(events):
        if isinstance(event, StepEntered):
            return event.step, line
        if isinstance(event, PlanStarted):
            break
    return None, line


def explain_end(ending: Ending, events: Sequence[Event]) -> Ending:
    """The ending; if a tool's failure ended the episode, with the tool and its error."""
    if not isinstance(ending, EnvironmentEnded) or (failed := _ending_failure(events)) is None:
        return ending
    said = one_line(failed.message, MAX_REASON_CHARS)
    error = f"{failed.error}: {said}" if said else failed.error
    return EnvironmentEnded(f"the tool {failed.tool} failed, and tool errors end the episode: {error}")


def _ending_failure(events: Sequence[Event]) -> ToolFailed | None:
    """The failure of a tool in the last call, if that ended the episode."""
    last = next((e for e in reversed(events) if isinstance(e, CallAnswered) and e.answer.done), None)
    if last is None:
        return None
    return next((e for e in reversed(events) if isinstance(e, ToolFailed) and e.id == last.id), None)


def storable_value(value: object) -> Any:
    """The value that a plan returned, as JSON data; None if it is too large."""
    return escape_in_data(json_value(value, MAX_VALUE_BYTES))


# ------------------------------------------------------------------ back to an earlier state


def actions_since_reset(episode: Episode) -> tuple[Call, ...]:
    """All actions since the latest reset that the present state comes from, in order."""
    actions: dict[int, Call] = {}  # a call that was made again has begun twice
    for event in events_of(standing_events(episode.trace.events)[::-1], EnvironmentReset, CallBegun):
        if isinstance(event, EnvironmentReset):
            break
        actions.setdefault(event.id, event.call)
    return tuple(reversed(actions.values()))


def require_fresh_world(episode: Episode, what: str, instead: str) -> None:
    """Raises: UsageError: actions are real here, so ``what`` cannot start over; take ``instead``."""
    if episode.acts_for_real:
        raise UsageError(f"{what} starts over, but tools act in the real world, which cannot go back; take {instead}")


def rewind(episode: Episode, actions: tuple[Call, ...]) -> None:
    """Reset the environment and repeat these actions, which count as usual. Does nothing if the environment is in that
    state already.
    """
    if actions_since_reset(episode) == actions:
        return
    with episode.span("rewind", f"to after {len(actions)} actions"):
        episode.restart()
        for action in actions:
            episode.call(action)
