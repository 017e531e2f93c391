"""Random programs with classes, generators, contexts, patterns and coroutines: as plans they do what Python does.

The grammar is in ``program_grammar.txt``: a rule is a list of lines, or of blocks between empty lines, in which
``<name>`` stands for another rule. Each function of a program burns fuel, so every program ends.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import random
import re
import signal
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final

from support.sample_worlds import SampleWalker, answer_function

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.cage.host_traces import hide_addresses
from codeplan.types import Failed, Finished, Rejected, Stopped

_RULES_OF_LINES: Final = frozenset(
    {"stmt", "act", "thread", "tame", "body", "methodbody", "fixedbody", "genbody", "cobody"}
)
_RULES_OF_BLOCKS: Final = _RULES_OF_LINES | {"member", "header", "special"}
_REFERENCE: Final = re.compile(r"<([a-z_0-9]+)>")
_GIVEN: Final = frozenset({"loc", "name", "cls", "fun", "gen", "co", "new", "fresh"})
"""Rules whose words depend on the place in the program."""

END: Final = "the end"
"""The last line of a program. Python may close generators after it."""

PRELUDE: Final = """\
import asyncio, contextlib, copy, dataclasses, functools, itertools, json, operator
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Iterator, Mapping, MutableMapping, Sequence, Set
from dataclasses import InitVar, dataclass, field, make_dataclass
from enum import Enum, Flag, IntEnum, auto
from typing import ClassVar, Generic, NamedTuple, Protocol, TypedDict, TypeVar, runtime_checkable
T = TypeVar('T')
fuel = [0]
total = 0
s0, s1, s2 = 3, 'ab', [1, 'b']
self = cls = o = p = x = t0 = t1 = None
class Odd(Exception):
    def __init__(self, *o):
        super().__init__(*o)
        self.a = o
def tick():
    fuel[0] -= 1
    if fuel[0] < 0:
        raise Odd('no fuel')
def type_name(o):
    return type(o).__name__
def hash_kind(o):
    return type_name(hash(o))
def pow2(o, p):
    return pow(o, p, 7)
def take(o):
    return itertools.islice(iter(o), 4)
def told(e):
    try:
        print('error', type_name(e), e, repr(e))
    except Exception as again:
        print('error in error', type_name(e), type_name(again))
def show(o):
    try:
        print(repr(o))
    except Exception as e:
        told(e)
def tried(o):
    try:
        print(repr(o()))
    except Exception as e:
        told(e)
running = [False]
def run(o):
    if running[0]:
        o.close()
        raise Odd('runs inside')
    running[0] = True
    try:
        return asyncio.run(o)
    finally:
        running[0] = False
def decorated(o):
    show(type_name(o))
    if isinstance(o, type):
        return o
    @functools.wraps(o)
    def around(*p, **q):
        print('calls', o.__name__)
        return o(*p, **q)
    return around
class Watched:
    def __init__(self, o):
        self.o = o
    def __set_name__(self, o, p):
        self.name = '_' + p
    def __get__(self, o, p=None):
        print('read', self.name)
        return self if o is None else getattr(o, self.name, self.o)
    def __set__(self, o, p):
        print('written', self.name)
        setattr(o, self.name, p)
@contextlib.contextmanager
def managed(o):
    show('enters')
    try:
        yield o
    except ValueError as e:
        told(e)
    finally:
        show('leaves')
async def idle(*o, **p):
    await asyncio.sleep(0)
    return o
async def counting(o):
    for i in range(o):
        await asyncio.sleep(0)
        yield i
"""

THREAD_PRELUDE: Final = """\
import concurrent.futures, queue, sys, threading, time
again = threading.RLock()
def attempt(o, *p, **q):
    try:
        return o(*p, **q)
    except Exception as e:
        told(e)
        return type_name(e)
def joined(o, *p, **q):
    fuel[0] -= 9
    got = []
    def call():
        got.append(attempt(o, *p, **q))
    t = threading.Thread(target=call, daemon=True)
    t.start()
    t.join()
    return got
@contextlib.contextmanager
def held(o):
    if not o.acquire(timeout=0.01):
        raise Odd('held')
    try:
        yield o
    finally:
        o.release()
