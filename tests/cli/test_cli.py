"""The command line, as a person or a script meets it: real household, real sandbox, the scripted model."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplan.cli.app import report_error
from codeplan.errors import InfrastructureError
from codeplan.recording.events import EpisodeEnded
from codeplan.recording.trace import Trace
from codeplan.version import VERSION

IDLE = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] look around')
        n = len(agent.receptacles)
        assert n > 0, f'Error in [Step 1]: nothing here. {agent.report()}'
"""
FAILING = IDLE.replace("n > 0", "n > 999")
GRABBING = IDLE.replace("n = len(agent.receptacles)", "n = agent.grab('mug 1')")
ENDLESS = IDLE.replace("n = len(agent.receptacles)", "n = 0\n        while True:\n            n = n + 1")


@pytest.fixture
def plan(tmp_path: Path) -> Callable[[str], str]:
    """Writes a plan to a file and gives its name."""

    def write(source: str) -> str:
        (tmp_path / "plan.py").write_text(source)
        return "plan.py"

    return write


def only_trace() -> Path:
    (found,) = Path("runs").glob("*/trace.jsonl")
    return found


def is_one_clear_line(ran) -> bool:
    return ran.err.startswith("codeplan: ") and ran.err.count("\n") == 1 and "Traceback" not in ran.err and not ran.out


# ------------------------------------------------------------------ help


def test_the_version_is_printed(cli):
    assert cli("--version") == (0, f"codeplan {VERSION}\n", "")


