"""What a plan can reach at run time, and that nothing it does hides how it ended."""

from __future__ import annotations

import ast
import sys

import pytest
from support.guarded_plans import STARTED, InProcessHost, accepted, message, plan, run

from codeplan.sandbox.language.compilation import RejectedPlanError, compile_plan
from codeplan.sandbox.runtime.guards import CurrentRun, GuardedContext, PlanStopper
from codeplan.sandbox.runtime.namespace import literal_eval
from codeplan.sandbox.runtime.termination import (
    AssertionFailure,
    LimitExceeded,
    PlanTermination,
    ReplanRequested,
    find_limit,
)


def limit(body: str, **settings: int) -> LimitExceeded:
    """Return the limit at which these statements stop."""
    ran = run(plan(body), **settings)  # type: ignore[arg-type]
    assert isinstance(ran.error, LimitExceeded), (ran.error, ran.output)
    assert ran.host.failure is ran.error
    return ran.error


# ---------------------------------------------------------------------- assertions


ASSERTIONS = {
    "in try": "try:\n    assert False, 'no'\nexcept Exception:\n    print('caught')",
    "in a with whose exit hides errors": (
        "class Hides:\n    def __enter__(self): pass\n    def __exit__(self, *error): return True\n"
        "with Hides():\n    assert False, 'no'\nprint('hidden')"
    ),
    "in a bare except": "try:\n    assert False, 'no'\nexcept:\n    print('caught')",
    "in except*": "try:\n    assert False, 'no'\nexcept* Exception:\n    print('caught')",
    "in a generator that is asked for its next value": (
        "def g():\n    try:\n        yield 1\n        assert False, 'no'\n    except Exception:\n        yield 2\n"
        "print(*g())"
    ),
    "in a sort key": (
        "def f(x):\n    assert False, 'no'\ntry:\n    sorted([1, 2], key=f)\nexcept Exception:\n    print('caught')"
    ),
    "with a message that fails with an error that has no text": (
        "try:\n    assert False, {}[10 ** 5000]\nexcept Exception:\n    print('caught')"
    ),
    "with a number as its message that is too long to be written": (
        f"try:\n    assert False, 0x{'f' * 5000}\nexcept Exception:\n    print('caught')"
    ),
    "with a message that fails where Exception is another class": (
        "Exception = KeyError\ntry:\n    assert False, f'{1 // 0}'\nexcept ZeroDivisionError:\n    print('caught')"
    ),
    "lost by a finally that returns": "def f():\n    try:\n        assert False, 'no'\n    finally:\n        return 1\nprint(f())",
    "lost by a finally that breaks": "while True:\n    try:\n        assert False, 'no'\n    finally:\n        break\nprint(1)",
    "raised again into a finally that continues": (
        "for i in [1]:\n    try:\n        try:\n            assert False, 'no'\n        except AssertionError:\n"
        "            raise\n    finally:\n        if i:\n            continue\nprint(1)"
    ),
    "hidden by a finally that raises": (
        "try:\n    try:\n        assert False, 'no'\n    finally:\n"
        "        raise ValueError\nexcept ValueError:\n    print('caught')"
    ),
    "raised again before BaseException": (
        "try:\n    try:\n        assert False, 'no'\n    except AssertionError:\n        raise\n"
        "except BaseException:\n    print('caught')"
    ),
    "raised again by a function, then hidden by a finally that raises": (
        "def again():\n    raise\ntry:\n    try:\n        try:\n            assert False, 'no'\n"
        "        except AssertionError:\n            again()\n    finally:\n        raise ValueError\n"
        "except ValueError:\n    print('caught')"
    ),
    "in a generator that is dropped before another assertion is caught": (
        "def g():\n    try:\n        yield 1\n    finally:\n        assert False, 'no'\nnext(g())\n"
        "try:\n    assert False, 'second'\nexcept AssertionError:\n    print('caught')"
    ),
    "while it waits in a generator for its finally": (
        "def g():\n    try:\n        assert False, 'no'\n    finally:\n        yield 1\nwaits = g()\nnext(waits)\n"
        "try:\n    agent.goto('x')\nexcept AssertionError:\n    print('caught')"
    ),
    "by the type of a handler that a function computes": (
        "def kinds():\n    try:\n        agent.goto('x')\n    except AssertionError:\n        return ValueError\n"
        "try:\n    try:\n        assert False, 'no'\n    except kinds():\n        pass\n"
        "except AssertionError:\n    print('caught')"
    ),
}
MESSAGES = {"by the text of its message": "M()", "by its message": "f()"}
for _where, _message in MESSAGES.items():
    for _error in ("SystemExit", "GeneratorExit", "KeyboardInterrupt", "BaseException", "MemoryError"):
        ASSERTIONS[f"with {_error} {_where}"] = (
            f"def f(*_):\n    raise {_error}\nclass M:\n    __str__ = f\n"
            f"try:\n    assert False, {_message}\nexcept BaseException:\n    print('caught')"
        )

