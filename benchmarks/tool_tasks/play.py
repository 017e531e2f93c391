"""Plays one task with one runner, and prints a line of JSON about it.

    python benchmarks/tool_tasks/play.py --task largest --runner plans --url http://127.0.0.1:8123/v1 --record FILE
    python benchmarks/tool_tasks/play.py --task largest --runner smolagents --replay FILE

Runners: plans (AdaPlanner), react, smolagents (CodeAgent, whose prompt has the schemas of results), smolagents-plain
(its default: without these schemas, a shorter prompt). TOOL_TASKS_SERVERS names the folder that install.sh made.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model import OutOfReplies, RecordedModel, serve

from codeplan import Completion, Message
from codeplan.bench.bench_spec import read_spec
from codeplan.bench.tool_tasks import TaskWorld, ToolTask, ToolTaskSet
from codeplan.errors import CodeplanError
from codeplan.types import Usage

HERE = Path(__file__).resolve().parent
METHODS = {"plans": "adaplanner", "react": "react"}
RUNNERS = (*METHODS, "smolagents", "smolagents-plain")


class CountedModel:
    """The recorded model behind codeplan's port."""

    name = "recorded"

    def __init__(self, model: RecordedModel) -> None:
        self._model = model

    def complete(
        self, messages: Sequence[Message], *, purpose: str, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """The model's answer, with the tokens that it took."""
        before = self._model.input_tokens, self._model.output_tokens
        text = self._model.answer(messages, stop)
        used = self._model.input_tokens - before[0], self._model.output_tokens - before[1]
        return Completion(text, Usage(*used))


def play(tasks: ToolTaskSet, task: ToolTask, runner: str, options: argparse.Namespace) -> dict[str, Any]:
    """One episode; the model's calls are recorded even if it breaks off."""
    with tasks.open_world(task) as world:
        url = options.url or (f"http://127.0.0.1:{options.port}/v1" if options.port else "")
        model = RecordedModel(world.folder, url=url, name=options.model, replay=options.replay)
        run = play_codeplan if runner in METHODS else play_smolagents
        try:
            outcome = run(tasks, task, world, model, runner, options.out)
        except (CodeplanError, OutOfReplies) as error:
            outcome = {"tool_calls": None, "reason": f"{type(error).__name__}: {error}"}
        finally:
            if options.record:
                model.save(options.record)
        verdict = world.verify(None, None) if world.verify else False
    used = {"calls": model.calls, "input_tokens": model.input_tokens, "output_tokens": model.output_tokens}
    return {
        "task": task.name,
        "runner": runner,
        "success": verdict is True,
        **used,
        "changed": model.changed,
        **outcome,
    }


def play_codeplan(
    tasks: ToolTaskSet, task: ToolTask, world: TaskWorld, model: RecordedModel, runner: str, out: Path | None
) -> dict[str, Any]:
    """One episode of codeplan's, by plans or by one call at a time."""
    result = tasks.run_in(world, task, method=METHODS[runner], model=CountedModel(model), out=out)
    return {"tool_calls": result.actions, "reason": result.reason}


def play_smolagents(
    tasks: ToolTaskSet, task: ToolTask, world: TaskWorld, model: RecordedModel, runner: str, out: Path | None
) -> dict[str, Any]:
    """One run of smolagents' CodeAgent, in its own environment; its endpoint is in front of the model."""
    server = serve(model)
    given = {
        "goal": world.goal,
        "servers": [{"command": list(s.command), "env": dict(s.env), "cwd": s.cwd} for s in world.servers],
        "url": f"http://127.0.0.1:{server.server_address[1]}/v1",
        "checks": str(HERE),
        "verify": str(task.verify).partition(":")[2],
        "folder": str(world.folder),
        "structured": runner == "smolagents",
    }
    python = Path(os.environ["TOOL_TASKS_SERVERS"], "smolagents", "bin", "python")
    command = [str(python), str(HERE / "smolagents_runner.py")]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    server.shutdown()
    lines = done.stdout.strip().splitlines()
    try:
        ended = json.loads(lines[-1])
    except (IndexError, ValueError):
        return {"tool_calls": None, "reason": f"smolagents failed: {done.stderr.strip()[-500:]}"}
    return {"tool_calls": ended["tool_calls"], "reason": ended["error"] or "it gave its final answer"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", required=True, help="its name in tasks.toml, or its number from 1")
    parser.add_argument("--runner", required=True, choices=RUNNERS)
    parser.add_argument("--url", default="", help="an OpenAI-compatible endpoint")
    parser.add_argument("--port", type=int, help="that of an endpoint on this machine, instead of --url")
    parser.add_argument("--model", default="m", help="the model's name there")
    parser.add_argument("--record", type=Path, help="a file for the replies")
    parser.add_argument("--replay", type=Path, help="a file with recorded replies, instead of an endpoint")
    parser.add_argument("--out", type=Path, help="a new folder for codeplan's trace")
    options = parser.parse_args()
    tasks = read_spec(HERE / "tasks.toml").tool_tasks
    assert tasks is not None, "tasks.toml has tasks"
    named = tasks.tasks[int(options.task) - 1] if options.task.isdecimal() else tasks.find(options.task)
    print(json.dumps(play(tasks, named, options.runner, options)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
