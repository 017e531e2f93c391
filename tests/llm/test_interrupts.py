"""Ctrl-C ends what waits for a model at once: a call, a pause between attempts, and the calls of all threads."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from served import Serve

ROOT = Path(__file__).parents[2]
ONE = """
import sys
from codeplan.llm import OpenAIModel
model = OpenAIModel("tiny", base_url=sys.argv[1], max_retries=5)
print("ready", flush=True)
model.complete([{"role": "user", "content": "Hello."}], purpose="ask")
"""
MANY = """
import sys
from concurrent.futures import ThreadPoolExecutor
from codeplan.llm import OpenAIModel, interruptible
model = OpenAIModel("tiny", base_url=sys.argv[1], max_retries=5)

def ask(number):
    return model.complete([{"role": "user", "content": "Hello."}], purpose="ask")

print("ready", flush=True)
with interruptible(), ThreadPoolExecutor(20) as pool:
    list(pool.map(ask, range(60)))
"""


def interrupted(command: list[str], folder: Path, ready: str = "ready") -> tuple[float, str]:
    """Seconds from the signal to the end, and what was said on stderr."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "no_proxy": "127.0.0.1"}
    run = subprocess.Popen(command, cwd=folder, env=environment, stdout=-1, stderr=-1, text=True)
    assert run.stdout is not None
    while ready and ready not in run.stdout.readline():
        pass
    time.sleep(1.5)
    run.send_signal(signal.SIGINT)
    began = time.monotonic()
    err = run.communicate(timeout=30)[1]
    return time.monotonic() - began, err


@pytest.mark.parametrize("script", [ONE, MANY], ids=["one", "many"])
def test_a_call_that_is_under_way_ends_at_once(tmp_path: Path, script: str) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:  # takes connections, and never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        seconds, err = interrupted([sys.executable, "-c", script, url], tmp_path)
    assert seconds < 1.0
    assert err.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize("script", [ONE, MANY], ids=["one", "many"])
def test_a_pause_between_attempts_ends_at_once(tmp_path: Path, serve: Serve, script: str) -> None:
    url = serve("429=1,retry_after=60").url
    seconds, err = interrupted([sys.executable, "-c", script, url], tmp_path)
    assert seconds < 1.0
    assert err.rstrip().endswith("KeyboardInterrupt")


def test_a_bench_ends_at_once_with_all_its_episodes(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        bench = [sys.executable, "-m", "codeplan", "bench", "household", "-j", "4", "--model", "m", "--base-url", url]
        seconds, err = interrupted(bench, tmp_path, ready="")
    assert seconds < 1.5
    assert err == "codeplan: interrupted\n"
