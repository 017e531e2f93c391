"""What a plan's own methods can reach while the runtime looks at its objects: the end of a run, addresses, Enum."""

from __future__ import annotations

from support.caged import failed, finished, run

HOSTILE_ERROR = """
class Text(str):
    def __len__(self): raise ValueError('length')
    def __getitem__(self, key): raise ValueError('item')
class E(Exception):
    def __getattribute__(self, name): raise ValueError('hook')
    def __str__(self): return Text('told')
E.__name__ = Text('Named')
"""


def test_a_run_ends_with_its_error_whatever_methods_the_error_has() -> None:
    end = failed(run(f"{HOSTILE_ERROR}raise E('x')"))
    assert (end.error, end.message) == ("Named", "told")
    assert end.line is not None


def test_no_hash_tells_an_address() -> None:
    """Numbers in the order in which the plan asks: the same in each run."""
    body = """
class K: pass
k = K()
from collections import namedtuple
pair = namedtuple('pair', 'a b')
hashes = [object.__hash__(k), k.__hash__(), hash(k), tuple.__hash__((k,)), hash(pair(k, K)), hash(list[K]), K.__hash__(k)]
print(hashes, super(K, k).__hash__())"""
    outputs = {finished(run(body)).output for _ in range(3)}
    assert len(outputs) == 1


def test_no_class_of_a_plan_leads_to_pythons_own_enum() -> None:
    """It would make a class with any method, such as one that runs when an object is deleted."""
    body = """
from enum import IntEnum
class A(IntEnum):
    a = 1
made = []
for kind in A.__mro__:
    try:
        made.append(kind('X', {'__del__': lambda self: print('deleted')}))
    except (TypeError, ValueError) as error:
        print(kind.__name__, error)
print(made)"""
    assert finished(run(body)).output.endswith("[]\n")


def test_a_function_of_the_runtime_that_calls_locals_does_not_show_its_own() -> None:
    body = """
from concurrent.futures import ThreadPoolExecutor
x = 1
for name in (locals, vars, dir):
    print(list(ThreadPoolExecutor().submit(name).result()), [*each(name, [])])
print('x' in locals(), 'x' in vars(), 'x' in dir())"""
    assert finished(run(body)).output == "[] []\n[] []\n[] []\nTrue True True\n"
