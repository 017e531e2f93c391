"""``codeplan learn``: let a method learn from tasks before it solves others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import model_options, options
from codeplan.cli.total_budget import TotalBudgetOptions, end_spending
from codeplan.untrusted.texts import echo_message, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.types import Task

MODEL_CALLS = 1000
"""Model calls of an episode at most, unless configured: one cut short would teach nothing."""

Out = Annotated[
    Path, typer.Option(metavar="FOLDER", help="The folder for the learnt plan, intermediate plans and traces.")
]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    example = "Example: codeplan learn household -n 6 --out learnt"
    app.command("learn", epilog=example)(options.with_groups(learn))


def learn(
    env: options.Env,
    *,
    out: Out,
    n: Annotated[
        int, typer.Option("-n", min=1, metavar="N", help="How many tasks to learn from; of each kind with --per-kind.")
    ] = 24,
    kind: options.OnlyKind = None,
    per_kind: Annotated[bool, typer.Option("--per-kind", help="Learn a plan for each kind of task.")] = False,
    split: Annotated[str, typer.Option(metavar="SPLIT", help="The split to learn from.")] = "train",
    draw: Annotated[
        int | None, typer.Option(metavar="SEED", help="Draw the tasks at random by this seed. [the first tasks]")
    ] = None,
    data: options.Data = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="A method that learns.")] = "autoplan",
    model: model_options.OwnModel = None,
    base_url: options.BaseUrl = None,
    executor_model: options.ExecutorModel = None,
    cache: options.Cache = None,
    more: options.Set = None,
    total: TotalBudgetOptions,
    record: options.Record = None,
    replay: options.Replay = None,
) -> None:
    """Let a method learn from tasks: autoplan improves a plan in words from batch to batch.

    Start an interrupted training again to continue it. Use the result with
    'codeplan run ENV --method autoplan --set plan=FOLDER/plan.txt', or after --per-kind with
    '--set plan=FOLDER/plans'.

    Exit codes: 0 all tasks were learnt from; 2 usage; 3 a total budget is spent: what was learnt until then is kept.
    """
    from codeplan.cli.episode import RunInterruptedError
    from codeplan.cli.progress import learning_progress
    from codeplan.methods.autoplan import write_plan
    from codeplan.runner.new_episodes import learn as learn_from
    from codeplan.untrusted.files import refuse_links

    refuse_links(out / "episodes", out)
    of_model = {"base_url": base_url, "executor_model": executor_model, "reply_cache": cache}
    given = options.collect_settings(more, data=data, **of_model)
    config = options.load_config()
    model, given = options.select_model(config, model, given)
    tasks = _tasks(env, split, (kind, per_kind, n, draw), given)
    given |= {"folder": out} if _accepts_folder(method) else {}
    given |= {"per_kind": True} if per_kind else {}
    given["budget"] = options.make_budget(config, **({"model_calls": MODEL_CALLS} | config.budget))
    spending, again = total.start(), "repeat the command with the same --out"
    try:
        with options.open_tapes(record, replay) as tapes, learning_progress(len(tasks) * _epochs(given)) as bar:
            learnt: Any = learn_from(
                env, tasks, method, model, out=out / "episodes", spending=spending, on_event=bar, **tapes, **given
            )
    except KeyboardInterrupt:
        raise RunInterruptedError(f"interrupted; to go on, {again}") from None
    plans = getattr(learnt, "plans", {"": learnt.plan})
    for name, plan in plans.items():
        write_plan(out / "plans" / f"{name}.txt" if name else out / "plan.txt", plan)
    kept = f"the plan is in {out / 'plan.txt'}" if "" in plans else f"a plan for each kind is in {out / 'plans'}"
    kept = kept if plans else "no plan is learnt yet"
    if plans:
        used = out / ("plan.txt" if "" in plans else "plans")
        again_with = f"codeplan run {shell_word(env)} --method {shell_word(method)} --set {shell_word(f'plan={used}')}"
        use = f"; use it: {again_with}" if _accepts_folder(method) else ""
        part = "a part of " if spending.stopped_by else ""
        echo_message(f"{learnt.plan}\n\nlearnt from {part}{with_count(len(tasks), 'task')}; {kept}{use}")
    end_spending(spending, False, f"{kept}; {again} and a larger budget to continue")


def _epochs(given: dict[str, Any]) -> int:
    epochs = given.get("epochs", 1)
    return epochs if isinstance(epochs, int) else 1


def _accepts_folder(method: str) -> bool:
    """Whether a method keeps intermediate results in a folder."""
    from codeplan import plugins

    return "folder" in plugins.setting_names(plugins.load_factory("codeplan.methods", method))


def _tasks(
    env: str, split: str, wanted: tuple[str | None, bool, int, int | None], settings: dict[str, Any]
) -> list[Task]:
    """The tasks of the split: those of a kind, or N of each kind; the first ones, or drawn by a seed.

    Raises: UsageError: there are none.
    """
    from contextlib import closing

    from codeplan import envs, plugins
    from codeplan.envs.selection import draw_order, list_tasks, take_of_each_kind

    kind, per_kind, n, draw = wanted
    accepted = plugins.setting_names(plugins.load_factory("codeplan.envs", env))
    with closing(
        envs.make(env, **{name: value for name, value in settings.items() if name in accepted})
    ) as environment:
        tasks = draw_order(list_tasks(environment, split, kind), draw)
        return take_of_each_kind(tasks, n) if per_kind else tasks[:n]
