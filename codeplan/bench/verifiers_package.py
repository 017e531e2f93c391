"""A bench's tasks as a package for the library verifiers: recorded prompts, rewarded by their environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from codeplan import plugins
from codeplan.bench.figures import create_export
from codeplan.bench.store import BenchRecord
from codeplan.bench.training_examples import PARTS
from codeplan.errors import UsageError
from codeplan.protocols import LLM
from codeplan.recording.events import EpisodeStarted, Event, ModelCalled, SpanOpened
from codeplan.recording.trace import Trace
from codeplan.runner.environment_files import require_recorded
from codeplan.runner.episodes import TRACE_NAME
from codeplan.runner.given_plans import execute
from codeplan.sandbox import Sandbox
from codeplan.sandbox.language.extraction import add_header
from codeplan.types import Message, Task, Value
from codeplan.untrusted import files
from codeplan.untrusted.values import in_quotes

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\Z")
_MAX_NAME: Final = 60

MAX_TASKS_BYTES: Final = 1 << 30
"""Maximum size of a package's file of tasks."""

_PYPROJECT: Final = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
description = "Plans for tasks of codeplan's environments, as an environment for verifiers."
requires-python = ">=3.11"
dependencies = ["codeplan", "verifiers>=0.4,<0.5"]

[tool.setuptools]
packages = ["{module}"]

[tool.setuptools.package-data]
{module} = ["tasks.jsonl"]
"""

_MODULE: Final = '''\
"""Tasks of codeplan's environments: the model writes a plan, which runs in the cage; the environment judges it."""

import asyncio
from pathlib import Path

import openai
import verifiers.v1 as vf
from codeplan.bench.verifiers_package import RecordedPrompt, read_prompts, reward_of


class PlanData(vf.TaskData):
    """A recorded prompt, with what makes its world again."""

    recorded: dict


class PlanTask(vf.Task[PlanData]):
    """A plan earns 1 if the environment says that the task succeeded, otherwise 0."""

    @vf.reward
    async def solved(self, trace: vf.Trace) -> float:
        recorded = RecordedPrompt.of(self.data.recorded)
        return await asyncio.to_thread(reward_of, recorded, trace.last_reply)


class PlanTaskset(vf.Taskset[PlanTask, vf.TasksetConfig]):
    """The tasks beside this module."""

    def load(self) -> list[PlanTask]:
        rows = read_prompts(Path(__file__).with_name("tasks.jsonl"))
        return [PlanTask(PlanData(name=r.task.id, prompt=r.messages, recorded=r.data), self.config.task) for r in rows]


class OneReply(vf.Harness[vf.HarnessConfig]):
    """Sends the recorded messages and takes one reply; the model gets no tools, and nothing runs beside it."""

    APPENDS_SYSTEM_PROMPT, EXECUTES_CODE, NEEDS_CONTAINER = True, False, False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, tool_interception_url=None):
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            await client.chat.completions.create(model=ctx.model, messages=data.recorded["messages"])
        return vf.ProgramResult(0, "", "")


class PlanEnvConfig(vf.EnvConfig):
    """One agent, on this machine: it only sends messages, and plans run in codeplan's cage."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PlanEnv(vf.Env[PlanEnvConfig]):
    """One reply for each task."""

    async def run(self, task, agents) -> None:
        await agents.agent.run(task)


def load_environment(**settings) -> vf.Env:
    """The environment, for Python; ``settings`` are those of verifiers' EnvConfig."""
    return vf.load_environment(PlanEnvConfig(taskset={"id": __name__}, **settings))


