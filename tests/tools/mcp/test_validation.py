"""Arguments are checked before the call, and no schema of a stranger can hang or reach the network."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeplan.errors import AgentError
from codeplan.tools.json_data import MAX_DEPTH as MAX_NESTING
from codeplan.tools.mcp.validation import ArgumentCheck


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
        (False, 5, "ValueError", "no value is allowed"),
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


def test_a_right_argument_passes():
    assert fault({"properties": {"a": {"enum": ["x"]}}, "required": ["a"]}, a="x") is None


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


def deeper(frames, work):
    return deeper(frames - 1, work) if frames else work()


def test_a_schema_that_contains_itself_ends_the_check_wherever_the_stack_stands():
    for frames in range(60):
        assert deeper(frames, lambda: fault({"type": "object", "allOf": [{"$ref": "#"}]}, a=1)) is None


def test_an_argument_may_be_nested_as_deeply_as_a_call_allows():
    row = {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/row"}}, {"type": "integer"}]}
    value, wrong = 1, "x"
    for _ in range(MAX_NESTING - 1):
        value, wrong = [value], [wrong]
    schema = {"properties": {"a": {"$ref": "#/$defs/row"}}, "$defs": {"row": row}}
    assert fault(schema, a=value) is None and fault(schema, a=wrong) is not None


def test_checks_at_the_same_time_do_not_use_up_each_others_steps():
    items = {"allOf": [{"type": "integer"}] * 3}
    check = ArgumentCheck({"properties": {"a": {"type": "array", "items": items}}})

    def is_refused(_):
        try:
            check.require_valid("find", {"a": [*[0] * 19_000, "x"]})
        except AgentError:
            return True
        return False

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(is_refused, range(2))) == [True] * 2


def doubling(levels):
    names = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**names, f"d{levels}": {"type": "null"}}}


EXPONENTIAL = {"pattern": "^(a+)+$", "patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}


@pytest.mark.parametrize(
    "schema",
    [
        doubling(40),
        {"properties": {"a": EXPONENTIAL}},
        {"properties": {"a": {**EXPONENTIAL, "$schema": "http://json-schema.org/draft-07/schema#"}}},
        {"properties": {"a": {"propertyNames": {"pattern": "^(a+)+$"}}}},
        {"patternProperties": {"^(b|a|a|c)+$": {"type": "null"}}, "unevaluatedProperties": False},
        {"properties": {"a": {"uniqueItems": True}}},
    ],
)
@pytest.mark.parametrize("value", ["a" * 60 + "!", {"a" * 60 + "!": 1}, [{"n": n} for n in range(5_000)]])
def test_a_hostile_schema_costs_little(schema, value):
    begun = time.process_time()
    fault(schema, a=value)
    assert time.process_time() - begun < 10


def test_the_remote_schema_is_never_asked_for(served_requests):
    url, requests = served_requests
    assert fault({"properties": {"a": {"$ref": f"{url}/schema.json"}}}, a=1) is None
    assert requests == []


@pytest.fixture
def served_requests():
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(404)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()
