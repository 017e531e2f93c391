"""The environment and the model of an episode, or the recording that answers in their place."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import msgspec
from msgspec import structs
from msgspec.structs import replace

from codeplan.budget import Meter
from codeplan.episode.history import KnownAnswer, OnceCalls
from codeplan.errors import (
    CodeplanError,
    Diverged,
    EnvironmentFailure,
    ModelError,
    SizeExceeded,
    UsageError,
    WaitingForApproval,
)
from codeplan.protocols import (
    LLM,
    ActsForReal,
    BaseEnvironment,
    CountsCalls,
    Embeds,
    HasSnapshots,
    JudgesValues,
    LimitsActions,
    ShowsPictures,
    WrapsModel,
    reply_listener,
)
from codeplan.recording.event_log import standing_events
from codeplan.recording.events import (
    AnswersCalls,
    ApprovalAnswered,
    CallAnswered,
    CallBegun,
    CallDecided,
    CallRepeated,
    CallsByAnswer,
    CallSite,
    DoubtDecided,
    EnvironmentReset,
    Event,
    ModelCalled,
    ModelCallFailed,
    ReplyWritten,
    TextsEmbedded,
    ToolFailed,
    ValueJudged,
    WarningIssued,
)
from codeplan.recording.trace import Trace, tell_model_call
from codeplan.tools.approvals import question_of
from codeplan.types import Answer, Call, Completion, Embeddings, Finished, Message, Observation, Purpose, Task, Usage
from codeplan.types.value import MAX_AMOUNT
from codeplan.untrusted.texts import escape_surrogates, parser_reason, with_article
from codeplan.untrusted.tracebacks import broken_environment, broken_model, wrong_reply
from codeplan.untrusted.values import in_quotes, value_text

MAX_PROMPT_CHARS: Final = 1_000_000
"""Maximum length of a prompt, in characters: some 250,000 tokens, which is more than most models take. Prompts of the
built-in environments normally use less than a fiftieth of it.
"""

MAX_REPLY_CHARS: Final = 256_000
"""Maximum length of a reply, in characters: four times the longest plan that a sandbox accepts by default."""

MAX_OBSERVATION_CHARS: Final = 500_000
"""Maximum length of an observation, in characters: a prompt has room for it and for a plan."""

MAX_GOAL_CHARS: Final = 8_000
"""Maximum length of a goal that an environment's ``reset`` reveals, in characters; a longer one is cut."""


def bound_text(text: str, max_chars: int) -> tuple[str, int]:
    """The text, cut to ``max_chars`` characters, and its whole length if it was cut, otherwise 0.

    Half surrogate pairs, which JSON cannot hold, are escaped.
    """
    cut_from = len(text) if len(text) > max_chars else 0
    text = text[:max_chars]
    if text.isascii():
        return text, cut_from
    try:
        text.encode()
    except UnicodeEncodeError:
        text = escape_surrogates(text)[:max_chars]
    return text, cut_from


def prompt_too_long(length: int, purpose: str, *, made_by_agent: bool) -> SizeExceeded | UsageError:
    """The error for a prompt of ``length`` characters: a UsageError if only the task and the settings are in it."""
    what = f"the prompt for {in_quotes(purpose)} has {length:,} characters, more than {MAX_PROMPT_CHARS:,}"
    if made_by_agent:
        return SizeExceeded("prompt", MAX_PROMPT_CHARS, what)
    return UsageError(f"{what}; shorten the task, the worked examples, the skills or the prompt's template")


def reply_too_long(length: int) -> SizeExceeded:
    """The error for a reply of ``length`` characters."""
    return SizeExceeded(
        "reply", MAX_REPLY_CHARS, f"the model's reply has {length:,} characters, more than {MAX_REPLY_CHARS:,}"
    )


def observation_too_long(length: int) -> SizeExceeded:
    """The error for an observation of ``length`` characters."""
    what = f"the environment's observation has {length:,} characters, more than {MAX_OBSERVATION_CHARS:,}"
    return SizeExceeded("observation", MAX_OBSERVATION_CHARS, what)


_MAX_ERROR = 500
"""Maximum length of an environment's exception in a message, in characters."""


_CALL_EVENTS: Final = (CallDecided, ApprovalAnswered, CallRepeated, CallBegun, DoubtDecided, ToolFailed, WarningIssued)
"""What may stand before the answer of a call."""


