"""The container's files agree with one another, and its seccomp profile opens nothing but namespaces."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
PROFILE = json.loads((ROOT / "docker" / "seccomp.json").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SCRIPT = (ROOT / "docker" / "try_without_docker.sh").read_text()
NAMESPACE_CALLS = ["mount", "pivot_root", "umount2", "unshare"]
FORBIDDEN = {"add_key", "bpf", "init_module", "kexec_load", "keyctl", "open_by_handle_at", "reboot", "setns", "swapon"}


def load_config():
    spec = importlib.util.spec_from_file_location("container_config", ROOT / "docker" / "container_config.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def allowed(machine: str, profile: dict[str, object] = PROFILE) -> set[str]:
    """The calls that a process without capabilities may make whatever their arguments are."""
    rules = load_config().seccomp(profile, machine)["syscalls"]
    return {n for rule in rules if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args") for n in rule["names"]}


def test_the_last_rule_opens_namespaces_and_nothing_else_does():
    assert PROFILE["syscalls"][-1]["names"] == NAMESPACE_CALLS
    without = {**PROFILE, "syscalls": PROFILE["syscalls"][:-1]}
    assert allowed("x86_64") - allowed("x86_64", without) == set(NAMESPACE_CALLS)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_what_endangers_the_host_stays_forbidden(machine):
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"
    assert allowed(machine) & FORBIDDEN == set()
    assert {"landlock_restrict_self", "seccomp", "prctl", "fork" if machine == "x86_64" else "execve"} <= allowed(
        machine
    )


def test_a_rule_of_another_machine_is_left_out():
    assert "arch_prctl" in allowed("x86_64")
    assert "arch_prctl" not in allowed("aarch64")


def test_the_container_has_no_capability_and_no_root():
    made = load_config().config(PROFILE, ["codeplan", "doctor"], "x86_64")
    assert made["process"]["capabilities"] == {}
    assert made["process"]["user"] == {"uid": 10001, "gid": 10001}
    assert made["process"]["args"] == ["codeplan", "doctor"]


def test_the_script_runs_the_dockerfiles_steps():
    for step in ('"/source[mcp,monty]"', '"codeplan[mcp,monty]"', "useradd --create-home --uid 10001 codeplan"):
        assert step in DOCKERFILE
        assert step in SCRIPT
    command = json.loads(re.findall(r"^CMD (.*)$", DOCKERFILE, re.MULTILINE)[0])
    assert f"run {' '.join(command)}" in SCRIPT
    assert "\nUSER codeplan\n" in DOCKERFILE
