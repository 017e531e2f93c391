"""Run as a program: compares the lean trees of the checks' zygote with libcst's own, for texts given as JSON.

A lean node may lack a field that has its default. Prints, as JSON, "" for each text whose trees are the same, "refused" where
both refuse it, or where they differ.
"""

from __future__ import annotations

import dataclasses
import json
import sys

from codeplan.sandbox.cage import check_zygote


def parsed(texts: list[str]) -> list[object]:
    """The tree of each text, or the place where the parser refuses it."""
    import libcst

    found: list[object] = []
    for text in texts:
        try:
            found.append(libcst.parse_module(text))
        except libcst.ParserSyntaxError as error:
            found.append(("refused", error.raw_line, error.raw_column))
    return found


def difference(lean: object, full: object, path: str = "") -> str:
    """Where the trees differ; empty if nowhere."""
    if isinstance(lean, (list, tuple)):
        if not isinstance(full, (list, tuple)) or len(lean) != len(full):
            return f"{path}: another number of parts"
        pairs = ((a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(lean, full, strict=True)))
        return next(filter(None, (difference(*pair) for pair in pairs)), "")
    if type(lean).__name__ != type(full).__name__:
        return f"{path}: {type(lean).__name__}, {type(full).__name__}"
    if not hasattr(lean, "__dict__"):
        return "" if lean == full else f"{path}: {lean!r}, {full!r}"
    fields = [f for f in dataclasses.fields(full) if f.name not in vars(lean) and not f.name.startswith("__")]  # type: ignore[arg-type]
    given = [f.name for f in fields if getattr(full, f.name) != f.default]
    if given:
        return f"{path}: the lean tree lacks {given}"
    return next(filter(None, (difference(v, getattr(full, f), f"{path}.{f}") for f, v in vars(lean).items())), "")


def main() -> None:
    """Compare the texts of the standard input."""
    texts = json.load(sys.stdin)
    check_zygote.install()
    lean = parsed(texts)
    del sys.modules["libcst"]  # the native parser stays: it loads once in a process
    full = parsed(texts)
    print(json.dumps(["refused" if a == b else difference(a, b) for a, b in zip(lean, full, strict=True)]))


if __name__ == "__main__":
    main()
