"""Plans run in their cage: what they reach, how they end, what is saved, and that nothing of them is left."""

from __future__ import annotations

import math
import os
import threading
import time
from pathlib import Path

import pytest
from caged import Home, answer, failed, finished, plan, run, stopped

from codeplan.errors import BudgetExceeded, UsageError
from codeplan.sandbox import CheckpointError, Limits, Printed, Progress, Sandbox, StepEntered, decode, encode
from codeplan.sandbox.cage import launcher
from codeplan.types import Checkpoint, Plan, Rejected, Step

TWO_STEPS = """
    if start_from <= 1:
        print('[Step 1] look')
        seen = [agent.goto('shelf 1')]
        count = 1
    if start_from <= 2:
        print('[Step 2] think')
        count += 1
        seen.append(count)
        assert count > 5, 'Error in [Step 2]: too few'
"""


def values(checkpoint: Checkpoint | None) -> dict[str, object]:
    assert checkpoint is not None
    return decode(checkpoint)


# ------------------------------------------------------------------ what a plan reaches


def test_a_plan_calls_the_agent_reads_it_asks_and_prints():
    home = Home(lambda action: None)
    outcome = finished(run("print(agent.goto('desk 1'), agent.holding, agent.receptacles, ask_llm('why?'))", home))
    assert outcome.output == "You are at desk 1. None ['shelf 1', 'desk 1'] re: why?\n"
    assert home.history == ["desk 1"]
    assert (outcome.spent.calls, outcome.spent.asks, outcome.spent.output) == (1, 1, len(outcome.output))
    assert 0 < outcome.spent.cpu < outcome.spent.wall < 5


def test_arguments_and_results_cross_with_their_types_and_values():
    outcome = finished(
        run("x = agent.echo((1, [2.5, None], {'a': (True,)}), 'b', k=2 ** 80)\ny = agent.odd('numbers')")
    )
    saved = values(outcome.checkpoint)
    assert saved["x"] == [(1, [2.5, None], {"a": (True,)}), ["b"], {"k": 2**80}]
    assert repr(saved["y"]) == repr([2**80, math.inf, -0.0, (1, (2,)), {"a": None, 1: True}])


def test_text_with_half_a_surrogate_pair_crosses():
    outcome = finished(run("x = agent.odd('surrogate')\nprint(agent.echo(x))\ny = ask_llm(x)"))
    assert values(outcome.checkpoint)["x"] == "\ud800"
    assert outcome.output == "\\ud800\n"


def test_what_a_plan_does_to_an_attribute_does_not_reach_the_agent():
    home = Home(lambda action: None)
    finished(run("places = agent.receptacles\nplaces.append('forged')", home))
    assert home.receptacles == ["shelf 1", "desk 1"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("self", "odd returned a Home, which is not plain data"),
        ("set", "odd returned a set, which is not plain data"),
        ("endless", "odd returned a value nested deeper than 32"),
        ("huge", "odd returned more than 1,000,000 bytes"),
        ("KeyError", "odd failed (KeyError)"),
        ("AgentError", "there is no such shelf"),
    ],
)
def test_what_goes_wrong_in_the_agent_is_an_error_of_the_plan_without_the_agents_secrets(kind, message):
    outcome = failed(run(f"agent.odd('{kind}')"))
    assert (outcome.error, outcome.message, outcome.line) == ("RuntimeError", message, 2)
    caught = finished(run(f"try:\n    agent.odd('{kind}')\nexcept Exception as e:\n    print(e)"))
    assert caught.output == message + "\n"


def test_a_call_with_wrong_arguments_says_what_is_right():
    outcome = failed(run("agent.goto()"))
    assert outcome.message == "goto(receptacle: str) was called wrongly: missing a required argument: 'receptacle'"


def test_exceptions_of_codeplans_own_end_the_run_for_the_caller():
    def broke(question: str) -> str:
        raise BudgetExceeded("asks", 3, 2)

    body = plan("try:\n    ask_llm('?')\nexcept Exception:\n    pass")
    with pytest.raises(BudgetExceeded):
        Sandbox().run(body, Home(lambda action: None), broke)
    with pytest.raises(KeyboardInterrupt):
        run("agent.odd('interrupt')")


