"""Fixes: what models write otherwise becomes the plan's form, and everything else stays as it is."""

import json
from pathlib import Path

import libcst
import pytest

from codeplan.sandbox import Sandbox, extract
from codeplan.sandbox.analysis.fixes import mend_plan
from codeplan.types import AgentApi, AgentAttribute, AgentMethod, AgentParameter, Plan, Rejected

API = AgentApi(
    (AgentMethod("goto", "(place)", "", (AgentParameter("place"),)), AgentMethod("report", "()")),
    (AgentAttribute("holding"),),
    aliases=(("go_to", "goto"),),
)
HEAD = "def solution(agent, start_from=1):\n"
STEP = "    if start_from <= 1:\n        assert agent.goto('desk 1')\n"
SECOND = "    if start_from <= 2:\n        assert agent.holding\n"

FIXED = {
    "a missing start_from": ("def solution(agent):\n" + STEP, HEAD + STEP, "solution-signature"),
    "another order": ("def solution(start_from, agent):\n" + STEP, HEAD + STEP, "solution-signature"),
    "another name for the agent": (
        "def solution(env, start_from=1):\n    if start_from <= 1:\n        assert env.goto('x')\n",
        HEAD + "    env = agent\n    if start_from <= 1:\n        assert env.goto('x')\n",
        "solution-signature",
    ),
    "extra parameters": (
        "def solution(agent, start_from=1, tries=3, *, room='hall'):\n" + STEP,
        HEAD + "    tries = 3\n    room = 'hall'\n" + STEP,
        "solution-signature",
    ),
    "an asynchronous plan": ("async def solution(agent):\n" + STEP, "async " + HEAD + STEP, "solution-signature"),
    "another name for the plan": ("def main(agent, start_from=1):\n" + STEP, HEAD + STEP, "solution-name"),
    "an earlier plan": (HEAD + "    pass\n" + HEAD + STEP, HEAD + STEP, "solution-twice"),
    "a guard turned round": (HEAD + STEP.replace("start_from <= 1", "1 >= start_from"), HEAD + STEP, "step-guard"),
    "a strict guard": (HEAD + STEP.replace("<= 1", "< 2"), HEAD + STEP, "step-guard"),
    "a guard with a sum": (HEAD + STEP.replace("<= 1", "< 1 + 1"), HEAD + STEP, "step-guard"),
    "a negated guard": (HEAD + STEP.replace("start_from <= 1", "not start_from > 1"), HEAD + STEP, "step-guard"),
    "elif": (HEAD + STEP + SECOND.replace("if", "elif", 1), HEAD + STEP + SECOND, "step-guard"),
    "steps from 0": (
        HEAD + (STEP + SECOND).replace("<= 1", "<= 0").replace("<= 2", "<= 1"),
        HEAD + STEP + SECOND,
        "step-guard",
    ),
    "steps with gaps": (HEAD + STEP + SECOND.replace("<= 2", "<= 5"), HEAD + STEP + SECOND, "step-guard"),
    "an unused import": ("import numpy as np\n" + HEAD + STEP, HEAD + STEP, "unused-import"),
    "an unused import beside a used one": (
        "import glob, re\n" + HEAD + STEP,
        "import re\n" + HEAD + STEP,
        "unused-import",
    ),
    "an import for annotations": (
        "from shutil import Error\n" + HEAD + "    p: Error = 'x'\n" + STEP,
        HEAD + "    p: Error = 'x'\n" + STEP,
        "unused-import",
    ),
    "an unused import beside one that is tried": (
        "import glob\ntry:\n    import numpy\nexcept ImportError:\n    pass\n" + HEAD + STEP,
        "try:\n    import numpy\nexcept ImportError:\n    pass\n" + HEAD + STEP,
        "unused-import",
    ),
    "a star import": ("from agent import *\n" + HEAD + STEP, HEAD + STEP, "unused-import"),
    "ask_LLM": (
        HEAD + STEP + "    x = ask_LLM('which?')\n",
        HEAD + STEP + "    x = ask_llm('which?')\n",
        "ask-spelling",
    ),
    "agent.ask_llm": (
        HEAD + STEP + "    x = agent.ask_llm('which?')\n",
        HEAD + STEP + "    x = ask_llm('which?')\n",
        "ask-spelling",
    ),
    "an alias": (HEAD + STEP.replace("goto", "go_to"), HEAD + STEP, "agent-alias"),
    "a method by its bare name": (HEAD + STEP.replace("agent.goto", "goto"), HEAD + STEP, "tool-name"),
    "a bare name in an f-string": (
        HEAD + STEP + "    x = f'{report()!r:>9} {holding}'\n",
        HEAD + STEP + "    x = f'{agent.report()!r:>9} {agent.holding}'\n",
        "tool-name",
    ),
    "a bare name that is passed on": (
        HEAD + STEP + "    x = [*map(goto, ['a', 'b'])]\n",
        HEAD + STEP + "    x = [*map(agent.goto, ['a', 'b'])]\n",
        "tool-name",
    ),
    "a bare name in a function and a class of the plan": (
        "def both(a, b):\n    return goto(place=a), (goto)(b)\n"
        + HEAD
        + STEP
        + "    class C:\n        def f(self): return goto('x')\n",
        "def both(a, b):\n    return agent.goto(place=a), (agent.goto)(b)\n"
        + HEAD
        + STEP
        + "    class C:\n        def f(self): return agent.goto('x')\n",
        "tool-name",
    ),
    "a bare name beside the same name as an attribute and a keyword": (
        HEAD + STEP + "    def f(x, **more): return x\n    x = f(goto('a'), goto=2)\n    y = agent.goto('b')\n",
        HEAD + STEP + "    def f(x, **more): return x\n    x = f(agent.goto('a'), goto=2)\n    y = agent.goto('b')\n",
        "tool-name",
    ),
    "a bare name in a lambda, a comprehension and a default": (
        HEAD + STEP + "    f = lambda p, g=goto: g(p)\n    x = [goto(p) for p in 'ab' if holding]\n",
        HEAD + STEP + "    f = lambda p, g=agent.goto: g(p)\n    x = [agent.goto(p) for p in 'ab' if agent.holding]\n",
        "tool-name",
    ),
    "a bare name that is awaited": (
        "async " + HEAD + STEP + "    x = await goto('a')\n",
        "async " + HEAD + STEP + "    x = await agent.goto('a')\n",
        "tool-name",
    ),
    "an asserted pair": (
        HEAD + STEP.replace("assert agent.goto('desk 1')", "assert(agent.goto('desk 1'), f'no {agent.report()}')"),
        HEAD + STEP.replace("assert agent.goto('desk 1')", "assert agent.goto('desk 1'), f'no {agent.report()}'"),
        "assert-tuple",
    ),
    "a variable called give_up": (
        HEAD + "    give_up = 0\n    def replan(give_up): return give_up + 1\n    x = replan(give_up=2)\n" + STEP,
        HEAD + "    give_up_ = 0\n    def replan_(give_up_): return give_up_ + 1\n    x = replan_(give_up_=2)\n" + STEP,
        "runtime-name",
    ),
    "a function called ask": (
        HEAD + "    def ask(x): return x\n" + STEP + "    x = ask(2)\n",
        HEAD + "    def ask_(x): return x\n" + STEP + "    x = ask_(2)\n",
        "runtime-name",
    ),
    "a guard with further conditions": (
        HEAD
        + STEP.replace("if start_from <= 1:", "if(start_from <= 1 and agent.holding and 1):  # if it is there")
        + SECOND,
        HEAD
        + "    if start_from <= 1:\n        if (agent.holding and 1):  # if it is there\n"
        + STEP.partition("\n")[2].replace("        ", " " * 12)
        + SECOND,
        "step-condition",
    ),
    "a function of another step": (
        HEAD + "    if start_from <= 1:\n        def f(x):  # look\n            return x\n        assert f(1)\n"
        "    if start_from <= 2:\n        assert f(2)\n",
        HEAD + "    def f(x):  # look\n        return x\n    if start_from <= 1:\n        assert f(1)\n"
        "    if start_from <= 2:\n        assert f(2)\n",
        "helper-function",
    ),
    "a lambda of another step": (
        HEAD + "    if start_from <= 1:\n        n = 1\n        f = lambda x: x + n\n        assert f(1)\n"
        "    if start_from <= 2:\n        assert f(2)\n",
        HEAD + "    f = lambda x: x + n\n    if start_from <= 1:\n        n = 1\n        assert f(1)\n"
        "    if start_from <= 2:\n        assert f(2)\n",
        "helper-function",
    ),
    "a class of another step, with its base, its decorator and what its methods call": (
        "from dataclasses import dataclass\n" + HEAD + "    size = 3\n    if start_from <= 1:\n"
        "        class Base: pass\n        @dataclass\n        class P(Base):\n            x: int = size\n"
        "            def f(self): return twice(self.x)\n        def twice(x): return 2 * x\n"
        "        assert P(1).f()\n    if start_from <= 2:\n        assert P(2)\n",
        "from dataclasses import dataclass\n" + HEAD + "    size = 3\n"
        "    class Base: pass\n    @dataclass\n    class P(Base):\n        x: int = size\n"
        "        def f(self): return twice(self.x)\n    def twice(x): return 2 * x\n    if start_from <= 1:\n"
        "        assert P(1).f()\n    if start_from <= 2:\n        assert P(2)\n",
        "helper-function",
    ),
    "a step that held nothing but a decorated function of another": (
        HEAD + "    def once(f): return f\n    if start_from <= 1:\n        @once\n        def f(): return 1\n"
        "    if start_from <= 2:\n        assert f()\n",
        HEAD + "    def once(f): return f\n    @once\n    def f(): return 1\n    if start_from <= 1:\n"
        "        pass\n    if start_from <= 2:\n        assert f()\n",
        "helper-function",
    ),
}


