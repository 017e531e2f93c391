"""Twenty thousand calls, right and wrong, give the same result or the same error in a plan as in plain Python."""

from __future__ import annotations

import ast
import collections
import json
import math
import random
import re
import string
import types
from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from support.guarded_plans import run

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES, guarded_text_methods
from codeplan.sandbox.runtime.guards import SizeGuard
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES, PREDEFINED_MEMBERS
from codeplan.sandbox.runtime.names import ALLOWED_EXCEPTIONS, GUARDED_BUILTINS, PLAIN_BUILTINS

pytestmark = pytest.mark.filterwarnings("ignore")


def apart(sign: str, text: str) -> list[str]:
    """Split a text at the signs."""
    return text.split(sign)


VALUES = apart(
    " | ",
    "0 | -1 | 7 | 2.5 | float('nan') | 1j | True | None | '' | 'ab' | 'a b' | '12' | b'' | b'ab' | [] | [3, 1] | [1, 'a'] | ()"
    " | (1, 'a') | {} | {'a': 1} | {1: 'x', 2: 'y'} | set() | {1} | frozenset({1}) | range(3) | slice(1, 2) | len | int"
    " | KeyError | ValueError('x') | (lambda x: x) | iter([1]) | (i for i in [1, 2]) | Counter('ab') | deque([1, 2])"
    " | defaultdict(int) | OrderedDict(a=1) | re.compile('a') | re.match('a', 'a') | {'a': 1}.items()",
)
OWNERS = apart(
    " ~ ",
    "'ab cd' ~ b'ab cd' ~ [3, 1, 2] ~ {'a': 1, 2: 'b'} ~ (1, 2) ~ {1, 2} ~ frozenset({1, 2}) ~ 5 ~ True"
    " ~ 2.5 ~ 1j ~ range(5) ~ slice(1, 2) ~ {'a': 1}.keys() ~ Counter('abca') ~ defaultdict(int)"
    " ~ OrderedDict(a=1, b=2) ~ deque([1, 2, 3]) ~ re.compile('(a)(?P<n>b)?')"
    " ~ re.match('(a)(?P<n>b)?', 'abc')",
)
OPERATORS = apart(" ", "+ - * / // % ** << >> & | ^ @ < <= == != > >= in and or is")
PERCENT = apart(" ", "%s %d %x %5.2f %r %c %% % %q %(a)s %s-%s %*d %-5s %05d %e %(a %.3d %5")
SPECS = apart("|", "|d|x|.2f|s|>5|%|e|,|05|q|5.3|^+7|n|c|_x|#o|=5|>>|.|,_")
TEMPLATES = apart(
    ";",
    "{} {};{0} {1};{a};{}{0};{0}{};{;};{{}};{!r};{!x};{!};{:;{0[0]};{0[a]};{a[0]};{0[};{0[]};{0[0]x};{ };{:{}};{:{:{}}};{0:{1}}"
    ";{-1};{:>{a}};{0}};}{;{0!;{:d};{[0]};{[a]};{]};{0!r}};{9999999999999999999}",
)
NAMED = apart(
    " ~ ", "key=len ~ reverse=True ~ default=1 ~ sep='a' ~ maxsplit=1 ~ tabsize=4 ~ errors='nothing' ~ start=1 ~ x=1"
)
PATTERNS = apart(" ~ ", r"'(' ~ '*' ~ 'a' ~ '' ~ b'a' ~ '(a)|b' ~ '\\1' ~ '(?z)' ~ 'a{2,1}' ~ re.compile('a') ~ 5")
TEXTS = apart(
    " ~ ", r"""'' ~ '{' ~ '[1,]' ~ 'nul' ~ 'NaN' ~ '1 2' ~ '[1, {"a": null}]' ~ b'[1]' ~ b'\xff' ~ '\ufeff1' ~ '1.'"""
)

