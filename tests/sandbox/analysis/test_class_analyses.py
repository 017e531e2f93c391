"""What reads and changes a plan's text knows classes, contexts, decorators and declarations."""

from __future__ import annotations

import pytest
from support.guarded_plans import accepted, refused, run

from codeplan.sandbox.analysis.generalise import generalise
from codeplan.sandbox.analysis.mutants import find_mutants
from codeplan.sandbox.analysis.plan_merging import merge_plans
from codeplan.sandbox.analysis.plan_shape import plan_shape, runnable_lines
from codeplan.sandbox.analysis.reply_merging import leave_out_parts, merge_reply

HEAD = "def solution(agent, start_from=1):\n"
CLASS = """\
class Cart:
    size = 2
    def add(self, n): return n + self.size
"""
STEPS = HEAD + (
    "    if start_from <= 1:\n        total = Cart().add(1)\n        assert total\n"
    "    if start_from <= 2:\n        assert agent.holding == total\n"
)


def digests(source: str) -> list[str]:
    return [s.digest for s in accepted(source).steps]


@pytest.mark.parametrize(
    ("was", "now"),
    [("return n + self.size", "return n - self.size"), ("size = 2", "size = 3"), ("class Cart:", "class Cart(dict):")],
)
def test_a_step_changes_with_the_class_that_it_uses_and_no_other_does(was: str, now: str) -> None:
    before, after = digests(CLASS + STEPS), digests(CLASS.replace(was, now) + STEPS)

    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True]


def test_a_step_changes_with_the_base_and_the_decorator_of_its_class() -> None:
    base = "class Base:\n    x = 1\ndef mark(kind):\n    return kind\n"
    source = base + "@mark\n" + CLASS.replace("Cart:", "Cart(Base):") + STEPS

    before = digests(source)
    for was, now in (("x = 1", "x = 2"), ("    return kind", "    return dict")):
        assert [a == b for a, b in zip(before, digests(source.replace(was, now)), strict=True)] == [False, True]


def test_a_step_changes_with_a_function_that_sets_its_variable() -> None:
    source = "n = 0\ndef up():\n    global n\n    n += 1\n" + HEAD + "    if start_from <= 1:\n        assert n == 0\n"
    assert digests(source) != digests(source.replace("+= 1", "+= 2"))


def test_a_class_of_one_step_that_another_uses_is_called_a_class() -> None:
    source = HEAD + (
        "    if start_from <= 1:\n        class A: pass\n        assert A\n    if start_from <= 2:\n        assert A()\n"
    )
    (diagnostic,) = refused(source).diagnostics
    assert diagnostic.message.startswith(
        "the class `A` is defined in step 1 and used outside of it, but classes are not"
    )


# ---------------------------------------------------------------------- merged plans


FIRST = (
    "limit = 1\nclass Cart:\n    limit = limit\n    def get(self): return limit, self.limit\n"
    + HEAD
    + "    if start_from <= 1:\n        one = Cart().get()\n        assert one\n"
    + "    if start_from <= 2:\n        assert False\n"
)
SECOND = (
    "limit = 5\nclass Cart:\n    def get(self): return limit\n"
    + HEAD
    + "    if start_from <= 1:\n        assert False\n"
    + "    if start_from <= 2:\n        print(one, Cart().get())\n        assert one\n"
)


def test_merged_plans_keep_two_classes_of_one_name_apart_and_their_own_attributes() -> None:
    merged = merge_plans(SECOND, {"steps": [2], "before": [{"source": FIRST, "steps": [1]}]})

    accepted(merged)
    assert run(merged).output == "(1, 1) 5\n"


def test_a_renamed_class_keeps_the_names_of_its_methods_and_of_their_parameters() -> None:
    first = FIRST.replace(
        "def get(self): return limit, self.limit", "def get(self, limit=limit): return limit, self.get"
    )
    merged = merge_plans(SECOND, {"steps": [2], "before": [{"source": first, "steps": [1]}]})

    assert "class Cart_before_1:" in merged
    assert "limit = limit_before_1" in merged
    assert "def get(self, limit=limit):" in merged


