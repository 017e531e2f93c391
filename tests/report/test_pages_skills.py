"""The library of skills on the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.chromium import Chromium
from support.trace_samples import HOSTILE, PLAN, ended, started, write
from test_pages_browser import violations

from codeplan.cli.app import main
from codeplan.report.pages import archive, overview
from codeplan.report.pages.report_source import ReportSource
from codeplan.report.pages.server import EpisodeCatalog
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, Skill, SkillOrigin
from codeplan.statistics import mcnemar_exact, wilson_interval

HARM = HOSTILE.replace("\ud800", "")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with one run, and a library whose skill came from it: six pairs of episodes, then another version."""
    write(tmp_path / "runs" / "one", started("clean/1"), ended(started("clean/1")))
    library = SkillLibrary(tmp_path / "library")
    run = str(tmp_path / "runs" / "one")
    skill = Skill(
        "put-clean", "household", PLAN, "clean", "puts a clean thing away", ("thing", "place"), status="active"
    )
    skill = library.add(skill)
    for seed in range(6):
        for shown in (True, False):
            record = EvidenceRecord(
                f"clean/{seed}", seed, "scripted", shown, shown or seed == 0, phase="filter", run=run
            )
            library.record(skill, record)
    library.change(
        skill, plan=PLAN.replace("look", "peer"), origins=(SkillOrigin("clean/1", "put it away", "scripted", run),)
    )
    library.add(Skill("odd", "household", HARM, HARM[:100], HARM, status="retired"))
    library.close()
    return tmp_path


def test_the_overview_has_each_skill_with_its_figures(place: Path) -> None:
    library = SkillLibrary(place / "library")
    library.change(library.get("household", "put-clean"), plan=PLAN)  # another version: its figures begin anew
    rows = {row["name"]: row for row in overview.skills_overview(library)["skills"]}
    assert rows["put-clean"]["version"] == 3
    assert rows["put-clean"]["with"] == [0, 0, 0.0, 1.0]
    assert rows["odd"]["status"] == "retired"
    assert "⟨U+202E⟩" in rows["odd"]["description"]


def test_a_skill_has_its_evidence_by_version_its_changes_and_the_way_to_its_episodes(place: Path) -> None:
    library = SkillLibrary(place / "library")
    shown = overview.skill_details(library, "household", "put-clean", {(place / "runs" / "one").resolve(): 0})
    assert shown is not None
    now, before = shown["history"]
    assert before["with"] == [6, 6, *wilson_interval(6, 6)]
    assert before["without"] == [1, 6, *wilson_interval(1, 6)]
    assert (before["wins"], before["losses"], before["p"]) == (5, 0, mcnemar_exact(0, 5))
    assert [row[0] for row in now["diff"] if row[0] != " "] == ["-", "+"]
    assert shown["origins"][0]["episode"] == 0
    assert len(shown["evidence"]) == shown["all"] == 12
    assert overview.skill_details(library, "household", "none", {}) is None


def test_an_impossible_run_path_in_the_evidence_has_no_link(place: Path) -> None:
    library = SkillLibrary(place / "library")
    skill = library.get("household", "odd")
    for run in ("a\0b", "x" * 10_000):
        library.record(skill, EvidenceRecord("clean/1", 1, "m", True, True, run=run))
    shown = overview.skill_details(library, "household", "odd", {})
    assert shown is not None
    assert [record[-1] for record in shown["evidence"]] == [None, None]


def test_the_viewer_has_the_library_too(place: Path) -> None:
    catalog = EpisodeCatalog(ReportSource(place / "runs"), SkillLibrary(place / "library"))
    assert catalog.overview()["skills"]
    assert [row["name"] for row in (catalog.skills() or {})["skills"]] == ["odd", "put-clean"]
    found = catalog.skill("household", "put-clean")
    assert found is not None
    assert found["evidence"][0][-1] == 0
    assert catalog.skill("..", "..") is None


def test_the_command_needs_an_existing_library(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["-o", str(place / "page.html")]
    assert main(["report", str(place / "runs"), "--library", str(place / "none"), *out]) == 2
    assert "there is no skill library" in capsys.readouterr().err
    assert not (place / "none").exists()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_library_pages_work_in_a_browser(chromium: Chromium, axe: str, place: Path, scheme: str) -> None:
    archive.write_archive(ReportSource(place / "runs"), place / "page.html", SkillLibrary(place / "library"))
    tab = chromium.open((place / "page.html").as_uri(), scheme=scheme)
    tab.click("#nav-skills")
    tab.until("document.querySelectorAll('table.episodes tbody tr').length === 2")
    assert violations(tab, axe) == []
    tab.run("const s = document.getElementById('status'); s.value = 'candidate'; s.dispatchEvent(new Event('change'))")
    assert tab.count("table.episodes tbody tr") == 1
    tab.click("table.episodes tbody a")
    tab.until("document.querySelector('.source')")
    assert "thing, place" in tab.text(".facts")
    assert "100%" in tab.text("section")
    assert violations(tab, axe) == []
    tab.click("section ul a")
    tab.until("document.querySelector('#timeline')")
    tab.run("location.hash = '#/skill/0'")
    tab.until("document.querySelector('h1').innerText.startsWith('odd')")
    assert tab.run("window.harmed ?? null") is None
    assert tab.count("main img") == 0
    assert tab.complaints == []


def test_records_with_an_impossible_time_are_shown_without_one(chromium: Chromium, place: Path) -> None:
    library = SkillLibrary(place / "library")
    for at in (1e308, -1e300, 1e9):
        library.record(library.get("household", "odd"), EvidenceRecord("clean/1", 1, "m", True, True, at=at))
    archive.write_archive(ReportSource(place / "runs"), place / "page.html", library)
    tab = chromium.open((place / "page.html").as_uri() + "#/skill/0")
    tab.until("document.querySelector('h1')?.innerText.startsWith('odd')")
    assert tab.text("main").count("2001-09-09") == 1
    assert tab.complaints == []
