"""The served endpoint for commands that ask it, and the command line in a fresh folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.endpoint import serve

from codeplan.cli.app import main

__all__ = ["serve"]


class Ran(NamedTuple):
    """The exit code of a command, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs the command line in a fresh folder, without a key."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "CODEPLAN_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Ran:
        code = main(arguments)
        out, err = capsys.readouterr()
        return Ran(code, str(out), str(err))

    return run
