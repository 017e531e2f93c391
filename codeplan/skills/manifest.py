"""``SKILL.md``: a skill's data except its plan and evidence, as TOML between two lines of ``+++``, then prose.

The prose is for people: it is written with the data and never read.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from codeplan.errors import UsageError
from codeplan.skills.durable_files import DamagedSkill
from codeplan.skills.skill import Skill, SkillOrigin, SkillStatus
from codeplan.untrusted.terminal import parser_reason
from codeplan.untrusted.toml import parse_toml
from codeplan.untrusted.values import in_quotes

FENCE = "+++"
MAX_MANIFEST_BYTES = 256 * 1024
MAX_TEXT_CHARACTERS = 2_000
"""Longer descriptions and goals are cut."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")

_Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARACTERS)]
_Word = Annotated[str, msgspec.Meta(max_length=200)]


class _Origin(msgspec.Struct, forbid_unknown_fields=True):
    task: _Text
    goal: _Text = ""
    model: _Text = ""
    run: _Text = ""


class SkillManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The front matter; ``digest`` is the digest of the plan."""

    name: _Word
    description: _Text
    environment: _Word
    kind: _Word
    parameters: Annotated[tuple[_Word, ...], msgspec.Meta(max_length=200)]
    version: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    status: SkillStatus
    pinned: bool
    digest: _Word
    origins: tuple[_Origin, ...] = ()

    def to_skill(self, plan: str) -> Skill:
        """Return the skill with its plan."""
        origins = tuple(SkillOrigin(o.task, o.goal, o.model, o.run) for o in self.origins)
        state = self.version, self.status, self.pinned, origins
        return Skill(self.name, self.environment, plan, self.kind, self.description, self.parameters, *state)


def require_valid_name(name: str, what: str = "a skill") -> str:
    """Return a name that is valid for a folder. Raises: UsageError for another."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{in_quotes(name, 100)} is not a valid name for {what}; use at most 80 of a-z, 0-9, - and _")
    return name


def plan_digest(plan: str) -> str:
    """Return 16 hexadecimal digits that identify the plan's text."""
    return hashlib.sha256(plan.encode()).hexdigest()[:16]


def parse_manifest(text: str) -> SkillManifest:
    """Parse a file's front matter. Raises: DamagedSkill with the reason."""
    lines = text.removeprefix("\ufeff").split("\n")
    fences = [i for i, line in enumerate(lines) if line.strip() == FENCE][:2]
    if len(fences) < 2 or fences[0]:
        raise DamagedSkill(f"it does not start with TOML between two lines of {FENCE}")
    try:
        return msgspec.convert(parse_toml("\n".join([*lines[1 : fences[1]], ""])), SkillManifest)
    except msgspec.ValidationError as e:
        raise DamagedSkill(f"its front matter is invalid: {parser_reason(e)}") from None
    except tomllib.TOMLDecodeError as e:
        raise DamagedSkill(f"its front matter is not TOML: {parser_reason(e)}") from None


def format_manifest(skill: Skill) -> str:
    """Return the file's text for a skill."""
    fields = {
        "name": skill.name,
        "description": _truncate(skill.description),
        "environment": skill.env,
        "kind": skill.kind,
        "parameters": list(skill.parameters),
        "version": skill.version,
        "status": skill.status,
        "pinned": skill.pinned,
        "digest": plan_digest(skill.plan),
    }
    lines = [FENCE, *_toml_lines(fields)]
    for origin in skill.origins:
        known = {n: _truncate(getattr(origin, n)) for n in origin.__struct_fields__ if getattr(origin, n)}
        lines += ["", "[[origins]]", *_toml_lines(known)]
    return "\n".join([*lines, FENCE, "", *_prose(skill), ""])


def _prose(skill: Skill) -> Iterable[str]:
    kind = f" of kind {skill.kind}" if skill.kind else ""
    yield f"# {skill.name}"
    yield ""
    yield _truncate(skill.description) or "A plan that solved a task."
    yield ""
    yield f"For tasks{kind} in {skill.env}. The plan is in plan.py, the evidence in evidence.jsonl."


def _toml_lines(fields: dict[str, Any]) -> Iterable[str]:
    return (f"{name} = {_toml(value)}" for name, value in fields.items())


def _toml(value: bool | int | str | list[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + "".join(_escape(c) for c in value) + '"'
    return f"[{', '.join(_toml(v) for v in value)}]"


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    return f"\\u{code:04x}" if code < 32 or 127 <= code < 160 or code in (0x2028, 0x2029) else character


def _truncate(text: str) -> str:
    """The text, truncated, without characters that UTF-8 cannot encode (lone surrogates)."""
    return text[:MAX_TEXT_CHARACTERS].encode("utf-8", "replace").decode()
