"""What ``codeplan test`` makes of pytest's header."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeplan.cli.app import main


@pytest.mark.parametrize("given", [[], ["-c", "mine.ini"]])
def test_the_header_names_the_users_configuration_alone(
    given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.ini").write_text("[pytest]\n")
    main(["test", *given, "."])
    header = capsys.readouterr().out
    assert "rootdir: " in header
    assert "/dev/null" not in header
    assert ("configfile: mine.ini" in header) == bool(given)
