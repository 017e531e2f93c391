"""Lets pydantic read ``typing.TypedDict``, which it refuses before Python 3.12: it needs that of ``typing_extensions``.

Delete this module when codeplan needs Python 3.12.
"""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from typing import Any, get_args, get_origin

import typing_extensions

from codeplan.tools.annotations import is_required, type_hints

_LITERALS = (typing.Literal, typing_extensions.Literal)


def with_readable_dicts(annotation: Any) -> Any:
    """The annotation with each TypedDict replaced by one that pydantic reads. Dataclasses around one are kept."""
    return annotation if sys.version_info >= (3, 12) else _Rewriter().rewrite(annotation)


class _Rewriter:
    def __init__(self) -> None:
        self._rewritten: dict[type, Any] = {}
        self._visited: set[type] = set()

    def rewrite(self, annotation: Any) -> Any:
        if typing_extensions.is_typeddict(annotation):
            return self._dict(
                annotation, {n: (k, is_required(annotation, n, k)) for n, k in type_hints(annotation).items()}
            )
        if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
            return self._dataclass(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is None or not arguments or origin in _LITERALS:
            return annotation
        if origin is typing.Annotated:
            return typing.Annotated[(self.rewrite(arguments[0]), *arguments[1:])]
        rewritten = tuple(self.rewrite(a) for a in arguments)
        if all(new is old for new, old in zip(rewritten, arguments, strict=True)):
            return annotation
        if origin is types.UnionType:
            return typing.Union[rewritten]  # noqa: UP007
        first, *more = rewritten
        return origin[rewritten if more else first]  # forms such as Unpack take no tuple

    def _dict(self, cls: type, fields: dict[str, tuple[Any, bool]]) -> Any:
        if cls in self._rewritten:
            return self._rewritten[cls]
        blank = {n: _marked(Any, required) for n, (_, required) in fields.items()}
        self._rewritten[cls] = new = typing_extensions.TypedDict(cls.__name__, blank)  # type: ignore[operator]
        new.__annotations__ = {  # only now: a field may contain the class itself
            n: _marked(self.rewrite(_unmarked(kind)), required) for n, (kind, required) in fields.items()
        }
        return new

    def _dataclass(self, cls: Any) -> Any:
        """The dataclass itself, unless one of its fields needs a rewritten dict."""
        hints = type_hints(cls)
        given = [f for f in dataclasses.fields(cls) if f.init]
        if cls in self._rewritten:  # it contains itself
            return _made_from(self._rewritten[cls], cls)
        if cls in self._visited:  # as above, and whether it must be rewritten is not known yet
            return cls
        self._visited.add(cls)
        if all(self.rewrite(hints[f.name]) is hints[f.name] for f in given):
            return cls
        missing = dataclasses.MISSING
        fields = {f.name: (hints[f.name], f.default is missing and f.default_factory is missing) for f in given}
        return _made_from(self._dict(cls, fields), cls)


def _made_from(fields: Any, cls: Any) -> Any:
    """The type of a dataclass that is made from the dict of its fields."""
    from pydantic import AfterValidator

    return typing.Annotated[fields, AfterValidator(lambda values: cls(**values))]


def _unmarked(kind: Any) -> Any:
    marked = get_origin(kind) in (typing_extensions.Required, typing_extensions.NotRequired)
    return get_args(kind)[0] if marked else kind


def _marked(kind: Any, required: bool) -> Any:
    return kind if required else typing_extensions.NotRequired[kind]
