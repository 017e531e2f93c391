"""The commands of docs/bench.md that need a cluster or five servers run as printed: ``make test-all``.

Both machines of a cluster are this one, so FIRST is its loopback address. Recorded replies stand in for the model. The
file of tool tasks has one task of each kind; with CODEPLAN_TOOL_TASKS=all, as in ``make crosscheck``, it has all, and
the table's figures are those of the page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from support.loopback_port import hold_port
from support.page_reader import ROOT, PageReader
from support.reply_server import Endpoint, endpoint, reply
from support.shown_commands import code_blocks

from codeplan.bench.bench_spec import read_spec
from codeplan.bench.store import read_bench

__all__ = ["endpoint"]

PAGE = "docs/bench.md"
MARK = "CODEPLAN_TEST_OF_BENCH_PAGE"
TOOL_TASKS = Path("benchmarks", "tool_tasks")
HAS_ALL_TASKS = os.environ.get("CODEPLAN_TOOL_TASKS") == "all"
RUNNERS = ("plans", "react", "smolagents")
pytestmark = pytest.mark.skipif(MARK not in os.environ, reason="make test-all runs these: they take minutes")


def shown_lines(program: str) -> list[str]:
    """The lines of the page's block of commands that has this program, with what a reader fills in."""
    blocks = [text for _, text in code_blocks((ROOT / PAGE).read_text()) if f"{program} " in text]
    (block,) = [text for text in blocks if re.search(rf"^{program} ", text, re.MULTILINE)]
    filled = block.replace("FIRST", "127.0.0.1").replace("=…", "=a-token-of-the-reader")
    return [line for line in filled.splitlines() if line and not line.startswith("#")]


@contextmanager
def shell(folder: Path, **variables: str) -> Iterator[dict[str, str]]:
    """The environment of a reader's shell. At the end all is killed that was started in it, daemons too."""
    environment = PageReader(PAGE, folder, **variables, **{MARK: str(folder)}).environment
    try:
        yield environment
    finally:
        mark = f"\0{MARK}={folder}\0".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in b"\0" + (process / "environ").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)


def type_lines(lines: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Type the lines in one shell, each of which must succeed; returns their output."""
    script = "\n".join(["set -e", *lines])
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (script, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


def write_grid(folder: Path) -> None:
    (folder / "grid.toml").write_text('suites = ["household"]\nkind = "clean"\nn = 2\n')


def test_rays_commands(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    lines = [line for line in shown_lines("ray") if "dask" not in line]
    assert [line.split()[0] for line in lines] == ["export", "ray", "ray", "codeplan"]
    write_grid(tmp_path)
    short = tmp_path.parents[1] / "ray"  # a path of a socket may have about a hundred characters
    with hold_port(6379), shell(tmp_path, RAY_TMPDIR=str(short), RAY_USAGE_STATS_ENABLED="0") as environment:
        assert "100%" in type_lines(lines, tmp_path, environment)
    assert len(read_bench(tmp_path / "shared" / "grid").outcomes) == 2


def test_dasks_commands(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="dask is not installed")
    scheduler, worker, bench = (line for line in shown_lines("dask") if "dask" in line)
    write_grid(tmp_path)
    with hold_port(8786), shell(tmp_path) as environment:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        servers = [
            subprocess.Popen(["bash", "-c", line], cwd=tmp_path, env=environment, **silent)
            for line in (scheduler, worker)  # they serve until somebody stops them
        ]
        assert "100%" in type_lines([bench], tmp_path, environment)
    for server in servers:
        server.wait()
    assert len(read_bench(tmp_path / "shared" / "grid").outcomes) == 2


class RecordedReplies:
    """The recorded replies to plans and to ReAct, each in their order; a request's prompt says which task it is of.

    A request that is repeated, because its reply was lost on the way, gets the same reply.
    """

    def __init__(self, folder: Path) -> None:
        tasks = read_spec(folder / "tasks.toml").tool_tasks
        assert tasks is not None
        self._goals = {task.name: re.compile(_pattern(task.goal)) for task in tasks.tasks}
        self._left = {
            (name, runner): [json.loads(line)["reply"] for line in file.read_text(encoding="utf-8").splitlines()]
            for name in self._goals
            for runner in ("plans", "react")
            for file in [folder / "replies" / f"{name}.{runner}.jsonl"]
        }
        self._given: dict[str, str] = {}
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Any:
        prompt = "\n".join(message["content"] for message in request["messages"])
        runner = "plans" if "def solution(" in prompt else "react"
        ((name, found),) = [(name, match) for name, goal in self._goals.items() if (match := goal.search(prompt))]
        with self._lock:
            text = self._given.get(prompt) or self._left[name, runner].pop(0)
            self._given[prompt] = text
        return reply(text.replace("@FOLDER@", found["folder"] if "folder" in found.groupdict() else ""))


def _pattern(goal: str) -> str:
    """The goal as a regular expression; its group ``folder`` is the episode's folder."""
    first, *others = (re.escape(part) for part in goal.split("{folder}"))
    return first + "".join((r"(?P<folder>/\S*?)" if i == 0 else r"(?P=folder)") + part for i, part in enumerate(others))


def copy_tool_tasks(folder: Path) -> int:
    """Copy the tasks, of each kind the first alone unless all are asked for, and return their number."""
    shutil.copytree(ROOT / TOOL_TASKS, folder)
    head, *tasks = (folder / "tasks.toml").read_text().split("[[tasks]]\n")
    if not HAS_ALL_TASKS:
        tasks = list({re.search(r'kind = "(\w+)"', task)[1]: task for task in reversed(tasks)}.values())
    (folder / "tasks.toml").write_text("[[tasks]]\n".join([head, *tasks]))
    names = {re.search(r'name = "(.+)"', task)[1] for task in tasks}  # type: ignore[index]
    for file in (folder / "replies").iterdir():
        if file.name.partition(".")[0] not in names:
            file.unlink()
    return len(tasks)


def test_the_commands_of_the_tool_tasks(tmp_path: Path, endpoint: Endpoint) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    install, trust, bench, table = shown_lines("sh")
    count = copy_tool_tasks(tmp_path / TOOL_TASKS)
    endpoint.answer(RecordedReplies(tmp_path / TOOL_TASKS))
    with shell(tmp_path, OPENAI_BASE_URL=endpoint.url) as environment:
        played = type_lines([install, trust, f"{bench} --out played"], tmp_path, environment)
        assert played.count("100%") >= 3
        told = type_lines([install.partition("; ")[2], table], tmp_path, environment)
    assert len(read_bench(tmp_path / "played").outcomes) == 2 * count
    page = (ROOT / PAGE).read_text()
    for runner in RUNNERS:
        figures = re.search(rf"^{runner} .*", told, re.MULTILINE | re.IGNORECASE)
        shown = re.search(rf"^\| {runner} \|.*", page, re.MULTILINE | re.IGNORECASE)
        assert figures and shown
        assert figures[0].split()[1] == f"{count}/{count}"
        if HAS_ALL_TASKS:
            assert figures[0].split()[1:] == [cell.strip() for cell in shown[0].split("|")[2:-1]]
