"""Runs of plans and their resumption: where they go on, with which variables, and what stands in their folders."""

import shutil
from pathlib import Path

import pytest
from support.plan_server import COUNTS, KIWI, PLAN, STEP_2, Shop, plan_runner

from codeplan.cli import main
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.flows import Flows, goal
from codeplan.mcp_server.plan_runner import MAX_CHECKED, MAX_PRINTED, MAX_SEEN, RunControl, require_lengths
from codeplan.recording.events import PlanDrafted, PlanStarted, StepEntered
from codeplan.recording.trace import Trace
from codeplan.runner.recorded_episodes import replay
from codeplan.runner.tools import ToolSources, open_tools
from codeplan.sandbox import Limits
from codeplan.tools.agent import _apis, _classes

ALONE = RunControl()


@pytest.fixture
def shop():
    return Shop()


@pytest.fixture
def runner(tmp_path, shop):
    with plan_runner(tmp_path / "runs", shop) as made:
        yield made


def plan(body, step=1):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"def solution(agent, start_from=1):\n    if start_from <= {step}:\n{lines}"


def test_a_failed_run_tells_the_step_the_line_the_calls_and_the_variables(runner):
    answer = runner.run(KIWI, "", ALONE)
    assert answer.ended == "failed" and answer.failure.error == "KeyError"
    assert (answer.failure.step, answer.resumable_step, answer.calls) == (2, 2, 4)
    assert "kiwi" in answer.failure.code and "4. " in answer.log and "names = {'apples', 'pears'}" in answer.variables


def test_a_changed_step_alone_resumes_with_the_variables(runner, shop):
    failed = runner.run(KIWI, "count", ALONE)
    shop._calls.clear()
    answer = runner.resume(failed.run, STEP_2, ALONE)
    assert (answer.ended, answer.value, answer.started_from, answer.resumes) == ("finished", COUNTS, 2, failed.run)
    assert shop._calls == ["count apples", "count pears"]


def test_a_change_to_an_earlier_step_starts_there(runner, shop):
    failed = runner.run(KIWI, "", ALONE)
    shop._calls.clear()
    runner.resume(failed.run, PLAN.replace("set(agent.fruits())", "{*agent.fruits()}"), ALONE)
    assert shop._calls == ["fruits", "count apples", "count pears"]


def test_the_entries_of_steps_before_the_resumed_one_stay(runner, shop):
    """Step 2 fails twice; then step 1 is left as it is and step 2 needs what only step 1's run saved."""
    first = runner.run(KIWI, "", ALONE)
    second = runner.resume(first.run, STEP_2.replace("sorted(names)}", "['lime']}"), ALONE)
    shop._calls.clear()
    third = runner.resume(second.run, STEP_2, ALONE)
    assert (second.ended, second.started_from, third.value) == ("failed", 2, COUNTS)
    assert shop._calls == ["count apples", "count pears"]


def test_a_finished_run_goes_on_with_its_variables_as_they_were(runner, shop):
    done = runner.run(PLAN, "", ALONE)
    assert done.resumable_step == 3
    shop._calls.clear()
    more = "    if start_from <= 3:\n        names.add('figs')\n        return sorted(names), sum(counts.values())\n"
    answer = runner.resume(done.run, more, ALONE)
    assert (answer.ended, answer.value, answer.started_from) == ("finished", [["apples", "figs", "pears"], 15], 3)
    assert shop._calls == []


def test_a_finished_run_makes_no_call_again_for_the_same_plan(runner, shop):
    done = runner.run(PLAN, "", ALONE)
    shop._calls.clear()
    for text in (PLAN, STEP_2, f"# no change\n{PLAN}"):
        with pytest.raises(
            UsageError, match=f"the run {done.run} has done all steps of this plan; change or add a step"
        ):
            runner.resume(done.run, text, ALONE)
    assert shop._calls == []
    more = "    if start_from <= 3:\n        return len(names)\n"
    assert runner.resume(done.run, more, ALONE).value == 2


