"""Models in Python files of the user: ``FILE.py:NAME`` on a command line.

The file runs in this process, with the rights of the user who named it. This module handles only text that the user
typed.
"""

from __future__ import annotations

from typing import Any

from codeplan.errors import UsageError
from codeplan.llm.callable_model import CallableModel, is_model_function
from codeplan.protocols import LLM, require_members
from codeplan.runner import models
from codeplan.tools.tool_files import object_of_file
from codeplan.untrusted.values import in_quotes

_FORM = "write FILE.py:NAME, a function of messages, or an LLM"


def is_model_file(given: str) -> bool:
    """Whether the text has the form of a file instead of a model's name."""
    return ".py:" in given or given.endswith(".py")


def model_of_file(given: str) -> Any:
    """The function or object of ``FILE.py:NAME``. Raises: UsageError: the file has no such object, or it is a text."""
    if given.endswith(".py"):
        raise UsageError(f"a model in a file needs the name of its function: --model {given}:NAME")
    found = object_of_file(given, f"names no single model; {_FORM}")
    if isinstance(found, str):
        raise UsageError(f"{in_quotes(given)} is a text; {_FORM}")
    return found


def use_model(given: str) -> str:
    """The name under which the model of ``FILE.py:NAME`` is known in this process from now on.

    Any other text is a model's name already. Raises: UsageError: the file offers no model, or one with a name that is
    taken.
    """
    if not is_model_file(given):
        return given
    found = model_of_file(given)
    if isinstance(found, type):
        raise UsageError(f"{in_quotes(given)} is a class; {_FORM}")
    if is_model_function(found):
        return models.register(CallableModel(found))
    require_members(found, LLM, f"the model {in_quotes(given)}")
    return models.register(found)
