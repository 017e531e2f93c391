"""The port of the engines that run episodes: threads, processes, Dask, Ray. They schedule and restart jobs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from importlib import import_module
from typing import Protocol, TypeVar

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.untrusted.values import in_quotes

J = TypeVar("J")
R = TypeVar("R")
J_contra = TypeVar("J_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

MAX_RESTARTS = 3
"""How often a job is restarted after its worker died."""


class JobHandler(Protocol[J_contra, R_co]):
    """Handles one job. It must be picklable, except for threads."""

    def __call__(self, job: J_contra) -> R_co:
        """Handle the job. An exception ends the run and is raised there."""
        ...

    def handle_lost(self, job: J_contra, reason: str) -> R_co:
        """Return the result of a job whose workers kept dying."""
        ...


def handle_job(handler: JobHandler[J, R], job: J) -> R:
    """Handle a job on a worker of Dask or Ray."""
    return handler(job)


class Engine(Protocol):
    """Runs at most ``workers`` jobs at a time."""

    workers: int

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Yield the results as they come, in any order; take a job from ``jobs`` when a worker is free.

        Closing the iterator stops running jobs as soon as the engine can.
        """
        ...


_ENGINE_CLASSES = {"threads": "ThreadEngine", "processes": "ProcessEngine", "dask": "DaskEngine", "ray": "RayEngine"}

ENGINE_NAMES = tuple(_ENGINE_CLASSES)
"""The names of the engines."""


def make_engine(name: str, workers: int, address: str | None = None) -> Engine:
    """Return the engine with this name, for this many jobs at a time; ``address`` is a Dask or Ray cluster's.

    Raises: UsageError for an unknown name, an address without use, or a missing package.
    """
    if name not in _ENGINE_CLASSES:
        raise UsageError(f"there is no engine {in_quotes(name)}; {plugins.suggest_names(name, ENGINE_NAMES)}")
    remote = name in ("dask", "ray")
    if address and not remote:
        raise UsageError(f"the engine {name} runs on this machine; leave --address out, or name dask or ray")
    try:
        home = import_module(f"codeplan.bench.engines.{name}")
    except ImportError as e:
        raise UsageError(f"the engine {name} is not installed ({e}); pip install 'codeplan[{name}]'") from None
    engine: Callable[..., Engine] = getattr(home, _ENGINE_CLASSES[name])
    return engine(workers, address) if remote else engine(workers)
