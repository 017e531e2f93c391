"""``codeplan do`` with a model at an endpoint: what it prints, asks and exits with."""

import io
import json

import pytest
from support.reply_server import endpoint as endpoint
from support.reply_server import reply
from support.terminals import answer_questions

from codeplan.cli import main
from codeplan.cli.questions import ask_for_approval
from codeplan.tools.approvals import Always, ProposedCall

TOOLS = '''
rows = {"a": 3}

def get(key: str) -> int:
    """A row's value."""
    return rows[key]

def delete(key: str) -> None:
    del rows[key]
'''
PLAN = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        x = agent.get('a')
        agent.delete('a')
        assert x
    return {'x': (x, None)}
```"""
CHECKS = """
def verify(value, tools):
    return value["x"][0] == 3

def refuse(value):
    return False

def verify_none():
    return True

number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, endpoint):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "checks.py").write_text(CHECKS)
    endpoint.answer(reply(PLAN))
    return tmp_path


@pytest.fixture
def do(folder, endpoint, capsys):
    """Runs the command; returns the exit code, and what it wrote to both outputs."""

    def run(*arguments, goal="add up", tools="tools.py"):
        named = ["--tools", tools] if tools else []
        code = main(["do", goal, *named, "--model", "tiny", "--base-url", endpoint.url, *arguments])
        written = capsys.readouterr()
        return code, written.out, written.err

    return run


def test_a_verified_result_is_printed_as_json(do):
    code, out, err = do("--verify", "checks.py:verify", "-q")
    assert (code, err) == (0, "")
    assert json.loads(out[out.index("{") :]) == {"x": [3, None]}


def test_another_method_makes_calls_one_by_one(do, endpoint):
    endpoint.answers.clear()
    endpoint.answer(reply('get {"key": "a"}')).answer(reply('finish {"value": {"x": [3, null]}}'))
    code, out, err = do("--method", "react", "--verify", "checks.py:verify", "-q")
    assert (code, err) == (0, "")
    assert json.loads(out[out.index("{") :]) == {"x": [3, None]}
    assert "some_tool" in str(endpoint.asked[0])


def test_a_claimed_result_is_no_success(do, folder):
    code, out, _ = do("--json", "--out", "run")
    result = json.loads(out)
    assert (code, result["success"], result["ending"]["type"]) == (1, False, "claimed")
    assert (result["value"], result["variables"]) == ({"x": [3, None]}, {"x": 3})
    assert (folder / "run" / "trace.jsonl").is_file()


def test_a_claim_is_told_with_the_option_that_has_it_verified(do):
    code, _, err = do("-q")
    assert code == 1 and "--verify FILE.py:FUNCTION names a function that does" in err
    code, _, err = do("-q", "--verify", "checks.py:refuse", "--set", "tries=1")
    assert code == 1 and "--verify" not in err


def test_the_summary_of_a_quiet_run_names_the_last_failure(do, folder):
    (folder / "no.py").write_text("def no(call): return 'it is Sunday'\n")
    code, out, _ = do("-q", "--approve", "no.py:no", "--ask", "delete", "--set", "tries=1")
    assert code == 1
    assert "Reason       no progress: 2 refinements in a row led to the same end" in out
    refusal = "the user did not approve this call of delete: it is Sunday"
    assert f"Last failure PermissionError of the tool delete in step 1, line 4: {refusal}" in out


def test_an_error_that_stops_the_episode_is_named_with_its_tool(do, endpoint):
    endpoint.answers.clear()
    endpoint.answer(reply(PLAN.replace("agent.get('a')", "agent.get('b')")))
    code, out, err = do("-q", "--tool-errors", "stop")
    assert code == 1 and err.startswith("The tool get failed:\n")
    assert "Reason       the tool get failed, and tool errors end the episode: KeyError: b\n" in out
    assert "Last failure" not in out


@pytest.mark.parametrize("name", ["answer", "AnAnswer"])
def test_a_function_or_an_object_of_a_file_is_a_model(folder, capsys, name):
    (folder / "model.py").write_text(f"""
from codeplan import Completion
PLAN = {PLAN!r}
def answer(messages): return PLAN
class Answers:
    name = "answers"
    def complete(self, messages, *, purpose, stop=(), max_tokens=None): return Completion(PLAN)
AnAnswer = Answers()
""")
    (folder / "codeplan.toml").write_text("temperature = 0.5\n")  # for models of an endpoint
    assert main(["do", "add up", "--tools", "tools.py", "--model", f"model.py:{name}", "-q"]) == 1
    assert '"x"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("model.py:missing", "'model.py' has no 'missing'"),
        ("model.py:TEXT", "'model.py:TEXT' is a text; write FILE.py:NAME, a function of messages, or an LLM"),
        ("model.py:str", "give a codeplan.LLM or a name, not the class str"),
        ("model.py:a,b", "'model.py:a,b' names no single model; write FILE.py:NAME"),
        ("none.py:f", "there is no file 'none.py'"),
    ],
)
def test_what_is_no_model_ends_in_a_sentence(folder, capsys, model, sentence):
    (folder / "model.py").write_text("TEXT = 'gpt-5'\nstr = str\n")
    assert main(["do", "add up", "--tools", "tools.py", "--model", model]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"codeplan: {sentence}") and err.count("\n") == 1


@pytest.mark.parametrize("options", [("--ask", "delete"), ("--ask", "delete", "--approve", "later")])
def test_without_anybody_to_ask_the_episode_waits_and_no_model_is_called_again(do, endpoint, folder, options):
    code, out, err = do(*options, "--out", "run")
    assert code == 5 and len(endpoint.asked) == 1
    assert "! A call of delete needs approval, and there was nobody to ask" in out
    waits = "waiting for approval: delete(key='a') at step 1, line 4; allow it: codeplan approve RUN, or resume with "
    assert "… Waiting for an approval\n" in out and f"{waits}--allow delete in place of --ask 'delete'\n" in out
    assert err == "codeplan: it waits for your approval; answer with: codeplan approve run\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"goal": " "}, "the goal is empty; say in a sentence what is to be done"),
        ({"tools": None}, "there are no tools; name a Python file with --tools FILE.py"),
        ({"tools": "missing.py"}, "there is no file 'missing.py'"),
        ({"tools": "tools.py:gte"}, "'tools.py' has no 'gte'; did you mean 'get'?"),
        ({"tools": "checks.py:number"}, "a value of the type int offers no tools"),
        ({"verify": "checks.py:verify_none"}, "verify must be a function verify(value, tools); its signature is"),
        ({"verify": "checks.py"}, "'checks.py' names no single function; write FILE.py:FUNCTION"),
        ({"deny": ""}, "deny has a pattern that is no name of a tool: ''"),
    ],
    ids=lambda v: next(iter(v.values())) if isinstance(v, dict) else "",
)
def test_bad_input_ends_in_a_sentence_and_exit_code_2(do, endpoint, options, sentence):
    named = {name: options.pop(name) for name in ("verify", "deny") if name in options}
    code, out, err = do(*(part for name, value in named.items() for part in (f"--{name}", value)), **options)
    assert (code, out) == (2, "")
    assert err.startswith(f"codeplan: {sentence}") and err.count("\n") == 1
    assert endpoint.asked == []


def test_a_long_argument_hides_no_other_one(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n" * 3))
    given = {"text": "x" * 9_000, "more": {"a": "y" * 9_000, "mode": "w"}, "path": "/etc/x"}
    assert not ask_for_approval(ProposedCall("write", given))
    shown = capsys.readouterr().err
    assert "'mode': 'w'" in shown and "path='/etc/x')" in shown and len(shown) < 3_000
    assert "Some of the arguments are too long to show" in shown
    assert not ask_for_approval(ProposedCall("write", {"text": "\x1b[2J\n\u202ex", "path": [["a"]] * 5_000}))
    shown = capsys.readouterr().err
    assert "\x1b" not in shown and "\u202e" not in shown and len(shown) < 2_000 and shown.count("\n") == 2
    assert not ask_for_approval(ProposedCall("write", {"path": "/tmp/x"}, "destructive"))
    shown = capsys.readouterr().err
    assert "too long" not in shown and "\nThe server says: destructive.\nAllow it?" in shown


@pytest.fixture
def on_terminal(folder, endpoint):
    """Runs the command on a terminal, and answers each question with a line; returns the exit code and what was shown
    before the last answer.
    """

    def run(answer, typed_ahead=""):
        flags = ["--ask", "delete", "--verify", "checks.py:verify", "--set", "tries=1", "--model", "tiny", "-q"]
        command = ["do", "add up", "--tools", "tools.py", *flags, "--base-url", endpoint.url]
        lines = answer.splitlines(keepends=True)
        return answer_questions(command, b"a reason to refuse: ", lines, folder, typed_ahead)[:2]

    return run


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("yellow\nno\n", 1)])
def test_on_a_terminal_it_asks(on_terminal, answer, code):
    ended, shown = on_terminal(answer)
    assert (ended, b"The plan calls in step 1, line 4: delete(key='a')" in shown) == (code, True)
    assert b"Allow it? [y]es, [n]o, [a]lways delete, always [t]hese arguments, or a reason to refuse: " in shown


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("Y", True),
        ("yes", True),
        ("N", False),
        ("", False),
        ("a", Always.TOOL),
        ("t", Always.ARGUMENTS),
        ("Not before Monday", "Not before Monday"),
        ("ok", "ok"),
    ],
)
def test_what_is_typed_is_an_answer_or_the_reason_of_a_refusal(monkeypatch, typed, answer):
    monkeypatch.setattr("sys.stdin", io.StringIO(f" {typed} \n"))
    assert ask_for_approval(ProposedCall("write", {})) == answer


def test_an_answer_that_was_typed_before_the_question_does_not_count(on_terminal):
    assert on_terminal("n\n", typed_ahead="y\n" * 3)[0] == 1


# ------------------------------------------------------------------ check and exec on tools


@pytest.fixture
def plan_file(folder):
    (folder / "plan.py").write_text(PLAN.strip("`").removeprefix("python\n"))
    return folder / "plan.py"