@pytest.mark.parametrize("name", FIXED)
def test_a_fix_gives_the_plan_its_form_and_keeps_the_rest(name: str) -> None:
    source, wanted, rule = FIXED[name]
    found, left = Sandbox().check(source, API), Sandbox().check(source, API, fixes=False)
    assert not isinstance(found, Rejected)
    assert found.source == wanted
    assert {f.rule for f in found.fixes} == {rule}
    assert isinstance(left, Rejected) or any(w.rule == "assert-tuple" for w in left.warnings)


def test_the_bare_name_of_an_alias_and_one_that_is_imported_from_nowhere_are_mended() -> None:
    source = (
        "from tools import goto, report\nimport goto\n"
        + HEAD
        + STEP.replace("agent.goto", "go_to")
        + "    x = goto(report())\n"
    )
    found = Sandbox().check(source, API)
    assert isinstance(found, Plan)
    assert found.source == HEAD + STEP + "    x = agent.goto(agent.report())\n"
    assert {f.rule for f in found.fixes} == {"tool-name", "agent-alias", "unused-import"}


def test_a_bare_name_that_a_run_before_has_kept_is_its_variable() -> None:
    source = HEAD + "    if start_from <= 1:\n        assert report() and holding\n"
    found = Sandbox().check(source, API, kept=["holding"])
    assert isinstance(found, Plan)
    assert found.source == source.replace("report(", "agent.report(")


