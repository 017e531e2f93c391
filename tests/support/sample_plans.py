"""Sample plans, and their results in plain Python, which are the standard for backends."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from support.sample_worlds import (
    RecordedCall,
    SampleBench,
    SampleEncyclopedia,
    SampleKitchen,
    SamplePage,
    SampleShop,
    SampleWalker,
    SampleWorld,
    answer_function,
    call_history,
)

from codeplan.sandbox.host.backend import Capability
from codeplan.untrusted.comparison import BoundedValue

SAMPLE_WORLDS: dict[str, type[SampleWorld]] = {
    "statements": SampleWalker,
    "parsing": SampleWalker,
    "algorithms": SampleWalker,
    "household": SampleKitchen,
    "textcraft": SampleBench,
    "webshop": SampleShop,
    "miniwob": SamplePage,
    "hotpotqa": SampleEncyclopedia,
}
"""The world for each file of sample plans."""

_FOLDER = Path(__file__).parent / "sample_plan_texts"
_GIVEN = frozenset({"agent", "start_from"})
_HEADING = re.compile(r"(?P<name>[^\[]+?)(?: \[(?P<needs>[^\]]+)\])?")


class SamplePlan(NamedTuple):
    """A plan as models write it. A backend without the capabilities in ``needs`` cannot run it."""

    name: str
    body: str
    world: type[SampleWorld]
    needs: frozenset[Capability] = frozenset()

    @property
    def source(self) -> str:
        """The whole plan."""
        return wrap_as_plan(self.body)


class SampleAttack(NamedTuple):
    """A hostile plan: its aim, and its source."""

    name: str
    source: str


class SampleRun(NamedTuple):
    """The result of a run, on any backend. ``error`` is the exception's name and ``message`` its text, or "".

    ``variables`` is a dict, or a BoundedValue of one that comes from a checkpoint.
    """

    output: str
    error: str
    message: str
    calls: list[RecordedCall]
    asked: list[str]
    variables: dict[str, object] | BoundedValue


def wrap_as_plan(body: str) -> str:
    """Return a plan whose ``solution`` has this body."""
    return "def solution(agent, start_from=1):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def sample_plans(*subjects: str) -> tuple[SamplePlan, ...]:
    """Return the sample plans of these subjects, or all. The check accepts each, and each runs as in plain Python."""
    return tuple(s for name in subjects or SAMPLE_WORLDS for s in _samples_in(name))


def sample_attacks() -> tuple[SampleAttack, ...]:
    """Return hostile plans. The sandbox must stop each of them."""
    return tuple(SampleAttack(heading, wrap_as_plan(body)) for heading, body in _text_blocks("hostile"))


def run_in_python(sample: SamplePlan) -> SampleRun:
    """Run a sample as plain Python in this process."""
    world = sample.world()
    printed = io.StringIO()
    space = _plan_globals(answer_function(world))
    locals_: dict[str, object] = {}
    failure: Exception | None = None
    with contextlib.redirect_stdout(printed):
        exec(sample.source.replace("from large_language_model import ask_llm as ask", "pass"), space)
        solution: Any = space["solution"]
        try:
            with _capture_locals(solution.__code__, locals_):
                solution(world)
        except Exception as error:
            failure = error
    variables = {n: v for n, v in locals_.items() if n not in _GIVEN and n.strip("_")}
    name, message = (type(failure).__name__, str(failure)) if failure else ("", "")
    return SampleRun(printed.getvalue(), name, message, *call_history(world), variables)


def _samples_in(name: str) -> Iterator[SamplePlan]:
    for heading, body in _text_blocks(name):
        parts = _HEADING.fullmatch(heading)
        assert parts is not None
        needs = frozenset(Capability(n.strip()) for n in (parts["needs"] or "").split(",") if n)
        yield SamplePlan(f"{name}: {parts['name']}", body, SAMPLE_WORLDS[name], needs)


def _text_blocks(name: str) -> Iterator[tuple[str, str]]:
    """Yield a file's blocks, each under a line ``=== heading``."""
    text = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    for block in text.split("\n=== ")[1:]:
        heading, _, body = block.partition("\n")
        yield heading, body


def _plan_globals(ask: Callable[[str], str]) -> dict[str, object]:
    return {"__builtins__": builtins, "ask_llm": ask, "ask": ask, "literal_eval": ast.literal_eval}


@contextlib.contextmanager
def _capture_locals(code: types.CodeType, found: dict[str, object]) -> Iterator[None]:
    """Copy the local variables that a function ends with, however it ends."""

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "return" and frame.f_code is code:
            found.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


LETTERS = """
    if start_from <= 1:
        sent = []
        for p in agent.people():
            agent.send(p)
            sent.append(p)
        assert len(sent) == 3
    return sent
"""
REFINED_LETTERS = """
    if start_from <= 1:
        for p in agent.people():
            if p not in sent:
                agent.send(p)
                sent.append(p)
        assert len(sent) == 3
    return sent
"""
"""Steps that send letters, of which one fails at first; and refined, so that none is sent twice."""
