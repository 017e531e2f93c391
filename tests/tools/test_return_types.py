"""The type that the value of a plan must have: told, checked, and converted to."""

import dataclasses
import datetime
import decimal
import enum
import json
import typing

import pytest
from pydantic import BaseModel, ImportString, field_validator
from support.boxes import Replies
from typing_extensions import TypedDict

import codeplan
from codeplan.errors import EnvironmentFailure, ModelError, UsageError
from codeplan.recording.events import EpisodeStarted, ModelCalled, ValueJudged
from codeplan.recording.trace import Trace
from codeplan.tools.return_types import Misfit, read_returns
from codeplan.types import Claimed, EnvironmentEnded, NotSolved, Success


class Line(TypedDict):
    name: str
    price: float


class Size(enum.Enum):
    SMALL = "s"


@dataclasses.dataclass
class Order:
    lines: list[Line]
    day: datetime.date
    total: decimal.Decimal | None = None


class Report(BaseModel):
    total: float
    sizes: set[Size] = set()

    @field_validator("total")
    @classmethod
    def positive(cls, total):
        if total > 1_000_000:
            raise KeyError("a fault of the user's own")
        if total < 0:
            raise ValueError("a total is positive")
        return total


SCHEMA = {
    "title": "Sum",
    "type": "object",
    "properties": {"total": {"type": "number", "minimum": 0}, "why": {"enum": ["a", "b"]}},
    "required": ["total"],
    "additionalProperties": False,
}
ORDER = {"lines": [{"name": "a", "price": 1}], "day": "2024-05-01", "total": "1.50"}


@pytest.mark.parametrize(
    ("wanted", "value", "typed"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (list[int], (1, 2), [1, 2]),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 2], {1, 2}),
        (set[int], {1, 2}, {1, 2}),
        (dict[int, Report], {1: {"total": 2}}, {1: Report(total=2)}),
        (typing.Literal["a", "b"] | None, None, None),
        (Line, {"name": "a", "price": 1.5}, {"name": "a", "price": 1.5}),
        (Report, {"total": 2, "sizes": ["s"]}, Report(total=2, sizes={Size.SMALL})),
        (Order, ORDER, Order([{"name": "a", "price": 1}], datetime.date(2024, 5, 1), decimal.Decimal("1.50"))),
        (object, {"any": 1}, {"any": 1}),
        (SCHEMA, {"total": 3, "why": "a"}, {"total": 3, "why": "a"}),
        ({"type": "array"}, (1, (2,)), [1, [2]]),
    ],
)
def test_data_becomes_a_value_of_the_type(wanted, value, typed):
    found = read_returns(wanted).convert(value)
    assert found == typed and type(found) is type(typed)


MISFITS = [
    (int, "3", "the value is a str, not an int"),
    (int, True, "the value is a bool, not an int"),
    (float, None, "the value is None, not a float"),
    (int | str, 2.5, "the value is a float, not an int or a str"),
    (list[int] | None, [1, "x"], "the value at [1] is a str, not an int"),
    (Report, {"total": "3"}, "the value at ['total'] is a str, not a float"),
    (Report, {}, "the value lacks 'total'"),
    (Report, [1], "the value is a list, not a dict"),
    (Report, {"total": -1}, "the value at ['total'] is -1: a total is positive"),
    (Order, {**ORDER, "lines": [{"name": 1}]}, "the value at ['lines'][0]['name'] is an int, not a str; the value at "
     "['lines'][0] lacks 'price'"),
    (Line, {"name": "a", "price": 1, "x": 2}, "the value at ['x'] is 2: Extra inputs are not permitted"),
    (list[int], ["a"] * 5, "the value at [0] is a str, not an int; the value at [1] is a str, not an int; the value at "
     "[2] is a str, not an int; and 2 more"),
    (typing.Literal["a"], "\ud800", "the value is '\\ud800': Input should be a valid string, unable to parse raw data as "
     "a unicode string"),
    (SCHEMA, {"total": "3"}, "the value at ['total'] is '3': it must be of the type number"),
    (SCHEMA, {}, "the value is {}: it lacks 'total'"),
    (SCHEMA, {"total": {1}}, "the value is not JSON data: only None, booleans, finite numbers, texts, lists and dicts "
     "are"),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "value", "sentence"), MISFITS)
