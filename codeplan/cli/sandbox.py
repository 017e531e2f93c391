"""``codeplan sandbox audit``: runs hostile plans against the sandbox of this machine."""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.cli.command_groups import WholeSummaries
from codeplan.untrusted.texts import echo

if TYPE_CHECKING:
    from codeplan.audit.auditor import AttackVerdict

Corpus = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The folder of hostile plans; default tests/escapes, here or beside codeplan."),
]
Unrestricted = Annotated[bool, typer.Option("--unrestricted", help="Give plans all of Python, to test the cage alone.")]

_ENDS = ("rejected", "failed", "stopped", "finished")


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    group = typer.Typer(
        help="Test the sandbox of this machine.",
        cls=WholeSummaries,
        rich_markup_mode=None,
        epilog="Example: codeplan sandbox audit",
    )
    group.callback()(_sandbox)
    group.command("audit", epilog="Example: codeplan sandbox audit --unrestricted")(audit)
    app.add_typer(group, name="sandbox")


def _sandbox() -> None:
    """Test the sandbox of this machine."""


def audit(corpus: Corpus = None, unrestricted: Unrestricted = False, as_json: options.Json = False) -> None:
    """Run hostile plans on this machine and report which got through.

    Exit codes: 0 none got through, 1 one did.
    """
    from codeplan import audit as auditing
    from codeplan.cli.progress import counting_progress

    plans = auditing.read_corpus(corpus or _default_corpus())
    if not as_json:
        echo(f"{len(plans)} hostile plans; each may take a second or two.", err=True)
    began, tried = time.monotonic(), itertools.count(1)
    with counting_progress("tried") as show:
        show(0, len(plans))
        verdicts = auditing.audit_plans(
            plans, unrestricted=unrestricted, hosts=_hosts(), on_event=lambda _: show(next(tried), len(plans))
        )
    seconds = time.monotonic() - began
    if as_json:
        _print_json(verdicts, seconds, unrestricted)
    else:
        _print_table(verdicts)
        _print_summary(verdicts, seconds, unrestricted)
    raise typer.Exit(1 if any(v.got_through for v in verdicts) else 0)


def _hosts() -> int:
    """The number of parallel host processes."""
    return max(1, min(8, os.cpu_count() or 1))


def _default_corpus() -> Path:
    """``tests/escapes`` in the current folder, or in the checkout that contains codeplan."""
    import codeplan
    from codeplan.errors import UsageError

    beside = Path(codeplan.__file__ or "").resolve().parents[1]
    for folder in (Path("tests/escapes"), beside / "tests" / "escapes"):
        if folder.is_dir():
            return folder
    raise UsageError("there is no folder tests/escapes here; name the folder of hostile plans with --corpus")


def _print_json(verdicts: list[AttackVerdict], seconds: float, unrestricted: bool) -> None:
    through = [v.id for v in verdicts if v.got_through]
    summary = {"plans": len(verdicts), "through": through, "unrestricted": unrestricted, "seconds": round(seconds, 2)}
    options.print_json({**summary, "verdicts": verdicts})


def _print_table(verdicts: list[AttackVerdict]) -> None:
    """One line per kind: the number of plans, how they ended, how many got through."""
    echo(_row("kind", ["plans", *_ENDS, "through"]))
    for kind in sorted({v.kind for v in verdicts}):
        echo(_row(kind, _counts([v for v in verdicts if v.kind == kind])))
    echo(_row("all", _counts(verdicts)))


def _counts(verdicts: list[AttackVerdict]) -> list[int]:
    ends: Counter[str] = Counter(v.ending for v in verdicts)
    return [len(verdicts), *(ends[e] for e in _ENDS), sum(v.got_through for v in verdicts)]


def _row(name: str, cells: list[int] | list[str]) -> str:
    return f"{name:<12}" + "".join(f"{cell:>10}" for cell in cells)


def _print_summary(verdicts: list[AttackVerdict], seconds: float, unrestricted: bool) -> None:
    from codeplan.untrusted.texts import one_line

    through = [v for v in verdicts if v.got_through]
    for v in through:
        ending = f"{v.ending}:{v.detail}" if v.detail else v.ending
        echo(f"THROUGH  {v.id} ({v.kind}), {ending}: {one_line(v.problem, 300)}")
    mode = "with all of Python, in the cage alone" if unrestricted else "language and cage"
    echo(f"{len(through)} of {len(verdicts)} hostile plans got through ({mode}; {seconds:.0f} s).")