"""
"""What a program with threads begins with, too. One thread runs at a time: the order of everything is certain."""


def _read_rules(grammar: str) -> dict[str, list[str]]:
    """Return the productions of each rule of a grammar."""
    text = (Path(__file__).parent / f"{grammar}_grammar.txt").read_text()
    rules: dict[str, list[str]] = {}
    for part in text.split("== ")[1:]:
        name, _, body = part.partition("\n")
        apart = "\n\n" if name in _RULES_OF_BLOCKS else "\n"
        rules[name] = [p.strip("\n") for p in body.rstrip("\n").split(apart)]
    return rules


RULES: Final = _read_rules("program")

_OF_THREADS: Final = re.compile(r"<(?:thread|tame|calm|given)>|\b(?:threading|queue|joined|held|attempt)\b")
_PLAIN_RULES: Final = {
    rule: [p for p in productions if not _OF_THREADS.search(p)]
    for rule, productions in RULES.items()
    if rule not in ("thread", "tame", "calm", "given")
}
"""Those of programs without threads."""


def _measure_depths(rules: dict[str, list[str]]) -> dict[str, list[int]]:
    """Return the fewest levels of expansion that each production needs."""
    least = dict.fromkeys(_GIVEN, 0)
    depths: dict[str, list[int]] = {}
    for _ in range(len(rules)):
        for name, productions in rules.items():
            depths[name] = [
                1 + max((least.get(r, _ENDLESS) for r in _REFERENCE.findall(p)), default=0) for p in productions
            ]
            least[name] = min(depths[name])
    return depths


_ENDLESS: Final = 99


class ProgramMaker:
    """Writes one program from random choices."""

    def __init__(self, pick: random.Random, rules: dict[str, list[str]]) -> None:
        self._pick, self._rules, self._depths = pick, rules, _measure_depths(rules)
        self._fresh = 0
        self._classes = ["Odd", "Watched"]
        self._words: dict[str, list[str]] = {
            "fun": [f"f{k}" for k in range(3)],
            "gen": [f"gen{k}" for k in range(3)],
            "co": [f"co{k}" for k in range(3)],
            "cls": self._classes,
        }

    def make(self, prelude: str) -> str:
        """Return a plan of definitions, and of one step that uses them."""
        parts = [prelude]
        for number in range(self._pick.randint(2, 5)):
            parts.append(self._definition(f"K{number}"))
            self._classes.append(f"K{number}")
        for rule, prefix, head in (
            ("methodbody", "f", "def"),
            ("genbody", "gen", "def"),
            ("cobody", "co", "async def"),
        ):
            for number in range(3):
                if rule == "cobody":  # tasks share the fuel, so none may begin itself again
                    self._words["co"] = [f"co{k}" for k in range(number + 1, 3)] or ["idle"]
                with_defaults = f"{head} {prefix}{number}(o={self._at_module('n')}, *p, x=2, **q):\n"
                parts.append(with_defaults + _indent(self._inside("o p x", "t0 t1", rule, 5)))
        self._words["co"] = [f"co{k}" for k in range(3)]
        acts = [self._act(number) for number in range(self._pick.randint(3, 6))]
        functions = [definition for definition, _ in acts if definition]
        made = [
            _guarded(f"v{k} = {self._pick.choice(self._classes)}({self._at_module('args', 2)})", f"v{k} = {k}")
            for k in range(3)
        ]
        step = "\n".join([*made, *(use for _, use in acts)])
        head = "def solution(agent, start_from=1):\n    if start_from <= 1:\n"
        return "\n".join([*parts, *functions, head + _indent(_indent(f"{step}\nprint('{END}')"))])

    def _definition(self, name: str) -> str:
        """A class, in a handler: Python refuses some."""
        self._words["new"] = [name]
        if self._pick.random() < 0.35:
            text = self._at_module("special", 6)
        else:
            members = [self._at_module("member", 6) for _ in range(self._pick.randint(2, 7))]
            text = self._at_module("header", 3) + "\n" + _indent("\n".join(members))
        return _guarded(text, f"{name} = Odd")

    def _act(self, number: int) -> tuple[str, str]:
        """Some statements in a function with its call, or to stand in the step."""
        if self._pick.random() < 0.5:
            inside = self._inside("v0 v1 v2", "v0 v1 v2", "act", 8)
            body = f"v2 = {self._pick.choice(self._classes)}\n{inside}"
            given = f"v1, {self._at_module('expr', 3)}"
            return f"def act{number}(v0, v1):\n{_indent(body)}", _guarded(f"fuel[0] = 200\nact{number}({given})")
        return "", _guarded("fuel[0] = 200\n" + self._inside("v0 v1 v2", "v0 v1 v2", "act", 8).replace("del v", "v"))

    def _at_module(self, rule: str, depth: int = 4) -> str:
        return self._inside("s0 s1 s2", "s0 s1", rule, depth)

    def _inside(self, variables: str, names: str, rule: str, depth: int) -> str:
        self._words |= {"loc": variables.split(), "name": names.split()}
        return self._expand(rule, depth)

    def _expand(self, rule: str, depth: int) -> str:
        if rule == "fresh":
            self._fresh += 1
            return f"got{self._fresh}"
        if rule in _GIVEN:
            return self._pick.choice(self._words[rule])
        fitting = [p for p, d in zip(self._rules[rule], self._depths[rule], strict=True) if d <= depth]
        if not fitting:
            fitting = [min(zip(self._depths[rule], self._rules[rule], strict=True))[1]]
        production = self._pick.choice(fitting)
        around = self._words
        if rule in ("member", "special") and (parameters := _parameters(production)):
            self._words = around | {"loc": parameters, "name": ["t0", "t1"]}
        text = "\n".join(self._expand_line(line, depth - 1) for line in production.split("\n"))
        self._words = around
        return text

    def _expand_line(self, line: str, depth: int) -> str:
        alone = _REFERENCE.fullmatch(line.strip())
        if alone:
            return textwrap.indent(self._expand(alone[1], depth), line[: len(line) - len(line.lstrip())])
        return _REFERENCE.sub(lambda found: self._expand(found[1], depth), line)


def _parameters(production: str) -> list[str]:
    """Return the parameters that all functions of a production have; empty if it defines none."""
    heads = [line for line in production.split("\n") if line.lstrip().startswith(("def ", "async def "))]
    return [word for word in ("self", "cls", "o", "p") if heads and all(re.search(rf"\b{word}\b", h) for h in heads)]


def _indent(text: str) -> str:
    return textwrap.indent(text, "    ")


def _guarded(text: str, otherwise: str = "pass") -> str:
    return f"try:\n{_indent(text)}\nexcept Exception as e:\n    told(e)\n    {otherwise}"


def make_program(pick: random.Random) -> str:
    """A program that Python can compile; every other one has threads."""
    prelude, rules = pick.choice([(PRELUDE, _PLAIN_RULES), (PRELUDE + THREAD_PRELUDE, RULES)])
    while True:
        text = ProgramMaker(pick, rules).make(prelude)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "program", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        return text


SECONDS: Final = 5
hide_addresses()  # as in the cage
_sandbox = Sandbox(Limits(wall=20, cpu=10, output=1_000_000))


class NoAgent:
    """An agent for programs that call none."""


def _stop(*_: object) -> None:
    raise TimeoutError("the program does not end in Python")


threading.excepthook = lambda error: None  # a plan prints such an error, Python writes it elsewhere


def _end_threads(before: set[threading.Thread]) -> None:
    """Wait for what a program's threads still print."""
    end = time.monotonic() + 2
    for thread in set(threading.enumerate()) - before:
        thread.join(max(0.0, end - time.monotonic()))


