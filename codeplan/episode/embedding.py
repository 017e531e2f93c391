"""Which model embeds texts in an episode."""

from __future__ import annotations

from codeplan.errors import UsageError
from codeplan.protocols import LLM, Embeds, WrapsModel


def find_embedding_model(model: LLM) -> Embeds:
    """The model that embeds: ``model`` itself, or the main one of several.

    Raises: UsageError: that model does not embed.
    """
    while isinstance(model, WrapsModel):
        model = model.main
    if not isinstance(model, Embeds):
        raise UsageError(
            f"the model {model.name} does not embed texts; leave the setting embeddings out, or take a model at an "
            "endpoint that does"
        )
    return model
