"""Asks the model with a template: from the template's name and values to the text of the reply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from codeplan.agent_interface import describe_api
from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.planning.feedback import MAX_PART_CHARS
from codeplan.prompts.templates import PromptError, Prompts
from codeplan.types import AgentApi, Message, Purpose, Task
from codeplan.untrusted.texts import excerpt


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
        BudgetExceeded, SizeExceeded, ModelError: as ``Episode.ask``.
    """
    return ask_messages(episode, prompts, name, purpose, render_messages(prompts, name, **values), stop=stop)


def ask_messages(
    episode: Episode,
    prompts: Prompts,
    name: str,
    purpose: Purpose,
    messages: Sequence[Message],
    *,
    stop: Sequence[str] = (),
) -> str:
    """The model's reply to messages. The template ``name`` made the last of them. Raises as ``ask_template``.

    The system message ends with the user's instructions, if the call acts for the user.
    """
    label = f"{name} {prompts.digest(name)}"
    if episode.instructions and purpose not in _WITHOUT_INSTRUCTIONS:
        told = render_text(prompts, "_instructions", instructions=episode.instructions)
        messages = [_with_more(message, told) for message in messages]
    return episode.ask(messages, purpose=purpose, prompt=label, stop=stop).text


_WITHOUT_INSTRUCTIONS: Final = frozenset[Purpose]({"ask", "resume", "formalise"})
"""Calls that do not act for the user: what ``ask_llm`` reads may be anybody's; the others only reword or compare."""


def _with_more(message: Message, text: str) -> Message:
    """A system message with a further block; any other as it is."""
    if message["role"] != "system":
        return message
    return {"role": "system", "content": f"{message['content']}\n\n\n{text}"}


def render_messages(prompts: Prompts, name: str, **values: object) -> list[Message]:
    """The messages that a template makes. Raises: UsageError: it is missing or broken, or the values do not fit it."""
    try:
        return prompts.messages(name, **_bound_parts(values))
    except PromptError as e:
        raise UsageError(str(e)) from None


def render_text(prompts: Prompts, name: str, **values: object) -> str:
    """The text that a template without blocks makes. Raises as ``render_messages``."""
    try:
        return prompts.render(name, **_bound_parts(values))
    except PromptError as e:
        raise UsageError(str(e)) from None


def api_text(episode: Episode, prompts: Prompts, task: Task, template: str, api: AgentApi, **values: object) -> str:
    """The agent's API as prompts show it, and by ``template`` the type that the task's value must have.

    A sub-task's value may have any type, and then the API is all.
    """
    shown, returns = describe_api(api), episode.returns
    if returns is None or episode.is_subtask(task):
        return shown
    return f"{shown}\n\n{render_text(prompts, template, text=returns.text, types=returns.types, **values)}"


def _bound_parts(values: dict[str, object]) -> dict[str, object]:
    return {
        name: excerpt(value, MAX_PART_CHARS[name]) if name in MAX_PART_CHARS and isinstance(value, str) else value
        for name, value in values.items()
    }
