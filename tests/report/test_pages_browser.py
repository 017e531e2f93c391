"""The page in a real browser: clicked through, with the keyboard, under attack, and as a screen reader meets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from support.chromium import Chromium, Tab
from support.trace_samples import PLAN, PNG, acted, ended, hostile, started, state, write
from test_pages_server import served

from codeplan.recording.events import (
    PictureSaved,
    PlanDrafted,
    PlanEnded,
    PlanFixed,
    PlanStarted,
    PlanWarned,
    SpanClosed,
    SpanOpened,
    StepEntered,
)
from codeplan.report.pages import archive
from codeplan.report.pages.report_source import ReportSource
from codeplan.report.pages.server import MAX_TEXT_CHARACTERS
from codeplan.types import Diagnostic, Failed, Fix

ROWS = "table.episodes tbody tr"


@pytest.fixture(scope="module")
def page(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the bench's page, as a file."""
    return paged(bench, tmp_path_factory.mktemp("out"))


def paged(folder: Path, place: Path) -> str:
    archive.write_archive(ReportSource(folder), place / "page.html")
    return (place / "page.html").as_uri()


@pytest.fixture
def tab(chromium: Chromium, page: str) -> Iterator[Tab]:
    """The bench's page, open; its console must have nothing to say in the end."""
    tab = chromium.open(page, width=1280, height=900)
    yield tab
    assert tab.complaints == []


def refined(folder: Path) -> None:
    """An episode of two plans: the first fails in step 2, the second resumes there."""
    head = started("clean/1")
    failed = Failed(step=2, line=5, error="AssertionError", message="no mug", checkpoint=state(seen="a desk", n=2))
    write(
        folder,
        head,
        PlanDrafted(number=1, origin="plan", source=PLAN),
        PlanStarted(number=1, start_from=1),
        StepEntered(step=1, title="look", checkpoint=state()),
        acted("look"),
        StepEntered(step=2, title="take", checkpoint=state(seen="a desk", n=1)),
        PlanEnded(outcome=failed),
        PlanDrafted(number=2, origin="refine", source=PLAN.replace("take(seen)", "take('mug 1')")),
        PlanStarted(number=2, start_from=2, restored=("seen", "n")),
        StepEntered(step=2, title="take", checkpoint=state(seen="a desk", n=2)),
        SpanOpened(id=1, kind="trial", name="inner"),
        acted("take mug 1", "Taken.", success=True),
        SpanClosed(id=1),
        ended(head),
    )


@pytest.fixture
def episode(chromium: Chromium, tmp_path: Path) -> Iterator[Tab]:
    """The page of such an episode."""
    refined(tmp_path / "runs" / "one")
    refined(tmp_path / "runs" / "two")
    tab = chromium.open(paged(tmp_path / "runs", tmp_path) + "#/episode/0", width=1280, height=900)
    yield tab
    assert tab.complaints == []


# ------------------------------------------------------------------ the bench


def test_the_bench_shows_its_methods_kinds_plots_and_episodes(tab: Tab, bench: Path) -> None:
    assert tab.text("h1") == bench.name
    assert "24 episodes in household" in tab.text(".lede")
    assert tab.count("table.wide tbody tr") == 2
    assert tab.count("table.kinds tbody tr") == 7
    assert tab.count("figure svg[role=img] title") >= 3
    assert tab.count(ROWS) == 24


def test_a_filter_leaves_the_episodes_that_fit_and_stands_in_the_address(tab: Tab) -> None:
    tab.run("const s = document.getElementById('method'); s.value = '1'; s.dispatchEvent(new Event('change'))")
    assert tab.count(ROWS) == 12
    tab.run("const k = document.getElementById('outcome'); k.value = 'failure'; k.dispatchEvent(new Event('change'))")
    failed = tab.count(ROWS)
    assert 0 < failed < 24
    assert f"{failed} of 24 episodes" in tab.text("#count")
    tab.click("#text")
    tab.type("pick_two")
    assert 0 < tab.count(ROWS) < failed
    assert "outcome=failure" in tab.run("location.hash")
    tab.reload()
    assert tab.run("document.getElementById('outcome').value") == "failure"
    assert tab.count(ROWS) < failed