WAITING = {
    "a finally that returns": "def f():\n    try:\n        assert False, 'no'\n    finally:\n        nested()\n        return\nf()",
    "a finally that raises": (
        "try:\n    try:\n        assert False, 'no'\n    finally:\n        nested()\n        raise ValueError\n"
        "except ValueError:\n    pass"
    ),
    "an exit": (
        "class A:\n    def __enter__(self): pass\n    def __exit__(self, *error):\n        nested()\n        return True\n"
        "with A():\n    assert False, 'no'"
    ),
    "an exit that is awaited": (
        "import asyncio\nclass A:\n    async def __aenter__(self): pass\n"
        "    async def __aexit__(self, *error):\n        nested()\n        return True\n"
        "async def f():\n    async with A():\n        assert False, 'no'\nasyncio.run(f())"
    ),
    "what closing closes": (
        "from contextlib import closing\nclass A:\n    def close(self):\n        nested()\n        raise ValueError\n"
        "try:\n    with closing(A()):\n        assert False, 'no'\nexcept ValueError:\n    pass"
    ),
    "what an ExitStack calls": (
        "from contextlib import ExitStack\nwith ExitStack() as stack:\n    stack.push(lambda *error: True)\n"
        "    stack.callback(nested)\n    assert False, 'no'"
    ),
    "what an AsyncExitStack calls": (
        "import asyncio\nfrom contextlib import AsyncExitStack\nasync def leave():\n    nested()\n"
        "async def f():\n    async with AsyncExitStack() as stack:\n        stack.push(lambda *error: True)\n"
        "        stack.push_async_callback(leave)\n        stack.callback(nested)\n        assert False, 'no'\n"
        "asyncio.run(f())"
    ),
}
NESTED = {
    "a second assertion": "assert False, 'second'",
    "a call of the agent": "agent.goto('x')",
    "a handler of another error": "\n            try:\n                1 / 0\n            except ZeroDivisionError:\n                pass",
    "replan": "replan('x')",
}
for _place, _fails in WAITING.items():
    for _what, _does in NESTED.items():
        ASSERTIONS[f"by a handler around {_what} in {_place}"] = (
            f"def nested():\n    try:\n        if 1:\n            {_does.lstrip()}\n    except AssertionError:\n        pass\n"
            f"{_fails}\nagent.goto('x')\nprint('went on')"
        )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ASSERTIONS)
def test_a_failed_assertion_cannot_be_caught(name: str) -> None:
    ran = run(plan(ASSERTIONS[name]))
    assert isinstance(ran.host.failure, AssertionFailure)
    assert ran.host.failure.message.startswith(("no", "(the message itself could not be made"))
    assert isinstance(ran.error, AssertionFailure)
    assert ran.host.calls == []
    assert ran.output == ""


CAUGHT = {
    "by its name": "try:\n    assert False, 'no'\nexcept AssertionError as e:\n    print(type(e).__name__, e, e.args)",
    "by its name among others": "try:\n    assert False\nexcept (KeyError, AssertionError) as e:\n    print(repr(e))",
    "in another function": (
        "def f():\n    assert 0, 1\ntry:\n    f()\nexcept AssertionError as e:\n    print(str(e))\nelse:\n    print('no')"
    ),
    "in the context of a generator": (
        "from contextlib import contextmanager\n@contextmanager\ndef quiet():\n    try:\n        yield\n"
        "    except AssertionError as e:\n        print('quiet', e)\nwith quiet():\n    assert False, 'no'"
    ),
    "and raised again as another error": (
        "try:\n    try:\n        assert False, 'no'\n    except AssertionError as e:\n        raise ValueError('x') from e\n"
        "except ValueError as e:\n    print(e, repr(e.__cause__))"
    ),
    "and raised again to another handler that names it": (
        "try:\n    try:\n        assert False, 'no'\n    except AssertionError:\n        raise\n"
        "except AssertionError as e:\n    print(e)"
    ),
    "in a finally": (
        "try:\n    pass\nfinally:\n    try:\n        assert False, 'no'\n    except AssertionError as e:\n        print(e)"
    ),
    "after a function with a finally in the handler of another": (
        "def f():\n    try:\n        pass\n    finally:\n        print('f')\n"
        "for i in range(2):\n    try:\n        assert False, i\n    except AssertionError as e:\n        f()\n        print(e)"
    ),
    "that an ExitStack gives to a generator": (
        "from contextlib import contextmanager, ExitStack\n@contextmanager\ndef quiet():\n    try:\n        yield\n"
        "    except AssertionError as e:\n        print('quiet', e)\n"
        "with ExitStack() as stack:\n    stack.enter_context(quiet())\n    assert False, 'no'"
    ),
}


@pytest.mark.parametrize("name", CAUGHT)
def test_a_handler_that_names_it_catches_a_failed_assertion_as_in_python(name: str, capsys) -> None:
    exec(CAUGHT[name], {})
    ran = run(plan(CAUGHT[name] + "\nprint(agent.report())"))
    assert ran.error is None, ran.error
    assert ran.host.failure is None
    assert ran.output == capsys.readouterr().out + run(plan("print(agent.report())")).output


