"""``codeplan bench tasks.toml``: tasks on the user's own tools, in each method, from a file that the user trusts."""

import re
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from support.reply_server import endpoint as endpoint
from support.reply_server import reply

from codeplan.bench.bench_spec import read_spec
from codeplan.bench.store import read_bench
from codeplan.bench.tool_tasks import ToolTask, ToolTaskSet
from codeplan.cli.app import main
from codeplan.errors import UsageError

PYTHON = '''
from pathlib import Path

def write(path: str, text: str) -> None:
    """Write a file."""
    Path(path).write_text(text)

def fill(folder):
    (folder / "made.txt").write_text("made")

def verify(value, tools, folder):
    seen = sorted(p.name for p in folder.iterdir())
    return seen == ["answer.txt", "made.txt", "old.txt"] or f"there are {seen}"

def broken(folder):
    raise KeyError("no such thing")
'''
TASKS = """
methods = ["react"]
models = [{ name = "tiny", base_url = "URL", max_retries = 0, label = "tiny" }]

[[tasks]]
name = "first"
goal = "Write answer.txt into {folder}."
kind = "files"
tools = ["own.py:write"]
files = "start"
setup = "own.py:fill"
verify = "own.py:verify"
"""
WRITE = 'write {"path": "FOLDER/answer.txt", "text": "x"}'
FINISH = 'finish {"value": null}'
PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        agent.write('FOLDER/answer.txt', 'x')
        assert True
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, endpoint):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for name in ("start", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "start" / "old.txt").write_text("old")
    (tmp_path / "own.py").write_text(PYTHON)
    (tmp_path / "tasks.toml").write_text(TASKS.replace("URL", endpoint.url))
    return tmp_path


def say(endpoint, *texts):
    """Have the model reply with these texts, in which FOLDER stands for the folder that the goal names."""

    def body(text):
        def of_request(request):
            place = re.search(r"Write answer.txt into (\S+)\.\n", request["messages"][-1]["content"])
            return reply(text.replace("FOLDER", place[1] if place else "FOLDER"))

        return of_request

    endpoint.answers.clear()
    for text in texts:
        endpoint.answer(body(text))


def bench(*arguments):
    return main(["bench", "tasks.toml", "-j", "1", "--retries", "0", "--out", "out", *arguments])


def trusted():
    assert main(["trust", "tasks.toml"]) == 0


# ------------------------------------------------------------------ trust


def test_a_file_of_tasks_starts_nothing_until_the_user_trusts_it(folder, endpoint, capsys):
    (folder / "own.py").write_text("open('ran', 'w')\n" + PYTHON)
    assert bench() == 2
    said = capsys.readouterr().err
    assert (
        "tasks.toml sets what only a file that you trust may set: python, files, models" in said
        and said.count("\n") == 1
    )
    assert not (folder / "ran").exists() and endpoint.asked == []


def test_trust_shows_what_a_file_starts_and_imports(folder, capsys):
    servers = '[servers.files]\ncommand = "node"\nargs = ["server.js", "{folder}"]\nenv = { KEY = "s3cret" }\n'
    (folder / "tasks.toml").write_text((folder / "tasks.toml").read_text() + servers)
    trusted()
    said = capsys.readouterr().out
    assert "servers.files = 'node server.js {folder}'" in said and "python = 'own.py'" in said
    assert "servers.files.env = 'KEY'" in said and "s3cret" not in said
    (folder / "tasks.toml").write_text((folder / "tasks.toml").read_text() + "# changed\n")
    assert bench() == 2


