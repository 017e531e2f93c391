"""Clients for language models at endpoints that speak OpenAI's protocol."""

from __future__ import annotations

from codeplan.llm.connections import cancel_calls_on_interrupt
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import RoutedModel

__all__ = ["OpenAIModel", "RoutedModel", "cancel_calls_on_interrupt"]
