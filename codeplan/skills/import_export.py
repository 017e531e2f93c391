"""Exports skills to a zip file and imports them. Imported skills are untrusted.

Nothing is unpacked: the import reads members with known names, each up to a maximum size, and ignores everything else.
It checks each plan in the sandbox. An imported skill is a candidate, which planners do not see before it is proven
here.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import secrets
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from codeplan import envs
from codeplan.agent_interface import agent_api
from codeplan.errors import UsageError
from codeplan.sandbox import Sandbox
from codeplan.skills import skill_folder
from codeplan.skills.library import SkillLibrary
from codeplan.skills.parameter_binding import read_parameters
from codeplan.skills.skill import Skill, SkillOrigin
from codeplan.skills.skill_folder import TOOLS, DamagedSkill, standard_name
from codeplan.tools.approvals import User
from codeplan.tools.environment import ToolEnvironment, recorded_toolset
from codeplan.types import AgentApi, Diagnostic, Rejected, Value, refuse_warnings
from codeplan.untrusted import files
from codeplan.untrusted.files import find_folders
from codeplan.untrusted.texts import parser_reason

MAX_SKILLS = 20_000

MAX_READ_BYTES = 8 << 20
"""Maximum size of one read from a zip file. Python reads the list of its members at once."""

_MEMBER = re.compile(r"([a-z0-9][a-z0-9_-]*/){1,2}(SKILL\.md|plan\.py|evidence\.jsonl)")
_ARCHIVE_ERRORS = (
    *(OSError, EOFError, UnicodeDecodeError, zlib.error),
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError),
)
"""The exceptions that reading a damaged, encrypted or unusually packed archive raises."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


class _BoundedReads(io.BufferedReader):
    """A file that refuses reads of more than ``MAX_READ_BYTES``."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to ``size`` bytes. Raises: UnsafeFile for a larger read."""
        wanted = MAX_READ_BYTES + 1 if size is None or size < 0 else size
        data = super().read(min(wanted, MAX_READ_BYTES + 1))
        if len(data) > MAX_READ_BYTES:
            raise files.UnsafeFile("its list of members is too long", str(self.name))
        return data


class ImportResult(Value, frozen=True):
    """The result of importing one skill: ``name`` is its name here, empty if it was refused for ``reason``."""

    source: str
    name: str
    reason: str = ""


