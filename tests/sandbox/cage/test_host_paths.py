"""A worker knows no path of the host, not even a plan with all of Python that looks through every object."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from support.caged import SampleHome, answer, finished

import codeplan
from codeplan.audit.target import compile_unguarded
from codeplan.sandbox import Limits
from codeplan.sandbox.host.backend import RunRequest
from codeplan.sandbox.host.locked_backend import LockedBackend
from codeplan.types import Plan

HOST_PATHS = sorted(
    {sys.prefix, sys.base_prefix, str(Path(sys.executable).parent), str(Path(codeplan.__file__).resolve().parents[1])}
)

SAME_EVERYWHERE = ["/bin:/usr/bin", "/usr/lib/os-release"]
"""Constants of the library, which hold the path of a Python that is installed in /usr."""


def output_of(body: str) -> str:
    source = "def solution(agent, start_from=1):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    backend = LockedBackend(Limits(wall=60.0, cpu=60.0, output=100_000))
    backend.texts.codes.store(source, compile_unguarded(source))
    return finished(backend.run(RunRequest(Plan(source), SampleHome(lambda action: None), answer))).output


@pytest.mark.parametrize(
    "shown",
    [
        "sys.orig_argv",
        "sys.argv",
        "sys.path",
        "sys.executable or []",
        "(sys.prefix + sys.exec_prefix + sys.base_prefix + sys.base_exec_prefix + sys._base_executable) or []",
        "[m.__file__ for m in modules if '/' in (getattr(m, '__file__', '') or '')]",
        "[m.__cached__ for m in modules if '/' in (getattr(m, '__cached__', '') or '')]",
        "[list(m.__path__) for m in modules if list(getattr(m, '__path__', []))]",
        "[m.__spec__ for m in modules if '/' in repr(getattr(m, '__spec__', ''))]",
        "[m.__loader__.path for m in modules if '/' in getattr(getattr(m, '__loader__', None), 'path', '')]",
        "[m for m in modules if '/' in repr(m)]",
        "[f for f in functions if '/' in f.__code__.co_filename]",
        "[c for f in functions for c in f.__code__.co_consts if '/' in getattr(c, 'co_filename', '')]",
        "list(sys.path_importer_cache)",
        "[v for v in os.environ.values() if '/' in v]",
    ],
)
def test_python_shows_no_path(shown):
    body = f"""
    import sys, os, gc
    gc.unfreeze()
    modules = list(sys.modules.values())
    functions = [f for f in gc.get_objects() if type(f) is type(lambda: 1)]
    print(len(modules) > 50, len(functions) > 1000, {shown})
    """
    assert output_of(body) == "True True []\n"


def test_no_traceback_shows_a_path():
    body = """
    import json, sys
    tracebacks = sys.modules.get('traceback')
    try:
        json.loads('{')
    except ValueError as error:
        trace, files = error.__traceback__, []
        while trace:
            files.append(trace.tb_frame.f_code.co_filename)
            trace = trace.tb_next
        print(files)
    """
    assert output_of(body) == "['<plan>', '<json>', '<json.decoder>', '<json.decoder>']\n"


def test_no_object_of_the_worker_holds_a_path():
    """Looks at every text and bytes that Python can reach. The paths are written backwards, not to find themselves."""
    body = f"""
    import gc, sys
    gc.unfreeze()  # otherwise it hides what the zygote made
    paths = [p[::-1] for p in {[p[::-1] for p in HOST_PATHS]!r}]
    own = {{id(p) for p in paths}} | {{id(paths)}}
    seen, waiting, found, count = set(), [*gc.get_objects(), *sys.modules.values()], [], 0
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or id(thing) in own:
            continue
        seen.add(id(thing))
        if type(thing) is str or type(thing) is bytes:
            count += 1
            text = thing if type(thing) is str else thing.decode('latin-1')
            found += [text[:200] for p in paths if p in text and text[::-1] not in {[t[::-1] for t in SAME_EVERYWHERE]!r}]
        else:
            waiting += gc.get_referents(thing)
    print(count > 10_000, found)
    """
    assert output_of(body) == "True []\n"
