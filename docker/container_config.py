"""Writes an OCI runtime's ``config.json`` for a command in a container as Docker would run it, without privileges.

``python docker/container_config.py PROFILE COMMAND…`` reads a seccomp profile in Docker's form.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

USER = 10001
NAMESPACES = ["pid", "ipc", "uts", "mount", "network"]
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
MOUNTS = [
    {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
    {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]},
]
# As Docker hides them from containers.
MASKED = ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug"]


def seccomp(profile: dict[str, Any], machine: str) -> dict[str, Any]:
    """Return the runtime's filter: the profile's rules for this machine and a process without capabilities."""
    arch = MACHINES[machine]
    kept = []
    for rule in profile["syscalls"]:
        wanted, unwanted = rule.get("includes", {}), rule.get("excludes", {})
        if wanted.get("caps") or arch not in wanted.get("arches", [arch]) or arch in unwanted.get("arches", []):
            continue
        kept.append({k: v for k, v in rule.items() if k in ("names", "action", "args", "errnoRet")})
    architecture = {"amd64": "SCMP_ARCH_X86_64", "arm64": "SCMP_ARCH_AARCH64"}[arch]
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile["defaultErrnoRet"],
        "architectures": [architecture],
        "syscalls": kept,
    }


def config(profile: dict[str, Any], command: list[str], machine: str) -> dict[str, Any]:
    """Return the whole configuration."""
    return {
        "ociVersion": "1.0.2",
        "root": {"path": "rootfs", "readonly": False},
        "process": {
            "terminal": False,
            "user": {"uid": USER, "gid": USER},
            "args": command,
            "env": ["PATH=/usr/bin:/bin", "HOME=/home/codeplan", "LANG=C.UTF-8"],
            "cwd": "/home/codeplan",
            "capabilities": {},
            "noNewPrivileges": False,
        },
        "mounts": MOUNTS,
        "linux": {
            "namespaces": [{"type": name} for name in NAMESPACES],
            "maskedPaths": MASKED,
            "seccomp": seccomp(profile, machine),
        },
    }


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps(config(found, sys.argv[2:], platform.machine()), indent=1))