def test_an_answer_that_is_not_text_is_an_error_of_the_plan():
    outcome = Sandbox().run(plan("ask_llm('?')"), Home(lambda action: None), lambda question: 5)  # type: ignore[arg-type,return-value]  # that is the point
    assert failed(outcome).message == "ask_llm returned a int, which is not text"


# ------------------------------------------------------------------ how it ends


def test_a_failed_assertion_comes_with_its_step_line_output_and_variables():
    outcome = failed(run(TWO_STEPS))
    assert (outcome.step, outcome.line, outcome.error) == (2, 10, "AssertionError")
    assert outcome.message == "Error in [Step 2]: too few"
    assert outcome.output == "[Step 1] look\n[Step 2] think\n"
    assert values(outcome.checkpoint) == {"seen": ["You are at shelf 1.", 2], "count": 2}
    assert values(outcome.entries[1]) == {}
    assert values(outcome.entries[2]) == {"seen": ["You are at shelf 1."], "count": 1}


def test_an_assertion_in_a_helper_is_placed_where_it_stands():
    outcome = failed(
        run(
            """
            def check(n):
                assert n, 'no'
            if start_from <= 1:
                check(0)
            """
        )
    )
    assert (outcome.step, outcome.line) == (1, 3)


def test_the_step_is_the_runtimes_count_whatever_the_message_claims():
    outcome = failed(run("if start_from <= 1:\n    assert False, 'Error in [Step 99]: forged'"))
    assert outcome.step == 1


def test_an_exception_comes_with_its_name_message_and_line():
    outcome = failed(run("if start_from <= 1:\n    x = {}\n    x['mug']"))
    assert (outcome.step, outcome.line, outcome.error, outcome.message) == (1, 4, "KeyError", "'mug'")


def test_a_return_ends_the_plan_well():
    outcome = finished(run("if start_from <= 1:\n    return 5\nif start_from <= 2:\n    print('never')"))
    assert (outcome.output, outcome.step) == ("", 1)


def test_an_assertion_cannot_be_hidden_by_what_comes_after_it():
    outcome = failed(run("try:\n    assert False, 'first'\nfinally:\n    [][1]"))
    assert outcome.message == "first"
    home = Home(lambda action: None)
    failed(run("try:\n    assert False, 'first'\nfinally:\n    agent.goto('x')", home))
    assert home.history == []


def test_a_message_of_a_hundred_megabytes_is_cut():
    outcome = run("raise ValueError('x' * 10_000_000)")
    assert len(failed(outcome).message) < 9_000


def test_a_source_that_does_not_compile_is_rejected_with_its_line():
    for source in (plan("x = ("), plan("import os"), plan("agent._secret"), "x = 1"):
        outcome = Sandbox().run(source, Home(lambda action: None), answer)
        assert isinstance(outcome, Rejected)
        assert outcome.diagnostics


# ------------------------------------------------------------------ limits, each with its place


@pytest.mark.parametrize(
    ("limit", "body", "limits"),
    [
        ("wall", "while True:\n        pass", {"wall": 0.3, "turns": 10**9}),
        ("cpu", "while True:\n        pass", {"cpu": 0.2, "turns": 10**9}),
        ("turns", "for i in range(10 ** 6):\n        pass", {"turns": 1_000}),
        ("memory", "l = []\n    while True:\n        l.append('x' * 100_000 + str(len(l)))", {"memory": 64 << 20}),
        ("output", "while True:\n        print('hello')", {"output": 1_000}),
        ("calls", "while True:\n        agent.goto('x')", {"calls": 20}),
        ("reads", "while True:\n        agent.holding", {"reads": 20}),
        ("call_bytes", "agent.goto('x' * 5_000)", {"call_bytes": 2_000}),
        ("asks", "while True:\n        ask_llm('x')", {"asks": 3}),
        ("ask_bytes", "ask_llm('é' * 600)", {"ask_bytes": 1_000}),
        ("recursion", "f = lambda n: f(n + 1)\n    f(0)", {"recursion": 50}),
    ],
)
def test_each_limit_stops_the_plan_and_says_how_much_and_where(limit, body, limits):
    outcome = stopped(run(f"if start_from <= 1:\n    kept = [1]\n    {body}", **limits), limit)
    assert outcome.step == 1
    assert outcome.line in (4, 5, 6)
    assert outcome.allowed == limits[limit]
    assert outcome.value >= outcome.allowed
    assert limit == "memory" or values(outcome.checkpoint)["kept"] == [1]
    assert str(int(outcome.allowed))[0] in outcome.message


