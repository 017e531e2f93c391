"""A configuration folder for each test, and folders that it trusts."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeplan.runner import settings_files
from codeplan.runner.settings_files import read_settings_file


@pytest.fixture(autouse=True)
def config_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """codeplan's configuration folder, which does not exist yet."""
    base = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(base))
    return base / "codeplan"


def trust_folder(folder: Path) -> None:
    """Trust the folder's settings file as it is now."""
    file = read_settings_file(folder)
    assert file is not None
    settings_files.trust(file.path, file.sha256)
