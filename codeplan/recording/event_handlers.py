"""Who is told what happens in an episode: the user's handler of events, and a display that waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from codeplan.errors import CodeplanError
from codeplan.recording.events import Event, EventHandler, ReplyWritten


class HandlerError(CodeplanError):
    """What a handler raised. An agent, an environment or a model that reported the event lets it through."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


def guard_handler(on_event: EventHandler | None) -> EventHandler | None:
    """The handler, whose errors become HandlerError; None if there is none."""
    if on_event is None:
        return None

    def handle(event: Event) -> None:
        try:
            on_event(event)
        except CodeplanError:
            raise
        except (Exception, SystemExit) as error:
            raise HandlerError(error) from error

    return handle


@contextmanager
def handler_errors_unwrapped() -> Iterator[None]:
    """Raise what a handler raised, as it was."""
    try:
        yield
    except HandlerError as wrapped:
        raise wrapped.error from wrapped.error.__cause__


class EventsOnly:
    """A handler that hears no replies while they are written; endpoints then need not send them piece by piece."""

    hears_replies = False

    def __init__(self, handle: EventHandler) -> None:
        self._handle = handle

    def __call__(self, event: Event) -> None:
        self._handle(event)


class KeepAndTell:
    """Hands each event to ``keep``, which hears no replies while they are written, and then to ``tell``."""

    def __init__(self, keep: EventHandler, tell: EventHandler | None) -> None:
        self._keep, self._tell = keep, tell

    @property
    def hears_replies(self) -> bool:
        return hears_replies(self._tell)

    def __call__(self, event: Event) -> None:
        if not isinstance(event, ReplyWritten):
            self._keep(event)
        if self._tell:
            self._tell(event)


def hears_replies(handler: EventHandler | None) -> bool:
    """Whether a handler hears replies while they are written, as those of users do."""
    return handler is not None and bool(getattr(handler, "hears_replies", True))


ActivityObserver = Callable[[str], None]
"""Called with the purpose of a model call as it begins, and with an empty text at its end."""

_observer: ContextVar[ActivityObserver | None] = ContextVar("activity_observer", default=None)


@contextmanager
def observe_activity(observer: ActivityObserver) -> Iterator[None]:
    """Inside this context, the observer receives the model calls of this thread's episodes."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


@contextmanager
def tell_model_call(purpose: str) -> Iterator[None]:
    """Tell the observer, if there is one, that a model is being called."""
    observer = _observer.get()
    if observer is None:
        yield
        return
    observer(purpose)
    try:
        yield
    finally:
        observer("")
