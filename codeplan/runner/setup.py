"""Builds the environment, method and model of an episode from their names and settings, and runs the episode."""

from __future__ import annotations

import inspect
import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import WeakSet

import msgspec

from codeplan import envs, methods, plugins
from codeplan.budget import Budget, Meter
from codeplan.episode.episode import Episode, actions_not_described
from codeplan.episode.method import Method
from codeplan.errors import (
    BudgetExceeded,
    CallInDoubt,
    CodeplanError,
    Diverged,
    InfrastructureError,
    SizeExceeded,
    TraceExhausted,
    TurnOver,
    UsageError,
    WaitingForAnswer,
    WaitingForApproval,
)
from codeplan.llm.callable_model import CallableModel, ModelFunction, is_model_function
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.methods.react import ReAct
from codeplan.plugins import remove_secrets
from codeplan.protocols import (
    LLM,
    Agent,
    BaseEnvironment,
    Environment,
    OffersTools,
    described_actions,
    has_members,
    require_members,
    require_synchronous,
)
from codeplan.recording.events import AnswersCalls, EpisodeEnded, EpisodeStarted, Event, EventHandler, TurnStarted
from codeplan.recording.trace import HandlerError, Trace, handler_errors_unwrapped
from codeplan.runner import models
from codeplan.sandbox.protocol.limits import shorten
from codeplan.tools.approvals import require_callable
from codeplan.types import (
    BudgetSpent,
    Crashed,
    InfrastructureFailed,
    Interrupted,
    NeedsInput,
    NotSolved,
    Result,
    Task,
    TooLarge,
    TraceFull,
    Waiting,
)
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.texts import is_utf8, parser_reason, with_article
from codeplan.untrusted.tracebacks import broken_environment
from codeplan.untrusted.values import in_quotes
from codeplan.version import VERSION