def test_a_column_s_name_sorts_by_it_up_and_down(tab: Tab) -> None:
    actions = "[...document.querySelectorAll('table.episodes tbody tr')].map(r => Number(r.cells[4].innerText))"
    tab.click("[data-sort=actions]")
    assert tab.run(actions) == sorted(tab.run(actions))
    assert tab.count("th[aria-sort=ascending]") == 1
    tab.click("[data-sort=actions]")
    assert tab.run(actions) == sorted(tab.run(actions), reverse=True)


def test_from_the_bench_to_an_episode_its_diff_and_a_checkpoint(tab: Tab) -> None:
    tab.run("const s = document.getElementById('text'); s.value = 'cool/0'; s.dispatchEvent(new Event('input'))")
    tab.click(f"{ROWS} a")
    tab.until("document.querySelector('#timeline')")
    assert tab.text("h1").startswith("cool/0")
    assert tab.count("table.diff tr.in") > 0
    assert tab.count("table.course tr") > 1
    tab.click(".checkpoint summary")
    assert tab.count(".checkpoint[open]") == 1
    tab.click("#up")
    tab.until("document.querySelector('table.wide')")


# ------------------------------------------------------------------ an episode


def test_the_episode_shows_where_a_plan_failed_and_where_the_next_resumed(episode: Tab) -> None:
    assert episode.count("table.course svg.arrow path") == 2
    assert "failed in step 2, line 5" in episode.text("table.course")
    assert "Plan 2 resumes at step 2 with its variables: seen, n" in episode.text("#timeline")


def test_the_plan_follows_the_event_that_is_looked_at(episode: Tab) -> None:
    def look_at(number: int) -> None:
        episode.run(f"location.hash = '#/episode/0?event={number}'")
        episode.until(f"document.querySelector('[data-n=\"{number}\"].current')")

    def lines(kind: str) -> object:
        return episode.run(f"[...document.querySelectorAll('.panel .source .{kind}')].map(l => Number(l.dataset.line))")

    episode.click("[data-n='5'] .seq")
    episode.until("document.querySelector('[data-n=\"5\"].current')")
    assert episode.text("#panel-title") == "Plan 1"
    assert lines("running") == [2, 3]
    look_at(7)
    assert lines("failed") == [5]
    assert "a desk" in episode.text(".panel .variables")
    look_at(10)
    assert episode.text("#panel-title") == "Plan 2"
    assert lines("resumed") == [4]
    assert lines("skipped") == [2, 3]


def test_the_diff_shows_what_the_refinement_changed(episode: Tab) -> None:
    assert episode.text("table.diff tr.out td:last-child").strip().endswith("agent.take(seen)")
    assert episode.text("table.diff tr.in td:last-child").strip().endswith("agent.take('mug 1')")


def test_a_checkpoint_names_the_variables_and_marks_what_changed(episode: Tab) -> None:
    changed = "[...document.querySelectorAll('[data-n=\"7\"] .variables .changed th code')].map(c => c.textContent)"
    assert episode.run(changed) == ["n"]
    episode.click("[data-n='7'] .checkpoint summary")
    assert "'a desk'" in episode.text("[data-n='7'] .variables")


def test_a_span_is_nested_in_the_timeline(episode: Tab) -> None:
    assert episode.count("[data-n='11'] .timeline [data-n='13']") == 1
    assert episode.count("[data-n='11'] [data-n='15']") == 0