def codeplan(capsys, *arguments):
    code = main([str(a) for a in arguments])
    written = capsys.readouterr()
    return code, written.out, written.err


def test_a_plan_is_checked_against_tools(plan_file, capsys):
    assert codeplan(capsys, "check", plan_file, "--tools", "tools.py") == (0, f"{plan_file}: accepted\n", "")
    plan_file.write_text(plan_file.read_text().replace("agent.delete", "agent.delet"))
    code, out, _ = codeplan(capsys, "check", plan_file, "--tools", "tools.py")
    assert code == 1 and "has no `delet`; did you mean `delete`?" in out


def test_a_plan_is_run_on_tools_with_approvals_and_a_verifier(plan_file, capsys):
    named = ("exec", plan_file, "--tools", "tools.py")
    code, out, err = codeplan(capsys, *named, "--verify", "checks.py:verify", "--ask", "delete", "-q")
    assert code == 5 and out.count("--allow delete in place of --ask 'delete'") == 1
    assert "without --out there is no trace to go on with" in err
    code, out, err = codeplan(capsys, *named, "--json", "--verify", "checks.py:verify")
    assert (code, err) == (0, "") and json.loads(out)["value"] == {"x": [3, None]}
    (plan_file.parent / "tools.py").rename(plan_file.parent / "again.py")  # whose row is not deleted yet
    named = ("exec", plan_file, "--tools", "again.py")
    plan_file.write_text(plan_file.read_text().replace("agent.delete('a')", "pass"))
    code, out, err = codeplan(capsys, *named, "-q", "--out", "run")
    assert code == 1 and '"x"' in out and "--verify FILE.py:FUNCTION names a function that does" in err
    assert codeplan(capsys, "replay", "run")[0] == 0