@pytest.mark.parametrize("limit", ["wall", "cpu", "turns", "output", "calls", "asks"])
def test_no_limit_can_be_caught(limit):
    spend = {"output": "print('hello')", "calls": "agent.goto('x')", "asks": "ask_llm('x')"}.get(limit, "pass")
    body = f"while True:\n    try:\n        while True:\n            {spend}\n    except Exception:\n        continue\n    finally:\n        x = 1"
    limits = {"wall": 30.0, "cpu": 10.0, "turns": 10**9} | {
        limit: {"wall": 0.3, "cpu": 0.2, "turns": 500}.get(limit, 10)
    }
    stopped(run(body, **limits), limit)


def test_a_loop_in_a_finally_cannot_hold_up_the_wall_limit():
    body = "try:\n    while True:\n        pass\nfinally:\n    while True:\n        pass"
    assert stopped(run(body, wall=0.3, turns=10**9), "wall").line is not None


@pytest.mark.parametrize(
    "body", ["sum(range(10 ** 11))", "while True:\n    pass", "x = [i for i in range(10 ** 9)]", "max(range(10 ** 11))"]
)
def test_a_stop_by_the_wall_limit_comes_within_150_ms_of_it(body):
    delays = []
    for _ in range(3):
        outcome = stopped(run(body, wall=0.3, turns=10**9, memory=2 << 30), "wall")
        delays.append(outcome.value - 0.3)
    assert 0 < min(delays) < 0.15


def test_the_time_that_the_agent_and_the_model_take_does_not_count():
    class Slow(Home):
        def goto(self, receptacle: str):
            time.sleep(0.3)
            return super().goto(receptacle)

    def slow_answer(question: str) -> str:
        time.sleep(0.3)
        return "yes"

    body = plan("agent.goto('a')\nask_llm('b')\nagent.goto('c')")
    outcome = finished(Sandbox(Limits(wall=0.4)).run(body, Slow(lambda action: None), slow_answer))
    assert outcome.spent.wall < 0.4


def test_output_is_kept_up_to_the_limit():
    outcome = stopped(run("print('x' * 1_000_000)", output=100), "output")
    assert outcome.output == "x" * 100


def test_a_plan_that_crashes_the_interpreter_stops_without_harm():
    body = "t = ()\nfor i in range(1_000_000):\n    t = (t,)\nprint('built')\nd = {t: 1}"
    outcome = run(body)
    assert "crashed" in stopped(outcome, "worker").message
    finished(run("print('next')"))


def test_a_source_that_is_too_long_is_rejected():
    outcome = run("x = 1\n" * 100, source_bytes=200)
    assert isinstance(outcome, Rejected)
    assert "write at most 200" in outcome.diagnostics[0].message


@pytest.mark.parametrize("text", ["", " \n", "x = '\0'", "x = '\ud800'", "\ufffe\0"])
def test_a_text_that_is_no_source_is_rejected_by_check_and_by_run(text):
    checked = Sandbox().check(text, Home)
    outcome = Sandbox().run(text, Home(lambda action: None), answer)
    assert isinstance(checked, Rejected)
    assert isinstance(outcome, Rejected)
    assert checked.diagnostics == outcome.diagnostics


def test_a_source_that_the_parser_dies_of_is_rejected():
    for source in ("-" * 60_000 + "1", "(" * 60_000, "x = " + "+".join(["1"] * 20_000), "a" + ".a" * 30_000):
        assert isinstance(Sandbox().check(plan(source), Home), Rejected)


# ------------------------------------------------------------------ checkpoints


def test_a_run_goes_on_at_a_step_with_the_variables_of_the_checkpoint():
    outcome = failed(run(TWO_STEPS))
    again = failed(run(TWO_STEPS, start_from=2, checkpoint=outcome.entries[2]))
    assert again.output == "[Step 2] think\n"
    assert values(again.checkpoint) == {"seen": ["You are at shelf 1.", 2], "count": 2}
    assert list(again.entries) == [2]