def export_skills(library: SkillLibrary, path: Path, skills: Iterable[Skill]) -> int:
    """Write skills with their evidence to a new zip file, and return their number. Equal skills make equal files.

    Raises: UsageError if the file exists or cannot be written.
    """
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already; name a new file")
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    count = 0
    try:
        with zipfile.ZipFile(temporary, "x", zipfile.ZIP_DEFLATED) as archive:
            for skill in skills:
                for name, text in _skill_files(library, skill):
                    archive.writestr(zipfile.ZipInfo(f"{skill.env}/{skill.name}/{name}", _EPOCH), text)
                count += 1
        os.replace(temporary, path)
    except OSError as e:
        raise UsageError(f"{path} cannot be written: {e.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
    return count


def import_skills(library: SkillLibrary, path: Path) -> list[ImportResult]:
    """Add the skills of a zip file or of another library's folder as unpinned candidates, without their evidence.

    A folder of skills of other agents (``<name>/SKILL.md``) is read as well: those with a ``plan.py`` become skills
    over tools. A plan that fails the check for its environment's agent is refused, and so is one that the library has.
    A skill whose name is taken gets a new one. Raises: UsageError if the file cannot be read.
    """
    sandbox = Sandbox()
    found = _read_folder(path) if path.is_dir() else _read_zip(path)
    plans: dict[str, set[str]] = {}
    return [_import_one(library, source, skill, sandbox, plans) for source, skill in found]


def _skill_files(library: SkillLibrary, skill: Skill) -> Iterator[tuple[str, bytes]]:
    yield skill_folder.MANIFEST, skill_folder.format_manifest(skill).encode()
    yield skill_folder.PLAN, skill.plan.encode()
    evidence = library.path / skill.env / skill.name / skill_folder.EVIDENCE
    with contextlib.suppress(FileNotFoundError):
        yield skill_folder.EVIDENCE, files.read_bytes(evidence, skill_folder.MAX_EVIDENCE_BYTES, library.path)


def _import_one(
    library: SkillLibrary, source: str, found: Skill | str, sandbox: Sandbox, plans: dict[str, set[str]]
) -> ImportResult:
    """Import a skill. ``plans`` keeps the digests of the library's plans by environment, so that it is read once."""
    why = found if isinstance(found, str) else _refusal_reason(found, sandbox)
    if why or isinstance(found, str):
        return ImportResult(source, "", why)
    skill = _to_candidate(found, source)
    digest = skill_folder.plan_digest(skill.plan)
    if skill.env not in plans:
        plans[skill.env] = {e.digest for e in library.entries(skill.env)}
    if digest in plans[skill.env]:
        return ImportResult(source, "", "the library has a skill with this plan already")
    plans[skill.env].add(digest)
    free = (name for name in _candidate_names(skill.name, digest) if not library.has_name(skill.env, name))
    return ImportResult(source, library.add(msgspec.structs.replace(skill, name=next(free))).name)


def _candidate_names(name: str, digest: str) -> Iterator[str]:
    """The names to try: the skill's own, one with its plan's digest, then numbered ones."""
    yield name
    yield standard_name(name, digest[:8])
    yield from (standard_name(name, f"{digest[:8]}-{number}") for number in itertools.count(2))


def _to_candidate(skill: Skill, source: str) -> Skill:
    """The skill without data that cannot be verified here: status, version, and runs on other machines."""
    origins = tuple(
        SkillOrigin(o.task, o.goal, f"{o.model} (imported from {source})"[:500]) for o in skill.origins[:50]
    )
    known = tuple(p.name for p in read_parameters(skill.plan).parameters)
    made = Skill(standard_name(skill.name), skill.env, skill.plan, skill.kind, skill.description, known)
    return msgspec.structs.replace(made, origins=origins, tools=skill.tools)


def _refusal_reason(skill: Skill, sandbox: Sandbox) -> str:
    """Why the plan is refused; empty if it is accepted."""
    try:
        skill_folder.require_valid_name(skill.name)
        skill_folder.require_valid_name(skill.env, "an environment")
        faults = _find_faults(skill, sandbox)
    except UsageError as e:
        return str(e)
    return f"its plan is refused: {faults[0]}" if faults else ""


def _find_faults(skill: Skill, sandbox: Sandbox) -> Sequence[Diagnostic]:
    """What the check refuses. Where no tools are described, any names may be those of tools, until the plan runs."""
    any_names = skill.env == TOOLS and not skill.tools
    checked = refuse_warnings(sandbox.check(skill.plan, AgentApi() if any_names else _skill_api(skill), fixes=False))
    faults = checked.diagnostics if isinstance(checked, Rejected) else ()
    return [d for d in faults if not (any_names and d.rule == "agent-method")]


def _skill_api(skill: Skill) -> AgentApi:
    """The agent that the plan is for. Raises: UsageError: there is no such environment, or its tools cannot be."""
    if skill.env != TOOLS:
        with closing(envs.make(skill.env)) as env:
            return agent_api(env.agent)
    try:
        tools = ToolEnvironment("check a plan", recorded_toolset(skill.tools, "", ()), user=User())
    except (UsageError, ValueError) as e:
        raise UsageError(f"its tools cannot be those of a plan: {parser_reason(e)}") from None
    agent: type = tools.agent
    with closing(tools):
        return agent_api(agent)


def _read_folder(path: Path) -> Iterator[tuple[str, Skill | str]]:
    """The skills of a library's folder; a skill's folder holds its manifest or something of that name."""
    places = itertools.chain(find_folders(path, depth=1), find_folders(path, depth=2))
    found = list(itertools.islice(places, 2 * MAX_SKILLS + 1))
    if len(found) > 2 * MAX_SKILLS:
        raise _too_many(path)
    for place in found:
        if os.path.lexists(place / skill_folder.MANIFEST):
            is_foreign = place.parent == path
            source = place.name if is_foreign else f"{place.parent.name}/{place.name}"
            try:
                yield source, skill_folder.read_foreign(place) if is_foreign else skill_folder.read_skill(place)
            except DamagedSkill as e:
                yield source, str(e)


def _read_zip(path: Path) -> Iterator[tuple[str, Skill | str]]:
    try:
        with (
            files.open_user_file(path) as file,
            _BoundedReads(io.FileIO(file.fileno(), closefd=False)) as bounded,
            zipfile.ZipFile(bounded) as archive,
        ):
            members = {i.filename: i for i in archive.infolist() if _MEMBER.fullmatch(i.filename)}
            sources = sorted({name.rpartition("/")[0] for name in members})
            if len(sources) > MAX_SKILLS:
                raise _too_many(path)
            for source in sources:
                yield source, _read_skill(archive, members, source)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}; name a zip file of skills, or a library's folder") from None
    except _ARCHIVE_ERRORS as e:
        raise UsageError(f"{path} cannot be read as a zip file of skills: {e}") from None


def _too_many(path: Path) -> UsageError:
    return UsageError(f"{path} holds more than {MAX_SKILLS:,} skills; split it")


def _read_skill(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], source: str) -> Skill | str:
    """The skill, or why it cannot be read."""
    try:
        text = _read_text(archive, members.get(f"{source}/{skill_folder.MANIFEST}"), skill_folder.MAX_MANIFEST_BYTES)
        plan = _read_text(archive, members.get(f"{source}/{skill_folder.PLAN}"), skill_folder.MAX_PLAN_BYTES)
        found = skill_folder.parse_manifest(text)
    except DamagedSkill as e:
        return str(e)
    except _ARCHIVE_ERRORS as e:
        return f"it cannot be unpacked: {e}"
    env, _, name = source.rpartition("/")
    if (found.environment or env, found.name) != (env or found.environment, name):
        return f"its {skill_folder.MANIFEST} belongs to another skill, {found.environment}/{found.name}"
    return msgspec.structs.replace(found.to_skill(plan), env=found.environment or env or TOOLS)


def _read_text(archive: zipfile.ZipFile, member: zipfile.ZipInfo | None, most: int) -> str:
    if member is None:
        raise DamagedSkill(f"it lacks its {skill_folder.MANIFEST} or its {skill_folder.PLAN}")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # Python unpacks others without a limit
        raise DamagedSkill(f"{member.filename} cannot be unpacked; pack the file with the usual method, deflate")
    with archive.open(member) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise DamagedSkill(f"{member.filename} is larger than {most:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise DamagedSkill(f"{member.filename} is not UTF-8 text") from None
