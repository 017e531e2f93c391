"""Grids of trainings that cannot be: one sentence each."""

from __future__ import annotations

import pytest
from support.training_samples import GRID, plan

from codeplan.bench.bench_spec import read_spec, untrusted_settings
from codeplan.bench.grid import TrainingGrid
from codeplan.cli.app import main
from codeplan.errors import UsageError


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("batches = []", "learn.batches is empty; name at least one batch size"),
        ("batches = [0]", "learn.batches has the number 0; give 1 to 1000"),
        ("batches = [2, 2]", "learn.batches names a batch size twice: [2, 2]"),
        ("trainings = 0", "learn.trainings has the number 0; give 1 to 1000"),
        ("iterations = -1", "learn.iterations has the number -1; give 1 to 1000"),
        ("batches = [1, 2, 3, 4, 5, 6]\ntrainings = 1000", "the table learn asks for 12,000 plans; a cell has at most"),
        ("iterations = 1000", "1,000 iterations of 2 tasks need 2,000 tasks, but textcraft has"),
        ('split = "nowhere"', "textcraft has no tasks of kind depth2 in its split nowhere"),
        ('split = "test"', "of the split test; autoplan learns from train only"),
        ("size = 3", "Object contains unknown field `size`"),
        ('batches = "many"', "Expected `array`, got `str`"),
        ("settings = {batch = 4}", "a grid of trainings sets batch itself; leave the setting batch out"),
        ("settings = {nonsense = 4}", "nonsense"),
    ],
)
def test_an_impossible_grid_is_one_sentence(line, message, tmp_path, capsys):
    names = tuple(one.partition("=")[0] for one in line.splitlines())
    kept = [one for one in GRID.splitlines() if not one.startswith(names)]
    (tmp_path / "grid.toml").write_text("\n".join([*kept, line]))
    assert main(["bench", str(tmp_path / "grid.toml"), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def test_a_grid_has_a_thousand_of_each_and_ten_thousand_plans_at_most():
    assert TrainingGrid((1, 1000), 1, 1).batches == (1, 1000)
    assert TrainingGrid((4,), 1000, 10).trainings * 10 == 10_000
    assert TrainingGrid((4,), 10, 1000).iterations * 10 == 10_000
    for batches, trainings, iterations, wrong in (
        ((1001,), 1, 1, "batches has the number 1001"),
        ((4,), 1001, 1, "trainings has the number 1001"),
        ((4,), 1, 1001, "iterations has the number 1001"),
        ((4,), 137, 73, "asks for 10,001 plans; a cell has at most 10,000"),
    ):
        with pytest.raises(UsageError, match=wrong):
            TrainingGrid(batches, trainings, iterations)


def test_by_default_trainings_are_on_train_tasks_with_the_settings_of_the_bench():
    grid = TrainingGrid((4,), 1, 1)
    assert (grid.split, grid.seed, grid.settings) == ("train", 0, {})


def test_a_method_that_does_not_learn_is_refused():
    with pytest.raises(UsageError, match="the method react has no setting plan, so it cannot be trained"):
        plan(methods=["react"])


def test_a_bench_with_trainings_needs_a_folder_that_all_workers_share(play):
    for settings in ({"folder": None}, {"storage": "memory://x"}):
        with pytest.raises(UsageError, match="trainings keep their plans in the bench's folder"):
            play(plan(), **settings)
    with pytest.raises(UsageError, match="trainings go on no tape"):
        play(plan(), tapes={"tape": object()})


def test_a_link_in_place_of_the_trainings_is_refused(tmp_path, play):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "trainings").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="the training cannot be written to"):
        play(plan())
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_settings_of_trainings_are_trusted_no_more_than_others(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text(f'{GRID}settings = {{prompts = "/etc"}}\n')
    assert untrusted_settings(read_spec(file)) == {"prompts": "/etc"}
