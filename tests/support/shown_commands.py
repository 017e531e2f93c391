"""What a page shows to its readers: files to save, and commands to type."""

from __future__ import annotations

import functools
import re
import shlex

from typer.main import get_command

from codeplan.cli.app import app


def named_files(page: str) -> dict[str, str]:
    """The page's code blocks that have a file's name as their title."""
    titles = ((re.search(r'title="([\w./-]+)"', heading), text) for heading, text in code_blocks(page))
    return {title[1]: text for title, text in titles if title}


def code_blocks(page: str) -> list[tuple[str, str]]:
    """Each code block: what stands behind its opening fence, and its text. An indented block's heading is empty."""
    found: list[tuple[str, str]] = []
    heading: str | None = None
    lines: list[str] = []
    for line in [*page.splitlines(), ""]:
        if line.startswith("```"):
            if heading is not None:
                found.append((heading, "".join(lines)))
            heading, lines = (line[3:], []) if heading is None else (None, [])
        elif heading is not None:
            lines.append(f"{line}\n")
        elif line.startswith("    "):
            lines.append(f"{line[4:]}\n")
        elif lines:
            found.append(("", "".join(lines)))
            lines = []
    return found


def codeplan_commands(page: str) -> list[list[str]]:
    """The arguments of each ``codeplan`` command in the page's blocks of commands, without comments."""
    lines = [line for heading, text in code_blocks(page) if heading in ("", "bash") for line in text.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("codeplan ")]


all_commands = functools.partial(functools.cache(get_command), app)
"""The commands with their options; typer makes them from signatures."""


def understand(arguments: list[str]) -> str:
    """Read a command as the command line does, run nothing, and return its name, such as ``codeplan skills show``.

    Raises: AssertionError or click's UsageError: there is no such command, option or choice, or something is missing.
    """
    command = all_commands()
    context = command.make_context("codeplan", [*arguments], resilient_parsing=True)
    while hasattr(command, "resolve_command"):
        given = arguments
        name, command, arguments = command.resolve_command(context, arguments)
        assert command is not None, f"no such command: {given[0]}"
        is_group = hasattr(command, "resolve_command")
        context = command.make_context(name, [*arguments], parent=context, resilient_parsing=is_group)
    return context.command_path
