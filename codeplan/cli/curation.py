"""``codeplan skills add``, ``discover``, ``filter`` and ``check``: curation that runs episodes."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.commands import add_command, given_limits
from codeplan.cli.options import TapeOptions, ToolOptions, TotalBudgetOptions, end_spending
from codeplan.cli.output import (
    CurationProgressBar,
    curation_progress,
    interruptible,
    print_json,
    print_output,
    waiting_line,
)
from codeplan.cli.skill_runs import Trial, filter_over_tools, trials_table
from codeplan.cli.skills import (
    DEFAULT_FOLDER,
    LibraryFolder,
    check_table,
    comparison_table,
    filter_table,
    find_skill,
    open_library,
)
from codeplan.untrusted.texts import echo, echo_message, one_line, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.budget import Spending
    from codeplan.curation.acquisition import AcquiredSkill, NothingAcquired
    from codeplan.curation.curation_runner import CurationRunner
    from codeplan.curation.filtering import FilterOutcome, FilterRule
    from codeplan.recording.events import Event
    from codeplan.skills.library import SkillLibrary
    from codeplan.skills.skill import Skill
    from codeplan.types import Result


_WAYS_ON = {
    "discover": "the library keeps what was found until then; codeplan skills filter goes on with its candidates",
    "filter": "the library keeps what was found until then; to go on, repeat the command",
    "check": "to check the skills, repeat the command",
}
"""What a command says after Ctrl-C."""

_SAVED = "the library keeps what was found until then; repeat the command with a larger budget to go on"

OnlySkill = Annotated[
    str | None, typer.Option("--skill", metavar="SKILL", help="Only this skill, whatever its status.")
]
Split = Annotated[str, typer.Option(metavar="SPLIT", help="The split of the tasks.")]


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """How the episodes run, and where their traces go."""

    model: options.OwnModel = None
    base_url: options.BaseUrl = None
    cache: options.Cache = None
    more: options.Set = None
    jobs: options.Jobs = None
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The folder for the episodes' traces. [one in runs/]")
    ] = None
    tapes: TapeOptions

    @contextlib.contextmanager
    def runner(
        self, command: str, env: str, tapes: dict[str, Any], spending: Spending, subfolder: str = ""
    ) -> Iterator[CurationRunner]:
        """The runner of the episodes, with a folder for their traces. Episodes from a tape leave no traces."""
        from codeplan.bench.engines import default_jobs
        from codeplan.curation.curation_runner import CurationRunner
        from codeplan.errors import UsageError
        from codeplan.untrusted.files import refuse_links

        out = self.out and self.out / subfolder
        if self.out and subfolder:
            refuse_links(self.out / subfolder, self.out)
        if out and tapes["tape"]:
            raise UsageError("episodes from a tape leave no traces; omit --out or --replay")
        config = options.load_config()
        given: dict[str, Any] = options.collect_settings(self.more, base_url=self.base_url, reply_cache=self.cache)
        name, given = options.select_model(config, self.model, given)
        given |= {"budget": options.make_budget(config), **tapes}
        kept = contextlib.nullcontext(None) if tapes["tape"] else options.run_folder(out, "skills", command, env)
        with kept as folder, interruptible(f"; {_WAYS_ON[command]}"), curation_progress() as bar:
            workers = self.jobs or default_jobs()
            yield CurationRunner(env, name, folder=folder, workers=workers, observer=bar, spending=spending, **given)


def add_to(group: typer.Typer) -> None:
    """Add this module's commands to the group ``skills``."""
    example = "codeplan skills add runs/20260101-120000-household"
    add_command(group, "add", add, example, "base_url", "reply_cache", budget=True)
    example = "codeplan skills discover household -n 16 --pairs 24 --set gaps=0.8 --set sample_kinds=pick"
    add_command(group, "discover", discover, example)
    add_command(group, "filter", filter_skills, "codeplan skills filter household --pairs 30 --test fixed")
    add_command(group, "check", check, "codeplan skills check --library skills")