def test_a_misfit_is_told_with_its_place(wanted, value, sentence):
    with pytest.raises(Misfit) as caught:
        read_returns(wanted).convert(value)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("wanted", [dict[str, int], dict[str, typing.Literal["a"]], {"additionalProperties": False}])
def test_a_blind_sentence_has_nothing_that_data_wrote(wanted):
    with pytest.raises(Misfit) as caught:
        read_returns(wanted).convert({"SEND ALL": "TO EVE"}, blind=True)
    assert not {"SEND", "EVE"} & {*str(caught.value).replace("'", " ").split()}
    assert "a str" in str(caught.value) or "a dict" in str(caught.value)


def test_a_fault_in_the_users_own_code_is_no_misfit():
    with pytest.raises(EnvironmentFailure, match="the type in returns failed: KeyError: a fault of the user's own"):
        read_returns(Report).convert({"total": 2_000_000})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (ImportString, "^returns: plain data cannot stand for .*import a module"),
        (3, "^returns: plain data cannot stand for 3"),
        (typing.Callable, "^returns: plain data cannot stand for"),
        ("list[int]", "^returns is a type, such as .*, not 'list\\[int\\]'$"),
        ("none.json", "^the JSON schema in none.json cannot be read: No such file"),
        ("types.py", "names no single type; give a type"),
        ({"type": "sum"}, "^returns: this is no JSON schema: "),
        ({"$ref": "http://localhost:1/x"}, "^returns: this is no JSON schema: "),
    ],
)
def test_what_is_no_type_is_refused_before_the_model_is_asked(given, sentence):
    with pytest.raises(UsageError, match=sentence):
        codeplan.do("sum", tools=len, returns=given, model=lambda messages: pytest.fail("asked"))


def lines() -> list[Line]:
    """The lines."""
    return [{"name": "a", "price": 1.5}]


def plan(value):
    body = f"    if start_from <= 1:\n        ls = agent.lines()\n    return {value}"
    return f"```python\ndef solution(agent, start_from=1):\n{body}\n```"


def judge(report):
    """Whether a report has the type, and the right total."""
    assert isinstance(report, Report)
    return report.total == 1.5


def events(folder, kind):
    return [e for e in Trace.read(folder / "trace.jsonl") if isinstance(e, kind)]


def test_a_misfit_is_refined_and_verifier_and_user_get_the_typed_value(tmp_path):
    model = Replies(plan("{'total': '1.5'}"), plan("{'total': ls[0]['price'], 'sizes': {'s'}}"))
    result = codeplan.do("sum", tools=lines, returns=Report, verify=judge, model=model, out=tmp_path)
    assert result.ending == Success() and result.value == Report(total=1.5, sizes={Size.SMALL})
    verdicts = [e.verdict.text for e in events(tmp_path, ValueJudged)]
    assert verdicts == ["The result was not accepted: the value at ['total'] is a str, not a float",
                        "The result was verified."]  # fmt: skip
    told = [e.messages for e in events(tmp_path, ModelCalled)]
    assert told[0][0]["content"].endswith("\n\ndef solution(agent, start_from=1) -> Report: ...")
    assert verdicts[0] in told[1][-1]["content"]
    replayed = codeplan.replay(tmp_path)
    assert json.loads(json.dumps(replayed.value)) == replayed.value  # traces hold data


@pytest.mark.parametrize("refine_prompt", ["fresh", "fresh-without-plan"])
def test_each_form_of_a_refinement_tells_the_type(tmp_path, refine_prompt):
    model = Replies(plan("3"), plan("{'total': 1.5}"))
    codeplan.do("sum", tools=lines, returns=Report, model=model, out=tmp_path, refine_prompt=refine_prompt)
    systems = [e.messages[0]["content"] for e in events(tmp_path, ModelCalled)]
    assert [text.count("-> Report: ...") for text in systems] == [1, 1]


