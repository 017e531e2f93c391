"""The scripted model: a rule-based stand-in, not a model; its success rates say nothing about models.

It lets codeplan run end to end without a key or a network. Like a model it is given the messages and nothing else, and
answers with text: plans for the tasks of codeplan's own environments with natural mistakes in them, and plans mended by
what the feedback says; in households and TextCraft it can act by turns, too.
"""

from __future__ import annotations

from codeplan.standin.model import ScriptedModel, answer_question, first_difference, recognise_prompt, required_section

__all__ = ["ScriptedModel", "answer_question", "first_difference", "recognise_prompt", "required_section"]
