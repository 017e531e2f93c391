"""Extracts a plan's source from a model's reply.

This is plain text work in linear time. It never parses Python, because a reply may be hostile and this runs in the
host. The result need not be a valid plan; the check reports that. Where the text alone does not tell where the code
ends, ``readings`` returns several texts, and a worker finds the first that is Python (``Sandbox.read_reply``).
"""

from __future__ import annotations

import contextlib
import html
import json
import re
from collections.abc import Iterator
from typing import Final

from codeplan.types.value import Value
from codeplan.untrusted.texts import THOUGHT_END, THOUGHT_START, without_channels

SOLUTION_HEADER = "def solution(agent, start_from=1):"

PARAMETERS_OPENING = "# Parameters, with their values for the task:"
PARAMETERS_CLOSING = "# End of the parameters."
"""The comments around the parameters of a generalised plan."""

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+.#-]*+)[^\n`]*+$")
_SOLUTION = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+solution\b")
_CODE_START = re.compile(
    r"^(?:def |import |from \w[\w.]* import |#|@|[A-Za-z_]\w*[ \t]*(?::[^=\n]+)?=[^=]|\"\"\"|'''|if __name__)"
)
_BODY = re.compile(r"^[ \t]*(?:if[ \t]+start_from\b|print\(['\"]\[Step|# ?General plan)", re.IGNORECASE)
_GUARD = re.compile(r"[ \t]*+if\b[^\n]*\bstart_from\b")
_FUNCTION = re.compile(r"^[ \t]*def[ \t]+\w")
_RETURN = re.compile(r"[ \t]*+return(?:[ \t]*+$|[ \t(\[{'\"])")
_DEFINITION = re.compile(r"(?:def |import |from |[A-Za-z_]\w*[ \t]*(?::[^=\n]+)?=[^=])")
_ACTION = re.compile(r"\b(?:agent|ask_llm)\b(?=[.(])")
_CODE_LINE = re.compile(
    r"(?:>>> |\.\.\. | *+\d{1,5}+ *+[|:│] |\+)?[ \t]*+"
    r"(?:(?:async )?def \w|import \w|from \w[\w.]* import|class \w+[(:]|assert[ (]|print\(|agent\."
    r"|if start_from\b|[A-Za-z_]\w*+[ \t]*+=[^=])"
)
_WORDS = re.compile(r"[^\W\d_]+")
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060"))
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f\u3000", " "))


STEPS_ALONE: Final = "steps-alone"
"""The check's rule for steps without a plan to merge them into."""


STALE_RETURN: Final = "stale-return"
"""The check's rule for a ``return`` of names that a changed plan no longer sets: it is removed, with a warning."""


class MergedReply(Value, frozen=True):
    """The previous plan with the reply's ``steps`` (their numbers) in place of its own."""

    source: str
    steps: tuple[int, ...]


def extract(reply: str) -> str:
    """Return the whole plan in ``reply`` with one final newline, or "" if there is none.

    It is the code of the reply; a body of ``solution`` without its header gets one.
    """
    return add_header(extract_code(reply))


def extract_code(reply: str) -> str:
    """Return the code in ``reply`` with one final newline, or "" if there is none: a whole plan, or some steps.

    It drops fences and prose, prefers the last block that defines ``solution``, joins blocks of steps, drops a repeated
    header and turns tabs in indentation into spaces.
    """
    lines = _clean_reply(reply).split("\n")
    return _finish(_likeliest(lines))


MAX_READINGS: Final = 24
"""Into how many texts a reply is read at most."""


def readings(reply: str) -> tuple[str, ...]:
    """Return what the code of ``reply`` may be, at most MAX_READINGS texts; the first of them that is Python is meant.

    Most replies have one. The others hold fences or lines at the left margin in texts in triple quotes, or prose that
    looks like code. The whole reply comes first if it begins like code; then what ``extract_code`` returns; then longer
    texts, up to later fences or later prose, the longest first; at last shorter ones, which lack nothing that acts.
    """
    lines = _clean_reply(reply).split("\n")
    likeliest = _likeliest(lines)
    first = next((line for line in lines if line.strip()), "")
    whole = [_dedent_lines(lines)] if _begins_code(first) else []
    longer = _to_later_fences(lines) if _uses_fences(lines) else _to_later_prose(lines)
    trimmed = [_trim(text) for text in (likeliest, *longer)]
    shorter = [part for text in (*whole, *longer[:1], likeliest) for part in _without_prose_behind(text)]
    found = map(_finish, [*whole, likeliest, *longer, *trimmed, *shorter][: MAX_READINGS - 2])
    return tuple(dict.fromkeys([*found, *(_finish(text.split("\n")) for text in _unescaped(likeliest))]))


