"""The command line, as a person or a script meets it: real household, real sandbox, the scripted model."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from codeplan.cli.app import main, report_error
from codeplan.errors import InfrastructureError
from codeplan.recording.events import EpisodeEnded
from codeplan.recording.trace import Trace
from codeplan.standin.model import ScriptedModel
from codeplan.standin.prompt_reading import infer_purpose
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


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Ran]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command line in a fresh folder, without a key."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "CODEPLAN_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Ran:
        code = main(arguments)
        out, err = capsys.readouterr()
        return Ran(code, str(out), str(err))

    return run


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


def is_one_clear_line(ran: Ran) -> bool:
    return ran.err.startswith("codeplan: ") and ran.err.count("\n") == 1 and "Traceback" not in ran.err and not ran.out


# ------------------------------------------------------------------ help


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_the_commands_and_an_example(cli: Cli, arguments: tuple[str, ...]) -> None:
    ran = cli(*arguments)
    assert ran.code == 0
    assert all(name in ran.out for name in ("run", "check", "exec", "bench", "envs", "methods", "doctor"))
    assert "Example: codeplan run household" in ran.out


@pytest.mark.parametrize("command", ["run", "check", "exec", "bench", "envs", "methods", "doctor"])
def test_every_command_has_help_with_an_example(cli: Cli, command: str) -> None:
    ran = cli(command, "--help")
    assert ran.code == 0
    assert f"Example: codeplan {command}" in ran.out


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version") == Ran(0, f"codeplan {VERSION}\n", "")


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys, codeplan.cli\n"
        "codeplan.cli.main(['--help'])\n"
        "heavy = {'openai', 'libcst', 'jinja2', 'rich', 'msgspec', 'RestrictedPython', 'pydantic'}\n"
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------ run


def test_a_run_shows_the_episode_and_ends_with_a_summary_and_the_trace(cli: Cli) -> None:
    ran = cli("run", "household", "--task", "clean/3", "--mistakes", "forgotten_walk")
    assert ran.code == 0, ran.out + ran.err
    shown = ("scripted stand-in, not a language model", "[Step 1]", "An assertion failed in step", "refined", "resumes")
    assert all(part in ran.out for part in shown)
    assert "\x1b" not in ran.out
    assert str(only_trace()) in ran.out
    assert "household-clean-3" in str(only_trace())


def test_a_run_prints_its_result_as_json_and_nothing_else(cli: Cli) -> None:
    ran = cli("run", "household", "--kind", "heat", "--seed", "2", "--mistakes", "none", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["success"] is True
    assert ran.json["task"]["id"] == "heat/2"
    assert ran.json["refinements"] == 0
    assert ran.json["trace"] == str(only_trace())


def test_a_quiet_run_shows_the_summary_alone(cli: Cli) -> None:
    ran = cli("run", "household", "--mistakes", "none", "--quiet")
    assert ran.code == 0
    assert "Success" in ran.out
    assert "[Step 1]" not in ran.out


def test_a_folder_can_be_named_and_no_trace_is_overwritten(cli: Cli) -> None:
    given = ("run", "household", "--mistakes", "none", "--json", "--out", "here")
    assert cli(*given).json["trace"] == "here/trace.jsonl"
    again = cli(*given)
    assert again.code == 2
    assert "exists already" in again.err
    assert not Path("runs").exists()


def test_two_runs_in_one_second_have_a_folder_each(cli: Cli) -> None:
    for _ in range(2):
        assert cli("run", "household", "--mistakes", "none", "--json").code == 0
    assert len(list(Path("runs").glob("*/trace.jsonl"))) == 2


def test_an_episode_without_success_exits_1(cli: Cli) -> None:
    ran = cli("run", "household", "--mistakes", "forgotten_walk", "--tries", "1", "--quiet")
    assert ran.code == 1
    assert "Not solved" in ran.out


@pytest.mark.parametrize("budget", [("--max-actions", "1"), ("--max-model-calls", "1"), ("--max-tokens", "1")])
def test_a_spent_budget_exits_3_and_says_which(cli: Cli, budget: tuple[str, str]) -> None:
    ran = cli("run", "household", "--mistakes", "forgotten_walk", "--json", *budget)
    assert ran.code == 3
    assert ran.json["reason"].startswith("budget")


def test_settings_of_environment_method_and_model_can_be_set_by_name(cli: Cli) -> None:
    ran = cli("run", "household", "--json", "--set", "actions=1", "--set", "mistakes=none")
    assert ran.code == 1
    assert ran.json["actions"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run",), "'ENV'"),
        (("run", "houshold"), "did you mean 'household'"),
        (("run", "household", "--task", "clean/x"), "clean/x"),
        (("run", "household", "--kind", "cook", "--seed", "1"), "cook"),
        (("run", "household", "--task", "clean/1", "--seed", "1"), "clean/1"),
        (("run", "household", "--method", "adaplaner"), "did you mean 'adaplanner'"),
        (("run", "household", "--mistakes", "lots"), "lots"),
        (("run", "household", "--max-actions", "-1"), "-1"),
        (("run", "household", "--resume-by", "magic"), "resume_by"),
        (("run", "household", "--seed", "one"), "--seed"),
        (("run", "household", "--temperature", "0"), "temperature"),
        (("run", "household", "--set", "colour"), "NAME=VALUE"),
        (("run", "household", "--set", "colour=red"), "colour"),
        (("run", "household", "--set", "model=tiny"), "model"),
        (("run", "household", "--set", "tries=many"), "tries"),
        (("run", "household", "--model", "gpt-4.1-mini"), "OPENAI_API_KEY"),
        (("run", "household", "--model", "m", "--base-url", "localhost"), "base URL"),
        (("run", "household", "--frob"), "--frob"),
        (("frob",), "frob"),
        (("envs", "houshold"), "household"),
        (("check", "absent.py", "--env", "household"), "absent.py"),
        (("check", "absent.py"), "--env"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_2(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    ran = cli(*arguments)
    assert ran.code == 2, ran
    assert is_one_clear_line(ran), ran
    assert said in ran.err
    assert not list(Path().glob("runs/*")), "a run that never began leaves no folder"


class ScriptedEndpoint(BaseHTTPRequestHandler):
    """Chat Completions, answered by the scripted model: to the client a model like any other."""

    model = ScriptedModel(mistakes="forgotten_walk")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = {role: [m["content"] for m in asked["messages"] if m["role"] == role] for role in ("system", "user")}
        purpose = infer_purpose("\n".join(texts["system"]), "\n".join(texts["user"]))
        answer = self.model.complete(asked["messages"], purpose=purpose)
        message = {"role": "assistant", "content": answer.text}
        usage = {"prompt_tokens": answer.usage.input_tokens, "completion_tokens": answer.usage.output_tokens}
        body = json.dumps({"model": "tiny-2", "choices": [{"index": 0, "message": message}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def test_the_same_command_runs_with_a_model_behind_an_endpoint(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with ThreadingHTTPServer(("127.0.0.1", 0), ScriptedEndpoint) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        ran = cli("run", "household", "--task", "clean/3", "--model", "tiny", "--base-url", url, "--json")
        server.shutdown()
        thread.join()
    assert ran.code == 0, ran.err
    assert ran.json["refinements"] == 1
    assert ran.json["usage"]["input_tokens"] > 1000
    assert "sk-very-secret" not in only_trace().read_text()


def test_an_endpoint_that_is_not_there_is_exit_4_and_the_trace_says_so(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    ran = cli("run", "household", "--model", "tiny", "--base-url", url, "--set", "max_retries=0", "--json")
    assert ran.code == 4
    assert is_one_clear_line(ran), ran
    assert "cannot be reached" in ran.err
    last = Trace.read(only_trace())[-1]
    assert isinstance(last, EpisodeEnded)
    assert last.result.reason.startswith("infrastructure")


def test_an_interrupted_run_says_how_to_go_on_and_exits_130(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        command = [sys.executable, "-m", "codeplan", "run", "household", "--model", "tiny", "--base-url", url]
        root = Path(__file__).parents[2]
        environment = {**os.environ, "PYTHONPATH": str(root), "no_proxy": "127.0.0.1"}
        run = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=-1, stderr=-1, text=True)
        silent.settimeout(30)
        connection, _ = silent.accept()
        time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
        connection.close()
    assert run.returncode == 130, err
    (trace,) = tmp_path.glob("runs/*/trace.jsonl")
    assert err == f"codeplan: interrupted; to go on, run: codeplan resume {trace.parent.relative_to(tmp_path)}\n"
    assert Trace.read(trace)
    assert "household" in out


def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m codeplan run household --mistakes none | head -n 1"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("\n", "")


def test_an_episode_whose_reader_has_gone_is_broken_off_silently_and_is_no_success(tmp_path: Path) -> None:
    command = f"{{ {shlex.quote(sys.executable)} -m codeplan run household; echo $? >&2; }} | true"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == "4\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_is_full_is_an_error_and_never_a_failure_of_the_plan(tmp_path: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m codeplan run household > /dev/full"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr.startswith("codeplan: the display cannot be written (No space left on device)")
    assert done.stderr.count("\n") == 1


# ------------------------------------------------------------------ check


def test_a_sound_plan_is_accepted(cli: Cli, plan: Callable[[str], str]) -> None:
    assert cli("check", plan(IDLE), "--env", "household") == Ran(0, "plan.py: accepted\n", "")
    assert cli("check", plan(IDLE), "--env", "household", "--json").json == []


def test_a_refused_plan_is_shown_with_line_column_rule_and_a_caret(cli: Cli, plan: Callable[[str], str]) -> None:
    ran = cli("check", plan(GRABBING), "--env", "household")
    assert (ran.code, ran.err) == (1, "")
    first, source, caret = ran.out.splitlines()[:3]
    assert first.startswith("plan.py:4:")
    assert "grab" in first
    assert first.endswith("]")
    assert source == "            n = agent.grab('mug 1')"
    assert caret.strip() == "^"


def test_a_refused_plan_is_a_list_of_diagnostics_in_json(cli: Cli, plan: Callable[[str], str]) -> None:
    ran = cli("check", plan(GRABBING), "--env", "household", "--json")
    assert ran.code == 1
    assert all(set(d) == {"line", "column", "rule", "message"} for d in ran.json)
    assert ran.json[0]["line"] == 4


BARE = IDLE.replace("def solution(agent, start_from=1):", "import os\ndef solution(agent):")


def test_a_plan_is_mended_and_each_fix_is_shown(cli: Cli, plan: Callable[[str], str]) -> None:
    ran = cli("check", plan(BARE), "--env", "household")
    assert (ran.code, ran.err) == (0, "")
    second, first, last = ran.out.splitlines()
    assert (
        first
        == "plan.py:2: mended: `def solution(agent):` became `def solution(agent, start_from=1):` [solution-signature]"
    )
    assert second == "plan.py:1: mended: `import os` was removed [unused-import]"
    assert last == "plan.py: accepted"
    assert Path("plan.py").read_text() == BARE


def test_the_mended_plan_is_written_if_asked_for(cli: Cli, plan: Callable[[str], str]) -> None:
    ran = cli("check", plan(BARE), "--env", "household", "--fix")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "plan.py: the mended plan was written to the file")
    assert Path("plan.py").read_text() == IDLE
    assert cli("check", "plan.py", "--env", "household") == Ran(0, "plan.py: accepted\n", "")


def test_without_fixes_the_plan_is_refused_as_it_is(cli: Cli, plan: Callable[[str], str]) -> None:
    ran = cli("check", plan(BARE), "--env", "household", "--fixes", "off", "--fix")
    assert ran.code == 1
    assert "the signature must be" in ran.out
    assert Path("plan.py").read_text() == BARE


def test_a_warning_lets_a_plan_pass_unless_the_check_is_strict(cli: Cli, plan: Callable[[str], str]) -> None:
    path = plan("def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.goto('desk 1')\n")
    ran = cli("check", path, "--env", "household")
    assert ran.code == 0
    assert ran.out.startswith("plan.py:2:5: warning: step 1 has no assertion")
    assert cli("check", path, "--env", "household", "--json").json[0]["warning"] is True
    strict = cli("check", path, "--env", "household", "--strict")
    assert strict.code == 1
    assert strict.out.startswith("plan.py:2:5: step 1 has no assertion")


def test_fixes_are_part_of_the_json(cli: Cli, plan: Callable[[str], str]) -> None:
    fixes = cli("check", plan(BARE), "--env", "household", "--json").json
    assert [f["rule"] for f in fixes] == ["unused-import", "solution-signature"]
    assert all(set(f) == {"rule", "line", "was", "now"} for f in fixes)


def test_a_plan_comes_from_standard_input_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "codeplan", "check", "-", "--env", "household"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, input=IDLE, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
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
def test_a_file_that_is_not_a_plan_is_one_clear_line_and_exit_2(cli: Cli, command: str, data: bytes, said: str) -> None:
    Path("plan.py").write_bytes(data)
    ran = cli(command, "plan.py", "--env", "household", "--json")
    assert ran.code == 2
    assert is_one_clear_line(ran), ran
    assert said in ran.err


def test_a_folder_is_not_a_plan(cli: Cli) -> None:
    ran = cli("check", ".", "--env", "household")
    assert ran.code == 2
    assert is_one_clear_line(ran)


# ------------------------------------------------------------------ exec


def test_a_plan_that_runs_to_its_end_without_success_exits_1(cli: Cli, plan: Callable[[str], str]) -> None:
    ran = cli("exec", plan(IDLE), "--env", "household", "--json")
    assert ran.code == 1
    keys = {"status", "step", "message", "success", "actions", "asks", "output", "value", "checkpoint"}
    keys |= {"truncated", "omitted"}
    assert set(ran.json) == keys
    assert (ran.json["status"], ran.json["step"], ran.json["success"]) == ("finished", 1, False)
    assert ran.json["output"] == "[Step 1] look around\n"
    assert ran.json["checkpoint"]["n"] > 0


def test_a_plan_that_succeeds_exits_0(cli: Cli, plan: Callable[[str], str]) -> None:
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
        (ENDLESS, "stopped", 1, "turns"),
        (GRABBING, "rejected", None, "grab"),
    ],
)
def test_the_outcome_of_a_plan_is_printed_as_json(
    cli: Cli, plan: Callable[[str], str], source: str, status: str, step: int | None, said: str
) -> None:
    ran = cli("exec", plan(source), "--env", "household", "--json")
    assert ran.code == 1
    assert (ran.json["status"], ran.json["step"]) == (status, step)
    assert said in ran.json["message"]


def test_a_plan_is_shown_as_it_runs_and_leaves_no_folder(cli: Cli, plan: Callable[[str], str]) -> None:
    ran = cli("exec", plan(FAILING), "--env", "household")
    assert ran.code == 1
    assert "An assertion failed in step 1, line 5" in ran.out
    assert not Path("runs").exists()


# ------------------------------------------------------------------ what there is


def test_environments_are_listed_with_kinds_splits_and_how_to_run_one(cli: Cli) -> None:
    ran = cli("envs")
    assert ran.code == 0
    assert "household" in ran.out
    assert "codeplan run household --task " in ran.out
    (household,) = cli("envs", "household", "--json").json
    assert "clean" in household["kinds"]
    assert household["splits"]["test"] == 300


def test_methods_are_listed(cli: Cli) -> None:
    assert "adaplanner" in cli("methods").out
    assert "`" not in cli("methods").out
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
def test_every_error_is_one_line(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    assert report_error(error) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_codeplan_debug_prints_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEPLAN_DEBUG", "1")
    report_error(ZeroDivisionError("division by zero"))
    assert "ZeroDivisionError: division by zero\n" in capsys.readouterr().err