def test_trust_shows_which_variables_folders_and_calls_a_file_reaches(folder, capsys):
    (folder / "tasks.toml").write_text("""
[servers.site]
url = "http://127.0.0.1:9/"
headers = { Authorization = "Bearer ${OPENAI_API_KEY}", X = "${HOME:-none}s3cret" }
[servers.program]
command = "echo"
args = ["${USER}"]
env = { LD_PRELOAD = "evil.so" }
cwd = "/"
[[tasks]]
name = "a"
goal = "g"
servers = ["site", "program"]
files = "/root/.ssh"
allow = ["*"]
""")
    assert main(["trust", str(folder / "tasks.toml")]) == 0
    said = capsys.readouterr().out
    for line in (
        "servers.site = 'http://127.0.0.1:9/'",
        "servers.site.headers = 'Authorization, X'",
        "servers.site.variables = 'HOME, OPENAI_API_KEY'",
        "servers.program = 'echo ${USER}'",
        "servers.program.env = 'LD_PRELOAD'",
        "servers.program.cwd = '/'",
        "servers.program.variables = 'USER'",
        "files = '/root/.ssh'",
        "allow = '*'",
    ):
        assert f"  {line}\n" in said, said
    assert "s3cret" not in said and "python" not in said


# ------------------------------------------------------------------ episodes


def test_each_task_runs_in_a_folder_of_its_own(folder, endpoint, capsys):
    trusted()
    say(endpoint, WRITE, FINISH)
    assert bench() == 0
    (outcome,) = read_bench("out").outcomes
    result = outcome.result
    assert result.success and (result.actions, result.model_calls) == (1, 2)
    assert (result.task.id, result.task.kind) == ("first", "files")
    (place,) = re.findall(r"Write answer.txt into (\S+)\.\n", endpoint.asked[0]["messages"][-1]["content"])
    assert Path(place).parent == folder / "temporary" and not Path(place).exists()
    table = capsys.readouterr().out
    assert "tokens in" in table and "tokens out" in table and "US $" in table
    assert main(["replay", "out/runs/tasks.react.tiny/first"]) == 0
    assert main(["compare", "out"]) == 0


def test_methods_and_models_of_the_command_line_replace_those_of_the_file(folder, endpoint):
    trusted()
    say(endpoint, PLAN)
    assert bench("--method", "adaplanner", "--model", "small", "--base-url", endpoint.url) == 0
    (outcome,) = read_bench("out").outcomes
    assert (outcome.cell, outcome.result.success) == ("tasks.adaplanner.small", True)


def test_every_method_plays_every_task(folder, endpoint):
    text = (folder / "tasks.toml").read_text().replace('["react"]', '["react", "plan-and-execute"]')
    (folder / "tasks.toml").write_text(f"{text}\n[[tasks]]\nname = 'second'\ngoal = 'Do it.'\ntools = ['own.py']\n")
    trusted()
    say(endpoint, 'give_up {"reason": "no"}')
    assert bench() == 0
    found = {(o.cell, o.task.id) for o in read_bench("out").outcomes}
    assert found == {(f"tasks.{m}.tiny", t) for m in ("react", "plan-and-execute") for t in ("first", "second")}


def test_an_episode_that_was_cut_off_starts_anew_in_a_new_folder(folder, endpoint, capsys):
    trusted()
    say(endpoint, WRITE)
    endpoint.answer({"error": {"message": "down"}}, status=500)
    assert bench() == 4
    assert list((folder / "temporary").iterdir()) == []
    say(endpoint, WRITE, FINISH)
    assert bench() == 0
    (outcome,) = read_bench("out").outcomes
    assert outcome.result.success and outcome.result.model_calls == 2
    run = folder / "out" / "runs" / "tasks.react.tiny" / "first"
    assert sorted(p.name for p in run.glob("*.jsonl")) == ["died-1.jsonl", "trace.jsonl"]


