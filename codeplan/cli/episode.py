"""``codeplan run``: one episode, shown as it happens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import model_options, options, setting_options, skill_acquisition
from codeplan.cli.default_folders import new_run_folder
from codeplan.cli.standard_output import reserved_for_json
from codeplan.cli.waiting_line import above_line, waiting_line
from codeplan.errors import CodeplanError
from codeplan.untrusted.texts import shell_word

if TYPE_CHECKING:
    from codeplan.recording.events import EpisodeStarted, Event
    from codeplan.skills.library import SkillLibrary
    from codeplan.types import Result

Method = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How to solve it; 'codeplan methods' lists them.",
        autocompletion=options.complete("codeplan.methods"),
    ),
]
Library = Annotated[
    str | None, typer.Option(metavar="DIR", help="A skill library: its skills are shown to a method that plans.")
]
Acquire = Annotated[bool, typer.Option("--acquire", help="Make a success a candidate skill of the library.")]
_SETTINGS = (
    *setting_options.MODEL_SETTINGS,
    *setting_options.ROUTE_SETTINGS,
    "temperature",
    "tries",
    "resume_by",
    "code_check",
)


class RunInterruptedError(CodeplanError):
    """The user interrupted the run."""

    exit_code = 130


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    with_settings = setting_options.command_class(*_SETTINGS, budget=True)
    app.command("run", cls=with_settings, epilog="Example: codeplan run household --kind clean --seed 3")(run)


def run(
    context: typer.Context,
    env: options.Env,
    task: options.TaskId = None,
    kind: options.Kind = None,
    seed: options.Seed = None,
    data: options.Data = None,
    method: Method = "adaplanner",
    model: model_options.OwnModel = None,
    allow_weak_sandbox: options.AllowWeak = False,
    library: Library = None,
    acquire: Acquire = False,
    more: options.Set = None,
    out: options.Out = None,
    record: options.Record = None,
    replay: options.Replay = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run one episode: plan, execute, refine, resume.

    With --acquire, the plan that succeeded is generalised and runs again, to become a skill (as codeplan skills add).

    Exit codes: 0 success, 1 not solved, 2 usage, 3 budget spent, 4 infrastructure, 130 interrupted; they speak of the
    episode, whatever becomes of the skill.
    """
    from codeplan.report.json_output import result_as_json

    given = options.command_run(context)
    given |= {"library": library} if library is not None else {}
    target = skill_acquisition.open_target(method, given) if acquire else None
    name = (env, task) if task else (env, kind, seed)
    selection = {"env": env, "task": task, "kind": kind, "seed": seed}
    new = contextlib.nullcontext(out) if out else new_run_folder(*name)
    with new as folder, options.open_tapes(record, replay) as tapes:
        arguments = {**tapes, **selection, "method": method, **given}
        events: list[Event] = []
        show = make_event_handler(as_json, quiet)
        result = _play(folder, _show_and_keep(show, events) if target else show, arguments, as_json)
        acquired = _acquire(result, events, target, folder, arguments, as_json) if target else {}
    options.end_episode(result, {**result_as_json(result), **acquired} if as_json else None)


def _play(folder: Path, on_event: Callable[[Event], None], arguments: dict[str, Any], as_json: bool) -> Result:
    from codeplan.runner.new_episodes import run as run_episode

    with playing(f"run: codeplan resume {shell_word(folder)}", as_json=as_json):
        return run_episode(out=folder, on_event=on_event, **arguments)


@contextlib.contextmanager
def playing(way_on: str, *, as_json: bool = False) -> Iterator[None]:
    """Show on a terminal what an episode waits for. After Ctrl-C, ``way_on`` says how to go on.

    If the result is printed as JSON, what the user's own code prints meanwhile goes to standard error.

    Raises: RunInterruptedError: the user interrupted the episode.
    """
    try:
        with reserved_for_json(as_json), waiting_line():
            yield
    except KeyboardInterrupt:
        raise RunInterruptedError(f"interrupted; to go on, {way_on}") from None


def _show_and_keep(show: Callable[[Event], None], events: list[Event]) -> Callable[[Event], None]:
    def on_event(event: Event) -> None:
        events.append(event)
        show(event)

    return on_event


def _acquire(
    result: Result, events: list[Event], library: SkillLibrary, folder: Path, arguments: dict[str, Any], as_json: bool
) -> dict[str, Any]:
    """Acquire a skill and say what became of it; returns this for JSON. An episode from a tape has no folder."""
    kept = folder if result.trace else None
    found = skill_acquisition.acquire_from_result(result, events, library, kept, arguments)
    if not as_json:
        skill_acquisition.show_acquisition(found, library)
    return {"acquired": skill_acquisition.acquisition_document(found)}


def make_event_handler(as_json: bool, quiet: bool) -> Callable[[Event], None]:
    """The handler that shows an episode: only the summary if ``quiet``, nothing if the result is printed as JSON.

    In every case it warns on stderr if a budget of money cannot be enforced.
    """
    from codeplan.recording.events import EpisodeStarted

    show = None if as_json else _display(quiet)

    def on_event(event: Event) -> None:
        if isinstance(event, EpisodeStarted):
            _warn_unpriced_models(event)
        if show:
            show(event)

    return above_line(on_event)


def _display(quiet: bool) -> Callable[[Event], None]:
    from codeplan.report.live import LiveDisplay, SummaryDisplay

    return SummaryDisplay(options.make_console()) if quiet else LiveDisplay(options.make_console())


def _warn_unpriced_models(event: EpisodeStarted) -> None:
    """Warn on stderr about models without a known price: a budget of money does not limit them."""
    from codeplan.llm.prices import unpriced_models

    if event.budget.money is None:
        return
    options.warn_unpriced_models(unpriced_models(event.model, event.model_settings))