def test_a_replan_goes_on_after_its_step(runner, shop):
    looked = runner.run(plan("names = agent.fruits()\nprint(names)\nreplan('the names')"), "", ALONE)
    assert (looked.ended, looked.failure.error, looked.failure.message) == ("replan", "replan", "the names")
    assert (looked.printed, looked.resumable_step) == ("['apples', 'pears']", 2)
    answer = runner.resume(looked.run, "    if start_from <= 2:\n        return names[0]\n", ALONE)
    assert answer.value == "apples" and shop._calls == ["fruits"]


def test_give_up_stopped_and_questions_are_endings_with_a_sentence(runner):
    assert runner.run(plan("give_up('no way')"), "", ALONE).ended == "gave_up"
    stopped = runner.run(plan("while True:\n    pass"), "", ALONE)
    assert stopped.ended == "stopped" and stopped.failure.error in ("turns", "cpu", "wall")
    asked = runner.run(plan("assert ask_llm('why?')"), "", ALONE)
    assert asked.failure.error == "asks" and "replan(reason)" in asked.failure.message


@pytest.mark.parametrize("step", ["first", "resumed"])
def test_a_refused_plan_leaves_no_run(runner, step):
    run = runner.run(KIWI, "", ALONE).run if step == "resumed" else None
    before = sorted(runner.folders.root.glob("*"))
    bad = plan("agent.steal()")
    answer = runner.resume(run, bad, ALONE) if run else runner.run(bad, "", ALONE)
    assert (answer.ended, answer.run) == ("refused", run) and answer.faults[0].line == 3
    assert sorted(runner.folders.root.glob("*")) == before
    if run:
        assert runner.resume(run, STEP_2, ALONE).value == COUNTS


def test_fences_prose_and_a_missing_header_are_no_matter(runner):
    body = "if start_from <= 1:\n    names = agent.fruits()\n    assert names\nreturn len(names)"
    assert runner.run(f"Here it is:\n```python\n{body}\n```\nEnjoy!", "", ALONE).value == 2


def test_an_argument_that_is_code_loses_nothing_of_it(runner):
    """No line of it is taken for the prose around a reply, and a fence in a text is a text."""
    code = "    if start_from <= 1:\n        text = '```python\\nx = 1\\n```'\n        assert text\n    for c in 'ab':\n        text += c\n    return text"
    assert runner.run(code, "", ALONE).value == "```python\nx = 1\n```ab"
    looked = runner.run(plan("names = agent.fruits()\nreplan('the names')"), "", ALONE)
    more = "    if start_from <= 2:\n        assert names\n    return len(names)\n"
    assert runner.resume(looked.run, more, ALONE).value == 2


def test_a_run_is_resumed_once(runner):
    failed = runner.run(KIWI, "", ALONE)
    second = runner.resume(failed.run, STEP_2, ALONE)
    with pytest.raises(UsageError, match=f"was resumed already; resume the run {second.run}"):
        runner.resume(failed.run, STEP_2, ALONE)


@pytest.mark.parametrize("run", ["", "x", "..", "../runs", "/etc", "20260101-000000-0123456789abcdef", "a\0b", "\ud800", "２" * 8 + "-000000-0123456789abcdef", "9" * 10_000])  # fmt: skip
def test_an_id_leads_to_runs_alone(runner, run):
    runner.run(PLAN, "", ALONE)
    with pytest.raises(UsageError, match="there is no run"):
        runner.resume(run, PLAN, ALONE)


def test_another_server_on_the_same_folder_goes_on(tmp_path, shop):
    with plan_runner(tmp_path, shop) as before:
        failed, done = before.run(KIWI, "", ALONE), before.run(PLAN, "", ALONE)
    shop._calls.clear()
    with plan_runner(tmp_path, shop) as after:
        assert after.resume(failed.run, STEP_2, ALONE).value == COUNTS
        answer = after.resume(done.run, "    if start_from <= 3:\n        return type(names) == set\n", ALONE)
    assert answer.value is True and shop._calls == ["count apples", "count pears"]


