"""JSON Schemas as types that a model reads, within bounds."""

import time

import pytest

from codeplan.errors import AgentError
from codeplan.plain_data import MAX_DEPTH
from codeplan.tools.mcp.signatures import (
    MAX_FIELDS,
    MAX_NODES,
    MAX_TYPE_DEPTH,
    MAX_TYPES_CHARS,
    SchemaWriter,
    TypeTable,
    UnusableTool,
    describe_schema,
    write_signature,
)


def written(schema, hint="thing"):
    writer = SchemaWriter(TypeTable(), schema, "may be missing")
    return writer.text(schema, hint), [t.text for t in writer.types.values()]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string"}, "str"),
        ({"type": "number"}, "float"),
        ({"type": ["string", "null", "integer"]}, "str | int | None"),
        ({"type": "array"}, "list"),
        ({"type": "array", "items": {"type": "boolean"}}, "list[bool]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": "object"}, "dict"),
        ({"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": "object", "additionalProperties": True}, "dict"),
        ({"enum": ["a", 'b"', 3, None]}, "Literal['a', 'b\"', 3] | None"),
        ({"const": "on"}, "Literal['on']"),
        ({"enum": [None]}, "None"),
        ({"enum": list(range(40))}, f"Literal[{', '.join(map(str, range(40)))}]"),
        ({"enum": list(range(41))}, "int"),
        ({"enum": ["a" * 80, 1]}, f"Literal['{'a' * 80}', 1]"),
        ({"enum": ["a" * 81, 1, None]}, "str | int | None"),
        ({"enum": [["x"]]}, "object"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}, {"type": "string"}]}, "str | None"),
        ({"oneOf": [{"type": "integer"}, {}]}, "object"),
        ({"type": "string", "nullable": True}, "str | None"),
        ({"allOf": [{"type": "integer"}]}, "int"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "int"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "integer"}}}, "int"),
        ({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "integer"}}}, "int"),
        ({"$ref": "#/anyOf/1", "anyOf": [{}, {"type": "integer"}]}, "int"),
        ({"$ref": "#/anyOf/2", "anyOf": [{}, {"type": "integer"}]}, "object"),
        ({"$ref": "https://example.org/schema"}, "object"),
        ({"$ref": "other.json#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "object"),
        ({"$ref": "#/$defs/none"}, "object"),
        ({"$ref": "#/a", "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}, "object"),
        (True, "object"),
        ([], "object"),
        ({"type": "tuple"}, "object"),
        ({"properties": 5, "type": "object"}, "dict"),
        ({"anyOf": [{"type": "integer"}] * 8}, "int"),
        ({"anyOf": [{"type": "integer"}] * 9}, "object"),
    ],
)
def test_a_schema_is_a_type(schema, text):
    assert written(schema)[0] == text


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"minimum": 1, "maximum": 2.5}, "(at least 1, at most 2.5)"),
        ({"exclusiveMinimum": 1, "exclusiveMaximum": 2}, "(more than 1, less than 2)"),
        ({"multipleOf": 5}, "(a multiple of 5)"),
        ({"minLength": 1, "maxLength": 9}, "(at least 1 characters, at most 9 characters)"),
        ({"minItems": 1, "maxItems": 9}, "(at least 1 items, at most 9 items)"),
        ({"minimum": True, "maximum": "9", "multipleOf": None}, ""),
        ({"description": "A day.", "format": "date"}, "A day. (date)"),
        ({"pattern": "^a$"}, "(matches '^a$')"),
        ({"enum": list(range(41))}, "(one of 41 values, such as [0, 1, 2, 3, 4])"),
        ({"enum": list(range(40))}, ""),
        ({"description": "x" * 200}, "x" * 99 + "…"),
        (True, ""),
    ],
)
def test_what_a_type_cannot_say_stands_in_words(schema, words):
    assert describe_schema(schema, 100) == words


def test_a_property_may_have_any_schema_and_none():
    _, types = written({"type": "object", "properties": {"all": True, "none": False, "odd": None}})
    assert types == [
        "class Thing(TypedDict):  # a dict\n"
        "    all: object  # may be missing\n    none: object  # may be missing\n    odd: object  # may be missing"
    ]