def add(
    context: typer.Context,
    run: options.Run,
    library: LibraryFolder = DEFAULT_FOLDER,
    model: options.OwnModel = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The folder for the traces of the plan's proof.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Make the success of a finished episode a candidate skill.

    The plan is generalised, checked strictly, and must solve its task again. A trace may come from a stranger: as for
    resume, only harmless settings are taken from it. The model, by default the recorded one, answers the plan's
    questions. Prompts show the skill only once it is proven on other tasks. The plan of an episode of codeplan do runs
    on the recorded answers of its tools: no tool is called for a trial.

    Exit codes: 0 the library has the skill, 1 the episode yields none, 2 usage, 4 the infrastructure failed.
    """
    from codeplan.curation.acquisition import NothingAcquired, acquire_from_run
    from codeplan.errors import InfrastructureError

    given = options.command_settings(context)
    config = options.load_config()
    given |= {"model_overrides": config.settings, "budget": options.make_budget(config, **given_limits(context))}
    opened = open_library(library, create=True)
    with options.run_folder(out, "skills", "add") as folder, waiting_line("The plan solves its task again"):
        found = acquire_from_run(run, opened, model=model, out=folder, **given)
    if isinstance(found, NothingAcquired) and found.broken_off:
        raise InfrastructureError(f"no skill: {found.reason}")
    _write_test(found, opened)
    if as_json:
        print_json(_acquisition_document(found))
    else:
        echo_message(_acquisition_sentence(found, opened))
    raise typer.Exit(1 if isinstance(found, NothingAcquired) else 0)


def open_target(method: str, settings: dict[str, Any]) -> SkillLibrary:
    """The library that ``run --acquire`` writes to.

    It is removed from the settings if it does not exist yet, or if the method shows no skills.

    Raises: UsageError: no library is named, or it cannot be one.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.setup import accepted_settings

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
    result: Result,
    events: Sequence[Event],
    library: SkillLibrary,
    folder: Path | None,
    arguments: dict[str, Any],
    *,
    quiet: bool,
) -> dict[str, Any]:
    """Acquire a skill from an episode that has just ended; ``arguments`` are those of its run.

    ``folder`` has its trace, and gets those of the proof; None keeps none. Unless ``quiet``, say what became of it: on
    standard error if there is no skill. Returns this for JSON.
    """
    from codeplan.curation.acquisition import try_to_acquire
    from codeplan.curation.curation_runner import CurationRunner, EpisodeRecord

    settings = {n: v for n, v in arguments.items() if n not in ("env", "task", "kind", "seed", "method", "model")}
    record = EpisodeRecord(result, tuple(events), "" if folder is None else str(folder))

    def acquire() -> AcquiredSkill | NothingAcquired:
        runner = CurationRunner(arguments["env"], arguments["model"], folder=folder, **settings)
        return try_to_acquire(runner, library, record)

    return _tell_acquired(_acquire(acquire), library, quiet=quiet)


def acquire_from_tools(
    folder: Path, library: SkillLibrary, arguments: dict[str, Any], *, quiet: bool
) -> dict[str, Any]:
    """Like ``acquire_from_result``, for an episode with the user's tools that has just ended in this folder."""
    from codeplan.curation.acquisition import acquire_from_run

    settings = {n: v for n, v in arguments.items() if n not in ("library", "reuse", "variables", "instructions")}
    found = _acquire(lambda: acquire_from_run(folder, library, out=folder, mends=True, **settings))
    _write_test(found, library)
    return _tell_acquired(found, library, quiet=quiet)


def _write_test(found: AcquiredSkill | NothingAcquired, library: SkillLibrary) -> None:
    """Put a test of its recorded success beside a new plan over tools; say so if it cannot be."""
    from codeplan.curation.acquisition import NothingAcquired
    from codeplan.errors import CodeplanError
    from codeplan.testing.scaffold import write_skill_test

    if isinstance(found, NothingAcquired) or not (found.skill.tools and found.proof and (found.is_new or found.mends)):
        return
    try:
        write_skill_test(library.path / found.skill.env / found.skill.name, Path(found.proof))
    except CodeplanError as e:
        echo_message(f"the skill has no test: {one_line(str(e), 300)}", "codeplan: ", err=True)


