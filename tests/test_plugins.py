"""Settings of what is made by name: what fits, and what is said of what does not."""

from pathlib import Path
from typing import Literal

import pytest

from codeplan import plugins
from codeplan.cli import main
from codeplan.errors import UsageError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.runner.live import run

Size = Literal["small", "large"]


class World:
    def __init__(self, size: Size = "small", boxes: int = 3, data: Path | None = None) -> None:
        self.size = size


@pytest.mark.parametrize(
    ("settings", "takes"),
    [
        ({"size": "huge"}, "Literal['small', 'large']"),
        ({"boxes": "three"}, "int"),
        ({"data": 3}, "pathlib.Path | None"),
    ],
)
def test_a_setting_that_does_not_fit_is_told_what_it_takes(settings, takes):
    with pytest.raises(UsageError) as told:
        plugins.build(World, settings, "the environment world")
    assert str(told.value).endswith(f"; it takes {takes}")


@pytest.mark.parametrize("play", [lambda **s: run("household", **s), AdaPlanner], ids=["by name", "as an object"])
def test_so_is_a_setting_of_the_loop(play):
    with pytest.raises(UsageError, match=r"resume_by='luck' .* it takes Literal\['syntax', 'model'\]"):
        play(resume_by="luck")


def test_a_setting_without_a_default_is_asked_for():
    def world(size: int) -> int:
        return size

    assert plugins.build(world, {"size": 3}, "the environment world") == 3
    with pytest.raises(UsageError, match="the environment world needs a value for its setting size"):
        plugins.build(world, {}, "the environment world")


def test_packages_that_register_wrongly_do_not_hide_the_others(tmp_path, monkeypatch, capsys):
    (tmp_path / "wrong-1.dist-info").mkdir()
    (tmp_path / "wrong-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 1\n")
    registered = "[codeplan.envs]\nlost = wrong_package:World\n[codeplan.methods]\nnone = codeplan.errors:Nothing\n"
    (tmp_path / "wrong-1.dist-info" / "entry_points.txt").write_text(registered)
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins._found.cache_clear()
    try:
        assert main(["envs"]) == 0
        told = capsys.readouterr().out
        assert "the environment 'lost' cannot be loaded" in told
        assert "codeplan run household" in told
        assert main(["methods"]) == 0
        assert "the method 'none' cannot be loaded" in capsys.readouterr().out
        assert main(["run", "household", "--method", "none"]) == 2
    finally:
        plugins._found.cache_clear()
