"""Runs in the cage beyond the backend contract: how they end, what they save, what they leave behind."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import pytest
from support.caged import SampleHome, answer, failed, finished, plan, run, stopped
from support.zygotes import wait_for_workers, zygote_pid

from codeplan.sandbox import Limits, Sandbox, decode
from codeplan.sandbox.host import launcher
from codeplan.types import Checkpoint, Rejected


def values(checkpoint: Checkpoint | None) -> dict[str, object]:
    assert checkpoint is not None
    return decode(checkpoint)


# ------------------------------------------------------------------ how it ends


# ------------------------------------------------------------------ limits, each with its place


def test_a_loop_in_a_finally_cannot_hold_up_the_wall_limit():
    body = "try:\n    while True:\n        pass\nfinally:\n    while True:\n        pass"
    assert stopped(run(body, wall=0.3, turns=10**9), "wall").line is not None


def test_a_plan_that_crashes_the_interpreter_stops_without_harm():
    body = "t = ()\nfor i in range(1_000_000):\n    t = (t,)\nprint('built')\nd = {t: 1}"
    outcome = run(body)
    assert "crashed" in stopped(outcome, "worker").message
    finished(run("print('next')"))


@pytest.mark.parametrize("plan_name", ["zg06_tags_that_hold_objects", "zg07_element_cleared_by_what_is_written"])
def test_no_code_of_the_plan_frees_what_python_reads_of_an_element(plan_name: str):
    source = (Path(__file__).parents[2] / "escapes" / f"{plan_name}.py").read_text()
    finished(Sandbox().run(source, SampleHome(lambda action: None), answer))


def test_a_source_that_crashes_the_parser_is_rejected():
    for source in ("-" * 60_000 + "1", "(" * 60_000, "x = " + "+".join(["1"] * 20_000), "a" + ".a" * 30_000):
        assert isinstance(Sandbox().check(plan(source), SampleHome), Rejected)


# ------------------------------------------------------------------ checkpoints


def test_large_checkpoints_at_many_steps_stay_within_what_a_run_may_save():
    steps = "\n".join(f"if start_from <= {k}:\n    x = 'y' * 8_000" for k in range(1, 40))
    outcome = finished(run(steps, checkpoint_bytes=10_000))
    assert len(outcome.entries) == 39
    assert "x" in outcome.entries[2].names
    assert "x" in outcome.entries[39].dropped


# ------------------------------------------------------------------ repeating


def test_random_numbers_and_the_order_of_sets_are_the_same_in_every_run_and_in_every_process():
    body = "import random\nprint(random.random(), {'mug', 'plate', 'knife', 'spoon', 'fork'})"
    first = finished(run(body)).output
    launcher.run_workers.close()
    assert finished(run(body)).output == first
    other = Sandbox().run(plan(body), SampleHome(lambda action: None), answer, seed=1)
    assert finished(other).output.split()[0] != first.split()[0]


def test_lazily_loaded_parts_of_the_standard_library_are_preloaded():
    body = """
        import random, re
        from collections import Counter
        random.seed("a text")
        print(Counter("aab").most_common(1), re.findall(r"\\N{DIGIT ONE}", "21"), "\\N{DIGIT TWO}")
    """
    assert finished(run(body)).output == "[('a', 2)] ['1'] 2\n"


# ------------------------------------------------------------------ nothing is left


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


LARGE = (
    "if start_from <= 1:\n    kept = 7\n    large = {text} * {size}\n    assert kept\n"
    "if start_from <= 2:\n    assert kept == 7\n"
)


@pytest.mark.parametrize("text", ["'x'", "b'x'"])
def test_a_variable_too_large_for_a_checkpoint_is_dropped_however_little_memory_is_left(text):
    ran = finished(run(LARGE.format(text=text, size=20_000_000), memory=32_000_000))
    assert set(ran.checkpoint.names) == {"kept"}
    assert ran.checkpoint.dropped["large"].startswith("larger than the")


def test_running_out_of_memory_while_saving_a_checkpoint_is_the_memory_limit():
    body = LARGE.format(text="'x'", size=20_000_000)
    assert stopped(run(body, memory=32_000_000, checkpoint_bytes=30_000_000), "memory").step == 1


@pytest.mark.long
def test_two_hundred_runs_leave_no_process_descriptor_or_memory():
    sandbox = Sandbox()
    bodies = [plan("print(1)"), plan("assert False"), plan("x = 'a' * 10 ** 10"), plan("x = (")]

    def runs(count: int) -> None:
        for i in range(count):
            sandbox.run(bodies[i % len(bodies)], SampleHome(lambda action: None), answer)

    def held() -> tuple[int, int, int, int]:
        descriptors = [len(os.listdir(f"/proc/{pid}/fd")) for pid in ("self", zygote)]
        return descriptors[0], descriptors[1], resident(zygote), resident(os.getpid())

    runs(20)
    gc.collect()  # what earlier tests left open
    zygote = zygote_pid(launcher.run_workers)
    wait_for_workers(zygote, 1)
    before = held()
    runs(200)
    wait_for_workers(zygote, 1)  # the worker that was forked ahead
    after = held()
    assert zygote_pid(launcher.run_workers) == zygote
    assert (after[0] <= before[0], after[1]) == (True, before[1])  # what earlier tests left open may be closed by now
    assert after[2] - before[2] < 2 << 20
    assert after[3] - before[3] < 8 << 20


def test_sixty_four_sandboxes_at_once():
    found: list[str] = []

    def one(i: int) -> None:
        outcome = Sandbox(Limits(wall=60.0, cpu=60.0)).run(
            plan(f"print({i}, agent.goto('x'))"), SampleHome(lambda a: None), answer
        )
        found.append(finished(outcome).output)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=lambda text: int(text.split()[0])) == [f"{i} You are at x.\n" for i in range(64)]


def test_a_saved_variable_does_not_hide_a_builtin_that_the_plan_never_sets():
    saved = failed(run("sum = 3\nassert False")).checkpoint
    assert finished(run("print(sum([1, 2]))", checkpoint=saved)).output == "3\n"
    resumed = run(
        "if start_from <= 1:\n    sum = 0\nif start_from <= 2:\n    print(sum)", start_from=2, checkpoint=saved
    )
    assert finished(resumed).output == "3\n"


def test_an_import_of_the_plan_wins_over_a_saved_variable_of_the_name():
    saved = failed(run("choice, kept = 'desk 1', 2\nassert False")).checkpoint
    body = "from random import choice\nif start_from <= 2:\n    print(choice([kept]))\n    assert kept"
    assert finished(run(body, start_from=2, checkpoint=saved)).output == "2\n"


@pytest.mark.parametrize("name", ["data", "map", "Counter", "string", "len"])
def test_a_variable_that_was_not_saved_does_not_become_the_builtin_of_its_name(name):
    body = f"if start_from <= 1:\n    {name} = 'x' * 2_000\n    assert {name}\nif start_from <= 2:\n    print({name})"
    lost = Checkpoint(dropped={name: "it is too large"})
    ended = failed(run(body, start_from=2, checkpoint=lost))
    assert (ended.error, ended.message.startswith(f"{name} was not saved (it is too large)")) == ("NotSaved", True)


def test_a_builtin_stays_where_another_plan_had_a_variable_of_its_name():
    lost = Checkpoint(dropped={"len": "it is too large", "agent": "x", "_getattr_": "x"})
    assert finished(run("print(len('ab'), 'a'.upper())\nagent.report()", checkpoint=lost)).output == "2 A\n"
