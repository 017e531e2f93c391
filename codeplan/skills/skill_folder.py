"""One skill's folder: ``SKILL.md``, ``plan.py``, ``evidence.jsonl``, and ``versions/`` with every version's plan.

A change of the plan is crash-safe by its order: first the new plan in ``versions/``, then ``SKILL.md``, whose digest
names the current plan, then ``plan.py``. In between, readers take the plan with that digest from ``versions/``. Writers
hold the library's lock. Links in a library are not followed: neither its files nor its folders may be links.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from codeplan import durable_files
from codeplan.errors import UsageError
from codeplan.skills.skill import EvidenceRecord, Skill, SkillOrigin, SkillStatus, decode_records
from codeplan.untrusted import files
from codeplan.untrusted.files import list_folder
from codeplan.untrusted.texts import parser_reason
from codeplan.untrusted.toml import parse_toml
from codeplan.untrusted.values import in_quotes


class DamagedSkill(ValueError):
    """A skill's folder cannot be used; the message names the file and the reason. Nothing in it is deleted."""


# ------------------------------------------------------------------ ``SKILL.md``

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


MANIFEST, PLAN, EVIDENCE, VERSIONS = "SKILL.md", "plan.py", "evidence.jsonl", "versions"
MAX_PLAN_BYTES = 1 << 20
MAX_EVIDENCE_BYTES = 64 << 20


class HandEditedPlan(DamagedSkill):
    """``plan.py`` holds another plan than ``SKILL.md`` says: a person has edited it."""


def read_skill(folder: Path) -> Skill:
    """Read the skill. Raises: DamagedSkill with the file and the reason."""
    found = _read_manifest(folder)
    try:
        require_valid_name(found.environment, "an environment")
        require_valid_name(found.name)
    except UsageError as e:
        raise DamagedSkill(f"{folder / MANIFEST}: {e}") from None
    if found.name != folder.name or found.environment != folder.parent.name:
        where = f"{found.environment}/{found.name}"
        raise DamagedSkill(f"{folder / MANIFEST}: it describes the skill {where}; a skill's folder must have its name")
    return found.to_skill(_read_plan(folder, found))


def is_usable(folder: Path) -> bool:
    """Whether the skill can be read."""
    try:
        read_skill(folder)
    except DamagedSkill:
        return False
    return True


def read_version(folder: Path, version: int) -> Skill:
    """Read the current or an earlier version of the skill. Raises: DamagedSkill if its plan is missing."""
    found = _read_manifest(folder)
    if version == found.version:
        return read_skill(folder)
    if not _version_file(folder, version).exists():
        raise DamagedSkill(f"{folder} has no version {version}; its latest is {found.version}")
    plan = _read_text(_version_file(folder, version), MAX_PLAN_BYTES, folder)
    return msgspec.structs.replace(found.to_skill(plan), version=version)


def read_evidence(folder: Path) -> tuple[list[EvidenceRecord], list[int]]:
    """Read the evidence and the numbers of malformed lines. Raises: DamagedSkill if the file cannot be read."""
    try:
        return decode_records(files.read_bytes(f"{folder}/{EVIDENCE}", MAX_EVIDENCE_BYTES, _library(folder)))
    except FileNotFoundError:
        return [], []
    except OSError as e:
        raise DamagedSkill(f"{folder / EVIDENCE}: {e.strerror}") from None


def signature(folder: str) -> str | None:
    """Return a text that changes with the three files (times, sizes, inodes); None if the folder is gone."""
    parts = [_file_stamp(f"{folder}/{name}") for name in (MANIFEST, PLAN, EVIDENCE)]
    return " ".join(parts) if any(parts) or os.path.isdir(folder) else None


def _file_stamp(path: str) -> str:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino}"


def create_folder(folder: Path, skill: Skill) -> None:
    """Create a new skill's folder, atomically."""
    files.create_folder(folder.parent, folder.parent.parent)
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.tmp")
    temporary.mkdir()
    try:
        _keep_plan(temporary, skill)
        files.write_atomically(temporary / PLAN, skill.plan)
        files.write_atomically(temporary / MANIFEST, format_manifest(skill))
        os.rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    durable_files.sync_folder(folder.parent)


def update_manifest(folder: Path, skill: Skill) -> None:
    """Write the skill's manifest; the plan stays, and ``versions/`` keeps it."""
    _keep_plan(folder, skill)
    files.write_atomically(folder / MANIFEST, format_manifest(skill), _library(folder))


