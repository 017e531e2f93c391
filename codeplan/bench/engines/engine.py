"""Where episodes run: in threads, in processes, on Dask, on Ray. Scheduling and retries are the engine's own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from importlib import import_module
from typing import Protocol, TypeVar

from codeplan import plugins
from codeplan.errors import UsageError

J = TypeVar("J")
R = TypeVar("R")
J_contra = TypeVar("J_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

MAX_RESTARTS = 3
"""How often a job is begun again whose worker died."""


class JobHandler(Protocol[J_contra, R_co]):
    """What is done with each job. It can be pickled, but for the threads' engine."""

    def __call__(self, job: J_contra) -> R_co:
        """Do the job. What it raises ends the run, and is raised there."""
        ...

    def handle_lost(self, job: J_contra, reason: str) -> R_co:
        """What comes of a job that no worker survived."""
        ...


class Engine(Protocol):
    """Does jobs, so many at a time."""

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """What comes of the jobs, as it comes, in any order. A job is drawn from ``jobs`` when there is room for it.

        Closing the iterator ends what runs, as soon as the engine can.
        """
        ...


_ENGINE_CLASSES = {"threads": "ThreadEngine", "processes": "ProcessEngine", "dask": "DaskEngine", "ray": "RayEngine"}

ENGINE_NAMES = tuple(_ENGINE_CLASSES)
"""The names of the engines."""


def make_engine(name: str, workers: int, address: str | None = None) -> Engine:
    """The engine of this name, with so many jobs at a time; ``address`` is that of a cluster, for Dask and Ray.

    Raises UsageError for a name that there is not, an address that is of no use, and a package that is missing.
    """
    if name not in _ENGINE_CLASSES:
        raise UsageError(f"there is no engine {name!r}; {plugins.suggest_names(name, ENGINE_NAMES)}")
    remote = name in ("dask", "ray")
    if address and not remote:
        raise UsageError(f"the engine {name} runs on this machine; leave --address out, or name dask or ray")
    try:
        home = import_module(f"codeplan.bench.engines.{name}")
    except ImportError as e:
        raise UsageError(f"the engine {name} is not installed ({e}); pip install 'codeplan[{name}]'") from None
    engine: Callable[..., Engine] = getattr(home, _ENGINE_CLASSES[name])
    return engine(workers, address) if remote else engine(workers)
