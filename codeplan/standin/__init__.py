"""The stand-in: a scripted model that lets codeplan run end to end without a key or a network."""

from __future__ import annotations

from codeplan.standin.mistakes import Mistakes
from codeplan.standin.model import ScriptedModel

__all__ = ["Mistakes", "ScriptedModel"]
