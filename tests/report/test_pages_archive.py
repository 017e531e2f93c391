"""The page as one file."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.trace_samples import PNG, acted, ended, hostile, started, write

from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.events import PictureSaved, PlanDrafted
from codeplan.report.pages import archive
from codeplan.report.pages.html_page import MAX_PLAN_CHARACTERS
from codeplan.report.pages.report_source import ReportSource
from codeplan.untrusted import comparison
from codeplan.untrusted.comparison import TOO_LARGE


class Elements(HTMLParser):
    """The tags of a page, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def written(folder: Path, out: Path) -> str:
    archive.write_archive(ReportSource(folder), out)
    return out.read_text("utf-8")


def block(page: str, name: str) -> Any:
    packed = re.search(rf'id="{name}">([^<]*)<', page)
    assert packed, name
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def head_of(page: str, at: int) -> Any:
    return block(page, f"h{at // archive.HEADS_IN_BLOCK}")[at % archive.HEADS_IN_BLOCK]


def test_the_file_loads_nothing_else(bench: Path, tmp_path: Path) -> None:
    page = Elements(written(bench, tmp_path / "page.html"))
    assert not [a for tag, a in page.tags if "src" in a or tag in ("link", "iframe", "object", "embed", "base")]
    assert all(a["href"] and a["href"].startswith("#") for tag, a in page.tags if "href" in a)
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_every_event_of_every_episode_is_in_the_file(bench: Path, tmp_path: Path) -> None:
    page = written(bench, tmp_path / "page.html")
    for at, run in enumerate(ReportSource(bench).read().episodes):
        head = head_of(page, at)
        items = [i for n in range(len(head["pages"])) for i in block(page, f"e{at}p{n}")["items"]]
        assert len(items) == head["events"] == (run.folder / "trace.jsonl").read_bytes().count(b"\n")


def test_hostile_texts_add_no_element_to_the_page(bench: Path, tmp_path: Path) -> None:
    hostile(tmp_path / "runs" / "run")
    write(tmp_path / "plain" / "run", started(), ended(started()))
    harmless = Elements(written(tmp_path / "plain", tmp_path / "plain.html")).tags
    attacked = Elements(written(tmp_path / "runs", tmp_path / "hostile.html")).tags
    assert [tag for tag, _ in attacked] == [tag for tag, _ in harmless]


def test_a_hostile_folder_s_name_stays_a_name(tmp_path: Path) -> None:
    folder = tmp_path / "<script>{policy} {script}"
    write(folder / "run", started(), ended(started()))
    page = written(folder, tmp_path / "page.html")
    assert "<title>&lt;script&gt;{policy} {script}</title>" in page


