"""Asks the model by templates, and chooses the worked examples of a prompt.

Samples are of the task's kind or a similar one, and never the task itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from codeplan.agent_interface import agent_api, describe_api
from codeplan.episode.episode import Episode
from codeplan.errors import UsageError
from codeplan.planning.feedback import MAX_PART_CHARS
from codeplan.prompts.templates import PromptError, Prompts
from codeplan.protocols import HasSimilarKinds, OffersAgents
from codeplan.types import AgentApi, Message, Purpose, Task, Value
from codeplan.untrusted.texts import excerpt
from codeplan.untrusted.values import in_quotes


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


_THIS_KIND, _SIMILAR, _OTHER = "another task of this kind", "a task of a similar kind", "a task of another kind"

SampleOrigin = Literal["own", "paper"]
"""codeplan's own worked examples, or, where they exist, examples in the manner of AdaPlanner's: these ask, or leave
something to refine.
"""

SampleTable = Literal["nearest", "kind", "paper"]
"""The examples nearest to the task's kind, those of the task's kind alone, or exactly one: the one that the paper's
table names for the kind."""

PAPER_TABLE: Final[dict[int, dict[str, str]]] = {
    2: {
        **dict.fromkeys(("pick", "clean", "heat", "cool"), "clean"),
        **dict.fromkeys(("examine", "pick_two"), "examine"),
    },
    4: {
        "pick": "pick",
        **dict.fromkeys(("clean", "heat", "cool"), "clean"),
        "examine": "examine",
        "pick_two": "pick_two",
    },
    6: {kind: kind for kind in ("pick", "clean", "heat", "cool", "examine", "pick_two")},
}
"""The paper's tables, by their number of samples: for each kind, the kind of the sample that serves it (Sun et al.
2023, appendix B, table 6).
"""

_PAPER_FOLDER: Final = "paper_samples"

_USED = re.compile(r"\bagent\.([A-Za-z]\w*)")


class WorkedExample(Value, frozen=True):
    """A plan that prompts show. ``relation`` says how its task is related to the task at hand."""

    text: str
    relation: str


class SampleSettings(Value, frozen=True, kw_only=True):
    """Which worked examples a prompt shows: at most ``count``; if ``kinds`` are named, only of these.

    ``origin`` and ``table`` are as SampleOrigin and SampleTable say.

    Raises: UsageError: the settings do not fit each other.
    """

    count: int = 1
    kinds: tuple[str, ...] = ()
    origin: SampleOrigin = "own"
    table: SampleTable = "nearest"

    def __post_init__(self) -> None:
        if self.count < 0:
            raise UsageError(f"the setting samples is {self.count}; give a number from 0 up")
        if self.table == "paper" and self.count not in (0, *PAPER_TABLE):
            raise UsageError(f"sample_table=paper needs 0, 2, 4 or 6 samples, as in the paper (got {self.count})")
        if self.table == "paper" and self.kinds:
            raise UsageError("sample_table=paper chooses the kinds of the samples; leave out sample_kinds")

    def for_kind(self, kind: str) -> SampleSettings:
        """The settings for a task of this kind.

        With the paper's table, that is one example of the kind that the table names.

        Raises: UsageError: the table does not have the kind.
        """
        if self.table != "paper" or self.count == 0:
            return self
        served = PAPER_TABLE[self.count]
        if kind not in served:
            raise UsageError(
                f"sample_table=paper has no sample for tasks of kind {in_quotes(kind)}; it is for {', '.join(served)}"
            )
        return SampleSettings(kinds=(served[kind],), origin=self.origin)


def choose_samples(
    prompts: Prompts, env: Any, kind: str, goal: str, settings: SampleSettings, *, asks: bool = True, method: str = ""
) -> tuple[WorkedExample, ...]:
    """The worked examples for a task of ``env``: those of its kind first, then of similar kinds.

    A kind may have several: ``click-shape.j2``, ``click-shape_2.j2`` and so on. Examples of all other kinds come last,
    and only if ``settings.kinds`` or a count of 2 or more asks for them. An example for the same goal is left out;
    without ``asks``, so is an example that asks. If the environment has several agents, the examples come from the
    chosen agent's own folder (``household/paper``) if it exists, and use only names of that agent. With ``method``
    they are that method's own (``text_planner/household/heat.j2``).

    Raises: UsageError: the paper's table does not have the kind.
    """
    settings = settings.for_kind(kind)
    chosen: dict[str, WorkedExample] = {}
    folders = _folders(env, settings.origin)
    names = set(agent_api(env.agent).names) if isinstance(env, OffersAgents) and env.agents else None
    folders = [f"{method}/{folder}" for folder in folders] if method else folders

    def fits(text: str) -> bool:
        return (asks or "ask_llm(" not in text) and (names is None or names.issuperset(_USED.findall(text)))

    for each, relation in _kinds_in_order(env, kind, settings):
        for name in _example_names(prompts, env, folders, each):
            if len(chosen) >= settings.count:
                return tuple(chosen.values())
            found = (sample_for(prompts, folder, name, goal) for folder in folders)
            text = next((text for text in found if text and fits(text)), None)
            if text:
                chosen.setdefault(text, WorkedExample(text, relation))
    return tuple(chosen.values())


def _example_names(prompts: Prompts, env: Any, folders: list[str], kind: str) -> Iterator[str]:
    """The names of a kind's examples: the kind, then the kind with _2, _3 and so on while such examples exist."""
    yield kind
    for name in (f"{kind}_{n}" for n in count(2)):
        if name in getattr(env, "kinds", ()) or not any(prompts.sample(folder, name) for folder in folders):
            return
        yield name


def _folders(env: Any, origin: SampleOrigin) -> list[str]:
    """The folders with worked examples: those in the paper's manner if the settings ask for them, then the chosen
    agent's own.
    """
    agents = env.agents if isinstance(env, OffersAgents) else {}
    own = [*(f"{env.name}/{name}" for name, agent in agents.items() if agent is env.agent), env.name]
    return [f"{env.name}/{_PAPER_FOLDER}", *own] if origin == "paper" else own


def _kinds_in_order(env: Any, kind: str, settings: SampleSettings) -> Iterator[tuple[str, str]]:
    """Each kind whose examples may be shown with its relation to ``kind``, the nearest first."""
    similar = env.similar_kinds.get(kind, ()) if isinstance(env, HasSimilarKinds) and env.similar_kinds else ()
    order = [(kind, _THIS_KIND)]
    if settings.table != "kind":
        order += [(each, _SIMILAR) for each in similar if each != kind]
    if settings.table != "kind" and (settings.kinds or settings.count > 1):
        order += [(each, _OTHER) for each in getattr(env, "kinds", ()) if each != kind and each not in similar]
    yield from ((each, relation) for each, relation in order if not settings.kinds or each in settings.kinds)


def sample_for(prompts: Prompts, folder: str, name: str, goal: str) -> str | None:
    """The worked example ``folder/name``; None if there is none, or if it is about this very goal."""
    text = prompts.sample(folder, name)
    return None if text is None or _is_about(text, goal) else text


def _is_about(sample: str, goal: str) -> bool:
    """Whether a line of the example states this goal, alone or after ``Task:`` or the like.

    Letter case, spaces and the full stop do not matter.
    """
    wanted = _normal(goal)
    lines = map(_normal, sample.splitlines())
    return any(wanted in (line, line.partition(": ")[2]) for line in lines if wanted)


def _normal(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".?! ")
