"""Arguments are checked before the call, and no schema of a stranger can hang or reach the network."""

import time

import pytest
from support.reply_server import endpoint as endpoint

from codeplan.errors import AgentError
from codeplan.plain_data import MAX_DEPTH as MAX_NESTING
from codeplan.tools.mcp.signatures import ArgumentCheck


def fault(schema, **arguments):
    """The error of the arguments; None if they pass."""
    try:
        ArgumentCheck({"type": "object", **schema}).require_valid("find", arguments)
    except AgentError as error:
        return error.error, str(error)
    return None


@pytest.mark.parametrize(
    ("schema", "value", "kind", "message"),
    [
        ({"type": "integer"}, "x", "TypeError", "a: it must be of the type integer (given: 'x')"),
        ({"type": ["integer", "null"]}, "x", "TypeError", "a: it must be of the type integer or null (given: 'x')"),
        ({"maximum": 5}, 6, "ValueError", "a: it breaks the rule 'maximum': 5 (given: 6)"),
        ({"enum": ["x", "y"]}, "z", "ValueError", "a: it must be one of ['x', 'y'] (given: 'z')"),
        ({"const": 1}, 2, "ValueError", "a: it must be 1 (given: 2)"),
        ({"items": {"type": "integer"}}, [1, "x"], "TypeError", "a[1]: it must be of the type integer (given: 'x')"),
        ({"required": ["k"]}, {}, "ValueError", "a: it lacks 'k' (given: {})"),
        (
            {"properties": {"k": {}}, "additionalProperties": False},
            {"k": 1, "m": 2},
            "ValueError",
            "a: it has no 'm', and no other names are allowed (given: {'k': 1, 'm': 2})",
        ),
        ({"$ref": "#/$defs/n"}, "x", "TypeError", "a: it must be of the type integer (given: 'x')"),
        (
            {"anyOf": [{"maximum": 1}, {"minimum": 9}]},
            5,
            "ValueError",
            "a: it fits none of the alternatives, or too many (given: 5)",
        ),
        (False, 5, "ValueError", "a: no value is allowed (given: 5)"),
        (
            {"anyOf": [{"type": "integer"}, {"maxLength": 1}]},
            "xy",
            "ValueError",
            "a: it breaks the rule 'maxLength': 1 (given: 'xy')",
        ),
        ({"oneOf": [{}, {}]}, 5, "ValueError", "a: it fits none of the alternatives, or too many (given: 5)"),
    ],
)
def test_a_wrong_argument_is_one_sentence_with_its_path(schema, value, kind, message):
    found = fault({"properties": {"a": schema}, "$defs": {"n": {"type": "integer"}}}, a=value)
    assert found == (kind, f"find was called wrongly: {message}")


@pytest.mark.parametrize("broken", [{"type": "strange"}, {"required": "name"}, {"enum": 3}, {"minLength": "x"}])
def test_a_schema_that_breaks_its_own_rules_lets_everything_pass(broken):
    assert fault({"properties": {"a": broken, "b": {"type": "integer"}}}, a="text", b="no number") is None
    assert fault({"properties": {"a": broken, "b": {"type": "integer"}}}, b="no number") is None


def test_the_message_is_bounded():
    kind, message = fault({"properties": {"k" * 500: {"type": "integer"}}}, **{"k" * 500: "v" * 10_000})
    assert len(message) <= 300 and kind == "TypeError"


def test_a_number_that_the_check_cannot_compare_is_left_to_the_server():
    assert fault({"properties": {"a": {"multipleOf": 0.5}}}, a=10**400) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": 5},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema"}}},
        {"$ref": "#"},
        {"$schema": "urn:unknown", "properties": {"a": {"type": 1}}},
        {"$schema": ["x"]},
        {"required": 3},
        {"$id": "http://127.0.0.1:9/", "properties": {"a": {"$ref": "other"}}},
    ],
)
def test_a_schema_that_cannot_be_used_lets_the_server_decide(schema):
    assert fault(schema, a=1) is None


def test_an_argument_may_be_nested_as_deeply_as_a_call_allows():
    row = {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/row"}}, {"type": "integer"}]}
    value, wrong = 1, "x"
    for _ in range(MAX_NESTING - 1):
        value, wrong = [value], [wrong]
    schema = {"properties": {"a": {"$ref": "#/$defs/row"}}, "$defs": {"row": row}}
    assert fault(schema, a=value) is None and fault(schema, a=wrong) is not None


def doubled(leaf, keyword="anyOf", levels=40):
    """A schema that enters ``leaf`` twice as often at each level."""
    names = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**names, f"d{levels}": leaf}}


def nested(depth):
    return [nested(depth - 1)] if depth else "leaf"


TREE = {"items": {"anyOf": [{"$ref": "#/$defs/tree"}] * 2 + [{"type": "null"}]}, "type": "array"}
PATTERN = {"pattern": "^(a+)+$", "patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}
HOSTILE = [
    *(doubled({"type": "null"}, keyword) for keyword in ("anyOf", "oneOf", "allOf")),
    {**doubled({"properties": {"q": {}}}, "allOf"), "unevaluatedProperties": False},
    {"properties": {"a": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": TREE}},
    {"properties": {"a": {"anyOf": [False] * 15_000}}},
    {"properties": {"a": PATTERN}},
    {"properties": {"a": {"propertyNames": {"pattern": "^(a+)+$"}}}},
    {"properties": {f"a{n}": {"pattern": rf"\p{{L}}{{1,9}}{n}"} for n in range(4_000)}},
    {"properties": {"a": {"uniqueItems": True}}},
]


@pytest.mark.parametrize("schema", HOSTILE)
@pytest.mark.parametrize(
    "value", ["a" * 60 + "!", {"a" * 60 + "!": 1}, [{"n": n} for n in range(5_000)], ["x" * 100_000] * 10, nested(28)]
)
def test_a_hostile_schema_costs_little(schema, value):
    begun = time.process_time()
    fault(schema, a=value)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("levels", [12, 15])
def test_a_schema_is_checked_up_to_a_number_of_its_parts_with_references_written_out(levels):
    assert (fault(doubled({"type": "null"}, "allOf", levels), a=1) is not None) == (levels < 13)


@pytest.mark.parametrize("dialect", ["draft/2020-12/schema", "draft/2019-09/schema", "draft-07/schema#"])
def test_the_dialect_is_the_one_that_the_schema_names(dialect):
    part = {"type": "array", "items": [{"type": "integer"}]}
    host = "https" if "draft/" in dialect else "http"
    found = fault({"$schema": f"{host}://json-schema.org/{dialect}", "properties": {"a": part}}, a=["x"])
    assert (found is None) == ("2020" in dialect)  # it has no lists of schemas there, and so is no schema


def test_what_regular_expressions_would_allow_is_left_to_the_server():
    rules = {"patternProperties": {"^x": {}}, "additionalProperties": False}
    assert fault({"properties": {"a": rules, "b": {"pattern": "^z", "type": "string"}}}, a={"y": 1}, b="y") is None
    assert fault({"properties": {"a": rules, "b": {"pattern": "^z", "type": "string"}}}, b=1) is not None


def test_the_remote_schema_is_never_asked_for(endpoint):
    assert fault({"properties": {"a": {"$ref": f"{endpoint.url}/schema.json"}}}, a=1) is None
    assert endpoint.paths == []
