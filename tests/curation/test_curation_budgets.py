"""A total budget ends curation between episodes; the library keeps what was found until then."""

import re

import pytest
from support.curation_samples import made

from codeplan.budget import Spending, TotalBudget
from codeplan.cli.app import main
from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.filtering import FilterRule, filter_candidates
from codeplan.skills.library import SkillLibrary


class CountingSpending(Spending):
    """Refuses after so many episodes."""

    def __init__(self, episodes):
        super().__init__(TotalBudget(tokens=10**9))
        self.left = episodes

    def add(self, result):
        super().add(result)
        self.left -= 1
        if not self.left:
            self._budget = TotalBudget(tokens=1)


@pytest.mark.parametrize("test", ["sequential", "fixed"])
def test_a_spent_budget_leaves_the_candidate_open_with_the_pairs_that_were_run(tmp_path, test):
    library, skill = SkillLibrary(tmp_path / "skills"), made("heat")
    library.add(skill)
    spending = CountingSpending(13)
    runner = CurationRunner("household", workers=1, spending=spending, gaps=0.8, sample_kinds="pick")
    rule = FilterRule(alone=5, pairs=20, test=test)
    (row,) = filter_candidates(runner, library, runner.tasks("train"), [skill], rule)
    assert (row.status, row.verdict, row.alone_solved) == ("candidate", "open", 5)
    assert row.pairs == (4 if test == "sequential" else 0)
    assert spending.stopped_by is not None and spending.stopped_by.kind == "tokens"
    assert runner.failures == []


@pytest.mark.parametrize(
    "command", [["discover", "household", "-n", "1", "--compare", "1"], ["filter", "household"], ["check"]]
)
def test_the_commands_stop_at_a_budget_and_say_what_they_spent(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    library = SkillLibrary(tmp_path / "skills")
    library.add(made("heat"))
    if command == ["check"]:
        library.change(made("heat"), status="active")
        row = CurationRunner("household").run_planner(CurationRunner("household").find_task("heat/0"), "seen")
        CurationRunner("household").record_evidence(library, library.get_by_name("heat-good"), row, "check")
    assert main(["skills", *command, "-j", "1", "--library", "skills", "--max-tokens", "1"]) == 3
    said = capsys.readouterr()
    assert re.search(r"^spent: [1-9][0-9]* model calls?, [1-9][0-9,]* tokens? in, ", said.out, re.MULTILINE)
    assert "the budget of 1 tokens is spent; the library keeps what was found until then" in said.err


def test_with_json_what_was_spent_is_said_on_standard_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    SkillLibrary(tmp_path / "skills").add(made("heat"))
    assert main(["skills", "filter", "household", "--library", "skills", "--max-seconds", "0", "--json"]) == 3
    said = capsys.readouterr()
    assert said.out.startswith("{")
    assert "spent: 0 model calls, 0 tokens in, 0 out, $0.00" in said.err