@pytest.mark.parametrize("command", ["check", "exec"])
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "the plan needs something to act on: --env ENV, or tools by --tools FILE.py or --mcp COMMAND"),
        (("--env", "household", "--tools", "tools.py"), "give one of --env ENV, or tools by --tools FILE.py"),
        (("--tools", "missing.py"), "there is no file 'missing.py'"),
        (("--mcp", ""), "an MCP server is a command or a URL; this one is empty"),
    ],
)
def test_a_plan_needs_one_thing_to_act_on(plan_file, capsys, command, arguments, sentence):
    code, out, err = codeplan(capsys, command, plan_file, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"codeplan: {sentence}") and err.count("\n") == 1


def test_an_empty_goal_and_a_missing_file_are_told_together(folder, capsys):
    code, _, err = codeplan(capsys, "do", " ", "--tools", "missing.py", "--model", "tiny")
    assert code == 2 and err.count("\n") == 1
    assert "there is no file 'missing.py'" in err and err.endswith("also, the goal is empty\n")


def test_the_help_offers_no_stand_in(capsys):
    _, out, _ = codeplan(capsys, "do", "--help")
    assert "FILE.py:FUNCTION" in out and "scripted" not in out and "--mistakes" not in out


def test_an_episode_with_a_function_as_model_is_resumed_with_it(folder, capsys):
    (folder / "model.py").write_text(f"def answer(messages): return {PLAN!r}\n")
    named = ("--tools", "again.py", "-q")
    do = ("do", "add up", "--tools", "tools.py", "--model", "model.py:answer", "--out", "run")
    assert codeplan(capsys, *do)[0] == 1
    (folder / "tools.py").rename(folder / "again.py")  # whose row is not deleted yet
    lines = (folder / "run" / "trace.jsonl").read_text().splitlines(keepends=True)
    model_called = next(n for n, line in enumerate(lines) if '"event":"model_called"' in line)
    (folder / "run" / "trace.jsonl").write_text("".join(lines[:model_called]))
    code, out, _ = codeplan(capsys, "resume", "run", *named, "--model", "model.py:answer")
    assert code == 1 and '"x"' in out


