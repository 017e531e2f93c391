"""Environments in the user's own files on the command line: run, bench, recordings and tests of plans."""

import json
import os
from pathlib import Path

import pytest
import support.boxes
from support.reply_server import endpoint as endpoint
from support.reply_server import reply

from codeplan import envs, plugins
from codeplan.bench import read_bench
from codeplan.cli import main
from codeplan.errors import UsageError
from codeplan.recording.trace import Trace

PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        for box in (1, 2, 3):
            if 'ball' in agent.open(box):
                break
        assert 'ball' in agent.open(box), f'Error in [Step 1]: no ball. {agent.report()}'
"""
FUNCTION_MODEL = f'def answer(messages):\n    return """```python\n{PLAN}```"""\n'

MORE = """
import sys
from typing import Annotated
from codeplan.plugins import Setting

class Crates(Boxes):
    name = "crates"
    def __init__(self, max_actions: Annotated[int, Setting("Actions.", "safe", most=100)] = 50) -> None:
        super().__init__(max_actions)

one = Crates()

class Late(Crates):
    name = property(lambda self: "late")

def make():
    return Late()

def make_sized(size):
    return Late()

def make_broken():
    raise ValueError("no\\nboxes")

def make_nothing():
    return 3

class Half:
    name = "half"
    def tasks(self, split): return []

class Nameless(Crates):
    name = ""

class Exits(Late):
    def __init__(self):
        raise SystemExit(7)

class Unreadable(Late):
    @property
    def name(self):
        raise RuntimeError("no name")

async def make_later():
    return Late()

class Inherits(Crates):
    def __init__(self):
        raise ValueError("no")

class Stuck(Crates):
    name = "stuck"
    def close(self):
        raise ValueError("it is stuck")

class Empties(Crates):
    name = "empties"
    def tasks(self, split):
        return [][0]

class Falls(Crates):
    name = "falls"
    def step(self, action):
        return 1 / 0

class Rests(Crates):
    name = "rests"
    def reset(self, task):
        return 1 / 0

class Dicts(Crates):
    name = "dicts"
    def tasks(self, split):
        return [{"id": "a"}]

class Nothing(Crates):
    name = "nothing"
    def tasks(self, split):
        return None

class House(Crates):
    name = "household"

number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, endpoint):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setattr(plugins, "_own", {"codeplan.envs": {}, "codeplan.methods": {}})
    Path("mine.py").write_text(Path(support.boxes.__file__).read_text() + MORE)
    Path("plan.py").write_text(PLAN)
    endpoint.answer(reply(f"```python{PLAN}```"))
    return tmp_path


@pytest.fixture
def run(folder, endpoint, capsys):
    def start(*arguments):
        model = ["--model", "tiny"] if arguments[0] in ("run", "bench") else []
        model += ["--base-url", endpoint.url] if arguments[0] in ("run", "bench", "fork") else []
        code = main([*arguments, *model])
        written = capsys.readouterr()
        return code, written.out, written.err

    return start


@pytest.mark.parametrize("name", ["Crates", "one", "Late", "make"])
def test_a_class_an_object_and_a_function_run(run, name):
    code, out, err = run("run", f"mine.py:{name}", "--task", "ball/3", "--json", "--out", "one")
    assert (code, err) == (0, "")
    assert json.loads(out)["actions"] == 3
    assert Trace.read(Path("one/trace.jsonl"))[0].env == ("crates" if name in ("Crates", "one") else "late")


