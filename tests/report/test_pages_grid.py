"""The page of a large grid and of a single run: grouped by environment, stamped, dated, and readable on any screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.chromium import Chromium, Tab
from support.trace_samples import acted, ended, started, write
from test_pages_browser import paged, violations
from test_pages_server import data, served

from codeplan.bench import store
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.cli.app import main
from codeplan.recording.events import EpisodeEnded
from codeplan.report.pages.overview import build_overview
from codeplan.report.pages.report_source import ReportSource
from codeplan.types import Claimed, Result, Success, Task

GRID = """
suites = ["household", "textcraft", "hotpotqa"]
n = 1
methods = ["adaplanner", "react", "plan-and-execute"]
settings = [{mistakes = "some"}, {mistakes = "many"}]
"""
SHORT_NAMES = [
    f"{method}, mistakes={mistakes}"
    for method in ("adaplanner", "react", "plan-and-execute")
    for mistakes in ("some", "many")
]
OUTSIDE = """(() => {
    const boxed = e => e !== document.body && (getComputedStyle(e).overflowX !== 'visible' || boxed(e.parentElement));
    return [...document.querySelectorAll('main *')].filter(e =>
        e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !boxed(e.parentElement)
    ).map(e => e.outerHTML.slice(0, 100)) })()"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bench of 18 cells: three environments, three methods, two settings."""
    place = tmp_path_factory.mktemp("grid")
    (place / "grid.toml").write_text(GRID)
    assert main(["bench", str(place / "grid.toml"), "--out", str(place / "bench")]) == 0
    return place / "bench"


