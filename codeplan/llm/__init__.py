"""Language models: the scripted stand-in, and whatever answers Chat Completions. ``connect`` makes one by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.protocols import LLM

__all__ = ["OpenAIModel", "connect", "settings"]


def settings(name: str) -> tuple[str, ...]:
    """The names of the settings that ``connect`` takes for the model of this name."""
    return tuple(s for s in plugins.accepted(_model_class(name)) if s != "name")


def connect(name: str, **given: Any) -> LLM:
    """The model of this name: ``"scripted"`` is the stand-in without a network; any other is asked for at an endpoint.

    Settings are those of the model's class; ``model_seed`` is the stand-in's, or that of the requests (best effort).
    Nothing is sent yet. Raises UsageError for an empty name, a missing key, or a setting that the model does not take,
    or not of that type.
    """
    for key in given:
        if key not in settings(name):
            raise UsageError(f"the model {name!r} has no setting {key!r}; {plugins.choices(key, settings(name))}")
    named = {} if name == "scripted" else {"name": name}
    model: LLM = plugins.build(_model_class(name), {**named, **given}, f"the model {name!r}")
    return model


def _model_class(name: str) -> Callable[..., LLM]:
    if name != "scripted":
        return OpenAIModel
    from codeplan.llm.scripted import ScriptedModel

    return ScriptedModel