def test_tools_of_a_server_get_the_task_s_folder(folder, endpoint):
    server = """
    import os, sys
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("place", log_level="ERROR")


    @server.tool()
    def where() -> str:
        return f"{sys.argv[1]} {os.environ['HERE']}"


    server.run("stdio")
    """
    (folder / "server.py").write_text(textwrap.dedent(server))
    text = (folder / "tasks.toml").read_text().partition("[[tasks]]")[0]
    entry = f'command = "{sys.executable}"\nargs = ["{{here}}/server.py", "{{folder}}"]\nenv = {{ HERE = "{{here}}" }}'
    task = "name = 'a'\ngoal = 'Look.'\nservers = ['place']\nallow = ['where']\nfiles = 'start'"
    (folder / "tasks.toml").write_text(f"{text}\n[servers.place]\n{entry}\n[[tasks]]\n{task}\n")
    trusted()
    say(endpoint, "where {}", 'finish {"value": 1}')
    assert bench() == 0
    (outcome,) = read_bench("out").outcomes
    shown = endpoint.asked[1]["messages"][-1]["content"].partition("<answer>\n")[2].split()
    assert Path(shown[0]).parent == folder / "temporary" and shown[1] == str(folder)
    assert (outcome.result.claim, outcome.result.success, outcome.result.value) == (True, False, 1)


SECOND = "[[tasks]]\nname = 'second'\ngoal = 'Do it.'\ntools = ['own.py:fill']\n"


@pytest.mark.parametrize(
    ("before", "after", "pattern"),
    [
        ("deny = ['raed']\n", "", "deny 'raed'"),
        ("", "allow = ['writ_*']\n", "allow 'writ_*'"),
        ("", f"deny = ['fill']\n{SECOND}", "deny 'fill'"),  # a task's own pattern is meant for its own tools
        ("deny = ['raed']\n", SECOND, "deny 'raed'"),
    ],
)
def test_a_pattern_that_fits_no_tool_is_refused_before_a_model_is_asked(
    folder, endpoint, capsys, before, after, pattern
):
    (folder / "tasks.toml").write_text(f"{before}{(folder / 'tasks.toml').read_text()}{after}")
    trusted()
    assert bench() == 2
    assert f"no tool has a name that fits {pattern}; " in capsys.readouterr().err
    assert endpoint.asked == []


def test_a_pattern_of_the_file_may_be_meant_for_the_tools_of_another_task(folder, endpoint, capsys):
    (folder / "tasks.toml").write_text(f"allow = ['write']\n{(folder / 'tasks.toml').read_text()}\n{SECOND}")
    trusted()
    say(endpoint, *[FINISH] * 2)
    assert bench() == 0
    assert "fits" not in capsys.readouterr().err


@pytest.mark.parametrize("where", ["task", "file"])
def test_flows_decide_about_the_calls_of_a_task(folder, endpoint, where):
    (folder / "flows.toml").write_text(
        'otherwise = "refuse"\nrules = { "write.path" = "goal", "write.text" = "goal" }\n'
    )
    text, line = (folder / "tasks.toml").read_text(), 'flows = "flows.toml"\n'
    (folder / "tasks.toml").write_text(line + text if where == "file" else text + line)
    trusted()
    say(endpoint, WRITE.replace('"x"', '"old"'), FINISH)
    assert bench() == 0
    (outcome,) = read_bench(folder / "out").outcomes
    assert not outcome.result.success
    assert "flows do not allow this call of write: path comes from unknown; text" in str(endpoint.asked)


def test_a_setup_that_fails_breaks_the_episode_off(folder, endpoint, capsys):
    text = (folder / "tasks.toml").read_text()
    (folder / "tasks.toml").write_text(text.replace("own.py:fill", "own.py:broken"))
    trusted()
    assert bench() == 4
    assert "KeyError" in capsys.readouterr().err
    (outcome,) = read_bench("out").outcomes
    assert outcome.broken and "the setup of the task first failed: KeyError: no such thing" in outcome.result.reason
    assert endpoint.asked == [] and list((folder / "temporary").iterdir()) == []


# ------------------------------------------------------------------ bad input

