"""``codeplan skills discover``, ``filter`` and ``check``: curation that runs episodes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.cli.curation_episodes import EpisodeOptions
from codeplan.cli.skill_library import DEFAULT_FOLDER, LibraryFolder, find_skill, open_library
from codeplan.cli.total_budget import TotalBudgetOptions, end_spending
from codeplan.untrusted.texts import echo, echo_message, with_count

if TYPE_CHECKING:
    from codeplan.curation.curation_runner import CurationRunner
    from codeplan.curation.filtering import FilterOutcome, FilterRule
    from codeplan.skills.library import SkillLibrary
    from codeplan.skills.skill import Skill

Split = Annotated[str, typer.Option(metavar="SPLIT", help="The split of the tasks.")]
Pairs = Annotated[
    int, typer.Option("--pairs", min=1, metavar="N", help="Pairs of episodes (with and without) per candidate.")
]
Level = Annotated[float, typer.Option(metavar="A", help="Accepted probability of promoting any useless skill.")]
Test = Annotated[str, typer.Option(metavar="T", help="sequential (stops once it is decided) or fixed (McNemar's).")]
MaxCandidates = Annotated[int, typer.Option(min=1, metavar="N", help="Candidates of a kind to test in a round.")]
AloneTasks = Annotated[
    int, typer.Option(min=0, metavar="N", help="Tasks that a candidate's own plan must solve alone.")
]
ComparisonTasks = Annotated[
    int, typer.Option("--compare", min=0, metavar="N", help="Unseen tasks of each kind for the final comparison.")
]
OnlySkill = Annotated[
    str | None, typer.Option("--skill", metavar="SKILL", help="Only this skill, whatever its status.")
]

_SAVED = "the library keeps what was found until then; repeat the command with a larger budget to go on"


@dataclass(frozen=True)
class TrialOptions:
    """How candidates are tested."""

    level: Level = 0.05
    test: Test = "sequential"
    most: MaxCandidates = 2
    alone: AloneTasks = 5

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


def add_to(group: typer.Typer) -> None:
    """Add this module's commands to the group."""
    example = "Example: codeplan skills discover household -n 16 --pairs 24 --set gaps=0.8 --set sample_kinds=pick"
    group.command("discover", epilog=example)(options.with_groups(discover))
    group.command("filter", epilog="Example: codeplan skills filter household --pairs 30 --test fixed")(
        options.with_groups(filter_skills)
    )
    group.command("check", epilog="Example: codeplan skills check --library skills")(options.with_groups(check))


def discover(
    env: options.Env,
    *,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="Tasks of each kind in a round.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Rounds: acquire, filter, again.")] = 1,
    split: Split = "train",
    pairs: Pairs = 20,
    tested: TrialOptions,
    shown: ComparisonTasks = 10,
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
    from codeplan.cli.skill_tables import comparison_table, filter_table
    from codeplan.curation.filtering import compare_library, list_candidates
    from codeplan.curation.filtering import discover_skills as run_rounds
    from codeplan.envs.selection import take_of_each_kind

    spending = total.start()
    with (
        options.open_tapes(episodes.record, episodes.replay) as tapes,
        episodes.runner("discover", env, tapes, spending) as runner,
    ):
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
        options.print_json({"rounds": results, "compared": compared, "failures": runner.failures})
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
    episodes: EpisodeOptions,
    total: TotalBudgetOptions,
    library: LibraryFolder = DEFAULT_FOLDER,
    as_json: options.Json = False,
) -> None:
    """Run candidates with and without, on paired tasks that they do not come from; promote and retire by the test.

    Exit codes: 0 all episodes were run, 2 usage, 3 a total budget is spent: what was found until then is kept.
    """
    from codeplan.cli.skill_tables import filter_table
    from codeplan.curation.filtering import filter_candidates, list_candidates

    opened = open_library(library)
    candidates = [find_skill(opened, name)] if name else list_candidates(opened, env, tested.most)
    spending = total.start()
    with (
        options.open_tapes(episodes.record, episodes.replay) as tapes,
        episodes.runner("filter", env, tapes, spending) as runner,
    ):
        rule = tested.rule(pairs)
        _warn_of_few_pairs(rule, runner, opened, candidates)
        rows = filter_candidates(runner, opened, runner.tasks(split), candidates, rule)
    options.print_output(
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
    from codeplan.cli.skill_tables import check_table
    from codeplan.curation.filtering import SkillCheck
    from codeplan.curation.filtering import check_skills as run_again

    opened = open_library(library)
    active = [find_skill(opened, f"{e.env}/{e.name}") for e in opened.entries(status="active")]
    skills = [find_skill(opened, name)] if name else active
    rows: list[SkillCheck] = []
    failures: list[str] = []
    spending = total.start()
    with options.open_tapes(episodes.record, episodes.replay) as tapes:
        for env in dict.fromkeys(s.env for s in skills):
            with episodes.runner("check", env, tapes, spending, subfolder=env) as runner:
                rows += run_again(runner, opened, [s for s in skills if s.env == env], n)
                failures += runner.failures
    options.print_output({"checked": rows, "failures": failures}, as_json, lambda: check_table(rows))
    end_spending(spending, as_json, _SAVED)
    raise typer.Exit(1 if failures or any(r.unsolved for r in rows) else 0)


def _progress_printer(runner: CurationRunner) -> Callable[[str], None]:
    """Prints progress above the bar; nothing where there is none."""
    from codeplan.cli.progress import CurationProgressBar

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
    from codeplan.cli.text_tables import terminal_width

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
    from codeplan.untrusted.texts import one_line

    for failure in runner.failures[:5]:
        echo_message(f"an episode was broken off and does not count: {one_line(failure, 300)}", "codeplan: ", err=True)
    if len(runner.failures) > 5:
        echo_message(f"and {len(runner.failures) - 5} more", "codeplan: ", err=True)