CLEANS_UP = {
    "a finally": "try:\n        assert False, 'no'\n    finally:\n        agent.goto('x')",
    "a finally with an assertion": "try:\n        assert False, 'no'\n    finally:\n        assert False, 'second'",
    "a handler of BaseException": "try:\n        assert False, 'no'\n    except BaseException:\n        agent.goto('x')",
    "an exit": (
        "class A:\n        def __enter__(self): pass\n        def __exit__(self, *error): agent.goto('x')\n"
        "    with A():\n        assert False, 'no'"
    ),
    "a call by an ExitStack": (
        "from contextlib import ExitStack\n    with ExitStack() as stack:\n"
        "        stack.callback(agent.goto, 'x')\n        assert False, 'no'"
    ),
    "a generator that the loop drops": (
        "def g():\n        try:\n            yield 1\n        finally:\n            agent.goto('x')\n"
        "    for each in g():\n        assert False, 'no'"
    ),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", CLEANS_UP)
def test_an_assertion_can_be_caught_beyond_code_that_it_passes(name: str) -> None:
    ran = run(plan(f"try:\n    {CLEANS_UP[name]}\nexcept AssertionError as e:\n    print(e)"))
    assert ran.error is None, ran.error
    assert ran.host.failure is None
    assert ran.output == "no\n"
    assert ran.host.calls == []


class OfNobody:
    """A class with an exit that no plan has marked, and that is none of the runtime's."""

    got: tuple[object, ...] = ()

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> bool:
        self.got = error
        return True

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *error: object) -> bool:
        return self.__exit__(*error)


@pytest.mark.parametrize("ends", [AssertionFailure("no"), ReplanRequested("why"), LimitExceeded("turns", 2, 1)])
def test_an_exit_that_is_not_known_gets_nothing_that_ends_the_plan(ends: PlanTermination) -> None:
    current = CurrentRun()
    current.begin(InProcessHost(), STARTED)
    manager, awaited = OfNobody(), OfNobody()

    async def wait() -> None:
        async with GuardedContext(PlanStopper(current), awaited):
            raise ends

    with pytest.raises(PlanTermination) as raised, GuardedContext(PlanStopper(current), manager):
        raise ends
    assert raised.value is ends
    with pytest.raises(PlanTermination) as raised:
        wait().send(None)
    assert raised.value is ends
    for kind, error, trace in (manager.got, awaited.got):
        assert kind is type(error) is (AssertionError if type(ends) is AssertionFailure else RuntimeError)
        assert trace is error.__traceback__ is None
        assert current.host.failure is ends


EDGES = {
    "an assertion": ("assert False, 'no'", AssertionFailure),
    "an assertion with a message to be made": ("assert False, f'{n}'", AssertionFailure),
    "an assertion in a function": ("fails()", AssertionFailure),
    "an assertion that is raised again": (
        "try:\n                assert False\n            except AssertionError:\n                raise",
        AssertionFailure,
    ),
    "replan": ("replan('no')", ReplanRequested),
}


@pytest.mark.parametrize("leave", ["except RecursionError", "except BaseException", "finally"])
@pytest.mark.parametrize("name", EDGES)
def test_a_plan_ends_also_where_no_further_call_fits(name: str, leave: str) -> None:
    end, kind = EDGES[name]
    for left in range(12):
        body = (
            "n = []\ndef fails():\n    assert False, 'no'\ndef deep():\n    try:\n        deep()\n"
            f"    except RecursionError:\n        n.append(1)\n        if len(n) < {left}:\n            raise\n"
            f"        try:\n            {end}\n        {leave}:\n            return\ndeep()\nprint('went on')"
        )
        ran = run(plan(body))
        assert type(ran.host.failure) is kind
        assert ran.output == ""


def test_a_class_keeps_no_variable_of_a_guard() -> None:
    class A:
        try:
            x = 1
        finally:
            y = 2

    ran = run(plan("class A:\n    try:\n        x = 1\n    finally:\n        y = 2\nprint(sorted(vars(A)))"))
    assert ran.output == f"{sorted(vars(A))}\n"


def test_an_assertion_followed_by_an_uncaught_error_is_still_recorded() -> None:
    ran = run(plan("try:\n    assert False, 'no'\nfinally:\n    raise ValueError"))
    assert isinstance(ran.error, ValueError)
    assert isinstance(ran.host.failure, AssertionFailure)


def test_a_plan_whose_assertion_failed_can_do_nothing_more() -> None:
    ran = run(plan("try:\n    assert False, 'no'\nfinally:\n    agent.goto('x')"))
    assert ran.host.calls == []
    assert isinstance(ran.error, AssertionFailure)


