"""The engines of this process: each plays one game at a time, and serves many games in turn."""

from __future__ import annotations

import atexit
import os
import threading

from codeplan.envs.scienceworld.engine_process import EngineProcess

MAX_IDLE_SECONDS = 30.0
"""Seconds that an engine without a game keeps running."""

_lock = threading.Lock()
_engines: set[EngineProcess] = set()
_idle: list[EngineProcess] = []
_timer: threading.Timer | None = None


def acquire() -> EngineProcess:
    """An engine for the caller's exclusive use, until the caller passes it to ``release``. Starts one if none is idle.

    Safe to call from any thread. Raises what EngineProcess raises.
    """
    with _lock:
        while _idle:
            engine = _idle.pop()
            if engine.is_alive:
                return engine
            _end(engine)
    engine = EngineProcess()
    with _lock:
        _engines.add(engine)
    return engine


def release(engine: EngineProcess) -> None:
    """Return an engine, which can then play another game."""
    with _lock:
        if engine not in _engines:
            return
        if not engine.is_alive:
            _end(engine)
            return
        _idle.append(engine)
        _start_timer()


def discard(engine: EngineProcess) -> None:
    """End an engine that is no longer usable."""
    with _lock:
        _end(engine)


def close_all_engines() -> None:
    """End all engines, even those with a game."""
    with _lock:
        _cancel_timer()
        for engine in list(_engines):
            _end(engine)
        _idle.clear()


def _end(engine: EngineProcess) -> None:
    _engines.discard(engine)
    engine.kill()


def _close_idle_engines() -> None:
    with _lock:
        while _idle:
            _end(_idle.pop())


def _start_timer() -> None:
    """Restart the idle time. One timer serves all engines, so that a busy bench starts few threads."""
    global _timer
    _cancel_timer()
    _timer = threading.Timer(MAX_IDLE_SECONDS, _close_idle_engines)
    _timer.daemon = True
    _timer.start()


def _cancel_timer() -> None:
    global _timer
    if _timer is not None:
        _timer.cancel()
        _timer = None


def _reset_after_fork() -> None:
    """In a forked process, detach from the parent's engines."""
    global _lock, _timer
    _lock, _timer = threading.Lock(), None
    for engine in _engines:
        engine.detach()
    _engines.clear()
    _idle.clear()


atexit.register(close_all_engines)
os.register_at_fork(after_in_child=_reset_after_fork)
