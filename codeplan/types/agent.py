"""An agent's API as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from codeplan.types.value import Value

_MAX_SENTENCE = 100
_MAX_NAMES = 100  # characters of a method's name and parameters, on one line
_MAX_UNKNOWN = 5  # names of arguments that a method lacks, in one message


class AgentParameter(Value, frozen=True):
    """One parameter of an agent's method; ``kind`` is the name of an ``inspect`` parameter kind.

    ``type`` is the type of its values in Python's notation, if every call with a constant of another type would be
    refused; otherwise it is empty.
    """

    name: str
    kind: Literal["POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD"] = (
        "POSITIONAL_OR_KEYWORD"
    )
    required: bool = True
    type: str = ""


class AgentMethod(Value, frozen=True):
    """A public method. ``signature`` is Python's, without ``self``; ``doc`` is the whole docstring."""

    name: str
    signature: str
    doc: str = ""
    parameters: tuple[AgentParameter, ...] = ()

    @property
    def first_line(self) -> str:
        """The method on one line: its name, its parameters' names, its type and its first sentence, shortened."""
        names = ", ".join(p.name if p.required else f"{p.name}=…" for p in self.parameters)
        said, returns = self.doc.partition("\n")[0].partition(". ")[0], self.signature.rpartition(" -> ")[2]
        shown = f" -> {returns}" if " -> " in self.signature and len(returns) <= _MAX_SENTENCE else ""
        form = f"{self.name}({_shortened(names, max(0, _MAX_NAMES - len(self.name)))})"
        return f"{form}{shown}: {_shortened(said, _MAX_SENTENCE)}"

    def explain_misfit(self, keywords: Iterable[str], error: TypeError) -> str:
        """Why a call does not fit: the keywords that the method lacks, otherwise what ``inspect`` said in ``error``.

        Python would name the missing argument, and not the argument with a wrong name.
        """
        if any(p.kind == "VAR_KEYWORD" for p in self.parameters):
            return str(error)
        own = [p.name for p in self.parameters if p.kind != "VAR_POSITIONAL"]
        unknown = [f"`{name[:_MAX_SENTENCE]}`" for name in keywords if name not in own][:_MAX_UNKNOWN]
        if not unknown:
            return str(error)
        return f"{self.name} has no argument {' or '.join(unknown)}; it has {', '.join(own) or 'none'}"


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


class AgentAttribute(Value, frozen=True):
    """A public attribute that a plan may read. ``type`` is the annotation's text, or empty."""

    name: str
    type: str = ""
    doc: str = ""


class AgentType(Value, frozen=True):
    """A name in signatures that stands for plain data; ``text`` says for which, in Python's notation."""

    name: str
    text: str


class AgentTool(Value, frozen=True):
    """A tool as data: its method, and the names in the method's signature that stand for plain data."""

    method: AgentMethod
    types: tuple[AgentType, ...] = ()


class ReturnType(Value, frozen=True):
    """The type that the user wants the value of a plan to have, in Python's notation.

    ``types`` are the names in it that stand for plain data, without those that tools' signatures have as well.
    """

    text: str
    types: tuple[AgentType, ...] = ()


ASK_USER = AgentMethod(
    "ask_user",
    "(question, form='', refused='')",
    "The user's answer.",
    (AgentParameter("question"), AgentParameter("form", required=False), AgentParameter("refused", required=False)),
)
"""The method behind a plan's ``ask_user``: ``form`` is the form of the answer in words, empty for any text, and
``refused`` says what the answer before lacked, if this is the same question again.
"""


class AgentApi(Value, frozen=True):
    """Everything that a plan may use of an agent; made by ``codeplan.agent_interface.agent_api``.

    ``aliases`` are pairs of another name, under which models look for a method, and the method's name. The check
    rewrites them. ``types`` are the names in signatures that a reader must have explained. ``brief`` names methods that
    prompts show on one line only, and ``unlisted`` those that they do not show. ``describe`` is the name of the method
    that returns their whole descriptions, if there are any, and ``report`` that of the agent's report. ``asks_user``:
    plans may ask the user (``ask_user``).
    """

    methods: tuple[AgentMethod, ...] = ()
    attributes: tuple[AgentAttribute, ...] = ()
    doc: str = ""
    aliases: tuple[tuple[str, str], ...] = ()
    types: tuple[AgentType, ...] = ()
    brief: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    describe: str = ""
    report: str = "report"
    asks_user: bool = False

    @property
    def callables(self) -> tuple[AgentMethod, ...]:
        """The methods that a running plan may call; only ``ask_user`` is not written as one."""
        return (*self.methods, ASK_USER) if self.asks_user else self.methods

    @property
    def names(self) -> tuple[str, ...]:
        """All public names: methods, then attributes."""
        return tuple(m.name for m in self.methods) + tuple(a.name for a in self.attributes)
