"""Language models: the scripted stand-in, and whatever speaks OpenAI's protocol. ``connect`` makes one by name."""

from __future__ import annotations

from codeplan.llm.background_loop import cancel_calls_on_interrupt
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import RoutedModel

__all__ = ["OpenAIModel", "RoutedModel", "cancel_calls_on_interrupt"]
