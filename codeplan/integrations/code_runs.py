"""Runs the Python code that other frameworks' models write: snippets that call tools by their names, or whole plans."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from codeplan.errors import SandboxError, UsageError
from codeplan.runner.given_plans import Execution, execute
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.language.extraction import SOLUTION_HEADER
from codeplan.tools.toolset import Toolset
from codeplan.types import Checkpoint, Failed, Finished, GiveUp, Rejected, Replan, Stopped
from codeplan.types.value import Value
from codeplan.untrusted.json_values import json_value
from codeplan.untrusted.texts import escape_surrogates, one_line

DESCRIPTION: Final = """\
Run Python code in a sandbox. The code may call these functions by their names:

{functions}

What the code prints is returned, and the value of its last line if that is an expression. The code has Python's \
builtins and the usual modules for computing (math, re, json, datetime, …), but no files, network or other packages. \
Each call of this tool starts anew: no variables are kept."""

_MAX_LINE: Final = 200
_NOTHING: Final = f"{SOLUTION_HEADER}\n    pass\n"


def missing_extra(name: str) -> UsageError:
    """The error where a framework is not installed."""
    return UsageError(f"codeplan.integrations needs the extra {name} here; install it: pip install 'codeplan[{name}]'")


class Kept(Value, frozen=True):
    """What the next snippet finds: the text of the definitions, and the variables."""

    definitions: str = ""
    variables: Checkpoint = Checkpoint()


class CodeRun(Value, frozen=True):
    """How a run of code ended. ``fault`` says why it did not reach its end, for the model; empty if it did.

    ``value`` is that of the last expression, as plain data; ``note`` says why there is none although there should be.
    ``acted`` is whether tools were called; ``stopped_by`` is the reason given to ``replan``, if that ended the code.
    """

    printed: str = ""
    value: Any = None
    note: str = ""
    fault: str = ""
    acted: bool = False
    stopped_by: str = ""
    kept: Kept = Kept()

    @property
    def answer(self) -> dict[str, Any]:
        """What a model reads of a run that reached its end, as JSON data."""
        value = json_value(self.value, Limits().call_bytes)
        note = "its value is too large to be shown; print a part of it" if value != self.value and value is None else ""
        return {"printed": self.printed, "value": value} | ({"note": self.note or note} if self.note or note else {})

    @property
    def failure(self) -> str:
        """What a model reads of a run that did not reach its end."""
        printed = f"\nIt had printed:\n{self.printed}" if self.printed else ""
        calls = "\nThe calls before were made; do not repeat those that act." if self.acted else ""
        return f"{self.fault}{calls}{printed}"


class _Wrapped(msgspec.Struct, frozen=True):
    """A snippet as a plan, as the worker returns it."""

    plan: str
    definitions: str
    before: tuple[str, ...] = ()
    lost: dict[str, str] = {}


class CodeRunner:
    """Runs code over ``tools``, as ``codeplan.execute`` does; ``options`` are its other parameters about tools.

    Without ``model``, the code cannot use ``ask_llm``. Thread-safe.

    Raises: UsageError: a tool or an option is wrong. SandboxError: this machine cannot run plans.
    """

    def __init__(
        self,
        tools: object,
        *,
        limits: Limits | None = None,
        imports: str | tuple[str, ...] = "",
        allow_weak_sandbox: bool = False,
        **options: Any,
    ) -> None:
        self.toolset = Toolset(tools)
        limits = limits or Limits()
        self._limits = limits if "model" in options else replace(limits, asks=0)
        self._sandbox = Sandbox(self._limits, allow_weak=allow_weak_sandbox, imports=imports)
        self._sandbox.run(_NOTHING, None, str)  # a machine without a sandbox is told before the model begins
        self._options = {"imports": imports, "allow_weak_sandbox": allow_weak_sandbox, **options}

    @property
    def description(self) -> str:
        """What a model reads about the tool that runs code."""
        types = [each.text for each in self.toolset.api.types]
        methods = [f"def {t.name}{t.method.signature}:\n{_quoted(t.method.doc)}" for t in self.toolset.tools]
        return DESCRIPTION.format(functions="\n\n".join([*types, *methods]))

    def run(self, code: str, before: Kept = Kept()) -> CodeRun:  # noqa: B008  # frozen
        """Run a snippet or a plan, with what snippets ``before`` left.

        Raises: UsageError, InfrastructureError: as ``codeplan.execute``; what the code does wrong is in the result.
        """
        try:
            tools = [tool.name for tool in self.toolset.tools]
            given: dict[str, Any] = {
                "definitions": before.definitions,
                "gone": [*before.variables.dropped],
                "tools": tools,
            }
            given["variables"] = [*before.variables.names]
            found = self._sandbox.analyse("snippet", code, given)
            if isinstance(found, Rejected):
                return CodeRun(fault=_refusal(found, code, before), kept=before)
            wrapped = msgspec.convert(found, _Wrapped)
        except (SandboxError, msgspec.ValidationError):  # the code broke its reader, or lies about itself
            return CodeRun(fault="the code cannot be read as Python; write simpler code", kept=before)
        options: dict[str, Any] = {"tools": self.toolset, "limits": self._limits, **self._options}
        if before.variables.names:
            options |= {"start_from": 1, "checkpoint": replace(before.variables, dropped={})}
        return _read(execute(wrapped.plan, **options), wrapped, before)