def test_an_assertions_message_is_made_only_when_it_fails() -> None:
    ran = run(plan("assert True, agent.goto('a')\nassert 1 > 2, f'not here: {agent.goto(\"b\")}'"))
    assert [c[1] for c in ran.host.calls] == [("b",)]
    assert isinstance(ran.error, AssertionFailure)
    assert ran.error.message.startswith("not here: You arrive at b")


@pytest.mark.parametrize(
    ("given", "expected"), [("assert 0", ""), ("assert 0, 5", "5"), ("assert 0, ('a', 1)", "('a', 1)")]
)
def test_an_assertions_message_is_converted_to_text(given: str, expected: str) -> None:
    error = run(plan(given)).error
    assert isinstance(error, AssertionFailure)
    assert error.message == expected


def test_an_error_in_an_assertions_message_does_not_replace_the_assertion() -> None:
    ran = run(plan("d = {}\ntry:\n    assert d, d['k']\nexcept KeyError:\n    print('caught')"))
    assert isinstance(ran.error, AssertionFailure)
    assert ran.error.message == "(the message itself could not be made: KeyError: 'k')"


@pytest.mark.parametrize(("length", "cut"), [(20_000, ""), (20_001, " … (cut)")])
def test_a_message_of_an_assertion_has_twenty_thousand_characters(length: int, cut: str) -> None:
    error = run(plan(f"assert False, 'x' * {length}")).error
    assert isinstance(error, AssertionFailure)
    assert error.message == "x" * min(length, 20_000) + cut


# ---------------------------------------------------------------------- items


@pytest.mark.parametrize(
    "made",
    [
        "[0, 1]",
        "{0: 0, 1: 1}",
        "Counter({0: 0, 1: 1})",
        "defaultdict(int, {0: 0, 1: 1})",
        "OrderedDict({0: 0, 1: 1})",
        "deque([0, 1])",
    ],
)
def test_a_plan_sets_and_deletes_items_of_lists_dicts_and_the_containers_of_collections(made: str) -> None:
    source = f"from collections import Counter, OrderedDict, defaultdict, deque\nx = {made}\n"
    ended = run(plan(source + "x[0] = 5\ny = x[0]\ndel x[0]\nz = len(x)"))
    assert ended.error is None
    assert (ended.variables["y"], ended.variables["z"]) == (5, 1)


# ---------------------------------------------------------------------- turns


TURNS = {
    "while": "while True:\n    pass",
    "while with else": "n = 0\nwhile n >= 0:\n    n += 1\nelse:\n    pass",
    "for": "for i in range(10 ** 9):\n    pass",
    "list comprehension": "x = [1 for a in range(10 ** 9) if a < 0]",
    "generator expression": "x = sum(1 for a in range(10 ** 9))",
    "comprehension in a comprehension's iterable": "x = [1 for a in [b for b in range(10 ** 9) if b < 0]]",
    "function that loops": "def f():\n    while True:\n        pass\nf()",
    "many calls of a function": "def f(n):\n    return 0 if n == 0 else f(n - 1) + f(n - 1)\nf(60)",
    "many calls of a lambda": "list(map(lambda x: x, range(10 ** 9)))",
    "loop that catches everything": (
        "while True:\n    try:\n        while True:\n            pass\n    except Exception:\n        continue"
    ),
    "finally that raises": (
        "while True:\n    try:\n        try:\n            while True:\n"
        "                pass\n        finally:\n            raise ValueError\n"
        "    except ValueError:\n        pass"
    ),
    "loop over an iterator that grows": "l = [1]\nfor x in l:\n    l.append(x)",
}


@pytest.mark.parametrize("name", TURNS)
def test_endless_work_stops_at_the_turn_limit(name: str) -> None:
    reached = limit(TURNS[name], turns=5000)
    assert (reached.limit, reached.value, reached.allowed) == ("turns", 5001, 5000)


def test_turns_are_counted_one_by_one() -> None:
    assert run(plan("for i in range(100):\n    pass"), turns=100).error is None
    assert limit("for i in range(101):\n    pass", turns=100).limit == "turns"


# ---------------------------------------------------------------------- growth and recursion


