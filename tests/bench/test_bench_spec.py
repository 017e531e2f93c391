"""A bench is planned from names and tables, and nothing begins before all of it was tried on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.bench_samples import plan

from codeplan.bench.bench_spec import NAMED_SUITES, read_spec, resolve_bench, select_tasks
from codeplan.envs.registry import make
from codeplan.errors import UsageError

FILE = """
suites = ["household", "textcraft"]
methods = ["adaplanner", {name = "adaplanner", resume_by = "model", label = "asked"}]
models = [{name = "scripted", mistakes = "none"}, {name = "tiny", base_url = "http://127.0.0.1:9/v1", api_key = "hush"}]
repeats = 2
n = 1
common = {tries = 2}
[budget]
actions = 9
"""


def test_a_file_describes_every_combination(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(FILE)
    made = resolve_bench(read_spec(tmp_path / "grid.toml"))
    names = [c.name for c in made.grid.cells]
    assert len(names) == 8
    assert names[:2] == ["household.adaplanner.scripted,mistakes=none", "household.adaplanner.tiny"]
    assert names[6] == "textcraft.asked.scripted,mistakes=none"
    assert made.settings[names[6]] == {"tries": 2, "mistakes": "none", "resume_by": "model"}
    assert {c.budget.actions for c in made.grid.cells} == {9}
    assert len(made.grid.tasks["household"]) == 6
    assert made.grid.repeats == 2


def test_secrets_reach_the_episodes_but_not_the_grid(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(FILE)
    made = resolve_bench(read_spec(tmp_path / "grid.toml"))
    assert made.settings["household.adaplanner.tiny"]["api_key"] == "hush"
    assert "hush" not in str(made.grid) and "127.0.0.1" not in str(made.grid)


def test_configured_settings_yield_to_all_others() -> None:
    asked = read_from(common={"tries": 2})
    made = resolve_bench(asked, lambda model: {"tries": 9, "mistakes": "many"} if model == "scripted" else {})
    assert made.settings == {"household.adaplanner.scripted": {"tries": 2, "mistakes": "many"}}


def read_from(**more):
    import msgspec

    from codeplan.bench.bench_spec import BenchSpec

    return msgspec.convert({"suites": ["household"], "n": 1, **more}, BenchSpec)


def test_the_grid_holds_the_environments_no_effect_prefixes() -> None:
    assert plan().grid.cells[0].no_effect_prefixes == ("Nothing happens.",)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"suites": ["houshold"]}, "did you mean 'household'"),
        ({"methods": ["adaplaner"]}, "did you mean 'adaplanner'"),
        ({"settings": [{"trys": 1}]}, "there is no setting 'trys'"),
        ({"methods": []}, "without methods"),
        ({"repeats": 0}, "repeats is 0"),
        ({"split": "night"}, "no split night"),
        ({"methods": [{"tries": 2}]}, "has no name"),
        ({"methods": ["adaplanner", "adaplanner"]}, "are called"),
    ],
)
def test_unknown_names_are_refused_before_anything_starts(asked: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(**asked)


@pytest.mark.parametrize(("text", "message"), [("suites = [", "does not describe a bench"), ("suits = ['x']", "suits")])
def test_an_invalid_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "grid.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_spec(tmp_path / "grid.toml")
    with pytest.raises(UsageError, match="cannot be read"):
        read_spec(tmp_path / "none.toml")


def test_a_suite_always_has_the_same_tasks() -> None:
    env = make("textcraft")
    tasks = select_tasks("textcraft", env)
    assert len(tasks) == 200
    assert tasks == select_tasks("textcraft", make("textcraft"))
    few = select_tasks("textcraft", env, n=2)
    assert few == tuple(t for t in tasks if t in few)
    assert {k: [t for t in few if t.kind == k] for k in env.kinds} == {
        k: [t for t in tasks if t.kind == k][:2] for k in env.kinds
    }


def test_a_named_suite_has_its_split() -> None:
    with pytest.raises(UsageError, match="leave the split out"):
        select_tasks("alfworld-unseen", make("household"), split="test")
    assert NAMED_SUITES["alfworld-seen"].split == "valid_seen"


def test_no_nested_secret_is_in_a_name_or_in_the_grid() -> None:
    made = plan(
        methods=[{"name": "adaplanner", "tries": 1}], models=[{"name": "tiny", "api_key": "hush", "timeout": 9}]
    )
    assert [c.name for c in made.grid.cells] == ["household.adaplanner,tries=1.tiny,timeout=9"]
    nested = plan(suites=["textcraft"], kind=None, methods=[{"name": "try-again", "executor": {"name": "react"}}])
    assert nested.grid.cells[0].name == "textcraft.try-again,executor=react.scripted"
    assert nested.grid.cells[0].settings == {"executor": {"name": "react"}}


@pytest.mark.parametrize("entry", [{"tries": [0] * 100_000}, {"name": "adapt", "executor": {"calls": [0] * 100_000}}])
def test_an_entry_without_a_name_is_quoted_within_bounds(entry: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        plan(methods=[entry])
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(("methods", "models"), [(1001, 1), (3000, 3000)])
def test_too_many_combinations_are_refused_before_any_is_tried_on(methods: int, models: int, tmp_path: Path) -> None:
    """A file of 70 KB could otherwise ask for nine million."""
    lists = f"methods = {['adaplanner'] * methods}\nmodels = {['scripted'] * models}\n"
    (tmp_path / "grid.toml").write_text('suites = ["household"]\n' + lists)
    with pytest.raises(UsageError, match=rf"at most 1,000 combinations .*, not {methods * models:,}"):
        read_spec(tmp_path / "grid.toml")