def test_help_loads_nothing_heavy():
    script = (
        "import sys, codeplan.cli\n"
        "codeplan.cli.main(['--help'])\n"
        "heavy = {'openai', 'libcst', 'jinja2', 'rich', 'msgspec', 'RestrictedPython', 'pydantic'}\n"
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------ run


def test_a_run_shows_the_episode_and_ends_with_a_summary_and_the_trace(cli):
    ran = cli("run", "household", "--task", "clean/3", "--mistakes", "forgotten_walk")
    assert ran.code == 0, ran.out + ran.err
    shown = ("scripted stand-in, not a language model", "[Step 1]", "An assertion failed in step", "refined", "resumes")
    assert all(part in ran.out for part in shown)
    assert "\x1b" not in ran.out
    assert str(only_trace()) in ran.out
    assert "household-clean-3" in str(only_trace())


def test_a_run_prints_its_result_as_json_and_nothing_else(cli):
    ran = cli("run", "household", "--kind", "heat", "--seed", "2", "--mistakes", "none", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["success"] is True
    assert ran.json["task"]["id"] == "heat/2"
    assert ran.json["refinements"] == 0
    assert ran.json["trace"] == str(only_trace())


def test_a_quiet_run_shows_the_summary_alone(cli):
    ran = cli("run", "household", "--mistakes", "none", "--quiet")
    assert ran.code == 0
    assert "Success" in ran.out
    assert "[Step 1]" not in ran.out


def test_a_folder_can_be_named_and_no_trace_is_overwritten(cli):
    given = ("run", "household", "--mistakes", "none", "--json", "--out", "here")
    assert cli(*given).json["trace"] == "here/trace.jsonl"
    again = cli(*given)
    assert again.code == 2
    assert "exists already" in again.err
    assert not Path("runs").exists()


def test_two_runs_in_one_second_have_a_folder_each(cli):
    for _ in range(2):
        assert cli("run", "household", "--mistakes", "none", "--json").code == 0
    assert len(list(Path("runs").glob("*/trace.jsonl"))) == 2


def test_an_episode_without_success_exits_1(cli):
    ran = cli("run", "household", "--mistakes", "forgotten_walk", "--tries", "1", "--quiet")
    assert ran.code == 1
    assert "Not solved" in ran.out


@pytest.mark.parametrize("budget", [("--max-actions", "1"), ("--max-model-calls", "1"), ("--max-tokens", "1")])
def test_a_spent_budget_exits_3_and_says_which(cli, budget):
    ran = cli("run", "household", "--mistakes", "forgotten_walk", "--json", *budget)
    assert ran.code == 3
    assert ran.json["reason"].startswith("budget")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run",), "'ENV'"),
        (("run", "houshold"), "did you mean 'household'"),
        (("run", "household", "--task", "clean/x"), "clean/x"),
        (("run", "household", "--task", "clean/1", "--seed", "1"), "clean/1"),
        (("run", "household", "--mistakes", "lots"), "lots"),
        (("run", "household", "--max-actions", "-1"), "-1"),
        (("run", "household", "--seed", "one"), "--seed"),
        (("run", "household", "--temperature", "0"), "temperature"),
        (("run", "household", "--set", "colour"), "NAME=VALUE"),
        (("run", "household", "--set", "colour=red"), "colour"),
        (("run", "household", "--model", "gpt-4.1-mini"), "OPENAI_API_KEY"),
        (("run", "household", "--model", "m", "--base-url", "localhost"), "base URL"),
        (("run", "household", "--frob"), "--frob"),
        (("frob",), "frob"),
        (("envs", "houshold"), "household"),
        (("check", "absent.py", "--env", "household"), "absent.py"),
        (("check", "absent.py"), "--env"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_2(cli, arguments, said):
    ran = cli(*arguments)
    assert ran.code == 2, ran
    assert is_one_clear_line(ran), ran
    assert said in ran.err
    assert not list(Path().glob("runs/*")), "a run that never began leaves no folder"


def test_the_same_command_runs_with_a_model_behind_an_endpoint(cli, serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    url = serve(mistakes="forgotten_walk").url
    ran = cli("run", "household", "--task", "clean/3", "--model", "tiny", "--base-url", url, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["refinements"] == 1
    assert ran.json["usage"]["input_tokens"] > 1000
    assert "sk-very-secret" not in only_trace().read_text()


def test_an_endpoint_that_is_not_there_is_exit_4_and_the_trace_says_so(cli):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    ran = cli("run", "household", "--model", "tiny", "--base-url", url, "--set", "max_retries=0", "--json")
    assert ran.code == 4
    assert is_one_clear_line(ran), ran
    assert "cannot be reached" in ran.err
    last = Trace.read(only_trace())[-1]
    assert isinstance(last, EpisodeEnded)
    assert last.result.reason.startswith("infrastructure")


def in_shell(words: str, folder: Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run these words in a shell; CODEPLAN stands for the command."""
    command = words.replace("CODEPLAN", f"{shlex.quote(sys.executable)} -m codeplan")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        command, shell=True, input=stdin, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_closed_pipe_is_not_an_error(tmp_path):
    done = in_shell("CODEPLAN run household --mistakes none | head -n 1", tmp_path)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_an_episode_whose_reader_has_gone_is_broken_off_silently_and_is_no_success(tmp_path):
    assert in_shell("{ CODEPLAN run household; echo $? >&2; } | true", tmp_path).stderr == "4\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_is_full_is_an_error_and_never_a_failure_of_the_plan(tmp_path):
    done = in_shell("CODEPLAN run household > /dev/full", tmp_path)
    assert done.returncode == 4
    assert done.stderr.startswith("codeplan: the display cannot be written (No space left on device)")
    assert done.stderr.count("\n") == 1


# ------------------------------------------------------------------ check


def test_a_sound_plan_is_accepted(cli, plan):
    assert cli("check", plan(IDLE), "--env", "household") == (0, "plan.py: accepted\n", "")
    assert cli("check", plan(IDLE), "--env", "household", "--json").json == []


def test_a_refused_plan_is_shown_with_line_column_rule_and_a_caret(cli, plan):
    ran = cli("check", plan(GRABBING), "--env", "household")
    assert (ran.code, ran.err) == (1, "")
    first, source, caret = ran.out.splitlines()[:3]
    assert first.startswith("plan.py:4:")
    assert "grab" in first
    assert first.endswith("]")
    assert source == "            n = agent.grab('mug 1')"
    assert caret.strip() == "^"


def test_a_refused_plan_is_a_list_of_diagnostics_in_json(cli, plan):
    ran = cli("check", plan(GRABBING), "--env", "household", "--json")
    assert ran.code == 1
    assert all(set(d) == {"line", "column", "rule", "message"} for d in ran.json)
    assert ran.json[0]["line"] == 4


BARE = IDLE.replace("def solution(agent, start_from=1):", "import glob\ndef solution(agent):")


def test_a_plan_is_mended_and_each_fix_is_shown(cli, plan):
    ran = cli("check", plan(BARE), "--env", "household")
    assert (ran.code, ran.err) == (0, "")
    second, first, last = ran.out.splitlines()
    assert (
        first
        == "plan.py:2: mended: `def solution(agent):` became `def solution(agent, start_from=1):` [solution-signature]"
    )
    assert second == "plan.py:1: mended: `import glob` was removed [unused-import]"
    assert last == "plan.py: accepted"
    assert Path("plan.py").read_text() == BARE


def test_the_mended_plan_is_written_if_asked_for(cli, plan):
    ran = cli("check", plan(BARE), "--env", "household", "--fix")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "plan.py: the mended plan was written to the file")
    assert Path("plan.py").read_text() == IDLE
    assert cli("check", "plan.py", "--env", "household") == (0, "plan.py: accepted\n", "")


def test_without_fixes_the_plan_is_refused_as_it_is(cli, plan):
    ran = cli("check", plan(BARE), "--env", "household", "--fixes", "off", "--fix")
    assert ran.code == 1
    assert "the signature must be" in ran.out
    assert Path("plan.py").read_text() == BARE


def test_a_warning_lets_a_plan_pass_unless_the_check_is_strict(cli, plan):
    path = plan("def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.goto('desk 1')\n")
    ran = cli("check", path, "--env", "household")
    assert ran.code == 0
    assert ran.out.startswith("plan.py:2:5: warning: step 1 has no assertion")
    assert cli("check", path, "--env", "household", "--json").json[0]["warning"] is True
    strict = cli("check", path, "--env", "household", "--strict")
    assert strict.code == 1
    assert strict.out.startswith("plan.py:2:5: step 1 has no assertion")


def test_fixes_are_part_of_the_json(cli, plan):
    fixes = cli("check", plan(BARE), "--env", "household", "--json").json
    assert [f["rule"] for f in fixes] == ["unused-import", "solution-signature"]
    assert all(set(f) == {"rule", "line", "was", "now"} for f in fixes)


def test_a_plan_comes_from_standard_input_too(tmp_path):
    done = in_shell("CODEPLAN check - --env household", tmp_path, stdin=IDLE)
    assert (done.returncode, done.stdout) == (0, "standard input: accepted\n")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\x7fELF\x00\x01", "binary"),
        ("def f(): 'é'".encode("latin-1"), "not UTF-8"),
        (b"# " + b"x" * 10_000_000, "larger than"),
    ],
)
@pytest.mark.parametrize("command", ["check", "exec"])
def test_a_file_that_is_not_a_plan_is_one_clear_line_and_exit_2(cli, command, data, said):
    Path("plan.py").write_bytes(data)
    ran = cli(command, "plan.py", "--env", "household", "--json")
    assert ran.code == 2
    assert is_one_clear_line(ran), ran
    assert said in ran.err


# ------------------------------------------------------------------ exec


def test_a_plan_that_runs_to_its_end_without_success_exits_1(cli, plan):
    ran = cli("exec", plan(IDLE), "--env", "household", "--json")
    assert ran.code == 1
    keys = {"status", "step", "message", "success", "actions", "asks", "output", "value", "checkpoint"}
    keys |= {"truncated", "omitted"}
    assert set(ran.json) == keys
    assert (ran.json["status"], ran.json["step"], ran.json["success"]) == ("finished", 1, False)
    assert ran.json["output"] == "[Step 1] look around\n"
    assert ran.json["checkpoint"]["n"] > 0


def test_a_plan_that_succeeds_exits_0(cli, plan):
    task = ("--task", "clean/3")
    source = cli("run", "household", *task, "--mistakes", "none", "--json").json["plan"]
    ran = cli("exec", plan(source), "--env", "household", *task, "--json", "--out", "here")
    assert ran.code == 0
    assert ran.json["success"] is True
    assert ran.json["actions"] > 2
    assert Path("here/trace.jsonl").exists()


@pytest.mark.parametrize(
    ("source", "status", "step", "said"),
    [
        (FAILING, "failed", 1, "Error in [Step 1]: nothing here."),
        (IDLE.replace("n = ", "n = 1 // 0 + "), "failed", 1, "ZeroDivisionError"),
        (ENDLESS, "stopped", 1, "the plan "),
        (GRABBING, "rejected", None, "grab"),
    ],
)
def test_the_outcome_of_a_plan_is_printed_as_json(cli, plan, source, status, step, said):
    ran = cli("exec", plan(source), "--env", "household", "--json")
    assert ran.code == 1
    assert (ran.json["status"], ran.json["step"]) == (status, step)
    assert said in ran.json["message"]


def test_a_plan_is_shown_as_it_runs_and_leaves_no_folder(cli, plan):
    ran = cli("exec", plan(FAILING), "--env", "household")
    assert ran.code == 1
    assert "An assertion failed in step 1, line 5" in ran.out
    assert not Path("runs").exists()


# ------------------------------------------------------------------ what there is


def test_environments_are_listed_with_kinds_splits_and_how_to_run_one(cli):
    ran = cli("envs")
    assert ran.code == 0
    assert "household" in ran.out
    assert "codeplan run household --task " in ran.out
    (household,) = cli("envs", "household", "--json").json
    assert "clean" in household["kinds"]
    assert household["splits"]["test"] == 300


def test_methods_are_listed(cli):
    assert "adaplanner" in cli("methods").out
    assert "`" not in cli("methods").out
    assert "  max_idle_turns  Turns in a row" in cli("methods", "react").out
    assert "tries               Runs of a plan at most. [6]" in cli("methods", "adaplanner").out
    defaults = {s["name"]: s["default"] for s in cli("methods", "best-of-n", "--json").json["settings"]}
    assert defaults == {"executor": {"name": "adaplanner", "tries": 1}, "n": 4, "temperature": 0.7}
    assert "there is no method 'reakt'; did you mean 'react'?" in cli("methods", "reakt").err
    assert "tries" in next(m for m in cli("methods", "--json").json if m["name"] == "adaplanner")["settings"]


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InfrastructureError("the door\nis stuck \x1b[31m"), 4, "codeplan: the door is stuck [31m\n"),
        (KeyboardInterrupt(), 130, "codeplan: interrupted\n"),
        (ZeroDivisionError("division by zero"), 4, "(ZeroDivisionError: division by zero); run the command again with"),
    ],
)
def test_every_error_is_one_line(capsys, error, code, said):
    assert report_error(error) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_codeplan_debug_prints_the_traceback(capsys, monkeypatch):
    monkeypatch.setenv("CODEPLAN_DEBUG", "1")
    report_error(ZeroDivisionError("division by zero"))
    assert "ZeroDivisionError: division by zero\n" in capsys.readouterr().err
