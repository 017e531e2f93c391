"""Forms of answers: what a type stands for, which answers have the form, and what the host takes from a worker."""

from __future__ import annotations

import datetime
import json
from typing import Any, Literal, Optional

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.sandbox.protocol import forms, frames
from codeplan.sandbox.protocol.forms import NOT_KNOWN, WrongForm, fit, form_of, in_words, read_answer, require_small
from codeplan.untrusted.texts import is_utf8

BILL = {"iban": str, "amount": float, "due": datetime.date | None}
DAY = datetime.date(2024, 5, 1)


def read(form: Any, text: str) -> Any:
    return fit(form_of(form), read_answer(form_of(form), text))


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (str, "str"),
        (list[int], "[int, ...]"),
        ([bool], "[bool, ...]"),
        (dict[str, datetime.date], '{str: "YYYY-MM-DD", ...}'),
        (Literal["a", 2, None], '"a" | 2 | null'),
        (Optional[float], "float | null"),  # noqa: UP045
        (BILL, '{"iban": str, "amount": float, "due": "YYYY-MM-DD" | null}'),
    ],
)
def test_a_type_crosses_to_the_host_and_is_told_in_words(form: Any, words: str) -> None:
    sent = frames.AskFrame("?", [], form_of(form))
    received = frames.unpack_worker_frame(frames.encode_frame(sent))
    assert received == sent
    assert in_words(received.form) == words


@pytest.mark.parametrize(
    "form", [dict, list, [], {}, "str", {1: str}, dict[int, str], bytes, [str, int], Literal[b"a"], 5]
)
def test_what_is_no_type_of_plain_data_is_no_form(form: Any) -> None:
    with pytest.raises(TypeError, match="^a form is a type such as str"):
        form_of(form)


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        (int, "12", 12),
        (float, "12", 12.0),
        (bool, "True", True),
        (str, "12", "12"),
        (str, '"a\\n"', "a\n"),
        (str, "He said: {no}", "He said: {no}"),
        (datetime.date, "2024-05-01", DAY),
        (datetime.datetime, '"2024-05-01T12:30:00Z"', datetime.datetime(2024, 5, 1, 12, 30, tzinfo=datetime.UTC)),
        (Literal["spam", "ham"], "ham", "ham"),
        (Literal["spam", "ham"], ' "ham"\n', "ham"),
        (datetime.date | None, "null", None),
        (str | None, "none of them", "none of them"),
        (list[str], '```json\n["a"]\n```', ["a"]),
        (BILL, '{"amount": 5, "due": "2024-05-01", "iban": "DE1"}', {"iban": "DE1", "amount": 5.0, "due": DAY}),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (list[int] | Literal["all"], "all", "all"),
        (datetime.date | str, '"2024-05-01"', DAY),
    ],
)
def test_an_answer_has_exactly_the_types_of_the_form(form: Any, text: str, value: object) -> None:
    found = read(form, text)
    assert (found, type(found)) == (value, type(value))
    assert repr(found) == repr(value)  # 5.0 and 5, True and 1 are equal


