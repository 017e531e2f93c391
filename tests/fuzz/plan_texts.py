"""Mutilated plans: the check must always answer, and what it accepts must compile to guarded code."""

from __future__ import annotations

import ast
import copy
import dis
import random
import re
import time
from itertools import pairwise
from types import CodeType

from support.sample_plans import sample_attacks, sample_plans
from support.sample_worlds import SampleWalker, answer_function

from codeplan.agent_interface import agent_api
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.language.checking import check_source
from codeplan.sandbox.language.compilation import compile_plan
from codeplan.sandbox.runtime.names import is_writable
from codeplan.types import Plan, Rejected

API = agent_api(SampleWalker)
SOURCES = [s.source for s in sample_plans()] + [a.source for a in sample_attacks()]
SECONDS = 10.0
"""A check takes milliseconds; this leaves room for a busy machine."""

_TOKENS = re.compile(r"\s+|\w+|'[^'\n]*'|\"[^\"\n]*\"|[^\w\s]")
_ODD = [
    "__class__",
    "_x",
    "agent",
    "agent.goto",
    "ask_llm",
    "start_from",
    "print",
    "_getattr_",
    "_turns_",
    "lambda:",
    "yield",
    "await",
    "async",
    "global",
    "nonlocal",
    "import",
    "class",
    "with",
    "as",
    "del",
    "match",
    "case:",
    "except*",
    "finally:",
    "return",
    "break",
    ":=",
    "**",
    "*",
    "@",
    "->",
    "...",
    ";",
    "\\",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ":",
    "=",
    "==",
    "f'{x!r:>{9}}'",
    "b''",
    "0x",
    "1_0",
    "1e999",
    "1j",
    "'a'",
    '"""',
    "#",
    "\t",
    "\n",
    "\r",
    "\x0c",
    "é",
    "\u2028",
    "\ufeff",
    "🐍",
]
_FORBIDDEN = frozenset(["LOAD_METHOD", "IMPORT_NAME", "IMPORT_FROM", "IMPORT_STAR", "LOAD_SUPER_ATTR"])
"""Operations that no guarded plan contains: attributes and imports go through guards."""

_WRITES = frozenset({"STORE_ATTR", "DELETE_ATTR"})
"""Writes of attributes go through a guard that returns the owner, and read only what they write: ``a.b += 1``."""

_sandbox = Sandbox(Limits(wall=0.5, cpu=0.5, turns=20_000, memory=64 << 20, output=2_000))


def mutated(seed: int) -> str:
    """A plan, or two, with some tokens lost, doubled, swapped or replaced."""
    pick = random.Random(seed)
    tokens = _TOKENS.findall(pick.choice(SOURCES))
    for _ in range(pick.choice([1, 1, 2, 3, 12])):
        other = _TOKENS.findall(pick.choice(SOURCES)) if pick.random() < 0.3 else tokens
        _mutate(pick, tokens, other)
    return "".join(tokens)


def _mutate(pick: random.Random, tokens: list[str], other: list[str]) -> None:
    at, size = pick.randrange(len(tokens) + 1), pick.choice([1, 1, 1, 3, 20])
    begin = pick.randrange(max(1, len(other)))
    match pick.randrange(5):
        case 0:
            del tokens[at : at + size]
        case 1:
            tokens[at:at] = other[begin : begin + size]
        case 2:
            tokens[at : at + size] = other[begin : begin + size]
        case 3:
            tokens[at : at + 1] = [pick.choice(_ODD)]
        case _:
            tokens[at:at] = tokens[at : at + size] * pick.choice([1, 2, 50])


_ODD_CODE = [
    "agent._secret", "().__class__", "x.y.z", "f'{agent!r:{x}}'", "(lambda *a, **k: a)(*x, **y)", "[a for a in b if (c := a)]",
    "{**a, 'b': [*c]}", "a[b:c, ...]", "not a if b else c", "agent.goto(*a, **b)", "ask_llm", "print", "a < b in c is not d",
    "(yield a)", "a @ b", "-a ** ~b", "x[0](y)(z)", "getattr(agent, a)", "''.join(a)", "10 ** 9 ** 9", "a.format(b)", "'%*d' % a",
]  # fmt: skip
_ODD_STATEMENTS = [
    "a.b = c", "a[b] **= c", "del a, b[c]", "for a, (b, *c) in d:\n    continue\nelse:\n    pass", "while a: break",
    "try:\n    a\nexcept (B, C) as d:\n    raise\nfinally:\n    return", "assert a, b", "a: b = c", "a = b = *c,", "return a",
    "match a:\n    case [b, *c] | {'d': _, **e}:\n        pass", "import re as a, json", "from math import pi as b", "global a",
    "def a(b, /, c=d, *e, f, **g):\n    return locals()", "if start_from <= 1:\n    assert a", "class A(B):\n    c = d", "with a as b: pass",
    "if start_from <= 99999999999999999999: a", "raise a from b", "a, b = b, a", "async def a(): await b",
]  # fmt: skip


def grafted(seed: int) -> str:
    """A plan with some expressions and statements from other plans, or random ones."""
    pick = random.Random(seed)
    graft = _Graft(pick, pick.choice(_TREES), pick.choice([0.01, 0.05, 0.2]))
    return ast.unparse(ast.fix_missing_locations(graft.visit(copy.deepcopy(pick.choice(_TREES)))))


