"""Tasks on the user's own tools: goals, tools, servers and verifiers from a TOML file.

    [servers.files]
    command = "npx"
    args = ["-y", "@modelcontextprotocol/server-filesystem", "{folder}"]

    [[tasks]]
    name = "largest"
    goal = "Write the name of the largest file in {folder} into answer.txt there."
    servers = ["files"]
    tools = ["tools.py:count"]
    files = "fixtures/notes"          # copied into the task's folder
    setup = "fixtures.py:make_notes"  # called with the task's folder
    verify = "checks.py:largest"      # verify(value, tools, folder)
    allow = ["*"]
    flows = "flows.toml"              # or FILE.py:NAME: which data may reach which call

Each episode has a new folder, ``{folder}``. ``{here}`` is the file's own.
"""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from codeplan.envs.registry import take_of_each_kind
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.protocols import BaseEnvironment
from codeplan.runner.episodes import run
from codeplan.runner.tools import ToolSources, collect_tools, open_tools, read_flows
from codeplan.tools.approvals import GivenPattern, given_patterns, require_callable
from codeplan.tools.environment import ToolEnvironment, ToolErrors
from codeplan.tools.failures import failure_sentence, require_failure
from codeplan.tools.mcp import DEFAULT_SECONDS, ServerAddress, parse_entry, server_of_entry
from codeplan.tools.python_tools import function_of_file
from codeplan.tools.toolset import Toolset, python_tools
from codeplan.types import Result, Task
from codeplan.untrusted.texts import echo
from codeplan.untrusted.tracebacks import traceback_text
from codeplan.untrusted.values import in_quotes

VERIFY_FORM: Final = "verify(value, tools, folder) -> bool or str"
SETUP_FORM: Final = "setup(folder)"

_OWN_TABLES: Final = ("tasks", "servers", "allow", "deny", "flows", "mcp_timeout", "tool_errors")
_tool_names: dict[tuple[str, str], tuple[str, ...]] = {}
"""The tools of tasks, by a file's folder and a task's name."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}\Z", re.ASCII)


class TasksOnTools(Protocol):
    """Where a bench's tasks on tools come from. It must be picklable."""

    @property
    def needs_trust(self) -> dict[str, str]:
        """What the tasks reach on this machine, by name."""
        ...

    def example(self) -> BaseEnvironment:
        """An environment to check methods and settings with."""
        ...

    def select(self, kind: str | None, n: int | None, suite: str) -> tuple[Task, ...]:
        """The suite's tasks of a kind, at most ``n`` of each kind. Raises: UsageError: there is none."""
        ...

    def run(self, name: str, on_hijack: Callable[[bool], object], **options: Any) -> Result:
        """Run one episode. ``on_hijack`` is called after one with an attacker: whether their goal was reached."""
        ...


class ToolTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task. ``servers`` are names of the file's servers; ``tools``, ``setup`` and ``verify`` name Python files.

    ``files`` is a folder that is copied before ``setup`` is called. Raises: UsageError: name or goal are unusable.
    """

    name: str
    goal: str
    kind: str = "task"
    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: str | None = None
    setup: str | None = None
    verify: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    flows: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise UsageError(f"the task {in_quotes(self.name)} needs a name of letters, digits, - and _, at most 80")
        if not self.goal.strip():
            raise UsageError(f"the task {self.name} has an empty goal; say in a sentence what is to be done")
        if not self.servers and not self.tools:
            raise UsageError(f"the task {self.name} has no tools; give it tools or servers")


class ToolTaskSet(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of one file. ``here`` is its folder; paths are relative to it. ``allow`` and ``deny`` hold for all, and
    so do ``flows``, unless a task has its own.
    """

    here: str
    tasks: tuple[ToolTask, ...]
    servers: dict[str, dict[str, Any]] = {}
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    flows: str | None = None
    mcp_timeout: float = DEFAULT_SECONDS
    tool_errors: ToolErrors = "plan"

    def __post_init__(self) -> None:
        if not self.tasks:
            raise UsageError("there are no tasks; describe at least one under [[tasks]]")
        counts = Counter(task.name for task in self.tasks)
        if twice := next((name for name, count in counts.items() if count > 1), None):
            raise UsageError(f"two tasks are called {twice}; rename one")
        for name, entry in self.servers.items():
            parse_entry(_server(name), entry)
        for task in self.tasks:
            if unknown := next((name for name in task.servers if name not in self.servers), None):
                raise UsageError(f"the task {task.name} uses the server {in_quotes(unknown)}, which the file lacks")

    @property
    def needs_trust(self) -> dict[str, str]:
        """What the tasks start, import, copy and may call on this machine, by name, for a user who decides whether to
        trust the file.
        """
        servers = {
            f"servers.{name}{'.' if part else ''}{part}": text
            for name, entry in self.servers.items()
            for part, text in parse_entry(_server(name), entry).described().items()
        }
        named = (f for t in self.tasks for f in (*t.tools, t.setup, t.verify, t.flows, self.flows) if f and ".py" in f)
        python = {f"{f.partition('.py')[0]}.py" for f in named}
        rest = {
            "python": python,
            "files": {task.files for task in self.tasks if task.files},
            "allow": {*self.allow, *itertools.chain(*(task.allow for task in self.tasks))},
        }
        return servers | {name: ", ".join(sorted(found)) for name, found in rest.items() if found}

    def select(self, kind: str | None, n: int | None, suite: str = "") -> tuple[Task, ...]:
        """The tasks of a kind, at most ``n`` of each kind. A file is one suite, whatever its name.

        Raises: UsageError: there is none, or one is unusable.
        """
        found = [task for task in self.tasks if kind in (None, task.kind)]
        if not found:
            kinds = ", ".join(dict.fromkeys(task.kind for task in self.tasks))
            raise UsageError(f"there is no task of the kind {in_quotes(kind)}; there are: {kinds}")
        for task in found:
            self._require_usable(task)
        return tuple(take_of_each_kind([self._in_bench(task) for task in found], n))

    def find(self, name: str) -> ToolTask:
        """The task of this name. Raises: UsageError: there is none."""
        for task in self.tasks:
            if task.name == name:
                return task
        raise UsageError(f"there is no task {in_quotes(name)}; there are: {', '.join(t.name for t in self.tasks)}")

    def _in_bench(self, task: ToolTask) -> Task:
        """The task as a bench lists it: its goal names no folder yet."""
        return Task(id=task.name, env=ToolEnvironment.name, kind=task.kind, goal=task.goal.strip())

    def _require_usable(self, task: ToolTask) -> None:
        """Import what the task names, and start nothing. Raises: UsageError: something is missing or does not fit."""
        given_patterns(allow=(*self.allow, *task.allow), deny=(*self.deny, *task.deny))
        self._addresses(task, Path(self.here))
        collect_tools(self._tool_files(task))
        self._setup(task)
        self._verify(task)
        read_flows(self._flows(task))
        if task.files is not None and not Path(self.here, task.files).is_dir():
            raise UsageError(f"the task {task.name} copies a folder that does not exist: {in_quotes(task.files)}")

    def example(self) -> BaseEnvironment:
        """An environment to check methods and settings with: it has one tool, which is never called."""
        return example_environment()

    @contextmanager
    def open_world(self, task: ToolTask) -> Iterator[TaskWorld]:
        """The task's own folder with its initial content; it is removed on exit.

        Raises: EnvironmentFailure: the task's setup fails.
        """
        with tempfile.TemporaryDirectory(prefix="codeplan-task-", ignore_cleanup_errors=True) as name:
            folder = Path(name).resolve()
            self._fill(task, folder)
            verify = self._verify(task)
            judge = None if verify is None else _with_folder(verify, folder)
            yield TaskWorld(folder, _placed(task.goal.strip(), folder), self._addresses(task, folder), judge)

    def run(self, name: str, on_hijack: Callable[[bool], object] | None = None, **options: Any) -> Result:
        """Run one episode of a task. ``options`` are those of ``codeplan.run``, such as ``method`` and ``model``.

        These tasks have no attacker, so ``on_hijack`` is not called. Raises as ``codeplan.do``.
        """
        task = self.find(name)
        with self.open_world(task) as world:
            return self.run_in(world, task, **options)

    def run_in(self, world: TaskWorld, task: ToolTask, *, out: Path | None = None, **options: Any) -> Result:
        """Run one episode of a task in a world that is open. The rest is as in ``run``."""
        sources = ToolSources(
            tools=self._tool_files(task),
            mcp=world.servers,
            mcp_timeout=self.mcp_timeout,
            verify=world.verify,
            allow=(*self.allow, *task.allow),
            deny=(*self.deny, *task.deny),
            tool_errors=self.tool_errors,
            flows=self._flows(task),
        )
        elsewhere = partial(self._fits_elsewhere, task)
        with open_tools(sources, out, elsewhere=elsewhere) as tools, closing(tools.environment(world.goal)) as env:
            return run(env, msgspec.structs.replace(self._in_bench(task), goal=world.goal), out=out, **options)

    def _fits_elsewhere(self, task: ToolTask, given: GivenPattern) -> bool:
        """Whether a pattern that fits none of the task's tools is one of the file's, and fits a tool of another task.

        The servers of other tasks are started to know their tools.
        """
        own = {"allow": task.allow, "deny": task.deny}.get(given.option, (given.pattern,) if task.flows else ())
        if given.pattern in own:
            return False
        others = {(t.servers, t.tools): t for t in self.tasks if (t.servers, t.tools) != (task.servers, task.tools)}
        return any(given.fits_one(self._tool_names(other)) for other in others.values())

    def _tool_names(self, task: ToolTask) -> tuple[str, ...]:
        """The names of the task's tools, as this process has once found them."""
        key = self.here, task.name
        if key not in _tool_names:
            with self.open_world(task) as world:
                sources = ToolSources(self._tool_files(task), world.servers, mcp_timeout=self.mcp_timeout)
                with open_tools(sources, world.folder) as tools:
                    _tool_names[key] = tools.toolset.names
        return _tool_names[key]

    def _addresses(self, task: ToolTask, folder: Path) -> list[ServerAddress]:
        entries = {name: self._placed_entry(self.servers[name], folder) for name in task.servers}
        return [server_of_entry(_server(name), name, entry) for name, entry in entries.items()]

    def _placed_entry(self, value: Any, folder: Path) -> Any:
        if isinstance(value, str):
            return _placed(value, folder).replace("{here}", self.here)
        if isinstance(value, list):
            return [self._placed_entry(v, folder) for v in value]
        return {k: self._placed_entry(v, folder) for k, v in value.items()} if isinstance(value, dict) else value

    def _tool_files(self, task: ToolTask) -> list[str]:
        return [str(Path(self.here, file)) for file in task.tools]

    def _flows(self, task: ToolTask) -> str | None:
        given = task.flows or self.flows
        return given if given in (None, "default") else str(Path(self.here, given))

    def _setup(self, task: ToolTask) -> Callable[[Path], object] | None:
        return self._function(task.setup, "setup", SETUP_FORM, (1,))

    def _verify(self, task: ToolTask) -> Callable[..., Any] | None:
        return self._function(task.verify, "verify", VERIFY_FORM, (3, 2, 1))

    def _function(self, given: str | None, name: str, form: str, counts: tuple[int, ...]) -> Callable[..., Any] | None:
        if given is None:
            return None
        function: Callable[..., Any] = function_of_file(str(Path(self.here, given)), form)
        require_callable(function, name, form, counts)
        return function

    def _fill(self, task: ToolTask, folder: Path) -> None:
        if task.files is not None:
            shutil.copytree(Path(self.here, task.files), folder, symlinks=True, dirs_exist_ok=True)
        setup = self._setup(task)
        if setup is None:
            return
        try:
            setup(folder)
        except BaseException as error:
            require_failure(error)
            echo(f"The setup of the task {task.name} failed:\n{traceback_text(error)}", err=True)
            raise EnvironmentFailure(f"the setup of the task {task.name} failed: {failure_sentence(error)}") from error


