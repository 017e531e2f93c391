"""``codeplan bench --dry-run``: what a bench will cost, as ranges."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codeplan.cli import options
from codeplan.cli.default_folders import RUNS
from codeplan.cli.text_tables import format_table, terminal_width
from codeplan.untrusted.texts import one_line, with_count, wrap_line

if TYPE_CHECKING:
    from codeplan.bench.bench_runner import BenchOutcome
    from codeplan.bench.bench_spec import ResolvedBench
    from codeplan.bench.cost_estimate import BenchEstimate, CellEstimate, CostRange

_HEADS = ("cell", "episodes", "calls", "tokens", "US $", "seen")


def estimate_bench(
    plan: ResolvedBench,
    folder: Path | None,
    earlier: Path | None,
    play: Callable[[ResolvedBench, Path | None], BenchOutcome] | None,
    max_money: float | None,
    as_json: bool,
) -> None:
    """Print what the remaining episodes of a bench will cost.

    ``folder`` may hold a part of the bench. ``earlier`` has earlier benches, by default ``runs``. ``play`` runs the
    pilot of what none of them has; without it nothing is played.
    """
    from msgspec.structs import replace

    from codeplan.bench.cost_estimate import estimate_cost, is_bench, pilot_grid, read_earlier_benches
    from codeplan.bench.grid import find_excess
    from codeplan.bench.store import BenchRecord, read_bench
    from codeplan.errors import UsageError

    def estimate() -> BenchEstimate:
        played = read_bench(folder).outcomes if folder and is_bench(folder) else ()
        own = BenchRecord(folder or Path(os.devnull), plan.grid, played)  # in which there are no trainings
        return estimate_cost(own, [b for b in benches if not folder or b.folder.resolve() != folder.resolve()])

    if excess := find_excess(plan.grid):
        raise UsageError(excess)
    benches = read_earlier_benches(earlier or RUNS)
    found = estimate()
    if play and found.unseen:
        play(replace(plan, grid=pilot_grid(plan.grid, found.unseen)), folder)
        found = estimate()
    options.print_output(
        {"estimate": found, "prices": price_table(plan)}, as_json, lambda: _lines(plan, found, max_money)
    )


def price_table(plan: ResolvedBench) -> str | None:
    """The name of the price table that money is counted by; None if only the stand-in plays, which costs nothing."""
    from codeplan.llm.prices import builtin_prices

    models = {name for cell in plan.grid.cells for name in (cell.model, cell.settings.get("executor_model"))}
    if models <= {"scripted", None}:
        return None
    own = {str(cell.settings["prices"]) for cell in plan.grid.cells if cell.settings.get("prices")}
    table = builtin_prices()
    return ", ".join(sorted(own)) or f"codeplan's table of {table.date}, from {table.source}"


def _lines(plan: ResolvedBench, found: BenchEstimate, max_money: float | None) -> Iterator[str]:
    """The table, then what there is to say of it, within the terminal's width."""
    width = terminal_width()
    yield from format_table(_HEADS, [_row(one) for one in (*found.cells, found.total)], width=width)
    yield ""
    for note in _notes(plan, found, max_money):
        yield from wrap_line(note, width)


def _notes(plan: ResolvedBench, found: BenchEstimate, max_money: float | None) -> Iterator[str]:
    if any(one.calls for one in found.cells):
        yield "Each range holds with a probability of about 95 %, if the episodes to come are like those seen."
    if prices := price_table(plan):
        yield f"Money is by {one_line(prices)}."
    for name in plan.unpriced_models:
        yield f"No price is known for the model {one_line(name)}; give a table with --prices FILE."
    if found.unseen:
        unseen = f"{len(found.unseen)} of {with_count(len(found.cells), 'cell')}"
        yield f"Never played, so the cost is unknown: {unseen}. Add --pilot to play two tasks of each and estimate it."
    if max_money is not None and found.total.money and found.total.money.high > max_money:
        yield f"The budget of ${max_money:g} may end the bench early."


def _row(one: CellEstimate) -> tuple[str, ...]:
    ranges = (_format(one.calls, 0), _format(one.tokens, 0), _format(one.money, 2))
    return one_line(one.cell), str(one.episodes), *ranges, str(one.seen)


def _format(of: CostRange | None, digits: int) -> str:
    if of is None:
        return "unknown"
    return f"{of.low:,.{digits}f} to {of.high:,.{digits}f}" if of.high else "0"
