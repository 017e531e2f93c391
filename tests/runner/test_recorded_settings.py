"""A trace from a stranger sets only what is harmless; the rest comes from the user, or is named in one sentence."""

import json
import re

import pytest
from support.canaries import SECRET, Canaries, canaries

from codeplan.budget import Budget
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.events import EpisodeStarted
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import run
from codeplan.runner.given_plans import execute
from codeplan.runner.recorded_episodes import check_budget, choose_settings, replay, resume
from codeplan.types import Task

TASKS = {
    "household": ("clean/22", "clean"),
    "miniwob": ("click-button/0", "click-button"),
    "webshop": ("0", "shop"),
    "textcraft": ("0", "depth2"),
    "hotpotqa": ("0", "bridge"),
    "alfworld": ("t/trial_0", "pick"),
}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The lines of an episode by the stand-in, with two plans."""
    folder = tmp_path_factory.mktemp("original") / "run"
    assert run("household", "clean/22", out=folder).success
    return (folder / "trace.jsonl").read_text().splitlines(keepends=True)


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """Canaries; the machine has a key, and no endpoint of its own."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("CANARY_KEY", SECRET)
    with canaries(tmp_path / "canaries") as found:
        yield found
    assert found.touched == []


def write(folder, original, change, lines=None):
    """A trace with a changed header; ``lines`` is how much of it is left."""
    header = json.loads(original[0])
    for name, value in change.items():
        header[name] = {**header.get(name, {}), **value} if isinstance(value, dict) and name != "task" else value
    if header["env"] != "household":
        id, kind = TASKS[header["env"]]
        header["task"] = {**header["task"], "env": header["env"], "id": id, "kind": kind}
    folder.mkdir(parents=True)
    (folder / "trace.jsonl").write_text("".join([json.dumps(header) + "\n", *original[1:lines]]))
    return folder


def deep(levels):
    return "react" if levels == 0 else {"name": "try-again", "executor": deep(levels - 1)}


def hostile(c):
    """Changes of a header, each with the name that a refusal to go on live must mention; None if it need not refuse."""
    at = f"m@{c.url}"
    strong, damaged = {"model": "strong"}, "header is damaged: its model_settings"
    return {
        "address": ({**strong, "settings": {"base_url": c.url}}, "base_url="),
        "address-of-the-model": ({**strong, "model_settings": {"base_url": c.url}}, "base_url="),
        "address-with-a-login": (
            {**strong, "model_settings": {"base_url": c.url.replace("//", "//u:p@")}},
            "base_url=",
        ),
        "broken-address": ({**strong, "settings": {"base_url": "http://[" + "x" * 9000}}, "base_url="),
        "object": (strong, "the model 'strong' of the episode is a function or an object of yours"),
        "openai-named": (
            {**strong, "model_settings": {"base_url": "https://api.openai.com/v1"}},
            "base_url='https://api.openai.com/v1'; if you trust it, give --base-url https://api",
        ),
        "openai-asked": ({"settings": {"ask_model": "gpt-4"}}, "ask_model='gpt-4'; if you trust it, give --set ask_"),
        "ask": ({**strong, "settings": {"ask_model": at}}, "ask_model="),
        "refine": ({"settings": {"refine_model": at}}, "refine_model="),
        "executor": ({"method": "react", "settings": {"executor_model": at}}, "executor_model="),
        "main": ({**strong, "model_settings": {"main_model": at}}, "the trace names the model"),
        "model": ({"model": at}, "the trace names the model"),
        "main-of-no-kind": ({**strong, "model_settings": {"main_model": {"a": 1}}}, damaged),
        "routes-of-strings": ({**strong, "model_settings": {"routes": {"ask": c.url}}}, damaged),
        "key-variable": ({**strong, "settings": {"key_variable": "CANARY_KEY"}}, "key_variable="),
        "body": ({**strong, "settings": {"extra_body": {"tools": [c.url]}}}, "extra_body="),
        "effort": ({**strong, "settings": {"reasoning_effort": "high"}}, "reasoning_effort="),
        "prompts": ({"settings": {"prompts": str(c.folder)}}, "prompts="),
        "plan": ({"method": "autoplan", "settings": {"plan": str(c.file)}}, "plan="),
        "plan-nested": (
            {"method": "adapt", "settings": {"executor": {"name": "autoplan", "plan": str(c.file)}}},
            "executor=",
        ),
        "executor-deep": ({"method": "try-again", "settings": {"executor": deep(190)}}, "executor="),
        "library": ({"settings": {"library": str(c.folder)}}, "library="),
        "skill": ({"settings": {"skill": "../../x"}}, "skill="),
        "embeddings-address": ({"settings": {"embeddings": at, "library": str(c.folder)}}, "embeddings="),
        "memory": ({"settings": {"limits": {"memory": 1 << 40}}}, "limits="),
        "limit-unknown": ({"settings": {"limits": {"no_such": 1}}}, "limits="),
        "limits-negative": ({"settings": {"limits": {"wall": -1}}}, "wall"),
        "tries-text": ({"settings": {"tries": "six"}}, "tries="),
        "tries-huge": ({"settings": {"tries": 10**30}}, "tries="),
        "choice": ({"settings": {"resume_by": "\x1b]0;x\x07" + "magic" * 9000}}, "resume_by="),
        "depth": ({"method": "adapt", "settings": {"max_depth": 10**9}}, "max_depth="),
        "unknown": ({"settings": {"no_such_setting": 1}}, "the setting 'no_such_setting'"),
        "unknown-long": ({"settings": {"\x1b[2J" + "n" * 50_000: 1}}, "does not exist"),
        "weak": ({"settings": {"allow_weak_sandbox": True}}, None),
        "env": ({"env": "miniwob", "settings": {"browser": str(c.program), "pages": str(c.folder)}}, "pages="),
        "data": ({"env": "webshop", "settings": {"data": str(c.folder), "index": str(c.folder)}}, "index="),
        "pipeline": ({"env": "webshop", "settings": {"nouns": "spacy:os"}}, "nouns="),
        "recorded": ({"env": "textcraft", "settings": {"exact": True, "recorded": str(c.file)}}, "recorded="),
        "wiki": ({"env": "hotpotqa", "settings": {"live": True, "url": c.url, "cache": str(c.folder / "x")}}, "url="),
        "alfworld": ({"env": "alfworld", "settings": {"data": str(c.folder)}}, "data="),
        "budget": ({"budget": {"model_calls": 10**6}}, "--max-model-calls 1000000"),
        "budget-none": ({"budget": {"model_calls": None}}, "model_calls=unlimited"),
        "env-unknown": ({"env": "household", "method": "os:system"}, "no method 'os:system'"),
    }


