"""Ctrl-C ends what waits for a model at once: a call, a pause between attempts, and the calls of all threads."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.served import Serve

ROOT = Path(__file__).parents[2]
ONE = """
import sys
from codeplan.llm import OpenAIModel
model = OpenAIModel("tiny", base_url=sys.argv[1], max_retries=5)
model.complete([{"role": "user", "content": "Hello."}], purpose="ask")
"""
MANY = """
import sys
from concurrent.futures import ThreadPoolExecutor
from codeplan.llm import OpenAIModel, cancel_calls_on_interrupt
model = OpenAIModel("tiny", base_url=sys.argv[1], max_retries=5)

def ask(number):
    return model.complete([{"role": "user", "content": "Hello."}], purpose="ask")

with cancel_calls_on_interrupt(), ThreadPoolExecutor(20) as pool:
    list(pool.map(ask, range(60)))
"""


def interrupted(command: list[str], folder: Path, begun: Callable[[], object]) -> tuple[float, str]:
    """Seconds from the signal, sent when ``begun`` returns, to the end; and what was said on stderr."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "no_proxy": "127.0.0.1"}
    run = subprocess.Popen(command, cwd=folder, env=environment, stdout=-1, stderr=-1, text=True)
    begun()
    time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    began = time.monotonic()
    err = run.communicate(timeout=30)[1]
    return time.monotonic() - began, err


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        server.settimeout(30)
        yield server


def url(server: socket.socket) -> str:
    return f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@pytest.mark.parametrize(("script", "calls"), [(ONE, 1), (MANY, 20)], ids=["one", "many"])
def test_ctrl_c_ends_running_calls_at_once(tmp_path: Path, silent: socket.socket, script: str, calls: int) -> None:
    with contextlib.ExitStack() as open_ones:

        def begun() -> None:
            for _ in range(calls):
                connection = open_ones.enter_context(silent.accept()[0])
                connection.recv(1)

        seconds, err = interrupted([sys.executable, "-c", script, url(silent)], tmp_path, begun)
    assert seconds < 20  # not the endpoint's minutes
    assert err.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize(("script", "calls"), [(ONE, 1), (MANY, 20)], ids=["one", "many"])
def test_ctrl_c_ends_a_pause_between_attempts_at_once(tmp_path: Path, serve: Serve, script: str, calls: int) -> None:
    served = serve("429=1,retry_after=60")

    def begun() -> None:
        while len(served.log) < calls:
            time.sleep(0.02)

    seconds, err = interrupted([sys.executable, "-c", script, served.url], tmp_path, begun)
    assert seconds < 20  # not the endpoint's minutes
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert len(served.log) == calls


def test_ctrl_c_ends_a_bench_with_all_its_episodes_at_once(tmp_path: Path, silent: socket.socket) -> None:
    bench = [sys.executable, "-m", "codeplan", "bench", "household", "-j", "4", "--model", "m"]
    with contextlib.ExitStack() as open_ones:

        def begun() -> None:
            for _ in range(4):
                open_ones.enter_context(silent.accept()[0])

        seconds, err = interrupted([*bench, "--base-url", url(silent)], tmp_path, begun)
    assert seconds < 20  # not the endpoint's minutes
    assert err.startswith("codeplan: interrupted; to go on, repeat the command with --out runs/")