@pytest.mark.parametrize(
    ("form", "text", "why"),
    [
        (int, '"12"', "the answer is a str, not an int"),
        (int, "true", "the answer is a bool, not an int"),
        (int, "12.0", "the answer is a float, not an int"),
        (bool, "1", "the answer is an int, not a bool"),
        (float, "9" * 400, "the answer is .*, not a float"),
        (float, "NaN", "the answer is a str, not a float"),
        (datetime.date, "2024-13-01", 'the answer is a str, not "YYYY-MM-DD"'),
        (datetime.date, "20240501", 'the answer is an int, not "YYYY-MM-DD"'),
        (datetime.datetime, "2024-05-01", 'the answer is a str, not "YYYY-MM-DDTHH:MM:SS"'),
        (Literal["a", 1], "true", 'the answer is none of "a" | 1'),
        (list[int], '[1, "x"]', r"the answer\[1\] is a str, not an int"),
        (list[int], "[" * 100_000, "the answer is a str, not a list"),
        (dict[str, int], '{"hidden words": "x"}', "a value in the answer is a str, not an int"),
        (BILL, '{"iban": "DE1", "amount": null, "due": null}', r'the answer\["amount"\] is null, not a float'),
        (
            BILL,
            '{"iban": "NotKnown", "amount": 1, "due": null}',
            r'the answer\["iban"\] is NotKnown, which only the whole',
        ),
        (BILL, '{"iban": "DE1", "amount": 1}', 'the answer lacks the key "due"'),
        (
            BILL,
            '{"iban": "DE1", "amount": 1, "due": null, "hidden words": 1}',
            "the answer has a key that the form lacks",
        ),
        (list[str], "[" + "1," * 150_000 + "1]", "the answer is longer than 256,000 characters"),
    ],
)
def test_a_wrong_answer_is_told_in_words_that_are_not_its_own(form: Any, text: str, why: str) -> None:
    with pytest.raises(WrongForm, match=f"^{why}") as raised:
        read_answer(form_of(form), text)
    assert "hidden words" not in str(raised.value)


@pytest.mark.parametrize("text", ["NotKnown", '"NotKnown"', "`NotKnown`.", "```\nNotKnown\n```"])
@pytest.mark.parametrize("form", [int, str, BILL])
def test_the_model_says_that_the_data_do_not_say(form: Any, text: str) -> None:
    assert read_answer(form_of(form), text) == NOT_KNOWN


_TEXTS = st.text(max_size=5).filter(lambda text: is_utf8(text) and text.strip(" \"'`.") != NOT_KNOWN)
_LEAVES: Any = st.one_of(
    st.just((int, st.integers(-(2**63), 2**63 - 1))),
    st.just((str, _TEXTS)),
    st.just((bool, st.booleans())),
    st.just((float, st.floats(allow_nan=False, allow_infinity=False))),
    st.just((datetime.date | None, st.dates() | st.none())),
)
_TYPES = st.recursive(
    _LEAVES,
    lambda inner: (
        inner.map(
            lambda pair: (list[pair[0]] if not isinstance(pair[0], dict) else [pair[0]], st.lists(pair[1], max_size=3))
        )
        | st.dictionaries(_TEXTS, inner, min_size=1, max_size=3).map(
            lambda d: ({k: v[0] for k, v in d.items()}, st.fixed_dictionaries({k: v[1] for k, v in d.items()}))
        )
    ),
    max_leaves=5,
)


@given(st.data())
def test_json_of_a_value_of_the_form_reads_as_that_value(data: Any) -> None:
    kind, values = data.draw(_TYPES)
    value = data.draw(values)
    text = json.dumps(value, default=datetime.date.isoformat)
    found, wanted = (json.dumps(v, sort_keys=True, default=repr) for v in (read(kind, text), value))
    assert found == wanted


def deep(levels: int) -> Any:
    form: Any = forms.Scalar("int")
    for _ in range(levels - 1):
        form = forms.ListOf(form)
    return form


def test_forms_are_bounded() -> None:
    require_small(deep(8))
    require_small(form_of({str(k): int for k in range(199)}))
    for form in (deep(9), form_of({str(k): int for k in range(200)}), form_of(list[Literal[tuple(range(200))]])):  # type: ignore[misc]
        with pytest.raises(ValueError, match="a form "):
            require_small(form)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested"):
        form_of(endless)


@pytest.mark.parametrize(
    "form",
    [
        ["scalar", "bytes"],
        ["choice", []],
        ["choice", [1.5]],
        ["list"],
        ["fields", {}],
        ["fields", {"a" * 201: ["scalar", "int"]}],
        "str",
    ],
)
def test_no_frame_carries_another_form(form: Any) -> None:
    with pytest.raises(frames.ProtocolError):
        frames.unpack_worker_frame(msgspec.msgpack.encode(["AskFrame", "?", [], form]))
