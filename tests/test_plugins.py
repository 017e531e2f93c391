"""Settings of what is made by name: what fits, and what is said of what does not."""

from pathlib import Path
from typing import Annotated, Literal

import pytest

from codeplan import plugins
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.plugins import Setting, SettingSpec
from codeplan.runner.episodes import run

Size = Literal["small", "large"]


class Boxes:
    def __init__(
        self,
        size: Annotated[Size, Setting("How large the boxes are.")] = "small",
        boxes: int = 3,
        data: Path | None = None,
        note: str | None = None,
        options: dict[str, int] | str = "",
    ) -> None:
        self.size = size


def test_a_spec_has_the_name_type_default_and_help_of_each_setting():
    size, boxes, *_ = plugins.setting_specs(Boxes)
    assert size == SettingSpec("size", Size, "small", False, Setting("How large the boxes are."))
    assert boxes == SettingSpec("boxes", int, 3)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("size", "large", "large"),
        ("boxes", "4", 4),
        ("note", "4", "4"),
        ("note", "null", None),
        ("options", '{"a": 1}', {"a": 1}),
        ("options", "{a", "{a"),
    ],
)
def test_a_text_is_read_by_the_settings_type(name, text, value):
    spec = next(s for s in plugins.setting_specs(Boxes) if s.name == name)
    assert spec.parse(text) == value


def test_a_text_that_does_not_fit_is_refused_with_the_type():
    with pytest.raises(UsageError, match=r"boxes=four does not fit: .* it takes int"):
        plugins.setting_specs(Boxes)[1].parse("four")


@pytest.mark.parametrize(
    ("settings", "takes"),
    [({"size": "huge"}, "'small' or 'large'"), ({"boxes": "three"}, "int"), ({"data": 3}, "Path or None")],
)
def test_a_setting_that_does_not_fit_is_refused_with_its_type(settings, takes):
    with pytest.raises(UsageError) as error:
        plugins.build(Boxes, settings, "the environment boxes")
    assert str(error.value).endswith(f"; it takes {takes}")


@pytest.mark.parametrize("play", [lambda **s: run("household", **s), AdaPlanner], ids=["by name", "as an object"])
def test_a_setting_of_the_loop_is_refused_likewise(play):
    with pytest.raises(UsageError, match=r"resume_by='luck' .* it takes 'syntax' or 'model'"):
        play(resume_by="luck")


def test_a_setting_without_a_default_is_asked_for():
    def boxes(size: int) -> int:
        return size

    assert plugins.build(boxes, {"size": 3}, "the environment boxes") == 3
    with pytest.raises(UsageError, match="the environment boxes needs a value for its setting size"):
        plugins.build(boxes, {}, "the environment boxes")


def test_packages_that_register_wrongly_do_not_hide_the_others(tmp_path, monkeypatch, capsys):
    (tmp_path / "wrong-1.dist-info").mkdir()
    (tmp_path / "wrong-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 1\n")
    registered = "[codeplan.envs]\nlost = wrong_package:Boxes\n[codeplan.methods]\nnone = codeplan.errors:Nothing\n"
    (tmp_path / "wrong-1.dist-info" / "entry_points.txt").write_text(registered)
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins._registered.cache_clear()
    try:
        assert main(["envs"]) == 0
        shown = capsys.readouterr().out
        assert "the environment 'lost' cannot be loaded" in shown
        assert "codeplan run household" in shown
        assert main(["methods"]) == 0
        assert "the method 'none' cannot be loaded" in capsys.readouterr().out
        assert main(["run", "household", "--method", "none"]) == 2
    finally:
        plugins._registered.cache_clear()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5_000])
def test_a_text_that_python_cannot_read_as_json_is_a_text(text):
    assert plugins.parse_assignment(f"plan={text}", "--set") == ("plan", text)
