"""README's picture shows the episode that ``make run`` plays."""

from __future__ import annotations

import html
import re
import shlex
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PICTURE = (ROOT / "docs" / "run.svg").read_text()


@pytest.fixture(scope="module")
def readme_picture():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        yield import_module("readme_picture")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def lines_in(picture: str) -> list[str]:
    """The picture's lines of text, without spaces: a renderer may split a line and its spaces as it likes."""
    rows: dict[float, list[tuple[float, str]]] = defaultdict(list)
    body = picture.partition('-matrix">')[2]
    for x, y, text in re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', body):
        rows[float(y)].append((float(x), html.unescape(text)))
    return [unspaced("".join(text for _, text in sorted(rows[y]))) for y in sorted(rows)]


def unspaced(text: str) -> str:
    return re.sub(r"\s|\d+\.\d(?= ?s\))", "", text.replace("\xa0", " "))


def test_the_picture_has_the_lines_of_the_run(readme_picture):
    shown = [unspaced(line.plain) for line in readme_picture.picture_lines(readme_picture.episode_lines())]
    assert len(shown) > 40
    assert [line for line in lines_in(PICTURE) if line] == [line for line in shown if line]


def test_the_picture_shows_the_run_that_make_run_plays(readme_picture):
    options = re.search(r"^DEMO \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    settings = [part for name, value in readme_picture.SETTINGS.items() for part in (f"--{name}", value)]
    assert options
    assert shlex.split(options[1]) == ["--task", readme_picture.TASK, *settings]


def test_the_picture_loads_nothing_and_runs_nothing():
    assert re.findall(r"https?://[^\"< )]+", PICTURE) == ["http://www.w3.org/2000/svg"]
    assert "<script" not in PICTURE
    assert "@import" not in PICTURE
