"""The option --model of commands that run one episode: a model's name, or a function of the user's."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def model_or_name(given: str | None) -> Any:
    """What an argument stands for: the object of ``FILE.py:NAME``, which runs a file that the user names, or a name.

    Raises: UsageError: the file has no such object, or it is a text.
    """
    if given is None or ".py" not in given:
        return given
    from codeplan.runner.model_files import is_model_file, model_of_file

    return model_of_file(given) if is_model_file(given) else given


OwnModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="'scripted' (a stand-in, no key needed), an endpoint's model, or FILE.py:FUNCTION. [scripted]",
        callback=model_or_name,
    ),
]
LiveModel = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="An endpoint's model, or FILE.py:FUNCTION.", callback=model_or_name),
]
