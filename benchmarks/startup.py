"""Measures the time of ``codeplan --help`` and the size of the core install. codeplan must be installed."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15
LIMIT_MS = 300
LIMIT_MB = 120


def main() -> None:
    """Print both figures beside their limits."""
    help_ms = median_ms([sys.executable, "-m", "codeplan", "--help"])
    python_ms = median_ms([sys.executable, "-c", "pass"])
    print(
        f"codeplan --help   {help_ms:6.0f} ms   median of {RUNS}; limit {LIMIT_MS}; python -c pass {python_ms:.0f} ms"
    )
    megabytes, packages = core_install()
    print(f"core install      {megabytes:6.0f} MB   {packages} packages, codeplan included; limit {LIMIT_MB}")


def median_ms(command: list[str]) -> float:
    """The median wall time of a command in milliseconds, after one warm-up run."""
    times = []
    for _ in range(RUNS + 1):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times[1:])


def core_install() -> tuple[float, int]:
    """Megabytes and packages that installing codeplan adds to an empty virtual environment."""
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        site = next(Path(folder).glob("lib/python*/site-packages"))
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--target", str(site)]
        subprocess.run([*pip, str(root)], check=True)
        files = [f for f in site.rglob("*") if f.is_file() and not f.is_symlink()]
        return sum(f.stat().st_size for f in files) / 1e6, len(list(site.glob("*.dist-info")))


if __name__ == "__main__":
    main()
