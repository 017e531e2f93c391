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
from codeplan.skills import evidence, files, manifest
from codeplan.skills.files import DamagedSkill
from codeplan.skills.manifest import Manifest
from codeplan.skills.values import Skill, Trial

MANIFEST, PLAN, EVIDENCE, VERSIONS = "SKILL.md", "plan.py", "evidence.jsonl", "versions"
MOST_PLAN_BYTES = 1 << 20


class ChangedByHand(DamagedSkill):
    """``plan.py`` is a plan that ``SKILL.md`` does not know: somebody has edited it."""


def read(folder: Path) -> Skill:
    """The skill. Raises DamagedSkill, with the file and the reason, where it cannot be read."""
    found = _manifest(folder)
    try:
        manifest.checked_name(found.environment, "an environment")
        manifest.checked_name(found.name)
    except UsageError as e:
        raise DamagedSkill(f"{folder / MANIFEST}: {e}") from None
    if found.name != folder.name or found.environment != folder.parent.name:
        where = f"{found.environment}/{found.name}"
        raise DamagedSkill(f"{folder / MANIFEST}: it is of the skill {where}; a skill's folder bears its name")
    return found.skill(_plan(folder, found))


def read_version(folder: Path, version: int) -> Skill:
    """The skill as it was in an earlier version, or is. Raises DamagedSkill where that plan is not there."""
    found = _manifest(folder)
    if version == found.version:
        return read(folder)
    if not _version_file(folder, version).exists():
        raise DamagedSkill(f"{folder} has no version {version}; its latest is {found.version}")
    plan = _text(_version_file(folder, version), MOST_PLAN_BYTES)
    return msgspec.structs.replace(found.skill(plan), version=version)


def trials(folder: Path) -> tuple[list[Trial], list[int]]:
    """The trials, and the numbers of the lines that hold none. Raises DamagedSkill where the file cannot be read."""
    try:
        with files.opened(f"{folder}/{EVIDENCE}") as file:
            return evidence.decode(file.read())
    except FileNotFoundError:
        return [], []
    except OSError as e:
        raise DamagedSkill(f"{folder / EVIDENCE}: {e.strerror}") from None


def signature(folder: str) -> str | None:
    """A text that changes when one of the three files does (times, sizes, inodes); None where the folder is gone."""
    parts = [_stamp(f"{folder}/{name}") for name in (MANIFEST, PLAN, EVIDENCE)]
    return " ".join(parts) if any(parts) or os.path.isdir(folder) else None


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino}"


def create(folder: Path, skill: Skill) -> None:
    """Write a new skill's folder, all of it or nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.tmp")
    temporary.mkdir()
    try:
        files.write(temporary / PLAN, skill.plan)
        files.write(temporary / MANIFEST, manifest.written(skill))
        os.rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    files.sync(folder.parent)


def update(folder: Path, skill: Skill) -> None:
    """Write what is known of a skill anew; its plan stays."""
    files.write(folder / MANIFEST, manifest.written(skill))


def replace_plan(folder: Path, old: Skill, new: Skill) -> None:
    """Give a skill another plan; the earlier one is kept in ``versions/``."""
    (folder / VERSIONS).mkdir(exist_ok=True)
    for skill in (old, new):
        copy = _version_file(folder, skill.version)
        if not copy.exists() or _text(copy, MOST_PLAN_BYTES) != skill.plan:  # a writer that died may have left another
            files.write(copy, skill.plan)
    update(folder, new)
    files.write(folder / PLAN, new.plan)


def heal(folder: Path) -> Skill | None:
    """Finish a change that a crash cut short, and take a plan that was edited by hand for a new version, a candidate.

    The skill where something was done, else None. Raises DamagedSkill where it cannot be read.
    """
    found = _manifest(folder)
    plan = _plan_file(folder)
    if plan is not None and manifest.digest(plan) == found.digest:
        return None
    versions = sorted((folder / VERSIONS).glob("*.py")) if (folder / VERSIONS).is_dir() else []
    known = {manifest.digest(text): text for text in (_text(v, MOST_PLAN_BYTES) for v in versions)}
    if plan is not None and manifest.digest(plan) not in known:
        return _taken_over(folder, found, plan, known.get(found.digest))
    if found.digest not in known:
        raise DamagedSkill(f"{folder / PLAN}: there is no such file, and no copy of its plan in {VERSIONS}/")
    files.write(folder / PLAN, known[found.digest])
    return found.skill(known[found.digest])


def _taken_over(folder: Path, found: Manifest, plan: str, before: str | None) -> Skill:
    old = found.skill(plan if before is None else before)
    new = msgspec.structs.replace(old, plan=plan, version=found.version + 1, status="candidate")
    if before is not None:
        replace_plan(folder, old, new)
    else:
        update(folder, new)
    return new


def _plan(folder: Path, found: Manifest) -> str:
    plan = _plan_file(folder)
    if plan is not None and manifest.digest(plan) == found.digest:
        return plan
    copy = _version_file(folder, found.version)
    if copy.is_file() and manifest.digest(kept := _text(copy, MOST_PLAN_BYTES)) == found.digest:
        return kept
    if plan is None:
        raise DamagedSkill(f"{folder / PLAN}: there is no such file")
    raise ChangedByHand(
        f"{folder / PLAN}: it is not the plan of version {found.version}; "
        "codeplan skills rebuild takes it as a new version, a candidate"
    )


def _plan_file(folder: Path) -> str | None:
    path = f"{folder}/{PLAN}"  # texts are put together quicker than paths, and a library has thousands of skills
    return _text(path, MOST_PLAN_BYTES) if os.path.exists(path) else None


def _manifest(folder: Path) -> Manifest:
    try:
        return manifest.read(_text(f"{folder}/{MANIFEST}", manifest.MOST_BYTES))
    except DamagedSkill as e:
        where = "" if str(folder) in str(e) else f"{folder / MANIFEST}: "
        raise DamagedSkill(f"{where}{e}") from None


def _version_file(folder: Path, version: int) -> Path:
    return folder / VERSIONS / f"{version}.py"


def _text(path: Path | str, most: int) -> str:
    """The text of a file as it is, line ends included. Raises DamagedSkill."""
    try:
        with files.opened(str(path)) as file:
            data = file.read(min(os.fstat(file.fileno()).st_size, most) + 1)  # room is made for all that is asked for
    except OSError as e:
        raise DamagedSkill(f"{path}: {e.strerror}") from None
    if len(data) > most:
        raise DamagedSkill(f"{path}: it is larger than {most:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise DamagedSkill(f"{path}: it is not UTF-8 text") from None