def raise_if_left_open(decided: CallDecided, call: Call) -> None:
    """Raise what ended the recorded episode at this decision about a call, if it waits for the user."""
    if decided.by == "no_answer":
        raise question_of(call)
    if decided.by == "nobody" and decided.reason:
        raise WaitingForApproval(decided.reason, call)


def _max_actions(env: BaseEnvironment) -> int | None:
    """The number of actions that ends an episode; None if there is none. Raises: UsageError: it is no whole number."""
    most = env.max_actions if isinstance(env, LimitsActions) else None
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        what = in_quotes(most)
        raise UsageError(f"max_actions of the environment {env.name} is {what}; give a whole number from 1 up")
    return most


class ReplayableEnvironment:
    """One task of an environment.

    During a replay the recording answers, and the environment is not used. After the recording's end, the environment
    is fast-forwarded to the same state and answers from then on. The caller records the answers; ``record`` takes what
    comes before the answer of a call. ``once`` has the answers of calls that are not made again.
    """

    def __init__(
        self, env: BaseEnvironment, task: Task, trace: Trace, record: Callable[[Event], None], once: OnceCalls
    ) -> None:
        self._env, self._task, self._trace, self._record, self._once = env, task, trace, record, once
        self._needs_fast_forward = False
        # Each of these checks takes microseconds.
        self.shows_pictures = isinstance(env, ShowsPictures)
        self._pictures = env.picture if isinstance(env, ShowsPictures) else None
        self._tools = env if isinstance(env, AnswersCalls) else None
        self._snapshots = env if isinstance(env, HasSnapshots) else None
        self._max_actions = _max_actions(env)
        self._actions = 0  # since the latest reset
        self._real = env if isinstance(env, ActsForReal) else None

    def reset(self) -> EnvironmentReset:
        """Begin the task from its start; returns the event to record. Raises: EnvironmentFailure: the environment
        breaks.
        """
        recorded = self._trace.next_recorded(EnvironmentReset)
        if recorded:
            self._needs_fast_forward = False
            self._confirm_success(recorded, self._reset_env)
            self._needs_fast_forward = True
            return recorded
        if self._real is not None:
            self._fast_forward()
        self._needs_fast_forward = False
        observation, cut_from = self._reset_env()
        return EnvironmentReset(observation=observation, cut_from=cut_from)

    def call(self, id: int, call: Call, site: CallSite) -> CallAnswered:
        """Make one call; returns the event to record.

        Raises:
            WaitingForApproval: the call needs the approval of somebody who is not there.
            EnvironmentFailure: the environment breaks.
            Diverged: the environment answers the recorded calls differently.
        """
        is_once = call.name in self._once.watched
        begun, repeated, answer = self._replay_beginning(id, call)
        site = site._replace(answer=answer)
        if recorded := self._trace.next_recorded(CallAnswered):
            self._require_kind(recorded)
            self._confirm_success(recorded, lambda: self._step_env(call.name))
            answered = replace(recorded, id=id)
        else:
            self._fast_forward()
            known = self._once.find(call) if is_once and (repeated or not begun) else None
            answered = (
                self._make(id, call, begun, site) if known is None else self._repeat(id, call, known, begun, site)
            )
            repeated = known is not None
        if is_once:
            self._once.note(id, call, answered.answer, repeated=repeated)
        return answered

    def _replay_beginning(self, id: int, call: Call) -> tuple[bool, bool, ApprovalAnswered | None]:
        """During a replay: repeat the events before the answer to this call.

        Returns whether the call has begun, whether it gets the answer of an earlier one, and the user's own answer if
        it is the recording's last event.
        """
        begun, repeated, made, answer = False, False, call, None
        while event := self._trace.peek_recorded(*_CALL_EVENTS):
            changes: dict[str, Any] = {} if isinstance(event, WarningIssued) else {"id": id}
            answer = self._trace.approval if event == self._trace.approval else None
            repeated = repeated or isinstance(event, CallRepeated)
            if isinstance(event, CallBegun):
                begun, changes["call"] = True, made
            elif isinstance(event, CallDecided) and event.arguments is not None:
                made = replace(call, arguments=event.arguments)
            self._record(cast(Event, replace(event, **changes)))
            if isinstance(event, CallDecided):
                raise_if_left_open(event, call)
        return begun, repeated, answer

    def _repeat(self, id: int, call: Call, known: KnownAnswer, begun: bool, site: CallSite) -> CallAnswered:
        """Answer a call that is not made again; its beginning may be recorded already."""
        if not begun:
            self._record(CallRepeated(id=id, tool=call.name, of=known.id))
            self._record(CallBegun(id=id, call=call, line=site.line))
        return CallAnswered(id=id, answer=known.answer, seconds=0.0)

    def _make(self, id: int, call: Call, begun: bool, site: CallSite) -> CallAnswered:
        """Have the environment answer a call."""
        if not begun and self._tools is None:
            self._record(CallBegun(id=id, call=call, line=site.line))
        started = time.perf_counter()
        answer, cut_from = self._answer(id, call, begun, site)
        return CallAnswered(id=id, answer=answer, seconds=time.perf_counter() - started, cut_from=cut_from)

    def _answer(self, id: int, call: Call, begun: bool, site: CallSite) -> tuple[Answer, int]:
        """The answer, and the whole length of an observation that was cut, otherwise 0."""
        if self._tools is None:
            observation, cut_from = self._step_env(call.name)
            return Answer(observation=observation), cut_from

        def record(event: Event) -> None:
            nonlocal begun
            begun = begun or isinstance(event, CallBegun)
            self._record(event)  # a call that is made again begins again

        answer = self._tools.call(id, call, record, site)
        if not begun:  # a refused call never began outside, but it has a place in the trace
            self._record(CallBegun(id=id, call=call, line=site.line))
        return answer, 0

    def _require_kind(self, recorded: CallAnswered) -> None:
        """Raises: Diverged: the answer is that of tools in a world of text, or the other way round."""
        if (recorded.answer.observation is None) != (self._tools is not None):
            raise Diverged(
                f"event {recorded.seq} is not what was recorded: it is no answer of the environment {self._env.name}"
            )

    def _confirm_success(
        self, recorded: EnvironmentReset | CallAnswered, do: Callable[[], tuple[Observation, int]]
    ) -> None:
        """Repeat what led to a recorded success, if the episode is to continue, and compare the answer.

        The recording may come from a stranger, and an episode that is done uses the environment for nothing else.
        Where actions are real, they are not repeated, and ``judge`` decides about success. Raises: Diverged.
        """
        seen = recorded.answer.observation if isinstance(recorded, CallAnswered) else recorded.observation
        if seen is None or not seen.success or not self._trace.is_live or self._real is not None:
            return
        self._fast_forward()
        _require_same(recorded.seq, seen, do()[0])
        self._needs_fast_forward = True  # what follows in the recording is repeated with all before it

    def judge(self, finished: Finished) -> ValueJudged | None:
        """The verdict on what a plan returned, as the event to record; None if the environment does not judge values.

        A recorded success counts only if the environment confirms it: the recording may come from a stranger. Raises as
        the environment's ``judge``, and Diverged: it does not confirm.
        """
        if not isinstance(self._env, JudgesValues):
            return None
        if recorded := self._trace.next_recorded(ValueJudged):
            if self._trace.is_live and recorded.verdict and recorded.verdict.success:
                self._require_success_now(self._env, finished.value)
            return recorded
        self._fast_forward()
        if fault := finished.value_fault:
            return ValueJudged(verdict=Observation(f"The result was not accepted: {fault}"))
        return ValueJudged(verdict=self._env.judge(finished.value))

    def _require_success_now(self, env: JudgesValues, value: object) -> None:
        self._fast_forward()
        verdict = env.judge(value)
        if verdict is None or not verdict.success:
            said = f": {in_quotes(verdict.text, _MAX_ERROR)}" if verdict else ""
            raise Diverged(f"the recording says that the result was verified, but now it is not{said}")

    def snapshot(self) -> tuple[int, object] | None:
        """The number of actions since the latest reset, and where the environment stands, for ``restore``.

        None if it has no snapshots, or is not used yet in a replay.

        Raises: EnvironmentFailure: the environment breaks.
        """
        if self._snapshots is None or self._needs_fast_forward:
            return None
        try:
            return self._actions, self._snapshots.snapshot()
        except UsageError:  # one of its settings rules them out
            return None
        except (Exception, SystemExit) as e:
            raise broken_environment(self._env.name, "taking a snapshot", e) from e

    def restore(self, snapshot: tuple[int, object] | None) -> None:
        """Go back to where the recorded EnvironmentRestored says, for which ``snapshot`` was taken.

        Without a snapshot the environment is reset and repeats its actions. Raises as ``call``.
        """
        if snapshot is None or self._snapshots is None or self._needs_fast_forward:
            self._needs_fast_forward = True
            if len(self._trace.events) >= len(self._trace.recording):
                self._fast_forward()
            return
        try:
            self._actions, own = snapshot
            self._snapshots.restore(own)
        except (Exception, SystemExit) as e:
            raise broken_environment(self._env.name, "restoring a snapshot", e) from e

    def picture(self) -> bytes | None:
        """A picture of the current state; None without a trace file, without pictures, or during a replay."""
        if not self._pictures or not self._trace.path or self._needs_fast_forward or self._trace.is_replaying:
            return None
        return self._pictures()

    def take_up(self) -> None:
        """Let the environment continue a recorded episode whose open calls the caller decides about."""
        if self._needs_fast_forward and self._real is not None:
            self._needs_fast_forward = False
            self._real.take_up(None)

    def _fast_forward(self) -> None:
        """Take the environment to the recording's end: repeat its actions and compare each observation.

        If its actions are real, nothing is repeated: the environment continues in the present state of the world.
        """
        if not self._needs_fast_forward:
            return
        self._needs_fast_forward = False
        if self._real is not None:
            self._real.take_up(_call_in_doubt(self._trace.events))
            return
        events = standing_events(self._trace.events)
        last = max(i for i, e in enumerate(events) if isinstance(e, EnvironmentReset))
        calls = CallsByAnswer()
        for event in events[last:]:
            call = calls.take(event)
            if isinstance(event, EnvironmentReset):
                _require_same(event.seq, event.observation, self._reset_env()[0])
            elif isinstance(event, CallAnswered) and call and event.answer.observation is not None:
                _require_same(event.seq, event.answer.observation, self._step_env(call.name)[0])

    def _reset_env(self) -> tuple[Observation, int]:
        self._actions = 0
        return self._guarded(lambda: self._env.reset(self._task), lambda: f"resetting to task {self._task.id}")

    def _step_env(self, action: str) -> tuple[Observation, int]:
        env: Any = self._env
        observation, cut_from = self._guarded(lambda: env.step(action), lambda: f"doing {in_quotes(action)}")
        self._actions += 1
        if self._max_actions is not None and self._actions >= self._max_actions and not observation.done:
            observation = replace(observation, done=True)
        return observation, cut_from

    def _guarded(self, do: Callable[[], object], doing: Callable[[], str]) -> tuple[Observation, int]:
        """The observation, cut to its maximum length, and its whole length if it was cut, otherwise 0."""
        try:
            observation = do()
        except CodeplanError:
            raise
        except (Exception, SystemExit) as e:  # sys.exit(0) in an environment must not end the program as a success
            raise broken_environment(self._env.name, doing(), e) from e
        if not isinstance(observation, Observation):
            answer = with_article(type(observation).__name__)
            raise EnvironmentFailure(
                f"the environment {self._env.name} answered {answer} while {doing()}; "
                "reset and step must return a codeplan.Observation"
            )
        if wrong := _wrong_field(observation):
            raise EnvironmentFailure(f"the environment {self._env.name} answered, while {doing()}, with {wrong}")
        text, cut_from = bound_text(observation.text, MAX_OBSERVATION_CHARS)
        goal = bound_text(observation.goal, MAX_GOAL_CHARS)[0] if observation.goal else ""
        unchanged = text is observation.text and goal is observation.goal
        return (observation if unchanged else replace(observation, text=text, goal=goal)), cut_from


