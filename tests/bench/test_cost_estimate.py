"""What a bench will cost: ranges from episodes seen, which the episodes to come keep to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from codeplan.bench.bench_runner import run_bench
from codeplan.bench.bench_spec import BenchSpec, ResolvedBench, resolve_bench
from codeplan.bench.cost_estimate import BenchEstimate, estimate_cost, pilot_grid, read_earlier_benches
from codeplan.bench.engines import make_engine
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.store import BenchRecord, BenchStore, EpisodeOutcome
from codeplan.cli.app import main
from codeplan.statistics import predicted_sum
from codeplan.types import NotSolved, Result, Task, Usage

TASKS = tuple(Task(f"{kind}/{n}", "household", kind) for kind in ("pick", "heat") for n in range(5))
CELL = BenchCell("a", "household", "household", "react", "gpt", {"calls": 9})
GRID = BenchGrid((CELL,), {"household": TASKS})


def outcome(number: int, calls: int = 10, money: float | None = 0.5, **fields: Any) -> EpisodeOutcome:
    usage = Usage(calls * 100, calls, money=money)
    result = Result(TASKS[number], NotSolved("no"), model_calls=calls, usage=usage)
    return EpisodeOutcome(fields.pop("cell", "a"), TASKS[number], 0, "", result, **fields)


def estimate(*played: EpisodeOutcome, earlier: tuple[BenchRecord, ...] = ()) -> BenchEstimate:
    return estimate_cost(BenchRecord(Path("own"), GRID, played), earlier)


def test_nothing_is_estimated_from_nothing():
    found = estimate()
    assert found.unseen == ("a",)
    assert (found.cells[0].calls, found.total.money) == (None, None)


def test_only_the_episodes_to_come_are_counted():
    found = estimate(outcome(0), outcome(5))
    assert found.total.episodes == 8
    assert found.total.calls is not None and found.total.calls.low < 80 < found.total.calls.high
    assert found.total.money is not None and found.total.money.low < 4 < found.total.money.high
    assert estimate(*map(outcome, range(10))).total.calls == msgspec.convert(
        {"low": 0, "high": 0}, type(found.total.calls)
    )


def test_kinds_are_weighted_as_the_tasks_to_come_have_them():
    cheap = [outcome(n, calls=1) for n in range(4)]
    found = estimate(*cheap, outcome(5, calls=100))
    assert found.total.calls is not None
    assert found.total.calls.high > 4 * 100 + 1
    assert found.total.calls.low > 2 * predicted_sum([1], 5)[0]


def test_an_unknown_price_makes_the_money_unknown_and_nothing_else():
    found = estimate(outcome(0), outcome(1, money=None))
    assert found.total.money is None
    assert found.total.tokens is not None


def test_episodes_that_were_broken_off_say_nothing():
    assert estimate(outcome(0, broken=True)).unseen == ("a",)


@pytest.mark.parametrize(
    ("other", "seen"),
    [
        ({"name": "b", "suite": "household-134"}, 1),
        ({"model": "gpt-2"}, 0),
        ({"method": "adapt"}, 0),
        ({"settings": {"calls": 10}}, 0),
        ({"env": "textcraft"}, 0),
    ],
)
def test_only_episodes_of_the_same_cell_count(other, seen):
    cell = msgspec.structs.replace(CELL, **other)
    grid = BenchGrid((cell,), {cell.suite: TASKS})
    record = BenchRecord(Path("other"), grid, (outcome(0, cell=cell.name),))
    assert estimate(earlier=(record,)).cells[0].seen == seen


def test_many_episodes_make_a_narrow_range():
    low, high = predicted_sum([9, 11] * 200, 400)
    assert 0.95 * 4000 < low < 4000 < high < 1.05 * 4000


# ------------------------------------------------------------------ folders


def test_earlier_benches_are_found_and_damaged_ones_and_links_left_out(tmp_path):
    BenchStore(tmp_path / "runs" / "one", GRID).close()
    for name in ("damaged", "episode"):
        (tmp_path / "runs" / name).mkdir()
    (tmp_path / "runs" / "damaged" / "bench.json").write_text("{")
    BenchStore(tmp_path / "elsewhere", GRID).close()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "runs" / "inner").mkdir()
    (tmp_path / "runs" / "inner" / "bench.json").symlink_to(tmp_path / "elsewhere" / "bench.json")
    assert [b.folder.name for b in read_earlier_benches(tmp_path / "runs")] == ["one"]
    assert [b.folder.name for b in read_earlier_benches(tmp_path / "runs" / "one")] == ["one"]
    assert read_earlier_benches(tmp_path / "nowhere") == []


def test_of_many_earlier_benches_the_last_fifty_by_name_are_read(tmp_path):
    for number in range(51):
        BenchStore(tmp_path / f"{number:02}", GRID).close()
    assert [b.folder.name for b in read_earlier_benches(tmp_path)] == [f"{n:02}" for n in range(50, 0, -1)]


# ------------------------------------------------------------------ played


def twenty_cells() -> ResolvedBench:
    """Cells of all methods that the stand-in plays, with its mistakes and weaknesses."""
    table = {
        "suites": ["household"],
        "n": 1,
        "methods": [
            {"name": "adaplanner", "mistakes": "none", "label": "p0"},
            {"name": "adaplanner", "mistakes": "many", "label": "p1"},
            *({"name": name, "weakness": weak, "label": f"{name}-{weak}"}
              for name in ("react", "adapt", "plan-and-execute") for weak in ("none", "span", "forgetful")),
            *({"name": name, "weakness": weak, "label": f"{name}-{weak}"}
              for name in ("try-again", "reflexion", "text-planner") for weak in ("span", "forgetful")),
            {"name": "adapt", "executor": {"name": "react", "calls": 9}, "weakness": "span", "label": "short"},
            {"name": "adaplanner", "mistakes": "many", "asks": False, "label": "no-asks"},
            {"name": "adaplanner", "mistakes": "many", "after_failure": "restart", "label": "restart"},
        ],
    }  # fmt: skip
    return resolve_bench(msgspec.convert(table, BenchSpec))


def test_the_estimate_of_a_pilot_holds_on_twenty_cells():
    plan = twenty_cells()
    assert len(plan.grid.cells) == 20
    few = pilot_grid(plan.grid, [cell.name for cell in plan.grid.cells]).tasks["household"]
    played = run_bench(plan, make_engine("threads", 2)).bench
    pilot = tuple(outcome for outcome in played.outcomes if outcome.task in few)
    assert len(pilot) == 40
    found = estimate_cost(BenchRecord(Path(), plan.grid, pilot), ())
    misses = []
    for one in found.cells:
        rest = [o.result for o in played.outcomes_of(one.cell) if o not in pilot]
        assert one.episodes == len(rest) == 4
        spent = {"calls": sum(r.model_calls for r in rest), "tokens": sum(r.usage.total_tokens or 0 for r in rest)}
        for name, value in spent.items():
            low_high = getattr(one, name)
            if not low_high.low <= value <= low_high.high:
                misses.append((one.cell, name, low_high, value))
    assert misses == []


def test_a_dry_run_plays_nothing_and_a_pilot_two_tasks_of_each_cell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["bench", "paper:adapt-table3", "-n", "2", "--dry-run", "--out", "out"]
    assert main(command) == 0
    assert "unknown" in capsys.readouterr().out
    assert [*tmp_path.iterdir()] == []
    assert main([*command, "--pilot"]) == 0
    shown = capsys.readouterr().out
    assert "unknown" not in shown
    assert "Money is by" not in shown  # the stand-in costs nothing
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 4
    assert main([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["seen"] for one in document["estimate"]["cells"]] == [2, 2]
    assert document["prices"] is None
    assert main(["bench", "paper:adapt-table3", "-n", "2", "--out", "out"]) == 0
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 12


def test_a_bench_counts_its_own_episodes_once_however_its_folder_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "household", "--kind", "clean", "-n", "1", "--out", "runs/own"]) == 0
    capsys.readouterr()
    for name in ("runs/own", str(tmp_path / "runs/own"), "runs/../runs/own"):
        assert main(["bench", "household", "--kind", "clean", "-n", "3", "--out", name, "--dry-run", "--json"]) == 0
        (cell,) = json.loads(capsys.readouterr().out)["estimate"]["cells"]
        assert (cell["seen"], cell["episodes"]) == (1, 2)


def test_a_dry_run_of_too_many_episodes_is_refused_at_once(capsys):
    assert main(["bench", "household", "-n", "1", "--repeats", "1000000000000", "--dry-run"]) == 2
    assert "at most 250,000 episodes, not 6,000,000,000,000" in capsys.readouterr().err


def test_a_dry_run_needs_no_key_and_its_pilot_does(monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    command = ["bench", "household", "-n", "1", "--model", "gpt-4o", "--dry-run"]
    assert main(command) == 0
    assert "Never played" in capsys.readouterr().out
    assert main([*command, "--pilot"]) == 2
    assert "no key" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--pilot"], ["--estimate-from", "runs"], ["--dry-run", "--record", "tape"]])
def test_options_of_a_dry_run_stand_with_it(option, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "household", "-n", "1", *option]) == 2
    assert "dry" in capsys.readouterr().err