BOMBS = {
    "in place": "n = 10 ** 10\nx = 'a'\nx *= n",
    "in place, an item": "n = 10 ** 10\nx = ['a']\nx[0] *= n",
    "caught": "n = 10 ** 10\ntry:\n    x = 'a' * n\nexcept Exception:\n    print('caught')",
    "power of a power": "x = 10 ** 10 ** 10",
    "pow": "n = 10 ** 9\nx = pow(7, n)",
    "power in place": "n = 10 ** 9\nx = 10\nx **= n",
    "power of a fraction": "from fractions import Fraction\nx = 3 ** Fraction(-(10**9))",
    "shift in place": "x = 1\nx <<= 10 ** 10",
    "squaring": "x = 3\nfor i in range(100):\n    x = x * x",
    "f-string width": "n = 10 ** 10\nx = f'{1:>{n}}'",
    "f-string precision": "x = f'{1.5:.99999999f}'",
    "format": "x = format(1, '>9999999999')",
    "str.format": "x = '{:>9999999999}'.format(1)",
    "str.format with a nested width": "x = '{:>{}}'.format(1, 10 ** 10)",
    "percent": "n = 1\nx = '%9999999999d' % n",
    "percent with a constant": "x = '%99999999d' % 1",
    "percent with a constant, bytes": "x = b'%99999999d' % 1",
    "percent and star": "n = 10 ** 10\nx = '%*d' % (n, 1)",
    "percent and star, to the left": "n = -(10 ** 9)\nx = '%*d' % (n, 1)",
    "percent and a name": "x = '%(a(b))99999999d' % {'a(b)': 1}",
    "percent and a name with brackets in brackets": "x = '%(a((b)))99999999d' % {'a((b))': 1}",
    "percent and a name with many brackets": "k = '(' * 999 + ')' * 999\nx = f'%({k})99999999d' % {k: 1}",
    "percent in bytes and a name with a percent": "x = b'%(%((1)))99999999d' % {b'%((1))': 1}",
    "percent in a variable": "t = '%9999999999d'\nx = t % (1,)",
    "ljust": "x = 'a'.ljust(10 ** 10)",
    "zfill unbound": "x = str.zfill('a', 10 ** 10)",
    "center of bytes": "x = b'a'.center(10 ** 10)",
    "expandtabs": "x = '\\t'.expandtabs(tabsize=10 ** 10)",
    "math.prod": "import math\nx = math.prod([10 ** 1000] * 100000)",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_huge_value_from_cheap_code_is_an_uncatchable_limit(name: str) -> None:
    accepted(plan(BOMBS[name]))
    assert limit(BOMBS[name]).limit == "memory"


LARGEST = {
    "text": ("n = {}\nx = 'ab' * n", 10_000_000),
    "bytes": ("n = {}\nx = b'ab' * n", 10_000_000),
    "list": ("n = {}\nx = [0] * n", 2_000_000),
    "tuple": ("n = {}\nx = n * (0,)", 2_000_000),
    "whole number by **": ("n = {}\nx = 1 ** n\ny = 2 ** n", 500_000),
    "whole number by <<": ("n = {}\nx = 1 << n", 999_999),
}


@pytest.mark.parametrize(("code", "largest"), LARGEST.values(), ids=LARGEST)
def test_the_largest_value_of_one_operation(code: str, largest: int) -> None:
    assert run(plan(code.format(largest) + "\nx = y = 0")).error is None
    assert limit(code.format(largest + 1)).limit == "memory"


def test_a_constant_factor_up_to_a_thousand_is_not_limited_and_a_larger_one_is() -> None:
    text = "t = 'a' * 1000\nt = t * 30\n"
    assert run(plan(text + "x = t * 1000\nn = len(x)\nx = ''")).variables["n"] == 30_000_000
    assert limit(text + "x = t * 1001").limit == "memory"
    assert limit(text + "x = 1001 * t").limit == "memory"


def test_a_constant_width_has_at_most_ten_thousand_characters() -> None:
    assert run(plan("n = len(f'{1:>10000}')")).variables["n"] == 10_000
    assert limit("x = f'{1:>10001}'").limit == "memory"


def test_a_handler_catches_too_deep_a_recursion_as_in_python() -> None:
    body = "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept Exception as e:\n    print(type(e).__name__)"
    assert run(plan(body)).output == "RecursionError\n"


def test_a_starred_call_uses_no_more_recursion_depth_than_another() -> None:
    for call in ("f(n + 1)", "f(*[n + 1])", "f(**{'n': n + 1})"):
        ran = run(plan(f"deepest = [0]\ndef f(n):\n    deepest[0] = n\n    return {call}\nf(0)"))
        assert ran.variables["deepest"][0] > sys.getrecursionlimit() * 0.8  # type: ignore[index]  # a list


def test_a_limit_behind_another_error_is_found() -> None:
    body = (
        "def f():\n    return 'a' * 10**11\ntry:\n    try:\n        f()\n    finally:\n"
        "        raise ValueError\nexcept ValueError:\n    print('caught')"
    )
    assert limit(body).limit == "memory"
    assert limit(body.replace("raise ValueError", "raise ValueError from KeyError()")).limit == "memory"


def test_a_limit_behind_hundreds_of_errors_is_found() -> None:
    body = (
        "def f(n):\n    try:\n        f(n - 1) if n else 'a' * 10**11\n    finally:\n        {}['x']\n"
        "try:\n    f(300)\nexcept KeyError:\n    print('caught')"
    )
    assert limit(body).limit == "memory"


def test_a_limit_hidden_by_a_finally_is_recorded() -> None:
    body = "def f(x):\n    try:\n        'a' * 10**11\n    finally:\n        next(iter(()))\nseen = list(map(f, [1]))\n"
    reached = run(plan(body)).host.failure
    assert isinstance(reached, LimitExceeded)
    assert reached.limit == "memory"
    assert run(plan(body + "try:\n    print('more')\nexcept Exception:\n    pass")).error is not None


HIDING = {
    "a dialect that is registered": "csv.register_dialect('own', Full())",
    "the dialect of a reader": "csv.reader([], Full())",
    "a named dialect of a reader": "csv.DictReader([], dialect=Full())",
    "the dialect of a writer": "csv.writer(io.StringIO(), Full())",
    "the dialect of a class": "type('D', (csv.excel,), {'delimiter': property(Full.fill)})()",
    **{f"struct.pack with {code}": f"struct.pack('<i2{code}', 1, 2, Full())" for code in "def"},
    "struct.pack_into": "struct.pack_into('d', bytearray(8), 0, Full())",
    "a Fraction of the plan's numbers": (
        "struct.pack('d', fractions.Fraction(type('F', (float,), {'as_integer_ratio': lambda f: (I(1), I(2))})(0.5)))"
    ),
    "pack of a Struct": "struct.Struct('?3sxf').pack(True, b'a', Full())",
    "pack_into of a Struct": "struct.Struct('d').pack_into(bytearray(8), 0, Full())",
    **{f"islice of {n} bounds": f"itertools.islice([], *[1] * {n - 1}, Full())" for n in (1, 2, 3)},
    **{f"bytes with {code}": f"b'%d %%%*.1{code}' % (1, 2, Full())" for code in "eEfFgG"},
    "bytes with one value": "b'%f' % Full()",
    "bytes with names": "b'%(a)s %(b)f' % {b'a': b'x', b'b': Full()}",
    "bytes with names in a mapping of the plan": "b'%(b)f' % type('M', (dict,), {})({b'b': Full()})",
    "a bytearray": "bytearray(b'%f') % Full()",
    "bytes in place": "change_in_place(b'%f')",
    "operator.mod": "operator.mod(b'%f', Full())",
    "operator.imod": "operator.imod(b'%f', Full())",
    "children of an element": "ET.Element('a').extend(Full())",
    "children written to a slice": "operator.setitem(ET.Element('a'), slice(0), Full())",
}


@pytest.mark.parametrize("way", HIDING.values(), ids=HIDING)
def test_no_function_in_c_hides_a_limit_behind_an_error_of_its_own(way: str) -> None:
    body = (
        "import csv, fractions, io, itertools, operator, struct\nimport xml.etree.ElementTree as ET\nclass Full:\n"
        "    def fill(self, *given):\n        return bytes(2**62)\n"
        "    __float__ = __index__ = __getattr__ = __iter__ = fill\n"
        "class I(int):\n    __truediv__ = __int__ = Full.fill\n"
        "def change_in_place(t):\n    t %= Full()\n"
        f"try:\n    {way}\nexcept Exception:\n    pass\nprint('on')"
    )
    assert limit(body).limit == "memory"


JUMPS = {
    "a limit": "'a' * 10**11",
    "a limit inside of a function": "f()",
    "turns": "while True:\n    pass",
    "a stop": "give_up('no')",
    "memory that Python lacks": "bytes(2**62)",
}


@pytest.mark.parametrize("jump", ["break", "continue"])
@pytest.mark.parametrize("name", JUMPS)
def test_a_jump_out_of_a_finally_loses_no_end_of_the_plan(name: str, jump: str) -> None:
    ends = JUMPS[name].replace("\n", "\n        ")
    body = f"def f():\n    return 'a' * 10**11\nfor i in range(9):\n    try:\n        {ends}\n    finally:\n        {jump}\nprint(1)"
    ran = run(plan(body), turns=1000)
    assert isinstance(ran.error, PlanTermination)
    assert ran.error is ran.host.failure
    assert ran.output == ""


def test_a_handler_of_memory_errors_catches_no_limit() -> None:
    assert limit("try:\n    x = 'a' * 10**11\nexcept MemoryError:\n    print('caught')").limit == "memory"
    ran = run(plan("try:\n    x = bytes(2**62)\nexcept MemoryError:\n    print('caught')"))
    assert find_limit(ran.error) is not None
    assert ran.output == ""


def test_a_finally_runs_to_its_end_after_a_limit() -> None:
    body = "done = []\ntry:\n    while True:\n        pass\nfinally:\n    done.append('finally')"
    ran = run(plan(body), turns=10)
    assert isinstance(ran.error, LimitExceeded)
    assert ran.variables["done"] == ["finally"]


def test_a_circular_chain_of_errors_is_handled() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__context__ = second, first
    assert find_limit(first) is None


# ---------------------------------------------------------------------- attributes, items and values


OUT_OF_REACH = {
    "a name made at run time": "getattr('a', '__subcl' + 'asses__')",
    "a default does not help": "print(getattr('a', '_x', 'safe'))",
    "frames of generators": "getattr((x for x in []), 'gi_fr' + 'ame')",
    "code of functions": "def f():\n    pass\ngetattr(f, 'func_' + 'code')",
    "exception fields": "try:\n    {}.nothing\nexcept AttributeError as e:\n    e.obj",
    "tracebacks": "try:\n    1 / 0\nexcept Exception as e:\n    getattr(e, '__trace' + 'back__')",
    "module internals": "import re\nre.enum",
    "format with attributes": "'{0.goto.__func__}'.format(agent)",
    "format with items of a proxy": "'{0[goto]}'.format(agent)",
    "format with a field that is none": "'{a[b]c}'.format(a={'b': 1})",
    "format_map with a mapping of its own": "from collections import defaultdict\n'{a.x}'.format_map(defaultdict(str))",
    "unbound format": "str.format('{0.__reduce__}', 1)",
    "print to a file": "print('x', file=agent)",
    "items of a module": "import re\nre['x'] = 1",
    "codecs": "'a'.encode('idna')",
    "codecs of bytes": "b'a'.decode('zlib')",
    "an object of the type of the agent": "type(agent)()",
    "json with a class": "import json\njson.dumps(1, cls=dict)",
    "random's class of the system": "import random\nrandom.SystemRandom",
    "a method of a type that is not there": "dict.mro()",
    "a method in Python of another type's values": "from collections import Counter\nCounter.copy(dict)",
}


@pytest.mark.parametrize("name", OUT_OF_REACH)
def test_access_to_anything_forbidden_raises_in_the_plan(name: str) -> None:
    said = message(OUT_OF_REACH[name])
    assert said
    if "default" not in name:
        assert said.split()[0] in {"AttributeError", "TypeError", "ValueError", "LookupError", "KeyError"}
    assert " at 0x" not in said


def test_the_agent_has_no_internals() -> None:
    ran = run(plan("print(agent, repr(agent), f'{agent!r}', agent == 1, {agent: 1}[agent], [agent])"))
    assert ran.output == "<agent> <agent> <agent> False 1 [<agent>]\n"


def test_an_unknown_agent_name_error_lists_the_known_names() -> None:
    assert (
        message("a = agent\na.fly()")
        == "AttributeError the agent has no 'fly'; it has: goto, holding, location, receptacles, report, take"
    )


@pytest.mark.parametrize(
    "value", ["len", "lambda: 1", "{1: 2}", "{1, 2}", "b'x'", "agent", "1j", "ValueError()", "[[[{'a': print}]]]"]
)
def test_only_plain_data_reaches_the_agent(value: str) -> None:
    ran = run(plan(f"agent.goto({value})"))
    assert isinstance(ran.error, TypeError)
    assert "agent.goto was given a" in str(ran.error)
    assert ran.host.calls == []


def test_cyclic_and_bulky_data_does_not_reach_the_agent() -> None:
    assert "deeper than 32" in message("l = []\nl.append(l)\nagent.goto(l)")
    assert "more than 20,000 values" in message("l = [0] * 2_000_000\nagent.goto(l)")
    assert "more than 20,000 values" in message("l = [0]\nfor i in range(19):\n    l = [l, l]\nagent.goto(l)")


def test_ask_llm_takes_a_text() -> None:
    assert message("ask_llm(['a'])") == "TypeError ask_llm takes one text, not a list; write ask_llm(f'…')"


# ---------------------------------------------------------------------- literal_eval


@pytest.mark.parametrize("text", ["(" * 100_000, "[" * 90 + "]" * 90, "1+" * 50_000 + "1j", "'" + "a" * 200_000 + "'"])
def test_hostile_literals_end_in_a_plain_error(text: str) -> None:
    with pytest.raises(ValueError, match="literal_eval cannot read") as caught:
        literal_eval(text)
    assert find_limit(caught.value) is None
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", ["", "desk 1", "['a'", "1 + 1", "{[]: 1}", "a\0b", "__import__('os')", "'\\x'"])
def test_a_malformed_literal_raises_pythons_exception_with_its_start(text: str) -> None:
    with pytest.raises(Exception) as python:
        ast.literal_eval(text)
    with pytest.raises(Exception, match="it is not a Python literal") as ours:
        literal_eval(text)
    assert ours.type is python.type


@pytest.mark.parametrize("value", [["a"], 3, None])
def test_literal_eval_of_a_value_says_to_use_it_as_it_is(value: object) -> None:
    with pytest.raises(ValueError, match=f"takes a text, not {type(value).__name__}"):
        literal_eval(value)


# ---------------------------------------------------------------------- the namespace


STEPS = """
def solution(agent, start_from=1):
    base = 10
    def twice(x):
        return 2 * x
    if start_from <= 1:
        seen = ['mug']
        it = iter(seen)
        total = 0
        for i in range(3):
            total += i
        assert seen
    if start_from <= 2:
        total += base
        print(twice(total), seen, i)
        assert total
"""


def test_all_parts_of_a_plan_share_one_namespace() -> None:
    ran = run(STEPS)
    assert ran.output == "26 ['mug'] 2\n"
    assert set(ran.variables) == {"base", "seen", "total", "i", "it", "twice"}


def test_a_generator_that_crosses_a_step_reads_current_values() -> None:
    source = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        most = 3\n"
        "        few = (n for n in range(9) if n < most)\n        assert few\n"
        "    if start_from <= 2:\n        most = 5\n        print(list(few))\n        assert most\n"
    )
    assert run(source).output == "[0, 1, 2, 3, 4]\n"


def test_a_generator_that_crosses_a_step_sets_names_for_the_later_step() -> None:
    source = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        few = (last := n for n in [1, 2])\n"
        "        assert next(few)\n    if start_from <= 2:\n        print(next(few), last)\n        assert few\n"
    )
    assert run(source).output == "2 2\n"