def test_the_middle_of_what_is_too_large_is_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = [acted(text=base64.b64encode(n.to_bytes(4, "big") * 40).decode() + str(n)) for n in range(2000)]
    write(tmp_path / "run", started(), *noise, ended(started()))
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 30_000)
    done = archive.write_archive(ReportSource(tmp_path), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert done.left_out > 0
    kept = [int(n) for n in re.findall(r'id="e0p(\d+)"', page)]
    last = len(head_of(page, 0)["pages"]) - 1
    assert 0 in kept
    assert last in kept
    assert len(kept) + done.left_out == last + 1


def test_of_many_episodes_all_heads_are_there_and_some_have_their_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(150):
        text = base64.b64encode(random.Random(n).randbytes(1_500)).decode()
        write(tmp_path / f"run-{n}", started(), acted(text=text), ended(started()))
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 130_000)
    done = archive.write_archive(ReportSource(tmp_path), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert [head_of(page, at)["state"] for at in range(150)] == ["success"] * 150
    complete = [int(n) for n in re.findall(r'id="e(\d+)p0"', page)]
    assert 10 < len(complete) == 150 - done.left_out < 60
    assert abs(sum(n < 75 for n in complete) - len(complete) / 2) < 3
    assert sum(map(len, re.findall(r'<script type="[^>]*>([^<]*)<', page))) <= 130_000


def test_pictures_are_in_the_file_and_others_files_are_not(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write(
        run,
        started(),
        PictureSaved(file="pictures/1.png"),
        PictureSaved(file="../secret.png"),
        PictureSaved(file="text.png"),
    )
    (run / "pictures").mkdir()
    (run / "pictures" / "1.png").write_bytes(PNG)
    (run / "text.png").write_text("no picture")
    (tmp_path / "secret.png").write_bytes(PNG)
    items = block(written(tmp_path, tmp_path / "page.html"), "e0p0")["items"]
    assert items[1]["blocks"][0]["picture"] == "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert [items[n]["blocks"][0]["picture"] for n in (2, 3)] == [None, None]


def test_one_picture_named_many_times_is_embedded_while_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compressed, the second copy of a picture takes almost no room; so pictures count before compression."""
    write(tmp_path / "run", started(), *[PictureSaved(file="1.png")] * 1000, ended(started()))
    (tmp_path / "run" / "1.png").write_bytes(PNG + bytes(30_000))
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 1_000_000)
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    pages = [block(page, f"e0p{number}") for number in re.findall(r'id="e0p(\d+)"', page)]
    shown = [b for p in pages for item in p["items"] for b in item["blocks"] if b["type"] == "picture"]
    assert sum(len(picture["picture"] or "") for picture in shown) < 1_000_000
    assert sum(bool(picture["picture"]) for picture in shown) == 24
    left_out = sum(picture.get("left_out", False) for picture in shown)
    assert left_out + 24 == len(shown)
    assert f"{left_out} pictures; to see them, run: codeplan view" in " ".join(capsys.readouterr().out.split())


def test_the_diffs_of_an_episode_s_plans_share_their_effort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each diff is bounded, but a trace may hold thousands of plans."""
    monkeypatch.setattr(comparison, "MAX_SHARED_EFFORT", 10 * 200 * 200)
    plans = ["\n".join(random.Random(seed).choices("ab", k=200)) for seed in range(250)]
    plans.append(plans[-1].removesuffix("\n" + plans[-1][-1]))
    drafts = [PlanDrafted(number=1, origin="plan", source=plan) for plan in plans]
    write(tmp_path / "run", started(), *drafts, ended(started()))
    page = written(tmp_path, tmp_path / "page.html")
    items = [item for number in (0, 1) for item in block(page, f"e0p{number}")["items"]]
    diffs = [b["diff"] for item in items for b in item["blocks"] if b["type"] == "plan" and b["diff"]]
    whole = [diff for diff in diffs if ["@", None, None, TOO_LARGE] in diff]
    assert (len(diffs), len(whole)) == (250, 239)
    assert [row[0] for row in diffs[-1]] == [" "] * 199 + ["-"]


def test_a_long_plan_does_not_fill_every_page(tmp_path: Path) -> None:
    """Each page of events holds the plan before it."""
    plan = PlanDrafted(number=1, origin="plan", source=("A" * 2000 + "\n") * 1500)
    write(tmp_path / "run", started(), plan, *[acted()] * 400, ended(started()))
    page = written(tmp_path, tmp_path / "page.html")
    plan_lines = block(page, "e0p2")["context"]["plan"]
    assert sum(map(len, plan_lines["lines"])) <= MAX_PLAN_CHARACTERS
    assert plan_lines["whole"] == 1501


def test_a_page_replaces_an_older_page_but_no_other_file(bench: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    out.write_text("my thesis")
    with pytest.raises(UsageError, match="not overwritten"):
        archive.write_archive(ReportSource(bench), out)
    assert out.read_text() == "my thesis"
    out.unlink()
    archive.write_archive(ReportSource(bench), out)
    archive.write_archive(ReportSource(bench), out)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "nothing to show" in capsys.readouterr().err
    write(tmp_path / "run", started())
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "no" / "page.html")]) == 2
    assert "cannot write the page" in capsys.readouterr().err


def test_a_trace_whose_beginning_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "runs" / "whole", started())
    (tmp_path / "runs" / "damaged").mkdir()
    damaged = tmp_path / "runs" / "damaged" / "trace.jsonl"
    damaged.write_bytes(b"\x00\xff\n")
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")]) == 0
    output = capsys.readouterr()
    assert ": 1 episode," in output.out
    assert output.err == f"codeplan: left out: the beginning of {damaged} cannot be read\n"
