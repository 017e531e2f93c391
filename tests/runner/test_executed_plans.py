"""Executed plans: fixes, strictness, and a start at a later step with variables from elsewhere."""

import json

import msgspec
import pytest
from support.boxes import Boxes, Replies

import codeplan
from codeplan.cli.app import main
from codeplan.errors import Diverged, UsageError
from codeplan.recording.events import EpisodeStarted, PlanFixed, PlanStarted, StepEntered
from codeplan.recording.trace import Trace
from codeplan.runner.recorded_episodes import replay, resume
from codeplan.runner.start_state import MAX_VARIABLES_BYTES
from codeplan.sandbox import Sandbox, decode, encode
from codeplan.types import Checkpoint, Failed, Finished, Plan, Rejected

PLAN = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] choose')
        box = 1
        assert box, 'Error in [Step 1]'
    if start_from <= 2:
        print('[Step 2] open')
        assert 'ball' in agent.open(box + 1), f'Error in [Step 2]: {agent.report()}'
    if start_from <= 3:
        print('[Step 3] rest')
        assert box, 'Error in [Step 3]'
"""
BARE = PLAN.replace(", start_from=1", "")
UNSURE = PLAN.replace("        assert box, 'Error in [Step 1]'\n", "")


def play(source=PLAN, task="ball/2", **options):
    return codeplan.execute(source, Boxes(), task, model=Replies(), **options)


def again(folder, **options):
    return replay(folder, env=Boxes(), **options)


def events(folder):
    return Trace.read(folder / "trace.jsonl")


def start_of(folder):
    return next(e for e in events(folder) if isinstance(e, PlanStarted))


def rewrite(folder, change):
    """Replace the events of a trace by what ``change`` makes of them."""
    lines = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    (folder / "trace.jsonl").write_text("".join(json.dumps(event) + "\n" for event in change(lines)))


# ------------------------------------------------------------------ fixes and strictness


def test_the_check_mends_an_executed_plan_unless_told_not_to():
    assert play(BARE).result.success
    refused = play(BARE, fixes="off").outcome
    assert isinstance(refused, Rejected) and not refused.fixes


def test_a_strict_run_refuses_a_plan_with_warnings():
    assert play(UNSURE).result.success
    refused = play(UNSURE, strict=True).outcome
    assert isinstance(refused, Rejected)
    assert [d.rule for d in refused.diagnostics] == ["step-assertion"]
    assert play(PLAN, strict=True).result.success


@pytest.mark.parametrize(
    ("source", "options"), [(BARE, {}), (BARE, {"fixes": "off"}), (UNSURE, {}), (UNSURE, {"strict": True})]
)
def test_fixes_and_strictness_are_in_the_header_so_that_a_replay_repeats_them(source, options, tmp_path):
    first = play(source, out=tmp_path, **options)
    header = events(tmp_path)[0]
    assert isinstance(header, EpisodeStarted) and header.settings == options
    assert again(tmp_path) == first.result


def test_a_killed_run_goes_on_with_its_settings(tmp_path):
    play(UNSURE, strict=True, out=tmp_path)
    rewrite(tmp_path, lambda lines: lines[:3])
    assert resume(tmp_path, env=Boxes(), model=Replies()).reason.startswith("the plan was refused")


# ------------------------------------------------------------------ a later start


def test_a_plan_starts_at_a_step_with_the_given_variables(tmp_path):
    done = play(start_from=2, checkpoint={"box": 1}, out=tmp_path)
    assert done.result.success
    assert next(e.step for e in events(tmp_path) if isinstance(e, StepEntered)) == 2
    started = start_of(tmp_path)
    assert (started.start_from, started.restored) == (2, ("box",))
    assert decode(started.checkpoint) == {"box": 1}


def test_a_plan_starts_at_a_step_with_none(tmp_path):
    done = play(start_from=2, out=tmp_path)
    assert isinstance(done.outcome, Failed) and done.outcome.error == "NameError"
    assert start_of(tmp_path).checkpoint is None
    assert again(tmp_path) == done.result


def test_a_checked_plan_starts_at_a_step_too():
    plan = Sandbox().check(PLAN, Boxes.agent)
    assert isinstance(plan, Plan)
    assert play(plan, start_from=2, checkpoint={"box": 1}).result.success
    with pytest.raises(UsageError, match="cannot start from step 4: its steps are 1 to 3"):
        play(plan, start_from=4)


def test_the_steps_are_those_of_the_mended_plan():
    gaps = PLAN.replace("start_from <= 3", "start_from <= 30")
    with pytest.raises(UsageError, match="cannot start from step 30: its steps are 1 to 3"):
        play(gaps, start_from=30)
    assert isinstance(play(gaps, task="ball/1", start_from=3, checkpoint={"box": 1}).outcome, Finished)


def test_a_run_that_started_with_a_file_replays_without_it(tmp_path):
    file = tmp_path / "variables.json"
    file.write_text('\ufeff{"box": 1, "deep": [{"a": [1.5, null, true]}], "large": 123456789012345678901234567890}')
    first = play(start_from=2, checkpoint=str(file), out=tmp_path / "run")
    file.unlink()
    assert first.result.success
    assert again(tmp_path / "run") == first.result


def test_a_run_killed_after_its_start_goes_on_from_there(tmp_path):
    first = play(start_from=2, checkpoint={"box": 1}, out=tmp_path)
    at = next(e.seq for e in events(tmp_path) if isinstance(e, PlanStarted))
    rewrite(tmp_path, lambda lines: lines[: at + 1])
    assert resume(tmp_path, env=Boxes(), model=Replies()).success == first.result.success is True


def test_a_run_killed_before_its_start_does_not_begin_elsewhere(tmp_path):
    play(start_from=2, checkpoint={"box": 1}, out=tmp_path)
    at = next(e.seq for e in events(tmp_path) if isinstance(e, PlanStarted))
    rewrite(tmp_path, lambda lines: lines[:at])
    with pytest.raises(UsageError, match="ended before its plan started"):
        resume(tmp_path, env=Boxes(), model=Replies())


def test_a_refused_plan_with_a_later_start_replays(tmp_path):
    refused = play("import os\nos.x", start_from=2, checkpoint={"box": 1}, out=tmp_path)
    assert again(tmp_path) == refused.result


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "neither a trace nor a JSON object"),
        ("[1, 2]", "holds another JSON value"),
        ('{"box": 1, "box": 2}', "names a key twice"),
        ('{"box": NaN}', "NaN is not JSON"),
        ('{"box": 1e999}', "too large"),
        ('{"box": ' + "9" * 5_000 + "}", "neither a trace nor a JSON object"),
        ('{"box": ' + "[" * 200_000 + "}", "neither a trace nor a JSON object"),
        ('{"' + "b" * 100_000 + '": 1}', "is not the name of a variable"),
        ('{"box": "' + "x" * 300_000 + '"}', "cannot be saved: larger than"),
        ('{"box": [' + "0," * 60_000 + "0]}", "cannot be saved: more than"),
        ("{" + ",".join(f'"v{n}": 1' for n in range(2_000)) + "}", "cannot be saved"),
        (b'{"box": "\xff"}', "neither a trace nor a JSON object"),
        (" " * (MAX_VARIABLES_BYTES + 1), "it is larger than"),
        ('{"event": "episode_started"}\n', "line 1 is in trace format 1"),
        ('{"event": "episode_started"}', "did not enter step 2"),
    ],
    ids=lambda value: None if len(value) > 40 else str(value),
)
def test_a_bad_file_of_variables_is_one_sentence_before_anything_is_written(content, said, tmp_path):
    file = tmp_path / "variables.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match=said) as caught:
        play(start_from=2, checkpoint=file, out=tmp_path / "run")
    message = str(caught.value)
    assert message.isprintable() and len(message) < 1_500
    assert not (tmp_path / "run").exists()


def damaged(**changes):
    return msgspec.to_builtins(msgspec.structs.replace(encode({"box": 1}, 1_000), **changes))


DAMAGED = {
    "an index out of range": damaged(names={"box": 9}),
    "an unknown tag": damaged(nodes=[["module", 0]]),
    "a name that is none": damaged(names={"a b": 0}),
    "a number as text": damaged(nodes=[["int", "os.system"]]),
    "a node that is a table": damaged(nodes=[{"a": 1}]),
    "a dropped name too long": damaged(dropped={"x" * 5_000: "why"}),
}


@pytest.mark.parametrize("checkpoint", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_checkpoint_in_a_trace_is_refused(checkpoint, tmp_path):
    play(start_from=2, checkpoint={"box": 1}, out=tmp_path / "one")

    def damage(lines):
        return [{**e, "checkpoint": checkpoint} if "checkpoint" in e else e for e in lines]

    rewrite(tmp_path / "one", damage)
    for step in (2, 3):
        with pytest.raises(UsageError, match=r"damaged|did not enter"):
            play(start_from=step, checkpoint=tmp_path / "one" / "trace.jsonl", out=tmp_path / "two")
    with pytest.raises(UsageError, match="damaged"):
        again(tmp_path / "one")
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"checkpoint": {"box": 1}},
        {"start_from": 2, "checkpoint": 5},
        {"start_from": 2, "checkpoint": {"box": print}},
        {"start_from": 2, "checkpoint": {3: 1}},
        {"start_from": 2, "checkpoint": Checkpoint({"box": 7}, [1])},
        {"start_from": 2, "checkpoint": "no such file"},
        {"start_from": 2, "checkpoint": "/dev/zero"},
        {"fixes": "some"},
        {"strict": "yes"},
    ],
    ids=str,
)
def test_wrong_arguments_are_one_sentence(options):
    with pytest.raises(UsageError):
        play(**options)


@pytest.mark.parametrize(
    "settings",
    [{"fixes": "some"}, {"strict": "yes"}, {"start_from": 10**12}, {"start_from": "2"}, {"limits": {"wall": 9.0}}],
    ids=str,
)
def test_a_trace_sets_only_what_is_harmless(settings, tmp_path):
    play(out=tmp_path)
    rewrite(tmp_path, lambda lines: [{**lines[0], "settings": settings}, *lines[1:]])
    with pytest.raises(UsageError):
        again(tmp_path)


def test_another_start_than_the_recorded_one_is_a_difference(tmp_path):
    play(start_from=2, checkpoint={"box": 1}, out=tmp_path)
    rewrite(tmp_path, lambda lines: [{**e, "settings": {}} if e["seq"] == 0 else e for e in lines])
    with pytest.raises(Diverged):
        again(tmp_path)


# ------------------------------------------------------------------ the command


def test_the_command_takes_the_options_and_its_run_replays(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.py").write_text(BARE.replace("'ball' in agent.open(box + 1)", "box == 5"))
    (tmp_path / "v.json").write_text('{"box": 5}')
    command = ["exec", "plan.py", "--env", "household", "--task", "clean/3", "--json"]
    start = ["--start-from", "2", "--checkpoint", "v.json"]
    assert main([*command, *start, "--out", "run"]) == 1
    assert json.loads(capsys.readouterr().out)["status"] == "finished"
    assert any(isinstance(e, PlanFixed) for e in events(tmp_path / "run"))
    (tmp_path / "v.json").unlink()
    assert main(["replay", "run"]) == 0
    capsys.readouterr()
    assert main([*command, "--fixes", "off"]) == 1
    assert json.loads(capsys.readouterr().out)["status"] == "rejected"
    for bad in (
        ["--start-from", "9"],
        start,
        ["--checkpoint", "plan.py"],
        ["--set", "fixes=some"],
        ["--set", "source=x"],
    ):
        assert main([*command, *bad]) == 2
        assert capsys.readouterr().err.count("\n") == 1


CLOCKS = """\
def solution(agent, start_from=1):
    import datetime, random, time, uuid
    if start_from <= 1:
        began = time.time()
        time.sleep(0.2)
        print(began, time.monotonic(), datetime.datetime.now(), uuid.uuid4(), random.random())
        agent.open(datetime.datetime.now().microsecond % 3)
        assert agent, 'Error in [Step 1]'
