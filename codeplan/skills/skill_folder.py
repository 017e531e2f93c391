"""One skill's folder: ``SKILL.md``, ``plan.py``, ``evidence.jsonl``, and ``versions/`` with every version's plan.

A change of the plan is crash-safe by its order: first the new plan in ``versions/``, then ``SKILL.md``, whose digest
names the current plan, then ``plan.py``. In between, readers take the plan with that digest from ``versions/``. Writers
hold the library's lock. Links in a library are not followed: neither its files nor its folders may be links.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from codeplan import durable_files
from codeplan.errors import UsageError
from codeplan.skills.answer_shapes import ToolAnswersByName
from codeplan.skills.parameter_binding import read_parameters
from codeplan.skills.phrases import MAX_PHRASES, MAX_WORD_GROUPS, Phrase, WordGroup
from codeplan.skills.skill import EvidenceRecord, GoalPieces, Skill, SkillOrigin, SkillStatus, decode_records
from codeplan.skills.tool_names import MAX_SOURCES, NameSource
from codeplan.skills.value_forms import MAX_FORMS, ValueForm
from codeplan.types import AgentTool
from codeplan.untrusted import files
from codeplan.untrusted.files import list_folder
from codeplan.untrusted.texts import parser_reason
from codeplan.untrusted.toml import parse_toml
from codeplan.untrusted.values import in_quotes


class DamagedSkill(ValueError):
    """A skill's folder cannot be used; the message names the file and the reason. Nothing in it is deleted."""


# ------------------------------------------------------------------ ``SKILL.md``

FENCE, OLD_FENCE = "---", "+++"
MAX_MANIFEST_BYTES = 256 * 1024
MAX_TEXT_CHARACTERS = 2_000
"""Longer goals are cut."""

MAX_DESCRIPTION_CHARACTERS = 1_024
"""Longer descriptions are cut: the standard's limit."""

TOOLS = "tools"
"""The environment of skills over the user's own tools, and of skills that other agents wrote."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_STANDARD_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
_NO_DESCRIPTION = "A plan that solved a task."
_OWN = "codeplan-"  # before the names of our fields

_Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARACTERS)]
_Word = Annotated[str, msgspec.Meta(max_length=200)]
_Parameters = Annotated[tuple[_Word, ...], msgspec.Meta(max_length=200)]
_Phrases = Annotated[tuple[Phrase, ...], msgspec.Meta(max_length=MAX_PHRASES)]
_Words = Annotated[tuple[WordGroup, ...], msgspec.Meta(max_length=MAX_WORD_GROUPS)]
_Forms = Annotated[tuple[ValueForm, ...], msgspec.Meta(max_length=MAX_FORMS)]
_Sources = Annotated[tuple[NameSource, ...], msgspec.Meta(max_length=MAX_SOURCES)]


class _Origin(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    task: _Text
    goal: _Text = ""
    model: _Text = ""
    run: _Text = ""


class SkillManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The front matter; ``digest`` is the digest of the plan.

    In a manifest that another agent wrote, ``environment`` and ``digest`` are empty: they are those of the folder.
    """

    name: _Word
    description: _Text
    environment: _Word
    kind: _Word
    parameters: _Parameters
    version: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    status: SkillStatus
    pinned: bool
    digest: _Word
    origins: tuple[_Origin, ...] = ()
    tools: tuple[AgentTool, ...] = ()
    said: _Phrases = ()
    words: _Words = ()
    pieces: GoalPieces = GoalPieces()
    forms: _Forms = ()
    sources: _Sources = ()
    answers: ToolAnswersByName = {}

    def to_skill(self, plan: str) -> Skill:
        """Return the skill with its plan."""
        origins = tuple(SkillOrigin(o.task, o.goal, o.model, o.run) for o in self.origins)
        parameters = self.parameters if self.digest else tuple(p.name for p in read_parameters(plan).parameters)[:200]
        state = self.version, self.status, self.pinned, origins
        made = Skill(self.name, self.environment, plan, self.kind, self.description, parameters, *state)
        phrases = {
            "said": self.said,
            "words": self.words,
            "pieces": self.pieces,
            "forms": self.forms,
            "sources": self.sources,
        }
        return msgspec.structs.replace(made, tools=self.tools, answers=self.answers, **phrases)


