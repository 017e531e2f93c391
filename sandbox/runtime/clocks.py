"""The run's clock, and the modules ``time``, ``datetime`` and ``zoneinfo`` over it.

A run's clock begins at the time that its host recorded. It advances by what the plan sleeps, and by a microsecond at
each reading, which is about what a reading takes. So a replay reads the same times, whatever it takes itself. The
machine's time zone is UTC. Time zones are read before the lockdown: a worker cannot open files.
"""

from __future__ import annotations

import datetime
import importlib.util
import io
import math
import operator
import os
import sys
import sysconfig
import time
import zoneinfo
from _strptime import _strptime as _  # type: ignore[import-not-found]  # noqa: F401  # C code finds it in sys.modules
from _thread import allocate_lock
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from codeplan.sandbox.runtime.guards import CurrentRun, PlanStopper, set_name
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES
from codeplan.sandbox.runtime.switching import THREADS, Steps, Wait

_READING_NS: Final = 1_000
_BILLION: Final = 10**9
_EPOCH_START: Final = datetime.datetime(1970, 1, 1)
_NOT_ZONES: Final = ("posix", "right/", "localtime")


class PlanClock:
    """Tells the time of the current run."""

    def __init__(self, run: CurrentRun, stopper: PlanStopper) -> None:
        self._run, self._stopper = run, stopper

    def time_ns(self) -> int:
        """Nanoseconds since 1970, later at each reading."""
        self._run.elapsed_ns += _READING_NS
        return self._run.started_ns + self._run.elapsed_ns

    def elapsed_ns(self) -> int:
        """Nanoseconds since the run began, later at each reading."""
        self._run.elapsed_ns += _READING_NS
        return self._run.elapsed_ns

    def now(self) -> float:
        """Seconds since the run began, without a reading."""
        return self._run.elapsed_ns / _BILLION

    def skip(self, seconds: float) -> None:
        """Let time pass without a wait: nothing can happen meanwhile."""
        self._run.elapsed_ns += int(seconds * _BILLION)

    def sleep(self, secs: Any) -> None:
        """Wait. All waits of a run together count against the limit ``wall``, also in a replay, which does not wait."""
        seconds = _seconds_of(secs)
        run = self._run
        if run.asleep + seconds > run.settings.wall:
            self._stopper.stop_at_limit("wall", run.asleep + seconds, run.settings.wall)
        run.asleep += seconds
        run.elapsed_ns += int(seconds * _BILLION)
        if run.settings.waits and seconds:
            _wait(seconds)


def _seconds_of(secs: Any) -> float:
    """The length of a sleep. Raises: ValueError, TypeError, in Python's words."""
    seconds: float = secs if type(secs) in (int, float) else operator.index(secs)
    if math.isnan(seconds):
        raise ValueError("Invalid value NaN (not a number)")
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    return seconds


def _wait(seconds: float) -> None:
    """Wait at a lock, which needs no system call that workers lack."""
    lock = allocate_lock()
    lock.acquire()
    lock.acquire(timeout=seconds)


