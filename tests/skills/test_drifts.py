"""Tools change: a skill's plan ends where a tool answers otherwise, and is mended there; nothing goes wrong unseen."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.cli import main
from codeplan.plain_data import pack
from codeplan.recording.events import AnsweredCall, CallAnswered
from codeplan.skills.answer_shapes import find_drift, merge_answers, shapes_of
from codeplan.skills.library import SkillLibrary
from codeplan.types import Answer, Call

FILE = Path(__file__).parents[2] / "benchmarks" / "drifts.py"


@pytest.fixture(scope="module")
def benchmark_of_drifts():
    spec = importlib.util.spec_from_file_location("drifts", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["drifts"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(10))
def test_a_skill_is_mended_in_one_step_when_its_tools_have_changed(benchmark_of_drifts, tmp_path, number):
    drift, untested = benchmark_of_drifts.DRIFTS[number], number > 0  # one test of a mended skill is run
    outcome, model = benchmark_of_drifts.play(drift, tmp_path, untested=untested)
    assert (outcome, len(model.asked)) == ("mended", 1)


def test_without_what_a_skill_knows_of_its_tools_a_change_goes_unseen(benchmark_of_drifts, tmp_path):
    renamed = benchmark_of_drifts.DRIFTS[0]
    assert benchmark_of_drifts.play(renamed, tmp_path, blind=True)[0] == "wrong"


def answered(*values):
    """Answers of a tool; an exception is an error."""
    for value in values:
        failed = isinstance(value, Exception)
        answer = Answer(error=type(value).__name__, message=str(value)) if failed else Answer(pack(value))
        yield AnsweredCall(Call("tool"), CallAnswered(id=1, seconds=0, answer=answer))


def drift(plan, then, now):
    find = find_drift(shapes_of(plan, answered(*then)))
    (made,) = answered(now)
    return find("tool", made.event.answer)


READS = "row['price']; row.get('day'); row.items; len(rows)"
ROW = {"price": 3, "day": "2026-03-01", "note": None}


@pytest.mark.parametrize(
    ("plan", "then", "now", "said"),
    [
        (READS, [ROW], ROW | {"price": 4.5, "day": "2027-01-02"}, ""),
        (READS, [ROW], ROW | {"note": "fields that the plan does not read may change", "more": 1}, ""),
        (READS, [ROW], {"cost": 3, "day": "2026-03-01"}, "it has no field 'price'; its fields are 'cost', 'day'"),
        (READS, [ROW], ROW | {"price": {"euros": 3}}, "['price'] is a mapping, {'euros': 3}, and was a number"),
        (READS, [ROW], ROW | {"day": "01/03/2026"}, "['day'] is a text as in '9/9/9', '01/03/2026', and was a date"),
        (READS, [[ROW]], [], ""),
        (READS, [[]], [ROW], ""),
        (READS, [[ROW]], [ROW, ROW | {"price": "3"}], "[…]['price'] is a text of digits, '3', and was a number"),
        (READS, [[ROW]], {"items": [ROW]}, "it is a mapping"),
        (READS, [[ROW], None], None, ""),
        (READS, [None], ROW, "it is a mapping"),
        ("prices", [{"apples": 3}], {"pears": 4}, ""),
        ("prices", [{"apples": 3}], {"pears": "4 euros"}, "[…] is a text, '4 euros', and was a number"),
        ("try: x\nexcept LookupError: y", [LookupError("none"), 3], LookupError("none"), ""),
        ("try: x\nexcept Exception: y", [LookupError("none"), 3], OSError("busy"), "tool raised OSError"),
        ("x", [3], OSError("busy"), ""),
        ("x", [OSError("busy")], 3, ""),
    ],
)
def test_an_answer_is_compared_by_its_shape(plan, then, now, said):
    found = drift(plan, then, now)
    assert said in found and bool(said) == bool(found)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("a2-", max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["price", "day", "x"]), inner),
    max_leaves=12,
)


@given(st.lists(values, min_size=1, max_size=3), st.lists(values, min_size=1, max_size=3))
def test_what_was_answered_fits_and_also_after_a_merge(one, other):
    merged = merge_answers(shapes_of(READS, answered(*one)), shapes_of(READS, answered(*other)))
    find = find_drift(merged)
    assert [find("tool", made.event.answer) for made in answered(*one, *other)] == [""] * len(one + other)


SHOP = """
PLAN = '''```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] order')
        price = agent.article('SKU-7').get('price', 0)
        assert price < 20, 'too dear'
        agent.order('SKU-7')
```'''
def article(sku: str) -> dict:
    return {'price': 12}
def order(sku: str) -> None:
    with open('orders.txt', 'a') as file:
        file.write(sku)
def verify(value):
    return True
def model(messages):
    return PLAN
"""


def test_a_run_by_hand_ends_at_a_changed_answer_and_the_statistics_name_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.py").write_text(SHOP)
    tools = ("--tools", "shop.py:article,order", "--library", "lib", "--verify", "shop.py:verify", "-q")
    assert main(["do", "Order SKU-7", "--model", "shop.py:model", "--acquire", *tools]) == 0
    (entry,) = SkillLibrary("lib").entries()
    assert main(["skills", "run", entry.name, "the_item=SKU-8", *tools]) == 0
    Path("later.py").write_text(SHOP.replace("{'price'", "{'cost'"))
    later = ("--tools", "later.py:article,order", *tools[2:], "--out", "again")
    assert main(["skills", "run", entry.name, "the_item=SKU-9", *later]) == 1
    assert Path("orders.txt").read_text() == "SKU-7SKU-8"
    assert main(["replay", "again"]) == 0
    capsys.readouterr()
    main(["skills", "stats", "--library", "lib"])
    assert "it has no field 'price'; its fields are 'cost'" in capsys.readouterr().out
