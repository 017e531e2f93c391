"""Plans in sub-tasks: what can be read, what is refused, and what an expression comes to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.planning.decomposition import (
    MAX_STEPS,
    DecompositionError,
    ExpressionNode,
    evaluate,
    parse_decomposition,
    parse_expression,
    step_numbers,
)

PLAN = "Step 1: find a mug\nStep 2: take it\nExecution order: (Step 1 AND Step 2)"


def AND(*parts):
    return ExpressionNode("AND", parts)


def OR(*parts):
    return ExpressionNode("OR", parts)


def test_a_plan_is_its_steps_and_their_order():
    plan = parse_decomposition(PLAN)
    assert plan.steps == {1: "find a mug", 2: "take it"}
    assert plan.order == AND(1, 2)


@pytest.mark.parametrize(
    "reply",
    [
        PLAN.upper().replace("FIND A MUG", "find a mug").replace("TAKE IT", "take it"),
        f"Here is my plan:\n\n{PLAN}\n\nGood luck!",
        "**Step 1:** find a mug\n- step 2. take it\n**Execution Order:** Step 1 and Step 2.",
        "Step 1: find a mug\nStep 2: take it\nexecution order: 1 & 2",
    ],
)
def test_small_differences_of_form_do_not_matter(reply):
    assert parse_decomposition(reply).order == AND(1, 2)
    assert [s.strip("* ") for s in parse_decomposition(reply).steps.values()] == ["find a mug", "take it"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Step 1", 1),
        ("(((Step 3)))", 3),
        ("1 AND 2 OR 3", OR(AND(1, 2), 3)),
        ("1 OR 2 AND 3", OR(1, AND(2, 3))),
        ("(step 1 or step 2) and 3", AND(OR(1, 2), 3)),
        ("(1 && 2) || (3 & 4)", OR(AND(1, 2), AND(3, 4))),
    ],
)
def test_an_expression_is_read_by_a_grammar(text, meant):
    assert parse_expression(text) == meant


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I would go and find it.", "no line of the form 'Step 1"),
        ("Step 1: go", "no line of the form 'Execution order"),
        ("Step 1: go\nExecution order: (Step 1 AND", "its end where a step"),
        ("Step 1: go\nStep 2: see\nExecution order: (Step 1 AND Step 2", "its end where a closing bracket"),
        ("Step 1: go\nStep 2: see\nExecution order: Step 1 AND Step 2)", "goes on with"),
        ("Step 1: go\nStep 2: see\nExecution order: Step 1, Step 2", "cannot be read from ', Step 2' on"),
        ("Step 1: go\nExecution order: Step 1 AND Step 2", "names step 2, which there is not"),
        ("Step 1: go\nStep 2: see\nExecution order: Step 1", "leaves out step 2"),
        ("Step 1: a\nStep 2: b\nStep 8: c\nExecution order: Step 2", "leaves out step 1;"),
        ("Step 2: b\nExecution order: Step 8 AND Step 1 AND Step 2", "names step 1, which there is not"),
        ("Step 1: go\nStep 1: see\nExecution order: Step 1", "two steps 1"),
    ],
)
def test_what_leaves_anything_open_is_refused_with_the_reason(reply, why):
    with pytest.raises(DecompositionError, match=why.replace("(", r"\(")):
        parse_decomposition(reply)


def trees(depth=3):
    leaves = st.integers(1, 9)
    return st.recursive(
        leaves,
        lambda parts: st.builds(
            lambda op, ps: ExpressionNode(op, tuple(ps)),
            st.sampled_from(["AND", "OR"]),
            st.lists(parts, min_size=2, max_size=4),
        ),
        max_leaves=12,
    )


def written(tree):
    if isinstance(tree, int):
        return f"Step {tree}"
    return "(" + f" {tree.operator} ".join(written(p) for p in tree.parts) + ")"


def value(tree, truth):
    if isinstance(tree, int):
        return truth[tree]
    return (all if tree.operator == "AND" else any)([value(p, truth) for p in tree.parts])


@given(trees())
def test_what_is_written_is_read_again(tree):
    assert parse_expression(written(tree)) == tree


@given(
    trees(), st.dictionaries(st.integers(1, 9), st.booleans()).map(lambda d: {n: d.get(n, True) for n in range(1, 10)})
)
def test_an_expression_comes_to_its_logical_value(tree, truth):
    tried = []

    def achieve(number):
        tried.append(number)
        return truth[number]

    assert evaluate(tree, achieve) == value(tree, truth)
    every = list(step_numbers(tree))
    assert tried == [n for n in every if n in tried][: len(tried)] or len(tried) <= len(every)


def steps(count):
    lines = [f"Step {n}: do {n}" for n in range(1, count + 1)]
    return "\n".join([*lines, "Execution order: " + " AND ".join(f"Step {n}" for n in range(1, count + 1))])


def test_a_plan_has_fifty_steps_at_most():
    assert len(parse_decomposition(steps(MAX_STEPS)).steps) == MAX_STEPS == 50
    with pytest.raises(DecompositionError, match="it has 51 steps, and 50 are allowed"):
        parse_decomposition(steps(MAX_STEPS + 1))


def test_brackets_side_by_side_do_not_nest():
    before = " AND ".join(["(1)"] * 60)
    assert parse_expression(before) == AND(*[1] * 60)
    assert parse_expression(f"{before} AND " + "(" * 50 + "1" + ")" * 50) == AND(*[1] * 61)
    with pytest.raises(DecompositionError, match="nests more than 50 brackets"):
        parse_expression(f"{before} AND " + "(" * 51 + "1" + ")" * 51)


def test_nothing_is_tried_once_the_value_is_decided():
    tried = []
    assert evaluate(AND(OR(1, 2), 3, 4), lambda n: tried.append(n) or n in (1, 4)) is False
    assert tried == [1, 3]


@given(st.text(max_size=200))
def test_any_text_is_a_plan_or_refused(text):
    try:
        parse_decomposition(text)
    except DecompositionError as e:
        assert str(e)