def time_members(clock: PlanClock) -> dict[str, object]:
    """Return the members of ``time``."""
    members: dict[str, object] = {name: getattr(time, name) for name in ALLOWED_MODULES["time"]}

    def reading(name: str, read: Callable[[], int]) -> dict[str, object]:
        def seconds() -> float:
            return read() / _BILLION

        def nanoseconds() -> int:
            return read()

        return {name: set_name(name, seconds), f"{name}_ns": set_name(f"{name}_ns", nanoseconds)}

    def of_now(name: str) -> Callable[..., object]:
        function: Callable[..., object] = getattr(time, name)

        def call(*secs: Any, **named: Any) -> object:
            is_now = not named and secs in ((), (None,))
            return function(*((clock.time_ns() // _BILLION,) if is_now else secs), **named)

        return set_name(name, call)

    def asctime(*t: Any, **named: Any) -> str:
        return time.asctime(*(t or (time.gmtime(clock.time_ns() // _BILLION),)), **named)

    def strftime(*given: Any, **named: Any) -> str:
        now = (time.gmtime(clock.time_ns() // _BILLION),) if len(given) == 1 else ()
        return time.strftime(*given, *now, **named)

    def steps(secs: Any, /) -> Steps:
        yield Wait(lambda: False, _seconds_of(secs), "it sleeps")

    def sleep(secs: Any, /) -> None:
        if THREADS.standing:
            THREADS.finish(steps(secs))
        else:
            clock.sleep(secs)

    THREADS.forms[sleep] = steps
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        members |= reading(name, clock.elapsed_ns)
    members |= reading("time", clock.time_ns)
    members |= {name: of_now(name) for name in ("ctime", "gmtime", "localtime")}
    return members | {
        "asctime": set_name("asctime", asctime),
        "sleep": set_name("sleep", sleep),
        "strftime": set_name("strftime", strftime),
    }


def clock_methods(clock: PlanClock) -> dict[type, dict[str, Callable[..., object]]]:
    """Return the class methods of ``date`` and ``datetime`` that tell the time of now."""

    def moment() -> datetime.datetime:
        return _EPOCH_START + datetime.timedelta(microseconds=clock.time_ns() // 1_000)

    def now(tz: Any = None) -> datetime.datetime:
        if tz is None:
            return moment()
        return moment().replace(tzinfo=datetime.UTC).astimezone(tz)

    def today_() -> datetime.date:
        return moment().date()

    def utcnow() -> datetime.datetime:
        return moment()

    def today() -> datetime.datetime:
        return moment()

    return {
        datetime.date: {"today": set_name("today", today_)},
        datetime.datetime: {
            "now": set_name("now", now),
            "today": set_name("today", today),
            "utcnow": set_name("utcnow", utcnow),
        },
    }


class _ZoneFiles:
    """The files of all time zones that this machine knows, in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def read(self) -> None:
        """Read them all: from the system's folder, else from the package ``tzdata``."""
        package = importlib.util.find_spec("tzdata")
        in_package = [str(Path(place, "zoneinfo")) for place in (package and package.submodule_search_locations) or ()]
        for folder in (*zoneinfo.TZPATH, *in_package):
            for path in Path(folder).rglob("*"):
                key = path.relative_to(folder).as_posix()
                if key.startswith(_NOT_ZONES) or not path.is_file():
                    continue
                if (data := path.read_bytes()).startswith(b"TZif"):
                    self.files.setdefault(key, data)

    def open(self, key: str) -> io.BytesIO:
        """Return a zone's file. Raises: ZoneInfoNotFoundError."""
        data = self.files.get(key)
        if data is None:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(data)


_zone_files: Final = _ZoneFiles()


def load_time_zones() -> None:
    """Read all time zones, and make this process's own UTC. Call it once in a zygote, before its lockdown."""
    os.environ["TZ"] = "UTC0"
    time.tzset()
    _zone_files.read()
    zoneinfo.reset_tzpath(to=())
    common: Any = import_module("zoneinfo._common")
    common.load_tzdata = _zone_files.open
    _forget_build_settings()
    time.strptime("1", "%d")
    datetime.datetime.strptime("1", "%d").strftime("%d")


def _forget_build_settings() -> None:
    """Forget how this Python was built, which ``zoneinfo`` has looked up: the settings hold paths of the host."""
    sysconfig.get_config_vars().clear()
    for name in [name for name in sys.modules if name.startswith("_sysconfigdata")]:
        vars(sys.modules.pop(name))["build_time_vars"].clear()


def zoneinfo_members() -> dict[str, object]:
    """Return the members of ``zoneinfo``."""

    def available_timezones() -> set[str]:
        return set(_zone_files.files)

    return {
        "ZoneInfo": zoneinfo.ZoneInfo,
        "ZoneInfoNotFoundError": zoneinfo.ZoneInfoNotFoundError,
        "available_timezones": set_name("available_timezones", available_timezones),
    }
