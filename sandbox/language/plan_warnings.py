"""Finds weaknesses of a plan that can run: assertions that test nothing, no steps, a header that does not start at
1.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.plan_outline import PlanOutline
from codeplan.sandbox.language.syntax_nodes import walk
from codeplan.sandbox.runtime.names import ENDING_NAMES

_TESTS = (ast.Assert, ast.Raise)


def find_warnings(outline: PlanOutline, nodes: list[ast.AST], warnings: DiagnosticCollector) -> None:
    """Collect the warnings of a plan; ``nodes`` are all nodes of its tree."""
    testing = testing_functions(nodes)
    for step in outline.steps:
        if not has_test(step.body, testing):
            example = f"assert <what must hold now>, f'Error in [Step {step.step}]: … {{agent.report()}}'"
            warnings.add(step.node, "step-assertion", f"step {step.step} has no assertion; end it with `{example}`")
    for node in nodes:
        if isinstance(node, ast.Assert) and always_holds(node.test):
            pair = isinstance(node.test, ast.Tuple) and len(node.test.elts) == 2 and node.msg is None
            wanted = "write `assert condition, message` without brackets" if pair else "test what the agent observed"
            message = f"this assertion always holds; {wanted}"
            warnings.add(node, "assert-tuple" if pair else "assert-true", message)
    if outline.solution is not None and not outline.steps:
        message = "the plan has no steps, so it cannot resume; put its parts into blocks `if start_from <= k:`"
        warnings.add(outline.solution, "no-steps", message)
    start = header_start(outline.solution)
    if start is not None:
        message = f"the header says start_from={start}, which counts only with resume_by=model; write start_from=1"
        warnings.add(outline.solution, "start-from", message)


def header_start(solution: ast.FunctionDef | None) -> int | None:
    """Return the step that the header names (``start_from=3``); None if it says 1 or nothing."""
    default = solution.args.defaults[-1] if solution and solution.args.defaults else None
    if isinstance(default, ast.Constant) and type(default.value) is int and default.value > 1:
        return default.value
    return None


def always_holds(test: ast.expr) -> bool:
    """Return whether a condition is true by its form alone: a true constant, a filled tuple, a text with characters."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.JoinedStr):
        return any(isinstance(v, ast.Constant) and v.value for v in test.values)
    filled = isinstance(test, ast.Tuple | ast.List | ast.Set) and bool(test.elts)
    return filled or (isinstance(test, ast.Dict) and bool(test.keys))


def testing_functions(nodes: list[ast.AST]) -> frozenset[str]:
    """Return the functions that assert, raise or end the run, directly or through one another."""
    functions = [(n.name, walk(*n.body)) for n in nodes if isinstance(n, ast.FunctionDef) and n.name != "solution"]
    names = ENDING_NAMES
    for _ in functions:
        more = ENDING_NAMES | {name for name, within in functions if _tests(within, names)}
        if more == names:
            break
        names = more
    return names


def has_test(body: Iterable[ast.stmt], functions: frozenset[str]) -> bool:
    """Return whether these statements assert, raise or end the run, or call one of ``functions``, which do."""
    return _tests(walk(*body), functions)


def _tests(nodes: Iterable[ast.AST], functions: frozenset[str]) -> bool:
    return any(
        isinstance(n, _TESTS) or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in functions)
        for n in nodes
    )