class _OwnFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Our fields below ``metadata``, where the standard has texts alone: lists are JSON."""

    environment: _Word
    kind: _Word
    parameters: str
    version: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    status: SkillStatus
    pinned: bool
    digest: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    origins: str = "[]"
    tools: str = "[]"
    said: str = "[]"
    words: str = "[]"
    pieces: str = "{}"
    forms: str = "[]"
    sources: str = "[]"
    answers: str = "{}"


class _StandardFields(msgspec.Struct, frozen=True, rename="kebab"):
    """The standard's fields. Others may be there, and say nothing here; ``allowed-tools`` allows nothing here."""

    name: _Word
    description: Annotated[str, msgspec.Meta(max_length=8_000)] = ""
    metadata: dict[str, Any] = {}


def require_valid_name(name: str, what: str = "a skill") -> str:
    """Return a name that is valid for a folder. Raises: UsageError for another."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{in_quotes(name, 100)} is not a valid name for {what}; use at most 80 of a-z, 0-9, - and _")
    return name


def require_standard_name(name: str) -> str:
    """Return a name that the standard allows for a skill. Raises: UsageError for another."""
    if not _STANDARD_NAME.fullmatch(name):
        raise UsageError(
            f"{in_quotes(name, 100)} is not a valid name for a skill; "
            "use at most 64 of a-z, 0-9 and single hyphens between them"
        )
    return name


def standard_name(text: str, more: str = "") -> str:
    """Return a name that the standard allows, made of a text, and of ``more``, which is such a name or empty."""
    end = f"-{more}" if more else ""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[: 64 - len(end)].strip("-")
    return f"{words or 'skill'}{end}"


def plan_digest(plan: str) -> str:
    """Return 16 hexadecimal digits that identify the plan's text."""
    return hashlib.sha256(plan.encode()).hexdigest()[:16]


