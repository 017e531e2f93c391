"""What ``codeplan bench`` is asked to play: a suite with options, a file, or a paper's experiment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from codeplan.cli import options

if TYPE_CHECKING:
    from codeplan.bench.bench_spec import BenchSpec, ResolvedBench
    from codeplan.bench.papers import PaperExperiment
    from codeplan.bench.tool_tasks import ToolTaskSet
    from codeplan.runner.configuration import UserConfig


class BenchRequest(NamedTuple):
    """A bench as asked for. ``resolve(offline=…)`` checks it and returns its grid; nothing has started yet.

    ``experiment`` is the paper's, None for any other bench; ``tool_tasks`` are those of a bench on tools.
    """

    resolve: Callable[..., ResolvedBench]
    experiment: PaperExperiment | None = None
    tool_tasks: ToolTaskSet | None = None


def ask_bench(suite: str, settings: dict[str, Any], selection: dict[str, Any]) -> BenchRequest:
    """The bench that a command asks for.

    ``settings`` are those of options; ``selection`` has those of split, kind, n, repeats, trainings, method and model
    that were given. Raises: UsageError: they do not fit the suite.
    """
    from codeplan.bench.bench_spec import resolve_bench
    from codeplan.bench.paper_bench import PAPER_PREFIX
    from codeplan.errors import UsageError

    config = options.load_config()
    if suite.startswith(PAPER_PREFIX):
        return _from_paper(suite.removeprefix(PAPER_PREFIX), config, settings, selection)
    _refuse_several_names(suite, selection)
    if "trainings" in selection and not suite.endswith(".toml"):
        raise UsageError(f"{suite} is no paper's experiment that trains first; omit --trainings")
    spec = (
        _from_file(suite, settings, selection)
        if suite.endswith(".toml")
        else _from_flags(suite, config, settings, selection)
    )

    def resolve(*, offline: bool = False) -> ResolvedBench:
        return resolve_bench(spec, lambda model: options.select_model(config, model, {})[1], offline=offline)

    return BenchRequest(resolve, tool_tasks=spec.tool_tasks)


def _refuse_several_names(suite: str, selection: dict[str, Any]) -> None:
    """Raise UsageError if an option names several methods or models, which only a file can."""
    from codeplan.errors import UsageError

    for option in ("method", "model"):
        given = selection.get(option, "")
        if "," not in given or "://" in given:
            continue
        line = f"{option}s = {json.dumps([name.strip() for name in given.split(',')])}"
        if suite.endswith(".toml"):
            raise UsageError(f"--{option} takes one name; for several, omit the option and write into {suite}: {line}")
        lines = f"suites = {json.dumps([suite])} and {line}"
        raise UsageError(
            f"--{option} takes one name; for several, write a file grid.toml with the lines {lines}, "
            "and run: codeplan bench grid.toml"
        )


def _from_paper(name: str, config: UserConfig, settings: dict[str, Any], selection: dict[str, Any]) -> BenchRequest:
    """The bench of a paper's experiment: its rows with one model, or with two where the paper has two."""
    from codeplan.bench.paper_bench import ExperimentChoice, resolve_experiment
    from codeplan.bench.papers import find_experiment
    from codeplan.errors import UsageError

    experiment = find_experiment(name)
    for option in ("split", "method"):
        if option in selection:
            raise UsageError(f"paper:{name} sets the {option} itself; omit --{option}")
    model, _ = options.select_model(config, selection.pop("model", None), {})
    given = dict(settings)
    if any(row.second_model for part in experiment.parts for row in part.rows):
        selection["second_model"] = given.pop("executor_model", None)
    choice = ExperimentChoice(model=model, settings=given, **selection)

    def resolve(*, offline: bool = False) -> ResolvedBench:
        return resolve_experiment(
            experiment, choice, lambda model: options.select_model(config, model, {})[1], offline=offline
        )

    return BenchRequest(resolve, experiment)


def _from_flags(suite: str, config: UserConfig, common: dict[str, Any], selection: dict[str, Any]) -> BenchSpec:
    from codeplan.bench.bench_spec import BenchSpec

    given = dict(selection)
    name, _ = options.select_model(config, given.pop("model", None), {})
    methods = (given.pop("method", "adaplanner"),)
    return BenchSpec(
        suites=(suite,), methods=methods, models=(name,), common=common, budget=options.make_budget(config), **given
    )


def _from_file(file: str, common: dict[str, Any], selection: dict[str, Any]) -> BenchSpec:
    """The bench that a file describes. Settings from options apply to all its cells.

    Tasks on tools are played with any method and model; a grid names its own.
    """
    from msgspec.structs import replace

    from codeplan.bench.bench_spec import read_spec
    from codeplan.errors import UsageError
    from codeplan.runner import trusted_folders

    given = dict(selection)
    real = Path(file).resolve()
    spec = read_spec(Path(file), lambda sha256: trusted_folders.is_trusted(real, sha256))
    if spec.tool_tasks and "split" not in given:
        given |= {f"{name}s": (given.pop(name),) for name in ("method", "model") if name in given}
    elif given:
        raise UsageError(f"{file} defines the bench; set {next(iter(given))} there instead of giving the option")
    return replace(spec, common={**spec.common, **common}, **given)
