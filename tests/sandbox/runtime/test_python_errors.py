"""Errors in a plan have Python's own messages, since a model repairs its plan by them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict

import pytest
from support.guarded_plans import message, run


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("t = (1, 2)\ndel t[0]", "TypeError 'tuple' object doesn't support item deletion"),
        ("t = (1, 2)\nt[0] = 5", "TypeError 'tuple' object does not support item assignment"),
        ("t = 5\ndel t[0]", "TypeError 'int' object does not support item deletion"),
        ("t = None\nt['k'] += 1", "TypeError 'NoneType' object is not subscriptable"),
        ("t = 5\nt['k'] *= 2", "TypeError 'int' object is not subscriptable"),
        ("t = ()\nt[0] += 1", "IndexError tuple index out of range"),
        ("agent[0] = 1", "TypeError 'Agent' object does not support item assignment"),
        ("t = {'a': 1}\nt.b", "AttributeError 'dict' object has no attribute 'b'"),
        (
            "t = {'a': 1}\nt.a",
            "AttributeError 'dict' object has no attribute 'a'; it has a key of this name: write ['a']",
        ),
    ],
)
def test_item_assignment_to_immutable_values_raises_pythons_error(body: str, said: str) -> None:
    assert message(body) == said


ITERATORS = ["'a'", "'é'", "b''", "[]", "()", "{}", "set()", "range(0)", "map(len, [])", "zip()", "enumerate([])"]


@pytest.mark.parametrize("made", ITERATORS)
def test_attributes_of_iterators_are_refused_in_pythons_words(made: str) -> None:
    with pytest.raises(AttributeError) as refused:
        iter(eval(made)).c = 1
    assert message(f"t = iter({made})\nt.c = 1") == f"AttributeError {refused.value}"


def test_a_list_in_a_tuple_grows_before_the_tuple_refuses() -> None:
    assert message("t = ([1],)\ntry:\n    t[0] += [2]\nfinally:\n    print(t)").startswith("([1, 2],)\nTypeError")


NAMED = """
def outside(x):
    def within(y):
        return y
    return within
def solution(agent, start_from=1):
    def early():
        return late
    def helper(x):
        return lambda y: y
    late = helper
    if start_from <= 1:
        def local(x):
            return x
        for wrong in (outside, outside(1), early()(1), helper, local, print):
            try:
                wrong() if wrong is not print else wrong(sep=5)
            except TypeError as e:
                print(e)
        print(str(local).split(' at ')[0])
        assert late
"""


MEMBERS = """
import ast, asyncio, concurrent.futures, contextlib, csv, dataclasses, functools, logging, queue, random, threading, time, typing
PARTS = [ast, asyncio, concurrent.futures, contextlib, csv, dataclasses, functools, logging, queue, random, threading, time, typing]
OBJECTS = [threading.Event(), threading.Condition(), queue.Queue(), concurrent.futures.ThreadPoolExecutor(), concurrent.futures.Future()]
OBJECTS += [asyncio.Lock(), asyncio.Queue(), asyncio.Event(), threading.Thread(), threading.Timer(1, print), 'x', []]
def solution(agent, start_from=1):
    called = [type, getattr, setattr, hasattr, dir, vars, eval, format, pow, hash, id, locals, print, len, each]
    called += [getattr(part, name) for part in PARTS + OBJECTS for name in dir(part) if not name.startswith('_')]
    for call in called:
        try:
            call(**1)
        except TypeError as error:
            print(error)
