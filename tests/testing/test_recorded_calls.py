"""Tests of plans over the user's own tools: the recorded answers stand for the tools, and no tool is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.boxes import Replies
from support.plan_suites import messages, verdicts

import codeplan
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.events import EpisodeEnded
from codeplan.recording.tape import TapeRecorder
from codeplan.recording.trace import Trace
from codeplan.runner.recorded_calls import UnrecordedCall, read_recorded_calls
from codeplan.testing.manifest import ManifestError
from codeplan.testing.scaffold import new_test
from codeplan.types import Answer, Observation

PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] look')
        names = agent.fruits()
        assert names, f'Error in [Step 1]: there are no fruits. {agent.report()}'
    if start_from <= 2:
        print('[Step 2] count')
        counts = {name: agent.count(name) for name in names}
        assert counts, f'Error in [Step 2]: nothing was counted. {agent.report()}'
    return max(counts, key=counts.get)
"""
STEP = """```python
if start_from <= 2:
    print('[Step 2] count what is there')
    counts = {name: agent.count(name) for name in names if name != 'plums'}
    assert counts, f'Error in [Step 2]: nothing was counted. {agent.report()}'
    return max(counts, key=counts.get)
```"""


class Fruits:
    """Counts its calls, and how many plums there are changes with each look."""

    def __init__(self, plums: int | None = 0) -> None:
        self._stock = {"apples": 3, "plums": plums, "pears": 12}
        self._calls = 0

    def fruits(self) -> list[str]:
        """The names."""
        self._calls += 1
        return list(self._stock)

    def count(self, fruit: str) -> int:
        """How many there are."""
        self._calls += 1
        found = self._stock[fruit]
        if found is None:
            raise LookupError(f"there are no {fruit}")
        return found


def record(folder: Path, *replies: str, tools: Fruits | None = None, **options: Any) -> Path:
    replies = replies or (PLAN,)
    codeplan.do("the most", tools=tools or Fruits(), model=Replies(*replies), out=folder / "most", **options)
    return folder / "most"


def scaffold(folder: Path, *replies: str, **options: Any) -> Path:
    """A test made of a recorded episode; returns its manifest."""
    return new_test(record(folder, *replies, **options), folder / "tests")[1]


def test_an_episode_with_tools_becomes_a_test_that_calls_none(tmp_path, capsys):
    tools = Fruits()
    run = record(tmp_path, tools=tools, verify=lambda value: value == "pears")
    called = tools._calls
    assert main(["new-test", str(run), "-o", str(tmp_path / "tests")]) == 0
    written = [Path(line).name for line in capsys.readouterr().out.split()]
    assert written == ["most.plan.py", "most.plan.toml", "most.tape.jsonl"]
    assert "expect = { steps = [1, 2], actions = 4, asks = 0 }" in (tmp_path / "tests" / "most.plan.toml").read_text()
    assert main(["test", str(tmp_path / "tests"), "-q", "-p", "no:cacheprovider"]) == 0
    assert "2 passed" in capsys.readouterr().out
    assert tools._calls == called == 4


def test_a_plan_that_ran_to_its_end_without_a_verifier_must_return_the_same(tmp_path):
    manifest = scaffold(tmp_path)
    assert [messages(v) for v in verdicts(manifest).values()] == [[], []]
    plan = manifest.with_name("most.plan.py")
    plan.write_text(plan.read_text().replace("max(", "min("))
    (message, *_) = messages(verdicts(manifest)["goal"])
    assert message.startswith("the plan ran to its end without success: it returned 'plums'; the recorded plan ")
    assert "returned 'pears'" in message


def test_a_call_without_a_recorded_answer_is_named(tmp_path, capsys):
    manifest = scaffold(tmp_path)
    plan = manifest.with_name("most.plan.py")
    plan.write_text(plan.read_text().replace("agent.count(name)", "agent.count(name.upper())"))
    with pytest.raises(UnrecordedCall, match=r"count\(fruit='APPLES'\), which the recorded plan did not call at all"):
        verdicts(manifest)
    assert main(["test", str(manifest), "-q", "-p", "no:cacheprovider"]) == 1
    assert "the plan called count(fruit='APPLES')" in capsys.readouterr().out
    plan.write_text(PLAN.replace("names = agent.fruits()", "agent.fruits(); names = agent.fruits()"))
    with pytest.raises(UnrecordedCall, match=r"fruits\(\), which the recorded plan did not call as often"):
        verdicts(manifest)