def output_in_python(source: str) -> str:
    """What Python prints, and the error that ends the program. The program comes from this module's grammar."""
    out = io.StringIO()
    threads = set(threading.enumerate())
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            space: dict[str, Callable[..., object]] = {"__name__": "__main__"}  # type: ignore[dict-item]
            exec(compile(source, "program", "exec", dont_inherit=True), space)
            space["solution"](None)
            _end_threads(threads)
    except Exception as error:
        out.write(f"{type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return out.getvalue()


def output_as_plan(source: str) -> str | Rejected:
    """What the plan prints, and the error that ends it."""
    plan = _sandbox.check(source, NoAgent)
    if isinstance(plan, Rejected):
        return plan
    outcome = _sandbox.run(plan, NoAgent(), str)
    if isinstance(outcome, Failed):
        return f"{outcome.output}{outcome.error}: {outcome.message}"
    if isinstance(outcome, Stopped):
        return f"{outcome.output}stopped: {outcome.limit} {outcome.message}"
    return outcome.output


_NOISE: Final = re.compile(
    r"^Exception in (?:server|worker|Thread-\d+)(?: \(\w+\))?: .*\n|^getattr __(?:deepcopy|setstate)__\n"
    r"|(?:solution\.)?<locals>\.|\b(?:types|__main__)\.(?=K)|\b_collections\.|\b_thread\.|\b_(?=local\b)|; it has a key of this name: write \['\w+'\]",
    re.MULTILINE,
)


def comparable(output: str) -> str:
    """An output without the function in which a plan's steps stand, and without the modules of classes."""
    return _NOISE.sub("", output.partition(END)[0]).strip()


def judge_program(source: str) -> None:
    """Assert that a program does as a plan what it does in Python."""
    expected = output_in_python(source)
    if "does not end in Python" in expected:
        return
    output = output_as_plan(source)
    assert not isinstance(output, Rejected), f"it is refused: {'; '.join(map(str, output.diagnostics))}"
    expected, output = comparable(expected), comparable(output)
    assert output == expected, "\n".join(
        difflib.unified_diff(expected.split("\n"), output.split("\n"), "Python", "plan")
    )


HOSTILE_RULES: Final = {
    **RULES,
    **{rule: RULES.get(rule, []) + lines for rule, lines in _read_rules("hostile").items()},
}

WORD: Final = "CANARY"
"""What a hostile program prints once it has reached what no plan may have. Its source does not contain the word."""

HOSTILE_PRELUDE: Final = """\
import bisect, collections, csv, datetime, decimal, heapq, io, logging, pprint, re, statistics, string, textwrap, traceback
DOORS = '''{doors}'''.split()
WALLS = 'module code frame traceback cell TextIOWrapper Scheduler PlanRuntime SizeGuard ModuleMaker ThreadSwitch StandingThread Wait EndedIteration StarredCall'.split()
box = queue.Queue()
def spawn(o, p):
    for _ in range(p):
        threading.Thread(target=o, daemon=True).start()
def spy(*o, **p):
    print('CANA' 'RY', 'a forbidden method runs')
def probe(o, deep=2):
    if type(o).__name__ in WALLS:
        print('CANA' 'RY', 'reached', type(o).__name__)
    found = []
    for name in DOORS if deep else ():
        try:
            found.append(getattr(o, name))
        except Exception:
            continue
    if isinstance(o, (list, tuple)):
        found += o[:3]
    if isinstance(o, dict):
        found += list(o.values())[:9]
    for part in found if deep else ():
        probe(part, deep - 1)
    return o
"""


def make_hostile(pick: random.Random) -> str:
    """A program whose classes and calls look for a way out of the plan language."""
    maker = ProgramMaker(pick, HOSTILE_RULES)
    doors = " ".join(HOSTILE_RULES["door"])
    text = maker.make(PRELUDE + THREAD_PRELUDE + HOSTILE_PRELUDE.format(doors=doors))
    second = f"    if start_from <= 2:\n        {pick.choice(['assert v0 == v1, v2', 'probe(v1)', 'v3 = [v0, {1: v1}, v2]'])}"
    return f"{text}\n{second}\n"


def judge_hostile(source: str) -> None:
    """Assert that a hostile program reaches nothing, and that its run ends with an outcome."""
    world = SampleWalker()
    outcome = _sandbox.run(source, world, answer_function(world))
    assert isinstance(outcome, Finished | Failed | Stopped | Rejected), outcome
    if isinstance(outcome, Rejected):
        return
    if isinstance(outcome, Stopped):
        assert outcome.limit != "worker" or "crashed" in outcome.message, outcome
    told = f"{outcome.output}\n{getattr(outcome, 'message', '')}"
    assert WORD not in told, re.findall(f".*{WORD}.*", told)
