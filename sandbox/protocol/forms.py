"""Forms of answers to ``ask_llm``: ``form=`` as data, in words for the model, as a JSON schema, and as a check.

A plan gives a type: str, int, float, bool, date, datetime, ``Literal``, None, lists and dicts of these, dicts with
fixed keys (``{"iban": str, "amount": float}``), and unions. The worker turns it into a Form. The host does not trust
it: the frame's type and ``require_small`` bound it. Host and worker read an answer with the same ``fit``.
"""

from __future__ import annotations

import datetime
import json
import re
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, Final, TypeAlias, Union

import msgspec

from codeplan.untrusted.texts import is_utf8, with_article

MAX_PARTS: Final = 200
"""Maximum number of types in a form, those in others included."""

MAX_DEPTH: Final = 8
"""Maximum nesting of types in a form."""

MAX_ANSWER_CHARS: Final = 256_000  # as much as an episode takes of a reply
MAX_TRIES: Final = 3
"""How often the model is asked one question with a form, until its answer has that form."""

NOT_KNOWN: Final = "NotKnown"
"""The model's answer that the data do not say, in place of one that has the form."""

_Key: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)]
_MAX_WHOLE: Final = 2**53
_Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-_MAX_WHOLE, le=_MAX_WHOLE)]
_Choice: TypeAlias = Annotated[str, msgspec.Meta(max_length=2_000)] | _Whole | bool | None


