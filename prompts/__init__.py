"""The words that codeplan says to a model: ``.j2`` files by method and by environment, rendered strictly.

A chat template has two blocks, ``system`` (what stays the same from task to task, so that endpoints can cache it) and
``user`` (this task). A worked example is a plain file, ``<environment>/<kind>.j2``. Nothing is read before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.prompts.templates import Message, PromptError, Prompts

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "templates": "Message PromptError Prompts",
    },
)

__all__ = ["Message", "PromptError", "Prompts"]
