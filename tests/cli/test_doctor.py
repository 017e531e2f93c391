"""What ``codeplan doctor`` finds on this machine."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplan.cli.app import main
from codeplan.doctor import Finding, examine, is_safe
from codeplan.sandbox.protocol.frames import OPTIONAL_LAYERS

KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@dataclass
class Found:
    findings: tuple[Finding, ...]

    def __getitem__(self, name: str) -> Finding:
        (found,) = [f for f in self.findings if f.name == name]
        return found


def test_python_and_the_core_packages_are_there_with_their_versions() -> None:
    found = Found(examine())
    for name in ("Python", "codeplan", "RestrictedPython", "libcst", "openai", "msgspec", "jinja2", "typer", "rich"):
        assert found[name].status == "ok"
        assert found[name].detail[0].isdigit()


def test_a_locked_sandbox_runs_a_plan_here_or_the_report_says_what_is_missing() -> None:
    findings = examine()
    sandbox = [f for f in findings if f.group == "Sandbox"]
    assert len(sandbox) > 3
    assert all(f.advice for f in sandbox if f.status != "ok")
    assert is_safe(findings) == all(f.status != "missing" for f in sandbox)


def test_the_namespaces_are_listed_and_never_necessary() -> None:
    findings = {f.name: f for f in examine() if f.group == "Sandbox"}
    assert set(OPTIONAL_LAYERS) < set(findings)
    assert {findings[name].status for name in OPTIONAL_LAYERS} <= {"ok", "absent"}


def test_a_missing_layer_is_not_safe() -> None:
    assert is_safe((Finding("Sandbox", "seccomp", "ok"),))
    assert not is_safe((Finding("Sandbox", "seccomp", "ok"), Finding("Sandbox", "landlock", "missing")))
    assert is_safe((Finding("Sandbox", "pid-namespace", "absent"),))
    assert is_safe((Finding("Extras", "monty", "absent"), Finding("Model", "key", "absent")))


def test_without_a_key_the_advice_says_how_to_get_to_a_real_model() -> None:
    found = Found(examine())
    assert found["key"].status == "absent"
    assert "OPENAI_API_KEY" in found["key"].advice
    assert found["scripted"].status == "ok"


def test_a_key_is_found_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://me:{KEY}@localhost:8000/v1")
    findings = examine()
    assert KEY not in repr(findings)
    assert Found(findings)["key"].status == "ok"
    assert Found(findings)["endpoint"].detail == "http://localhost:8000/v1 (from OPENAI_BASE_URL)"


def test_an_invalid_address_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    assert Found(examine())["endpoint"].status == "missing"


def test_the_endpoint_is_called_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/v1")
    assert not [f for f in examine() if f.name == "answer"]
    answer = Found(examine(online=True))["answer"]
    assert answer.status == "missing"
    assert "cannot be reached" in answer.detail


def test_the_command_prints_a_mark_per_finding_and_exits_by_the_sandbox(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor"])
    text = capsys.readouterr().out
    assert code == (0 if is_safe(examine()) else 1)
    assert "✓ Python" in text
    assert "Sandbox" in text


def test_the_command_prints_json_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--json"])
    output = json.loads(capsys.readouterr().out)
    assert output["ok"] == (code == 0)
    assert {"group", "name", "status"} <= set(output["findings"][0])


def test_java_is_optional_and_named_with_its_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    for version, status, told in (("21.0.2", "ok", "version 21"), ("1.8.0_392", "absent", "for scienceworld")):
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        program.chmod(0o755)
        found = Found(examine())["java"]
        assert (found.status, told in found.detail) == (status, True)
    assert "Java 11 or newer" in found.advice
