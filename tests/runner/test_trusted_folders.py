"""The list of trusted files at its limits: each condition of the list holds on one side and fails on the other."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from support.trusted import config_folder

from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.runner.settings_files import (
    MAX_LIST_BYTES,
    _require_own_file,
    forget,
    is_trusted,
    load_config,
    real_path,
    trust,
    trusted_files,
)

__all__ = ["config_folder"]

DIGEST = "0" * 64
OTHER = "f" * 64


def write_list(folder: Path, text: str, mode: int = 0o600) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "trusted.json").write_text(text)
    (folder / "trusted.json").chmod(mode)


def test_a_file_is_trusted_by_its_path_and_its_digest_together(tmp_path):
    file, other = tmp_path / "codeplan.toml", tmp_path / "pyproject.toml"
    assert not is_trusted(file, DIGEST)
    trust(file, DIGEST)
    trust(other, OTHER)
    assert is_trusted(file, DIGEST)
    assert is_trusted(other, OTHER)
    assert not is_trusted(file, OTHER)
    assert not is_trusted(other, DIGEST)


def test_a_new_version_takes_the_place_of_the_old_one_and_of_no_other_file(tmp_path):
    file, other = tmp_path / "codeplan.toml", tmp_path / "pyproject.toml"
    for place, digest in ((file, DIGEST), (other, DIGEST), (file, OTHER)):
        trust(place, digest)
    assert [(entry.path, entry.sha256) for entry in trusted_files()] == [(str(file), OTHER), (str(other), DIGEST)]


def test_only_the_named_place_is_forgotten(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    files = [tmp_path / "a.toml", inner / "b.toml", inner / "c.toml"]
    for file in files:
        trust(file, DIGEST)
    assert forget(inner / "b.toml") == (str(inner / "b.toml"),)
    assert forget(tmp_path) == (str(tmp_path / "a.toml"),)  # not what is in its folders
    assert [entry.path for entry in trusted_files()] == [str(inner / "c.toml")]
    assert forget(tmp_path / "in") == ()
    assert forget(inner) == (str(inner / "c.toml"),)


def test_a_folder_that_is_gone_can_be_forgotten(tmp_path):
    trust(tmp_path / "gone" / "codeplan.toml", DIGEST)
    assert forget(tmp_path / "gone") == (str(tmp_path / "gone" / "codeplan.toml"),)


def test_forgetting_nothing_writes_nothing(tmp_path, config_folder):
    trust(tmp_path / "codeplan.toml", DIGEST)
    before = (config_folder / "trusted.json").stat().st_ino  # each write makes a new file
    assert forget(tmp_path / "other") == ()
    assert (config_folder / "trusted.json").stat().st_ino == before


def test_links_in_the_folder_are_resolved_but_not_the_file_s_own(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "codeplan.toml").symlink_to("elsewhere.toml")
    assert real_path(tmp_path / "link" / "codeplan.toml") == str(tmp_path / "real" / "codeplan.toml")


def test_the_list_may_have_exactly_so_many_bytes(config_folder):
    empty = '{"trusted": []}'
    write_list(config_folder, empty.ljust(MAX_LIST_BYTES))
    assert trusted_files() == ()
    write_list(config_folder, empty.ljust(MAX_LIST_BYTES + 1))
    with pytest.raises(UsageError, match="is damaged"):
        trusted_files()


def test_a_full_list_takes_a_file_that_just_fits_and_can_be_read_again(tmp_path, config_folder):
    trust(tmp_path / "a", DIGEST)
    trust(tmp_path / "b", DIGEST)
    left = MAX_LIST_BYTES - (config_folder / "trusted.json").stat().st_size
    with pytest.raises(UsageError, match=r"is full; .*--forget"):
        trust(tmp_path / "b", "0" * (65 + left))
    trust(tmp_path / "b", "0" * (64 + left))
    assert (config_folder / "trusted.json").stat().st_size == MAX_LIST_BYTES
    assert len(trusted_files()) == 2


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400, 0o755, 0o620, 0o602])
def test_a_list_that_a_group_or_others_may_write_is_not_read(config_folder, mode):
    write_list(config_folder, '{"trusted": []}', mode)
    if mode & 0o022:
        with pytest.raises(UsageError, match="others may write"):
            trusted_files()
    else:
        assert trusted_files() == ()


@pytest.mark.parametrize("owner", [0, 1, os.geteuid(), os.geteuid() + 1])
def test_the_list_must_belong_to_the_user_or_to_root(owner):
    status = os.stat_result((stat.S_IFREG | 0o600, 1, 1, 1, owner, 0, 0, 0, 0, 0))
    if owner in (0, os.geteuid()):
        _require_own_file(Path("list"), status)
    else:
        with pytest.raises(UsageError, match="take it over with chown"):
            _require_own_file(Path("list"), status)


def test_without_a_home_nothing_is_trusted_and_nothing_can_be(tmp_path, monkeypatch, capsys):
    (tmp_path / "codeplan.toml").write_text("model = 'mine'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", "relative")
    for command in (["trust"], ["trust", "--forget"]):
        assert main(command) == 2
        assert "there is no home folder" in capsys.readouterr().err
    assert load_config(tmp_path, {}).ignored == ("model",)
    assert not Path("relative").exists()


def test_the_list_is_json_in_ascii_with_a_line_for_each_value(tmp_path, config_folder):
    trust(tmp_path / "é\udcff", DIGEST)
    text = (config_folder / "trusted.json").read_bytes()
    assert text.isascii() and text.endswith(b"\n")
    assert json.loads(text) == {"trusted": [{"path": f"{tmp_path}/é\udcff", "sha256": DIGEST}]}
    assert is_trusted(tmp_path / "é\udcff", DIGEST)
