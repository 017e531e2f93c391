"""``codeplan test``: wrong paths, Ctrl-C and a limit of time end in one sentence and the right exit code."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support.terminals import codeplan_on_terminal

from codeplan.cli.app import main
from codeplan.testing import collection

PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        assert agent.goto('fridge 1'), agent.report()
"""
MANIFEST = """
plan = "plan.py"
env = "household"
expect = { success = false }
[[tasks]]
kind = "clean"
seeds = "0-200"
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("given", ["nowhere", "nowhere/a.plan.toml", "nowhere/a.plan.toml::clean/0"])
def test_a_path_that_does_not_exist_is_one_sentence(given, tmp_path, monkeypatch, capsys):
    assert main(["test", given]) == 2
    out, err = capsys.readouterr()
    path = given.partition("::")[0]
    said = f"codeplan: there is no file or folder '{path}'; name manifests (*.plan.toml), or their folder\n"
    assert (out, err) == ("", said)


@pytest.mark.parametrize("given", ["plan.py", "plan.py::test_it", "notes.txt"])
def test_a_file_that_is_no_manifest_is_not_run(given, tmp_path, monkeypatch, capsys):
    (tmp_path / "plan.py").write_text("open('ran', 'w')\ndef test_it(): pass\n")
    (tmp_path / "notes.txt").write_text(">>> _ = open('ran', 'w')\n")
    assert main(["test", given]) == 2
    path = given.partition("::")[0]
    said = f"codeplan: '{path}' is no manifest (*.plan.toml); to run tests in Python, use pytest itself\n"
    assert (capsys.readouterr().err, (tmp_path / "ran").exists()) == (said, False)


@pytest.mark.parametrize("given", ["\x1b[31mX", "a\u202eb", "a\nb", "-k\x1b]0;t\x07"])
def test_an_argument_that_cannot_be_printed_is_refused(given, tmp_path, monkeypatch, capsys):
    """The shell may have taken it from a stranger's folder, as in ``codeplan test *``."""
    assert main(["test", given]) == 2
    out, err = capsys.readouterr()
    assert "has characters that cannot be printed" in err
    assert (out + err).replace("\n", "").isprintable()


@pytest.mark.parametrize(("depth", "found"), [(20, True), (50, True), (51, False), (60, False)])
def test_folders_nested_too_deeply_are_left_out_in_a_sentence(depth, found, tmp_path, monkeypatch, capsys):
    """pytest descends by recursion, and would end with a traceback in some thousand folders."""
    folder = tmp_path / "/".join(["d"] * depth)
    folder.mkdir(parents=True)
    (folder / "a.plan.toml").write_text(MANIFEST.replace("0-200", "0-1"))
    (folder / "plan.py").write_text(PLAN)
    main(["test", ".", "--collect-only", "-q"])
    out, err = capsys.readouterr()
    assert ("a.plan.toml::clean/0" in out) == found
    assert (f"left out: {'/'.join(['d'] * 51)}: it is more than 50 folders deep\n" in err) != found


@pytest.mark.parametrize(("most", "code"), [(4, 0), (3, 2)])
def test_the_manifests_of_a_session_have_so_many_tests_at_most(most, code, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(collection, "MAX_TESTS_OF_SESSION", most)
    (tmp_path / "plan.py").write_text(PLAN)
    for name in ("a", "b"):
        (tmp_path / f"{name}.plan.toml").write_text(MANIFEST.replace("0-200", "0-1"))
    assert main(["test", ".", "--collect-only", "-q"]) == code
    said = "b.plan.toml: a session has at most 3 tests; run fewer manifests at once"
    assert (said in capsys.readouterr().out) == bool(code)


def test_a_module_that_is_named_is_not_run(tmp_path, monkeypatch, capsys):
    (tmp_path / "named_tests.py").write_text("open('ran', 'w')\ndef test_it(): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["test", "--pyargs", "named_tests"]) == 2
    assert "named_tests.py" in capsys.readouterr().err and not (tmp_path / "ran").exists()


def test_a_folder_without_tests_is_told_what_tests_are(tmp_path, monkeypatch, capsys):
    assert main(["test", ".", "-q"]) == 2
    assert "one is made with: codeplan new-test RUN" in capsys.readouterr().err


NO_TEST = "codeplan: no test ran; tests are manifests (*.plan.toml), and one is made with: codeplan new-test RUN\n"
LINK = "it is a link, and links are not followed here"


def make_no_manifests(folder: Path) -> None:
    """Put a link, a link to nothing, a folder, a pipe and a link with an escape character in a folder."""
    (folder / "real").write_text(MANIFEST)
    (folder / "a.plan.toml").symlink_to("real")
    (folder / "b.plan.toml").symlink_to("nowhere")
    (folder / "c.plan.toml").mkdir()
    os.mkfifo(folder / "d.plan.toml")
    (folder / "e\x1b]0;t\x07.plan.toml").symlink_to("real")


@pytest.mark.long
@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["here", "xdist"])
def test_manifests_that_are_no_files_are_left_out_in_a_sentence_each(more, tmp_path, monkeypatch, capfd):
    make_no_manifests(tmp_path)
    said = [f"a.plan.toml: {LINK}", f"b.plan.toml: {LINK}", "c.plan.toml: it is a folder, not a file"]
    said += ["d.plan.toml: it is a pipe, not a file", f"e]0;t.plan.toml: {LINK}"]
    lines = "".join(f"codeplan: left out: {line}\n" for line in said)
    assert main(["test", "-q", *more]) == 2
    assert capfd.readouterr().err == lines + NO_TEST
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "good.plan.toml").write_text(MANIFEST.replace("0-200", "0-1"))
    assert main(["test", "-q", *more]) == 0
    assert capfd.readouterr().err == lines


