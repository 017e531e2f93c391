"""One skill's folder: ``SKILL.md``, ``plan.py``, ``evidence.jsonl``, and ``versions/`` once the plan has changed.

A change of the plan is written in an order that a crash cannot hurt: the new plan's file in ``versions/`` first, then
``SKILL.md``, whose digest says which plan counts, then ``plan.py``. Whoever reads in between, or after a crash, takes
the plan of that digest from ``versions/``. All writing is done under the library's lock.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

import msgspec

from codeplan.errors import UsageError
from codeplan.skills import durable_files, evidence, manifest
from codeplan.skills.durable_files import DamagedSkill
from codeplan.skills.manifest import SkillManifest
from codeplan.skills.skill import EvidenceRecord, Skill

MANIFEST, PLAN, EVIDENCE, VERSIONS = "SKILL.md", "plan.py", "evidence.jsonl", "versions"
MAX_PLAN_BYTES = 1 << 20


class HandEditedPlan(DamagedSkill):
    """``plan.py`` is a plan that ``SKILL.md`` does not know: somebody has edited it."""


def read_skill(folder: Path) -> Skill:
    """The skill. Raises DamagedSkill, with the file and the reason, where it cannot be read."""
    found = _read_manifest(folder)
    try:
        manifest.require_valid_name(found.environment, "an environment")
        manifest.require_valid_name(found.name)
    except UsageError as e:
        raise DamagedSkill(f"{folder / MANIFEST}: {e}") from None
    if found.name != folder.name or found.environment != folder.parent.name:
        where = f"{found.environment}/{found.name}"
        raise DamagedSkill(f"{folder / MANIFEST}: it is of the skill {where}; a skill's folder bears its name")
    return found.to_skill(_read_plan(folder, found))


def read_version(folder: Path, version: int) -> Skill:
    """The skill as it was in an earlier version, or is. Raises DamagedSkill where that plan is not there."""
    found = _read_manifest(folder)
    if version == found.version:
        return read_skill(folder)
    if not _version_file(folder, version).exists():
        raise DamagedSkill(f"{folder} has no version {version}; its latest is {found.version}")
    plan = _read_text(_version_file(folder, version), MAX_PLAN_BYTES)
    return msgspec.structs.replace(found.to_skill(plan), version=version)


def read_evidence(folder: Path) -> tuple[list[EvidenceRecord], list[int]]:
    """The trials, and the numbers of the lines that hold none. Raises DamagedSkill where the file cannot be read."""
    try:
        with durable_files.open_regular_file(f"{folder}/{EVIDENCE}") as file:
            return evidence.decode_records(file.read())
    except FileNotFoundError:
        return [], []
    except OSError as e:
        raise DamagedSkill(f"{folder / EVIDENCE}: {e.strerror}") from None


def signature(folder: str) -> str | None:
    """A text that changes when one of the three files does (times, sizes, inodes); None where the folder is gone."""
    parts = [_file_stamp(f"{folder}/{name}") for name in (MANIFEST, PLAN, EVIDENCE)]
    return " ".join(parts) if any(parts) or os.path.isdir(folder) else None


def _file_stamp(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino}"


def create_folder(folder: Path, skill: Skill) -> None:
    """Write a new skill's folder, all of it or nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.tmp")
    temporary.mkdir()
    try:
        durable_files.write_atomically(temporary / PLAN, skill.plan)
        durable_files.write_atomically(temporary / MANIFEST, manifest.format_manifest(skill))
        os.rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    durable_files.sync_folder(folder.parent)


def update_manifest(folder: Path, skill: Skill) -> None:
    """Write what is known of a skill anew; its plan stays."""
    durable_files.write_atomically(folder / MANIFEST, manifest.format_manifest(skill))


def replace_plan(folder: Path, old: Skill, new: Skill) -> None:
    """Give a skill another plan; the earlier one is kept in ``versions/``."""
    (folder / VERSIONS).mkdir(exist_ok=True)
    for skill in (old, new):
        copy = _version_file(folder, skill.version)
        if (
            not copy.exists() or _read_text(copy, MAX_PLAN_BYTES) != skill.plan
        ):  # a writer that died may have left another
            durable_files.write_atomically(copy, skill.plan)
    update_manifest(folder, new)
    durable_files.write_atomically(folder / PLAN, new.plan)


def repair(folder: Path) -> Skill | None:
    """Finish a change that a crash cut short, and take a plan that was edited by hand for a new version, a candidate.

    The skill where something was done, else None. Raises DamagedSkill where it cannot be read.
    """
    found = _read_manifest(folder)
    plan = _read_plan_file(folder)
    if plan is not None and manifest.plan_digest(plan) == found.digest:
        return None
    versions = sorted((folder / VERSIONS).glob("*.py")) if (folder / VERSIONS).is_dir() else []
    known = {manifest.plan_digest(text): text for text in (_read_text(v, MAX_PLAN_BYTES) for v in versions)}
    if plan is not None and manifest.plan_digest(plan) not in known:
        return _accept_edited_plan(folder, found, plan, known.get(found.digest))
    if found.digest not in known:
        raise DamagedSkill(f"{folder / PLAN}: there is no such file, and no copy of its plan in {VERSIONS}/")
    durable_files.write_atomically(folder / PLAN, known[found.digest])
    return found.to_skill(known[found.digest])


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
    copy = _version_file(folder, found.version)
    if copy.is_file() and manifest.plan_digest(kept := _read_text(copy, MAX_PLAN_BYTES)) == found.digest:
        return kept
    if plan is None:
        raise DamagedSkill(f"{folder / PLAN}: there is no such file")
    raise HandEditedPlan(
        f"{folder / PLAN}: it is not the plan of version {found.version}; "
        "codeplan skills rebuild takes it as a new version, a candidate"
    )


def _read_plan_file(folder: Path) -> str | None:
    path = f"{folder}/{PLAN}"  # texts are put together quicker than paths, and a library has thousands of skills
    return _read_text(path, MAX_PLAN_BYTES) if os.path.exists(path) else None


def _read_manifest(folder: Path) -> SkillManifest:
    try:
        return manifest.parse_manifest(_read_text(f"{folder}/{MANIFEST}", manifest.MAX_MANIFEST_BYTES))
    except DamagedSkill as e:
        where = "" if str(folder) in str(e) else f"{folder / MANIFEST}: "
        raise DamagedSkill(f"{where}{e}") from None


def _version_file(folder: Path, version: int) -> Path:
    return folder / VERSIONS / f"{version}.py"


def _read_text(path: Path | str, most: int) -> str:
    """The text of a file as it is, line ends included. Raises DamagedSkill."""
    try:
        with durable_files.open_regular_file(str(path)) as file:
            data = file.read(min(os.fstat(file.fileno()).st_size, most) + 1)  # room is made for all that is asked for
    except OSError as e:
        raise DamagedSkill(f"{path}: {e.strerror}") from None
    if len(data) > most:
        raise DamagedSkill(f"{path}: it is larger than {most:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise DamagedSkill(f"{path}: it is not UTF-8 text") from None
