"""The page on conversations, as printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.page_reader import ROOT, PageReader
from support.shown_commands import named_files

import codeplan

PAGE = "docs/conversations.md"
TYPED = "Which lamps are there?\nOrder the cheaper one.\ndhl\nWhat did I pay, and for what?\n"


def test_the_page_s_conversation_goes_as_it_says(tmp_path: Path) -> None:
    text = (ROOT / PAGE).read_text()
    for name, content in named_files(text).items():
        (tmp_path / name).write_text(content)
    command = next(line.strip() for line in text.splitlines() if line.startswith("    codeplan chat"))
    arguments = [sys.executable, "-m", *command.split()]
    chat = subprocess.run(arguments, cwd=tmp_path, input=TYPED, capture_output=True, text=True)
    assert chat.returncode == 0, chat.stderr
    shown = chat.stdout.splitlines()
    assert "\n".join(f"    {line}" for line in shown[:4]) in text
    assert all(f"`{line}`" in text for line in shown[4:]) and len(shown) == 6
    assert codeplan.replay(tmp_path / "runs/lamps").value == shown[5]
    page = PageReader(PAGE, tmp_path)
    page.left.pop(0)  # the conversation, which was typed
    assert "Order the cheaper one" in page.play("show runs/lamps")
    assert "identical" in page.play("replay runs/lamps")


def test_the_page_s_script_goes_on_in_another_process(tmp_path: Path) -> None:
    for name, content in named_files((ROOT / PAGE).read_text()).items():
        (tmp_path / name).write_text(content)
    script = subprocess.run([sys.executable, "session.py"], cwd=tmp_path, capture_output=True, text=True)
    assert script.stdout.splitlines() == [
        "['desk lamp', 'floor lamp']",
        "order 1: product 1 with ups",
        "['desk lamp']",
    ], script.stderr