def parse_manifest(text: str) -> SkillManifest:
    """Parse a file's front matter: the standard's YAML, or the TOML of older libraries.

    Raises: DamagedSkill with the reason.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    fence = lines[0].strip()
    end = next((i for i, line in enumerate(lines) if i and line.strip() == fence), None)
    if fence not in (FENCE, OLD_FENCE) or end is None:
        raise DamagedSkill(f"it does not start with YAML between two lines of {FENCE}")
    front = "\n".join([*lines[1:end], ""])
    try:
        return _parse_standard(front) if fence == FENCE else msgspec.convert(parse_toml(front), SkillManifest)
    except msgspec.DecodeError as e:
        raise DamagedSkill(f"its front matter is invalid: {parser_reason(e)}") from None
    except YamlError as e:
        raise DamagedSkill(f"its front matter is not YAML: {parser_reason(e)}") from None
    except tomllib.TOMLDecodeError as e:
        raise DamagedSkill(f"its front matter is not TOML: {parser_reason(e)}") from None


def _parse_standard(front: str) -> SkillManifest:
    found = msgspec.convert(parse_yaml(front), _StandardFields)
    description = "" if found.description == _NO_DESCRIPTION else found.description[:MAX_TEXT_CHARACTERS]
    own = {n.removeprefix(_OWN): v for n, v in found.metadata.items() if n.startswith(_OWN)}
    if not own:
        return _foreign_manifest(found.name, description)
    fields = msgspec.convert(own, _OwnFields, strict=False)
    return SkillManifest(
        name=found.name,
        description=description,
        environment=fields.environment,
        kind=fields.kind,
        parameters=_parse_json("parameters", fields.parameters, _Parameters),
        version=fields.version,
        status=fields.status,
        pinned=fields.pinned,
        digest=fields.digest,
        origins=_parse_json("origins", fields.origins, tuple[_Origin, ...]),
        tools=_parse_json("tools", fields.tools, tuple[AgentTool, ...]),
        said=_parse_json("said", fields.said, _Phrases),
        words=_parse_json("words", fields.words, _Words),
        pieces=_parse_json("pieces", fields.pieces, GoalPieces),
        forms=_parse_json("forms", fields.forms, _Forms),
        sources=_parse_json("sources", fields.sources, _Sources),
        answers=_parse_json("answers", fields.answers, ToolAnswersByName),
    )


def _foreign_manifest(name: str, description: str) -> SkillManifest:
    """The manifest of a skill that another agent wrote: a candidate, whatever it says."""
    state: dict[str, Any] = {"environment": "", "kind": "", "parameters": (), "digest": ""}
    return SkillManifest(name=name, description=description, version=1, status="candidate", pinned=False, **state)


def _parse_json(name: str, text: str, wanted: Any) -> Any:
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=wanted)
    except (msgspec.DecodeError, RecursionError) as e:
        raise DamagedSkill(f"its front matter is invalid: {_OWN}{name}: {parser_reason(e)}") from None


def format_manifest(skill: Skill) -> str:
    """Return the file's text for a skill."""
    own = {
        "environment": skill.env,
        "kind": skill.kind,
        "parameters": _json(skill.parameters),
        "version": str(skill.version),
        "status": skill.status,
        "pinned": "true" if skill.pinned else "false",
        "digest": plan_digest(skill.plan),
    }
    if skill.tools:
        own["tools"] = _json(skill.tools)
    lists = {n: getattr(skill, n) for n in ("said", "words", "forms", "sources", "answers")}
    own |= {name: _json(value) for name, value in lists.items() if value}
    if skill.pieces.does:
        own["pieces"] = _json(skill.pieces)
    if skill.origins:
        texts = ({n: _truncate(getattr(o, n)) for n in o.__struct_fields__} for o in skill.origins)
        own["origins"] = _json([_Origin(**known) for known in texts])
    lines = [FENCE, f"name: {yaml_text(skill.name)}", f"description: {yaml_text(_description(skill))}", "metadata:"]
    lines += [f"  {_OWN}{name}: {yaml_text(value)}" for name, value in own.items()]
    return "\n".join([*lines, FENCE, "", *_prose(skill), ""])


def _description(skill: Skill) -> str:
    text = _truncate(skill.description)[:MAX_DESCRIPTION_CHARACTERS]
    return text if text.strip() else _NO_DESCRIPTION


def _prose(skill: Skill) -> Iterable[str]:
    """What the skill says to a reader, and to an agent that cannot run its plan."""
    kind = f" of kind {skill.kind}" if skill.kind else ""
    yield f"# {skill.name}"
    yield ""
    yield _description(skill)
    yield ""
    yield (
        f"For tasks{kind} in {skill.env}. The plan, [plan.py](plan.py), is a Python function whose numbered steps say "
        "what to do; `agent` in it has the tools, and its parameters are set at its head. The evidence is in "
        "evidence.jsonl."
    )
    tools = [f"{tool.method.name}{tool.method.signature}" for tool in skill.tools]
    for heading, items in (("Parameters", skill.parameters), ("Tools", tools), ("Said as", skill.said)):
        if items:
            yield from ("", f"## {heading}", *(f"- `{item}`" for item in items))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


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


def read_foreign(folder: Path) -> Skill:
    """Read a skill in a folder of skills of other agents. Raises: DamagedSkill with the file and the reason."""
    found = _read_manifest(folder)
    if found.name != folder.name:
        raise DamagedSkill(f"{folder / MANIFEST}: it describes the skill {found.name}; its folder must have its name")
    if not os.path.lexists(folder / PLAN):
        raise DamagedSkill(f"{folder}: it has no {PLAN}; without a plan, a skill is documentation")
    env = found.environment if found.digest else TOOLS
    return msgspec.structs.replace(found.to_skill(_read_plan(folder, found)), env=env)


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
    if not found.digest:
        return None  # another agent's skill, which nothing has changed here
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
    if plan is not None and found.digest in ("", plan_digest(plan)):
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
        found = parse_manifest(_read_text(f"{folder}/{MANIFEST}", MAX_MANIFEST_BYTES, folder))
    except DamagedSkill as e:
        where = "" if str(folder) in str(e) else f"{folder / MANIFEST}: "
        raise DamagedSkill(f"{where}{e}") from None
    return found if found.digest else msgspec.structs.replace(found, environment=folder.parent.name)


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


