"""The templates of prompts, ``.j2`` files by method and by environment, and the code that renders them strictly.

A chat template has two blocks: ``system`` (the same for every task, so that endpoints can cache it) and ``user`` (this
task). A worked example is a plain file, ``<environment>/<kind>.j2``. Files are read on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.prompts.templates import PromptError, Prompts

__getattr__, __dir__ = lazy_names(__name__, {"templates": "PromptError Prompts"})

__all__ = ["PromptError", "Prompts"]
