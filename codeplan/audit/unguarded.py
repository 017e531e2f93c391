"""Workers without the language layer: a plan has all of Python from its first line on.

The audit uses them to attack the cage alone. Process, lockdown, timer and frames are those of any other worker; only
the compilation of plans is replaced by one without guards. No plan, setting or argument of the sandbox can ask for
this: the audit starts a zygote with ``main`` as its entry, in a host process of its own.
"""

from __future__ import annotations

from typing import Final, NoReturn

from codeplan.sandbox.cage import run_zygote
from codeplan.sandbox.language.compilation import Program, Segment

_UNGUARDED_TEMPLATE: Final = """\
def _segment_():
    python = print.__globals__['__builtins__']
    agent_of_all = python['type']('Agent', (), {{'__getattr__': lambda self, name: _getattr_(agent, name)}})()
    space = {{
        '__builtins__': python, '__name__': 'plan', 'agent': agent_of_all, 'print': print, 'ask': ask,
        'ask_llm': ask_llm, 'literal_eval': literal_eval, 'start_from': start_from, 're': python['__import__']('re'),
    }}
    python['exec'](python['compile']({source!r}, '<plan>', 'exec'), space)
    space['solution'](agent_of_all, start_from)
"""
"""Leaves the namespace by a function's globals, as a plan could if the language layer were broken."""


def main(control_fd: int) -> NoReturn:
    """Serve as a zygote whose workers run plans without the language layer."""
    run_zygote.main(control_fd, compile_unguarded)


def compile_unguarded(source: str) -> Program:
    """Compile to one segment that leaves its namespace and runs the source as plain Python."""
    return Program((Segment(None, 1, compile(_UNGUARDED_TEMPLATE.format(source=source), "<escape>", "exec")),))