# ------------------------------------------------------------------ front matter in YAML, which anyone may have written
#
# Every scalar stays the text that it is written as: ``no``, ``1.0`` and ``2026-01-01`` are not guessed at. PyYAML reads
# the events; nothing is constructed from tags, and anchors and aliases, with which a short text can stand for a huge
# one, are refused.

MAX_DEPTH = 16
"""Maximum depth of mappings and lists in one another."""

YamlValue: TypeAlias = "str | list[YamlValue] | dict[str, YamlValue]"


class YamlError(ValueError):
    """The text is not the YAML that is read here; the message says why, and in which line."""


def parse_yaml(text: str) -> dict[str, YamlValue]:
    """Return the mapping that the text holds.

    Raises: YamlError: the text is not YAML or holds no mapping, has an anchor, an alias, a tag, a key twice or a key
        that is no text, or is nested too deeply.
    """
    import yaml

    events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    try:
        found = _read_document(events)
    except yaml.MarkedYAMLError as e:
        raise _error(e.problem or "it cannot be read", e.problem_mark) from None
    except yaml.YAMLError as e:
        raise YamlError(str(e)) from None
    except RecursionError:
        raise YamlError("it is nested too deeply") from None
    except ValueError as e:  # PyYAML converts numbers of escapes and of directives without a check
        raise e if isinstance(e, YamlError) else YamlError("a character or a number in it is impossible") from None
    finally:
        events.close()
    return found


def _read_document(events: Iterator[Any]) -> dict[str, YamlValue]:
    import yaml

    next(events)  # the stream's start
    if not isinstance(next(events), yaml.DocumentStartEvent):
        raise YamlError("it is empty")
    first = next(events)
    found = _read_value(first, events, 0)
    if not isinstance(found, dict):
        raise _error("it holds no mapping", first.start_mark)
    next(events)  # the document's end
    if not isinstance(again := next(events), yaml.StreamEndEvent):
        raise _error("it holds a second document", again.start_mark)
    return found


def _read_value(event: Any, events: Iterator[Any], depth: int) -> YamlValue:
    import yaml

    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise _error("anchors and aliases are not allowed", event.start_mark)
    if event.tag is not None:
        raise _error("tags are not allowed", event.start_mark)
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    if depth == MAX_DEPTH:
        raise _error("it is nested too deeply", event.start_mark)
    if isinstance(event, yaml.SequenceStartEvent):
        return [_read_value(e, events, depth + 1) for e in _until(events, yaml.SequenceEndEvent)]
    return _read_mapping(events, depth)


def _read_mapping(events: Iterator[Any], depth: int) -> dict[str, YamlValue]:
    import yaml

    found: dict[str, YamlValue] = {}
    for event in _until(events, yaml.MappingEndEvent):
        key = _read_value(event, events, depth + 1)
        if not isinstance(key, str) or key in found:
            fault = "a key is there twice" if isinstance(key, str) else "a key is not a text"
            raise _error(fault, event.start_mark)
        found[key] = _read_value(next(events), events, depth + 1)
    return found


def _until(events: Iterator[Any], end: type) -> Iterator[Any]:
    for event in events:
        if isinstance(event, end):
            return
        yield event


def _error(problem: str, mark: Any) -> YamlError:
    return YamlError(f"{problem} (at line {mark.line + 1})" if mark is not None else problem)


def yaml_text(text: str) -> str:
    """The text as a double-quoted scalar on one line.

    Three hyphens in it are escaped, because some readers end the front matter there.
    """
    written = re.sub("(?<=--)-", r"\\u002d", json.dumps(text, ensure_ascii=False))
    return "".join(_escape(c) for c in written)


def _escape(character: str) -> str:
    code = ord(character)
    if character.isprintable():
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