"""


def test_a_replay_reads_the_times_and_draws_the_numbers_of_the_run(tmp_path):
    first = play(CLOCKS, out=tmp_path)
    assert again(tmp_path) == first.result
    assert abs(float(first.outcome.output.split()[0]) - start_of(tmp_path).at) < 0.01


# ------------------------------------------------------------------ on tools


ON_TOOLS = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        weight = agent.weigh('ball')
        assert weight == 2, 'Error in [Step 1]'
        return weight
"""


def weigh(thing: str) -> int:
    """The weight of a thing."""
    return {"ball": 2}[thing]


def test_a_plan_is_checked_on_tools_as_by_the_command(tmp_path, capsys):
    (tmp_path / "tools.py").write_text('def weigh(thing: str) -> int:\n    "The weight."\n    return 2\n')
    (tmp_path / "plan.py").write_text(ON_TOOLS.replace("agent.weigh", "agent.weight"))
    tools = str(tmp_path / "tools.py")
    assert main(["check", str(tmp_path / "plan.py"), "--tools", tools, "--json"]) == 1
    refused = codeplan.check((tmp_path / "plan.py").read_text(), tools=tools)
    assert isinstance(refused, Rejected)
    assert [d["message"] for d in json.loads(capsys.readouterr().out)] == [d.message for d in refused.diagnostics]
    assert isinstance(codeplan.check(ON_TOOLS, tools=weigh, strict=True), Plan)
    assert isinstance(codeplan.check(PLAN, Boxes()), Plan)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, "give an environment"),
        ({"env": "household", "tools": weigh}, "tools is for tools"),
        ({"env": "household", "allow": ["x"]}, "allow is for tools"),
    ],
)
@pytest.mark.parametrize("use", [codeplan.check, codeplan.execute])
def test_a_plan_acts_in_an_environment_or_on_tools(use, given, wanted):
    with pytest.raises(UsageError, match=wanted):
        use(PLAN, **given)


def test_the_check_names_a_parameter_that_it_does_not_have():
    with pytest.raises(UsageError, match="no parameter 'stict'"):
        codeplan.check(ON_TOOLS, tools=weigh, stict=True)