def test_the_parameters_of_a_class_are_settings(run):
    code, out, _ = run("run", "mine.py:Crates", "--task", "ball/3", "--set", "max_actions=2", "--set", "tries=1", "-q")
    assert code == 1
    code, _, err = run("run", "mine.py:Crates", "--set", "max_actions=many")
    assert code == 2 and "max_actions='many' of the environment crates does not fit" in err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("missing.py:Boxes", "there is no file 'missing.py'"),
        ("mine.py", "'mine.py' names no single environment; write FILE.py:NAME"),
        ("mine.py:Crates,Late", "'mine.py:Crates,Late' names no single environment"),
        ("mine.py:Crate", "'mine.py' has no 'Crate'; did you mean 'Crates'?"),
        ("mine.py:number", "the environment 'mine.py:number' has no attribute name and no attribute agent and no me"),
        ("mine.py:Half", "the environment half has no attribute agent and no method reset"),
        ("mine.py:make_sized", "the environment 'mine.py:make_sized' needs a value for size before its name is known"),
        ("mine.py:make_nothing", "the environment 'mine.py:make_nothing' has no attribute name"),
        ("mine.py:Nameless", "the environment 'mine.py:Nameless' has a name that is no text"),
        (
            "mine.py:Unreadable",
            "the environment 'mine.py:Unreadable' has a member name that cannot be read: RuntimeErr",
        ),
        ("mine.py:make_later", "the environment 'mine.py:make_later' comes from an asynchronous function"),
        ("mine.py:House", "there is an installed environment 'household'; give your own another name"),
        ("broken.py:Boxes", "'broken.py' cannot be imported: ZeroDivisionError: division by zero (line 2)"),
        ("worse.py:Boxes", "'worse.py' cannot be imported: SyntaxError: '(' was never closed (worse.py, line 2)"),
    ],
)
def test_what_is_no_environment_is_told_in_a_sentence(run, given, sentence):
    Path("broken.py").write_text("def f():\n    return 1 / 0\nf()\n")
    Path("worse.py").write_text("\nclass Boxes(\n")
    code, out, err = run("run", given)
    assert (code, out) == (2, "")
    assert err.startswith(f"codeplan: {sentence}") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "line", "sentence"),
    [
        ("make_broken", "raise ValueError(", "the environment 'mine.py:make_broken' cannot be built: ValueError: no"),
        ("Inherits", "raise ValueError(", "the environment crates cannot be built: ValueError: no (mine.py, line "),
        ("Exits", "raise SystemExit(7)", "the environment 'mine.py:Exits' cannot be built: SystemExit: 7"),
        ("Stuck", "raise ValueError(", "the environment stuck broke while closing: ValueError('it is stuck')"),
        ("Empties", "[][0]", "the environment empties broke while listing the tasks of its split test: IndexError("),
        ("Falls", "1 / 0", "the environment falls broke while doing 'open 1': ZeroDivisionError("),
        ("Rests", "1 / 0", "the environment rests broke while resetting to task ball/1: ZeroDivisionError("),
    ],
)
def test_the_developer_sees_where_an_environment_breaks(run, given, line, sentence):
    code, _, err = run("run", f"mine.py:{given}", "--json")
    *trace, last = err.splitlines()
    assert code == 4
    assert last.startswith(f"codeplan: {sentence}")
    assert trace[0] == "Traceback (most recent call last):"
    assert "mine.py" in trace[1]
    assert line in trace[2]


