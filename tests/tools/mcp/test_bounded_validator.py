"""No schema of a stranger makes a validation take more work than its steps say. Work is counted in lines of Python."""

import pytest
from jsonschema import Draft3Validator, Draft4Validator, Draft7Validator, Draft202012Validator, validators
from support.steps import count_lines

from codeplan.errors import AgentError
from codeplan.tools.mcp.bounded_validator import MAX_ID_CHARS, BoundedValidator, Bounds, TooManySteps
from codeplan.tools.mcp.validation import ArgumentCheck

BOUNDS = Bounds(steps=2_000, depth=120)
MAX_LINES_A_STEP = 100
NAMES = [f"n{number}" for number in range(2_000)]
SCHEMAS = {name: {} for name in NAMES}
ROWS = [{"n": number} for number in range(1_000)]


def doubled(leaf, levels=12, keyword="allOf"):
    """A schema that enters ``leaf`` some thousand times."""
    names = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**names, f"d{levels}": leaf}}


def validator_of(schema, dialect=Draft202012Validator, bounds=BOUNDS):
    return BoundedValidator(dialect, schema, {}, bounds)


def lines_until_too_many(schema, instance, dialect=Draft202012Validator):
    validator = validator_of(schema, dialect)

    def work():
        with pytest.raises(TooManySteps):
            validator.best_error(instance)

    return count_lines(work)


@pytest.mark.parametrize(
    ("leaf", "instance"),
    [
        ({"properties": SCHEMAS}, {}),
        ({"properties": SCHEMAS}, dict.fromkeys(NAMES, 1)),
        ({"dependentSchemas": SCHEMAS}, {}),
        ({"dependentRequired": {name: [] for name in NAMES}}, {}),
        ({"dependentRequired": {"n0": ["n0"] * 2_000}}, {"n0": 1}),
        ({"required": NAMES}, dict.fromkeys(NAMES, 1)),
        ({"required": NAMES}, {}),
        ({"type": ["string"] * 2_000}, 1),
        ({"allOf": [{}] * 2_000}, 1),
        ({"allOf": [{"a": 1}] * 2_000}, 1),
        (dict.fromkeys(NAMES, 1), 1),
        ({"items": {}}, ROWS),
        ({"items": True}, ROWS),
        ({"contains": {}}, ROWS),
        ({"contains": True, "minContains": 2_000}, ROWS),
        ({"additionalProperties": {}}, dict.fromkeys(NAMES, 1)),
        ({"const": [[*ROWS, 0]]}, [[*ROWS, 1]]),
    ],
)
def test_the_size_of_what_a_keyword_walks_over_is_charged(leaf, instance):
    assert lines_until_too_many(doubled(leaf), instance) < MAX_LINES_A_STEP * BOUNDS.steps


@pytest.mark.parametrize(
    ("dialect", "leaf", "instance"),
    [
        (Draft7Validator, {"dependencies": {"n0": ["n0"] * 2_000}}, {"n0": 1}),
        (Draft7Validator, {"items": [], "additionalItems": {}}, ROWS),
        (Draft4Validator, {"items": {}}, ROWS),
        (Draft3Validator, {"disallow": ["null"] * 2_000}, 1),
        (Draft3Validator, {"extends": [{}] * 2_000}, 1),
        (Draft3Validator, {"type": [{"type": "null"}] * 2_000}, 1),
        (Draft3Validator, {"properties": SCHEMAS}, {}),
    ],
)
def test_so_it_is_in_old_dialects(dialect, leaf, instance):
    schema = doubled(leaf, keyword="extends" if dialect is Draft3Validator else "allOf")
    assert lines_until_too_many(schema, instance, dialect) < MAX_LINES_A_STEP * BOUNDS.steps


@pytest.mark.parametrize("listed", [{"enum": [[ROWS]]}, {"const": [ROWS]}])
def test_a_comparison_with_a_long_value_is_charged(listed):
    assert validator_of(listed).best_error([ROWS]) is None
    with pytest.raises(TooManySteps):
        validator_of(doubled(listed, levels=6)).best_error([ROWS])