def test_instructions_stand_in_a_file_of_the_users(do, folder, endpoint):
    (folder / "policy.md").write_text("\ufeffAnswer {politely}.\n")
    assert do("--verify", "checks.py:verify", "--instructions", "policy.md", "-q")[0] == 0
    assert "<instructions>\nAnswer {politely}.\n</instructions>" in endpoint.asked[-1]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\n", "the instructions in policy.md are empty"),
        (b"\xff", "the instructions in policy.md cannot be read: it is not"),
        (None, "the instructions in policy.md cannot be read: No such file"),
        (b"x" * 400_005, "the instructions in policy.md cannot be read: it is larger"),
    ],
)
def test_a_file_that_holds_no_instructions_ends_in_a_sentence(do, folder, content, sentence):
    if content is not None:
        (folder / "policy.md").write_bytes(content)
    code, _, err = do("--instructions", "policy.md")
    assert code == 2 and sentence in err


TYPES = """
from dataclasses import dataclass

@dataclass
class Row:
    x: tuple[int, None]

number = 3
"""
ROW = {"type": "object", "properties": {"x": {"type": "array"}}, "required": ["x"]}


@pytest.mark.parametrize("named", ["types_of_mine.py:Row", "row.json"])
def test_a_typed_value_is_printed_as_data(do, folder, named):
    (folder / "types_of_mine.py").write_text(TYPES)
    (folder / "row.json").write_text(json.dumps(ROW))
    code, out, _ = do("--returns", named, "--json")
    assert code == 1 and json.loads(out)["value"] == {"x": [3, None]}


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("types_of_mine.py:Col", "'types_of_mine.py' has no 'Col'"),
        ("types_of_mine.py:number", "returns: plain data cannot stand for 3"),
        ("list[int]", "returns is a type, such as list[int] or a pydantic model"),
        ("odd.json", "odd.json is not JSON"),
        ("list.json", "list.json is no JSON schema: it holds a list, not an object"),
    ],
)
def test_what_is_no_type_for_a_value_ends_in_a_sentence(do, folder, named, sentence):
    (folder / "types_of_mine.py").write_text(TYPES)
    (folder / "odd.json").write_text("{")
    (folder / "list.json").write_text("[]")
    code, _, err = do("--returns", named)
    assert code == 2 and sentence in " ".join(err.split())


def test_a_type_for_the_value_goes_with_tools_alone(folder, capsys):
    (folder / "plan.py").write_text("def solution(agent, start_from=1):\n    return 3\n")
    assert main(["exec", "plan.py", "--env", "household", "--returns", "row.json"]) == 2
    assert "--returns is for tools, and the environment household has none" in " ".join(capsys.readouterr().err.split())
    (folder / "row.json").write_text('{"type": "string"}')
    assert main(["exec", "plan.py", "--tools", "tools.py", "--returns", "row.json", "-q", "--out", "run"]) == 1
    assert "the value is 3: it must be of the type string" in (folder / "run" / "trace.jsonl").read_text()