STATEMENTS = apart(
    " | ",
    "a, b = v | a, *b = v | [a, (b, c)] = v | *a, b, c, d = v | for a in v: pass | for a, b in v: pass | raise v | raise OSError from v"
    " | del v[0] | del v['zz'] | del v[:1] | v[0] = 1 | v['k'] = 1 | v[9] = 1 | v[1:2] = [5] | v[1:2] = 5 | v[0][0] = 1 | v[0, 1] += 1"
    " | v['k'] += 1 | v[0] += 1 | v[0] *= 2 | v[0] -= 'a' | v[0] **= 2 | v[0] %= 2 | v[0] <<= 2 | v[:1] *= 'a' | v[::2] += [1]"
    " | v += 1 | v -= 1 | v *= 2 | v *= 'a' | v /= 2 | v %= 3 | v %= 'a' | v **= 2 | v **= 'a' | v <<= 1 | v |= {1: 2} | v += [1]"
    " | v = f'{v:>5}' | v = f'{v!r:d}' | v = s0(v) | v = s0(*v) | v = s0(**v) | v = s0(1, *v) | v = s0(w=v) | v = v(1) | v = [*v]"
    " | v = {**v} | v = {a: b for a, b in v} | v = v[0] | v = v['a'] | v = v < 1 | v = 1 in v | v = late | v = -v",
)
"""What is done with a value ``v``: ``s0(value)`` does the first."""

OWN_WORDS = {"dir", "each", "eval", "globals", "hash", "id", "locals", "type", "vars"} | {
    "collections.namedtuple",
    "math.prod",
    "random.Random",
    "random.getrandbits",
    "random.randbytes",
    "random.seed",
}
"""Functions whose results or errors differ from Python's for a reason."""


def some(seed: int, number: int, *, most: int = 3) -> Iterator[str]:
    """Yield ``number`` lists of one to ``most`` arguments."""
    generator = random.Random(seed)
    for _ in range(number):
        yield ", ".join(generator.choices(VALUES, k=generator.randint(1, most)))


