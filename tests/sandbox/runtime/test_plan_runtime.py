"""One runtime serves run after run: each finds what a new runtime would give it."""

from __future__ import annotations

import pytest
from support.guarded_plans import GuardedRun, InProcessHost, plan, run

from codeplan.sandbox.language.compilation import compile_expression
from codeplan.sandbox.runtime.namespace import PlanRuntime
from codeplan.sandbox.runtime.termination import AssertionFailure, LimitExceeded

FIRST = {
    "that finished": "x = 1",
    "that failed": "assert False, 'no'",
    "that went on after its failure": "try:\n    assert False\nfinally:\n    y = 2",
    "that used up its turns": "while True:\n    pass",
    "that imported": "import re as found\nfrom math import pi\nimport json",
    "that imported over builtins": "from math import pi as len\nimport json as sorted",
    "that drew random numbers": "import random\nx = random.random()",
    "that seeded": "import random\nrandom.seed(5)\nx = random.gauss(0, 1)",
    "that changed settings": "import calendar, csv, decimal\ndecimal.getcontext().prec = 5\ncalendar.setfirstweekday(3)\ncsv.field_size_limit(3)",
    "that wrote to shared classes": "import json, logging\nfor f in (json.JSONEncoder.__init__, logging.Handler.setFormatter):\n    try:\n        f(json.JSONEncoder, default=len) if f is json.JSONEncoder.__init__ else f(json.JSONEncoder, 1)\n    except TypeError:\n        pass",
    "that wrote through a parser": "import configparser, json\nc = configparser.ConfigParser()\nc._own = json.JSONEncoder\ntry:\n    c.optionxform = 1\nexcept TypeError:\n    pass",
    "that called the agent": "x = agent.goto('desk 1')\ny = agent.holding",
    "that bound builtins": "len = sorted = sum = None",
}

SECOND = """\
import random
print(start_from, agent.goto('desk 1'), agent.holding, ask_llm('why'), random.random(), random.gauss(0, 1))
random.seed()
print(random.random(), len('abc'), sorted(names))
print(re.sub('a', 'b', 'a'), json.dumps([1]), math.pi)
try:
    print(found)
except NameError as error:
    print(error)
try:
    print(pi)
except NameError as error:
    print(error)
import calendar, csv, decimal
from json import JSONEncoder
print(calendar.firstweekday(), csv.field_size_limit(), decimal.Decimal(1) / 3)
print([hasattr(JSONEncoder, n) for n in ("formatter", "optionxform")], "default" in dir(JSONEncoder()))
try:
    print(JSONEncoder().encode(agent))
except TypeError as error:
    print(error)
count = sum(1 for i in range(80))
"""


def second(runtime: PlanRuntime, **options: object) -> GuardedRun:
    return run(plan(SECOND), runtime=runtime, variables={"names": ["b", "a"]}, turns=100, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FIRST)
def test_a_run_finds_nothing_of_the_run_before(name: str) -> None:
    runtime = PlanRuntime(compile_expression)
    run(plan(FIRST[name]), runtime=runtime, turns=50, variables={"found": 1}, dropped={"pi": "it is round"})
    run(plan(FIRST[name]), runtime=runtime, turns=50)
    after, fresh = second(runtime), second(PlanRuntime(compile_expression))
    assert (after.error, fresh.error) == (None, None)
    assert (after.output, after.host.calls) == (fresh.output, fresh.host.calls)
    assert after.variables.keys() == fresh.variables.keys()


def test_each_run_has_its_own_turns_and_start() -> None:
    runtime = PlanRuntime(compile_expression)
    assert isinstance(run(plan("for i in range(10):\n    pass"), runtime=runtime, turns=5).error, LimitExceeded)
    assert run(plan("for i in range(10):\n    pass"), runtime=runtime, turns=11).error is None
    assert run(plan("print(start_from)"), runtime=runtime, start_from=3).output == "3\n"
    assert run(plan("print(start_from)"), runtime=runtime).output == "1\n"


def test_a_failure_belongs_to_the_host_of_its_run() -> None:
    runtime = PlanRuntime(compile_expression)
    failed, passed = run(plan("assert False, 'no'"), runtime=runtime), run(plan("print(1)"), runtime=runtime)
    assert isinstance(failed.host.failure, AssertionFailure)
    assert (passed.host.failure, passed.output) == (None, "1\n")


def test_methods_are_those_of_the_runs_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = PlanRuntime(compile_expression)
    assert run(plan("agent.goto('desk 1')"), runtime=runtime).error is None
    monkeypatch.setattr(InProcessHost, "methods", frozenset({"report"}))
    assert "has no 'goto'" in str(run(plan("agent.goto('desk 1')"), runtime=runtime).error)


def test_a_dropped_name_is_explained_to_its_own_run_alone() -> None:
    runtime = PlanRuntime(compile_expression)
    assert "was not saved" in str(run(plan("print(f)"), runtime=runtime, dropped={"f": "it is a function"}).error)
    assert "was not saved" not in str(run(plan("print(f)"), runtime=runtime).error)