def test_a_step_resumes_with_restored_variables() -> None:
    ran = run(
        STEPS, start_from=2, variables={"seen": ["cup"], "total": 5, "i": 9, "agent": 1, "_x": 2, "__builtins__": {}}
    )
    assert ran.output == "30 ['cup'] 9\n"


def test_reading_a_dropped_name_says_that_it_was_not_saved() -> None:
    source = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n"
        "        it = iter([1])\n        assert it\n    if start_from <= 2:\n"
        "        assert next(it)\n"
    )
    ran = run(source, start_from=2, dropped={"it": "an iterator"})
    assert isinstance(ran.error, NameError)
    assert str(ran.error) == "it was not saved (an iterator); compute it again in this step"


def test_an_undefined_name_is_a_name_error_even_if_others_were_dropped() -> None:
    ran = run(plan("if False:\n    x = 1\nprint(x)"), dropped={"y": "a function"})
    assert isinstance(ran.error, NameError)
    assert "'x' is not defined" in str(ran.error)


def test_variables_are_kept_up_to_an_error_an_assertion_and_a_limit() -> None:
    failed = run(plan("a = 1\nfor b in range(5):\n    a += b\n    if b == 2:\n        raise ValueError\nd = 1"))
    assert failed.variables == {"a": 4, "b": 2}
    assert run(plan("a = 1\nassert a > 1")).variables == {"a": 1}
    assert run(plan("a = 1\nwhile True:\n    a += 1"), turns=9).variables == {"a": 10}


