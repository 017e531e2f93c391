"""Several models behind one: each purpose of a call has its model, such as a strong planner and a cheap answerer."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.protocols import LLM, CountsCalls, Embeds
from codeplan.types import Completion, Embeddings, Message, Purpose
from codeplan.untrusted.values import in_quotes

ROUTES: dict[str, tuple[Purpose, ...]] = {
    "ask_model": ("ask",),
    "refine_model": ("refine", "resume"),
    "executor_model": ("act", "formalise"),
}
"""Settings that name a separate model, with its purposes; the main model serves every other purpose."""

_FOLLOWERS: dict[str, str] = {"bind": "ask", "refine_text": "refine"}
"""Purposes that go to the same model as another one."""


class RoutedModel:
    """Passes each call to the model for its purpose, or to ``main`` if that purpose has none.

    Raises: UsageError: ``routes`` names a purpose that does not exist.
    """

    def __init__(self, main: LLM, routes: Mapping[str, LLM]) -> None:
        for purpose in routes:
            _check_purpose(purpose)
        followers = {purpose: routes[other] for purpose, other in _FOLLOWERS.items() if other in routes}
        self.main, self._routes = main, followers | dict(routes)
        others = [f"{purpose}: {model.name}" for purpose, model in routes.items()]
        self.name = f"{main.name} ({', '.join(others)})" if others else main.name

    def __repr__(self) -> str:
        return f"RoutedModel({self.main!r}, {self._routes!r})"

    @property
    def settings(self) -> dict[str, Any]:
        """The main model's settings, its name as ``main_model``, and each other model's by purpose as ``routes``."""
        routes = {purpose: {"model": m.name, **_model_settings(m)} for purpose, m in self._routes.items()}
        return {**_model_settings(self.main), "main_model": self.main.name, "routes": routes}

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Ask the model for this purpose; raises UsageError for an unknown purpose, and what that model raises."""
        _check_purpose(purpose)
        model = self._routes.get(purpose, self.main)
        return model.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)

    def for_episode(self) -> RoutedModel:
        """This model for one episode: each model that counts calls starts from zero."""
        fresh = copy.copy(self)
        fresh.main = _begin(self.main)
        fresh._routes = {purpose: _begin(model) for purpose, model in self._routes.items()}
        return fresh

    def count_call(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> None:
        """Count a call that a recording answered, at the model for this purpose."""
        model = self._routes.get(purpose, self.main)
        if isinstance(model, CountsCalls):
            model.count_call(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        """Ask the main model's endpoint; raises UsageError if it does not embed texts, and what it raises."""
        if not isinstance(self.main, Embeds):
            raise UsageError(f"the model {self.main.name} does not embed texts")
        return self.main.embed(texts, model=model)


def _check_purpose(purpose: str) -> None:
    valid = get_args(Purpose)
    if purpose not in valid:
        raise UsageError(
            f"there is no purpose {in_quotes(purpose)} of a model call; {plugins.suggest_names(purpose, valid)}"
        )


def _begin(model: LLM) -> LLM:
    return model.for_episode() if isinstance(model, CountsCalls) else model


def _model_settings(model: LLM) -> dict[str, Any]:
    return dict(getattr(model, "settings", {}))