def test_a_folder_that_is_a_link_is_left_out_in_a_sentence(tmp_path, monkeypatch, capsys):
    """A link to a file that is no manifest is not worth one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "notes.md").write_text("")
    (tmp_path / "file").symlink_to("notes.md")
    assert main(["test", "-q"]) == 2
    assert capsys.readouterr().err == f"codeplan: left out: folder: {LINK}\n{NO_TEST}"


def test_many_manifests_that_are_links_are_counted(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "inner"
    folder.mkdir()
    for number in range(20, 1_030):
        (folder / f"{number}.plan.toml").symlink_to("nowhere")
    assert main(["test", "-q"]) == 2
    *lines, more, none = capsys.readouterr().err.splitlines(keepends=True)
    assert len(lines) == 5 and all(line.startswith("codeplan: left out: inner/") for line in lines)
    assert (more, none) == ("codeplan: and 1,005 more\n", NO_TEST)


def test_a_manifest_that_is_named_tells_nothing_of_the_links_beside_it(tmp_path, monkeypatch, capsys):
    make_no_manifests(tmp_path)
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "good.plan.toml").write_text(MANIFEST.replace("0-200", "0-1"))
    assert main(["test", "-q", "good.plan.toml"]) == 0
    assert capsys.readouterr().err == ""


def test_options_that_select_no_test_are_told(tmp_path, monkeypatch, capsys):
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "a.plan.toml").write_text(MANIFEST.replace("0-200", "0-1"))
    assert main(["test", "-k", "nowhere"]) == 2
    assert capsys.readouterr().err == "codeplan: no test ran: the options select none of the 2 tests\n"


@pytest.mark.parametrize("more", [(), ("-W", "error")], ids=["shown", "error"])
def test_without_pytest_s_cache_nothing_warns_of_its_folder(tmp_path, more):
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "one.plan.toml").write_text(MANIFEST.replace("0-200", "0-0"))
    shown = codeplan_on_terminal(["test", "-p", "no:cacheprovider", *more, "one.plan.toml"], tmp_path)
    assert shown.code == 0
    assert "1 passed" in shown.text and "cache_dir" not in shown.text


@pytest.mark.parametrize("more", [(), ("-n", "1")], ids=["here", "xdist"])
def test_ctrl_c_keeps_the_results_and_ends_in_one_sentence(tmp_path, monkeypatch, more):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "a.plan.toml").write_text(MANIFEST)
    shown = codeplan_on_terminal(["test", "-v", *more, "."], tmp_path, interrupt_at="PASSED")
    assert shown.code == 130
    assert "KeyboardInterrupt" not in shown.text and "Traceback" not in shown.text
    assert re.search(r"= [1-9]\d* passed in ", shown.text)
    assert shown.lines[-2:] == ["codeplan: interrupted", ""]


SUITE = """
def test_one():
    pass

def test_two(request):
    request.config.pluginmanager.get_plugin("codeplan-time")._end = {end}

def test_three():
    pass
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command that runs a plan and its manifest."""
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "a.plan.toml").write_text(MANIFEST.replace("0-200", "0-2"))
    return ["test", ".", "-q", "-p", "no:cacheprovider"]


def test_a_suite_that_is_out_of_time_ends_with_the_exit_code_of_a_budget(suite, capsys):
    assert main([*suite, "--plan-max-seconds", "0.000001"]) == 3
    shown = capsys.readouterr().out
    assert "the time of --plan-max-seconds 1e-06 is over; not all tests ran" in shown
    assert "Traceback" not in shown and " passed" not in shown


def test_a_suite_within_its_time_runs_as_without_a_limit(suite, capsys):
    assert main([*suite, "--plan-max-seconds", "3600"]) == 0
    with_limit = capsys.readouterr().out.rpartition(" in ")[0]
    assert main(suite) == 0
    assert capsys.readouterr().out.rpartition(" in ")[0] == with_limit


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon", ""])
def test_the_limit_is_a_number_above_zero(suite, seconds, capsys):
    assert main([*suite, f"--plan-max-seconds={seconds}"]) == 2
    assert "give a number of seconds above 0" in capsys.readouterr().err


@pytest.mark.parametrize(("end", "ran"), [("0.0", 2), ("1e300", 3)])
def test_the_test_that_runs_ends_and_the_next_does_not_begin(pytester, end, ran):
    pytester.makepyfile(SUITE.format(end=end))
    found = pytester.runpytest_inprocess("--plan-max-seconds", "3600")
    found.assert_outcomes(passed=ran)
    assert found.ret == (2 if ran == 2 else 0)


def test_a_limit_that_ends_during_the_last_test_changes_nothing(pytester):
    pytester.makepyfile(SUITE.format(end="0.0").partition("def test_three")[0])
    found = pytester.runpytest_inprocess("--plan-max-seconds", "3600")
    found.assert_outcomes(passed=2)
    assert found.ret == 0