class _Form(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Base of all forms."""


class Scalar(_Form, frozen=True, tag="scalar"):
    """A value without parts; ``name`` is that of its Python type."""

    name: typing.Literal["str", "int", "float", "bool", "date", "datetime", "None"]


class Choice(_Form, frozen=True, tag="choice"):
    """One of these values: ``Literal``."""

    values: Annotated[tuple[_Choice, ...], msgspec.Meta(min_length=1, max_length=MAX_PARTS)]


class ListOf(_Form, frozen=True, tag="list"):
    """A list of any length."""

    of: Form


class DictOf(_Form, frozen=True, tag="dict"):
    """A dict with any texts as keys."""

    of: Form


class Fields(_Form, frozen=True, tag="fields"):
    """A dict with exactly these keys."""

    fields: Annotated[dict[_Key, Form], msgspec.Meta(min_length=1, max_length=MAX_PARTS)]


class Either(_Form, frozen=True, tag="either"):
    """A union: the first form that fits counts."""

    forms: Annotated[tuple[Form, ...], msgspec.Meta(min_length=2, max_length=MAX_PARTS)]


Form: TypeAlias = Union[Scalar, Choice, ListOf, DictOf, Fields, Either]  # noqa: UP007  # msgspec reads it by name


def require_small(form: Form) -> None:
    """Raises: ValueError: the form has more than MAX_PARTS parts, or is nested deeper than MAX_DEPTH."""
    level: list[Form] = [form]
    left = MAX_PARTS
    for _ in range(MAX_DEPTH):
        left -= sum(len(part.values) if isinstance(part, Choice) else 1 for part in level)
        if left < 0:
            raise ValueError(f"a form has at most {MAX_PARTS} types in it")
        level = [inner for part in level for inner in _parts(part)]
        if not level:
            return
    raise ValueError(f"a form is nested at most {MAX_DEPTH} deep")


def _parts(form: Form) -> Iterator[Form]:
    match form:
        case ListOf(of) | DictOf(of):
            yield of
        case Fields(fields):
            yield from fields.values()
        case Either(forms):
            yield from forms


# ------------------------------------------------------------------ of a type

_SCALARS: Final[dict[Any, Form]] = {
    **{kind: Scalar(kind.__name__) for kind in (str, int, float, bool, datetime.date, datetime.datetime)},  # type: ignore[arg-type]
    **{none: Scalar("None") for none in (None, type(None))},
}
FORM_USAGE: Final = (
    "a form is a type such as str, int, date, Literal['a', 'b'], list[str] or {'iban': str, 'amount': float}"
)


def form_of(given: Any, depth: int = 0) -> Form:
    """The form that a plan's type stands for. Raises: TypeError: it is not one. ValueError: it is too large."""
    if depth > MAX_DEPTH:
        raise ValueError(f"a form is nested at most {MAX_DEPTH} deep")
    if type(given) in (type, type(None)) and given in _SCALARS:
        return _SCALARS[given]
    if type(given) is dict and given and all(type(key) is str and _is_short(key, 200) for key in given):
        return Fields({key: form_of(part, depth + 1) for key, part in given.items()})
    if type(given) is list and len(given) == 1:  # [str] is clear, too
        return ListOf(form_of(given[0], depth + 1))
    origin, arguments = typing.get_origin(given), typing.get_args(given)
    if origin is typing.Literal and all(map(_is_choice, arguments)):
        return Choice(arguments)
    if origin in (typing.Union, types.UnionType):
        return Either(tuple(form_of(part, depth + 1) for part in arguments))
    if origin is list and len(arguments) == 1:
        return ListOf(form_of(arguments[0], depth + 1))
    if origin is dict and len(arguments) == 2 and arguments[0] is str:
        return DictOf(form_of(arguments[1], depth + 1))
    found = given.__name__ if isinstance(given, type) else with_article(type(given).__name__)
    raise TypeError(f"{FORM_USAGE}, not {found}")


def _is_choice(value: Any) -> bool:
    if type(value) is int:
        return -_MAX_WHOLE <= value <= _MAX_WHOLE
    return value is None or type(value) is bool or (type(value) is str and _is_short(value, 2_000))


def _is_short(text: str, most: int) -> bool:
    return len(text) <= most and is_utf8(text)


# ------------------------------------------------------------------ for the model

_IN_WORDS: Final = {"date": '"YYYY-MM-DD"', "datetime": '"YYYY-MM-DDTHH:MM:SS"', "None": "null"}
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_JSON_TYPES: Final = {"int": "integer", "float": "number", "bool": "boolean", "None": "null", "NoneType": "null"}


def in_words(form: Form) -> str:
    """The form in JSON's notation, with Python's names of types."""
    match form:
        case Scalar(name):
            return _IN_WORDS.get(name, name)
        case Choice(values):
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        case ListOf(of):
            return f"[{in_words(of)}, ...]"
        case DictOf(of):
            return f"{{str: {in_words(of)}, ...}}"
        case Fields(fields):
            parts = (f"{json.dumps(key, ensure_ascii=False)}: {in_words(of)}" for key, of in fields.items())
            return f"{{{', '.join(parts)}}}"
        case Either(forms):
            return " | ".join(map(in_words, forms))


def answer_schema(form: Form) -> dict[str, Any]:
    """The JSON schema of an object whose ``answer`` has the form, or is NOT_KNOWN."""
    known = _schema(form)
    may_be_text = isinstance(form, Scalar) and form.name == "str"
    return _object({"answer": known if may_be_text else {"anyOf": [known, {"type": "string", "enum": [NOT_KNOWN]}]}})


def _schema(form: Form) -> dict[str, Any]:
    match form:
        case Scalar(name):
            return {"type": _JSON_TYPES.get(name, "string")}
        case Choice(values):
            kinds = dict.fromkeys(_JSON_TYPES.get(type(value).__name__, "string") for value in values)
            return {"type": list(kinds) if len(kinds) > 1 else next(iter(kinds)), "enum": list(values)}
        case ListOf(of):
            return {"type": "array", "items": _schema(of)}
        case DictOf(of):
            return {"type": "object", "additionalProperties": _schema(of)}
        case Fields(fields):
            return _object({key: _schema(of) for key, of in fields.items()})
        case Either(forms):
            return {"anyOf": [_schema(of) for of in forms]}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


# ------------------------------------------------------------------ of an answer


class WrongForm(Exception):
    """Says in a sentence, without the answer's own words, what an answer lacks."""


_FENCE: Final = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)
_PYTHON_WORDS: Final = {"True": True, "False": False, "None": None}
_QUOTES: Final = "\"'`. "