def replace_plan(folder: Path, old: Skill, new: Skill) -> None:
    """Replace a skill's plan; ``versions/`` keeps the earlier one."""
    _keep_plan(folder, old)
    update_manifest(folder, new)
    files.write_atomically(folder / PLAN, new.plan, _library(folder))


def repair(folder: Path) -> Skill | None:
    """Finish a change that a crash interrupted, and take a plan edited by hand as a new candidate version.

    Returns the skill if anything changed, else None. Raises: DamagedSkill if it cannot be read.
    """
    found = _read_manifest(folder)
    plan = _read_plan_file(folder)
    if plan is not None and plan_digest(plan) == found.digest:
        _keep_plan(folder, found.to_skill(plan))
        return None
    known = {plan_digest(text): text for text in _kept_plans(folder)}
    if plan is not None and plan_digest(plan) not in known:
        return _accept_edited_plan(folder, found, plan, known.get(found.digest))
    if found.digest not in known:
        raise DamagedSkill(f"{folder / PLAN}: there is no such file, and no copy of its plan in {VERSIONS}/")
    files.write_atomically(folder / PLAN, known[found.digest], _library(folder))
    return found.to_skill(known[found.digest])


def _keep_plan(folder: Path, skill: Skill) -> None:
    """Keep the plan of the skill's version in ``versions/``, where it survives an edit of ``plan.py``."""
    copy = _version_file(folder, skill.version)
    if os.path.lexists(copy) and _read_text(copy, MAX_PLAN_BYTES, folder) == skill.plan:
        return  # otherwise a crash may have left another plan there
    files.create_folder(folder / VERSIONS, _library(folder))
    files.write_atomically(copy, skill.plan, _library(folder))


def _kept_plans(folder: Path) -> Iterator[str]:
    """The plans in ``versions/``. Raises: DamagedSkill if one cannot be read."""
    try:
        names = [e.name for e in list_folder(folder / VERSIONS, _library(folder)) if e.name.endswith(".py")]
    except FileNotFoundError:
        return
    except OSError as e:
        raise DamagedSkill(f"{folder / VERSIONS}: {e.strerror}") from None
    for name in names:
        yield _read_text(folder / VERSIONS / name, MAX_PLAN_BYTES, folder)


def _accept_edited_plan(folder: Path, found: SkillManifest, plan: str, before: str | None) -> Skill:
    old = found.to_skill(plan if before is None else before)
    new = msgspec.structs.replace(old, plan=plan, version=found.version + 1, status="candidate")
    if before is not None:
        replace_plan(folder, old, new)
    else:
        update_manifest(folder, new)
    return new


def _read_plan(folder: Path, found: SkillManifest) -> str:
    plan = _read_plan_file(folder)
    if plan is not None and plan_digest(plan) == found.digest:
        return plan
    kept = {plan_digest(text): text for text in _kept_plans(folder)}
    if found.digest in kept and (plan is None or plan_digest(plan) in kept):
        return kept[found.digest]  # another process is changing the plan, or a crash ended it
    if plan is None:
        raise DamagedSkill(f"{folder / PLAN}: there is no such file")
    raise HandEditedPlan(
        f"{folder / PLAN}: it is not the plan of version {found.version}; "
        "codeplan skills rebuild makes it a new version, a candidate"
    )


def _read_plan_file(folder: Path) -> str | None:
    path = f"{folder}/{PLAN}"  # a string is faster than a Path, and a library has thousands of skills
    return _read_text(path, MAX_PLAN_BYTES, folder) if os.path.lexists(path) else None


def _read_manifest(folder: Path) -> SkillManifest:
    try:
        return parse_manifest(_read_text(f"{folder}/{MANIFEST}", MAX_MANIFEST_BYTES, folder))
    except DamagedSkill as e:
        where = "" if str(folder) in str(e) else f"{folder / MANIFEST}: "
        raise DamagedSkill(f"{where}{e}") from None


def _version_file(folder: Path, version: int) -> Path:
    return folder / VERSIONS / f"{version}.py"


def _library(folder: Path) -> Path:
    """The library's folder, which the user named. Below it no link is followed."""
    return folder.parent.parent


def _read_text(path: Path | str, max_bytes: int, folder: Path) -> str:
    """Read the text of a file in the skill's folder, with its line ends. Raises: DamagedSkill."""
    try:
        return files.read_text(path, max_bytes, _library(folder))
    except OSError as e:
        raise DamagedSkill(f"{path}: {e.strerror}") from None
