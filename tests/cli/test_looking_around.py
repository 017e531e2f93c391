"""Looking around on the command line: help, ``codeplan show`` and ``tasks``, and settings that do not fit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from support.terminals import codeplan_on_terminal

from codeplan.cli.app import app, main
from codeplan.cli.commands import OPTION_GROUPS


def test_help_lists_every_command_in_a_group_with_its_whole_summary(cli):
    text = cli("--help").out
    assert cli().out == cli("-h").out == text and "Example: codeplan run household" in text
    assert "..." not in text.partition("Episodes:")[2]
    assert "More:" not in text
    listed = re.findall(r"^  ([a-z][a-z-]*)  ", text, re.M)
    assert sorted(listed) == sorted(typer.main.get_command(app).commands)


def test_the_help_of_a_group_has_whole_summaries_too(cli):
    text = " ".join(cli("skills", "--help").out.partition("Commands:")[2].split())
    assert "..." not in text
    assert "List the skills: status, version, and how often tasks were solved with and without them" in text


def all_commands(group: Any = None, *words: str) -> Iterator[tuple[str, ...]]:
    """Every command and group below a group, in words."""
    for name, command in (group or typer.main.get_command(app)).commands.items():
        yield (*words, name)
        if hasattr(command, "commands"):
            yield from all_commands(command, *words, name)


@pytest.mark.parametrize("words", list(all_commands()), ids=" ".join)
def test_help_of_each_command_has_an_example_no_default_twice_and_no_type_of_python(cli, words):
    text = cli(*words, "--help").out
    options = " ".join(re.sub(r"Arguments:\n(  .*\n)+", "", text).split())
    assert f"Example: codeplan {' '.join(words)}" in " ".join(text.split())
    assert re.findall(r"\[[^][]+\] \[default: ", options) == []
    assert re.findall(r"<\w+( range)?>", options) == []


def test_help_shows_a_commands_options_in_groups(cli):
    text = cli("run", "--help").out
    titles = re.findall(r"^(\w+):$", text, re.M)
    assert titles == ["Arguments", "Task", "Options", "Model", "Budget", "Recording"]
    budget = text.partition("Budget:\n")[2].partition("\n\n")[0]
    assert re.findall(r"--[a-z-]+", budget) == list(OPTION_GROUPS["Budget"])


def test_each_grouped_option_belongs_to_a_command(cli):
    texts = [cli(*words, "--help").out for words in all_commands()]
    assert [
        o for options in OPTION_GROUPS.values() for o in options if not any(f" {o} " in text for text in texts)
    ] == []


@pytest.mark.parametrize("group", ["skills", "sandbox"])
def test_a_group_without_a_command_shows_its_help(cli, group):
    assert cli(group) == cli(group, "--help")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("run ho", "hotpotqa household"),
        ("bench house", "household"),
        ("run household --method ada", "adaplanner adapt"),
    ],
)
def test_a_shell_completes_environments_and_methods(typed, offered):
    words = {"COMP_WORDS": f"codeplan {typed}", "COMP_CWORD": str(len(typed.split()))}
    environment = {**os.environ, **words, "_CODEPLAN_COMPLETE": "complete_bash"}
    command = [Path(sys.executable).with_name("codeplan")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered.split()


def test_an_episode_is_named_by_its_folder_or_by_the_trace_that_a_run_prints(cli, tmp_path):
    assert cli("run", "household", "--task", "clean/22", "-q", "--out", "runs/first").code == 0
    trace = "runs/first/trace.jsonl"
    assert cli("show", trace).out == cli("show", "runs/first").out != ""
    assert cli("replay", trace) == cli("replay", "runs/first")
    assert cli("resume", trace, "-q").code == 0
    assert cli("new-test", trace, "-o", "tests").code == 0
    assert cli("skills", "add", trace).code == 0


@pytest.mark.parametrize(("held", "events"), [(1, "1 event"), (25, "25 events")])
def test_a_resumed_episode_says_where_its_trace_ended(cli, tmp_path, held, events):
    assert cli("run", "household", "--task", "clean/22", "-q", "--out", "first").code == 0
    lines = (tmp_path / "first" / "trace.jsonl").read_bytes().splitlines(keepends=True)
    for number, options in enumerate(((), ("-q",), ("--json",))):
        folder = tmp_path / f"killed-{number}"
        folder.mkdir()
        (folder / "trace.jsonl").write_bytes(b"".join(lines[:held]))
        said = f"the trace held {events}; what follows is new\n" if not options else ""
        assert cli("resume", folder.name, *options).err == said
    assert (
        cli("resume", "killed-0").err == "codeplan: the episode has ended before; this is its result, and nothing ran\n"
    )


def test_a_branch_and_a_test_get_folders_of_their_own_if_none_is_named(cli, tmp_path):
    assert cli("run", "household", "--task", "clean/22", "-q", "--out", "first").code == 0
    branched = [cli("fork", "first/trace.jsonl", "--at", "5", "-q") for _ in range(2)]
    assert [each.code for each in branched] == [0, 0]
    folders = [re.search(r"Trace +(runs/[^/]+-fork-first-5(?:-2)?)/trace.jsonl", each.out) for each in branched]
    assert len({found[1] for found in folders if found and (tmp_path / found[1]).is_dir()}) == 2
    made = cli("new-test", "first")
    assert (made.code, made.out.splitlines()[0]) == (0, "tests/plans/clean_22.plan.py")
    again = cli("new-test", "first")
    assert again.code == 2 and "exists already and is not overwritten" in again.err


@pytest.mark.parametrize("command", ["show", "replay", "resume"])
def test_a_folder_that_holds_no_episode_of_its_own_is_named_with_one_that_does(cli, tmp_path, command):
    inner = tmp_path / "runs" / "first"
    inner.mkdir(parents=True)
    missing = cli(command, "runs")
    assert missing.err == "codeplan: there is no trace.jsonl in 'runs'; name one episode's folder, as given to --out\n"
    (inner / "trace.jsonl").touch()
    found = cli(command, "runs")
    assert found.err == "codeplan: there is no trace.jsonl in 'runs'; name one episode's folder, such as 'runs/first'\n"
    nowhere = cli(command, "run")
    assert nowhere.err == "codeplan: there is no folder 'run'; name an episode's, as given to --out\n"
    assert {missing.code, found.code, nowhere.code} == {2}


def test_show_lists_an_episode_with_the_numbers_that_fork_takes(cli, tmp_path):
    folder = str(tmp_path / "run")
    assert cli("run", "household", "--task", "clean/22", "--mistakes", "none", "-q", "--out", folder).code == 0
    lines = cli("show", folder).out.splitlines()
    numbers = [int(line.split()[0]) for line in lines]
    assert numbers == sorted(set(numbers))
    for left_out in set(range(numbers[-1])) - set(numbers):  # titles that the plan prints again, and calls' beginnings
        shown = cli("show", folder, "--event", str(left_out)).out
        assert "| [Step " in shown or shown == cli("show", folder, "--event", str(left_out + 1)).out != ""
    actions = cli("show", folder, "--only", "actions").out.splitlines()
    assert set(actions) < set(lines)
    assert all("> " in line for line in actions[1:])
    assert json.loads(cli("show", folder, "--only", "failures", "--json").out) == []
    assert "reply:\n```python\ndef solution" in cli("show", folder, "--event", "2").out


def test_a_list_that_a_terminal_cuts_says_how_to_see_an_event_in_full(tmp_path):
    recorded = ["run", "household", "--task", "clean/22", "--mistakes", "none", "-q", "--out", "first"]
    assert codeplan_on_terminal(recorded, tmp_path).code == 0
    cut = codeplan_on_terminal(["show", "first"], tmp_path).text.split("\n")
    assert any(line.rstrip().endswith("…") for line in cut)
    assert "in full: codeplan show first --event N" in cut[-2]
    assert "in full" not in codeplan_on_terminal(["show", "first"], tmp_path, columns=900).text


def test_a_kind_given_as_a_task_is_named_as_a_kind(cli):
    refused = cli("run", "household", "--task", "clean")
    assert refused.code == 2
    assert "this is a kind: --kind clean (kind='clean') takes one of its tasks; an id looks like" in refused.err
    assert "this is a kind" not in cli("run", "household", "--task", "cleen").err


def test_a_problem_of_the_whole_plan_has_no_line(cli, tmp_path):
    (tmp_path / "loop.py").write_text("for each in agent.receptacles:\n    print(each)\n")
    refused = cli("check", "loop.py", "--env", "household")
    assert refused.out.startswith("loop.py: there is no function `solution`")


def test_a_folder_given_as_a_plan_is_called_a_folder(cli, tmp_path):
    (tmp_path / "tests").mkdir()
    assert cli("mutate", "tests").err.startswith("codeplan: tests is a folder; name a plan, or a manifest")


def test_a_missing_library_is_answered_with_the_commands_that_make_one(cli):
    missing = cli("skills", "list").err
    assert missing.endswith(
        "or make one: codeplan skills add RUN, codeplan do GOAL --acquire, or codeplan skills discover ENV\n"
    )


def test_show_refuses_what_is_not_there_in_one_line(cli, tmp_path):
    folder = str(tmp_path / "run")
    cli("run", "household", "--task", "clean/22", "--mistakes", "none", "-q", "--out", folder)
    last = int(cli("show", folder).out.splitlines()[-1].split()[0])
    assert cli("show", folder, "--event", str(last)).code == 0
    refused = cli("show", folder, "--event", str(last + 1))
    assert (refused.code, refused.err) == (2, f"codeplan: there is no event {last + 1}; the events are 0 to {last}\n")
    refused = cli("show", folder, "--only", "plan")
    assert refused.err == "codeplan: --only takes plans, actions, model, failures or other, not 'plan'\n"


def test_show_says_that_a_trace_is_empty(cli, tmp_path):
    """A bench or a run that was killed at its very beginning leaves one."""
    (tmp_path / "trace.jsonl").write_text("")
    refused = cli("show", str(tmp_path))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"codeplan: the trace in '{tmp_path}' holds no event\n"


def test_tasks_lists_ids_and_goals(cli):
    lines = cli("tasks", "household", "--kind", "clean", "-n", "2").out.splitlines()
    assert lines[0].startswith("clean/0  put a clean ")
    assert lines[2] == "and 48 more; -n 50 lists all"
    assert len(cli("tasks", "household", "--kind", "clean", "-n", "50").out.splitlines()) == 50
    assert [t["id"] for t in json.loads(cli("tasks", "textcraft", "-n", "1", "--json").out)] == ["depth4/0"]


def test_tasks_names_a_wrong_split_or_kind(cli):
    refused = cli("tasks", "household", "--split", "tests")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "did you mean 'test'?" in refused.err
    advice = "did you mean 'clean'? its kinds: pick, clean, "
    assert f"no tasks of kind clen in its split test; {advice}" in cli("tasks", "household", "--kind", "clen").err
    assert f"no tasks of kind 'clen'; {advice}" in cli("run", "household", "--kind", "clen").err


@pytest.mark.parametrize("flag", ["--prices=p.toml", "--temperature=0.3", "--base-url=http://localhost:1/v1"])
def test_a_flag_for_endpoints_says_that_the_scripted_model_does_not_take_it(cli, flag):
    refused = cli("run", "household", flag)
    name = flag[2:].partition("=")[0].replace("-", "_")
    assert refused.code == 2
    assert f"the scripted model has no setting '{name}'; --model NAME (model=NAME) gives one that has" in refused.err


def test_a_reader_that_closes_the_output_leaves_an_episode_that_can_be_resumed(tmp_path):
    folder = tmp_path / "run"
    codeplan = Path(sys.executable).with_name("codeplan")
    command = [codeplan, "run", "household", "--task", "clean/22", "--out", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr is not None
        assert "SystemExit" not in running.stderr.read()
    assert main(["resume", str(folder), "-q"]) == 0


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("run --set", "codeplan run"),
        ("skills add --out", "codeplan skills add"),
        ("skills discover --modle x", "codeplan skills discover"),
        ("skills los", "codeplan skills"),
        ("--foo", "codeplan"),
        ("run run --foo", "codeplan run"),
    ],
)
def test_a_usage_error_names_the_help_of_its_command(given, place, capsys):
    assert main(given.split()) == 2
    assert capsys.readouterr().err.split("; see ")[1] == f"'{place} --help'\n"


@pytest.mark.parametrize(("typed", "near"), [("dp", "do"), ("rnu", "run"), ("skills lst", "list")])
def test_a_wrong_command_gets_the_nearest_as_a_suggestion(cli, typed, near):
    ran = cli(*typed.split())
    assert (ran.code, ran.out) == (2, "")
    assert f"Did you mean '{near}'?" in ran.err


def test_a_command_like_none_gets_no_suggestion(cli):
    assert cli("zq").err == "codeplan: No such command 'zq'; see 'codeplan --help'\n"


@pytest.mark.parametrize("command", [["do", "x"], ["chat"]])
def test_a_missing_file_of_tools_is_told_before_the_stand_in(cli, command):
    ran = cli(*command, "--tools", "nope.py")
    assert ran.code == 2
    assert ran.err.startswith("codeplan: there is no file 'nope.py'")


def test_no_warning_about_assertions_demands_a_message(cli):
    Path("plan.py").write_text(
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.goto('desk 1')\n"
    )
    advice = cli("check", "plan.py", "--env", "household").out
    assert "end it with `assert <what must hold now>` [step-assertion]" in advice
    Path("plan.py").write_text(Path("plan.py").read_text() + "        assert agent.location\n")
    assert cli("check", "plan.py", "--env", "household", "--strict").code == 0