@pytest.fixture(scope="module")
def page(grid: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the grid's page."""
    return paged(grid, tmp_path_factory.mktemp("out"))


@pytest.fixture
def tab(chromium: Chromium, page: str) -> Iterator[Tab]:
    """The grid's page on a desktop."""
    tab = chromium.open(page, width=1400, height=900)
    yield tab
    assert tab.complaints == []


def claimed(folder: Path, task: str = "clean/1") -> None:
    """An episode that its method only claims to have solved."""
    head = started(task)
    end = EpisodeEnded(result=Result(head.task, Claimed("I believe so"), head.method, head.model))
    write(folder, head, acted(), end)


def overview(folder: Path) -> dict[str, Any]:
    return build_overview(ReportSource(folder).read())


# ------------------------------------------------------------------ by environment


def test_columns_and_kinds_are_grouped_by_environment(grid: Path) -> None:
    shown = overview(grid)
    kinds = {g["env"]: [shown["kinds"][at] for at in g["kinds"]] for g in shown["groups"]}
    assert {env: len(of) for env, of in kinds.items()} == {"household": 6, "textcraft": 3, "hotpotqa": 2}
    assert set(kinds["hotpotqa"]) == {"bridge", "comparison"}
    for group in shown["groups"]:
        columns = [shown["columns"][at] for at in group["columns"]]
        assert [c["short"] for c in columns] == SHORT_NAMES
        assert [c["name"] for c in columns] == [f"{group['env']}: {name}" for name in SHORT_NAMES]
        assert all(n for rates in group["byKind"] for _, n, *_ in rates)


def test_kinds_of_one_name_in_two_environments_stay_apart(tmp_path: Path) -> None:
    for env, success in (("household", True), ("mine.py:Office", False)):
        head = replace(started(), env=env, task=Task("clean/1", env=env, kind="clean"))
        write(tmp_path / env[:4], head, ended(head, success=success))
    shown = overview(tmp_path)
    assert shown["kinds"] == ["clean", "clean"]
    assert [(g["env"], [rate[:2] for rate in g["byKind"][0]]) for g in shown["groups"]] == [
        ("household", [[1, 1]]),
        ("mine.py:Office", [[0, 1]]),
    ]
    assert [c["name"] for c in shown["columns"]] == ["household: adaplanner", "mine.py:Office: adaplanner"]


def test_two_suites_of_one_environment_share_its_tables_under_their_names(tmp_path: Path) -> None:
    names = ("household.adaplanner.scripted", "household-134.adaplanner.scripted")
    cells = tuple(BenchCell(n, n.split(".")[0], "household", "adaplanner", "scripted") for n in names)
    tasks = {cell.suite: (Task("t/0", "household", "clean"),) for cell in cells}
    with store.BenchStore(tmp_path, BenchGrid(cells, tasks)):
        shown = overview(tmp_path)
    assert [g["columns"] for g in shown["groups"]] == [[0, 1]]
    assert [c["short"] for c in shown["columns"]] == ["household.adaplanner", "household-134.adaplanner"]


def test_each_environment_has_its_own_tables_without_dashes(tab: Tab) -> None:
    assert tab.run("[...document.querySelectorAll('main h2')].map(e => e.innerText)") == [
        *("household", "textcraft", "hotpotqa"),
        *("Published results", "Episodes"),
    ]
    assert tab.count("table.wide") == tab.count("table.kinds") == 3
    assert tab.count("table.wide tbody tr") == 18
    assert "–" not in tab.run("[...document.querySelectorAll('table.kinds td')].map(e => e.innerText).join()")
    options = tab.run("[...document.querySelectorAll('#kind option')].map(e => e.innerText)")
    assert "hotpotqa: bridge" in options


# ------------------------------------------------------------------ stamps, dates, claims


def test_each_table_and_plot_has_the_stamp_once(tab: Tab) -> None:
    assert tab.count("table .stamp") == tab.count("table thead .stamp") == 7
    assert tab.count("svg.plot") == tab.count("svg.plot .plot-stamp") == 9
    assert tab.count(".stamp") == 8
    assert "say nothing about language models" in tab.text(".note")


def test_each_printed_page_says_whose_figures_it_shows(tab: Tab) -> None:
    content = "getComputedStyle(document.body, '::after').content"
    assert tab.run(content) == "none"
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.run(content) == '"Scripted stand-in, not a language model"'
    assert tab.run("getComputedStyle(document.body, '::after').position") == "fixed"


def test_a_page_with_a_model_marks_the_stand_in_row_by_row(chromium: Chromium, tmp_path: Path) -> None:
    for model in ("scripted", "gpt-x"):
        write(tmp_path / "runs" / model, started(model=model), ended(started(model=model)))
    tab = chromium.open(paged(tmp_path / "runs", tmp_path), width=1280)
    assert tab.count("table thead .stamp") == 0
    assert tab.count("table.wide tbody .stamp") == tab.count("table.episodes tbody .stamp") == 1
    stamps = tab.run("[...document.querySelectorAll('.plot-stamp')].map(e => e.textContent)")
    assert stamps == ["some: scripted stand-in"] * 3
    assert "gpt-x, scripted stand-in" in tab.text(".facts")
    assert tab.run("document.body.dataset.stamp") == "Where so marked: scripted stand-in, not a language model"
    assert tab.complaints == []


def test_only_a_model_s_page_has_no_stamp(chromium: Chromium, tmp_path: Path) -> None:
    for number in (1, 2):
        head = started(f"clean/{number}", model="gpt-x")
        write(tmp_path / "runs" / str(number), head, ended(head))
    tab = chromium.open(paged(tmp_path / "runs", tmp_path), width=1280)
    assert tab.count(".stamp") == tab.count(".plot-stamp") == 0
    assert tab.run("document.body.dataset.stamp ?? null") is None


def test_the_page_says_when_and_by_which_version_it_was_run(chromium: Chromium, tmp_path: Path) -> None:
    first = replace(started("clean/1"), at=1_767_225_540.0, codeplan_version="1.2.3")
    second = replace(started("clean/2"), at=1_767_225_660.0, codeplan_version="1.2.4")
    write(tmp_path / "runs" / "a", first, replace(ended(first), at=1_767_225_600.0))
    write(tmp_path / "runs" / "b", second, acted())
    shown = overview(tmp_path / "runs")
    assert (shown["started"], shown["ended"]) == (1_767_225_540.0, 1_767_225_600.0)
    assert shown["versions"] == ["1.2.3", "1.2.4"]
    tab = chromium.open(paged(tmp_path / "runs", tmp_path), width=1280)
    assert "2025-12-31 23:59 to 2026-01-01 00:00 UTC" in tab.text(".facts")
    assert "1.2.3, 1.2.4" in tab.text(".facts")
    tab.go(paged(tmp_path / "runs", tmp_path) + "#/episode/1")
    tab.until("document.querySelector('#timeline')")
    assert "2026-01-01 00:01 UTC" in tab.text(".facts")
    assert "1.2.4" in tab.text(".facts")


@pytest.mark.parametrize(("at", "shown"), [(-1.0, False), (0.5, True), (1e11 - 1, True), (1e11, False), (1e300, False)])
def test_a_time_that_no_calendar_has_is_not_shown(tmp_path: Path, at: float, shown: bool) -> None:
    head = replace(started(), at=at)
    write(tmp_path / "one", head, replace(ended(head), at=at))
    found = overview(tmp_path)
    assert (found["started"], found["ended"]) == ((at, at) if shown else (None, None))


def test_an_end_with_a_trace_that_is_missing_has_no_date(tmp_path: Path) -> None:
    cell = BenchCell("c", "household", "household", "adaplanner", "scripted")
    task = Task("t/0", "household", "clean")
    with store.BenchStore(tmp_path, BenchGrid((cell,), {"household": (task,)})) as kept:
        kept.append(store.EpisodeOutcome("c", task, 0, store.episode_folder("c", "t/0", 0), Result(task, Success())))
    (run,) = ReportSource(tmp_path).read().episodes
    assert (run.started_at, run.ended_at, run.codeplan_version) == (None, None, "")


def test_a_claim_is_explained_on_the_bench_and_in_the_episode(chromium: Chromium, tmp_path: Path) -> None:
    claimed(tmp_path / "runs" / "one")
    claimed(tmp_path / "runs" / "two", "clean/2")
    tab = chromium.open(paged(tmp_path / "runs", tmp_path), width=1280)
    notes = tab.run("[...document.querySelectorAll('.note')].map(e => e.innerText).join(' ')")
    assert "2 episodes ended as claimed" in notes
    assert tab.text(".episodes .badge") == "claimed"
    tab.go(paged(tmp_path / "runs", tmp_path) + "#/episode/0")
    tab.until("document.querySelector('#timeline')")
    assert "No verifier and no environment confirmed it" in tab.text(".note")


# ------------------------------------------------------------------ a single run


def test_a_single_run_opens_as_its_episode(chromium: Chromium, tmp_path: Path) -> None:
    write(tmp_path / "run", started(), acted(), ended(started()))
    tab = chromium.open(paged(tmp_path / "run", tmp_path), width=1280)
    assert tab.text("h1").startswith("clean/1")
    assert tab.count("#timeline") == 1
    assert tab.count("table.wide, .plots, .interval, .crumbs") == 0
    tab.click("[data-n='2'] .seq")
    tab.until("document.querySelector('[data-n=\"2\"].current')")
    tab.run("location.hash = '#/'")
    tab.until("document.querySelector('#timeline')")
    assert tab.complaints == []


@pytest.mark.parametrize(("total", "single"), [(1, True), (2, False)])
def test_a_bench_that_will_have_more_episodes_opens_as_a_bench(tmp_path: Path, total: int, single: bool) -> None:
    cell = BenchCell("c", "household", "household", "adaplanner", "scripted")
    tasks = tuple(Task(f"t/{n}", "household", "clean") for n in range(total))
    with store.BenchStore(tmp_path, BenchGrid((cell,), {"household": tasks})) as kept:
        run = store.episode_folder("c", "t/0", 0)
        kept.append(store.EpisodeOutcome("c", tasks[0], 0, run, Result(tasks[0], Success())))
    assert overview(tmp_path)["single"] is single


def test_a_served_folder_of_runs_may_grow_and_opens_as_a_list(tmp_path: Path) -> None:
    write(tmp_path / "runs" / "one", started(), ended(started()))
    with served(tmp_path / "runs") as port:
        assert data(port, "/api/overview")["single"] is False
    with served(tmp_path / "runs" / "one") as port:
        assert data(port, "/api/overview")["single"] is True


# ------------------------------------------------------------------ any screen


@pytest.mark.parametrize("width", [1400, 800, 400])
def test_nothing_is_wider_than_the_window_outside_its_own_box(chromium: Chromium, page: str, width: int) -> None:
    for place in ("", "#/episode/0"):
        tab = chromium.open(page + place, width=width)
        tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert tab.run(OUTSIDE) == []
        assert tab.run("document.documentElement.scrollWidth") <= width


def test_on_a_desktop_no_table_of_the_grid_scrolls(tab: Tab) -> None:
    boxes = "[...document.querySelectorAll('.scrolling')].filter(e => !e.closest('details'))"
    assert tab.run(f"{boxes}.length") == 7
    assert tab.run(f"{boxes}.filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel)") == []


@pytest.mark.parametrize("width", [1300, 980])
def test_the_wide_tables_scroll_at_no_width(chromium: Chromium, page: str, width: int) -> None:
    tab = chromium.open(page, width=width)
    boxes = "[...document.querySelectorAll('.scrolling')].filter(e => e.querySelector('.cards'))"
    assert tab.run(f"{boxes}.filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel)") == []


@pytest.mark.parametrize("width", [1400, 400])
def test_means_have_their_intervals(chromium: Chromium, page: str, width: int) -> None:
    tab = chromium.open(page, width=width)
    cell = "document.querySelector('table.wide td[data-name=actions]')"
    mean, low, high = map(float, re.findall(r"[\d.]+", tab.run(f"{cell}.innerText")))
    assert low <= mean <= high
    figure, interval = f"{cell}.getBoundingClientRect()", f"{cell}.querySelector('.interval')"
    assert tab.run(f"{interval}.getBoundingClientRect().right <= {figure}.right + 1")


def test_on_a_phone_rows_are_cards_with_named_figures(chromium: Chromium, page: str) -> None:
    tab = chromium.open(page, width=400)
    assert tab.run("getComputedStyle(document.querySelector('table.wide tbody tr')).display") == "flex"
    figure = "document.querySelector('table.wide td[data-name=solved]')"
    assert tab.run(f"getComputedStyle({figure}, '::before').content") == '"solved "'
    assert tab.run("document.querySelector('table.wide .stamp').getClientRects().length") == 1


def test_on_a_phone_a_long_failure_wraps(chromium: Chromium, tmp_path: Path) -> None:
    head = started()
    result = Result(head.task, Claimed("no_mug_" * 200), head.method, head.model)
    for name in ("one", "two"):
        write(tmp_path / "runs" / name, head, acted(text="x" * 3000), EpisodeEnded(result=result))
    for place in ("", "#/episode/0"):
        tab = chromium.open(paged(tmp_path / "runs", tmp_path) + place, width=400)
        assert tab.run(OUTSIDE) == []
        assert tab.run(
            "[...document.querySelectorAll('.reason, .text')].every(e => e.scrollWidth <= e.clientWidth + 1)"
        )


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 400)])
def test_axe_finds_nothing_on_the_grid_a_claim_and_a_single_run(
    chromium: Chromium, page: str, axe: str, tmp_path: Path, scheme: str, width: int
) -> None:
    claimed(tmp_path / "run")
    for address in (page, f"{page}#/episode/1", paged(tmp_path / "run", tmp_path)):
        assert violations(chromium.open(address, scheme=scheme, width=width), axe) == []
