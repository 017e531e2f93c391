"""Workers in which the language layer is taken for broken: a plan has all of Python from its first line on.

This is how the audit tries the cage alone. The process, its locks, its clock and its wire are those of any other
worker; only where a plan would be compiled with guards, it is compiled without them. No plan, setting or argument of
the sandbox can ask for that: the audit starts a zygote whose entry is ``main`` here, in a host process of its own.
"""

from __future__ import annotations

from typing import Final, NoReturn

from codeplan.sandbox.cage import run_zygote
from codeplan.sandbox.language.program import Program, Segment

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
"""The way out of the namespace that a broken language layer would leave open: a function's globals."""


def main(control_fd: int) -> NoReturn:
    """Be a zygote whose workers run plans without the language layer."""
    run_zygote.main(control_fd, compile_unguarded)


def compile_unguarded(source: str) -> Program:
    """The plan as one segment that gets out of its namespace and runs the source as plain Python."""
    return Program((Segment(None, 1, compile(_UNGUARDED_TEMPLATE.format(source=source), "<escape>", "exec")),))
