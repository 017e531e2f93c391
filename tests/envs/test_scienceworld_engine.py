"""ScienceWorld's engine as a process: it is watched, replaced when it ends, shared in turn, and never left behind."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support import process_states
from support.scienceworld_engine import needs_engine

from codeplan.envs.scienceworld import engine
from codeplan.envs.scienceworld.engine import EngineError, EngineHangs, EngineLost, Py4JConnection
from codeplan.envs.scienceworld.environment import ScienceWorld, find_task
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.types import Task

pytestmark = pytest.mark.long

PLANT = find_task(Task("find-plant/228"))
WALK = ("open door to outside", "go to outside", "look around", "inventory")


@pytest.fixture
def env():
    env = ScienceWorld()
    yield env
    env.close()


def engine_of(env):
    return env._game._engine


def java_processes():
    """The ids of the Java processes that this process started."""
    found = subprocess.run(["pgrep", "-P", str(os.getpid()), "java"], capture_output=True, text=True).stdout
    return {int(line) for line in found.split()}


def ends(pid, seconds=20.0):
    """Whether a process ends in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


# ------------------------------------------------------------------ one engine, many games


@needs_engine
def test_one_engine_plays_many_episodes_in_turn(env):
    env.reset(PLANT)
    first = engine_of(env).pid
    for variation in range(5):
        env.reset(find_task(Task(f"lifespan-longest-lived/{variation}")))
        env.step("look around")
    assert engine_of(env).pid == first
    env.close()
    other = ScienceWorld()
    other.reset(PLANT)
    assert engine_of(other).pid == first
    other.close()


@needs_engine
def test_episodes_at_once_do_not_share_a_game():
    def play(variation):
        env = ScienceWorld(simplifications="easy" if variation % 2 else "")
        task = find_task(Task(f"find-plant/{variation}"))
        texts = [env.reset(task).text, *(env.step(action).text for action in WALK * 5)]
        env.close()
        return texts

    alone = [play(variation) for variation in range(6)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(play, range(6))) == alone


@needs_engine
def test_a_game_is_the_same_whatever_the_engine_played_before(env):
    kinds = ["chemistry-mix-paint-secondary-color", "inclined-plane-determine-angle", "identify-life-stages-2"]
    tasks = [find_task(Task(f"{kind}/3")) for kind in kinds]

    def texts(task):
        return [env.reset(task).text, *(env.step(action).text for action in ("teleport to outside", *WALK))]

    before = [texts(task) for task in tasks]
    engine.discard(engine_of(env))
    env._game._engine = None
    assert [texts(task) for task in reversed(tasks)] == before[::-1]


@needs_engine
def test_idle_engines_end(monkeypatch, env):
    monkeypatch.setattr(engine, "MAX_IDLE_SECONDS", 0.2)
    env.reset(PLANT)
    pid = engine_of(env).pid
    env.close()
    assert ends(pid)


# ------------------------------------------------------------------ an engine that ends or hangs


@needs_engine
@pytest.mark.parametrize("at", ["reset", 0, 3])
def test_an_episode_goes_on_in_a_new_engine(env, at):
    expected = [env.reset(PLANT), *map(env.step, WALK)]
    before = engine_of(env).pid
    if at == "reset":
        process_states.kill(before)
    found = [env.reset(PLANT)]
    for number, action in enumerate(WALK):
        if number == at:
            process_states.kill(engine_of(env).pid)
        found.append(env.step(action))
    assert found == expected
    assert engine_of(env).pid != before


@needs_engine
def test_a_second_end_at_the_same_point_is_an_error(env, monkeypatch):
    env.reset(PLANT)

    def end(self, action):
        self.kill()
        raise EngineLost("ScienceWorld's engine ended")

    monkeypatch.setattr(engine.EngineProcess, "step", end)
    with pytest.raises(EnvironmentFailure, match="engine ended"):
        env.step("look around")


@needs_engine
def test_a_new_engine_that_answers_differently_is_an_error(env):
    env.reset(PLANT)
    env.step("open door to outside")
    _, answer = env._game._history[0]
    env._game._history[0] = ("look around", answer)
    process_states.kill(engine_of(env).pid)
    with pytest.raises(EnvironmentFailure, match="in a new one a later answer differs"):
        env.step("go to outside")