def test_a_deleted_variable_is_gone() -> None:
    assert run(plan("a = 1\nb = 2\ndel a"), variables={"a": 7}).variables == {"b": 2}


def test_shadowing_builtins_never_breaks_the_guards() -> None:
    body = (
        "getattr = len = iter = type = Exception = print_ = None\nx = 'a'.upper()\n"
        "for i in range(3):\n    x += str(i)\nprint(x, [c for c in x])"
    )
    assert run(plan(body)).output == "A012 ['A', '0', '1', '2']\n"


def test_imports_bind_their_names_on_every_start() -> None:
    source = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n"
        "        from math import floor as down\n        assert down\n"
        "    if start_from <= 2:\n        print(down(2.5))\n        assert True\n"
    )
    ran = run(source, start_from=2)
    assert ran.output == "2\n"
    assert ran.variables == {}


def test_methods_whose_own_code_imports_work() -> None:
    body = (
        "import re\nswap = re.compile(r'(on) (desk)')\n"
        r"print(swap.sub(r'\2 \1', 'on desk'), swap.match('on desk').expand(r'\2'), 'é'.encode('ascii', 'namereplace'))"
    )
    assert run(plan(body)).output == "desk on desk b'\\\\N{LATIN SMALL LETTER E WITH ACUTE}'\n"