def calls_of(name: str, number: int, named: Sequence[str] = NAMED) -> Iterator[str]:
    """Yield calls of a function without arguments, and with right and wrong ones."""
    for arguments in ("", *VALUES[:: max(1, len(VALUES) // number)], *some(len(name), number), *named):
        yield f"{name}({arguments})"


def of_builtins() -> Iterator[str]:
    for name in sorted((PLAIN_BUILTINS | GUARDED_BUILTINS | ALLOWED_EXCEPTIONS) - OWN_WORDS):
        yield from calls_of(name, 30)


def of_methods() -> Iterator[str]:
    texts = guarded_text_methods(SizeGuard(lambda *limit: pytest.fail(str(limit))), getattr)
    for owner in OWNERS:
        kind = type(eval(owner, {"re": re, **vars(collections)}))
        for name in sorted(ALLOWED_ATTRIBUTES[kind] | texts.get(kind, {}).keys()):
            yield from calls_of(f"{owner}.{name}", 6)
        yield from (f"{owner}.nothing", f"getattr({owner}, 'nothing', 5)", f"hasattr({owner}, 'nothing')")


def of_operators() -> Iterator[str]:
    for i, (sign, left, right) in enumerate(product(OPERATORS, VALUES, VALUES)):
        if i % 13 == 0:
            yield f"({left}) {sign} ({right})"
    for value, form in product(
        VALUES, ("-({})", "~({})", "({})()", "[*({})]", "({})[0]", "({})['a']", "({})[::0]", "{{{}: 1}}")
    ):
        yield form.format(value)


def of_formats() -> Iterator[str]:
    for value in VALUES:
        yield from (f"{spec!r} % ({value})" for spec in PERCENT)
        yield from (f"format({value}, {spec!r})" for spec in SPECS)
    for template, given in product(TEMPLATES, ("", "1, 2", "'ab'", "[1, 2], 3", "{'a': 1}", "1, a=2", "a=[7]")):
        yield f"{template!r}.format({given})"
    for template, given in product(TEMPLATES, ("{}", "{'a': [1]}", "[]", "defaultdict(int)", "Counter('a')", "None")):
        yield f"{template!r}.format_map({given})"


def of_modules() -> Iterator[str]:
    for module in ("math", "random", "string", "collections"):
        for name in sorted(ALLOWED_MODULES[module] - {"abc"}):
            if f"{module}.{name}" not in OWN_WORDS:
                yield from calls_of(f"{module}.{name}", 20, ("1, 2", "2, 0.5", "[1, 2]", "4, 2, 1"))
    for name, pattern in product(("match", "search", "findall", "split", "fullmatch", "compile"), PATTERNS):
        for more in (
            "",
            ", 'abab'",
            ", b'ab'",
            ", 'aB', re.I",
            ", 'ab', 'x'",
            ", None",
            ", string='ab'",
            ", 'a', flags=re.M",
        ):
            yield f"re.{name}({pattern}{more})"
    for pattern, new in product(
        PATTERNS, ("'x'", r"r'\1'", "None", "5", "b'x'", "lambda m: m.group().upper()", "lambda m: 1")
    ):
        yield f"re.sub({pattern}, {new}, 'abc', count=1)"
    for value, more in product(
        VALUES, ("", ", indent=2", ", sort_keys=True", ", separators=5", ", default=str", ", skipkeys=True")
    ):
        yield f"json.dumps({value}{more})"
    yield from (f"json.loads({text})" for text in (*TEXTS, *VALUES))


def of_statements() -> Iterator[str]:
    yield from (f"s{i}({value})" for i, value in product(range(len(STATEMENTS)), VALUES))


FAMILIES = {f.__name__: f for f in (of_builtins, of_methods, of_operators, of_formats, of_modules, of_statements)}


def plan_of(calls: list[str]) -> str:
    """Return a plan that prints the result of each call."""
    told = "".join(f"    show({i}, lambda: {call})\n" for i, call in enumerate(calls))
    done = "".join(f"    def s{i}(v):\n        {s}\n        return v\n" for i, s in enumerate(STATEMENTS))
    return (
        (
            "def solution(agent, start_from=1):\n"
            "    def show(i, call):\n        try:\n            x = call()\n            said = f'{type(x).__name__} {x!r}'\n"
            "        except Exception as e:\n            said = f'{type(e).__name__}: {e} {e.args}'\n        print(repr(said))\n"
        )
        + done
        + told
    )


def in_python(source: str) -> list[str]:
    """Return what the same source prints in plain Python."""
    told: list[str] = []
    generator = random.Random(0)
    seeded = types.SimpleNamespace(
        **{name: getattr(generator, name, None) or getattr(random, name) for name in ALLOWED_MODULES["random"]}
    )
    modules = {"ast": ast, "collections": collections, "json": json, "math": math, "re": re, "string": string}
    given = {name: getattr(collections, name) for name in PREDEFINED_MEMBERS}
    space: dict[str, object] = {"__name__": "__main__", "print": told.append, "random": seeded, **modules, **given}
    exec(source, space)
    space["solution"](None)  # type: ignore[operator]
    return told


def comparable(said: str) -> str:
    """Drop addresses, and the type before a method's name, which depends on where Python looked the method up."""
    return re.sub(r"\w+\.(\w+\(\) takes no )", r"\1", re.sub(r" at 0x[0-9a-f]+", "", said))


def differences(calls: list[str]) -> list[tuple[str, str, str]]:
    """Return the calls whose results differ, each with the plan's result and Python's."""
    source = plan_of(calls)
    ran = run(source)
    assert ran.error is None, ran.error
    told = zip(calls, ran.output.splitlines(), in_python(source), strict=True)
    return [(call, ours, pythons) for call, ours, pythons in told if comparable(ours) != comparable(pythons)]


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_a_call_returns_or_raises_the_same_as_in_python(family: str) -> None:
    calls = [call for call in dict.fromkeys(FAMILIES[family]()) if is_python(call)]
    different = [d for i in range(0, len(calls), 400) for d in differences(calls[i : i + 400])]
    assert not different, f"{len(different)} of {len(calls)}, such as {different[:5]}"


def is_python(call: str) -> bool:
    """Return whether it is a Python expression."""
    try:
        compile(call, "", "eval")
    except SyntaxError:
        return False
    return True