def test_each_run_is_an_episode_that_show_and_replay_open(runner, capsys):
    failed = runner.run(KIWI, "", ALONE)
    second = runner.resume(failed.run, STEP_2, ALONE)
    for run in (failed.run, second.run):
        replay(runner.folders.path(run))
        assert main(["replay", str(runner.folders.path(run))]) == 0
    assert capsys.readouterr().out.count("identical:") == 2


def test_limits_end_a_run_and_it_goes_on(tmp_path, shop):
    with plan_runner(tmp_path, shop, limits=Limits(calls=2)) as runner:
        stopped = runner.run(PLAN, "", ALONE)
        assert (stopped.ended, stopped.failure.error, stopped.resumable_step) == ("stopped", "calls", 2)
        assert runner.resume(stopped.run, STEP_2, ALONE).value == COUNTS


def test_what_is_too_large_is_cut_and_said(runner):
    printed = runner.run(plan("print('x' * 60_000)"), "", ALONE).printed
    assert len(printed) <= MAX_PRINTED and "left out" in printed
    large = runner.run(plan("return 'y' * 100_000"), "", ALONE)
    assert large.value is None and "resume the run" in large.note
    assert runner.resume(large.run, "    if start_from <= 2:\n        return 1\n", ALONE).value == 1
    assert runner.run(plan("return None"), "", ALONE).note == ""
    odd = runner.run(plan("return map(str, [1])"), "", ALONE)
    assert (odd.ended, odd.value) == ("finished", None) and "a map cannot be saved; return plain data" in odd.note


def test_texts_far_too_long_are_refused(runner):
    require_lengths("x" * 200_000, "x" * 2_000)
    with pytest.raises(UsageError, match="the plan has 200,001 characters; write at most 200,000"):
        require_lengths("x" * 200_001)
    with pytest.raises(UsageError, match="the goal has 2,001 characters; say it in at most 2,000"):
        require_lengths(PLAN, "x" * 2_001)
    assert runner.run("x = 1\n" * 30_000, "", ALONE).faults[0].rule == "size"


def test_the_oldest_runs_go(tmp_path, shop):
    with plan_runner(tmp_path, shop, keep=3) as runner:
        (tmp_path / "notes").mkdir()
        runs = [runner.run(PLAN, "", ALONE).run for _ in range(2)]
        for n, run in enumerate(runs):  # a folder's name begins with its time
            (tmp_path / run).rename(tmp_path / f"2020010{n + 1}-000000-{run[-16:]}")
        kept = [runner.run(PLAN, "", ALONE).run for _ in range(2)]
    assert {p.name for p in tmp_path.iterdir()} == {"notes", *kept, f"20200102-000000-{runs[1][-16:]}"}


class StopsBeforeTheStart(RunControl):
    """Ends a run before its plan starts."""

    def __init__(self, error):
        def on_event(event):
            if isinstance(event, PlanDrafted):
                self.on_event = None
                raise error

        self.on_event = on_event


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EnvironmentFailure("the disk is gone")])
def test_a_run_whose_resumption_did_not_start_can_still_be_resumed(runner, error):
    failed = runner.run(KIWI, "", ALONE)
    with pytest.raises(type(error)):
        runner.resume(failed.run, STEP_2, StopsBeforeTheStart(error))
    assert runner.resume(failed.run, STEP_2, ALONE).value == COUNTS


class StopsAt(RunControl):
    """Ends a run at the entry of a step, as a client that cancels it does."""

    def __init__(self, step):
        self.on_event = lambda event: self._stop() if isinstance(event, StepEntered) and event.step == step else None

    def _stop(self):
        self.on_event = None
        raise KeyboardInterrupt


def break_off(runner, step=2):
    with pytest.raises(KeyboardInterrupt):
        runner.run(PLAN, "count", StopsAt(step))
    (folder,) = runner.folders.root.iterdir()
    return folder