GONE = HEAD + "    if start_from <= 1:\n        sent = agent.report()\n        assert sent\n"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (GONE + "    return total\n", GONE),
        (GONE + "        return {'all': total, 'sent': sent}\n", GONE),
        (GONE + "    # the end\n    return total  # of all\n", GONE),
        (GONE + "    if start_from <= 2:\n        return total\n", GONE + "    if start_from <= 2:\n        pass\n"),
    ],
)
def test_a_return_of_names_that_a_changed_plan_no_longer_sets_is_removed_with_a_warning(
    source: str, wanted: str
) -> None:
    found = Sandbox().check(source, API, set_before=["total", "sent"])
    assert isinstance(found, Plan)
    assert found.source == wanted
    assert [w.message for w in found.warnings if w.rule == "stale-return"] != []
    assert isinstance(Sandbox().check(source, API), Rejected)
    kept = Sandbox().check(source, API, kept=["total"], set_before=["total"])
    assert isinstance(kept, Plan)
    assert kept.source == source


@pytest.mark.parametrize(
    "source",
    [GONE + "    return totl\n", GONE + "    x = total\n    return x\n", GONE.replace("report()", "goto(total)")],
)
def test_other_reads_of_names_that_are_gone_are_refused(source: str) -> None:
    found = Sandbox().check(source, API, set_before=["total", "sent"])
    assert isinstance(found, Rejected)
    assert found.source == source


