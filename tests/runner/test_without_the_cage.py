"""On a machine without the cage, or without Linux's modules, episodes, benches and tests of plans run in Monty."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

pytest.importorskip("pydantic_monty", reason="pydantic-monty is not installed: pip install 'codeplan[monty]'")

ROOT = Path(__file__).parents[2]
NOTICE = "Monty runs the plans: the cage is not available (CODEPLAN_CAGE is off)"
OFF = {**os.environ, "CODEPLAN_CAGE": "off"}


def command(*arguments: str, folder: Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        env=OFF,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def test_the_episode_of_make_run_succeeds_says_once_that_monty_runs_its_plans_and_is_replayed_by_it(tmp_path):
    episode = ["run", "household", "--task", "clean/22", "--mistakes", "forgotten_walk", "--out", "run"]
    done = command("-m", "codeplan", *episode, folder=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(NOTICE) == 1
    assert "resumes at step" in done.stdout
    assert "Asks         1" in done.stdout
    done = command("-m", "codeplan", "replay", "run", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_bench_of_the_household_solves_every_task(tmp_path):
    bench = ["bench", "household", "--split", "test", "-n", "2", "--out", "bench"]
    done = command("-m", "codeplan", *bench, folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "12  success" in done.stdout


def test_the_plan_of_a_file_runs_and_its_tests_pass(tmp_path):
    plans = sorted((ROOT / "tests" / "plans").iterdir())
    assert plans
    done = command(
        "-m", "codeplan", "test", str(ROOT / "tests" / "plans"), "-q", "-x", "-p", "no:cacheprovider", folder=tmp_path
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


ELSEWHERE = textwrap.dedent(
    """
    import builtins, os, signal, sys, types

    ABSENT = {"resource", "prctl", "pwd", "grp", "termios", "tty", "pty", "syslog"}
    usual, refused = builtins.__import__, []

    def import_as_elsewhere(name, globals=None, *rest, **more):
        # Python's own modules and other packages know this machine; codeplan is to think that it is elsewhere.
        if name.partition(".")[0] in ABSENT and (globals or {}).get("__name__", "").startswith("codeplan"):
            refused.append((globals["__name__"], name))
            raise ModuleNotFoundError(f"No module named {name!r}")
        return usual(name, globals, *rest, **more)

    import asyncio, subprocess, shutil, tempfile, threading, pydantic_monty, openai, rich.console  # they know this machine
    builtins.__import__ = import_as_elsewhere
    sys.platform = sys.argv[1]
    absent = {
        os: "fork register_at_fork WIFSIGNALED WTERMSIG sched_getaffinity pidfd_open setresuid unshare memfd_create",
        signal: "SIGXCPU SIGSYS SIGPROF pidfd_send_signal",
    }
    if sys.platform == "win32":
        ABSENT.add("fcntl")
        absent[os] += " O_DIRECTORY O_NOFOLLOW O_CLOEXEC O_NONBLOCK O_NOCTTY O_PATH geteuid getuid pread killpg setsid fchmod"
        # What is tried is that codeplan asks for the lock; the lock itself is Windows' own.
        sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *arguments: None)
    for module, names in absent.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)

    import codeplan
    result = codeplan.run("household", "clean/22", mistakes="forgotten_walk", out="run")
    caged = sorted(name for name in sys.modules if name.startswith("codeplan.sandbox.cage."))
    print(result.success, result.refinements, refused)
    print(*(name.rpartition(".")[2] for name in caged))
    import codeplan.sandbox.monty.text_reader
    print(refused)
    """
)


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_an_episode_needs_nothing_of_linux_where_there_is_none(system, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "CODEPLAN_CAGE"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", ELSEWHERE, system],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == ["True 1 []", "", "[]"]
