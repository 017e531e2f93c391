"""Asks the model with a template: from the template's name and values to the text of the reply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.prompts.templates import PromptError, Prompts
from codeplan.sandbox.limits import shorten
from codeplan.types import Purpose


def load_prompts(folder: str | Path | None, method: str) -> Prompts:
    """The templates of a method; those in ``folder`` override codeplan's own.

    Raises: UsageError: ``folder`` is not a folder.
    """
    try:
        return Prompts.cached(Path(folder) if folder else None)
    except (PromptError, TypeError) as e:
        raise UsageError(f"the setting prompts of the method {method} is wrong: {e}") from None


_MAX_PLAN_CHARS: Final = 128_000

MAX_PART_CHARS: Final = {
    "feedback": 16_000,
    "errors": 16_000,
    "source": _MAX_PLAN_CHARS,
    "previous": _MAX_PLAN_CHARS,
    "revised": _MAX_PLAN_CHARS,
}
"""Maximum lengths, in characters, of the parts of a prompt that tell of plans. A checked plan is never cut: by default
it has at most 65,536 bytes. The variables have a maximum of their own (``planner.MAX_VARIABLES_CHARACTERS``)."""


def ask_template(
    episode: Episode, prompts: Prompts, name: str, purpose: Purpose, *, stop: Sequence[str] = (), **values: object
) -> str:
    """The model's reply to a template. The trace names the template and its digest.

    Raises:
        UsageError: the template is missing or broken, or the values do not fit it.
        BudgetExceeded, SizeExceeded, ModelError: as ``Episode.ask``.
    """
    try:
        label, messages = f"{name} {prompts.digest(name)}", prompts.messages(name, **_bound_parts(values))
    except PromptError as e:
        raise UsageError(str(e)) from None
    return episode.ask(messages, purpose=purpose, prompt=label, stop=stop).text


def _bound_parts(values: dict[str, object]) -> dict[str, object]:
    return {
        name: shorten(value, MAX_PART_CHARS[name]) if name in MAX_PART_CHARS and isinstance(value, str) else value
        for name, value in values.items()
    }