def _wrong_field(observation: Observation) -> str:
    """What a trace cannot hold of an observation, and what to give instead; empty if it is sound."""
    if not isinstance(observation.text, str):
        return f"{_typed(observation.text)} as text; give a str"
    for name in ("done", "success"):
        if type(value := getattr(observation, name)) is not bool:
            return f"{_typed(value)} as {name}; give Python's True or False"
    reward = observation.reward
    if type(reward) not in (float, int):
        return f"{_typed(reward)} as reward; give a Python float"
    if not -MAX_AMOUNT <= reward <= MAX_AMOUNT:
        return f"the reward {in_quotes(reward)}; give a number between {-MAX_AMOUNT:g} and {MAX_AMOUNT:g}"
    return ""


def _typed(value: object) -> str:
    kind = type(value)
    return with_article(kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}")


def _call_in_doubt(events: Sequence[Event]) -> Call | None:
    calls = CallsByAnswer()
    for event in events:
        calls.take(event)
    return calls.in_doubt


def _require_same(seq: int, recorded: Observation, now: Observation) -> None:
    if recorded == now:
        return
    differs = f"it said {recorded}, and now says {now}"
    if recorded.text == now.text:
        name = next(n for n in Observation.__struct_fields__ if getattr(recorded, n) != getattr(now, n))
        differs = f"its {name} was {value_text(getattr(recorded, name), _MAX_ERROR)}, and now is "
        differs += value_text(getattr(now, name), _MAX_ERROR)
    raise Diverged(f"the environment differs from the recording at event {seq}: {differs}")


