"""The zygote for checks. It loads the whole plan language with libcst's parser; runs need only the guards."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from functools import partial
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace
from typing import Final, NoReturn

from codeplan.sandbox.cage import zygote
from codeplan.sandbox.cage.worker import HostLink, PlanTimer, WorkerJob, WorkerRole
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.runtime.user_imports import admit
from codeplan.types import AgentApi, AgentAttribute, AgentMethod, AgentParameter


def install() -> None:
    """Make ``import libcst`` give this module. Call it before anything imports libcst. Raises ImportError."""
    package = find_spec("libcst")
    found = PathFinder.find_spec("libcst.native", package.submodule_search_locations) if package else None
    if found is None or found.loader is None:
        raise ImportError("libcst has no native parser here; install libcst 1.8 or newer")
    sys.modules["libcst"] = lean = ModuleType("libcst")
    vars(lean).update(
        __spec__=SimpleNamespace(_initializing=False),  # as an import sets it; without it, each node costs an exception
        __getattr__=partial(_make_class, lean),
        ParserSyntaxError=ParserSyntaxError,
    )
    sys.modules["libcst.native"] = native = module_from_spec(found)
    found.loader.exec_module(native)
    vars(lean)["parse_module"] = partial(native.parse_module, encoding="utf-8")


class ParserSyntaxError(Exception):
    """The parser's refusal of a text, with libcst's names."""

    def __init__(self, message: str, *, lines: object, raw_line: int, raw_column: int) -> None:
        super().__init__(message)
        self.raw_line, self.raw_column = raw_line, raw_column


class _LeanNode(SimpleNamespace):
    """A node with the fields that the parser gives it. A field that it leaves out is None."""

    __slots__ = ()

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def _make_class(module: ModuleType, name: str) -> type[_LeanNode]:
    """Make the class for a name at its first use."""
    if name.startswith("__"):
        raise AttributeError(name)
    made = type(name, (_LeanNode,), {"__slots__": ()})
    setattr(module, name, made)
    return made


_SAMPLE: Final = """\
import re
def solution(agent, start_from=1):
    # General plan: look at each place until the mug is found, and take it.
    seen = {}
    def look(place):
        try:
            seen[place] = agent.goto(place)
        except ValueError as error:
            return str(error)
        return ', '.join(w for w in re.findall(r'mug \\d+', seen[place]) if w != 'mug 0')
    places, found = ['desk 1', 'shelf 2'], None
    if start_from <= 1:
        print('[Step 1] I look for the mug')
        for i, place in enumerate(places):
            found = look(place) or found
            if found and not i:
                break
        assert found is not None, f'Error in [Step 1]: nothing at {places[:2]}. {agent.report()}'
    if start_from <= 2:
        print(f'[Step 2] I take {found}')
        count = 0
        while agent.holding != found and count < 3:
            count += 1
            answer = agent.goto(place=places[-1])
        done = {'answer': answer.strip(), 'ok': 'take' in answer if count else True}
        assert done['ok'], f'Error in [Step 2]: {agent.report()}'
"""

_API: Final = AgentApi(
    (AgentMethod("goto", "(place)", "", (AgentParameter("place"),)), AgentMethod("report", "()")),
    (AgentAttribute("holding"),),
)


def serve_check(link: HostLink, job: WorkerJob, timer: PlanTimer) -> None:
    """Answer a CheckJob; ignore any other job."""
    if not isinstance(job, frames.CheckJob):
        return
    from codeplan.sandbox.language.checking import answer_check  # it imports libcst, so not before main

    gc.disable()  # the syntax trees stay in use until the worker exits, so collection finds no garbage
    link.send(answer_check(job))


ROLE: Final = WorkerRole(frames.CheckJob(_SAMPLE, _API), serve_check, fresh_heap=True, hot_pages=True)
"""The role of this zygote's workers."""


def main(control_fd: int, imports: Sequence[str]) -> NoReturn:
    """Serve as the zygote for checks. Plans may import the packages ``imports``, which only runs load."""
    install()
    admit(imports)
    zygote.main(control_fd, ROLE)
