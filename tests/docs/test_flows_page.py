"""The page on flows, from the hijack to the refusal, as printed."""

from __future__ import annotations

from pathlib import Path

from support.page_reader import ROOT, PageReader
from support.shown_commands import named_files

from codeplan.flows import flows_of_file
from codeplan.runner.tools import read_flows

PAGE = "docs/flows.md"


def test_the_page_goes_from_a_hijack_to_a_refusal(tmp_path: Path) -> None:
    for name, text in named_files((ROOT / PAGE).read_text()).items():
        (tmp_path / name).write_text(text)
    page = PageReader(PAGE, tmp_path)
    paid = "*** 98.7 to EVE-99 ***"
    assert paid in page.play("exec plan.py", code=1)
    told = page.play("check plan.py")
    said = " ".join((ROOT / PAGE).read_text().split())
    assert "would be asked for: account comes from read_file through ask_llm" in told
    assert told.strip().splitlines()[-1].partition(": ")[2] in said
    waits = page.play("exec plan.py", code=5)
    assert paid not in waits and "account comes from read_file through ask_llm" in " ".join(waits.split())
    assert not page.left


def test_the_pages_table_says_what_its_object_says(tmp_path: Path) -> None:
    for name, text in named_files((ROOT / PAGE).read_text()).items():
        (tmp_path / name).write_text(text)
    table, mine = flows_of_file(tmp_path / "flows.toml"), read_flows(f"{tmp_path / 'flows.py'}:mine")
    for flows in (table, mine):
        assert [str(flows.rule_for("send_money", name).sources) for name in ("account", "amount")] == [
            "goal | saved_payee.account",
            "anything",
        ]
    assert table.readonly == mine.readonly and str(table._trusted) == str(mine._trusted)