NAMES = [*hostile(Canaries)]


def assert_refused(code, capsys, said):
    """The command ended with one clean sentence, and no traceback."""
    err = capsys.readouterr().err
    assert code == 2
    assert err.startswith("codeplan: ")
    assert err.count("\n") == 1
    assert err.rstrip("\n").isprintable()
    assert len(err) < 1500
    assert said in err
    assert SECRET not in err


@pytest.mark.parametrize("lines", [1, 6])
@pytest.mark.parametrize("name", NAMES)
def test_a_strangers_trace_goes_on_with_nothing_but_harmless_settings(name, lines, canary, original, tmp_path, capsys):
    change, said = hostile(canary)[name]
    folder = write(tmp_path / "run", original, change, lines)
    before = (folder / "trace.jsonl").read_bytes()
    if said is None:
        assert main(["resume", str(folder), "--json"]) == 0
        return
    assert_refused(main(["resume", str(folder)]), capsys, said)
    assert (folder / "trace.jsonl").read_bytes() == before
    if lines > 1:
        assert_refused(main(["fork", str(folder), "--at", "5", "--out", str(tmp_path / "new")]), capsys, said)
        assert not (tmp_path / "new").exists()


IDENTICAL = {"refine", "weak", "budget", "budget-none", "address", "address-of-the-model", "address-with-a-login"}
IDENTICAL |= {"broken-address", "ask", "main", "model", "key-variable", "body", "effort"}
IDENTICAL |= {"object", "openai-named", "openai-asked"}
"""A replay calls no model, and a recorded episode may have continued with another than its first event names."""

DIFFERENT = {"executor", "library", "env", "data", "pipeline", "recorded", "wiki", "alfworld"}