@needs_engine
def test_an_engine_that_hangs_is_killed_in_time_and_the_next_episode_begins(env, monkeypatch):
    env.reset(PLANT)
    pid = engine_of(env).pid
    process_states.stop(pid)
    monkeypatch.setattr(engine, "MAX_ANSWER_SECONDS", 0.3)
    with pytest.raises(EngineHangs, match="did not answer within 0.3 seconds"):
        env.step("look around")
    assert ends(pid)
    monkeypatch.undo()
    assert env.reset(PLANT).text


@needs_engine
def test_an_interrupted_action_does_not_answer_the_next_one(env, monkeypatch):
    env.reset(PLANT)
    connection = engine_of(env)._connection
    monkeypatch.setattr(connection, "_read_line", interrupted_read)
    with pytest.raises(KeyboardInterrupt):
        env.step("look around")
    monkeypatch.undo()
    assert env.step("inventory").text.startswith("In your inventory")


def interrupted_read(deadline):
    raise KeyboardInterrupt


@needs_engine
def test_what_the_engine_cannot_do_is_an_error_that_leaves_it_usable():
    own = engine.acquire()
    with pytest.raises(EngineError):
        own._call("noSuchMethod")
    with pytest.raises(EngineError, match="cannot begin no-such-kind/0"):
        own.load("no-such-kind", 0, "")
    assert own.load("boil", 0, "")[1].text.startswith("This ")
    engine.release(own)


# ------------------------------------------------------------------ nothing is left behind

PLAY = """
import os, sys, time
from codeplan.envs.scienceworld.environment import ScienceWorld
from codeplan.envs.scienceworld.environment import find_task
from codeplan.types import Task
env = ScienceWorld()
env.reset(find_task(Task("find-plant/228")))
print(env._game._engine.pid, flush=True)
"""


def start(script):
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


@needs_engine
@pytest.mark.parametrize("way", ["exit", "_exit", "SIGKILL"])
def test_the_engine_ends_with_the_process_that_started_it(way):
    last = {"exit": "", "_exit": "os._exit(3)"}.get(way, "time.sleep(600)")
    process, pid = start(f"{PLAY}\nsys.stderr = open(os.devnull, 'w')\n{last}")
    if way.startswith("SIG"):
        process.send_signal(getattr(signal, way))
    process.wait(30)
    process.stdout.close()
    assert ends(pid)


@needs_engine
def test_the_engine_ends_though_a_forked_child_lives_on():
    process, pid = start(
        f"{PLAY}\nif os.fork() == 0:\n    os.close(1)\n    time.sleep(60)\n    os._exit(0)\ntime.sleep(600)"
    )
    children = subprocess.run(["pgrep", "-P", str(process.pid), "python"], capture_output=True, text=True).stdout
    process.kill()
    process.wait()
    process.stdout.close()
    assert ends(pid)
    for child in children.split():
        os.kill(int(child), signal.SIGKILL)


