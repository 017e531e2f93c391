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
        self._rewritten[cls] = dict[str, Any]  # for a class that contains itself
        needed = {n: self._field(kind, required) for n, (kind, required) in fields.items()}
        self._rewritten[cls] = typing_extensions.TypedDict(cls.__name__, needed)  # type: ignore[operator]
        return self._rewritten[cls]

    def _field(self, kind: Any, required: bool) -> Any:
        marked = get_origin(kind) in (typing_extensions.Required, typing_extensions.NotRequired)
        rewritten = self.rewrite(get_args(kind)[0] if marked else kind)
        return rewritten if required else typing_extensions.NotRequired[rewritten]

    def _dataclass(self, cls: Any) -> Any:
        """The dataclass itself, unless one of its fields needs a rewritten dict."""
        from pydantic import AfterValidator

        hints = type_hints(cls)
        given = [f for f in dataclasses.fields(cls) if f.init]
        if cls in self._visited:  # it contains itself
            return cls
        self._visited.add(cls)
        if all(self.rewrite(hints[f.name]) is hints[f.name] for f in given):
            return cls
        missing = dataclasses.MISSING
        fields = {f.name: (hints[f.name], f.default is missing and f.default_factory is missing) for f in given}
        return typing.Annotated[self._dict(cls, fields), AfterValidator(lambda values: cls(**values))]
