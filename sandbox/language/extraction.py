"""Extracts a plan's source from a model's reply.

This is plain text work in linear time. It never parses Python, because a reply may be hostile and this runs in the
host. The result may still be no plan; the check reports that.
"""

from __future__ import annotations

import re

SOLUTION_HEADER = "def solution(agent, start_from=1):"

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+.#-]*+)[^\n`]*+$")
_SOLUTION = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+solution\b")
_CODE_START = re.compile(
    r"^(?:def |import |from \w[\w.]* import |#|@|[A-Za-z_]\w*[ \t]*(?::[^=\n]+)?=[^=]|\"\"\"|'''|if __name__)"
)
_BODY = re.compile(r"^[ \t]*(?:if[ \t]+start_from\b|print\(['\"]\[Step|# ?General plan)", re.IGNORECASE)
_CODE_LINE = re.compile(
    r"[ \t]*+(?:(?:async )?def \w|import \w|from \w[\w.]* import|class \w+[(:]|assert[ (]|print\(|agent\."
    r"|if start_from\b|[A-Za-z_]\w*+[ \t]*+=[^=])"
)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060"))
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f\u3000", " "))


def extract(reply: str) -> str:
    """Return the plan's source in ``reply`` with one final newline, or "" if there is none.

    It drops fences and prose, prefers the last block that defines ``solution``, adds a missing header, drops a repeated
    one and turns tabs in indentation into spaces.
    """
    lines = _clean_reply(reply).split("\n")
    blocks = _fenced_blocks(lines)
    body = _best_block(blocks) if blocks else _strip_prose(lines)
    body = _add_header(_drop_repeated_headers(_dedent_lines(body)))
    text = "\n".join(line.rstrip() for line in body).strip("\n")
    return text + "\n" if text else ""


def holds_code(text: str) -> bool:
    """Return whether at least one line of the text looks like a line of a plan."""
    return any(_CODE_LINE.match(line) for line in text.split("\n"))


def _clean_reply(reply: str) -> str:
    """Normalise line ends and indentation; drop reasoning and invisible characters."""
    thoughts = [m.end() for m in _THOUGHT_END.finditer(reply)]
    text = reply[thoughts[-1] :] if thoughts else reply
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_INVISIBLE)
    return "\n".join(_normalise_indent(line) for line in text.split("\n"))


def _normalise_indent(line: str) -> str:
    rest = line.lstrip()
    return line[: len(line) - len(rest)].translate(_SPACES).expandtabs(4) + rest


def _fenced_blocks(lines: list[str]) -> list[list[str]]:
    """Return the contents of fenced blocks. An unclosed block extends to the end."""
    blocks: list[list[str]] = []
    mark = ""
    for line in lines:
        fence = _FENCE.match(line)
        if fence and not mark:
            mark = fence.group(1)
            blocks.append([])
        elif fence and fence.group(1).startswith(mark) and not fence.group(2):
            mark = ""
        elif mark:
            blocks[-1].append(line)
    return [b for b in blocks if any(line.strip() for line in b)]


def _best_block(blocks: list[list[str]]) -> list[str]:
    """Return the last block with ``solution``, else the last that looks like its body, else the longest."""
    for sign in (_SOLUTION, _BODY):
        for block in reversed(blocks):
            if any(sign.match(line) for line in block):
                return block
    return max(blocks, key=len)


def _strip_prose(lines: list[str]) -> list[str]:
    """Return the lines from the first to the last line of code."""
    first = next((i for i, line in enumerate(lines) if _SOLUTION.match(line)), None)
    if first is None:
        first = next((i for i, line in enumerate(lines) if _BODY.match(line)), None)
        return lines if first is None else _take_until_prose(lines[first:], _indent(lines[first]))
    start = first
    while start and _leads_to_code(lines[start - 1]):
        start -= 1
    while start < first and not _CODE_START.match(lines[start]):
        start += 1
    return lines[start:first] + _take_until_prose(lines[first:], _indent(lines[first]))


def _leads_to_code(line: str) -> bool:
    """Return whether a line before ``solution`` may be code: empty, indented, or starting like code."""
    return not line.strip() or line[0] == " " or bool(_CODE_START.match(line)) or line.strip() in (")", "]", "}")


def _take_until_prose(lines: list[str], margin: int) -> list[str]:
    """Return the lines up to the first one at the margin that does not start like code."""
    kept = [lines[0]]
    for line in lines[1:]:
        at_margin = bool(line.strip()) and _indent(line) <= margin
        if at_margin and not (_CODE_START.match(line.lstrip()) or _BODY.match(line) or line.strip()[0] in ")]}"):
            break
        kept.append(line)
    return kept


def _dedent_lines(lines: list[str]) -> list[str]:
    """Return the lines without their common indentation and without empty lines around them."""
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] if line.strip() else "" for line in lines).strip("\n").split("\n")


def _drop_repeated_headers(lines: list[str]) -> list[str]:
    """Drop a header that follows another with only blank lines between them."""
    kept: list[str] = []
    last_header = False
    for line in lines:
        header = bool(_SOLUTION.match(line))
        if header and last_header:
            continue
        if line.strip():
            last_header = header and line.rstrip().endswith(":")
        kept.append(line)
    return kept


def _add_header(lines: list[str]) -> list[str]:
    """Put a body without a header under one."""
    if any(_SOLUTION.match(line) for line in lines) or not any(_BODY.match(line) for line in lines):
        return lines
    return [SOLUTION_HEADER, *(f"    {line}" if line.strip() else "" for line in lines)]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