def test_keys_go_from_event_to_event_and_back_to_the_bench(episode: Tab) -> None:
    episode.press("j")
    assert episode.run("document.activeElement.innerText") == "3"
    episode.press("k")
    assert episode.run("document.activeElement.innerText") == "2"
    episode.press("?")
    assert episode.run("document.getElementById('keys').open")
    episode.click("#keys button")
    assert not episode.run("document.getElementById('keys').open")
    episode.press("?")
    episode.press("Escape")
    assert not episode.run("document.getElementById('keys').open")
    episode.press("u")
    episode.until("document.querySelector('table.wide')")
    episode.press("/")
    assert episode.run("document.activeElement.id") == "text"


def test_the_theme_follows_the_system_until_it_is_chosen(episode: Tab) -> None:
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = episode.run(paper)
    episode.look(scheme="dark")
    assert episode.run(paper) != light
    episode.press("t")
    assert episode.run("document.documentElement.dataset.theme") == "light"
    assert episode.run(paper) == light


def test_an_episode_without_a_plan_has_no_place_for_one(chromium: Chromium, tmp_path: Path) -> None:
    write(tmp_path / "run", started(method="react"), acted(), ended(started(method="react")))
    tab = chromium.open(paged(tmp_path / "run", tmp_path) + "#/episode/0")
    assert tab.count(".entry") == 3
    assert tab.count(".panel") == 0
    assert tab.complaints == []


def test_fixes_and_warnings_are_shown_and_the_plan_is_the_mended_one(chromium: Chromium, tmp_path: Path) -> None:
    fixes = (Fix("helper-function", 2, "<b>was</b>", "<i>now</i>"), Fix("unused-import", 1, "import os", ""))
    write(
        tmp_path / "runs" / "one",
        started("clean/1"),
        PlanDrafted(number=1, origin="plan", source=f"import os\n{PLAN}"),
        PlanFixed(number=1, fixes=fixes, source=PLAN),
        PlanWarned(number=1, warnings=(Diagnostic(2, 5, "step-assertion", "step 1 has no assertion"),)),
        PlanStarted(number=1, start_from=2, restored=("seen",), checkpoint=state(seen="a desk")),
        StepEntered(step=2, title="take", checkpoint=state(seen="a desk")),
        ended(started("clean/1")),
    )
    tab = chromium.open(paged(tmp_path / "runs", tmp_path) + "#/episode/0", width=1280, height=900)
    shown = tab.text("#timeline")
    for part in (
        "line 2: <b>was</b> became <i>now</i> helper-function",
        "line 1: import os was removed unused-import",
        "The check accepted plan 1, with warnings",
        "Plan 1 starts at step 2 with the given variables: seen",
    ):
        assert part in shown
    tab.run("location.hash = '#/episode/0?event=5'")
    tab.until("document.querySelector('[data-n=\"5\"].current')")
    assert "import os" not in tab.text(".panel .source")
    assert tab.complaints == []


def test_a_picture_is_shown_where_it_was_recorded(chromium: Chromium, tmp_path: Path) -> None:
    write(tmp_path / "run", started(), PictureSaved(file="1.png"))
    (tmp_path / "run" / "1.png").write_bytes(PNG)
    tab = chromium.open(paged(tmp_path / "run", tmp_path) + "#/episode/0")
    tab.until("document.querySelector('img.picture')?.naturalWidth === 1")
    assert tab.complaints == []


def test_a_picture_without_room_is_named(chromium: Chromium, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "run", started(), PictureSaved(file="1.png"))
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 0)
    (tmp_path / "run" / "1.png").write_bytes(PNG + bytes(9000))
    tab = chromium.open(paged(tmp_path / "run", tmp_path) + "#/episode/0")
    assert "Picture 1.png is left out to limit the size here." in tab.text("#timeline")
    assert tab.complaints == []


# ------------------------------------------------------------------ under attack


