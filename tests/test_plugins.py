"""Settings of what is made by name: what fits, and what is said of what does not."""

from pathlib import Path
from typing import Literal

import pytest

from codeplan import plugins, run
from codeplan.errors import UsageError
from codeplan.methods.adaplanner import AdaPlanner

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
