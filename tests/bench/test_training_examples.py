"""Examples for training: the replies of plans that solved their tasks, and pairs of a failed plan and a better one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

import codeplan
from codeplan.bench import BenchCell, BenchGrid, BenchRecord, EpisodeOutcome, read_bench
from codeplan.bench.training_examples import examples_of, written_plans
from codeplan.cli import main
from codeplan.errors import UsageError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.methods.adapt import Adapt
from codeplan.recording.event_log import Events
from codeplan.recording.events import ModelCalled, PlanDrafted, PlanRejected, PlanStarted
from codeplan.recording.trace import Trace
from codeplan.types import Message


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> BenchRecord:
    folder = tmp_path_factory.mktemp("bench")
    codeplan.bench.run("household", ["adaplanner", "react"], n=2, out=folder, mistakes="many")
    return read_bench(folder)


def exported(bench: BenchRecord, training: str, path: Path) -> list[dict[str, object]]:
    assert main(["export", str(bench.folder), "-o", str(path), "--for", training]) == 0
    return [json.loads(line) for line in path.read_text().splitlines()]


def trace_of(bench: BenchRecord, example: dict[str, object]) -> Events:
    (found,) = [one for one in bench.outcomes if one.key == (example["cell"], example["task"], example["repeat"])]
    assert found.result.success
    return Trace.read(bench.folder / found.run)


def call_before(trace: Events, seq: object) -> tuple[list[Message], str]:
    """The messages and the reply of the model call after which the plan with this number was recorded."""
    events = [event for event in trace if isinstance(event, ModelCalled | PlanDrafted)]
    (at,) = [n for n, event in enumerate(events) if event.seq == seq and isinstance(event, PlanDrafted)]
    call = events[at - 1]
    assert isinstance(call, ModelCalled)
    return call.messages, call.completion.text


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def test_an_exported_chat_is_the_recorded_one_of_the_plan_that_ran_last(bench: BenchRecord, tmp_path: Path) -> None:
    chats = exported(bench, "sft", tmp_path / "chats.jsonl")
    planned = [one for one in bench.outcomes if one.cell.startswith("household.adaplanner") and one.result.success]
    assert [one["task"] for one in chats] == [one.task.id for one in planned]
    for chat in chats:
        trace = trace_of(bench, chat)
        messages, reply = call_before(trace, chat["plan"])
        assert chat["messages"] == [*messages, said(reply)]
        assert chat["plan"] == max(event.seq for event in trace if isinstance(event, PlanDrafted))


def test_an_exported_pair_is_of_recorded_plans_for_the_prompt_of_the_failed_one(
    bench: BenchRecord, tmp_path: Path
) -> None:
    pairs = exported(bench, "preferences", tmp_path / "pairs.jsonl")
    traces = [Trace.read(bench.folder / one.run) for one in bench.outcomes if one.result.success]
    drafted = [[event for event in trace if isinstance(event, PlanDrafted)] for trace in traces]
    assert len(pairs) == sum(len(plans) - 1 for plans in drafted if plans)
    assert any(pair["merged"] for pair in pairs)
    for pair in pairs:
        trace = trace_of(bench, pair)
        (plan,) = [event for event in trace if event.seq == pair["plan"]]
        assert isinstance(plan, PlanDrafted)
        assert pair["merged"] == (plan.steps is not None)
        prompt, rejected = call_before(trace, pair["failed"])
        assert (pair["prompt"], pair["rejected"]) == (prompt, [said(rejected)])
        _, reply = call_before(trace, pair["plan"])
        code = plan.source.strip("\n")
        assert pair["chosen"] == [said(f"```python\n{code}\n```" if pair["merged"] else reply)]
        (start,) = [e.start_from for e in trace if isinstance(e, PlanStarted) and e.seq > plan.seq]
        assert pair["start_from"] == start


def play(folder: Path, replies: list[str], *, verify: Callable[[int], bool] = lambda value: value == 3) -> BenchRecord:
    """A bench of one goal on a tool, answered by these replies."""

    def add(a: int, b: int) -> int:
        return a + b

    said = iter(replies)
    run = folder / "runs" / "c" / "t"
    result = codeplan.do("Add", tools=add, model=lambda messages: next(said), verify=verify, out=run)
    task = codeplan.Task("t")
    grid = BenchGrid((BenchCell("c", "s", "tools", "m", "f"),), {"s": (task,)}, 1, "0")
    return BenchRecord(folder, grid, (EpisodeOutcome("c", task, 0, "runs/c/t", result),))


def plan(line: str) -> str:
    return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        {line}\n```"


def test_refused_plans_fail_and_plans_that_ask_to_replan_do_not(tmp_path: Path) -> None:
    looks, refused, right = plan("replan(str(agent.add(1, 1)))"), plan("return agent.sum(1, 2)"), plan("return 3")
    record = play(tmp_path, [looks, refused, right])
    trace = Trace.read(tmp_path / "runs" / "c" / "t")
    assert any(isinstance(event, PlanRejected) for event in trace)
    (pair,) = examples_of(record, "preferences")
    assert (pair["rejected"], pair["chosen"]) == ([said(refused)], [said(right)])


def test_no_example_is_made_of_an_attackers_success_or_of_an_unsolved_task(tmp_path: Path) -> None:
    record = play(tmp_path / "solved", [plan("return 3")])
    assert len([*examples_of(record, "sft")]) == 1
    (outcome,) = record.outcomes
    assert not [*examples_of(replace(record, outcomes=(replace(outcome, hijacked=True),)), "sft")]
    assert not [*examples_of(play(tmp_path / "failed", [plan("give_up('no')")]), "sft")]


def test_plans_for_parts_of_a_task_are_left_out(tmp_path: Path) -> None:
    method = Adapt(executor=AdaPlanner())
    codeplan.run("household", method=method, out=tmp_path / "run")
    plans = written_plans(Trace.read(tmp_path / "run"))
    assert plans
    assert not any(plans)


def test_wrong_uses_are_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    codeplan.bench.run("household", "react", kind="clean", n=1, out=folder)
    command = ["export", str(folder), "-o", str(tmp_path / "x.jsonl")]
    assert main([*command, "--for", "sft", "--rows", "calls"]) == 2
    assert main([*command, "--for", "sft"]) == 2  # ReAct writes no plans
    assert main([*command, "--for", "dpo"]) == 2
    assert main(["export", str(folder), "-o", str(tmp_path / "x.csv"), "--for", "sft"]) == 2
    with pytest.raises(UsageError, match="there are: sft, preferences"):
        next(examples_of(read_bench(folder), "dpo"))  # type: ignore[arg-type]
    assert [*tmp_path.iterdir()] == [folder]