def find_embedding_model(model: LLM) -> Embeds:
    """The model that embeds: ``model`` itself, or the main one of several.

    Raises: UsageError: that model does not embed.
    """
    while isinstance(model, WrapsModel):
        model = model.main
    if not isinstance(model, Embeds):
        raise UsageError(
            f"the model {model.name} does not embed texts; leave the setting embeddings out, or take a model at an "
            "endpoint that does"
        )
    return model


class ReplayableModel:
    """Asks the model, charges the meter and records each call. During a replay the recording answers."""

    def __init__(self, llm: LLM, meter: Meter, trace: Trace, record: Callable[[Event], None]) -> None:
        self._llm = llm.for_episode() if isinstance(llm, CountsCalls) else llm
        self._meter, self._trace, self._record = meter, trace, record

    def ask(
        self, messages: Sequence[Message], purpose: Purpose, prompt: str, stop: Sequence[str], max_tokens: int | None
    ) -> Completion:
        """The model's answer; see ``Episode.ask``. Half surrogates are escaped: no request can hold them."""
        messages = [Message(role=m["role"], content=escape_surrogates(m["content"])) for m in messages]
        length = sum(len(message["content"]) for message in messages)
        if length > MAX_PROMPT_CHARS:
            raise prompt_too_long(length, purpose, made_by_agent=self._is_made_by_agent(purpose))
        try:
            called = self._call(messages, purpose, prompt, stop, max_tokens)
        except ModelError as e:
            if e.prompt_too_long and self._is_made_by_agent(purpose):
                raise SizeExceeded("context", None, str(e)) from None
            if e.reply_cut and purpose == "ask":  # the plan asked a question with an endless answer
                raise SizeExceeded("reply", None, str(e)) from None
            raise
        if called.cut_from:
            raise reply_too_long(called.cut_from)
        return called.completion

    def embed(self, texts: Sequence[str], model: str) -> Embeddings:
        """The vectors of texts; see ``Episode.embed``."""
        self.replay_embeddings()
        self._trace.next_recorded(TextsEmbedded)  # raises Diverged if another event is next in the recording
        embedding_model = find_embedding_model(self._llm)
        with self._meter.call("embed") as settle:
            started = time.perf_counter()
            try:
                answer = embedding_model.embed(texts, model=model)
            except ModelError as e:
                used, seconds = e.usage or Usage(), time.perf_counter() - started
                self._record(ModelCallFailed(purpose="embed", messages=[], error=str(e), usage=used, seconds=seconds))
                raise
            settle(answer.usage)
        about: dict[str, Any] = {"model": model, "texts": len(texts), "digest": _digest(texts)}
        self._record(TextsEmbedded(**about, usage=answer.usage, seconds=time.perf_counter() - started))
        return answer

    def replay_embeddings(self) -> None:
        """Replay the embedding calls that come next in the recording; see ``Episode.replay_embeddings``."""
        while event := self._upcoming_embedding():
            with self._meter.call("embed") as settle:
                self._record(event)
                if isinstance(event, ModelCallFailed):
                    raise _model_error_from(event)
                settle(event.usage)

    def _call(
        self, messages: Sequence[Message], purpose: Purpose, prompt: str, stop: Sequence[str], max_tokens: int | None
    ) -> ModelCalled:
        """Make and record one call. The event holds at most the start of a reply that is too long."""
        with self._meter.call(purpose) as settle:
            started = time.perf_counter()
            about: dict[str, Any] = {"purpose": purpose, "messages": list(messages), "prompt": prompt}
            try:
                answer = self._trace.next_recorded(ModelCalled, ModelCallFailed)
                if isinstance(answer, ModelCallFailed):
                    raise _model_error_from(answer)
                if isinstance(answer, ModelCalled):
                    completion, cut_from = answer.completion, answer.cut_from
                    if isinstance(self._llm, CountsCalls):
                        self._llm.count_call(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
                else:
                    with tell_model_call(purpose), self._heard(purpose):
                        completion = self._complete(messages, purpose, stop, max_tokens)
                    text, cut_from = bound_text(completion.text, MAX_REPLY_CHARS)
                    completion = replace(completion, text=text)
            except ModelError as e:
                about |= {"error": escape_surrogates(str(e)), "usage": e.usage or Usage()}
                about |= {"prompt_too_long": e.prompt_too_long}
                about |= {"reply_cut": e.reply_cut}
                self._record(ModelCallFailed(**about, seconds=time.perf_counter() - started))
                raise
            settle(completion.usage)
        seconds = time.perf_counter() - started
        called = ModelCalled(**about, completion=completion, seconds=seconds, cut_from=cut_from)
        self._record(called)
        if completion.warning:
            self._record(WarningIssued(message=completion.warning))
        return called

    @contextmanager
    def _heard(self, purpose: Purpose) -> Iterator[None]:
        """Inside this context, the handler of events hears the reply while it is written, if it wants to."""
        if not self._trace.hears_replies:
            yield
            return

        def listen(piece: tuple[int, str]) -> None:
            self._trace.tell_reply(ReplyWritten(purpose=purpose, start=piece[0], text=piece[1]))

        token = reply_listener.set(listen)
        try:
            yield
        finally:
            reply_listener.reset(token)

    def _complete(
        self, messages: Sequence[Message], purpose: Purpose, stop: Sequence[str], max_tokens: int | None
    ) -> Completion:
        try:
            completion = self._llm.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
        except CodeplanError:
            raise
        except (Exception, SystemExit) as e:  # sys.exit(0) in a model must not end the program as a success
            if type(self._llm).__module__.partition(".")[0] == "codeplan":
                raise  # a bug of codeplan
            raise broken_model(self._llm.name, e) from e
        _require_recordable(completion, self._llm.name, purpose)
        texts = {name: value for name, value in structs.asdict(completion).items() if isinstance(value, str)}
        return replace(completion, **{name: escape_surrogates(text) for name, text in texts.items()})

    def _is_made_by_agent(self, purpose: Purpose) -> bool:
        """Whether the prompt of a call may contain text that a model, a plan or an action made in this episode.

        The reply to ``bind`` is never part of a later prompt.
        """
        return purpose == "ask" or any(
            isinstance(e, CallBegun) or (isinstance(e, ModelCalled) and e.purpose != "bind") for e in self._trace.events
        )

    def _upcoming_embedding(self) -> TextsEmbedded | ModelCallFailed | None:
        failed = self._trace.peek_recorded(ModelCallFailed)
        return failed if failed and failed.purpose == "embed" else self._trace.peek_recorded(TextsEmbedded)


def _require_recordable(completion: object, name: str, purpose: Purpose) -> None:
    """Raise ModelError unless a model returned a Completion that a trace can hold."""
    if not isinstance(completion, Completion):
        found = with_article(type(completion).__name__)
        raise wrong_reply(name, purpose, found, "complete must return a codeplan.Completion")
    if not isinstance(completion.usage, Usage):
        found = with_article(type(completion.usage).__name__)
        raise wrong_reply(name, purpose, f"{found} as usage", "give a codeplan.Usage")
    try:
        msgspec.convert(msgspec.to_builtins(completion), Completion)
    except (msgspec.ValidationError, TypeError) as e:
        raise wrong_reply(name, purpose, "a wrong Completion", parser_reason(e)) from None


def _model_error_from(recorded: ModelCallFailed) -> ModelError:
    error = ModelError(recorded.error)
    error.usage, error.prompt_too_long = recorded.usage, recorded.prompt_too_long
    error.reply_cut = recorded.reply_cut
    return error


def _digest(texts: Sequence[str]) -> str:
    """16 hexadecimal digits that identify the texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]