LEFT = {
    "a bare name that a function binds": HEAD + STEP + "    def f(goto): return goto\n    x = goto('a')\n",
    "a bare name that a class binds": HEAD + STEP + "    class C:\n        def goto(self): return goto('a')\n",
    "a bare name that is set elsewhere": HEAD + "    x = goto\n" + STEP + "    y = lambda: [goto := 1, 2]\n",
    "a guard of one step alone": HEAD + STEP.replace("<= 1", "== 1"),
    "a guard whose number nobody can tell before a step": HEAD + STEP.replace("<= 1", "<= True") + SECOND,
    "a guard with a negative number before a step": HEAD + STEP.replace("<= 1", "<= -1") + SECOND,
    "a guard behind another condition": HEAD + STEP.replace("start", "agent.holding and start") + SECOND,
    "a guard that is one of two conditions": HEAD + STEP.replace("<= 1", "<= 1 or agent.holding") + SECOND,
    "a guard with a second condition and an else": HEAD
    + STEP.replace("<= 1", "<= 1 and agent.holding")
    + "    else:\n        pass\n",
    "a lambda that is set again": HEAD + "    if start_from <= 1:\n        f = lambda: 1\n        f = lambda: 2\n"
    "        assert f()\n    if start_from <= 2:\n        assert f()\n",
    "a function that is replaced": HEAD + "    if start_from <= 1:\n        def f(): return 1\n        f = [f][0]\n"
    "        assert f()\n    if start_from <= 2:\n        assert f()\n",
    "a lambda whose default a step sets": HEAD + "    if start_from <= 1:\n        n = 1\n        f = lambda x=n: x\n"
    "        assert f()\n    if start_from <= 2:\n        assert f()\n",
    "steps in no order": HEAD + STEP.replace("<= 1", "<= 2") + STEP,
    "a chain that ends in else": HEAD + STEP + SECOND.replace("if", "elif", 1) + "    else:\n        pass\n",
    "a parameter without a value": "def solution(agent, room, start_from=1):\n" + STEP,
    "any parameters": "def solution(agent, *rest):\n" + STEP,
    "two functions that take the agent": "def a(agent):\n    pass\ndef b(agent):\n    pass\n",
    "an import that is used": "import glob\n" + HEAD + STEP + "    glob.glob()\n",
    "an import as a name of the runtime": "import re as _getattr_\n" + HEAD + STEP,
    "a variable called replan beside the function": HEAD + "    replan = 0\n" + STEP + "    replan('why')\n",
    "a class that calls the agent as it is defined": HEAD + "    if start_from <= 1:\n        class P:\n"
    "            place = agent.report()\n        assert P\n    if start_from <= 2:\n        assert P.place\n",
    "a default that a step sets": HEAD + "    if start_from <= 1:\n        n = 1\n        def f(x=n): return x\n"
    "        assert f()\n    if start_from <= 2:\n        assert f()\n",
    "a decorator that prints": HEAD + "    def shown(f):\n        print(f)\n        return f\n"
    "    if start_from <= 1:\n        @shown\n        def f(): return 1\n        assert f()\n"
    "    if start_from <= 2:\n        assert f()\n",
    "a base whose meaning changes": HEAD + "    class B: pass\n    if start_from <= 1:\n        B = dict\n"
    "        class P(B): pass\n        assert P\n    if start_from <= 2:\n        assert P()\n",
    "a name of Python": HEAD + "    __builtins__ = 1\n" + STEP,
}


@pytest.mark.parametrize("name", LEFT)
def test_what_could_mean_something_else_is_refused_and_not_changed(name: str) -> None:
    found = Sandbox().check(LEFT[name], API)
    assert isinstance(found, Rejected)
    assert found.source == LEFT[name]
    assert found.fixes == ()


def test_a_plan_with_nothing_to_fix_stays_as_it_is() -> None:
    source = HEAD + "    # a comment\n" + STEP + "\n\n" + SECOND
    assert mend_plan(source, API) == (source, ())
    found = Sandbox().check(source, API)
    assert not isinstance(found, Rejected)
    assert found == Plan(source, found.steps, found.provides)


def test_a_refused_plan_shows_what_was_fixed_before() -> None:
    found = Sandbox().check("def solution(agent):\n    import glob\n" + STEP + "    x = glob.glob()\n", API)
    assert isinstance(found, Rejected)
    assert [f.rule for f in found.fixes] == ["solution-signature"]
    assert found.source.startswith(HEAD)
    assert {d.rule for d in found.diagnostics} == {"import"}


def test_a_fix_names_line_and_code() -> None:
    _, (fix,) = mend_plan(HEAD + "\n" + STEP.replace("<= 1", "< 2"), API)
    assert (fix.line, fix.was, fix.now) == (3, "if start_from < 2:", "if start_from <= 1:")
    assert str(fix) == "line 3: `if start_from < 2:` became `if start_from <= 1:`"


@pytest.mark.parametrize("names", [200, 201])
def test_a_plan_with_too_many_faults_is_left_alone(names: int) -> None:
    source = HEAD + "".join(f"    ask_LLM('{i}')\n" for i in range(names)) + STEP
    assert len(mend_plan(source, API)[1]) == (names if names <= 200 else 0)


def test_an_alias_of_a_method_that_exists_is_that_method() -> None:
    api = AgentApi((AgentMethod("ask_llm", "(q)", "", (AgentParameter("q"),)),))
    assert mend_plan(HEAD + "    x = agent.ask_llm('?')\n", api)[1] == ()


# ---------------------------------------------------------------------- plans as they are written


RECORDED = Path(__file__).parents[4] / "shared" / "fixtures" / "model_replies.jsonl"


def recorded_plans() -> list[str]:
    if not RECORDED.exists():
        return []
    episodes = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    calls = [c for e in episodes for c in e["calls"] if c["purpose"] in ("plan", "refine", "check")]
    return [extract(c["reply"]) for c in calls]


@pytest.mark.skipif(not recorded_plans(), reason="the recorded replies are not on this machine")
def test_both_parsers_read_recorded_plans_alike() -> None:
    for source in recorded_plans():
        module = libcst.parse_module(source)
        assert module.code == source
        assert mend_plan(source, API)[0] is source or mend_plan(source, API)[1]