@pytest.mark.parametrize("place", ["", "#/episode/0"])
def test_hostile_texts_remain_text(chromium: Chromium, tmp_path: Path, place: str) -> None:
    hostile(tmp_path / "runs" / "one")
    hostile(tmp_path / "runs" / "two")
    tab = chromium.open(paged(tmp_path / "runs", tmp_path) + place)
    tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.run("window.harmed ?? null") is None
    assert tab.count("img") == 0
    assert tab.count("main script") == 0
    text = tab.run("document.querySelector('main').textContent")
    assert "</script><script>" in text
    assert "⟨U+202E⟩" in text
    assert not any(c in text for c in "\u202e\u2066\u200b\x1b")
    assert tab.complaints == []


def test_the_policy_stops_injected_markup(tab: Tab) -> None:
    with pytest.raises(AssertionError, match="TrustedHTML"):
        tab.run("document.body.innerHTML = '<img src=x onerror=\"window.harmed=1\">'")
    with pytest.raises(AssertionError, match="TrustedScript"):
        tab.run("document.body.setAttribute('onclick', 'window.harmed=1')")
    assert tab.run("window.harmed ?? null") is None
    tab.complaints.clear()  # each was reported


# ------------------------------------------------------------------ accessibility


def violations(tab: Tab, axe: str) -> list[Any]:
    tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    tab.run(f"{axe}\n;0")
    found = "r.violations.map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))])"
    return list(tab.run(f"axe.run(document, {{resultTypes: ['violations']}}).then(r => {found})"))


# ------------------------------------------------------------------ served


def test_the_served_page_follows_a_bench_that_runs(chromium: Chromium, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra web")
    write(tmp_path / "a", started("clean/1"), acted("first"))
    with served(tmp_path) as port:
        tab = chromium.open(f"http://127.0.0.1:{port}/")
        assert tab.count(ROWS) == 1
        write(tmp_path / "b", started("clean/2"), ended(started("clean/2")))
        tab.until(f"document.querySelectorAll('{ROWS}').length === 2")
        tab.click(f"{ROWS} a")
        tab.until("document.querySelector('[data-n=\"2\"]')")
        tab.run("document.querySelector('[data-n=\"0\"] details').open = true")
        with (tmp_path / "a" / "trace.jsonl").open("a") as file:
            for seq, event in enumerate(acted("second", "Yes."), 3):
                file.write(msgspec.json.encode(replace(event, seq=seq, id=2)).decode() + "\n")
        tab.until("document.querySelector('[data-n=\"4\"] .action')?.innerText.includes('second')")
        assert tab.count("[data-n='0'] details[open]") == 1
    assert tab.complaints == []


def test_a_long_trace_is_turned_page_by_page(chromium: Chromium, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra web")
    write(
        tmp_path / "a", started(), acted(text="x" * (MAX_TEXT_CHARACTERS + 1)), *(acted(f"go {n}") for n in range(500))
    )
    with served(tmp_path) as port:
        tab = chromium.open(f"http://127.0.0.1:{port}/#/episode/0")
        assert tab.count(".entry") == 100
        tab.click("[data-n='2'] button")
        tab.until(
            f"document.querySelector('[data-n=\"2\"] .observation').innerText.length === {MAX_TEXT_CHARACTERS + 1}"
        )
        tab.run("location.hash = '#/episode/0?event=450'")
        tab.until("document.querySelector('[data-n=\"450\"].current')")
        assert "page 3 of 6" in tab.text(".pager")
    assert tab.complaints == []


def test_the_page_says_what_the_file_leaves_out(
    chromium: Chromium, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "run", started(), *(acted(text=f"{n * n}") for n in range(1000)), ended(started()))
    monkeypatch.setattr(archive, "_MAX_PAGES", 2)
    tab = chromium.open(paged(tmp_path / "run", tmp_path) + "#/episode/0?event=500")
    assert "left out of this file" in tab.text(".events")
    tab.run("location.hash = '#/episode/0?event=2001'")
    tab.until("document.querySelector('[data-n=\"2001\"]')")
    assert tab.complaints == []