def test_of_a_refined_episode_the_last_plans_calls_count(tmp_path):
    """The calls of the first plan's failed step are not those of the last plan."""
    run = record(tmp_path, PLAN, STEP, tools=Fruits(plums=None), verify=lambda value: value == "pears", tries=2)
    end = Trace.read(run / "trace.jsonl")[-1]
    assert isinstance(end, EpisodeEnded)
    result = end.result
    assert result.success and result.refinements == 1 and result.actions == 5
    manifest = new_test(run, tmp_path / "tests")[1]
    assert "actions" not in manifest.read_text()
    (verdict,) = verdicts(manifest).values()
    assert messages(verdict) == []
    assert [made.call.arguments.get("fruit") for made in verdict.runs[0].action_events] == [None, "apples", "pears"]


def test_a_recorded_failure_is_expected_to_fail_again(tmp_path):
    manifest = scaffold(tmp_path, tools=Fruits(plums=None), tries=1)
    assert "success = false" in manifest.read_text()
    (verdict,) = verdicts(manifest).values()
    assert messages(verdict) == []
    assert verdict.runs[0].ending == "LookupError was raised in step 2"


def test_a_value_that_the_verifier_refused_is_no_success(tmp_path):
    manifest = scaffold(tmp_path, tries=1, verify=lambda value: "not this one")
    assert "success = false" in manifest.read_text()
    assert [messages(v) for v in verdicts(manifest).values()] == [[]]


def test_mutants_that_make_other_calls_are_killed_and_faults_of_texts_do_not_apply(tmp_path, capsys):
    manifest = scaffold(tmp_path)
    text = manifest.read_text().replace('faults = "none"', 'faults = ["nothing", "popup", "slow"]')
    manifest.write_text(text)
    assert main(["test", str(manifest), "-q", "-rs", "-p", "no:cacheprovider"]) == 0
    assert "2 passed, 3 skipped" in capsys.readouterr().out
    (manifest.with_name("most.plan.py")).write_text(
        PLAN.replace("agent.count(name)", "agent.count(fruit=name or 'none')")
    )
    assert main(["mutate", str(manifest), "--json"]) in (0, 1)
    (score,) = json.loads(capsys.readouterr().out)
    assert score["killed"] > 0


SWALLOWS = PLAN.replace(
    "counts = {name: agent.count(name) for name in names}",
    """counts = {}
        for name in names:
            try:
                counts[name] = agent.count(name)
            except Exception:
                counts[name] = 0""",
)
TRIES_AGAIN = SWALLOWS.replace("counts[name] = 0", "counts[name] = agent.count(name)")


@pytest.mark.parametrize(("plan", "unnoticed"), [(PLAN, 0), (TRIES_AGAIN, 0), (SWALLOWS, 1)])
def test_a_tool_that_fails_must_end_the_plan_or_make_no_difference(plan, unnoticed, tmp_path):
    manifest = scaffold(tmp_path, plan)
    manifest.write_text(manifest.read_text().replace('faults = "none"', 'faults = ["tool-error"]'))
    found = verdicts(manifest)["goal[tool-error]"]
    assert (len(found.runs), len(messages(found))) == (4, unnoticed)
    assert all(
        "a tool fails, at " in m and "'pears'" in m and "in step 2, and no assertion noticed: the plan ran" in m
        for m in messages(found)
    )


def test_each_test_of_tools_is_named_after_its_episodes_folder(tmp_path):
    run = record(tmp_path)
    run.rename(tmp_path / "week 7")
    assert [p.name for p in new_test(tmp_path / "week 7", tmp_path / "tests")][:2] == [
        "week_7.plan.py",
        "week_7.plan.toml",
    ]


