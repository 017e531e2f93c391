"""The papers' settings beside the presets', and the page that shows them."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from codeplan.bench.papers import not_run, paper_experiments, paper_titles

ROOT = Path(__file__).resolve().parents[2]


def _script() -> Any:
    spec = spec_from_file_location("papers_page", ROOT / "scripts" / "papers_page.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = module = module_from_spec(spec)  # where msgspec looks for the types of fields
    spec.loader.exec_module(module)
    return module


script = _script()
PaperSetting, compare_setting = script.PaperSetting, script.compare_setting


def test_each_setting_of_a_paper_is_ours_or_there_is_a_reason() -> None:
    assert {s.paper for s in script.paper_settings()} == {*paper_titles()}
    for setting in script.paper_settings():
        found = compare_setting(setting)
        assert setting.place, setting
        assert found.ours or not setting.setting, f"no cell of the presets has this setting: {setting}"
        assert found.agrees or setting.why, f"ours is {found.ours}: set {setting} as the paper does, or say why"


def test_ours_is_the_cells_value_or_else_the_default() -> None:
    adapt = {"paper": "adapt", "environment": "textcraft", "what": "w", "says": "s", "place": "p"}
    depth = compare_setting(PaperSetting(**adapt, methods=("adapt",), setting="max_depth", value=4))
    assert depth.agrees
    assert not compare_setting(PaperSetting(**adapt, methods=("adapt",), setting="max_depth", value=3)).agrees
    default = compare_setting(PaperSetting(**adapt, methods=("adapt",), setting="success", value="claim"))
    assert default.agrees
    assert {cell.partition(":")[0] for _, cells in default.ours for cell in cells} == {
        *("adapt-table2", "adapt-table3", "adapt-released-textcraft")
    }


def test_a_value_inside_a_table_of_the_budget_or_of_the_part_is_found() -> None:
    about = {"paper": "adapt", "experiments": ("adapt-table8",), "what": "w", "says": "s", "place": "p"}
    for name, value in (("budget.model_calls", 1000), ("n", 40), ("split", "dev")):
        assert compare_setting(PaperSetting(**about, setting=name, value=value)).agrees, name
    calls = compare_setting(PaperSetting(**about, methods=("adapt",), setting="executor.calls", value=14))
    assert calls.agrees


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert page == script.page(), "run: python scripts/papers_page.py"


def test_the_page_lists_all_that_cannot_be_run() -> None:
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    listed = not_run()
    rows = [row.cannot for e in paper_experiments() for part in e.parts for row in part.rows if row.cannot]
    for reason in (*listed.experiments.values(), *listed.methods.values(), *listed.metrics.values(), *rows):
        assert reason in page
