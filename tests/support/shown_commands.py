"""What a page shows to its readers: files to save, and commands to type."""

from __future__ import annotations

import re
import shlex


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