def _tell_acquired(found: AcquiredSkill | NothingAcquired, library: SkillLibrary, *, quiet: bool) -> dict[str, Any]:
    from codeplan.curation.acquisition import NothingAcquired

    failed = isinstance(found, NothingAcquired)
    if not quiet:
        echo_message(_acquisition_sentence(found, library), "codeplan: " * failed, err=failed)
    return {"acquired": _acquisition_document(found)}


def _acquire(acquire: Callable[[], AcquiredSkill | NothingAcquired]) -> AcquiredSkill | NothingAcquired:
    """What goes wrong is a reason, as the episode itself has its result."""
    from codeplan.curation.acquisition import NothingAcquired
    from codeplan.errors import CodeplanError

    try:
        return acquire()
    except CodeplanError as e:
        return NothingAcquired(str(e), broken_off=True)
    except KeyboardInterrupt:
        return NothingAcquired("its proof was interrupted; codeplan skills add tries again", broken_off=True)


def _acquisition_document(found: AcquiredSkill | NothingAcquired) -> dict[str, Any]:
    """What became of a success, for JSON. ``skill`` is None and ``reason`` not empty if it yields no skill."""
    from codeplan.curation.acquisition import NothingAcquired

    if isinstance(found, NothingAcquired):
        return {"skill": None, "status": None, "is_new": False, "reason": found.reason}
    skill = found.skill
    document = {"skill": f"{skill.env}/{skill.name}", "status": skill.status, "is_new": found.is_new, "reason": ""}
    return document | {"mends": found.mends, "phrases": len(skill.said), "usage": found.usage}


def _acquisition_sentence(found: AcquiredSkill | NothingAcquired, library: SkillLibrary) -> str:
    """What became of a success, in one sentence."""
    from codeplan.curation.acquisition import NothingAcquired

    if isinstance(found, NothingAcquired):
        return one_line(f"no skill: {found.reason}", 600)
    name = f"{found.skill.env}/{found.skill.name}"
    if found.mends:
        now = f"{found.skill.name}@{found.mends} {found.skill.name} --library {shell_word(library.path)}"
        return (
            f"version {found.skill.version} of {name}, a candidate, has the plan that reached the goal; "
            f"codeplan skills diff {now} shows what changed, and codeplan skills promote takes it into use"
        )
    if found.is_new and found.skill.tools:
        try_it = f"codeplan skills run {name} --library {shell_word(library.path)} --tools FILE.py"
        said = f"it knows {with_count(len(found.skill.said), 'further phrase')} for its goal"
        said = f"it is found by its own words alone: {one_line(found.unsaid, 200)}" if found.unsaid else said
        use = "runs it, and codeplan skills promote takes it into use"
        return f"candidate {name} in {library.path}; {said}; {try_it} {use}"
    if found.is_new:
        test = f"codeplan skills filter {shell_word(found.skill.env)} --library {shell_word(library.path)}"
        return f"candidate {name} in {library.path}; {test} tests it on other tasks"
    if found.was_known:
        return f"{library.path} has the skill of this episode already: {name} ({found.skill.status})"
    return f"{library.path} has a skill of this shape, {name} ({found.skill.status}); it got this episode as an origin"


@dataclass(frozen=True)
class TrialOptions:
    """How candidates are tested."""

    level: Annotated[float, typer.Option(metavar="A", help="Accepted probability of promoting any useless skill.")] = (
        0.05
    )
    test: Annotated[
        str, typer.Option(metavar="T", help="sequential (stops once it is decided) or fixed (McNemar's).")
    ] = "sequential"
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Candidates of a kind to test in a round.")] = 2
    alone: Annotated[
        int, typer.Option(min=0, metavar="N", help="Tasks that a candidate's own plan must solve alone.")
    ] = 5

    def rule(self, pairs: int) -> FilterRule:
        """The rule that promotes and retires.

        Raises: UsageError: there is no such test.
        """
        from codeplan.curation.filtering import FilterRule
        from codeplan.errors import UsageError

        match self.test:
            case "sequential" | "fixed":
                return FilterRule(alone=self.alone, pairs=pairs, level=self.level, test=self.test)
        raise UsageError(f"there is no test {self.test!r}; give sequential or fixed")