def test_a_merged_plan_has_the_imports_of_all_plans_once() -> None:
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    shared = head + "@dataclass\nclass P:\n    x: int = 4\n" + HEAD
    first = "from __future__ import annotations\nfrom math import sqrt\n" + shared.split("\n", 1)[1]
    first += "    if start_from <= 1:\n        root = sqrt(P().x)\n        assert root\n"
    last = shared + "    if start_from <= 1:\n        pass\n    if start_from <= 2:\n        print(root, P())\n"
    merged = merge_plans(last, {"steps": [2], "before": [{"source": first, "steps": [1]}]})

    assert run(merged).output == "2.0 solution.<locals>.P(x=4)\n"
    assert merged.count("import dataclass") == 1


# ---------------------------------------------------------------------- replies


def test_a_reply_replaces_a_class_where_it_stands() -> None:
    reply = "class Cart:\n    def add(self, n):\n        return 0\nif start_from <= 1:\n    total = Cart().add(2)\n    assert total == 0\n"
    merged = merge_reply(reply, {"before": CLASS + STEPS})

    assert merged is not None
    assert merged["source"].count("class Cart") == 1
    assert merged["source"].index("class Cart") < merged["source"].index("def solution")
    accepted(merged["source"])


def test_a_new_class_goes_before_the_first_step_and_after_its_base() -> None:
    reply = "if start_from <= 2:\n    assert Big().add(1)\nclass Big(Cart):\n    size = 9\n"
    merged = merge_reply(reply, {"before": CLASS + STEPS})

    assert merged is not None
    accepted(merged["source"])
    assert (
        merged["source"].index("class Cart") < merged["source"].index("class Big") < merged["source"].index("if start")
    )


def test_a_decorated_definition_is_left_out_with_its_decorator() -> None:
    plan = HEAD + "    @dec\n    class A:\n        x = (\n    if start_from <= 1:\n        pass\n"
    assert leave_out_parts(plan, [], ["A"]) == HEAD + "    A = None\n    if start_from <= 1:\n        pass\n"


# ---------------------------------------------------------------------- shapes, lines, parameters, mutants


def test_the_shape_ignores_the_names_of_classes_and_keeps_those_of_attributes() -> None:
    other = (CLASS + STEPS).replace("Cart", "Basket").replace("total", "sum_")
    assert plan_shape(other, {}) == plan_shape(CLASS + STEPS, {})
    assert plan_shape((CLASS + STEPS).replace("size", "length"), {}) != plan_shape(CLASS + STEPS, {})


LINES = (
    HEAD
    + """\
    @mark(
        1
    )
    class A:
        x: int = 1
        def f(
            self
        ):
            global n
            n = 1
    with (
        A() as a,
        A() as b
    ):
        nonlocal_ = 1
    if a:
        global m
        m = 1
    try:
        m = 2
    except* ValueError:
        m = 3
"""
)


def test_the_lines_that_can_run_are_heads_and_statements_without_declarations() -> None:
    found = runnable_lines(LINES, {})
    lines = ["", *LINES.splitlines()]
    texts = [" ".join(line.strip() for line in lines[first : last + 1]) for first, last in found["statements"]]

    assert texts == [
        "@mark( 1 ) class A:",
        *("x: int = 1", "def f( self ):", "n = 1", "with ( A() as a, A() as b ):", "nonlocal_ = 1", "if a:", "m = 1"),
        *("try:", "m = 2", "except* ValueError:", "m = 3"),
    ]
    assert [lines[target].strip() for _, _, target in found["branches"]] == ["m = 1"]


def test_values_become_parameters_in_methods_but_not_in_annotations_nor_decorators_outside() -> None:
    source = (
        "def goes(place):\n    return lambda f: f\n@goes('desk 1')\ndef visit(agent):\n    return agent.goto('desk 1')\n"
        + HEAD
        + "    class Trip:\n        to: 'desk 1' = 'desk 1'\n        def go(self): return agent.goto('desk 1')\n"
        + "    if start_from <= 1:\n        assert Trip().go() and visit(agent)\n"
    )
    made = generalise(source, {"goal": "go to desk 1", "first": "", "later": ""})["source"]

    assert "@goes('desk 1')" in made
    assert "to: 'desk 1' = the_item" in made
    assert "def go(self): return agent.goto(the_item)" in made


def test_annotations_have_no_mutants() -> None:
    source = HEAD + "    class A:\n        x: dict[1, 2] = f(3)\n        def g(self, n: h(4)) -> h(5): return n\n"
    assert {m["text"] for m in find_mutants(source, {}) if m["kind"] == "number"} == {"4"}