def test_type_accepts_the_containers_of_collections() -> None:
    body = "print([type(x) == dict for x in (Counter(), OrderedDict(), defaultdict(int), {})], type(deque()) is deque)"
    assert run(plan(body)).output == "[False, False, False, True] True\n"


@pytest.mark.parametrize("sign", ["+", "*", "%", "**", "<<"])
def test_an_item_is_read_before_the_value_that_changes_it_is_computed(sign: str) -> None:
    ran = run(plan(f"a = [5]\ndef f():\n    a[0] = 100\n    return 2\na[0] {sign}= f()"))
    assert ran.variables["a"] == [eval(f"5 {sign} 2")]


def test_compiling_alone_rejects_forbidden_syntax() -> None:
    with pytest.raises(RejectedPlanError) as caught:
        compile_plan(plan("x = ().__subclasses__"))
    assert [d.rule for d in caught.value.diagnostics] == ["language"]
    with pytest.raises(RejectedPlanError, match="no function `solution`"):
        compile_plan("x = 1")


def test_a_plan_cannot_name_the_exceptions_that_end_it() -> None:
    assert not issubclass(PlanTermination, Exception)


def test_a_bool_has_a_numbers_methods() -> None:
    assert run(plan("print(True.bit_length(), (6).as_integer_ratio(), False.conjugate())")).output == "1 (6, 1) 0\n"
    assert run(plan("print(True.to_bytes(1, 'big'), bool.from_bytes(b'a', 'big'))")).output == "b'\\x01' True\n"