def accepted_settings(participants: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """The names of the settings that ``env``, ``method`` and ``model`` each accept; an object accepts none."""
    accepted: dict[str, tuple[str, ...]] = dict.fromkeys(participants, ())
    for part, name in participants.items():
        if isinstance(name, str) and part == "model":
            accepted[part] = models.setting_names(name)
        elif isinstance(name, str):
            factory = plugins.load_factory("codeplan.envs" if part == "env" else "codeplan.methods", name)
            accepted[part] = plugins.setting_names(factory)
    return accepted


def split_settings(participants: Mapping[str, object], settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each participant. Raises: UsageError: no participant accepts a setting."""
    accepted = accepted_settings(participants)
    known = {name for names in accepted.values() for name in names}
    for name in settings:
        if name not in known:
            raise UsageError(_unknown_setting(name, known, participants))
    return {part: {n: v for n, v in settings.items() if n in names} for part, names in accepted.items()}


def _unknown_setting(name: str, known: Iterable[str], participants: Mapping[str, object]) -> str:
    """The error for a setting that neither method, environment nor model accepts.

    A model behind an endpoint accepts more settings than the scripted one, and than a function or an object.
    """
    model, limit = participants.get("model", ""), name.removeprefix("max_")
    own = not isinstance(model, str)
    if (own or model == "scripted") and name in models.setting_names(models.ANY_ENDPOINT_MODEL):
        what = "a model that is a function or an object of yours" if own else "the scripted model"
        return f"{what} has no setting {in_quotes(name)}; --model NAME (model=NAME) gives one that has"
    if limit in Budget.__struct_fields__:
        flag = "" if limit == "refinements" else f"--max-{limit.replace('_', '-')} N, in Python "
        way = f"to limit the {limit.replace('_', ' ')}, give {flag}budget=codeplan.Budget({limit}=N)"
        return f"there is no setting {in_quotes(name)} here; {way}"
    named = [given for given in participants.values() if isinstance(given, str)]
    where = f"for {' or '.join(named)}" if named else "here"
    parameter = nearest_name(name, [*participants])
    if parameter and name not in known:
        return f"there is no setting {in_quotes(name)}; did you mean {in_quotes(parameter)}?"
    return f"there is no setting {in_quotes(name)} {where}; {plugins.suggest_names(name, known)}"


_SECRET_SETTINGS = frozenset({"api_key", "base_url", "extra_body", "reply_cache"})
"""Settings that may contain a key, or an address with a password, or a path of the user's; the model reports its own.
Others are recognised by their names (see ``codeplan.plugins``)."""


_KINDS_TRIED: Final = 30


class EnvironmentToOpen(NamedTuple):
    """An environment that starts programs: it is opened once method and model are there, and closed with the setup."""

    opening: AbstractContextManager[BaseEnvironment]


AnyEnvironment: TypeAlias = BaseEnvironment | EnvironmentToOpen
"""An environment, or one to open."""


class EpisodeSetup:
    """The environment, method and model of episodes. Closes on exit what it created.

    ``offline`` is for replays: a model given by name then needs no key, and is never asked.

    Raises: UsageError: a name is unknown, or none of them takes a setting.
    """

    def __init__(
        self,
        env: str | AnyEnvironment,
        method: str | Method,
        model: str | LLM | ModelFunction,
        settings: Mapping[str, Any],
        *,
        offline: bool = False,
    ) -> None:
        for given, port in ((env, Environment), (method, Method), (model, LLM)):
            if not isinstance(given, EnvironmentToOpen | AnswersCalls):
                _require_participant(given, port)
        shares = split_settings({"env": env, "method": method, "model": model}, settings)
        self._settings = settings
        output_only = {"folder"} & shares["method"].keys() - shares["env"].keys()  # where a Learner writes
        self._omitted_settings = _SECRET_SETTINGS | output_only
        self.method = methods.make(method, **shares["method"]) if isinstance(method, str) else method
        self.model = _connect_model(model, shares["model"], offline)
        with ExitStack() as resources:
            self.env = _open(env, shares["env"], resources)
            _require_usable_agent(self.env)
            if _needs_space(self.method) and described_actions(self.env) is None:
                raise actions_not_described(self.env.name)
            self._resources = resources.pop_all()

    def __enter__(self) -> EpisodeSetup:
        return self

    def __exit__(self, *exception: object) -> None:
        self._resources.close()

    def require_known_world(self, tasks: Sequence[Task]) -> None:
        """Raise UsageError if the model is the stand-in and knows no kind of these tasks, by the first of each.

        It says nothing of methods that may do without the model: others than AdaPlanner and ReAct, alone or as
        executors, and AdaPlanner with a library of skills. What an environment's reset raises, the episode reports.
        """
        if self.model.name != "scripted":
            return
        from codeplan.standin.model import ScriptedModel, knows_task  # most runs have another model

        if not isinstance(getattr(self.model, "main", self.model), ScriptedModel):
            return
        method: object = self.method
        while executor := getattr(method, "executor", None):
            method = executor
        in_turns = isinstance(method, ReAct)
        if not in_turns and not (isinstance(method, AdaPlanner) and method.settings.library is None):
            return
        of_kinds = [*{task.kind: task for task in reversed(tasks)}.values()]
        for task in of_kinds[:_KINDS_TRIED]:
            try:
                observation = self.env.reset(task)
            except Exception:
                return
            if knows_task(task.goal or observation.goal, observation.text, in_turns=in_turns):
                return
        if len(of_kinds) <= _KINDS_TRIED:
            what = "cannot act turn by turn" if in_turns else "does not know what to do"
            raise UsageError(
                f"the scripted stand-in {what} in {self.env.name} (task {in_quotes(tasks[0].id)}); name an endpoint's "
                "model (--model NAME) or a function of yours (--model FILE.py:FUNCTION)"
            )

    def header(self, task: Task, budget: Budget) -> EpisodeStarted:
        """The first event of an episode with this setup.

        Raises: UsageError: ``task`` is not a Task, or no trace can hold it, or ``budget`` is not a Budget.
        """
        _require_type(task, Task)
        require_recordable(task, self.env.name)
        _require_type(budget, Budget)
        settings = {n: _plain(v) for n, v in self._settings.items() if n not in self._omitted_settings}
        settings |= self.method.settings if isinstance(self.method, FixedPlan) else {}
        offering = self.env if isinstance(self.env, OffersTools) else None
        return EpisodeStarted(
            task=task,
            env=self.env.name,
            method=self.method.name,
            model=self.model.name,
            codeplan_version=VERSION,
            settings=remove_secrets(settings),
            model_settings=dict(getattr(self.model, "settings", {})),
            budget=budget,
            tools=offering.described_tools if offering else (),
            tools_doc=offering.tools_doc if offering else "",
            has_verifier=offering is not None and offering.verifier_name != "",
            verifier=offering.verifier_name if offering else "",
            has_flows=offering is not None and offering.has_flows,
            is_blind=offering is not None and offering.is_blind,
            instructions=offering.instructions if offering else "",
            returns=offering.returns if offering else None,
            asks_user=offering is not None and offering.asks_user,
            variables=offering.variables if offering else None,
            once=tuple(t.method.name for t in offering.described_tools if t.method.name in offering.once_tools)
            if offering
            else (),
            carried=offering.carried if offering else (),
        )

    def replay(
        self, recording: Sequence[Event], on_event: EventHandler | None, header: EpisodeStarted | None = None
    ) -> Result:
        """Replay a recorded episode offline, and return its recorded result.

        ``header`` is the header that the episode must have; the default is the recorded header.

        Raises: Diverged: at the first difference.
        """
        self.run(*self.prepare_replay(recording, on_event, header))
        end = recording[-1]
        assert isinstance(end, EpisodeEnded), "an episode's last event is its end"
        return end.result

    def prepare_replay(
        self, recording: Sequence[Event], on_event: EventHandler | None, header: EpisodeStarted | None = None
    ) -> tuple[EpisodeStarted, Trace]:
        """The header of a recorded episode, and the trace that answers for environment and model."""
        recorded = recording[0]
        assert isinstance(recorded, EpisodeStarted), "an episode begins with its header"
        if header and isinstance(self.model, OfflineModel):
            header = msgspec.structs.replace(header, model_settings=recorded.model_settings)
        return header or recorded, Trace(None, on_event, recording, live=False)

    def run(self, header: EpisodeStarted, trace: Trace) -> Result:
        """Run the episode; of a session, all recorded turns. In any case, the trace ends with the episode's ending."""
        turns = self.run_turns(header, trace)
        try:
            next(turns)
            turns.send(None)
        except StopIteration as end:
            result: Result = end.value
            return result
        raise AssertionError("without a further turn the episode ends")

    def run_turns(self, header: EpisodeStarted, trace: Trace) -> Generator[Result, TurnStarted | None, Result]:
        """Run an episode that may go on: yields the result of a turn after all recorded ones, and takes the next turn.

        None ends the episode. A turn that ends otherwise than by its method's result also ends it; the result is then
        returned, or the error raised. In any case, the trace ends with the episode's ending, also between turns.
        """
        with self.open_episode(header, trace) as active:
            while True:
                active.result = self._solve(active.episode)
                turn = trace.peek_recorded(TurnStarted)
                if turn is None:
                    trace.append(EpisodeEnded(result=active.result))
                    try:
                        turn = yield active.result
                    except GeneratorExit:
                        break
                    if turn is None:
                        break
                    trace.take_end_back()
                active.episode.begin_turn(turn)
        return active.result

    def _solve(self, episode: Episode) -> Result:
        """The result of one turn; of a recorded one that something else ended, as recorded."""
        try:
            result = self.method.solve(episode.task, episode)
        except _TURN_ENDS:
            if (following := episode.trace.peek_recorded(TurnStarted)) is None:
                raise
            return following.before
        if not isinstance(result, Result):
            raise UsageError(
                f"the method {self.method.name} returned {with_article(type(result).__name__)}, not a Result"
            )
        return result

    @contextmanager
    def open_episode(self, header: EpisodeStarted, trace: Trace) -> Iterator[ActiveEpisode]:
        """An episode to act in.

        In any case, the trace ends with the episode's ending. A spent budget is an ending, and so is a text of the
        agent that is too large.
        """
        with handler_errors_unwrapped(), self._open(header, trace) as active:
            yield active

    @contextmanager
    def _open(self, header: EpisodeStarted, trace: Trace) -> Iterator[ActiveEpisode]:
        trace.append(header)
        active: ActiveEpisode | None = None
        try:
            episode = Episode(self.env, header.task, self.model, Meter(header.budget, trace.now), trace)
            active = ActiveEpisode(episode, episode.result(NotSolved("nothing was done"), self.method.name))
            yield active
        except BudgetExceeded as e:
            assert active is not None, "only an active episode spends its budget"
            active.result = active.episode.result(BudgetSpent(e.kind, e.limit, str(e)), self.method.name)
        except TraceExhausted as e:
            assert active is not None, "a trace is full after many events"
            active.result = active.episode.result(TraceFull(e.limit, str(e)), self.method.name)
        except WaitingForApproval as e:
            assert active is not None, "only an active episode makes calls"
            active.result = active.episode.result(Waiting(e.call.name, e.call, str(e)), self.method.name)
        except WaitingForAnswer as e:
            assert active is not None, "only an active episode asks"
            active.result = active.episode.result(NeedsInput(e.question, e.form, e.refused), self.method.name)
        except SizeExceeded as e:
            assert active is not None, "nothing is refused before the episode is active"
            active.result = active.episode.result(TooLarge(e.what, e.limit, str(e)), self.method.name, False)
        except (Diverged, CallInDoubt):
            raise  # no new event: the trace stays unchanged
        except BaseException as e:
            if isinstance(trace.events[-1], EpisodeEnded):
                raise  # the end is written, and its reader failed
            goes_on = trace.is_live and len(trace.events) >= len(trace.recording)
            if isinstance(e, KeyboardInterrupt) and not goes_on:
                raise  # as above: a recording still answers
            ending = ending_from_exception(e.error if isinstance(e, HandlerError) else e)
            broken = active.episode.result(ending, self.method.name) if active else Result(header.task, ending)
            trace.append(EpisodeEnded(result=broken, broken_off=True))
            raise
        if not isinstance(trace.events[-1], EpisodeEnded):
            trace.append(EpisodeEnded(result=active.result))


_TURN_ENDS: Final = (TurnOver, BudgetExceeded, SizeExceeded, TraceExhausted, WaitingForAnswer, WaitingForApproval)
"""Errors that end the turn of a session; the next turn goes on from there."""


class ActiveEpisode(msgspec.Struct):
    """An episode while it runs. ``result`` says 'nothing was done' until the method or a limit ends it."""

    episode: Episode
    result: Result


class OfflineModel:
    """The model of a replayed episode: it has a name, and is never asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, *_: object, **__: object) -> Any:
        raise AssertionError("the recording answers in place of the model")


@contextmanager
def _closing(env: BaseEnvironment) -> Iterator[None]:
    """Close the environment at the end. Raises: EnvironmentFailure: it breaks then."""
    try:
        yield
    finally:
        try:
            env.close()
        except CodeplanError:
            raise
        except (Exception, SystemExit) as e:
            raise broken_environment(env.name, "closing", e) from e


def _open(env: str | AnyEnvironment, settings: Mapping[str, Any], resources: ExitStack) -> BaseEnvironment:
    """The environment; ``resources`` close what this opens."""
    if isinstance(env, EnvironmentToOpen):
        return resources.enter_context(env.opening)
    if not isinstance(env, str):
        return env
    made = envs.make(env, **settings)
    resources.enter_context(_closing(made))
    return made


_usable_agents: Final[WeakSet[type]] = WeakSet()  # with many tools, looking at each method takes milliseconds


def require_recordable(task: Task, env: str) -> None:
    """Raise UsageError unless a trace can hold this task of an environment."""
    try:
        msgspec.convert(msgspec.to_builtins(task), Task)
    except (msgspec.ValidationError, TypeError) as e:
        raise UsageError(
            f"the task {in_quotes(task.id)} of {env} is no sound codeplan.Task: {parser_reason(e)}"
        ) from None


def _needs_space(method: object) -> bool:
    """Whether a model writes actions itself for this method or an executor of it (their attribute ``needs_space``).

    The environment then describes them by its attribute ``space``.
    """
    executor = getattr(method, "executor", None)
    return getattr(method, "needs_space", False) or (executor is not None and _needs_space(executor))


def _require_usable_agent(env: BaseEnvironment) -> None:
    if isinstance(env.agent, type) and env.agent not in _usable_agents:
        what = f"the Agent class {env.agent.__name__}"
        require_members(env.agent, Agent, what)
        public = {n: f for n, f in inspect.getmembers_static(env.agent) if not n.startswith("_")}
        require_synchronous(public, what)
        _usable_agents.add(env.agent)


def _connect_model(model: str | LLM | ModelFunction, settings: Mapping[str, Any], offline: bool) -> LLM:
    if isinstance(model, LLM):
        return model
    if not isinstance(model, str):
        return CallableModel(model)
    return OfflineModel(model) if offline else models.connect(model, **settings)


def _require_type(given: object, wanted: type) -> None:
    if not isinstance(given, wanted):
        raise UsageError(f"give a codeplan.{wanted.__name__}, not {with_article(type(given).__name__)}")


def _require_participant(given: object, port: type) -> None:
    """Raise UsageError unless ``given`` is a name, or an object with the members of the port, or a model's function."""
    if isinstance(given, str) or (port is LLM and is_model_function(given)):
        return
    what = f"the {_ROLES[port]} {type(given).__name__}"
    if isinstance(given, type) or not has_members(given, port, what):
        found = f"the class {given.__name__}" if isinstance(given, type) else with_article(type(given).__name__)
        raise UsageError(f"give a codeplan.{port.__name__} or a name, not {found}")
    require_members(given, port, what)


_ROLES: dict[type, str] = {Environment: "environment", Method: "method", LLM: "model"}


def ending_from_exception(error: BaseException) -> Interrupted | InfrastructureFailed | Crashed:
    """The ending of an episode that this exception broke off."""
    if isinstance(error, KeyboardInterrupt):
        return Interrupted()
    if not isinstance(error, InfrastructureError):
        return Crashed(type(error).__name__, shorten(str(error)))
    # A replay raises the public class of the error, not the subclass that a model's client raised.
    public = next(c for c in type(error).__mro__ if c.__module__ == InfrastructureError.__module__)
    return InfrastructureFailed(public.__name__, shorten(str(error)))


def _plain(value: object) -> Any:
    """The value as plain data for the trace."""
    try:
        return msgspec.to_builtins(value, enc_hook=repr)
    except TypeError:
        return repr(value)


def require_out(out: object) -> None:
    """Raise UsageError unless ``out`` is a folder's path that a trace can hold."""
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"out is the path of a folder, not {in_quotes(out)}")
    path = str(out)
    if not path:
        raise UsageError("out is empty; name a folder, or give None for no trace")
    if "\0" in path or not is_utf8(path):
        raise UsageError(f"the folder's path {in_quotes(path)} is not text in UTF-8; name another folder")


def require_handler(on_event: object) -> None:
    """Raise UsageError unless ``on_event`` is a function that takes an event, or None."""
    if on_event is not None:
        require_callable(on_event, "on_event", "on_event(event)", (1,))