def test_a_plan_that_went_on_from_an_earlier_run_makes_no_test(tmp_path):
    """Its first steps ran elsewhere, so there are no answers for them."""
    (tmp_path / "tools.py").write_text(
        "def fruits() -> list[str]:\n    return ['a']\ndef count(fruit: str) -> int:\n    return 1\n"
    )
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "start.json").write_text('{"names": ["a"]}')
    plan, start, run = (str(tmp_path / name) for name in ("plan.py", "start.json", "run"))
    tools = ("--tools", str(tmp_path / "tools.py"))
    assert main(["exec", plan, *tools, "--start-from", "2", "--checkpoint", start, "--out", run, "-q"]) == 1
    with pytest.raises(UsageError, match="went on with variables of an earlier run"):
        new_test(tmp_path / "run", tmp_path / "tests")


# ------------------------------------------------------------------ manifests and tapes of strangers


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('env = "household"', 'calls: recorded calls stand for tools; write env = "tools", or remove this key'),
        ('calls = "../most/trace.jsonl"', "calls: there is no file '../most/trace.jsonl' beside the manifest"),
        ('calls = "link"', "calls: there is no file 'link' beside the manifest"),
        ("settings = { folder = 1 }", "settings: recorded calls have no settings; remove them"),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(tmp_path, line, said):
    manifest = scaffold(tmp_path)
    (tmp_path / "tests" / "link").symlink_to(tmp_path / "most" / "trace.jsonl")
    key = line.partition(" = ")[0]
    kept = [old for old in manifest.read_text().splitlines() if not old.startswith(f"{key} =")]
    manifest.write_text("\n".join([line, *kept]))
    with pytest.raises(ManifestError) as caught:
        verdicts(manifest)
    assert said in str(caught.value)


def test_tools_without_recorded_calls_are_no_environment(tmp_path):
    manifest = scaffold(tmp_path)
    manifest.write_text("\n".join(x for x in manifest.read_text().splitlines() if not x.startswith("calls")))
    with pytest.raises(ManifestError, match="there is no environment 'tools'"):
        verdicts(manifest)


def tape(path: Path, *episodes: list[Any]) -> Path:
    recorder = TapeRecorder(path)
    for events in episodes:
        on_event = recorder.start_episode()
        for event in events:
            on_event(event)
    recorder.close()
    return path


def changed(events: list[Any], kind: str, **parts: Any) -> list[Any]:
    """The events; those of a kind have other parts."""
    import msgspec

    return [msgspec.structs.replace(e, **parts) if type(e).__name__ == kind else e for e in events]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda events: [events, events], "holds 2 episodes; one with recorded calls holds 1"),
        (lambda events: [], "holds 0 episodes"),
        (lambda events: [events[:-1]], "holds no finished episode with tools"),
        (lambda events: [events[:1]], "holds no finished episode with tools"),
        (lambda events: [changed(events, "EpisodeStarted", tools=())], "holds no finished episode with tools"),
        (
            lambda events: [changed(events, "EpisodeStarted", tools=events[0].tools * 2)],
            "cannot stand for tools: the trace's header is damaged: its tools: two tools have the name 'fruits'",
        ),
        (
            lambda events: [changed(events, "CallAnswered", answer=Answer(observation=Observation("Empty.")))],
            "cannot stand for tools: an answer is that of a world of text",
        ),
        (
            lambda events: [changed(events, "CallAnswered", answer=Answer({"$int": 5}))],
            "cannot stand for tools: an unknown form: an object whose only key begins with $",
        ),
    ],
)
def test_a_tape_that_cannot_stand_for_tools_says_why(tmp_path, change, said):
    events = Trace.read(record(tmp_path) / "trace.jsonl")
    with pytest.raises(UsageError) as caught:
        read_recorded_calls(tape(tmp_path / "x.tape.jsonl", *change(events)))
    assert said in str(caught.value)


def test_values_are_compared_as_json_has_them(tmp_path):
    events = Trace.read(record(tmp_path, PLAN.replace("max(counts, key=counts.get)", "(1, True)")) / "trace.jsonl")
    calls = read_recorded_calls(tape(tmp_path / "x.tape.jsonl", events))
    assert calls.judge((1, True)).success and calls.judge([1, True]).success
    assert not calls.judge([1, 1]).success and not calls.judge(None).success
    assert calls.judge("x" * 300_000).text == "it returned None; the recorded plan returned [1, True]"
