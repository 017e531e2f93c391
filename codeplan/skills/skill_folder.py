"""One skill's folder: ``SKILL.md``, ``plan.py``, ``evidence.jsonl``, and ``versions/`` with every version's plan.

A change of the plan is crash-safe by its order: first the new plan in ``versions/``, then ``SKILL.md``, whose digest
names the current plan, then ``plan.py``. In between, readers take the plan with that digest from ``versions/``. Writers
hold the library's lock. Links in a library are not followed: neither its files nor its folders may be links.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from codeplan.errors import UsageError
from codeplan.skills import durable_files, evidence, manifest
from codeplan.skills.durable_files import DamagedSkill
from codeplan.skills.manifest import SkillManifest
from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.untrusted import files
from codeplan.untrusted.folders import list_folder

MANIFEST, PLAN, EVIDENCE, VERSIONS = "SKILL.md", "plan.py", "evidence.jsonl", "versions"
MAX_PLAN_BYTES = 1 << 20
MAX_EVIDENCE_BYTES = 64 << 20


class HandEditedPlan(DamagedSkill):
    """``plan.py`` holds another plan than ``SKILL.md`` says: a person has edited it."""


def read_skill(folder: Path) -> Skill:
    """Read the skill. Raises: DamagedSkill with the file and the reason."""
    found = _read_manifest(folder)
    try:
        manifest.require_valid_name(found.environment, "an environment")
        manifest.require_valid_name(found.name)
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
        return evidence.decode_records(files.read_bytes(f"{folder}/{EVIDENCE}", MAX_EVIDENCE_BYTES, _library(folder)))
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
        files.write_atomically(temporary / MANIFEST, manifest.format_manifest(skill))
        os.rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    durable_files.sync_folder(folder.parent)


def update_manifest(folder: Path, skill: Skill) -> None:
    """Write the skill's manifest; the plan stays, and ``versions/`` keeps it."""
    _keep_plan(folder, skill)
    files.write_atomically(folder / MANIFEST, manifest.format_manifest(skill), _library(folder))


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
    if plan is not None and manifest.plan_digest(plan) == found.digest:
        _keep_plan(folder, found.to_skill(plan))
        return None
    known = {manifest.plan_digest(text): text for text in _kept_plans(folder)}
    if plan is not None and manifest.plan_digest(plan) not in known:
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
    if plan is not None and manifest.plan_digest(plan) == found.digest:
        return plan
    kept = {manifest.plan_digest(text): text for text in _kept_plans(folder)}
    if found.digest in kept and (plan is None or manifest.plan_digest(plan) in kept):
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
        return manifest.parse_manifest(_read_text(f"{folder}/{MANIFEST}", manifest.MAX_MANIFEST_BYTES, folder))
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