BAD = [
    ('goal = "Write', 'goal = " " # "', "the task first has an empty goal; say in a sentence what is to be done"),
    ('name = "first"', 'name = "../first"', "the task '../first' needs a name of letters, digits, - and _, at most 80"),
    ('tools = ["own.py:write"]', "", "the task first has no tools; give it tools or servers"),
    ('tools = ["own.py:write"]', 'servers = ["x"]', "the task first uses the server 'x', which the file lacks"),
    ('tools = ["own.py:write"]', 'tools = ["own.py:wrte"]', "has no 'wrte'; did you mean 'write'?"),
    ('verify = "own.py:verify"', 'verify = "own.py:fill2"', "has no 'fill2'"),
    ('setup = "own.py:fill"', 'setup = "own.py:write"', "setup must be a function setup(folder)"),
    ('files = "start"', 'files = "nothing"', "the task first copies a folder that does not exist: 'nothing'"),
    ('kind = "files"', 'knd = "files"', "Object contains unknown field `knd`"),
    ('kind = "files"', 'allow = [""]', "allow has a pattern that is no name of a tool: ''"),
    ("[[tasks]]", "[servers]\nx = 3\n[[tasks]]", "Expected `object`, got `int`"),
    *[
        ("[[tasks]]", f"[servers.x]\n{entry}\n[[tasks]]", f"the server 'x' is not understood: Expected {why}")
        for entry, why in (
            ("command = 'x'\nargs = 5", "`array`, got `int` - at `$.args`"),
            ("command = 'x'\nargs = ['y', 5]", "`str`, got `int` - at `$.args[1]`"),
            ("command = 5", "`str`, got `int` - at `$.command`"),
            ("command = 'x'\nenv = 'KEY'", "`object`, got `str` - at `$.env`"),
        )
    ],
    ("[[tasks]]", "[servers.x]\nargs = []\n[[tasks]]", "the server 'x' needs either a command or a url"),
    ('methods = ["react"]', 'suites = ["household"]', "a file has either suites or tasks of its own, not both"),
    ('methods = ["react"]', "tool_tasks = 1", "there is no setting tool_tasks; tasks on tools stand under [[tasks]]"),
    ('methods = ["react"]', 'methods = ["reakt"]', "reakt"),
    ('methods = ["react"]', 'kind = "moon"', "there is no task of the kind 'moon'; there are: files"),
    ("models =", "# ", "the scripted stand-in knows codeplan's own environments only; name an endpoint's model"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), BAD, ids=[new or "none" for _, new, _ in BAD])
def test_bad_input_ends_in_a_sentence_before_anything_starts(folder, endpoint, capsys, old, new, sentence):
    text = (folder / "tasks.toml").read_text()
    assert old in text
    (folder / "tasks.toml").write_text(text.replace(old, new))
    code = main(["trust", "tasks.toml"]) or bench()
    said = capsys.readouterr().err
    assert code == 2 and sentence in said and said.count("\n") == 1
    assert endpoint.asked == [] and not (folder / "out").exists()


def test_two_tasks_of_one_name_are_refused(folder):
    text = (folder / "tasks.toml").read_text()
    (folder / "tasks.toml").write_text(text + text[text.index("[[tasks]]") :])
    with pytest.raises(UsageError, match="two tasks are called first; rename one"):
        read_spec(folder / "tasks.toml")


class ComparedName(str):
    """A name that counts how often it is compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        ComparedName.compared += 1
        return str.__eq__(self, other)


def test_the_names_of_many_tasks_are_not_compared_with_each_other(folder):
    names = [ComparedName(f"task-{number}") for number in range(400)]
    ToolTaskSet(here=str(folder), tasks=tuple(ToolTask(name=name, goal="Do it.", tools=("own.py",)) for name in names))
    assert ComparedName.compared < len(names)


def test_tapes_and_splits_are_refused(folder, capsys):
    trusted()
    assert bench("--record", "tape") == 2
    assert "tasks on tools go on no tape" in capsys.readouterr().err
    assert bench("--split", "test") == 2