@pytest.mark.parametrize("reference", ["#here", "urn:here", "#/$defs/here"])
def test_a_reference_costs_the_same_in_a_small_schema_and_in_a_large_one(reference):
    def lines(names):
        target = {"type": "null"} | ({"$id": reference} if ":" in reference else {"$anchor": "here"})
        schema = {"allOf": [{"$ref": reference}] * 20, "$defs": {**{name: {} for name in names}, "here": target}}
        validator = validator_of(schema)
        assert validator.best_error(1) is not None and validator.best_error(None) is None
        return count_lines(lambda: validator.best_error(None))

    assert lines(NAMES) == lines(NAMES[:1])


def test_a_reference_to_nothing_searches_the_schema_no_more():
    from referencing.exceptions import Unresolvable

    def lines(names):
        validator = validator_of({"$ref": "#nowhere", "$defs": {name: {} for name in names}})

        def work():
            with pytest.raises(Unresolvable):
                validator.best_error(1)

        return count_lines(work)

    assert abs(lines(NAMES) - lines(NAMES[:1])) < 100


def test_a_long_pointer_is_charged_by_the_square_of_its_length():
    parts = 90
    schema = {"type": "string"}
    for _ in range(parts):
        schema = {"not": schema}
    document = {"allOf": [{"$ref": "#/$defs/d" + "/not" * parts}] * 1_000, "$defs": {"d": schema}}
    assert lines_until_too_many(document, 1) < MAX_LINES_A_STEP * BOUNDS.steps


class CountedList(list):
    """Counts how often it is written."""

    written = 0

    def __repr__(self):
        type(self).written += 1
        return super().__repr__()


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [False] * 2_000},
        {"oneOf": [True, *[False] * 2_000]},
        {"allOf": [{"not": False}] * 2_000},
        {"allOf": [{"if": False}] * 2_000},
        {"allOf": [{"contains": {"not": {}}, "minContains": 0}] * 2_000},
        {"allOf": [{"contains": False, "minContains": 0}] * 2_000},
    ],
)
def test_a_message_for_each_schema_that_refuses_everything_is_charged(schema):
    CountedList.written = 0
    text = 4_000
    with pytest.raises(TooManySteps):
        validator_of(schema).best_error(CountedList([CountedList(["x" * text])]))
    assert CountedList.written <= 4 * BOUNDS.steps / (text / 50)


def test_the_choice_of_the_best_error_is_charged():
    schema = {"type": ["string"] * 300, "required": NAMES[:300]}
    assert lines_until_too_many(schema, {}) < MAX_LINES_A_STEP * BOUNDS.steps


def test_an_error_is_charged_at_each_level_that_passes_it_on():
    schema = {"required": NAMES[:100]}
    for _ in range(60):
        schema = {"allOf": [schema]}
    assert lines_until_too_many(schema, {}) < MAX_LINES_A_STEP * BOUNDS.steps


