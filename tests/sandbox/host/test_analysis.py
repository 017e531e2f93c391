"""Analyses of plan text run in the cage; the host believes their findings only as plain data."""

from __future__ import annotations

from typing import Any

import pytest
from support.caged import plan

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, MAX_ANALYSIS_BYTES, PlainDataRules, find_non_plain
from codeplan.types import Rejected

sandbox = Sandbox()

SOURCE = '''\
UNIT = "outside of solution"
def solution(agent, start_from=1):
    """A plan."""
    name = "é" + 'b' 'c'
    if start_from <= 1:
        for n in [7, 2.5, 10_000, 99999999999999999999, True, None]:  # "not a literal"
            agent.goto(f"é{name['k']} {n}")
        assert n, f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        return 'last'
'''


def literals(source: str) -> list[dict[str, Any]]:
    found = sandbox.analyse("literals", source)
    assert isinstance(found, list)
    return found


def test_literals_are_found_with_their_values_places_and_steps():
    found = [f for f in literals(SOURCE) if not f["f_string"]]

    assert [(f["value"], f["step"], f["docstring"]) for f in found] == [
        ("A plan.", None, True),
        ("é", None, False),
        ("bc", None, False),
        (7, 1, False),
        (2.5, 1, False),
        (10000, 1, False),
        (None, 1, False),
        ("last", 2, False),
    ]
    assert [SOURCE[f["start"] : f["end"]] for f in found] == [
        '"""A plan."""',
        '"é"',
        "'b' 'c'",
        "7",
        "2.5",
        "10_000",
        "99999999999999999999",
        "'last'",
    ]
    assert [(f["line"], f["column"]) for f in found][1:3] == [(4, 12), (4, 18)]


def test_literals_in_an_f_string_have_its_place():
    found = [f for f in literals(SOURCE) if f["f_string"]]

    assert [f["value"] for f in found] == ["é", "k", " ", "Error in [Step 1]: "]
    assert {SOURCE[f["start"] : f["end"]] for f in found[:3]} == {"f\"é{name['k']} {n}\""}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_literals_are_found_with_any_line_ending(end):
    source = "def solution(agent, start_from=1):\n    x = 'a\\u2028'\n    y = '\x0c\u2028é'; z = 'b'\n".replace(
        "\n", end
    )

    assert [source[f["start"] : f["end"]] for f in literals(source)] == ["'a\\u2028'", "'\x0c\u2028é'", "'b'"]


def test_values_that_json_cannot_carry_are_none():
    found = literals(plan("x = ['\\ud800', 1e999, 2j, b'x', 9223372036854775807, 9223372036854775808]"))

    assert [(f["kind"], f["value"]) for f in found] == [
        ("str", None),
        ("float", None),
        ("complex", None),
        ("bytes", None),
        ("int", 9223372036854775807),
        ("int", None),
    ]


def test_a_source_that_is_not_python_is_rejected_with_its_diagnostics():
    for source, rule in [("a = ", "syntax"), ("", "empty"), ("x" * 70_000, "size"), ("-" * 9_000 + "1", "syntax")]:
        found = sandbox.analyse("literals", source)
        assert isinstance(found, Rejected)
        assert found.diagnostics[0].rule in (rule, "size")


def test_hostile_sources_are_analysed_or_rejected_and_the_next_analysis_is_served():
    for hostile in ["(" * 60_000, "x=" + "[" * 95 + "]" * 95, "x = 1" + "+1" * 15_000, "'" + "\\N{DIGIT ONE}" * 5_000]:
        assert isinstance(sandbox.analyse("literals", hostile), Rejected | list)
    assert len(literals(plan("x = 5"))) == 1


def test_nothing_of_an_analysed_source_runs():
    assert literals("raise SystemExit\nimport os; os._exit(1)\n" + plan("x = 5"))[0]["value"] == 5


def test_an_unknown_topic_is_an_error_that_names_the_others():
    with pytest.raises(UsageError, match=r"no such analysis; choose one of: .*literals"):
        sandbox.analyse("horoscope", SOURCE)


def test_arguments_that_do_not_fit_are_an_error():
    with pytest.raises(UsageError, match="there is no argument 'deep'"):
        sandbox.analyse("literals", SOURCE, {"deep": 1})
    for odd in (b"x", {1: 2}, float("nan"), 2**63, (1,), "\ud800", object()):
        with pytest.raises(UsageError, match="arguments of the analysis 'literals' hold a"):
            sandbox.analyse("literals", SOURCE, {"odd": odd})
    with pytest.raises(UsageError, match="hold more than"):
        sandbox.analyse("literals", SOURCE, {"long": "x" * MAX_ANALYSIS_BYTES})


def test_an_analysis_that_takes_too_long_is_an_error():
    hurried = Sandbox(Limits(wall=1e-6))

    with pytest.raises(SandboxError, match=r"the analysis 'literals' took longer than 1e-06 s"):
        hurried.analyse("literals", SOURCE)


def test_an_analysis_that_needs_too_much_memory_is_an_error_or_a_refusal():
    narrow = Sandbox(Limits(memory=1 << 20))
    source = plan("\n".join(f"x{i} = [{i}, 'a', 'b', 'c']" for i in range(2_000)))

    try:
        assert isinstance(narrow.analyse("literals", source), Rejected)
    except SandboxError as error:
        assert "the analysis 'literals'" in str(error)


def test_plain_data_of_an_analysis_is_what_json_can_carry():
    endless: list[object] = []
    endless.append(endless)

    assert find_non_plain({"a": [1, None, True, 2.5, "é", {}]}, ANALYSIS_RULES) is None
    assert find_non_plain({"a": [b"x"]}, ANALYSIS_RULES) == "a bytes"
    assert find_non_plain({1: 2}, ANALYSIS_RULES) == "a dict whose keys are not texts"
    assert find_non_plain([float("inf")], ANALYSIS_RULES) == "a float that JSON cannot carry"
    assert find_non_plain(endless, ANALYSIS_RULES) == "values nested deeper than 64"
    assert find_non_plain([0] * 200_001, ANALYSIS_RULES) == "more than 200,000 values"


def test_plain_data_may_reach_each_bound_and_no_more():
    rules = PlainDataRules(max_depth=2, max_values=3, json_only=False)

    assert find_non_plain((1, 2), rules) is None
    assert find_non_plain((1, 2, 3), rules) == "more than 3 values"
    assert find_non_plain([[1]], rules) == "values nested deeper than 2"
