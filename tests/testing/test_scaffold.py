"""``codeplan new-test``, ``test`` and ``mutate``: from a recorded episode to tests of its plan."""

from __future__ import annotations

import json

import pytest
from support.plan_suites import MANIFEST, write

import codeplan
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.testing.scaffold import new_test


def test_a_recorded_episode_becomes_a_test_that_passes(tmp_path, capsys):
    codeplan.run("household", "clean/22", mistakes="none", out=tmp_path / "run")
    assert main(["new-test", str(tmp_path / "run"), "-o", str(tmp_path / "tests")]) == 0
    written = capsys.readouterr().out.split()
    assert [path.rsplit("/", 1)[1] for path in written] == [
        "clean_22.plan.py",
        "clean_22.plan.toml",
        "clean_22.tape.jsonl",
    ]
    assert main(["test", str(tmp_path / "tests"), "-q", "-p", "no:cacheprovider"]) == 0
    assert "2 passed" in capsys.readouterr().out


def test_counts_are_expected_only_of_plans_that_succeeded_at_once(tmp_path):
    refined = codeplan.run("household", "clean/22", mistakes="forgotten_walk", out=tmp_path / "run")
    assert refined.refinements
    manifest = new_test(tmp_path / "run", tmp_path / "tests")[1].read_text()
    assert "actions =" not in manifest
    assert "resumes" not in manifest


def test_the_environments_settings_are_kept(tmp_path):
    codeplan.run("household", "heat/1", mistakes="none", difficulty="easy", out=tmp_path / "run")
    assert 'difficulty = "easy"' in new_test(tmp_path / "run", tmp_path / "tests")[1].read_text()


def test_nothing_is_overwritten_and_an_episode_without_a_plan_is_reported(tmp_path):
    codeplan.run("household", "clean/22", out=tmp_path / "run")
    new_test(tmp_path / "run", tmp_path / "tests")
    with pytest.raises(UsageError, match="exists already and is not overwritten"):
        new_test(tmp_path / "run", tmp_path / "tests")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written to .*file: File exists; name another folder"):
        new_test(tmp_path / "run", tmp_path / "file")
    trace = tmp_path / "run" / "trace.jsonl"
    *events, end = trace.read_text().splitlines()
    for cut in ([*events, json.dumps(json.loads(end) | {"broken_off": True})], events):
        trace.write_text("\n".join(cut) + "\n")
        with pytest.raises(UsageError, match="is incomplete; finish it first"):
            new_test(tmp_path / "run", tmp_path / "other")


def test_an_episode_whose_plans_were_all_refused_becomes_no_test(tmp_path):
    refused = codeplan.run("household", "clean/22", model=lambda messages: "import os", out=tmp_path / "run")
    assert refused.plan is not None
    with pytest.raises(UsageError, match="no plan of the episode in .*run was ever run, so a test of it cannot pass"):
        new_test(tmp_path / "run", tmp_path / "tests")
    assert not (tmp_path / "tests").exists()


def test_the_command_reports_mutants_as_text_and_json(tmp_path, capsys):
    path = write(tmp_path, MANIFEST + "[mutation]\nat_least = 0.5\n")
    assert main(["mutate", str(path)]) == 0
    assert "survived: " in capsys.readouterr().out
    assert main(["mutate", str(tmp_path / "clean.py"), "--json"]) == 0
    (score,) = json.loads(capsys.readouterr().out)
    assert score["total"] == len(score["mutants"]) == 34
    assert sum(m["killed_by"] is not None for m in score["mutants"]) == score["killed"]


def test_too_few_killed_mutants_are_reported_and_each_survivor_is_named_once(tmp_path, capsys):
    strict = write(tmp_path, MANIFEST + "[mutation]\nat_least = 1.0\n")
    assert main(["mutate", str(strict)]) == 1
    shown = capsys.readouterr()
    assert (shown.out + shown.err).count("step 4: assert nothing instead of agent.holding != found") == 1
    assert shown.err.endswith("; 100 % are required (at_least in [mutation])\n")


def test_a_plan_without_a_manifest_gets_a_hint(tmp_path, capsys):
    (tmp_path / "alone.py").write_text("x = 1\n")
    assert main(["mutate", str(tmp_path / "alone.py")]) == 2
    assert "no manifest beside" in capsys.readouterr().err


def test_recorded_tools_of_an_environment_that_is_not_installed_become_no_test(tmp_path):
    codeplan.run("household", "clean/22", out=tmp_path / "run")
    trace = tmp_path / "run" / "trace.jsonl"
    header, *events = trace.read_text().splitlines(keepends=True)
    tool = {"method": {"name": "pay", "signature": "() -> str"}}
    trace.write_text("".join([json.dumps({**json.loads(header), "env": "elsewhere", "tools": [tool]}) + "\n", *events]))
    with pytest.raises(UsageError, match="elsewhere"):
        new_test(tmp_path / "run", tmp_path / "tests")
    assert not (tmp_path / "tests").exists()