@needs_engine
def test_a_forked_child_plays_with_an_engine_of_its_own(env):
    first = env.reset(PLANT)
    parent = engine_of(env).pid
    child = os.fork()
    if child == 0:
        try:
            own = ScienceWorld()
            same = own.reset(PLANT) == first and engine_of(own).pid != parent
            own.close()
            engine.close_all_engines()
            os._exit(0 if same else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert env.step("look around").text == first.text.split("\n\n", 1)[1]


@needs_engine
def test_after_the_end_of_all_engines_none_runs():
    threads = threading.active_count()
    envs = [ScienceWorld() for _ in range(2)]
    for env in envs:
        env.reset(PLANT)
    engine.close_all_engines()
    assert not java_processes()
    assert threading.active_count() <= threads
    for env in envs:
        assert env.step("look around").text  # in a new engine
        env.close()


# ------------------------------------------------------------------ what is started, and who may talk to it


@needs_engine
def test_the_engine_takes_no_calls_without_its_password(env):
    env.reset(PLANT)
    port = engine_of(env)._connection._socket.getpeername()[1]
    with pytest.raises(EnvironmentFailure):
        Py4JConnection(port, "guess", 5.0).call("java.lang.System", "nanoTime", seconds=5.0)
    assert env.step("inventory").text


@needs_engine
def test_the_engine_knows_nothing_of_this_processs_environment(env, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    engine.close_all_engines()
    env.reset(PLANT)
    assert b"sk-secret" not in Path(f"/proc/{engine_of(env).pid}/environ").read_bytes()


@needs_engine
def test_archives_of_the_current_folder_are_not_taken(tmp_path, monkeypatch):
    real = engine.find_archives()
    for archive in real:
        (tmp_path / archive.name).write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert engine.find_archives() == real


def test_without_java_a_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    engine.close_all_engines()
    with pytest.raises(UsageError, match="no Java here; ScienceWorld needs Java 11 or newer: install one"):
        ScienceWorld().reset(PLANT)


def fake_java(folder, text, code=1):
    (folder / "bin").mkdir()
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('openjdk version "1.8.0_392"', "is Java 8; ScienceWorld needs Java 11"),
        ('java version "9.0.4"', "is Java 9; "),
        ("Segmentation fault", "does not tell its version"),
        ('openjdk version "17.0.1"', "engine does not start"),
        ("\x1b[2J" + "x" * 10_000, "does not tell its version"),
    ],
)
def test_a_java_that_does_not_do_is_named(monkeypatch, tmp_path, text, message):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, text)))
    engine.close_all_engines()
    with pytest.raises((UsageError, EnvironmentFailure), match=message) as refused:
        ScienceWorld().reset(PLANT)
    assert len(str(refused.value)) < 600
    assert "\n" not in str(refused.value)
    assert not java_processes()


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(engine, "distribution", no_distribution)
    engine.close_all_engines()
    with pytest.raises(UsageError, match=r"pip install 'codeplan\[scienceworld\]'"):
        ScienceWorld().reset(PLANT)


def no_distribution(name):
    raise engine.PackageNotFoundError(name)


# ------------------------------------------------------------------ what a server may answer


def a_server(*answers, pause=0.0):
    """A port on which a server greets, and then gives these answers: to whatever it is sent, or after a pause each."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        with server, server.accept()[0] as client, contextlib.suppress(ConnectionError):  # it may refuse an answer
            for answer in (b"!yv\n", *answers):
                time.sleep(pause) if pause else client.recv(10_000)
                client.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def call(*answers, seconds=2.0, pause=0.0):
    connection = Py4JConnection(a_server(*answers, pause=pause), "password", 5.0)
    try:
        return connection.call("x.Y", "method", "argument", seconds=seconds)
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (b"!ysa\\nb\\\\nc\\r\n", "a\nb\\nc\r"),
        (b"!ys\n", ""),
        (b"!yi7\n", 7),
        (b"!yd0.25\n", 0.25),
        (b"!ybtrue\n", True),
        (b"!yn\n", None),
        ("!ysÄ漢\n".encode(), "Ä漢"),
        (b"!ys\xff\n", "�"),
    ],
)
def test_an_answer_is_decoded(answer, value):
    assert call(answer) == value


@pytest.mark.parametrize(
    "answer", [b"\n", b"!\n", b"!q\n", b"!yz3\n", b"!yix\n", b"!ydx\n", b"hello\n", b"!ys without an end", b""]
)
def test_another_answer_is_a_lost_engine(answer):
    with pytest.raises(EngineLost):
        call(answer)


def test_an_exception_of_the_engine_is_an_error_of_its_own():
    with pytest.raises(EngineError):
        call(b"!xo3\n")


def test_an_answer_without_end_is_cut_off():
    with pytest.raises(EngineLost, match="more than"):
        call(b"!ys" + b"x" * (17 << 20))


def test_a_dripping_answer_does_not_outlast_the_time_limit():
    started = time.monotonic()
    with pytest.raises(EngineHangs):
        call(*[b"x"] * 100, seconds=0.5, pause=0.05)
    assert time.monotonic() - started < 3


def test_java_is_found_by_its_home_first(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "")))
    assert engine.find_java() == str(tmp_path / "bin" / "java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert engine.find_java() == shutil.which("java") or not shutil.which("java")
