"""Asks the model with a template: from the template's name and values to the text of the reply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.prompts.templates import PromptError, Prompts
from codeplan.types import Purpose


def load_prompts(folder: str | Path | None, method: str) -> Prompts:
    """The templates of a method; those in ``folder`` override codeplan's own.

    Raises: UsageError: ``folder`` is not a folder.
    """
    try:
        return Prompts.cached(Path(folder) if folder else None)
    except (PromptError, TypeError) as e:
        raise UsageError(f"the setting prompts of the method {method} is wrong: {e}") from None


def ask_template(
    episode: Episode, prompts: Prompts, name: str, purpose: Purpose, *, stop: Sequence[str] = (), **values: object
) -> str:
    """The model's reply to a template. The trace names the template and its digest.

    Raises:
        UsageError: the template is missing or broken, or the values do not fit it.
        BudgetExceeded, ModelError: as ``Episode.ask``.
    """
    try:
        label, messages = f"{name} {prompts.digest(name)}", prompts.messages(name, **values)
    except PromptError as e:
        raise UsageError(str(e)) from None
    return episode.ask(messages, purpose=purpose, prompt=label, stop=stop).text