@pytest.mark.parametrize("name", NAMES)
def test_a_strangers_trace_replays_offline_and_reads_no_file(name, canary, original, tmp_path, capsys):
    change, said = hostile(canary)[name]
    folder = write(tmp_path / "run", original, change)
    code = main(["replay", str(folder)])
    if name not in IDENTICAL | DIFFERENT:
        assert_refused(code, capsys, "the skill ../../x is to be taken from a library" if name == "skill" else said)
        return
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
    if name in IDENTICAL:
        assert (code, shown.out, shown.err) == (0, f"identical: {len(original)} events\n", "")
    else:
        assert code == 1 and len(shown.err) < 20_000
        assert re.match(r"codeplan: event \d+ is not what was recorded: ", shown.err)


def test_all_that_is_missing_is_in_one_sentence(canary, original, tmp_path, capsys):
    change = {"model": "strong", "settings": {"prompts": "/p", "limits": {"wall": 9.0}, "key_variable": "CANARY_KEY"}}
    folder = write(tmp_path / "run", original, change | {"model_settings": {"base_url": canary.url}}, 6)
    assert main(["resume", str(folder)]) == 2
    err = capsys.readouterr().err
    for part in ("prompts='/p'", "limits={'wall': 9.0}", "key_variable='CANARY_KEY'", f"base_url='{canary.url}'"):
        assert part in err
    assert "--base-url …" in err
    for name in ("prompts", "limits", "key_variable"):
        assert f"--set {name}=…" in err


def test_a_login_in_a_recorded_address_is_not_shown(canary, original, tmp_path, capsys):
    address = canary.url.replace("//", "//user:hunter2@")
    folder = write(tmp_path / "run", original, {"model": "strong", "model_settings": {"base_url": address}}, 6)
    assert main(["resume", str(folder)]) == 2
    assert "hunter2" not in capsys.readouterr().err


def test_what_the_user_repeats_is_used(canary, original, tmp_path):
    folder = write(tmp_path / "run", original, {"settings": {"limits": {"wall": 9.0}}})
    assert main(["replay", str(folder), "--set", 'limits={"wall": 9.0}', "--json"]) == 0
    folder = write(tmp_path / "cut", original, {"settings": {"limits": {"wall": 9.0}}}, 6)
    assert main(["resume", str(folder), "--set", 'limits={"wall": 9.0}', "--json"]) == 0
    folder = write(tmp_path / "large", original, {"budget": {"model_calls": 500}}, 6)
    assert main(["resume", str(folder), "--max-model-calls", "500", "--json"]) == 0
    folder = write(tmp_path / "none", original, {"budget": {"model_calls": None}}, 6)
    assert main(["resume", str(folder), "--max-model-calls", "null", "--json"]) == 0


def test_the_users_configured_budget_bounds_what_goes_on_live(canary, original, tmp_path, monkeypatch, capsys):
    folder = write(tmp_path / "run", original, {}, 6)
    monkeypatch.setenv("CODEPLAN_BUDGET_MONEY", "2")
    assert_refused(main(["resume", str(folder)]), capsys, "money=unlimited (yours: 2)")
    with pytest.raises(UsageError, match="model_calls=200"):
        resume(folder, budget=Budget(model_calls=199))
    assert resume(folder, budget=Budget(model_calls=200)).success


@pytest.mark.parametrize("settings", ['{"no_such": 1}', '{"wall": "x"}', '{"memory": -1}'])
def test_limits_on_the_command_line_are_checked(settings, original, tmp_path, capsys):
    folder = write(tmp_path / "run", original, {})
    assert_refused(main(["replay", str(folder), "--set", f"limits={settings}"]), capsys, "limit")


def test_ones_own_episodes_go_on_without_repeating_anything(tmp_path):
    given = {"tries": 5, "mistakes": "many", "dialect": "move", "difficulty": "hard", "model_seed": 7}
    run("household", "clean/3", "adaplanner", out=tmp_path / "one", budget=Budget(model_calls=50), **given)
    nested = {"executor": {"name": "try-again", "executor": "react", "trials": 2}, "weakness": "forgetful"}
    run("household", "clean/3", "reflexion", out=tmp_path / "two", **nested)
    for name in ("one", "two"):
        assert main(["replay", str(tmp_path / name), "--json"]) == 0
        trace = tmp_path / name / "trace.jsonl"
        whole = Trace.read(trace)
        success = whole[-1].result.success
        trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:9]))
        assert main(["resume", str(tmp_path / name), "--json"]) == (0 if success else 1)
        again = Trace.read(trace)
        assert [type(event) for event in again] == [type(event) for event in whole]
        assert (again[-1].result.ending, again[-1].result.actions) == (
            whole[-1].result.ending,
            whole[-1].result.actions,
        )