def discover(
    env: options.Env,
    *,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="Tasks of each kind in a round.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Rounds: acquire, filter, again.")] = 1,
    split: Split = "train",
    pairs: Annotated[
        int, typer.Option("--pairs", min=1, metavar="N", help="Pairs of episodes (with and without) per candidate.")
    ] = 20,
    tested: TrialOptions,
    shown: Annotated[
        int, typer.Option("--compare", min=0, metavar="N", help="Unseen tasks of each kind for the final comparison.")
    ] = 10,
    unseen: Annotated[str, typer.Option(metavar="SPLIT", help="The split of the unseen tasks.")] = "test",
    episodes: EpisodeOptions,
    total: TotalBudgetOptions,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Discover skills: run tasks, make candidates from the successes, promote those that raise success; repeat.

    At the end, tasks of another split are run with the library and without it. A spent total budget ends it with what
    the library has learnt until then.

    Exit codes: 0 all episodes were run, 2 usage, 3 a total budget is spent.
    """
    from codeplan.curation.filtering import compare_library, list_candidates
    from codeplan.curation.filtering import discover_skills as run_rounds
    from codeplan.envs.registry import take_of_each_kind

    spending = total.start()
    with episodes.tapes.open() as tapes, episodes.runner("discover", env, tapes, spending) as runner:
        rule, opened, tasks = tested.rule(pairs), open_library(library, create=True), runner.tasks(split)
        later = take_of_each_kind(runner.tasks(unseen), shown) if shown else []
        _warn_of_few_pairs(rule, runner, opened, list_candidates(opened, env))
        results = run_rounds(
            runner,
            opened,
            tasks,
            per_kind=n,
            rounds=rounds,
            max_candidates=tested.most,
            rule=rule,
            on_progress=_progress_printer(runner),
        )
        compared = compare_library(runner, opened, later) if later else []
    if as_json:
        print_json({"rounds": results, "compared": compared, "failures": runner.failures})
        end_spending(spending, as_json, _SAVED)
        return
    for each in results:
        acquired = with_count(len(each.acquired), "skill")
        echo(f"\nround {each.number}: {each.solved} of {each.episodes} solved, {acquired}\n")
        echo("\n".join([*filter_table(each.filtered), *_impossible(each.filtered)]))
    if compared:
        echo(f"\nwith the library and without, on unseen tasks ({unseen})\n")
        echo("\n".join(comparison_table(compared)))
    _print_failures(runner)
    end_spending(spending, as_json, _SAVED)


def filter_skills(
    env: options.Env,
    *,
    name: OnlySkill = None,
    split: Split = "train",
    pairs: Annotated[
        int, typer.Option("-n", "--pairs", metavar="N", min=1, help="Tasks per candidate, with and without.")
    ] = 20,
    tested: TrialOptions,
    trial: Trial = None,
    sources: ToolOptions,
    episodes: EpisodeOptions,
    total: TotalBudgetOptions,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Run candidates with and without, on paired tasks that they do not come from; promote and retire by the test.

    Skills over your own tools have no such tasks. codeplan skills filter tools runs each candidate's test, on recorded
    answers, and, with --trial FILE.py or with --tools that you mark --readonly, its plan with the recorded values on
    these. It promotes those that pass, and nothing real is done.

    Exit codes: 0 all episodes were run, 2 usage, 3 a total budget is spent: what was found until then is kept.
    """
    from codeplan.curation.filtering import filter_candidates, list_candidates
    from codeplan.errors import UsageError
    from codeplan.skills.skill_folder import TOOLS

    opened = open_library(library)
    if env == TOOLS:
        chosen = [find_skill(opened, name)] if name else list_candidates(opened, env)
        outcomes = filter_over_tools(opened, chosen, trial, sources, episodes.out, episodes.model)
        print_output({"filtered": outcomes}, as_json, lambda: trials_table(outcomes))
        return
    if trial or sources.name_tools:
        raise UsageError(f"--trial and --tools are for skills over your own tools; {env} is an environment")
    candidates = [find_skill(opened, name)] if name else list_candidates(opened, env, tested.most)
    spending = total.start()
    with episodes.tapes.open() as tapes, episodes.runner("filter", env, tapes, spending) as runner:
        rule = tested.rule(pairs)
        _warn_of_few_pairs(rule, runner, opened, candidates)
        rows = filter_candidates(runner, opened, runner.tasks(split), candidates, rule)
    print_output(
        {"filtered": rows, "failures": runner.failures}, as_json, lambda: [*filter_table(rows), *_impossible(rows)]
    )
    if not as_json:
        _print_failures(runner)
    end_spending(spending, as_json, _SAVED)


