"""A bench as a package for verifiers: recorded prompts, and the environment's word as the reward of a reply."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path

import pytest
from support.reply_server import reply as completion
from support.reply_server import serve_replies

import codeplan
from codeplan.bench import BenchRecord, read_bench
from codeplan.bench.verifiers_package import read_prompts, reward_of
from codeplan.cli import main
from codeplan.recording.events import ModelCalled
from codeplan.recording.trace import Trace

FAILING = "```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        assert agent.location == 'nowhere', agent.report()\n```"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> BenchRecord:
    folder = tmp_path_factory.mktemp("bench")
    codeplan.bench.run("textcraft", ["adaplanner", "react"], n=2, out=folder)
    return read_bench(folder)


@pytest.fixture(scope="module")
def package(bench: BenchRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages") / "craft-plans"
    assert main(["export", str(bench.folder), "-o", str(folder), "--for", "verifiers"]) == 0
    return folder


def recorded(bench: BenchRecord) -> list[tuple[str, list, str, bool]]:
    """Task, messages and reply of each first plan, and whether it alone solved the task."""
    found = []
    for one in bench.outcomes:
        events = Trace.read(bench.folder / one.run)
        calls = [e for e in events if isinstance(e, ModelCalled)]
        if calls[0].purpose == "plan":
            alone = one.result.success and len(calls) == 1
            found.append((one.task.id, calls[0].messages, calls[0].completion.text, alone))
    return found


def test_the_package_has_each_prompt_to_the_letter(bench, package):
    prompts = read_prompts(package / "craft_plans" / "tasks.jsonl")
    assert [(p.task.id, p.messages) for p in prompts] == [(task, messages) for task, messages, *_ in recorded(bench)]
    assert tomllib.loads((package / "pyproject.toml").read_text())["project"]["name"] == "craft-plans"


def test_a_recorded_reply_earns_what_the_environment_says_and_a_broken_one_nothing(bench, package):
    prompts = read_prompts(package / "craft_plans" / "tasks.jsonl")
    solved = [(p, reply) for p, (_, _, reply, alone) in zip(prompts, recorded(bench), strict=True) if alone]
    assert solved
    for prompt, reply in solved:
        assert reward_of(prompt, reply) == 1.0
    for broken in ("", "I cannot.", "```python\nx = (\n```", FAILING, "```python\nimport os\nos.system('ls')\n```"):
        assert reward_of(prompts[0], broken) == 0.0


@pytest.mark.parametrize("name", ["Ünsinn", "1x", "a b", "x" * 61])
def test_a_folder_that_names_no_package_is_refused(bench, tmp_path, name, capsys):
    assert main(["export", str(bench.folder), "-o", str(tmp_path / name), "--for", "verifiers"]) == 2
    assert "is no name of a package" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_alone(bench, package, capsys):
    assert main(["export", str(bench.folder), "-o", str(package), "--for", "verifiers"]) == 2
    assert "name a new one" in capsys.readouterr().err


def test_a_bench_without_plans_has_no_tasks(tmp_path, capsys):
    codeplan.bench.run("textcraft", ["react"], n=1, out=tmp_path / "bench")
    assert main(["export", str(tmp_path / "bench"), "-o", str(tmp_path / "made"), "--for", "verifiers"]) == 2
    assert "no method wrote a plan" in capsys.readouterr().err


def test_verifiers_loads_the_package_and_scores_rollouts(bench, package, monkeypatch):
    """verifiers 0.4 needs another version of mcp than codeplan's tests: it has an environment of its own."""
    vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed")
    monkeypatch.syspath_prepend(str(package))
    monkeypatch.setenv("CODEPLAN_TEST_KEY", "sk-test")
    import craft_plans

    task_id, messages, reply, _ = next(one for one in recorded(bench) if one[3])

    async def rewards(endpoint):
        env = craft_plans.load_environment()
        task = next(each for each in env.taskset if each.data.name == task_id)
        client = vf.EvalClientConfig(base_url=endpoint.url, api_key_var="CODEPLAN_TEST_KEY")
        async with env.serving():
            episodes = [await env.run_episode(task, vf.ModelContext(model="m", client=client)) for _ in range(2)]
        return [(episode.ok, episode.traces[0].reward) for episode in episodes]

    with serve_replies() as endpoint:
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        endpoint.answer(completion(reply, usage=usage)).answer(completion(FAILING, usage=usage))
        assert asyncio.run(rewards(endpoint)) == [(True, 1.0), (True, 0.0)]
        assert [asked["messages"] for asked in endpoint.asked] == [messages, messages]
