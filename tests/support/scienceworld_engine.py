"""ScienceWorld's engine for tests: whether it is here, and the same games in its package, without codeplan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codeplan.envs.scienceworld import engine
from codeplan.errors import UsageError

PACKAGE_SCRIPT = Path(__file__).with_name("scienceworld_package.py")

SAME_ORDER = "-XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
"""The options of Java that make the engine's order of things repeatable, as codeplan sets them."""


def missing_engine() -> str:
    """What is missing to play; empty if nothing is. With CODEPLAN_JAVA_REQUIRED something missing is an error."""
    try:
        engine.require_java()
        engine.find_archives()
    except UsageError as e:
        if os.environ.get("CODEPLAN_JAVA_REQUIRED"):
            raise
        return str(e)
    return ""


needs_engine = pytest.mark.skipif(bool(missing_engine()), reason=missing_engine() or "it is here")


def play_in_package(games: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Play games in a process with the package alone. See ``scienceworld_package.py``."""
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": SAME_ORDER}
    played = subprocess.run(
        [sys.executable, str(PACKAGE_SCRIPT)],
        input=json.dumps(games).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        check=True,
    )
    return list(json.loads(played.stdout))
