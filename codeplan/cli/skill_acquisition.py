"""``codeplan run --acquire`` and ``codeplan skills add``: a success becomes a candidate in the skill library."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import model_options, options, setting_options
from codeplan.cli.default_folders import new_run_folder
from codeplan.cli.setting_options import given_limits
from codeplan.cli.skill_library import DEFAULT_FOLDER, LibraryFolder, open_library
from codeplan.cli.waiting_line import waiting_line
from codeplan.untrusted.texts import echo_message

if TYPE_CHECKING:
    from codeplan.curation.acquisition import AcquiredSkill, NothingAcquired
    from codeplan.recording.events import Event
    from codeplan.skills.library import SkillLibrary
    from codeplan.types import Result

ProofOut = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder for the traces of the plan's proof.")
]


def add_to(group: typer.Typer) -> None:
    """Add this module's command to the group."""
    with_budget = setting_options.command_class(budget=True)
    group.command("add", cls=with_budget, epilog="Example: codeplan skills add runs/20260101-120000-household")(add)


def add(
    context: typer.Context,
    run: options.Run,
    library: LibraryFolder = DEFAULT_FOLDER,
    model: model_options.OwnModel = None,
    base_url: options.BaseUrl = None,
    cache: options.Cache = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: ProofOut = None,
    as_json: options.Json = False,
) -> None:
    """Make the success of a finished episode a candidate skill.

    The plan is generalised, checked strictly, and must solve its task again. A trace may come from a stranger: as for
    resume, only harmless settings are taken from it. The model, by default the recorded one, answers the plan's
    questions. Prompts show the skill only once it is proven on other tasks.

    Exit codes: 0 the library has the skill, 1 the episode yields none, 2 usage, 4 the infrastructure failed.
    """
    from codeplan.curation.acquisition import NothingAcquired, acquire_from_run
    from codeplan.errors import InfrastructureError

    of_model = {"base_url": base_url, "reply_cache": cache}
    given = options.collect_settings(more, allow_weak_sandbox=allow_weak_sandbox, **of_model)
    config = options.load_config()
    own: dict[str, Any] = {
        "model_overrides": config.settings,
        "budget": options.make_budget(config, **given_limits(context)),
    }
    opened = open_library(library, create=True)
    new = contextlib.nullcontext(out) if out else new_run_folder("skills", "add")
    with new as folder, waiting_line("The plan solves its task again"):
        found = acquire_from_run(run, opened, model=model, out=folder, **own, **given)
    if isinstance(found, NothingAcquired) and found.broken_off:
        raise InfrastructureError(f"no skill: {found.reason}")
    if as_json:
        options.print_json(acquisition_document(found))
    else:
        echo_message(acquisition_sentence(found, opened))
    raise typer.Exit(1 if isinstance(found, NothingAcquired) else 0)


def open_target(method: str, settings: dict[str, Any]) -> SkillLibrary:
    """The library that ``run --acquire`` writes to.

    It is removed from the settings if it does not exist yet, or if the method shows no skills.

    Raises: UsageError: no library is named, or it cannot be one.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.setting_shares import accepted_settings

    folder = settings.get("library")
    if not isinstance(folder, str) or not folder:
        raise UsageError("--acquire needs the library that gets the skill; name it with --library DIR")
    if not Path(folder).exists() or "library" not in accepted_settings({"method": method})["method"]:
        del settings["library"]
    opened = open_library(Path(folder), create=True)
    if not opened.writable:
        raise UsageError(f"the skill library {folder} cannot be written; name another with --library DIR")
    return opened


def acquire_from_result(
    result: Result, events: Sequence[Event], library: SkillLibrary, folder: Path | None, arguments: dict[str, Any]
) -> AcquiredSkill | NothingAcquired:
    """Acquire a skill from an episode that has just ended; ``arguments`` are those of its run.

    ``folder`` has its trace, and gets those of the proof; None keeps none. What goes wrong is a reason, as the episode
    itself has its result.
    """
    from codeplan.curation.acquisition import NothingAcquired, try_to_acquire
    from codeplan.curation.curation_runner import CurationRunner, EpisodeRecord
    from codeplan.errors import CodeplanError

    settings = {n: v for n, v in arguments.items() if n not in ("env", "task", "kind", "seed", "method", "model")}
    record = EpisodeRecord(result, tuple(events), "" if folder is None else str(folder))
    try:
        runner = CurationRunner(arguments["env"], arguments["model"], folder=folder, **settings)
        return try_to_acquire(runner, library, record)
    except CodeplanError as e:
        return NothingAcquired(str(e), broken_off=True)
    except KeyboardInterrupt:
        return NothingAcquired("its proof was interrupted; codeplan skills add tries again", broken_off=True)


def acquisition_document(found: AcquiredSkill | NothingAcquired) -> dict[str, Any]:
    """What became of a success, for JSON. ``skill`` is None and ``reason`` not empty if it yields no skill."""
    from codeplan.curation.acquisition import NothingAcquired

    if isinstance(found, NothingAcquired):
        return {"skill": None, "status": None, "is_new": False, "reason": found.reason}
    skill = found.skill
    return {"skill": f"{skill.env}/{skill.name}", "status": skill.status, "is_new": found.is_new, "reason": ""}


def acquisition_sentence(found: AcquiredSkill | NothingAcquired, library: SkillLibrary) -> str:
    """What became of a success, in one sentence."""
    from codeplan.curation.acquisition import NothingAcquired
    from codeplan.untrusted.texts import one_line, shell_word

    if isinstance(found, NothingAcquired):
        return one_line(f"no skill: {found.reason}", 600)
    name = f"{found.skill.env}/{found.skill.name}"
    if found.is_new:
        test = f"codeplan skills filter {shell_word(found.skill.env)} --library {shell_word(library.path)}"
        return f"candidate {name} in {library.path}; {test} tests it on other tasks"
    if found.was_known:
        return f"{library.path} has the skill of this episode already: {name} ({found.skill.status})"
    return f"{library.path} has a skill of this shape, {name} ({found.skill.status}); it got this episode as an origin"


def show_acquisition(found: AcquiredSkill | NothingAcquired, library: SkillLibrary) -> None:
    """Print the sentence: on standard error if there is no skill."""
    from codeplan.curation.acquisition import NothingAcquired

    failed = isinstance(found, NothingAcquired)
    echo_message(acquisition_sentence(found, library), "codeplan: " * failed, err=failed)
