"""``codeplan test``, ``mutate`` and ``new-test``: unit tests of plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.options import require_no_link
from codeplan.untrusted.texts import echo, echo_message, one_line, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.testing.mutation import MutationScore

Plan = Annotated[Path, typer.Argument(metavar="PLAN", help="A manifest, or a plan with a manifest beside it.")]
NewOut = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for the new test.")]
Arguments = Annotated[
    list[str] | None, typer.Argument(metavar="[FILES AND PYTEST'S OPTIONS]", help="Passed to pytest.")
]
EnvironmentSet = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the environment; repeatable.")
]
LiveLlm = Annotated[bool, typer.Option("--live-llm", help="Ask the real model that the manifest names.")]

PLAN_TESTS = Path("tests/plans")
"""The folder for a new test, unless the user names one."""

MAX_SKIPPED = 5
"""Maximum number of lines about manifests that were left out."""

_ALREADY_IMPORTED = "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"
"""The command line imports codeplan before pytest can rewrite its assertions. Without this filter pytest warns,
and fails in projects that turn warnings into errors.
"""


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    passed = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": ["-h", "--help"]}
    app.command("test", context_settings=passed, epilog="Example: codeplan test tests/plans --plan-cov")(run_tests)
    app.command("mutate", epilog="Example: codeplan mutate tests/plans/heat.plan.toml")(mutate)
    app.command("new-test", epilog="Example: codeplan new-test runs/one")(new_test)


def run_tests(arguments: Arguments = None) -> None:
    """Run tests of plans: every *.plan.toml in the given files and folders, or in this folder.

    This is pytest with codeplan's plugin and takes all its options. codeplan adds --plan-env FILE.py:NAME, --plan-cov,
    --plan-cov-html DIR, --plan-cov-fail-under PERCENT, --plan-max-seconds SECONDS, --plan-mutants, --plan-set
    NAME=VALUE and --live-llm. A folder may come from a stranger, so pytest's configuration, conftest.py and Python
    tests there are left alone;
    pytest itself runs these and the plans' tests.

    Exit codes: 0 all passed, 1 some failed, 2 usage, 3 the seconds of --plan-max-seconds are over.
    """
    import pytest

    from codeplan.cli.pytest_session import SessionWatch
    from codeplan.errors import UsageError
    from codeplan.testing.only_plans import ARGUMENTS

    given = arguments or []
    if (odd := next((word for word in given if not word.isprintable()), None)) is not None:
        from codeplan.untrusted.values import in_quotes

        raise UsageError(f"{in_quotes(odd, 200)} has characters that cannot be printed, and pytest prints it as it is")
    end = given.index("--") if "--" in given else len(given)
    plugin = [] if _is_installed() else ["-p", "codeplan.testing.plugin"]
    watch = SessionWatch()
    ours = [*plugin, *ARGUMENTS, *_storage(given)]
    code = int(pytest.main([*ours, *given[:end], "-W", _ALREADY_IMPORTED, *given[end:]], plugins=[watch]))
    _print_skipped(sorted(watch.skipped))
    if watch.interrupted:
        raise typer.Exit(130)
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and watch.deselected:
        raise UsageError(f"no test ran: the options select none of the {with_count(watch.deselected, 'test')}")
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise UsageError("no test ran; tests are manifests (*.plan.toml), and one is made with: codeplan new-test RUN")
    raise typer.Exit({0: 0, 1: 1, 2: watch.exit_code}.get(code, 2))


def mutate(
    plan: Plan,
    env: options.OwnEnv = None,
    more: EnvironmentSet = None,
    live_llm: LiveLlm = False,
    as_json: options.Json = False,
) -> None:
    """Change a plan in many small ways and find the changes that its tests do not notice.

    Assertions are weakened, actions left out, names and numbers replaced, conditions negated. Survivors show where the
    tests, or the plan's own assertions, are weak.

    Exit codes: 0 the tests kill the share that the manifest asks for (90 % by default), 1 they do not, 2 usage.
    """
    given = options.collect_settings(more)
    scores = [_score(path, given, live_llm) for path in _manifests(plan)]
    if as_json:
        options.print_json([_as_json(score) for score in scores])
    else:
        for score in scores:
            _print(score)
    raise typer.Exit(1 if any(score.complaints for score in scores) else 0)


def new_test(folder: options.Run, out: NewOut = PLAN_TESTS, env: options.OwnEnv = None) -> None:
    """Make a test from a recorded episode: its plan, a manifest, and a tape if the plan asked something."""
    from codeplan.testing.scaffold import new_test as write

    if out == PLAN_TESTS:
        require_no_link(out, "--out")
    for path in write(folder, out, _report_left_out):
        echo(str(path))
    own = " --plan-env FILE.py:NAME" if env else ""
    echo_message(f"run it with: codeplan test {shell_word(out)}{own}", err=True)


def _print_skipped(lines: list[str]) -> None:
    """Print what pytest left out of the folders."""
    for line in lines[:MAX_SKIPPED]:
        echo_message(f"left out: {line}", "codeplan: ", err=True)
    if len(lines) > MAX_SKIPPED:
        echo_message(f"and {len(lines) - MAX_SKIPPED:,} more", "codeplan: ", err=True)


def _storage(given: list[str]) -> tuple[str, ...]:
    """Arguments that have pytest and Hypothesis keep their files in the user's cache, not where links may wait.

    If the ``given`` arguments switch pytest's cache off, none name its folder: pytest would warn of the option.
    """
    import hashlib
    import os

    cache = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache if os.path.isabs(cache) else os.path.expanduser("~/.cache"))
    if not base.is_absolute():
        return ("-p", "no:cacheprovider")
    folder = base / "codeplan" / "tests" / hashlib.sha256(os.fsencode(os.getcwd())).hexdigest()[:16]
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(folder / "hypothesis"))
    if any(word in ("no:cacheprovider", "-pno:cacheprovider") for word in given):
        return ()
    return ("-o", f"cache_dir={folder / 'pytest'}")


def _report_left_out(names: list[str]) -> None:
    command = " ".join(("codeplan test", *(f"--plan-set {name}=…" for name in names)))
    echo_message(f"a manifest cannot set {', '.join(names)}; give {command}", "codeplan: ", err=True)


def _is_installed() -> bool:
    """Whether pytest finds the plugin on its own."""
    from importlib.metadata import entry_points

    return "codeplan" in entry_points(group="pytest11").names


def _manifests(plan: Path) -> list[Path]:
    """The given manifest, or the manifests beside a plan that test it."""
    from codeplan.errors import UsageError
    from codeplan.testing.manifest import MANIFEST_SUFFIX, read_manifest, read_text
    from codeplan.untrusted.files import list_folder

    if plan.name.endswith(MANIFEST_SUFFIX):
        return [plan]
    if not plan.is_file():
        wrong = f"{plan} is a folder" if plan.is_dir() else f"there is no file {plan}"
        raise UsageError(f"{wrong}; name a plan, or a manifest (*{MANIFEST_SUFFIX})")
    names = [entry.name for entry in list_folder(plan.parent) if not entry.is_folder]
    beside = [plan.parent / name for name in names if name.endswith(MANIFEST_SUFFIX)]
    found = [m for m in beside if read_manifest(m, read_text(m)).plan == plan.name]
    if not found:
        raise UsageError(f"no manifest beside {plan} is for it; write one (*{MANIFEST_SUFFIX}), or name it")
    return found


def _score(path: Path, given: dict[str, Any], live_llm: bool) -> MutationScore:
    from contextlib import closing

    from codeplan.cli.output import counting_progress
    from codeplan.testing.cases import CaseRunner, PlanSuite
    from codeplan.testing.mutation import run_mutants

    with closing(CaseRunner(PlanSuite(path, given), live_llm=live_llm)) as stage, counting_progress("mutants") as show:
        return run_mutants(stage, show)


def _print(score: MutationScore) -> None:
    from codeplan.testing.mutation import format_summary, survivor_lines

    echo("\n".join([format_summary(score), *survivor_lines(score)]))
    for mutant in score.explained:
        echo(f"explained: {one_line(mutant.name)}: {one_line(score.target.survivors[mutant.name], 500)}")
    for complaint in score.complaints:
        echo_message(complaint, err=True)


def _as_json(score: MutationScore) -> dict[str, Any]:
    mutants = [
        {
            "name": t.mutant.name,
            "kind": t.mutant.kind,
            "step": t.mutant.step,
            "line": t.mutant.line,
            "killed_by": t.killer or None,
            "explained": score.target.survivors.get(t.mutant.name),
        }
        for t in score.results
    ]
    return {"plan": score.label, "killed": score.killed, "total": len(score.results), "mutants": mutants}
