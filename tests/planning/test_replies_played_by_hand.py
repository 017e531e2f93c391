"""Replies of a strong model to codeplan's prompts go on reaching their goals, in as few calls.

They were written from the prompts' text alone. The goals about files were reached with the tools of a filesystem server;
here functions of the same names do the same.
"""

from __future__ import annotations

import functools
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.boxes import Replies

import codeplan

PLAYED = Path(__file__).with_name("replies_played_by_hand.jsonl")
VENDORS = ["Acme Tools", "Birch & Sons", "Corvid Ltd", "Delta Print"]


def played(work: str) -> dict[str, list[str]]:
    """Return the replies for each task of this kind of work."""
    rows = [json.loads(line) for line in PLAYED.read_text(encoding="utf-8").splitlines()]
    return {row["task"]: row["replies"] for row in rows if row["work"] == work}


@pytest.mark.parametrize("task", played("household"))
def test_a_household_task_is_won_with_one_short_plan(task: str) -> None:
    replies = played("household")[task]
    result = codeplan.run("household", task, model=Replies(*replies))
    assert result.success, result.reason
    assert (result.model_calls, len(replies)) == (1, 1)
    assert len(replies[0]) // 4 < 450


@pytest.mark.parametrize("task", played("repairs"))
def test_a_plan_that_fails_is_mended_with_one_short_reply(task: str) -> None:
    flawed, mend = played("repairs")[task]
    result = codeplan.run("household", task, model=Replies(flawed, mend))
    assert result.success, result.reason
    assert (result.model_calls, result.refinements) == (2, 1)
    assert len(mend) // 4 < 300


# ------------------------------------------------------------------ goals about files


def file_tools(root: Path) -> list[Callable[..., Any]]:
    """Return functions on the files below a folder, which answer as the filesystem server does."""

    def inside(path: str) -> Path:
        found = Path(path).resolve()
        if not found.is_relative_to(root):
            raise PermissionError(f"{path} is outside the allowed folders")
        return found

    def tree(folder: Path) -> list[dict[str, Any]]:
        return [
            {"name": p.name, "type": "directory", "children": tree(p)}
            if p.is_dir()
            else {"name": p.name, "type": "file"}
            for p in sorted(folder.iterdir())
        ]

    def directory_tree(path: str) -> str:
        """A folder's files and folders, as JSON."""
        return json.dumps(tree(inside(path)), indent=2)

    def list_directory(path: str) -> str:
        """A folder's entries, one in a line."""
        return "\n".join(f"[{'DIR' if p.is_dir() else 'FILE'}] {p.name}" for p in sorted(inside(path).iterdir()))

    def read_text_file(path: str) -> str:
        """The text of a file."""
        return inside(path).read_text(encoding="utf-8")

    def write_file(path: str, content: str) -> str:
        """Write a file."""
        inside(path).write_text(content, encoding="utf-8")
        return f"Successfully wrote to {path}"

    def create_directory(path: str) -> str:
        """Make a folder, and those above it."""
        inside(path).mkdir(parents=True, exist_ok=True)
        return f"Successfully created directory {path}"

    def move_file(source: str, destination: str) -> str:
        """Move a file to a new name."""
        shutil.move(inside(source), inside(destination))
        return f"Successfully moved {source} to {destination}"

    return [directory_tree, list_directory, read_text_file, write_file, create_directory, move_file]


def invoices(root: Path) -> Callable[[], bool]:
    """Write invoices in three formats; the report must hold their number and sum."""
    folder, pick = root / "invoices", random.Random(7)
    folder.mkdir()
    amounts = [pick.randrange(1_000, 99_999) for _ in range(14)]
    for number, cents in enumerate(amounts, 1_001):
        dollars = f"{cents / 100:.2f}"
        if number % 3 == 0:
            (folder / f"inv_{number}.txt").write_text(f"INVOICE {number}\nVendor: Acme Tools\nTotal due: ${dollars}\n")
        elif number % 3 == 1:
            amount = {"currency": "USD", "cents": cents}
            (folder / f"{number}.json").write_text(json.dumps({"number": number, "vendor": "Acme", "amount": amount}))
        else:
            row = f"{number};Acme Tools;{cents * 0.8 / 100:.2f};{cents * 0.2 / 100:.2f};{dollars}"
            (folder / f"invoice-{number}.csv").write_text(f"number;vendor;net;tax;gross\n{row}\n")
    wanted = f"invoices: 14 total: {sum(amounts) / 100:.2f}"
    return lambda: " ".join((root / "report.txt").read_text().split()) == wanted


def offers(root: Path) -> Callable[[], bool]:
    """Write offers with a currency sign; the sign must become a word, and nothing else may change."""
    (root / "docs" / "old").mkdir(parents=True)
    for number in range(6):
        text = f"# Offer {number}\nThe price is € {number}9 net, or €{number}12.50 with service.\nNo change: EUR {number}.\n"
        (root / "docs" / f"offer{number}.md").write_text(text, encoding="utf-8")
    (root / "docs" / "old" / "list.txt").write_text("item one: € 5\nitem two: 7 dollars\n", encoding="utf-8")
    before = contents(root)
    return lambda: contents(root) == {path: re.sub("€ ?", "EUR ", text) for path, text in before.items()}


def inbox(root: Path) -> Callable[[], bool]:
    """Write letters of two formats; each must be in a folder with its vendor's name."""
    (root / "inbox").mkdir()
    wanted = {}
    for number in range(12):
        vendor, name = VENDORS[number * 7 % 4], f"file{number:02}.txt"
        text = f"From: {vendor}\nSubject: order\n" if number % 2 else f"Order no. {number}\nsupplier = {vendor}\n"
        (root / "inbox" / name).write_text(text)
        wanted[f"sorted/{vendor}/{name}"] = text
    return lambda: contents(root) == wanted


def contents(root: Path) -> dict[str, str]:
    return {str(p.relative_to(root)): p.read_text(encoding="utf-8") for p in root.rglob("*") if p.is_file()}


GOALS = {"sum": invoices, "currency": offers, "sort": inbox}


@pytest.mark.parametrize("goal", played("files"))
def test_a_goal_about_files_is_reached_by_a_plan_that_may_look_first(goal: str, tmp_path: Path) -> None:
    is_reached = GOALS[goal](tmp_path)
    replies = [reply.replace("/root-of-the-test", str(tmp_path)) for reply in played("files")[goal]]
    verify = functools.partial(lambda value, done: done() or "not yet", done=is_reached)
    result = codeplan.do(f"the goal {goal}", tools=file_tools(tmp_path), verify=verify, model=Replies(*replies))
    assert result.success, result.reason
    assert result.model_calls == len(replies) <= 2
    assert sum(map(len, replies)) // 4 < 700
