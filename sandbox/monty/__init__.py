"""A second backend: plans run in Monty, an interpreter of Python written in Rust."""

from __future__ import annotations

from codeplan.sandbox.monty.backend import DIFFERENCES, MontyBackend

__all__ = ["DIFFERENCES", "MontyBackend"]