def read_answer(form: Form, text: str) -> Any:
    """The JSON data of a model's answer, which has the form; NOT_KNOWN if it says so.

    A fence is taken off. A text, a date or a choice may stand without quotes. Raises: WrongForm.
    """
    text = text.strip()
    if len(text) > MAX_ANSWER_CHARS:
        raise WrongForm(f"the answer is longer than {MAX_ANSWER_CHARS:,} characters")
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1].strip()
    if text.strip(_QUOTES) == NOT_KNOWN:
        return NOT_KNOWN
    problem = None
    for value in _readings(text):
        try:
            fit(form, value)
        except WrongForm as reason:
            problem = problem or reason
        else:
            return value
    raise problem or WrongForm("the answer is not JSON")


def _readings(text: str) -> Iterator[Any]:
    """What an answer may mean, the likeliest first: the JSON that it is, or the text as it stands."""
    if text in _PYTHON_WORDS:
        yield _PYTHON_WORDS[text]
    with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
        yield msgspec.json.decode(text)
    yield text


def fit(form: Form, value: Any, path: str = "the answer") -> Any:
    """The Python value that JSON data stand for in a form: dates become dates, whole numbers floats where it says so.

    Raises: WrongForm: they do not have the form.
    """
    match form:
        case Scalar(name):
            return _fit_scalar(name, value, path)
        case Choice(values):
            if any(type(value) is type(choice) and value == choice for choice in values):
                return value
            raise WrongForm(f"{path} is none of {in_words(form)[:500]}")
        case ListOf(of):
            _require(list, value, path)
            return [fit(of, part, f"{path}[{at}]") for at, part in enumerate(value)]
        case DictOf(of):
            _require(dict, value, path)
            return {key: fit(of, part, f"a value in {path}") for key, part in value.items()}
        case Fields(fields):
            return _fit_fields(fields, value, path)
        case Either(forms):
            return _fit_either(forms, value, path)


def _fit_scalar(name: str, value: Any, path: str) -> Any:
    if name in _IN_WORDS:
        return _fit_other(name, value, path)
    if name == "float" and type(value) is int and abs(value) < 2**1023:
        return float(value)
    if type(value).__name__ != name:
        raise WrongForm(f"{path} is {_kind(value)}, not {with_article(name)}")
    if value == NOT_KNOWN:
        raise WrongForm(f"{path} is {NOT_KNOWN}, which only the whole answer may be")
    return value


def _fit_other(name: str, value: Any, path: str) -> Any:
    """A date, a datetime or None."""
    if name == "None" and value is None:
        return None
    try:
        if name == "date" and type(value) is str and _ISO_DATE.fullmatch(value):
            return datetime.date.fromisoformat(value)
        if name == "datetime" and type(value) is str and len(value) > len("2024-05-01"):
            return datetime.datetime.fromisoformat(value)
    except ValueError:
        pass
    raise WrongForm(f"{path} is {_kind(value)}, not {_IN_WORDS[name]}")


def _fit_fields(fields: Mapping[str, Form], value: Any, path: str) -> dict[str, Any]:
    _require(dict, value, path)
    if missing := [key for key in fields if key not in value]:
        raise WrongForm(f"{path} lacks the key {json.dumps(missing[0], ensure_ascii=False)}")
    if len(value) > len(fields):
        raise WrongForm(f"{path} has a key that the form lacks")
    return {key: fit(of, value[key], f"{path}[{json.dumps(key, ensure_ascii=False)}]") for key, of in fields.items()}


def _fit_either(forms: tuple[Form, ...], value: Any, path: str) -> Any:
    problems: list[str] = []
    for of in forms:
        try:
            return fit(of, value, path)
        except WrongForm as reason:
            problems.append(str(reason))
    raise WrongForm(max(problems, key=len))  # the one that found most of a form in it


def _require(kind: type, value: Any, path: str) -> None:
    if type(value) is not kind:
        raise WrongForm(f"{path} is {_kind(value)}, not {with_article(kind.__name__)}")


def _kind(value: Any) -> str:
    return "null" if value is None else with_article(type(value).__name__)