@pytest.mark.parametrize("key", ["$id", "id"])
@pytest.mark.parametrize(("over", "is_refused"), [(0, False), (1, True)])
def test_the_identifiers_of_a_schema_are_bounded_together(key, over, is_refused):
    first = "a" * (MAX_ID_CHARS // 2 - 1)  # each is joined with a separator
    schema = {"properties": {"p": {key: first}, "q": {"items": [{key: first + over * "a"}]}}}
    dialect = Draft202012Validator if key == "$id" else Draft4Validator
    if is_refused:
        with pytest.raises(TooManySteps):
            validator_of(schema, dialect)
    else:
        assert validator_of(schema, dialect).best_error(1) is None


def test_entering_a_schema_with_an_identifier_is_charged_more():
    leaves = ({"type": "integer"}, {"$id": "urn:x/" + "a/" * 300, "type": "integer"})
    plain, named = (validator_of(doubled(leaf, 6), bounds=Bounds(1_500, 120)) for leaf in leaves)
    assert plain.best_error(1) is None
    with pytest.raises(TooManySteps):
        named.best_error(1)


def test_steps_and_depth_are_bounded_on_both_sides():
    schema = {"type": "integer"}
    for _ in range(9):
        schema = {"allOf": [schema]}
    assert validator_of(schema, bounds=Bounds(1_000, 10)).best_error(1) is None
    with pytest.raises(TooManySteps):
        validator_of(schema, bounds=Bounds(1_000, 9)).best_error(1)
    with pytest.raises(TooManySteps):
        validator_of(schema, bounds=Bounds(20, 10)).best_error(1)


def test_no_document_of_the_library_is_used_without_the_bounds():
    from referencing.exceptions import Unresolvable

    with pytest.raises(Unresolvable):
        validator_of({"$ref": "http://json-schema.org/draft-07/schema"}).best_error({})


def wrong_call(schema):
    """Whether a wrong argument is refused."""
    try:
        ArgumentCheck({"type": "object", **schema}).require_valid("find", {"x": "no number"})
    except AgentError:
        return True
    return False


DIALECTS = [
    ("https://json-schema.org/draft/2020-12/schema", "$defs"),
    ("https://json-schema.org/draft/2019-09/schema", "$defs"),
    ("http://json-schema.org/draft-07/schema#", "definitions"),
    ("http://json-schema.org/draft-06/schema#", "definitions"),
    ("http://json-schema.org/draft-04/schema#", "definitions"),
    ("http://json-schema.org/draft-03/schema#", "definitions"),
]


@pytest.mark.parametrize("dialect", [name for name, _ in DIALECTS])
@pytest.mark.parametrize(
    "part", [{}, {"minLength": "x"}, {"enum": 3}, {"properties": {"a": 5}}, {"items": {"type": {"a": []}}}, {"$ref": 3}]
)
def test_a_schema_is_judged_as_the_library_judges_it(dialect, part):
    from jsonschema import SchemaError

    schema = {"$schema": dialect, "properties": {"x": {"type": "integer"}, "other": part}}
    try:
        validators.validator_for(schema).check_schema(schema)
        is_sound = True
    except SchemaError:
        is_sound = False
    assert wrong_call(schema) == is_sound


@pytest.mark.parametrize(("dialect", "definitions"), DIALECTS)
def test_what_stands_beside_a_reference_counts_since_2019(dialect, definitions):
    part = {"$ref": f"#/{definitions}/any", "type": "integer"}
    schema = {"$schema": dialect, "properties": {"x": part}, definitions: {"any": {}}}
    assert wrong_call(schema) == ("/draft/20" in dialect)


@pytest.mark.parametrize(("dialect", "definitions"), DIALECTS)
def test_a_long_schema_of_many_parts_is_still_checked(dialect, definitions):
    part = {"type": "string", "description": "d" * 40}
    many = {f"n{number}": part for number in range(2_000)}
    assert wrong_call({"$schema": dialect, "properties": {"x": {"type": "integer"}}, definitions: many})


@pytest.mark.parametrize("keyword", ["enum", "type"])
@pytest.mark.parametrize("dialect", [name for name, _ in DIALECTS])
def test_the_schema_itself_is_checked_in_bounded_work(dialect, keyword):
    def lines(size):
        listed = {keyword: [{"a": number} for number in range(size)]}
        schema = {"$schema": dialect, "properties": {"x": {"type": "integer"}, "y": listed}}
        return count_lines(lambda: wrong_call(schema))

    lines(1)  # what is built once for the dialect
    assert lines(400) < 3 * lines(200)


def test_a_schema_that_takes_too_many_steps_is_left_to_the_server():
    assert not wrong_call(doubled({"required": NAMES}))
    assert wrong_call(doubled({"required": NAMES}, levels=2))