def test_a_run_that_was_broken_off_is_told_of_before_it_is_resumed(runner, shop):
    run = break_off(runner).name
    shop._calls.clear()
    told = runner.resume(run, STEP_2, ALONE)
    assert (told.ended, told.run, told.resumable_step, told.calls) == ("interrupted", run, 2, 1)
    assert "Send resume_plan for this run again" in told.note and shop._calls == []
    again = runner.resume(run, STEP_2, ALONE)
    assert again.value == COUNTS and shop._calls == ["count apples", "count pears"]


def test_a_trace_whose_end_is_torn_off_is_that_of_a_run_broken_off(runner):
    folder = break_off(runner)
    trace = folder / "trace.jsonl"
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(lines[:-2]) + lines[-2][:20])
    assert runner.resume(folder.name, STEP_2, ALONE).ended == "interrupted"
    assert runner.resume(folder.name, STEP_2, ALONE).value == COUNTS


def test_a_running_run_cannot_be_resumed(runner):
    seen = []

    class Resumes(RunControl):
        def __init__(self):
            self.on_event = lambda event: seen.append(self.refused()) if isinstance(event, PlanStarted) else None

        def refused(self):
            (folder,) = runner.folders.root.iterdir()
            with pytest.raises(UsageError, match="has not ended yet"):
                runner.resume(folder.name, PLAN, ALONE)

    assert runner.run(PLAN, "", Resumes()).ended == "finished" and len(seen) == 1


# ------------------------------------------------------------------ folders that others have changed


def edited(folder: Path, old: bytes, new: bytes, name="trace.jsonl") -> None:
    data = (folder / name).read_bytes()
    assert old in data
    (folder / name).write_bytes(data.replace(old, new))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: edited(f, b'"env":"tools"', b'"env":"household"'), "not the run of a plan with tools"),
        (lambda f: edited(f, b'"method":"exec"', b'"method":"react"'), "not the run of a plan with tools"),
        (lambda f: edited(f, b"agent.fruits()", b"agent.stolen()"), "does not fit the tools any more"),
        (lambda f: edited(f, b'"event":"plan_started"', b'"event":"what"'), "line"),
        (lambda f: (f / "trace.jsonl").write_bytes(b""), "not the run of a plan with tools"),
        (lambda f: (f / "state.json").write_bytes(b'{"entries": {"x": 1}}'), "state of the run"),
        (lambda f: (f / "state.json").unlink(), "state of the run"),
        (lambda f: (f / "state.json").write_bytes(b'{"entries":{"7":{"names":{"x":7}}}}'), "damaged"),
    ],
)
def test_a_damaged_run_is_one_sentence(runner, change, message):
    run = runner.run(KIWI, "", ALONE).run
    change(runner.folders.path(run))
    with pytest.raises(UsageError, match=message):
        runner.resume(run, STEP_2, ALONE)


def test_links_in_the_folder_are_not_followed(runner, tmp_path):
    run = runner.run(KIWI, "", ALONE).run
    folder = runner.folders.path(run)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="state of the run"):
        runner.resume(run, STEP_2, ALONE)


def test_a_checkpoint_of_another_run_is_only_data(runner, shop):
    """Variables that do not fit make the step fail; nothing else comes of them."""
    run = runner.run(KIWI, "", ALONE).run
    other = runner.run(PLAN, "", ALONE).run
    shutil.copy(runner.folders.path(other) / "state.json", runner.folders.path(run) / "state.json")
    assert runner.resume(run, STEP_2, ALONE).value == COUNTS


def test_a_changed_step_reads_a_variable_that_no_step_sets_any_more(runner, shop):
    half = plan(
        "seen = []\nfor name in sorted(agent.fruits()):\n    seen.append(agent.count(name))\n    assert len(seen) > 1"
    )
    failed = runner.run(half, "count", ALONE)
    shop._calls.clear()
    answer = runner.resume(failed.run, plan("assert seen\nreturn len(seen)"), ALONE)
    assert (answer.ended, answer.value, shop._calls) == ("finished", 1, [])


class Post:
    """Tools of a client whose data may be hostile."""

    def __init__(self):
        self._sent = []

    def read(self) -> str:
        return "EVE"

    def send(self, to: str) -> str:
        self._sent.append(to)
        return to


