"""Command-line options that are made from declared settings."""

from __future__ import annotations

import pytest

from codeplan.cli.app import main

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
def test_a_command_offers_its_settings(command: str, flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(command, capsys)
    assert [flag for flag in flags if f" {flag} " not in text] == []


def test_the_help_has_default_and_values_of_the_declaration(capsys: pytest.CaptureFixture[str]) -> None:
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
def test_a_value_of_another_type_is_a_usage_error(
    option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "household", option, value]) == 2
    assert message in capsys.readouterr().err
