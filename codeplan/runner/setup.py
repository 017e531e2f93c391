"""Who takes part in an episode: environment, method and model, made from names and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import msgspec

from codeplan import envs, methods, plugins
from codeplan.budget import Budget
from codeplan.episode.episode import Episode
from codeplan.episode.meter import Meter
from codeplan.episode.method import Method
from codeplan.errors import BudgetExceeded, Diverged, InfrastructureError, UsageError
from codeplan.protocols import LLM, Environment
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, Listener
from codeplan.recording.redaction import without_secrets
from codeplan.recording.trace import Trace
from codeplan.runner import models
from codeplan.types import Result, Task
from codeplan.version import VERSION

_SECRET = frozenset({"api_key", "base_url", "extra_body"})
"""Settings that may hold a key, or an address with a password in it; the model gives its own account of them. So may
others, by their names (see ``codeplan.recording.redaction``)."""


class Cast:
    """Who takes part in an episode, made from names and settings; what was made here is closed on exit.

    ``silent`` is for what was recorded: a model that is given by name is then there in name only, and needs no key.
    Raises UsageError for an unknown name, and for a setting that nobody has.
    """

    def __init__(
        self,
        env: str | Environment,
        method: str | Method,
        model: str | LLM,
        settings: Mapping[str, Any],
        *,
        silent: bool = False,
    ) -> None:
        for given, port in ((env, Environment), (method, Method), (model, LLM)):
            _refuse_other(given, port, or_name=True)
        shares = _shares({"env": env, "method": method, "model": model}, settings)
        self._settings = settings
        self._untold = _SECRET | (
            {"folder"} & shares["method"].keys() - shares["env"].keys()
        )  # it only keeps what is learnt
        self._made = ExitStack()
        self.method = methods.make(method, **shares["method"]) if isinstance(method, str) else method
        self.model = _model(model, shares["model"], silent)
        made = isinstance(env, str)
        self.env = envs.make(env, **shares["env"]) if isinstance(env, str) else env
        if made:
            self._made.enter_context(closing(self.env))

    def __enter__(self) -> Cast:
        return self

    def __exit__(self, *exception: object) -> None:
        self._made.close()

    def header(self, task: Task, budget: Budget) -> EpisodeStarted:
        """The event that an episode of this cast begins with. Raises UsageError for what is no task or no budget."""
        _refuse_other(task, Task)
        _refuse_other(budget, Budget)
        return EpisodeStarted(
            task=task,
            env=self.env.name,
            method=self.method.name,
            model=self.model.name,
            codeplan=VERSION,
            settings=without_secrets({n: _plain(v) for n, v in self._settings.items() if n not in self._untold}),
            model_settings=dict(getattr(self.model, "settings", {})),
            budget=budget,
        )

    def play_again(
        self, recording: Sequence[Event], listen: Listener | None, header: EpisodeStarted | None = None
    ) -> Result:
        """Play a recorded episode again, offline, and return its recorded result.

        ``header`` is what it is to begin with, the recorded one by default. Raises Diverged at the first difference.
        """
        self.play(*self.again(recording, listen, header))
        end = recording[-1]
        assert isinstance(end, EpisodeEnded), "an episode's last event is its end"
        return end.result

    def again(
        self, recording: Sequence[Event], listen: Listener | None, header: EpisodeStarted | None = None
    ) -> tuple[EpisodeStarted, Trace]:
        """What a recorded episode is to begin with, and the trace that answers for world and model."""
        recorded = recording[0]
        assert isinstance(recorded, EpisodeStarted), "an episode begins with its header"
        if header and isinstance(self.model, Silent):
            header = msgspec.structs.replace(header, model_settings=recorded.model_settings)
        return header or recorded, Trace(None, listen, recording, live=False)

    def play(self, header: EpisodeStarted, trace: Trace) -> Result:
        """Play the episode; whatever happens, the trace ends with how it ended."""
        with self.opened(header, trace) as opened:
            result = self.method.solve(header.task, opened.episode)
            if not isinstance(result, Result):
                raise UsageError(f"the method {self.method.name} returned a {type(result).__name__}, and no Result")
            opened.result = result
        return opened.result

    @contextmanager
    def opened(self, header: EpisodeStarted, trace: Trace) -> Iterator[Opened]:
        """An episode to play in. Whatever happens there, the trace ends with how it ended; a spent budget is an end."""
        trace.append(header)
        opened: Opened | None = None
        try:
            episode = Episode(self.env, header.task, self.model, Meter(header.budget, trace.now), trace)
            opened = Opened(episode, episode.result("nothing was done", self.method.name))
            yield opened
        except BudgetExceeded as e:
            assert opened is not None, "a budget is spent by what an episode does"
            opened.result = opened.episode.result(f"budget: {e}", self.method.name)
        except Diverged:
            raise  # nothing new happened: the trace stays as it is
        except BaseException as e:
            reason = _words(e)
            broken = opened.episode.result(reason, self.method.name) if opened else Result(header.task, False, reason)
            trace.append(EpisodeEnded(result=broken, broken_off=True))
            raise
        trace.append(EpisodeEnded(result=opened.result))


class Opened(msgspec.Struct):
    """An episode that is under way, and what has come of it so far."""

    episode: Episode
    result: Result


class Silent:
    """The model of an episode that is played again: there in name, and never asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, *_: object, **__: object) -> Any:
        raise AssertionError("what was recorded asks no model: the recording answers, or is over")


def _model(model: str | LLM, settings: Mapping[str, Any], silent: bool) -> LLM:
    if not isinstance(model, str):
        return model
    return Silent(model) if silent else models.connect(model, **settings)


def _refuse_other(given: object, wanted: Any, or_name: bool = False) -> None:
    """Raises UsageError for what is no object of the type, such as a class, and no name where that would do."""
    if isinstance(given, type) or not isinstance(given, (wanted, str) if or_name else wanted):
        found = f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
        raise UsageError(f"give a codeplan.{wanted.__name__}{' or a name' * or_name}, not {found}")


def _words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    kind = "infrastructure" if isinstance(error, InfrastructureError) else f"error: {type(error).__name__}"
    return f"{kind}: {error}"


def takes(who: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """The names of the settings that each of ``env``, ``method`` and ``model`` takes; an object takes none."""
    return {part: _takes(part, name) if isinstance(name, str) else () for part, name in who.items()}


def _takes(part: str, name: str) -> tuple[str, ...]:
    if part == "model":
        return models.settings(name)
    return plugins.accepted(plugins.load("codeplan.envs" if part == "env" else "codeplan.methods", name))


def _shares(who: Mapping[str, object], settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each of environment, method and model. Raises UsageError for a setting that none of them has."""
    taken = takes(who)
    every = {name for names in taken.values() for name in names}
    for name in settings:
        if name not in every:
            raise UsageError(f"there is no setting {name!r} here; {plugins.choices(name, every)}")
    return {part: {n: v for n, v in settings.items() if n in names} for part, names in taken.items()}


def _plain(value: object) -> Any:
    """The value as the trace keeps it."""
    try:
        return msgspec.to_builtins(value, enc_hook=repr)
    except TypeError:
        return repr(value)
