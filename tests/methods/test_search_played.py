"""The replies that benchmarks/search.py keeps still fit the prompts, and docs/methods.md has their figures."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest
from rich.table import Table

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def search():
    spec = importlib.util.spec_from_file_location("search_benchmark", ROOT / "benchmarks" / "search.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["search_benchmark"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "count"), [("household", 8), ("textcraft", 6), pytest.param("scienceworld", 1, marks=pytest.mark.long)]
)
def test_a_played_reply_still_answers_its_prompt(search, name, count):
    if why := search.missing(name):
        pytest.skip(why)
    replies, models = search.PlayedReplies(), []

    def player(label, task):
        models.append(search.ReplayedModel(replies, label, task))
        return models[-1]

    tasks = search.draw_tasks(name, count)
    for label in search.METHODS:
        results = search.play(label, tasks, player)
        assert name == "scienceworld" or all(result.success for result in results)
    assert all(model.calls_left == 0 for model in models)
    assert replies.count_kept() == 0


@pytest.mark.crosscheck
@pytest.mark.skipif("CODEPLAN_SEQUENCES" not in os.environ, reason="make crosscheck runs it")
def test_the_page_shows_the_table_of_all_played_replies(search):
    if why := search.missing("scienceworld"):
        pytest.skip(why)
    table = Table(*["method"], *search.COLUMNS)
    assert search.add_played(table) == 0
    rows = list(zip(*(column.cells for column in table.columns), strict=True))[-len(search.METHODS) :]
    shown = re.findall(r"^\| (\S.*) \|$", (ROOT / "docs" / "methods.md").read_text(), re.MULTILINE)
    assert [" | ".join(row) for row in rows if " | ".join(row) not in shown] == []


def test_a_changed_prompt_has_no_reply_unless_the_old_one_is_kept(search):
    (task,) = search.draw_tasks("household", 1)
    changed = [{"role": "user", "content": "Write a plan, please."}]
    with pytest.raises(search.NotPlayed, match=r"no reply for call 1 \(plan\) of tree on household pick/26: the words"):
        search.ReplayedModel(search.PlayedReplies(), "tree", task).complete(changed, purpose="plan")
    keeping = search.PlayedReplies(keep=True)
    assert "saltshaker" in search.ReplayedModel(keeping, "tree", task).complete(changed, purpose="plan").text
    assert keeping.count_kept() == 1
    with pytest.raises(search.NotPlayed):
        search.ReplayedModel(keeping, "tree", task).complete(changed, purpose="act")