def test_an_executed_plan_takes_its_guards_from_the_user(tmp_path):
    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] wait')\n        assert True\n"
    execute(plan, "household", "clean/3", out=tmp_path / "run")
    assert not replay(tmp_path / "run").success
    assert not replay(tmp_path / "run", allow_weak_sandbox=True).success


def test_ones_own_episode_at_a_configured_endpoint_goes_on_without_repeating_anything(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", serve().url)
    monkeypatch.setenv("CODEPLAN_REASONING_EFFORT", "low")
    monkeypatch.setenv("CODEPLAN_TIMEOUT", "30")
    given = ["--model", "strong", "--ask-model", "cheap", "--temperature", "0.3", "--max-model-calls", "60"]
    assert main(["run", "household", "--task", "clean/22", *given, "--out", str(tmp_path / "run"), "--json"]) == 0
    assert main(["replay", str(tmp_path / "run"), "--json"]) == 0
    trace = tmp_path / "run" / "trace.jsonl"
    trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:5]))
    assert main(["resume", str(tmp_path / "run"), "--json"]) == 0
    assert replay(tmp_path / "run").model == "strong (ask: cheap)"
    trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:5]))
    monkeypatch.delenv("CODEPLAN_REASONING_EFFORT")
    with pytest.raises(UsageError, match="reasoning_effort='low'"):
        resume(tmp_path / "run")
    assert resume(tmp_path / "run", reasoning_effort="low").success


def test_limits_given_on_the_command_line_hold_and_must_be_repeated(tmp_path, capsys):
    folder, limits = str(tmp_path / "run"), ["--set", 'limits={"turns": 1}']
    task = ["household", "--task", "clean/22", "--set", "tries=1"]
    assert main(["run", *task, *limits, "--out", folder, "--json"]) == 1
    capsys.readouterr()
    assert_refused(main(["replay", folder]), capsys, "limits={'turns': 1")
    assert main(["replay", folder, *limits, "--json"]) == 0
    assert main(["replay", folder, "--set", 'limits={"turns": 100000}', "--json"]) == 1


# ------------------------------------------------------------------ which of three values wins


def chosen(recorded, configured=None, given=None, live=True, **participants):
    """The settings of an episode at an endpoint of the user's, from its header, the configuration and the call."""
    header = EpisodeStarted(
        task=Task("a"), env="household", method="adaplanner", model="m", codeplan_version="0", settings=recorded
    )
    who = {"env": "household", "method": "adaplanner", "model": "gpt-5", **participants}
    return choose_settings(
        header, who, given or {}, {"base_url": "http://localhost:1/v1", **(configured or {})}, live=live
    )


@pytest.mark.parametrize("live", [True, False])
def test_a_given_setting_counts_more_than_a_configured_one_and_that_more_than_a_recorded_one(live):
    found = chosen({"tries": 5, "timeout": 9.0}, {"timeout": 8.0}, {"timeout": 7.0}, live)
    assert (found["tries"], found["timeout"]) == (5, 7.0)
    assert chosen({"timeout": 9.0}, {"timeout": 8.0}, {}, live)["timeout"] == 8.0
    assert "timeout" not in chosen({"timeout": 9.0}, live=live)


def test_a_configured_setting_that_a_trace_may_set_does_not_replace_the_recorded_one():
    assert chosen({"temperature": 0.5}, {"temperature": 0.7})["temperature"] == 0.5
    assert "temperature" not in chosen({}, {"temperature": 0.7})


def test_a_configured_setting_that_a_trace_only_names_applies_if_it_is_the_same():
    assert chosen({"reasoning_effort": "high"}, {"reasoning_effort": "high"})["reasoning_effort"] == "high"
    with pytest.raises(UsageError, match="reasoning_effort='high'"):
        chosen({"reasoning_effort": "high"}, {"reasoning_effort": "low"})


def test_a_configured_setting_that_nobody_here_accepts_is_left_out():
    assert "retries" not in chosen({}, {"retries": 3})


def test_a_budget_is_compared_limit_by_limit():
    check_budget(Budget(model_calls=5), Budget(model_calls=5))
    check_budget(Budget(model_calls=5), Budget(model_calls=None))
    for recorded in (6, None):
        with pytest.raises(UsageError, match="the budget in the trace exceeds your own: model_calls="):
            check_budget(Budget(model_calls=recorded), Budget(model_calls=5))
