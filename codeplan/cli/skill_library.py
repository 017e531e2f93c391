"""The skill library that commands open, and the skills in it by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli.default_folders import require_no_link
from codeplan.untrusted.texts import echo_message

if TYPE_CHECKING:
    from codeplan.skills.library import SkillLibrary
    from codeplan.skills.skill import Skill, SkillStatistics, SkillStatus

LibraryFolder = Annotated[Path, typer.Option("--library", metavar="DIR", help="The library's folder.")]
DEFAULT_FOLDER = Path("skills")


def open_library(folder: Path, create: bool = False) -> SkillLibrary:
    """The library.

    Raises: UsageError: the folder does not exist (unless ``create`` is given), or is the default one and a link.
    """
    from codeplan.errors import UsageError
    from codeplan.skills.library import SkillLibrary

    if folder == DEFAULT_FOLDER:
        require_no_link(folder, "--library")
    if not create and not folder.is_dir():
        raise UsageError(
            f"there is no skill library at {folder}; name one with --library, or "
            "make one: codeplan skills add RUN, or codeplan skills discover ENV"
        )
    return SkillLibrary(folder)


def find_skill(library: SkillLibrary, name: str) -> Skill:
    """The skill of a name such as ``heat-1`` or ``heat-1@2``.

    Raises: UsageError: there is no such skill or version.
    """
    from codeplan.errors import UsageError

    name, at, version = name.partition("@")
    if at and not (version.isascii() and version.isdigit()):
        raise UsageError(f"{version!r} is not a version of {name}; give a number, as in {name}@1")
    return library.get_by_name(name, int(version) if at else None)


def skill_figures(library: SkillLibrary, skill: Skill) -> SkillStatistics:
    """Statistics of a skill's evidence."""
    from codeplan.skills.skill import skill_statistics

    return skill_statistics(skill, library.read_evidence(skill))


def print_faults(library: SkillLibrary) -> None:
    """Print the library's faults on stderr."""
    from codeplan.untrusted.texts import one_line

    for fault in library.faults():
        echo_message(f"left out: {one_line(fault, 400)}", "codeplan: ", err=True)


def parse_status(status: str | None) -> SkillStatus | None:
    """The status, checked.

    Raises: UsageError: it is not a status.
    """
    from codeplan.errors import UsageError

    match status:
        case None | "candidate" | "active" | "retired":
            return status
    raise UsageError(f"there is no status {status!r}; give candidate, active or retired")