def check(
    *,
    name: OnlySkill = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="Tasks per skill.")] = 5,
    episodes: EpisodeOptions,
    total: TotalBudgetOptions,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Run every active skill again, on tasks that it came from or has solved: tests for a library.

    The skill's own plan runs, its parameters bound by one question; nothing is planned.

    Exit codes: 0 all tasks solved, 1 a task is not solved, 2 usage, 3 a total budget is spent.
    """
    from codeplan.curation.filtering import SkillCheck
    from codeplan.curation.filtering import check_skills as run_again

    opened = open_library(library)
    active = [find_skill(opened, f"{e.env}/{e.name}") for e in opened.entries(status="active")]
    skills = [find_skill(opened, name)] if name else active
    rows: list[SkillCheck] = []
    failures: list[str] = []
    spending = total.start()
    with episodes.tapes.open() as tapes:
        for env in dict.fromkeys(s.env for s in skills):
            with episodes.runner("check", env, tapes, spending, subfolder=env) as runner:
                rows += run_again(runner, opened, [s for s in skills if s.env == env], n)
                failures += runner.failures
    print_output({"checked": rows, "failures": failures}, as_json, lambda: check_table(rows))
    end_spending(spending, as_json, _SAVED)
    raise typer.Exit(1 if failures or any(r.unsolved for r in rows) else 0)


def _progress_printer(runner: CurationRunner) -> Callable[[str], None]:
    """Prints progress above the bar; nothing where there is none."""
    return runner.observer.say if isinstance(runner.observer, CurationProgressBar) else lambda what: None


def _warn_of_few_pairs(
    rule: FilterRule, runner: CurationRunner, library: SkillLibrary, candidates: Sequence[Skill]
) -> None:
    """Say before anything runs that the pairs can promote neither a new candidate nor one of these, if it is alone."""
    from codeplan.curation.filtering import earlier_pairs, missing_pairs

    earlier = [[], *(earlier_pairs(runner, library, skill, rule.test) for skill in candidates)]
    if missing := min(missing_pairs(pairs, rule.pairs, rule.level, rule.test) for pairs in earlier):
        pairs = with_count(rule.pairs + missing, "pair")
        needed = f"the {rule.test} test needs {pairs} for one candidate, and more for several"
        impossible = f"no promotion is possible with --pairs {rule.pairs}: at level {rule.level:g} {needed}"
        echo_message(impossible, "codeplan: ", err=True)


def _impossible(rows: Sequence[FilterOutcome]) -> list[str]:
    """Lines about the skills that their pairs could not have promoted."""
    from codeplan.cli.tables import terminal_width

    skills: dict[tuple[float, int], list[str]] = {}
    for row in rows:
        if row.missing_pairs:
            skills.setdefault((row.level, row.missing_pairs), []).append(row.skill)
    if not skills:
        return []
    reasons = [
        f"Not tried, because even a win in each pair would not promote it at the level {level:.3g}; "
        f"{with_count(missing, 'more pair')} needed: {', '.join(names)}."
        for (level, missing), names in skills.items()
    ]
    width = terminal_width()
    advice = "Give more --pairs, a split with more tasks, or fewer candidates (--most)."
    return ["", *(line for text in (*reasons, advice) for line in (textwrap.wrap(text, width) if width else [text]))]


def _print_failures(runner: CurationRunner) -> None:
    for failure in runner.failures[:5]:
        echo_message(f"an episode was broken off and does not count: {one_line(failure, 300)}", "codeplan: ", err=True)
    if len(runner.failures) > 5:
        echo_message(f"and {len(runner.failures) - 5} more", "codeplan: ", err=True)
