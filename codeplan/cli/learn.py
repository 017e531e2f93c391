"""``codeplan learn``: let a method learn from tasks before it solves others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.episode import playing
from codeplan.untrusted.terminal import echo

if TYPE_CHECKING:
    from codeplan.types import Task

Out = Annotated[
    Path, typer.Option(metavar="FOLDER", help="The folder for the learnt plan, intermediate plans and traces.")
]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("learn", epilog="Example: codeplan learn household -n 6 --out learnt")(learn)


def learn(
    env: options.Env,
    out: Out,
    n: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many tasks to learn from.")] = 6,
    kind: Annotated[str | None, typer.Option(metavar="K", help="Only tasks of this kind.")] = None,
    split: Annotated[str, typer.Option(metavar="SPLIT", help="The split to learn from.")] = "train",
    data: options.Data = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="A method that learns.")] = "autoplan",
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    executor_model: options.ExecutorModel = None,
    cache: options.Cache = None,
    more: options.Set = None,
    record: options.Record = None,
    replay: options.Replay = None,
) -> None:
    """Let a method learn from tasks: autoplan improves a plan in words from batch to batch.

    Start an interrupted training again to continue it. Use the result with
    'codeplan run ENV --method autoplan --set plan=FOLDER/plan.txt'.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.new_episodes import learn as learn_from
    from codeplan.untrusted.files import refuse_links, write_atomically

    refuse_links(out / "episodes", out)
    of_model = {"base_url": base_url, "executor_model": executor_model, "reply_cache": cache}
    given = options.collect_settings(more, data=data, **of_model)
    config = options.load_config()
    model, given = options.select_model(config, model, given)
    tasks = _tasks(env, split, kind, n, given)
    given |= {"folder": out} if _accepts_folder(method) else {}
    given["budget"] = options.make_budget(config)
    again = "repeat the command with the same --out"
    with options.open_tapes(record, replay) as tapes, playing(again, f"{method} learns from {len(tasks)} tasks"):
        learnt: Any = learn_from(env, tasks, method, model, out=out / "episodes", **tapes, **given)
    file = out / "plan.txt"
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(file, f"{learnt.plan}\n")
    except OSError as e:
        raise UsageError(f"the plan cannot be written to {file}: {e.strerror}") from None
    echo(f"{learnt.plan}\n\nlearnt from {len(tasks)} tasks; the plan is in {file}")


def _accepts_folder(method: str) -> bool:
    """Whether a method keeps intermediate results in a folder."""
    from codeplan import plugins

    return "folder" in plugins.setting_names(plugins.load_factory("codeplan.methods", method))


def _tasks(env: str, split: str, kind: str | None, n: int, settings: dict[str, Any]) -> list[Task]:
    """The first tasks of the split.

    Raises: UsageError: there are none.
    """
    from contextlib import closing

    from codeplan import envs, plugins
    from codeplan.errors import UsageError

    accepted = plugins.setting_names(plugins.load_factory("codeplan.envs", env))
    with closing(
        envs.make(env, **{name: value for name, value in settings.items() if name in accepted})
    ) as environment:
        tasks = [task for task in environment.tasks(split) if kind in (None, task.kind)]
        if not tasks:
            of_kind = f" of kind {kind}" if kind else ""
            kinds = ", ".join(getattr(environment, "kinds", ())) or "none"
            raise UsageError(
                f"{env} has no tasks{of_kind} in its split {split}; its kinds: {kinds}; "
                f"its splits: {', '.join(envs.splits(environment))}"
            )
        return tasks[:n]
