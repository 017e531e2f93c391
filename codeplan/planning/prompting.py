"""Asking the model by a template: the one way from a prompt's name and its values to the text of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.prompts.templates import PromptError, Prompts
from codeplan.types.model import Purpose


def load_prompts(folder: str | Path | None, method: str) -> Prompts:
    """The prompts that a method is to use: codeplan's own, and before them those of a folder.

    Raises UsageError where the folder does not serve.
    """
    try:
        return Prompts.cached(Path(folder) if folder else None)
    except (PromptError, TypeError) as e:
        raise UsageError(f"the setting prompts of the method {method} is wrong: {e}") from None


def ask_template(
    episode: Episode, prompts: Prompts, name: str, purpose: Purpose, *, stop: Sequence[str] = (), **values: object
) -> str:
    """The model's reply to a template; the trace names the template and its digest.

    Raises UsageError for a template that is missing or broken, and what ``Episode.ask`` raises.
    """
    try:
        label, messages = f"{name} {prompts.digest(name)}", prompts.messages(name, **values)
    except PromptError as e:
        raise UsageError(str(e)) from None
    return episode.ask(messages, purpose=purpose, prompt=label, stop=stop).text