def _unescaped(lines: list[str]) -> list[str]:
    """Return the code as it was before something escaped it as JSON or as HTML, curled its quotation marks or put a
    margin before its lines: none of that is Python.
    """
    code = "\n".join(lines)
    bare = _without_margin(lines)
    found = ["\n".join(bare)] if bare != lines else []
    found += [_CURLED.sub(_uncurl, code)] if any(mark in code for mark in "“”‘’") else []
    found += [html.unescape(code)] if any(mark in code for mark in _HTML_MARKS) else []
    if "\\n" in code and code.count("\n") < 3:
        found.append(code.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'"))
    return found


def _uncurl(found: re.Match[str]) -> str:
    """Return a text in curled quotation marks in straight ones; what Python reads as a text or comment stays."""
    for mark, text in (('"', found["double"]), ("'", found["single"])):
        if text is not None:
            return mark + text + mark
    return found.group()


_HTML_MARKS: Final = ("&lt;", "&gt;", "&quot;", "&amp;", "&#39;", "&#x27;")


def _finish(lines: list[str]) -> str:
    text = "\n".join(line.rstrip() for line in _drop_repeated_headers(lines)).strip("\n")
    text = text.rstrip("`").rstrip() if text.endswith("```") else text  # a fence that closes on the last line of code
    return text + "\n" if text else ""


def _likeliest(lines: list[str]) -> list[str]:
    return _choose_blocks(_fenced_blocks(lines)) if _uses_fences(lines) else _dedent_lines(_strip_prose(lines))


def _uses_fences(lines: list[str]) -> bool:
    """Return whether the code stands in fenced blocks, and not only beside them."""
    blocks = _fenced_blocks(lines)
    return bool(blocks) and (any(map(_is_program, blocks)) or not _is_program(_outside_fences(lines)))


def _is_program(lines: list[str]) -> bool:
    return any(_SOLUTION.match(line) or _GUARD.match(line) for line in lines)


def _outside_fences(lines: list[str]) -> list[str]:
    outside, mark = list[str](), ""
    for line in lines:
        mark, is_inside = _next_mark(line, mark)
        if not is_inside:
            outside.append(line)
    return outside


def _next_mark(line: str, mark: str) -> tuple[str, bool]:
    """Return the mark of the fence that is open after a line, and whether the line belongs to a block."""
    fence = _FENCE.match(line)
    if fence and not mark:
        return fence.group(1), True
    if fence and fence.group(1).startswith(mark) and not fence.group(2):
        return "", True
    return mark, bool(mark)


def _begins_code(line: str) -> bool:
    signs = (_SOLUTION.match(line), _BODY.match(line), _FUNCTION.match(line), _GUARD.match(line))
    return any(signs) or bool(_CODE_START.match(line.lstrip()))


def _to_later_fences(lines: list[str]) -> list[list[str]]:
    """Return the blocks from each opening fence of a program to each later fence that could close it, longest first.

    Only the first few openings and the last few ends are tried.
    """
    found: list[list[str]] = []
    fences = [(at, fence) for at, line in enumerate(lines) if (fence := _FENCE.match(line))]
    for number, (start, opening) in enumerate(fences[:_MAX_OPENINGS]):
        ends = [at for at, f in fences[number + 1 :] if f.group(1).startswith(opening.group(1)) and not f.group(2)]
        if len(ends) > 1:
            blocks = [lines[start + 1 : end] for end in (len(lines), *ends[:0:-1][:_MAX_ENDS])]
            found += [_dedent_lines(block) for block in blocks if _is_program(block)]
    return sorted(found, key=len, reverse=True)


_MAX_OPENINGS: Final = 3
_MAX_ENDS: Final = 6


def _to_later_prose(lines: list[str]) -> list[list[str]]:
    """Return the code from its start to each later place where prose may begin, the longest first."""
    rest, first = _from_code(lines)
    if first is None:
        return []
    margin, ends, in_prose = _indent(rest[first]), list[int](), False
    for at, line in enumerate(rest[first + 1 :], first + 1):
        is_prose = bool(line.strip()) and _indent(line) <= margin and not _continues_code(line)
        if is_prose and not in_prose:
            ends.append(at)
        in_prose = is_prose or (in_prose and not line.strip())
    return [_dedent_lines(rest[:end]) for end in (len(rest), *ends[:0:-1][: MAX_READINGS // 2])] if ends else []


def _without_prose_behind(lines: list[str]) -> list[list[str]]:
    """Return the text up to each later line at its margin behind which nothing acts, the longest first."""
    ends: list[int] = []
    for at in range(len(lines) - 1, 0, -1):
        line = lines[at]
        if _GUARD.match(line) or _FUNCTION.match(line) or _ACTS.match(line) or _ACTION.search(line):
            break
        if line.strip() and _indent(line) == 0:
            ends.append(at)
    return [lines[:end] for end in ends[: MAX_READINGS // 6]]


_ACTS = re.compile(r"[ \t]*+(?:assert|print|return|raise|for|while|if|else|elif|try|except|with|class|async)\b")


def _trim(lines: list[str]) -> list[str]:
    """Return the lines without the indentation of the first one: lines of a text may have less."""
    margin = _indent(lines[0]) if lines else 0
    return [line[min(margin, _indent(line)) :] for line in lines]


def add_header(code: str) -> str:
    """Return the code under a header, if it is the body of ``solution`` without one. Lines of its texts stay."""
    lines = code.split("\n")
    if defines_solution(code) or not any(_BODY.match(line) for line in lines):
        return code
    inside = lines_in_texts(code)
    body = (line if at in inside else f"    {line}" if line.strip() else "" for at, line in enumerate(lines))
    return "\n".join([SOLUTION_HEADER, *body])


_TOKEN = re.compile(r"#[^\n]*+|\"\"\"|'''|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?", re.DOTALL)
_CURLED = re.compile(rf"{_TOKEN.pattern}|[“”](?P<double>[^“”\"\n]*+)[“”]|[‘’](?P<single>[^‘’'\n]*+)[‘’]", re.DOTALL)
_DOUBLE_END = re.compile(r'(?:[^\\"]|\\.|"(?!""))*+"""', re.DOTALL)
_SINGLE_END = re.compile(r"(?:[^\\']|\\.|'(?!''))*+'''", re.DOTALL)


def lines_in_texts(code: str) -> frozenset[int]:
    """Return the numbers, from 0, of the lines that begin within a text in triple quotes."""
    found: set[int] = set()
    place = line = 0
    while token := _TOKEN.search(code, place):
        end = token.end()
        is_long = token.group() in ('"""', "'''")
        if is_long:
            closing = _DOUBLE_END.match(code, end) if token.group() == '"""' else _SINGLE_END.match(code, end)
            if closing is None:
                break
            end = closing.end()
        first = line + code.count("\n", place, token.start())
        last = first + code.count("\n", token.start(), end)
        if is_long:
            found.update(range(first + 1, last + 1))
        place, line = end, last
    return frozenset(found)


def in_fence(code: str) -> str:
    """Return the code in a Markdown fence, as a model writes it; the fence is longer than any in the code."""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", code))])
    return f"{fence}python\n{code}\n{fence}"


def defines_solution(code: str) -> bool:
    """Return whether the code has a header ``def solution``."""
    return any(_SOLUTION.match(line) for line in code.split("\n"))


def holds_code(text: str) -> bool:
    """Return whether at least one line of the text looks like a line of a plan."""
    return any(_CODE_LINE.match(line) for line in text.split("\n"))


def prose_of(reply: str) -> str:
    """Return the words of a reply without any code; "" if it holds code, a fence, or no words, or is data or a tag, as
    calls of tools are.
    """
    text = _clean_reply(reply).strip()
    lines = text.split("\n")
    if (
        text.startswith(("{", "[", "<"))
        or holds_code(text)
        or any(map(_FENCE.match, lines))
        or any(map(_BODY.match, lines))
    ):
        return ""
    return text if len(_WORDS.findall(text)) > 1 or text.endswith(("?", "？")) else ""


def _clean_reply(reply: str) -> str:
    """Normalise line ends and indentation; drop reasoning and invisible characters."""
    text = _without_thoughts(reply).replace("\r\n", "\n").replace("\r", "\n").translate(_INVISIBLE)
    text = _plan_in_json(text) or text
    text = "\n".join(_without_margin(text.split("\n")))
    return "\n".join(_normalise_indent(line) for line in text.split("\n"))


_MARGINS = (
    re.compile(r"> ?(?!>)"),  # of a quotation
    re.compile(r"(?:>>>|\.\.\.)(?: |$)"),  # of Python's prompt
    re.compile(r"(?<! ) *+\d{1,5}+ *+[|:│](?: |$)"),  # of line numbers
    re.compile(r"\+"),  # of a difference
)
_DIFFERENCE_HEAD = re.compile(r"(?:---|\+\+\+|@@)(?: |$)")


def _without_margin(lines: list[str]) -> list[str]:
    """Return the lines without what stands before each of them, in a quotation for example."""
    told = [line for line in lines if not _DIFFERENCE_HEAD.match(line)]
    first = next((line for line in told if line.strip()), "")
    for margin in _MARGINS:
        if margin.match(first) and all(margin.match(line) for line in told if line.strip()):
            return [margin.sub("", line, count=1) for line in told]
    return lines


def _plan_in_json(text: str) -> str:
    """Return the one text in JSON that is a plan, as models write it that learned to answer in fields or by calls of
    tools; "" if there is none. Around the JSON there may be prose or tags.
    """
    starts = [m.start() for m in _JSON_START.finditer(text)][:_MAX_JSON_STARTS] if "start_from" in text else []
    for start in starts:
        try:
            data, end = _JSON.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        around = [*text[:start].split("\n"), *text[end:].split("\n")]
        plans = [] if _is_program(around) else [*dict.fromkeys(_programs_in(data))]
        if len(plans) == 1:
            return plans[0]
    return ""


_JSON: Final = json.JSONDecoder(strict=False)
_JSON_START = re.compile(r"[\[{]")
_MAX_JSON_STARTS: Final = 3
_MAX_JSON_DEPTH: Final = 6


def _programs_in(data: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts in JSON data that are plans. The arguments of a call may themselves be JSON in a text."""
    if depth > _MAX_JSON_DEPTH:
        return
    if isinstance(data, str):
        if data.lstrip()[:1] in ("{", "["):
            with contextlib.suppress(ValueError, RecursionError):
                yield from _programs_in(json.loads(data, strict=False), depth + 1)
        elif _is_program(data.split("\n")):
            yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _programs_in(value, depth + 1)


def _without_thoughts(reply: str) -> str:
    """Return what follows the last thought; if that holds no code, what stands before the first one, too."""
    reply = without_channels(reply)
    ends = [m.end() for m in THOUGHT_END.finditer(reply)]
    if not ends:
        return reply
    start = THOUGHT_START.search(reply)
    before = reply[: start.start()] if start and start.start() < ends[0] else ""
    after = reply[ends[-1] :]
    return before + after if holds_code(before) and not holds_code(after) else after


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


def _choose_blocks(blocks: list[list[str]]) -> list[str]:
    """Return the last block with ``solution``, else all blocks with steps, else the last block that looks like a body,
    else the longest block.
    """
    for block in reversed(blocks):
        if any(_SOLUTION.match(line) for line in block):
            return _dedent_lines(block)
    if any(_holds_steps(block) for block in blocks):
        parts = [_dedent_lines(block) for block in blocks]
        return [line for part in parts if _holds_steps(part) or _holds_definitions(part) for line in (*part, "")]
    bodies = [block for block in blocks if any(_BODY.match(line) for line in block)]
    return _dedent_lines(bodies[-1] if bodies else max(blocks, key=len))


def _holds_steps(block: list[str]) -> bool:
    return any(_GUARD.match(line) for line in block)


def _holds_definitions(block: list[str]) -> bool:
    """Return whether a block holds only functions and constants, which do not act."""
    outer = [line for line in block if line.strip() and line[0] not in " )]}#"]
    return bool(outer) and all(_DEFINITION.match(line) and not _ACTION.search(line) for line in outer)


def _strip_prose(lines: list[str]) -> list[str]:
    """Return the lines from the first to the last line of code."""
    rest, first = _from_code(lines)
    return rest if first is None else rest[:first] + _take_until_prose(rest[first:], _indent(rest[first]))


def _from_code(lines: list[str]) -> tuple[list[str], int | None]:
    """Return the lines from the first line of code on, and which of them begins the program.

    Without a program they are all lines, and None.
    """
    first = next(
        (i for sign in (_SOLUTION, _BODY, _FUNCTION) for i, line in enumerate(lines) if sign.match(line)), None
    )
    if first is None:
        return lines, None
    start = first
    while start and _leads_to_code(lines[start - 1]):
        start -= 1
    while start < first and not _CODE_START.match(lines[start].lstrip()):
        start += 1
    return lines[start:], first - start


def _leads_to_code(line: str) -> bool:
    """Return whether a line before ``solution`` may be code: empty, indented, or starting like code."""
    return not line.strip() or line[0] == " " or bool(_CODE_START.match(line)) or line.strip() in (")", "]", "}")


def _take_until_prose(lines: list[str], margin: int) -> list[str]:
    """Return the lines up to the first one at the margin that does not start like code."""
    kept = [lines[0]]
    for line in lines[1:]:
        at_margin = bool(line.strip()) and _indent(line) <= margin
        if at_margin and not _continues_code(line):
            break
        kept.append(line)
    return kept


def _continues_code(line: str) -> bool:
    """Return whether a line at the margin starts like code, or ends what a line before it began."""
    starts = _CODE_START.match(line.lstrip()) or _BODY.match(line) or _RETURN.match(line)
    return bool(starts) or line.strip()[0] in ")]}"


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


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