def test_going_on_from_the_state_at_the_failure_repeats_a_mutation_and_from_the_entry_it_does_not():
    body = "if start_from <= 1:\n    l = [1]\nif start_from <= 2:\n    l.append(2)\n    assert len(l) > 9"
    outcome = failed(run(body))
    assert values(failed(run(body, start_from=2, checkpoint=outcome.checkpoint)).checkpoint) == {"l": [1, 2, 2]}
    assert values(failed(run(body, start_from=2, checkpoint=outcome.entries[2])).checkpoint) == {"l": [1, 2]}


def test_a_loop_begun_starts_over_and_its_variable_keeps_its_last_value_until_then():
    body = """
    if start_from <= 1:
        for place in ['a', 'b', 'c']:
            agent.goto(place)
            assert place != 'b' or start_from > 1, 'stuck'
    if start_from <= 2:
        print(place)
    """
    outcome = failed(run(body))
    assert values(outcome.checkpoint) == {"place": "b"}
    home = Home(lambda action: None)
    assert finished(run(body, home, start_from=2, checkpoint=outcome.checkpoint)).output == "b\n"
    failed(run(body, home, checkpoint=outcome.checkpoint))
    assert home.history == ["a", "b"]


def test_code_outside_the_steps_runs_at_every_start():
    body = """
    def helper(x):
        return x * 2
    limit = 10
    if start_from <= 1:
        limit = 99
        assert False
    if start_from <= 2:
        print(helper(limit))
    """
    outcome = failed(run(body))
    assert finished(run(body, start_from=2, checkpoint=outcome.checkpoint)).output == "20\n"


def test_a_variable_that_cannot_be_saved_is_named_and_reading_it_says_so():
    body = """
    if start_from <= 1:
        it = iter([1, 2])
        kept = 1
        assert False
    if start_from <= 2:
        print(kept)
        next(it)
    """
    outcome = failed(run(body))
    assert "iterator" in outcome.checkpoint.dropped["it"]
    again = failed(run(body, start_from=2, checkpoint=outcome.checkpoint))
    assert again.output == "1\n"
    assert again.message.startswith("it was not saved (a list_iterator cannot be saved)")
    assert "it" in again.checkpoint.dropped


def test_names_of_the_runtime_and_private_names_are_neither_saved_nor_restored():
    outcome = failed(run("for _ in range(2):\n    shown = 2\nassert False"))
    assert set(outcome.checkpoint.names) == {"shown"}
    forged = encode(
        {"agent": 1, "print": 2, "ask_llm": 3, "start_from": 9, "_getattr_": 4, "__builtins__": 5, "ok": 6}, 999
    )
    assert finished(run("print(ok, start_from, agent.holding)", checkpoint=forged)).output == "6 1 None\n"


def test_a_checkpoint_that_is_too_large_drops_what_does_not_fit_and_the_run_goes_on():
    outcome = failed(run("small = [1]\nbig = ['x' * 1000 + str(i) for i in range(2000)]\nassert False"))
    assert values(outcome.checkpoint) == {"small": [1]}
    assert "big" in outcome.checkpoint.dropped


def test_large_checkpoints_at_many_steps_stay_within_what_a_run_may_save():
    steps = "\n".join(f"if start_from <= {k}:\n    x = 'y' * 8_000" for k in range(1, 40))
    outcome = finished(run(steps, checkpoint_bytes=10_000))
    assert len(outcome.entries) == 39
    assert "x" in outcome.entries[2].names
    assert "x" in outcome.entries[39].dropped


def test_a_step_in_two_blocks_is_gone_back_to_where_it_first_began():
    outcome = finished(run("if start_from <= 1:\n    x = 1\nif start_from <= 1:\n    x += 1"))
    assert (values(outcome.entries[1]), values(outcome.checkpoint)) == ({}, {"x": 2})


def test_a_damaged_checkpoint_is_an_error_of_one_sentence():
    for damaged in (Checkpoint({"x": 9}, [1]), Checkpoint({"x": 0}, [["tuple", 0]]), Checkpoint({"x": 0}, [object()])):
        with pytest.raises(CheckpointError, match="the checkpoint is damaged"):
            run("pass", checkpoint=damaged)