@dataclass(frozen=True)
class TaskWorld:
    """A task's world for one episode: its folder, its goal with that folder's path, its servers, and who decides."""

    folder: Path
    goal: str
    servers: list[ServerAddress]
    verify: Callable[[object, object], Any] | None


def take_tool_tasks(table: dict[str, Any], here: Path) -> tuple[ToolTaskSet, dict[str, Any]]:
    """The tasks in the TOML of a bench, and what else stands there. ``here`` is the file's folder.

    Raises: msgspec.ValidationError, UsageError: the tasks are not understood.
    """
    own: dict[str, Any] = {name: table[name] for name in _OWN_TABLES if name in table}
    tasks = msgspec.convert(own | {"here": str(here)}, ToolTaskSet)
    return tasks, {name: value for name, value in table.items() if name not in own}


def _server(name: str) -> str:
    return f"the server {in_quotes(name)}"


def _with_folder(verify: Callable[..., Any], folder: Path) -> Callable[[object, object], Any]:
    count = require_callable(verify, "verify", VERIFY_FORM, (3, 2, 1))
    return lambda value, tools: verify(*(value, tools, folder)[:count])


def _placed(text: str, folder: Path) -> str:
    return text.replace("{folder}", str(folder))


def example_environment() -> ToolEnvironment:
    """An environment to check methods and settings with: it has one tool, which is never called."""
    return ToolEnvironment("an example", Toolset(python_tools(example_tool)))


def example_tool() -> None:
    """Stands for the tools of any task."""
