"""Resolves a name that a plan gives among the names that were seen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codeplan.errors import AgentError
from codeplan.untrusted.differences import nearest_name
from codeplan.untrusted.values import in_quotes

_WORD = re.compile(r"\w+")
_ARTICLES = {"a", "an", "the"}
_MAX_SHOWN = 30


def resolve_name(wanted: str, known: Sequence[str], where: str) -> str:
    """The one known name that is ``wanted`` or contains all of its words.

    Raises: AgentError: no name does, or several do. The message lists them; ``where`` says where they are.
    """
    if wanted in known:
        return wanted
    words = _words(wanted)
    fitting = [name for name in dict.fromkeys(known) if words and words <= _words(name)]
    same = [name for name in fitting if words == _words(name)]
    if len(fitting) == 1 or len(same) == 1:
        return (same or fitting)[0]
    if fitting:
        raise AgentError(f"{in_quotes(wanted, 80)} can be {_listed(fitting, ' or ')}; give the whole name")
    near = nearest_name(wanted[:80], known)
    seen = _listed(list(dict.fromkeys(known)), ", ")
    meant = f"; did you mean {in_quotes(near, 80)}?" if near else f"; there are: {seen}"
    raise AgentError(f"nothing called {in_quotes(wanted, 80)} was seen {where}{meant}")


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.lower())) - _ARTICLES


def _listed(names: list[str], between: str) -> str:
    shown = [in_quotes(name, 80) for name in names[:_MAX_SHOWN]]
    return between.join(shown) + (" …" if len(names) > _MAX_SHOWN else "") if shown else "nothing"
