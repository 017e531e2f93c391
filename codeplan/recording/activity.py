"""Tells a display what the episode is waiting for, because an event is written only after the wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