def test_a_start_that_is_no_number_is_a_wrong_use():
    with pytest.raises(UsageError, match="start_from must be a whole number"):
        Sandbox().run(plan("pass"), Home(lambda action: None), answer, "2")  # type: ignore[arg-type]  # that is the point


# ------------------------------------------------------------------ listening, repeating


def test_a_listener_hears_of_steps_and_output_in_order_before_the_next_call():
    heard: list[Progress | str] = []

    class Heard(Home):
        def goto(self, receptacle: str):
            heard.append(receptacle)
            return super().goto(receptacle)

    source = plan(TWO_STEPS)
    known = Plan(source, (Step(1, 2, 5, "look", ""), Step(2, 6, 10, "think", "")))
    failed(Sandbox().run(known, Heard(lambda action: None), answer, listen=heard.append))
    assert [type(h).__name__ for h in heard] == ["StepEntered", "Printed", "str", "StepEntered", "Printed"]
    assert isinstance(heard[3], StepEntered)
    assert (heard[3].title, heard[1]) == ("think", Printed("[Step 1] look\n"))


def test_what_a_listener_raises_reaches_the_caller():
    def full(progress: Progress) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Sandbox().run(plan("print(1)"), Home(lambda action: None), answer, listen=full)


def test_random_numbers_and_the_order_of_sets_are_the_same_in_every_run_and_in_every_process():
    body = "import random\nprint(random.random(), {'mug', 'plate', 'knife', 'spoon', 'fork'})"
    first = finished(run(body)).output
    launcher.runs.close()
    assert finished(run(body)).output == first
    other = Sandbox().run(plan(body), Home(lambda action: None), answer, seed=1)
    assert finished(other).output.split()[0] != first.split()[0]


# ------------------------------------------------------------------ checking


def test_a_plan_that_is_checked_knows_its_steps():
    checked = Sandbox().check(plan(TWO_STEPS.replace("count = 1", "count = 1\n        assert seen")), Home)
    assert isinstance(checked, Plan), checked
    assert [s.number for s in checked.steps] == [1, 2]
    assert failed(Sandbox().run(checked, Home(lambda action: None), answer)).step == 2


def test_a_check_names_the_method_that_the_agent_does_not_have():
    found = Sandbox().check(plan("if start_from <= 1:\n    agent.fly()\n    assert True"), Home)
    assert isinstance(found, Rejected)
    assert any("fly" in d.message and d.line == 3 for d in found.diagnostics)


# ------------------------------------------------------------------ nothing is left


def zygote_pid() -> int:
    zygote = launcher.runs._zygote  # the tests look where no one else should
    assert zygote is not None
    return zygote._process.pid


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_two_hundred_runs_leave_no_process_descriptor_or_memory():
    sandbox = Sandbox()
    bodies = [plan("print(1)"), plan("assert False"), plan("x = 'a' * 10 ** 10"), plan("x = (")]

    def runs(count: int) -> None:
        for i in range(count):
            sandbox.run(bodies[i % len(bodies)], Home(lambda action: None), answer)

    runs(20)
    time.sleep(0.2)
    zygote = zygote_pid()
    before = (
        len(os.listdir("/proc/self/fd")),
        len(os.listdir(f"/proc/{zygote}/fd")),
        resident(zygote),
        resident(os.getpid()),
    )
    runs(200)
    time.sleep(0.2)
    after = (
        len(os.listdir("/proc/self/fd")),
        len(os.listdir(f"/proc/{zygote}/fd")),
        resident(zygote),
        resident(os.getpid()),
    )
    assert len(children(zygote)) == 1  # the worker that was forked ahead
    assert zygote_pid() == zygote
    assert after[:2] == before[:2]
    assert after[2] - before[2] < 2 << 20
    assert after[3] - before[3] < 8 << 20


def test_sixty_four_sandboxes_at_once():
    found: list[str] = []

    def one(i: int) -> None:
        outcome = Sandbox(Limits(wall=60.0, cpu=60.0)).run(
            plan(f"print({i}, agent.goto('x'))"), Home(lambda a: None), answer
        )
        found.append(finished(outcome).output)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=lambda text: int(text.split()[0])) == [f"{i} You are at x.\n" for i in range(64)]


def test_a_zygote_that_died_is_replaced():
    finished(run("pass"))
    os.kill(zygote_pid(), 9)
    finished(run("pass"))
