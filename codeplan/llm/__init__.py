"""Language models: the scripted stand-in, and whatever speaks OpenAI's protocol. ``connect`` makes one by name."""

from __future__ import annotations

from codeplan.llm.background import interruptible
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import Routed

__all__ = ["OpenAIModel", "Routed", "interruptible"]