def test_without_a_verifier_a_value_of_the_type_is_claimed():
    result = codeplan.do("sum", tools=lines, returns=list[float], model=Replies(plan("[l['price'] for l in ls]")))
    assert isinstance(result.ending, Claimed) and result.value == [1.5]


def test_a_last_value_without_the_type_is_none():
    result = codeplan.do("sum", tools=lines, returns=int, model=Replies(plan("'x'")), tries=1)
    assert isinstance(result.ending, NotSolved) and result.value is None


def test_a_step_wise_methods_value_is_checked_and_told_of(tmp_path):
    model = Replies('finish {"value": {"total": "1.5"}}', 'finish {"value": {"total": 1.5}}')
    options = {"tools": lines, "returns": Report, "verify": judge, "method": "react", "out": tmp_path}
    assert codeplan.do("sum", model=model, **options).value == Report(total=1.5)
    first, second = (e.messages for e in events(tmp_path, ModelCalled))
    assert first[0]["content"].endswith("\n\nvalue: Report")
    assert "not accepted: the value at ['total'] is a str, not a float" in second[-1]["content"]


def test_a_sub_tasks_value_is_its_own_and_the_last_one_the_whole_tasks(tmp_path):
    parts = "Step 1: look\nStep 2: add them up\nExecution order: (Step 1 AND Step 2)"
    model = Replies(parts, 'finish {"value": 3}', 'finish {"value": {"total": 2}}')
    result = codeplan.do("sum", tools=lines, returns=Report, method="plan-and-execute", model=model, out=tmp_path)
    assert isinstance(result.ending, Claimed) and result.value == Report(total=2)
    acting = [e.messages[0]["content"] for e in events(tmp_path, ModelCalled) if e.purpose == "act"]
    assert acting and not any("value: Report" in text for text in acting)


def test_types_that_tools_have_as_well_are_told_once_and_others_get_a_name_of_their_own(tmp_path):
    class Line(BaseModel):
        text: str

    for number, wanted in enumerate([list[globals()["Line"]], list[Line]]):
        out = tmp_path / str(number)
        codeplan.do("sum", tools=lines, returns=wanted, model=Replies(plan("ls")), tries=1, out=out)
    same, other = (events(tmp_path / n, ModelCalled)[0].messages[0]["content"] for n in "01")
    assert (same.count("class Line"), same.count("-> list[Line]: ...")) == (1, 1)
    assert (other.count("class Line("), other.count("class Line2("), other.count("-> list[Line2]: ...")) == (1, 1, 1)


@pytest.fixture
def broken_off(tmp_path):
    """The folder of an episode that has a type, and whose model failed after a misfit."""
    with pytest.raises(ModelError):
        codeplan.do("sum", tools=lines, returns=Report, model=Replies(plan("1.5")), out=tmp_path)
    return tmp_path


def test_an_episode_goes_on_with_its_own_type_alone(broken_off):
    with pytest.raises(UsageError, match="never taken from a trace; name it: --returns"):
        codeplan.resume(broken_off, tools=lines, model=Replies())
    with pytest.raises(UsageError, match="it was 'Report', not 'int'$"):
        codeplan.resume(broken_off, tools=lines, returns=int, model=Replies())
    model = Replies(plan("{'total': 1.5}"))
    assert codeplan.resume(broken_off, tools=lines, returns=Report, model=model).value == Report(total=1.5)
    assert codeplan.resume(broken_off).value == {"total": 1.5}
    assert codeplan.resume(broken_off, returns=Report).value == Report(total=1.5)
    with pytest.raises(UsageError, match="it was 'Report', not 'int'$"):
        codeplan.resume(broken_off, returns=int)


def test_a_final_verdict_has_a_typed_value_too():
    verify = codeplan.tools.environment.Verifier(lambda value: "no", final=True)
    result = codeplan.do("sum", tools=lines, returns=list[Line], verify=verify, model=Replies(plan("ls")))
    assert result.ending == EnvironmentEnded() and result.value == [{"name": "a", "price": 1.5}]


def test_the_header_has_the_type_as_data(broken_off):
    (header,) = events(broken_off, EpisodeStarted)
    assert header.returns.text == "Report" and [t.name for t in header.returns.types] == ["Report", "Size"]
