"""Finds the Java program and the two archives of classes that the engine needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from codeplan.errors import UsageError

JAVA_ADVICE = (
    "ScienceWorld needs Java 11 or newer: install one, such as Debian's with: apt-get install -y default-jre-headless; "
    "codeplan takes the one in $JAVA_HOME, otherwise the one on the PATH"
)

PACKAGE_ADVICE = "ScienceWorld's engine is not installed; run: pip install 'codeplan[scienceworld]'"

_OLDEST = 11
_VERSION = re.compile(r'version "(?:1\.)?(\d{1,4})')
_MAX_VERSION_SECONDS = 30.0


def find_java() -> str:
    """The Java program of $JAVA_HOME, or the one on the PATH. Raises: UsageError if there is none."""
    home = os.environ.get("JAVA_HOME")
    named = Path(home, "bin", "java") if home else None
    found = str(named) if named and named.is_file() else shutil.which("java")
    if not found:
        raise UsageError(f"there is no Java here; {JAVA_ADVICE}")
    return os.path.abspath(found)


def java_version(java: str) -> int:
    """The major version of a Java program; 0 if it does not report one."""
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, timeout=_MAX_VERSION_SECONDS, check=False, env={}
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _VERSION.search(told[:4000].decode("utf-8", "replace"))
    return int(found[1]) if found else 0


def require_java() -> str:
    """A Java program that is new enough. Raises: UsageError if there is none."""
    java = find_java()
    version = java_version(java)
    if version < _OLDEST:
        told = f"is Java {version}" if version else "does not tell its version"
        raise UsageError(f"{java} {told}; {JAVA_ADVICE}")
    return java


def find_archives() -> tuple[Path, Path]:
    """The archives of Py4J, which offers the engine's methods on a socket, and of the engine. Py4J's comes first:
    the engine's archive holds an older one, which cannot ask for a password.

    They are looked up among the files that pip installed, because Py4J's own function could take one from the current
    folder.
    Raises: UsageError if one is missing.
    """
    py4j = _archive("py4j", ".jar", "share/py4j/py4j")
    return py4j, _archive("scienceworld", "scienceworld/scienceworld.jar", "")


def _archive(package: str, ending: str, part: str) -> Path:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        raise UsageError(PACKAGE_ADVICE) from None
    for file in files:
        if file.as_posix().endswith(ending) and part in file.as_posix():
            path = Path(os.path.abspath(os.fspath(file.locate())))
            if path.is_file():
                return path
    raise UsageError(f"the package {package} lacks its archive of Java classes; install it again")
