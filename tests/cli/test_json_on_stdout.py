"""With ``--json``, standard output holds the document alone, whatever tools, models and verifiers print."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from support.reply_server import endpoint as endpoint
from support.reply_server import reply

PYTHON = """
import os

print("at import")

PLAN = '''
def solution(agent, start_from=1):
    if start_from <= 1:
        found = agent.look()
        assert found == 'seen', f'Error in [Step 1]: nothing was seen. {agent.report()}'
    return found
'''


def look() -> str:
    print("in the tool")
    os.system("echo in a program")
    return "seen"


def model(messages):
    print("in the model")
    return PLAN


def verify(value):
    print("in the verifier")
    return value == "seen"
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in a folder with tools; returns its exit code and both outputs."""
    (tmp_path / "own.py").write_text(PYTHON)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")

    def run_command(*arguments, **options):
        command = [sys.executable, "-m", "codeplan", *arguments]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        done = subprocess.run(command, cwd=tmp_path, text=True, stdin=subprocess.DEVNULL, check=False, **streams)
        return done.returncode, done.stdout, done.stderr

    return run_command


DO = ("do", "look", "--tools", "own.py:look", "--verify", "own.py:verify", "--model", "own.py:model", "--out", "run")


def test_what_tools_models_and_verifiers_print_goes_to_standard_error(run):
    code, out, err = run(*DO, "--json")
    assert code == 0, err
    assert json.loads(out)["value"] == "seen"
    assert [line for line in err.splitlines() if line] == [
        "at import", "in the model", "in the tool", "in a program", "in the verifier"
    ]  # fmt: skip
    code, out, err = run("resume", "run", *DO[2:-2], "--json")
    assert (code, json.loads(out)["value"]) == (0, "seen")
    assert "in the verifier" in err


def test_without_json_tools_print_where_they_want(run):
    code, out, err = run(*DO, "-q")
    assert (code, err) == (0, "at import\n")
    assert all(f"in {where}\n" in out for where in ("the model", "the tool", "a program", "the verifier"))


def test_one_plan_and_a_bench_print_their_document_alone(run, tmp_path, endpoint, monkeypatch):
    (tmp_path / "plan.py").write_text(PYTHON.partition("'''")[2].partition("'''")[0])
    code, out, err = run("exec", "plan.py", "--tools", "own.py:look", "--json")
    assert json.loads(out)["checkpoint"]["found"] == "seen", err
    assert "in the tool" in err
    endpoint.answer(reply((tmp_path / "plan.py").read_text()))
    (tmp_path / "tasks.toml").write_text(
        textwrap.dedent(f"""
            methods = ["adaplanner"]
            models = [{{ name = "tiny", base_url = "{endpoint.url}", max_retries = 0 }}]
            [[tasks]]
            name = "look"
            goal = "look"
            tools = ["own.py:look"]
            verify = "own.py:verify"
        """)
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert run("trust", "tasks.toml")[0] == 0
    code, out, err = run("bench", "tasks.toml", "--json")
    assert code == 0, err
    assert json.loads(out)["cells"][0]["broken"] == 0
    assert "at import" in err and "in the tool" in err and "in the verifier" in err


def test_closed_outputs_are_left_alone(run):
    code, out, err = run(*DO, "--json", preexec_fn=lambda: os.close(2), stderr=None)
    assert code == 0
    assert '"value": "seen"' in out