@pytest.mark.parametrize("more", [0, 1, 1_000])
def test_of_many_properties_the_first_are_shown_and_the_others_are_counted(more):
    fields = {f"f{number}": {"type": "integer"} for number in range(MAX_FIELDS + more)}
    _, (text,) = written({"properties": fields, "required": [*fields]})
    _, *lines = text.splitlines()
    assert lines[:MAX_FIELDS] == [f"    f{number}: int" for number in range(MAX_FIELDS)]
    assert lines[MAX_FIELDS:] == ([f"    # … and {more:,} more"] if more else [])


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_type_is_nested_up_to_a_depth(beyond):
    schema = {"type": "integer"}
    for _ in range(MAX_TYPE_DEPTH + beyond):
        schema = {"type": "array", "items": schema}
    assert written(schema)[0] == "list[" * MAX_TYPE_DEPTH + ("list" if beyond else "int") + "]" * MAX_TYPE_DEPTH


@pytest.mark.parametrize(("others", "types"), [(0, "list[int]"), (1, "list"), (2, "object")])
def test_the_five_hundredth_part_is_the_last_that_is_read(others, types):
    """The whole is a part, each object is one, and each list is two with its items."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    full = {"properties": {f"f{n}": numbers for n in range(60)}, "required": [f"f{n}" for n in range(60)]}
    rest = {f"g{n}": numbers for n in range(6)} | {f"h{n}": {} for n in range(others)} | {"last": numbers}
    four = {f"o{n}": {"title": f"T{n}", **full} for n in range(4)}
    _, texts = written({"properties": {**four, "rest": {"properties": rest, "required": [*rest]}}})
    assert 1 + 4 * (1 + 60 * 2) + (1 + 6 * 2 + 2) == MAX_NODES == 500
    assert texts[4].endswith(f"    last: {types}")


def filled(length):
    """An object that is written out in so many characters."""
    names = [f"f{n}_".ljust(69, "x") for n in range(MAX_FIELDS)]
    (text,) = written({"title": "Big", "properties": {name: {} for name in names}})[1]
    names[-1] = names[-1][: length - len(text)]
    return {"title": "Big", "properties": {name: {} for name in names}}


@pytest.mark.parametrize(("length", "kind"), [(MAX_TYPES_CHARS - 1, "Small"), (MAX_TYPES_CHARS, "dict")])
def test_a_type_is_written_out_while_a_character_of_room_is_left(length, kind):
    _, texts = written({"properties": {"big": filled(length), "small": {"title": "Small", "properties": {"x": {}}}}})
    assert len(texts[0]) == length
    assert texts[-1].endswith(f"    small: {kind}  # may be missing")


@pytest.mark.parametrize(("count", "found"), [(19, {"type": "integer"}), (20, None)])
def test_a_row_of_references_leads_up_to_twenty_schemas_on(count, found):
    schemas = {f"s{n}": {"$ref": f"#/s{n + 1}"} for n in range(count)} | {f"s{count}": {"type": "integer"}}
    assert SchemaWriter(TypeTable(), schemas, "").resolve(schemas["s0"]) == found


@pytest.mark.parametrize(("count", "text"), [(20, "int"), (21, "object"), (25, "object")])
def test_a_reference_has_twenty_parts_at_most_and_never_leads_to_what_is_on_its_way(count, text):
    schema = {"type": "integer"}
    for _ in range(count):
        schema = {"type": "string", "a": schema}
    assert written({**schema, "$ref": "#" + "/a" * count})[0] == text


def test_an_object_is_written_out_once():
    point = {"type": "object", "properties": {"x": {"type": "number", "minimum": 0}, "a b": {}}, "required": ["x"]}
    text, types = written({"type": "array", "items": {"anyOf": [point, point]}}, "find places")
    assert text == "list[FindPlacesItem]"
    assert types == [
        "class FindPlacesItem(TypedDict):  # a dict\n    x: float  # (at least 0)\n    'a b': object  # may be missing"
    ]


def test_an_object_may_contain_itself():
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}
    text, types = written({"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}})
    assert (text, types) == ("Tree", ["class Tree(TypedDict):  # a dict\n    kids: list[Tree]  # may be missing"])


def test_different_types_of_one_name_get_different_names():
    table = TypeTable()
    one, other = ({"title": "Row", "properties": {"a": {"type": kind}}} for kind in ("string", "integer"))
    texts = [SchemaWriter(table, s, "").text(s, "") for s in (one, other, one)]
    assert texts == ["Row", "Row2", "Row"]


def test_all_of_several_objects_are_one():
    parts = [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "integer"}}}]
    assert written({"allOf": parts})[1] == [
        "class Thing(TypedDict):  # a dict\n    a: str\n    b: int  # may be missing"
    ]
    assert written({"allOf": parts[:1], **parts[1]}) == written({"allOf": parts})
    assert written({"allOf": parts[:1]})[1] == ["class Thing(TypedDict):  # a dict\n    a: str"]


def test_alternatives_have_the_properties_beside_them():
    shared = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    others = [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}, {"properties": {"c": {}}}]
    assert written({**shared, "anyOf": others}) == (
        "Thing | Thing2",
        [
            "class Thing(TypedDict):  # a dict\n    a: str\n    b: int",
            "class Thing2(TypedDict):  # a dict\n    a: str\n    c: object  # may be missing",
        ],
    )


def test_a_key_that_is_a_word_of_python_is_a_text():
    text = written({"properties": {"from": {"type": "integer"}, "to": {"type": "integer"}}, "required": ["from", "to"]})
    assert text[1] == ["class Thing(TypedDict):  # a dict\n    'from': int\n    to: int"]


def deep(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema, "b": schema}}
    return schema


def doubling(levels):
    names = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**names, f"d{levels}": {"type": "string"}}}


@pytest.mark.parametrize(
    "schema",
    [
        deep(40),
        doubling(60),
        {"properties": {f"field {n}": {"properties": {f"inner {n}": {}}} for n in range(5_000)}},
        {"title": "T" * 10_000, "properties": {"k" * 10_000: {"description": "d" * 10_000, "pattern": "(a+)+" * 1000}}},
        {"anyOf": [{"enum": ["x" * 5_000]}] * 8},
    ],
)
def test_a_hostile_schema_stays_within_limits(schema):
    begun = time.process_time()
    text, types = written(schema)
    assert len(text) < 1_000 and sum(map(len, types)) < 3 * MAX_TYPES_CHARS
    assert time.process_time() - begun < 2


def signature(schema, output=None, description=""):
    return write_signature("find", description, schema, output, TypeTable())


def test_required_parameters_come_first_and_optional_ones_have_defaults():
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "default": 10, "maximum": 50},
            "from": {"type": "string", "description": "Start.\nNow"},
            "tag": {"type": "string"},
            "any": {"type": ["string", "null"]},
        },
        "required": ["from"],
    }
    found = signature(schema, description='Find """all""".\x1b[31m')
    assert found.method.signature == (
        "(from_: str, limit: int = 10, tag: str | None = None, any: str | None = None) -> str"
    )
    assert found.method.doc == ("Find '''all'''.[31m\nfrom_: the server's 'from'. Start. Now\nlimit: (at most 50)")
    assert [p.required for p in found.method.parameters] == [True, False, False, False]
    given = {"from_": (1, 2), "tag": None, "any": None, "limit": 3}
    assert found.wire_arguments(given) == {"from": [1, 2], "any": None, "limit": 3}


def test_a_required_name_that_is_not_listed_is_a_parameter_too():
    found = signature({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b", "a"]})
    assert found.method.signature == "(b: object, a: str) -> str"
    assert found.wire_arguments({"b": 1, "a": "x"}) == {"b": 1, "a": "x"}
    assert signature({"type": "object", "required": ["b"]}).method.signature == "(b: object) -> str"


@pytest.mark.parametrize("names", [["a-b", "a_b", "a b"], ["", "\x1b", "日本"], ["class", "Class", "self"]])
def test_every_parameter_gets_a_name_of_its_own(names):
    found = signature({"properties": {name: {} for name in names}})
    shown = [p.name for p in found.method.parameters]
    assert len(set(shown)) == 3 and all(name.isidentifier() and name.isascii() for name in shown)
    assert list(found.wire_names.values()) == names


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": True},
        {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        {"properties": {f"p{n}": {} for n in range(100)}},
        {"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}, "required": ["b"]}]},
        {"properties": {"a": {}}, "anyOf": [{"required": ["b"]}, {"$ref": "#/$defs/c"}], "$defs": {"c": {}}},
        {"properties": {"a": {}}, "oneOf": [{"$ref": "#/$defs/c"}], "$defs": {"c": {"properties": {"d": {}}}}},
        {"properties": 3},
        "nonsense",
    ],
)
def test_what_parameters_cannot_say_is_one_dict(schema):
    found = signature(schema)
    assert [p.name for p in found.method.parameters] == ["arguments"]
    assert found.wire_arguments({"arguments": {"x": 1}}) == {"x": 1}
    assert "JSON Schema" in found.method.doc


def blocks(kind):
    items = {"type": "object", "properties": {"type": kind}}
    return {"properties": {"content": {"type": "array", "items": items}}, "required": ["content"]}


@pytest.mark.parametrize(
    ("output", "returns", "wrapper"),
    [
        (None, "str", ""),
        ({"properties": {"result": {"type": "integer"}}, "required": ["result"]}, "int", "result"),
        ({"properties": {"result": {"type": "integer"}}}, "FindResult", ""),
        ({"properties": {"n": {"type": "integer"}}, "required": ["n"]}, "FindResult", ""),
        ({"type": "object"}, "dict", ""),
        (blocks({"const": "image"}), "str", None),
        (blocks({"enum": ["text", "resource"]}), "str", None),
        (blocks({"const": "text"}), "list[FindResultItem]", "content"),
        (blocks({"enum": ["image", "sculpture"]}), "list[FindResultItem]", "content"),
        (blocks({"type": "string"}), "list[FindResultItem]", "content"),
    ],
)
def test_the_output_schema_is_the_return_type(output, returns, wrapper):
    found = signature({}, output)
    assert (found.method.signature, found.wrapper) == (f"() -> {returns}", wrapper)


def test_a_schema_of_ten_megabytes_is_refused():
    with pytest.raises(UnusableTool, match="10,000,0.. characters, more than 200,000"):
        signature({"description": "x" * 10_000_000})


def test_a_schema_that_is_nested_without_end_is_refused():
    schema = {}
    for _ in range(20_000):
        schema = {"items": schema}
    for given in ((schema, None), ({}, schema)):
        with pytest.raises(UnusableTool, match="schema is nested too deeply"):
            signature(*given)


@pytest.mark.parametrize(
    ("value", "lacking"),
    [
        *(({key: 1}, f"dict with the key {key!r}") for key in (0, False, None, (), 1, ("a",))),
        ([{"a": {0: 1}}], "dict with the key 0"),
        (float("nan"), "nan"),
        ("\ud800", "text with half of a surrogate pair"),
        ({"\ud800": 1}, "text with half of a surrogate pair"),
    ],
)
def test_what_json_cannot_hold_is_not_sent(value, lacking):
    found = signature({"properties": {"a": {}}})
    with pytest.raises(AgentError) as caught:
        found.wire_arguments({"a": value})
    assert (str(caught.value), caught.value.error) == (
        f"find was called wrongly: a: JSON has no {lacking}",
        "ValueError",
    )


def test_a_description_of_ten_megabytes_is_shortened():
    assert len(signature({}, description="word " * 2_000_000).method.doc) <= 4_000


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 5_000])
def test_what_is_nested_deeply_is_not_sent(depth):
    found, value = signature({"properties": {"a": {}}}), 1
    for _ in range(depth - 1):
        value = [value]
    if depth <= MAX_DEPTH:
        assert found.wire_arguments({"a": value}) == {"a": value}
    else:
        with pytest.raises(AgentError, match=rf"find was called wrongly: a: it is nested deeper than {MAX_DEPTH}$"):
            found.wire_arguments({"a": value})