@pytest.mark.parametrize("command", ["run", "bench", "tasks"])
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("Dicts", "the environment dicts gave a list with a dict for its split test; tasks must return a list of"),
        ("Nothing", "the environment nothing gave a NoneType for its split test; tasks must return a list of codeplan"),
    ],
)
def test_what_is_no_list_of_tasks_is_told_in_a_sentence(run, command, given, sentence):
    code, out, err = run(command, f"mine.py:{given}")
    assert (code, out) == (4, "")
    assert err.startswith(f"codeplan: {sentence}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_bench_runs_on_an_environment_of_a_file(run, engine):
    code, out, err = run("bench", "mine.py:Crates", "--engine", engine, "-j", "2", "--out", "bench", "--json")
    assert code == 0, err
    assert [outcome["result"]["ending"]["type"] for outcome in json.loads(out)["outcomes"]] == ["success"] * 3
    assert run("bench", "mine.py:Crates", "--engine", engine, "--out", "bench", "--json")[0] == 0


def test_the_hint_after_a_failure_runs_as_printed(folder, capsys):
    Path("models.py").write_text(FUNCTION_MODEL.replace("agent.open(box)", "agent.report()"))
    once = ["--set", "tries=1", "--set", "no_progress=0", "--out", "one", "-q"]
    assert main(["run", "mine.py:Crates", "--model", "models.py:answer", *once]) == 1
    *_, hint = capsys.readouterr().err.splitlines()
    assert hint == (
        "codeplan: to go on, run: codeplan resume one --tries 3 --env mine.py:Crates --model models.py:answer"
    )
    plugins._own["codeplan.envs"].clear()
    assert main(hint.rpartition("run: codeplan ")[2].split()) == 1
    out, err = capsys.readouterr()
    assert "no success in 4 tries" in out and "unknown, as the tokens are" in out
    assert err.splitlines()[-1] == hint
    assert main(["resume", "one", "--tries", "3", "--env", "mine.py:Crates"]) == 2
    assert "'answer' of the episode is a function or an object of yours" in capsys.readouterr().err


def test_a_task_is_chosen_from_a_split(folder, capsys):
    Path("models.py").write_text(FUNCTION_MODEL)
    mine = ["run", "mine.py:Crates", "--model", "models.py:answer", "-q"]
    assert main([*mine, "--split", "train", "--task", "ball/2", "--out", "one"]) == 0
    header = Trace.read("one/trace.jsonl")[0]
    assert (header.task.id, header.task.split) == ("ball/2", "train")
    assert main([*mine, "--split", "tests"]) == 2
    assert "crates has no split 'tests'; there are: test, dev, train" in capsys.readouterr().err


def test_a_run_without_a_model_is_refused_before_the_episode(folder, capsys):
    assert main(["run", "mine.py:Crates", "--out", "one"]) == 2
    out, err = capsys.readouterr()
    assert (out, Path("one").exists()) == ("", False)
    sentence = "the scripted stand-in does not know what to do in crates (task 'ball/1'); name an endpoint's model"
    assert err.startswith(f"codeplan: {sentence}") and err.count("\n") == 1


def test_a_bench_refuses_a_single_object(run):
    code, _, err = run("bench", "mine.py:one")
    assert code == 2 and "is one object, which cannot serve several episodes; name its class or a function" in err


def test_recordings_and_tests_of_plans_take_the_file(run, monkeypatch):
    assert run("run", "mine.py:Crates", "--task", "ball/3", "--out", "one", "-q")[0] == 0
    named = ["--env", "mine.py:Crates"]
    monkeypatch.setattr(plugins, "_own", {"codeplan.envs": {}, "codeplan.methods": {}})
    assert run("resume", "one")[0] == 0
    assert run("replay", "one", *named)[1].startswith("identical: ")
    assert run("exec", "plan.py", *named, "--task", "ball/2")[0] == 0
    code, out, err = run("new-test", "one", "-o", "tests", *named)
    assert code == 0, err
    assert err.endswith("run it with: codeplan test tests --plan-env FILE.py:NAME\n")
    assert run("mutate", "tests/ball_3.plan.toml", *named)[0] in (0, 1)
    assert run("test", "tests", "--plan-env", "mine.py:Crates", "-q")[0] == 0
    shown = run("envs", "mine.py:Crates")[1]
    assert shown.startswith("crates") and "  run     codeplan run mine.py:Crates --task ball/1\n" in shown


@pytest.mark.parametrize(
    "command",
    [("replay", "one"), ("fork", "one", "--at", "3", "--out", "two"), ("new-test", "one", "-o", "tests")],
    ids=lambda command: command[0],
)
def test_a_recording_of_an_unknown_environment_says_how_to_name_it(run, monkeypatch, command):
    assert run("run", "mine.py:Crates", "--task", "ball/3", "--out", "one", "-q")[0] == 0
    monkeypatch.setattr(plugins, "_own", {"codeplan.envs": {}, "codeplan.methods": {}})
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert err.startswith("codeplan: there is no environment 'crates', which the trace names; ")
    assert err.endswith("never taken from a trace: --env FILE.py:NAME, or in Python env=…\n")
    assert run(*command, "--env", "mine.py:Crates")[0] == 0


def test_a_grid_that_the_user_trusts_names_files_beside_it(folder, capsys):
    """The trust is asked before a file is imported."""
    Path("models.py").write_text("open('loaded', 'w').close()\n" + FUNCTION_MODEL)
    Path("grid.toml").write_text('suites = ["mine.py:Crates"]\nmodels = ["models.py:answer"]\nn = 1\n')
    code = main(["bench", "grid.toml", "--out", "bench"])
    assert (code, Path("loaded").exists(), Path("bench").exists()) == (2, False, False)
    assert "sets what only a file that you trust may set: models, suites" in capsys.readouterr().err
    assert main(["trust", "grid.toml"]) == 0
    assert not Path("loaded").exists()
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    assert main(["bench", "../grid.toml", "--out", "bench", "--engine", "processes"]) == 0
    assert [one.result.model for one in read_bench("bench").outcomes] == ["answer"] * 1


def test_options_that_repeat_make_a_grid(folder):
    Path("models.py").write_text(FUNCTION_MODEL + FUNCTION_MODEL.replace("answer", "another"))
    several = ("--model", "models.py:answer", "--model", "models.py:another")
    assert main(["bench", "mine.py:Crates", "-n", "1", *several, "--out", "bench"]) == 0
    assert [cell.model for cell in read_bench("bench").cells] == ["answer", "another"]


def test_no_recording_names_a_file(run, folder):
    """Only the command line does: a trace, a manifest or a grid that names a file finds no environment."""
    assert run("run", "mine.py:Crates", "--task", "ball/3", "--out", "one", "-q")[0] == 0
    Path("evil.py").write_text("open('loaded', 'w')")
    trace = Path("one/trace.jsonl")
    lines = trace.read_text().replace('"crates"', '"evil.py:Crates"').splitlines(keepends=True)
    trace.write_text("".join(lines[:-1]))
    Path("grid.toml").write_text('suites = ["evil.py:Crates"]')
    Path("evil.plan.toml").write_text('plan = "plan.py"\nenv = "evil.py:Crates"\n[[tasks]]\nid = "ball/3"\n')
    for arguments in (
        ("resume", "one"), ("fork", "one", "--at", "2", "--out", "two"), ("new-test", "one", "-o", "t"),
        ("bench", "grid.toml"), ("test", "evil.plan.toml"), ("mutate", "evil.plan.toml"), ("replay", "one"),
    ):  # fmt: skip
        code, out, err = run(*arguments)
        assert code in (1, 2) and "Traceback" not in out + err, (arguments, out, err)
    assert not Path("loaded").exists()
    with pytest.raises(UsageError, match="there is no environment 'evil.py:Crates'"):
        envs.make("evil.py:Crates")
