"""Command-line options that are made from declared settings, and from fields of dataclasses."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from codeplan import cli
from codeplan.cli.app import main
from codeplan.cli.commands import add_command

SHARED = ["--base-url", "--api", "--prices", "--mistakes", "--model-seed"]
ROUTES = ["--ask-model", "--refine-model", "--executor-model"]
LIMITS = ["--max-actions", "--max-model-calls", "--max-tokens", "--max-money", "--max-seconds"]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([command, "--help"]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("run", [*SHARED, *ROUTES, *LIMITS, "--temperature", "--tries", "--resume-by", "--code-check"]),
        ("exec", [*SHARED, *LIMITS, "--temperature"]),
        ("bench", [*SHARED, *ROUTES, "--resume-by", "--code-check"]),
    ],
)
def test_a_command_offers_its_settings(command, flags, capsys):
    text = help_of(command, capsys)
    assert [flag for flag in flags if f" {flag} " not in text] == []


def test_the_help_has_default_and_values_of_the_declaration(capsys):
    text = help_of("run", capsys)
    assert "--resume-by syntax|model" in text
    assert "Runs of a plan at most. [6]" in text
    assert "Model calls of any purpose. [200]" in text


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--tries", "many", "tries=many"),
        ("--max-actions", "1.5", "actions=1.5"),
        ("--resume-by", "magic", "resume_by=magic"),
        ("--api", "soap", "api=soap"),
    ],
)
def test_a_value_of_another_type_is_a_usage_error(option, value, message, capsys):
    assert main(["run", "household", option, value]) == 2
    assert message in capsys.readouterr().err


@dataclass(frozen=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: str = "x"
    inner: Inner


def test_a_value_that_is_no_choice_is_refused_with_the_choices_alone(capsys):
    assert main(["exec", "plan.py", "--fixes", "maybe"]) == 2
    assert capsys.readouterr().err == (
        "codeplan: Invalid value for '--fixes': 'maybe' is not one of 'on', 'off'; see 'codeplan exec --help'\n"
    )


def test_a_command_gets_the_dataclasses_whose_fields_are_its_options():
    got: list[Any] = []

    def command(first: str, *, outer: Outer, last: bool = False) -> None:
        got.extend((first, outer, last))

    app = typer.Typer()
    add_command(app, "command", command, "command a")
    assert CliRunner().invoke(app, ["a", "--depth", "3", "--last"]).exit_code == 0
    assert got == ["a", Outer(name="x", inner=Inner(3)), True]


def parameters(function: ast.FunctionDef) -> int:
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def test_no_function_of_the_command_line_has_more_than_a_dozen_parameters():
    trees = (ast.parse(file.read_text()) for file in Path(cli.__file__).parent.glob("*.py"))
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert [function.name for function in functions if parameters(function) > 12] == []
