"""Writes docs/run.svg: the live display of the episode that ``make run`` plays, as README shows it.

python scripts/readme_picture.py     # after a change of the display or of the stand-in; a test compares the lines
"""

from __future__ import annotations

import io
import re
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import codeplan
from codeplan.report.live import LiveDisplay

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "run.svg"
ENVIRONMENT, TASK, SETTINGS = "household", "clean/22", {"mistakes": "forgotten_walk"}
COLUMNS = 100

_SHOWN = [
    ("household ", "Model "),
    ("Plan 1 ", "   1 "),
    ("  48 ", "  51 "),
    ("▶ Plan 1", r"\[Step 1"),
    (r"\[Step 4", "  Refinements "),
]
"""The parts of the display that the picture shows: the beginnings of the first and the last line of each."""

_THEME = TerminalTheme(
    (24, 26, 32),
    (214, 218, 226),
    [
        *((24, 26, 32), (240, 113, 120), (127, 200, 120), (224, 190, 110)),  # black, red, green, yellow
        *((120, 165, 250), (200, 140, 230), (100, 200, 210), (214, 218, 226)),  # blue, magenta, cyan, white
    ],
)

_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>An episode: the plan fails in step 4, is refined, and resumes at step 4</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-family: system-ui, Helvetica, Arial, sans-serif; font-size: 16px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own format without the font, which it would load from another host."""


def episode_lines() -> list[Text]:
    """The lines that the live display prints, with their styles."""
    console = Console(file=io.StringIO(), width=COLUMNS, force_terminal=True, color_system="truecolor")
    codeplan.run(ENVIRONMENT, TASK, on_event=LiveDisplay(console), **SETTINGS)
    return [Text.from_ansi(line) for line in console.file.getvalue().splitlines()]


def picture_lines(lines: list[Text]) -> list[Text]:
    """The shown parts of the display; a line of dots stands for what is left out."""
    plain, shown, place = [line.plain for line in lines], set[int](), 0
    for first, last in _SHOWN:
        begin = next(n for n in range(place, len(lines)) if re.match(first, plain[n]))
        place = next(n for n in range(begin, len(lines)) if re.match(last, plain[n])) + 1
        shown.update(range(begin, place))
    kept: list[Text] = []
    for is_shown, numbers in groupby(range(min(shown), max(shown) + 1), lambda n: n in shown):
        kept += [lines[n] for n in numbers] if is_shown else [Text("     ⋮", style="dim")]
    return kept


def svg(lines: list[Text]) -> str:
    """The lines as a picture."""
    console = Console(file=io.StringIO(), width=COLUMNS, record=True, force_terminal=True, color_system="truecolor")
    for line in lines:
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
    return console.export_svg(title="make run", theme=_THEME, code_format=_FORMAT, unique_id="codeplan-run")


if __name__ == "__main__":
    PICTURE.write_text(svg(picture_lines(episode_lines())), encoding="utf-8")
    print(f"wrote {PICTURE}")