def _read(execution: Execution, wrapped: _Wrapped, before: Kept) -> CodeRun:
    """The result of a run as other frameworks need it."""
    outcome, result = execution.outcome, execution.result
    source, acted = result.plan or wrapped.plan, result.actions > 0
    if outcome is None:
        return CodeRun(fault=f"the code was ended: {result.reason}", acted=acted, kept=before)
    if isinstance(outcome, Rejected):
        return CodeRun(fault=_refusal(outcome, outcome.source, before, wrapped.lost), kept=before)
    is_inside = isinstance(outcome, Finished) or outcome.step is not None
    failed = None if is_inside else _definition_at(outcome.line, wrapped.before)
    texts = wrapped.definitions if failed is None else "\n".join(t for t in wrapped.before if t is not failed)
    kept = Kept(texts, outcome.checkpoint or before.variables)
    run = CodeRun(printed=escape_surrogates(outcome.output), acted=acted, kept=kept)
    if isinstance(outcome, Finished):
        return replace(run, value=showable(outcome.value), note=outcome.value_fault)
    stopped_by = outcome.reason if isinstance(outcome, Replan) else ""
    forgotten = "" if failed is None else "; this definition of earlier code is forgotten, and nothing else ran"
    fault = escape_surrogates(_fault(outcome) + _at_line(source, outcome.line) + forgotten)
    return replace(run, fault=fault, stopped_by=stopped_by)


def _definition_at(line: int | None, definitions: tuple[str, ...]) -> str | None:
    """The definition on this line of those that a plan begins with, where one failed as it was made again."""
    last = 0
    for text in definitions:
        last += text.count("\n") + 1
        if line is not None and line <= last:
            return text
    return None


def showable(value: Any) -> Any:
    """The value; a text as one that UTF-8 can encode."""
    return escape_surrogates(value) if isinstance(value, str) else value


def _fault(outcome: Failed | Stopped | Replan | GiveUp) -> str:
    name, message = outcome.fault
    if isinstance(outcome, Failed):
        return f"{name}: {message}" if message else name
    return message if isinstance(outcome, Stopped) else f"the code called {name}: {message}"


def _refusal(rejected: Rejected, source: str, before: Kept, lost: Mapping[str, str] = MappingProxyType({})) -> str:
    """Why the check refuses the code, with the lines that it is about, and why names of earlier code are gone."""
    reasons = [f"- {d.message}{_at_line(source, d.line)}" for d in rejected.diagnostics]
    said = "\n".join(reasons)
    whys = {**before.variables.dropped, **{n: f"it reads `{read}`, which was not kept" for n, read in lost.items()}}
    gone = [f"- `{n}` of earlier code was not kept: {why}" for n, why in whys.items() if f"`{n}`" in said]
    return escape_surrogates("\n".join(["the code was refused, and nothing of it ran:", *reasons, *gone]))


def _quoted(doc: str) -> str:
    return textwrap.indent(f'"""{doc.strip()}"""', "    ")


def _at_line(source: str, line: int | None) -> str:
    """The line's text, for readers whose lines have other numbers than the plan's."""
    lines = source.splitlines()
    text = lines[line - 1].strip() if line and line <= len(lines) else ""
    return f" (at `{one_line(text, _MAX_LINE)}`)" if text else ""
