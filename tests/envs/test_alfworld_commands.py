"""The commands with ALFWorld, an environment that needs data on disk."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.alfworld_files import write

from codeplan.cli.app import main


@pytest.fixture
def data(tmp_path):
    """A folder with three games of ALFWorld."""
    for kind, seed in (("pick", 1), ("heat", 2), ("heat", 3)):
        write(tmp_path / "valid_unseen", kind, seed)
    return tmp_path


def test_envs_lists_the_data_and_how_to_run_it(data, capsys):
    assert main(["envs", "alfworld", "--data", str(data)]) == 0
    out = capsys.readouterr().out
    assert "valid_unseen (3)" in out
    assert "3 of the 134 games" in out
    assert f"codeplan run alfworld --data {data} --task pick" in out or "--task pick_heat" in out


def test_envs_says_how_to_get_missing_data(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["envs", "alfworld"]) == 0
    assert "pip install alfworld && alfworld-download" in capsys.readouterr().out
    assert main(["envs"]) == 0
    assert "household" in capsys.readouterr().out
    assert main(["run", "alfworld"]) == 2
    assert main(["bench", "alfworld-unseen"]) == 2
    message = capsys.readouterr().err.splitlines()
    assert all("pip install alfworld && alfworld-download" in line for line in message)
    assert len(message) == 2


def test_envs_names_each_damaged_file_with_the_reason(data, capsys):
    game = sorted(data.rglob("game.tw-pddl"))[0]
    game.write_text("{")
    assert main(["envs", "alfworld", "--data", str(data)]) == 0
    assert f"fault   the game file {game} is damaged or half downloaded" in capsys.readouterr().out
    main(["envs", "alfworld", "--data", str(data), "--json"])
    (about,) = json.loads(capsys.readouterr().out)
    assert len(about["faults"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "alfworld-unsen"], "did you mean 'alfworld-unseen'"),
        (["bench", "alfworld-unseen", "--split", "train"], "leave the split out"),
        (["bench", "alfworld-seen", "--data", "DATA"], "has no split valid_seen here; there are: valid_unseen"),
        (
            ["bench", "alfworld", "--data", "DATA", "--kind", "cool"],
            "no task of kind cool in its split valid_unseen; that split has: pick, heat",
        ),
        (
            ["bench", "household", "--data", "DATA"],
            "there is no setting 'data' for household or adaplanner or scripted",
        ),
        (["envs", "--data", "DATA"], "name it, as in: codeplan envs alfworld --data FOLDER"),
        (["envs", "household", "--data", "DATA"], "has no setting 'data'"),
        (["run", "alfworld", "--data", "DATA", "--task", "x"], "no task 'x'"),
    ],
)
def test_a_usage_error_is_one_line(data, arguments, message, capsys):
    assert main([str(data) if word == "DATA" else word for word in arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_the_first_command_of_the_page_works(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "envs" / "alfworld.md").read_text()
    first = re.search(r"```bash\n(.*)\n", page)
    assert first
    done = subprocess.run(
        [sys.executable, "-m", *first[1].split()],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PATH": ""},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "alfworld-download" in done.stdout