"""


def test_errors_call_the_runtime_s_functions_as_python_does() -> None:
    said = run(MEMBERS).output
    assert "queue.Queue.get() argument after ** must be a mapping, not int" in said
    assert said.count("must be a mapping") > 200
    assert "codeplan" not in said
    assert "<locals>" not in said


def test_errors_call_a_plans_functions_as_python_does() -> None:
    assert run(NAMED).output.splitlines() == [
        "outside() missing 1 required positional argument: 'x'",
        "outside.<locals>.within() missing 1 required positional argument: 'y'",
        "solution.<locals>.helper.<locals>.<lambda>() missing 1 required positional argument: 'y'",
        "solution.<locals>.helper() missing 1 required positional argument: 'x'",
        "solution.<locals>.local() missing 1 required positional argument: 'x'",
        "sep must be None or a string, not int",
        "<function solution.<locals>.local",
    ]


@pytest.mark.parametrize("arguments", ["x=1", "sep=5", "'a', end=[]", "1, sep=None, end=None", "1, 2, sep='', end='-'"])
def test_print_accepts_what_pythons_print_accepts(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        eval(f"print({arguments})")
        expected = capsys.readouterr().out.strip()
    except TypeError as error:
        expected = f"TypeError {error}"
    assert message(f"print({arguments})") == expected


CALLS = (
    "'a'.center(3, 'xy')",
    "'a'.zfill()",
    "b'a'.rjust('x')",
    "'a'.encode('ascii', 'strict', 1)",
    "'é'.encode('ascii')",
    "b'a'.decode(encoding=None)",
    "pow(2, 'a')",
    "pow(2, -1, 4)",
    "pow(2, 3, x=1)",
    "getattr('a', 5)",
    "getattr('a', 'nothing')",
    "getattr('a', 'upper', None, 1)",
    "hasattr('a')",
    "format(1, 'q')",
    "type()",
    "iter(5)",
    "'{0} {}'.format(1, 2)",
    "'{} {0}'.format(1, 2)",
    "'{[0]} {0[0]}'.format([1])",
    "'{a[b]} {} {{}} {!r:>{w}}'.format(1, 'x', a={'b': 2}, w=5)",
    "'{[0]} {[k]}'.format('ab', {'k': 1})",
    "'{0[0][k]}'.format([{'k': 1}])",
    "'{0[0]x}'.format([1])",
    "'{:{:{}}}'.format(1, 2, 3)",
    "'{!x}'.format(1)",
    "'{'.format()",
    "'{99999999999999999999}'.format(1)",
    "'{\u00b2}'.format(1)",
    "'{a}{b}'.format_map(defaultdict(int))",
    "'{}'.format_map({})",
    "'{a}'.format_map(5)",
    "'%*d %d' % (8, 123456, 123456)",
    "'%.99999s %.0f' % ('ab', 1.5)",
    "'%.99999999999d' % 5",
    "'%.2147483647d' % 5",
    "'%.2000000000f' % float('inf')",
    "b'%.2147483648s' % b'ab'",
    "'%.*d' % (2**70, 5)",
    "format('ab', '.99999')",
    "format(0.5, '.2147483648g')",
    "format(5, '.99999999999d')",
    "json.loads('{')",
    "json.dumps({(1, 2): 3}, skipkeys=True)",
    "json.dumps(float('nan'), allow_nan=False)",
    "math.comb(2)",
    "re.match(5, 'a')",
    "defaultdict(int).nothing",
    "re.compile('a').nothing",
    "str.nothing",
    "Counter.copy()",
)
"""Some of the calls that ``test_calls_as_python`` makes by the thousand, right and wrong."""


@pytest.mark.parametrize("call", CALLS)
def test_a_call_says_what_python_says(call: str) -> None:
    names = {"json": json, "math": math, "re": re, "defaultdict": defaultdict, "Counter": Counter}
    try:
        expected = str(eval(call, names)).strip()
    except Exception as error:
        expected = f"{type(error).__name__} {error}"
    assert message(f"print({call})") == expected


def test_unsupported_uses_of_guarded_builtins_are_explained() -> None:
    assert message("type('A', (), {'__del__': 1})") == "TypeError a class of a plan cannot define '__del__'"
    assert message("id(1, 2)") == "TypeError id() takes exactly one argument (2 given)"
