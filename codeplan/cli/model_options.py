"""The option --model of commands that run one episode: a model's name, or a function of the user's."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def model_or_name(given: str | None) -> Any:
    """What an argument stands for: the object of ``FILE.py:NAME``, which runs a file that the user names, or a name.

    Raises: UsageError: the file has no such object, or it is a text.
    """
    from codeplan.errors import UsageError

    if given is not None and given.endswith(".py"):
        raise UsageError(f"a model in a file needs the name of its function: --model {given}:NAME")
    if given is None or ".py:" not in given:
        return given
    from codeplan.tools.tool_files import object_of_file
    from codeplan.untrusted.values import in_quotes

    form = "write FILE.py:NAME, a function of messages, or an LLM"
    found = object_of_file(given, f"names no single model; {form}")
    if isinstance(found, str):
        raise UsageError(f"{in_quotes(given)} is a text; {form}")
    return found


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
