"""The user's handler of events. Its errors pass through whatever reported an event: they are no failure of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from codeplan.errors import CodeplanError
from codeplan.recording.events import Event, EventHandler


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