class _Graft(ast.NodeTransformer):
    def __init__(self, pick: random.Random, donor: ast.Module, rate: float) -> None:
        self._pick, self._rate = pick, rate
        nodes = list(ast.walk(donor))
        self._expressions: list[ast.expr] = [
            n for n in nodes if isinstance(n, (ast.Name, ast.Constant, ast.Call, ast.BinOp))
        ]
        self._statements = [n for n in nodes if isinstance(n, ast.stmt)]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            if self._pick.random() < self._rate:
                return self._expression()
        elif isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef) and self._pick.random() < self._rate:
            return self._statement()
        return super().generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Leave it: only a few kinds of nodes may be inside."""
        return node

    def _expression(self) -> ast.AST:
        odd = ast.parse(self._pick.choice(_ODD_CODE), mode="eval").body
        return copy.deepcopy(self._pick.choice(self._expressions)) if self._pick.random() < 0.5 else odd

    def _statement(self) -> ast.AST:
        odd = ast.parse(self._pick.choice(_ODD_STATEMENTS)).body[0]
        return copy.deepcopy(self._pick.choice(self._statements)) if self._pick.random() < 0.5 else odd


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


_TREES = [tree for source in SOURCES if (tree := _tree(source)) and len(list(ast.walk(tree))) < 3_000]


def make_plan(pick: random.Random) -> str:
    """A plan that is broken in some way."""
    match pick.randrange(3):
        case 0:
            return mutated(pick.getrandbits(63))
        case 1:
            return grafted(pick.getrandbits(63))
        case _:
            letters = [
                chr(pick.choice([pick.randrange(32, 127), pick.randrange(0xD800), 10]))
                for _ in range(pick.randrange(300))
            ]
            return "def solution(agent, start_from=1):\n    " + "".join(letters)


def judge_check(source: str) -> None:
    """Assert that the check answers in time and in form, and that what it accepts is guarded."""
    began = time.monotonic()
    found = check_source(source, API)
    assert time.monotonic() - began < SECONDS, "the check took too long"
    if isinstance(found, Rejected):
        _judge_refusal(found)
        return
    assert isinstance(found, Plan)
    lines = found.source.count("\n") + found.source.count("\r") + 1
    assert all(1 <= s.line <= s.end_line <= lines for s in found.steps)
    for segment in compile_plan(found.source).segments:
        judge_code(segment.code)


def judge_run(source: str) -> None:
    """Assert that every run in the cage ends with an outcome."""
    world = SampleWalker()
    outcome = _sandbox.run(source, world, answer_function(world)) if source.isascii() else _sandbox.check(source, API)
    assert type(outcome).__name__ in ("Finished", "Failed", "Stopped", "Rejected", "Plan")
    if type(outcome).__name__ == "Stopped":
        assert outcome.limit != "worker" or "crashed" in outcome.message, outcome  # type: ignore[union-attr]


def _judge_refusal(found: Rejected) -> None:
    lines = len(found.source.splitlines()) + 1
    assert found.diagnostics
    for d in found.diagnostics:
        assert d.message.strip()
        assert d.rule
        assert 0 <= d.line <= lines, d
        assert d.column >= 0


def _joins(before: dis.Instruction, one: dis.Instruction) -> bool:
    """Whether this is CPython's own ``''.join`` for an f-string of very many parts."""
    return one.argval == "join" and (before.opname, before.argval) == ("LOAD_CONST", "")


def _is_of_the_check(done: list[dis.Instruction], at: int) -> bool:
    """Whether the attribute read or written here belongs to what the check wrote itself, so that no assertion is lost.

    That is ``_host_.failure``, read or written, and ``_passing_1_.held -= 1``.
    """
    for before in reversed(done[max(0, at - 6) : at]):
        if before.opname.startswith("LOAD_") and isinstance(before.argval, str) and before.opname != "LOAD_ATTR":
            return re.fullmatch("_host_|_passing_[0-9]+_", before.argval) is not None
        if before.opname not in ("COPY", "SWAP", "LOAD_CONST", "BINARY_OP", "LOAD_ATTR"):
            return False
    return False


def judge_code(code: CodeType) -> None:
    """Assert that a code object and those inside it do nothing unguarded."""
    every = list(dis.get_instructions(code))
    own = [i.argval in ("failure", "held") and _is_of_the_check(every, at) for at, i in enumerate(every)]
    done = [i for i, is_own in zip(every, own, strict=True) if not is_own]
    found = {i.opname for i in done} & _FORBIDDEN
    assert not found or all(_joins(*p) for p in pairwise(done) if p[1].opname in _FORBIDDEN), f"{code.co_name}: {found}"
    written = {i.argval for i in done if i.opname in _WRITES}
    read = {i.argval for before, i in pairwise(done) if i.opname == "LOAD_ATTR" and not _joins(before, i)}
    assert read <= written, f"{code.co_name} reads {read - written}"
    guards = {i.argval for i in done if i.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
    assert all(map(is_writable, written)) or "_writable_class_" in guards, f"{code.co_name} writes {written}"
    assert not written or guards & {"_writable_", "_writable_class_"}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            judge_code(constant)