__all__ = ["OneReply", "PlanEnv", "PlanTaskset"]
'''


class RecordedPrompt(Value, frozen=True):
    """The messages that a method sent for its first plan, and the task with the environment's own settings."""

    env: str
    task: Task
    messages: list[Message]
    settings: dict[str, Any] = {}

    @property
    def data(self) -> dict[str, Any]:
        """The prompt as plain data."""
        made: dict[str, Any] = msgspec.to_builtins(self)
        return made

    @staticmethod
    def of(data: Mapping[str, Any]) -> RecordedPrompt:
        """The prompt of plain data. Raises: UsageError: it is none."""
        try:
            return msgspec.convert(data, RecordedPrompt)
        except msgspec.ValidationError as e:
            raise UsageError(f"a task of the package is damaged: {e}") from None


def reward_of(recorded: RecordedPrompt, reply: str, model: str | LLM = "scripted") -> float:
    """1 if the plan in the reply solves the task in its environment, otherwise 0; ``model`` answers its ``ask_llm``.

    Raises: as ``codeplan.execute``; a reply without a plan, or with a refused one, earns 0.
    """
    source = add_header(Sandbox().read_reply(reply))
    return float(execute(source, recorded.env, recorded.task, model, **recorded.settings).result.success)


def write_package(bench: BenchRecord, folder: Path) -> int:
    """Write the package into a new folder, whose name is the package's; return how many tasks it has.

    Raises: UsageError: the name is none, a file exists or cannot be written, no method wrote a plan, or an environment
    is not installed.
    """
    name = folder.absolute().name
    if not _NAME.match(name) or len(name) > _MAX_NAME:
        raise UsageError(f"{in_quotes(name, 80)} is no name of a package; name a folder such as my-plans")
    lines = [msgspec.json.encode(prompt) + b"\n" for prompt in _prompts_of(bench)]
    if not lines:
        raise UsageError(f"{bench.folder} has no tasks for verifiers: no method wrote a plan in an environment")
    module = name.replace("-", "_")
    try:
        (folder / module).mkdir(parents=True)
    except OSError as e:
        raise UsageError(f"the folder {folder} cannot be made: {e.strerror}; name a new one") from None
    create_export(folder / "pyproject.toml", _PYPROJECT.format(name=name, module=module).encode())
    create_export(folder / module / "__init__.py", _MODULE.encode())
    create_export(folder / module / "tasks.jsonl", b"".join(lines))
    return len(lines)


def read_prompts(path: Path) -> list[RecordedPrompt]:
    """The prompts of a package. Raises: UsageError: one is damaged."""
    with files.open_user_file(path) as file:
        lines = files.read_bounded(file, MAX_TASKS_BYTES, path).splitlines()
    return [RecordedPrompt.of(msgspec.json.decode(line)) for line in lines]


def _prompts_of(bench: BenchRecord) -> Iterator[RecordedPrompt]:
    """Each different prompt of the bench's whole tasks once, in the order of the grid."""
    seen: set[bytes] = set()
    for outcome in bench.outcomes:
        prompt = None if outcome.broken else _first_prompt(Trace.read(bench.folder / outcome.run / TRACE_NAME))
        if prompt and (written := msgspec.json.encode(prompt)) not in seen:
            seen.add(written)
            yield prompt


def _first_prompt(events: Iterator[Event] | Any) -> RecordedPrompt | None:
    """What the method of an episode sent for its first plan; None without an environment, or a plan for all of it."""
    header: EpisodeStarted | None = None
    for event in events:
        match event:
            case EpisodeStarted():
                header = event
            case SpanOpened(kind=kind) if kind in PARTS:
                return None
            case ModelCalled(purpose="plan") if header and header.env != "tools":
                return RecordedPrompt(header.env, header.task, event.messages, _env_settings(header))
    return None


def _env_settings(header: EpisodeStarted) -> dict[str, Any]:
    """The environment's settings among those of an episode.

    Raises: UsageError: the environment is not installed, or was given something that no recording may set.
    """
    require_recorded(header.env)
    specs = {spec.name: spec for spec in plugins.setting_specs(plugins.load_factory("codeplan.envs", header.env))}
    chosen = {name: value for name, value in header.settings.items() if name in specs}
    if odd := next((name for name, value in chosen.items() if not specs[name].allows_foreign(value)), None):
        raise UsageError(f"the bench's environment has the setting {odd}, which a package cannot carry; run it without")
    return chosen