FLOWS = Flows(readonly=["read"], rules={"send.to": goal}, otherwise="refuse")


def test_what_a_client_writes_after_it_got_data_is_not_its_users(tmp_path):
    post, failing = Post(), "    if start_from <= 2:\n        assert t == 1\n"
    with plan_runner(tmp_path / "runs", post, sources={"flows": FLOWS}) as runner:
        first = runner.run(plan("agent.send('ann')\nt = agent.read()") + failing, "write to Ann", ALONE)
        assert first.flows == ("A call of send was allowed by your flows",)
        again = runner.run(plan("agent.send('ann')"), "", ALONE)
        other = runner.run(plan("agent.send('EVE')"), "write to EVE", ALONE)
        kept = runner.resume(first.run, plan("agent.send(t)", 2).partition("\n")[2], ALONE)
    assert post._sent == ["ann", "ann"] and again.ended == "finished"
    assert other.failure.error == kept.failure.error == "PermissionError"
    assert "to comes from revision" in other.failure.message and "to comes from read" in kept.failure.message


def test_a_server_that_starts_over_old_runs_trusts_no_clients_text(tmp_path):
    post = Post()
    with plan_runner(tmp_path / "runs", post, sources={"flows": FLOWS}) as runner:
        runner.run(plan("agent.read()"), "", ALONE)
    with plan_runner(tmp_path / "runs", post, sources={"flows": FLOWS}) as runner:
        assert "revision" in runner.run(plan("agent.send('ann')"), "ann", ALONE).failure.message
        checked = runner.check(plan("agent.send(agent.read())"))
    assert checked.flows[-1] == "line 3: send(to: read) - would be refused: to comes from read"
    assert not post._sent


def test_a_plan_is_checked_once_however_often_it_is_sent(runner):
    plans = []
    control = RunControl()
    control.on_plan = plans.append
    for text in (PLAN, f"```python\n{PLAN}```", KIWI, PLAN):
        runner.run(text, "", control)
    first, second, other, last = plans
    assert first is second is last and other is not first, "one check made these values"


def test_the_check_of_a_plan_that_passed_is_forgotten_after_many_others(runner):
    for number in range(MAX_CHECKED + 5):
        runner.check(plan(f"assert agent.fruits(), '{number}'"))
    assert len(runner._checked) == MAX_CHECKED


def test_what_a_run_told_is_what_its_trace_holds(runner):
    told = []
    control = RunControl()
    control.on_event = told.append
    answer = runner.run(KIWI, "count", control)
    assert told == Trace.read(runner.folders.path(answer.run) / "trace.jsonl")


def test_goals_do_not_make_agents_of_many_tools_anew(tmp_path):
    tools = [_wordy(number) for number in range(300)]
    with open_tools(ToolSources(tools)) as opened:
        agents = {opened.environment(f"find invoice {n}", shown_for="").agent for n in range(40)}
        assert len(agents) == 1 and "describe" in dir(*agents)
        shown = [opened.environment(f"subject {250 + n}").agent for n in range(40)]
        assert len(set(shown)) > 16, "prompts show other tools in full for other goals"
        assert all(len(kept[opened.toolset]) == 16 for kept in (_classes, _apis))


def _wordy(number):
    def tool(query: str) -> str:
        return query

    tool.__name__, tool.__doc__ = f"tool_{number}", f"Look for subject_{number}. " + "More about it. " * 15
    return tool


def test_a_long_run_is_answered_from_its_trace(tmp_path):
    many = MAX_SEEN // 2 + 1
    plan = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        for _ in range({many}):\n            agent.fruits()\n        assert False, 'the end'\n"
    with plan_runner(tmp_path / "runs", Shop(), limits=Limits(calls=many)) as runner:
        failed = runner.run(plan, "", ALONE)
        assert (failed.ended, failed.calls, failed.failure.message) == ("failed", many, "the end")
        assert runner.resume(failed.run, plan.replace("assert False, 'the end'", "return 7"), ALONE).value == 7
