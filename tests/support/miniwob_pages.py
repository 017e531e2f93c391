"""Custom pages for the browser, and a mark for tests that need a browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codeplan.envs.miniwob import browser
from codeplan.envs.miniwob.tasks import PageFolder
from codeplan.errors import UsageError


def _lacking() -> str:
    try:
        browser.find_browser(), PageFolder().folder
    except UsageError as e:
        return str(e)
    return ""


LACKING = _lacking()
assert not (LACKING and os.environ.get("CODEPLAN_BROWSER_REQUIRED")), LACKING

needs_browser = pytest.mark.skipif(bool(LACKING), reason=LACKING)
"""Skips a test without a browser. With $CODEPLAN_BROWSER_REQUIRED, a missing browser is a failure."""

CORE = """
var WOB_DONE_GLOBAL = false, WOB_RAW_REWARD_GLOBAL = 0, WOB_TASK_READY = true, seed;
Math.seedrandom = (number) => { seed = number; };
const core = {
  endEpisode(reward) { WOB_RAW_REWARD_GLOBAL = reward; WOB_DONE_GLOBAL = true; },
  setDataMode(mode) { document.body.dataset.mode = mode; },
  startEpisodeReal() { WOB_DONE_GLOBAL = false; WOB_RAW_REWARD_GLOBAL = 0; begin(seed); },
  getUtterance() { return document.getElementById('query').textContent; },
};
"""
"""The parts of MiniWoB++'s core.js that an episode needs."""

PAGE = """<!DOCTYPE html>
<html><head><script src="../core/core.js"></script>{head}</head>
<body><div id="wrap"><div id="query">Do it.</div><div id="area">{area}</div></div>
<script>function begin(seed) {{ {begin} }}</script></body></html>
"""


def folder_of_pages(folder: Path, *, head: str = "", begin: str = "", **areas: str) -> str:
    """A folder with a page for each of ``areas``, by name, for the setting ``pages``."""
    for part in ("core", "miniwob"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "core" / "core.js").write_text(CORE)
    for name, area in areas.items():
        (folder / "miniwob" / f"{name}.html").write_text(PAGE.format(head=head, area=area, begin=begin))
    return str(folder)
