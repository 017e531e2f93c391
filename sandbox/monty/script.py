"""Turns a plan into the script that Monty runs: its parts as functions over one namespace, between calls to the host.

This is text work only. The check, which parsed the plan in its cage, says where the steps are; Monty parses the script
in its own process.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from codeplan.sandbox.protocol.codec import MAX_NODES, RETURNED_NAME
from codeplan.sandbox.runtime.names import RESERVED_NAMES, is_reserved
from codeplan.types import Plan

GUEST_SOURCE: Final = (
    r"""
import re, json, math, random, string, collections
from collections import Counter, defaultdict, deque
_on_ = ['on']
_tags_ = {'list': 'list', 'tuple': 'tuple', 'dict': 'dict', 'set': 'set', 'frozenset': 'frozenset'}
_tags_['Counter'] = 'counter'
_literal_ = re.compile(
    r"(?:\s|[\[\](){},:+\-]|\d[\w.]*|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|True|False|None)+"
)

def literal_eval(text, _eval_=eval, _literal_=_literal_):
    if not _literal_.fullmatch(text):
        raise ValueError('malformed node or string: ' + repr(text))
    return _eval_(text.strip())

def _tag_(value, kind, str=str):
    if kind == 'deque':
        return 'deque' if value.maxlen is None else 'deque:' + str(value.maxlen)
    if kind == 'defaultdict':
        made = str(value.default_factory)
        return 'default:' + (made[8:-2] if made.startswith("<class '") else made)
    return _tags_.get(kind)

def _node_(value, kind, hex=hex, repr=repr):
    if kind == 'int':
        return value if -9007199254740992 < value < 9007199254740992 else ['int', hex(value)]
    if kind == 'float':
        return value if value - value == 0 else ['float', repr(value)]
    return ['bytes', value.hex()] if kind == 'bytes' else value

def _fill_(root, nodes, seen, type=type, id=id, len=len, list=list, reversed=reversed):
    waiting, size = [(None, root)], 0
    while waiting:
        owner, value = waiting.pop()
        kind = type(value).__name__
        at = len(nodes)
        if kind in ('NoneType', 'bool', 'int', 'float', 'str', 'bytes'):
            nodes.append(_node_(value, kind))
            size += len(value) if kind in ('str', 'bytes') else 0
        elif _tag_(value, kind) is None:
            return 'a ' + kind + ' cannot be saved'
        elif id(value) in seen:
            at = seen[id(value)]
        else:
            seen[id(value)] = at
            node = [_tag_(value, kind)]
            nodes.append(node)
            parts = list(value)
            if kind in ('dict', 'Counter', 'defaultdict'):
                parts = [part for item in value.items() for part in item]
            waiting += [(node, part) for part in reversed(parts)]
        if owner is not None:
            owner.append(at)
        if len(nodes) + len(waiting) > MAX_NODES or size > _most_bytes_:
            return 'too large for a checkpoint'
    return ''

def _table_(variables, len=len, id=id, type=type):
    nodes, names, dropped, seen = [], {}, {}, {}
    for name, value in variables.items():
        mark = len(nodes)
        known = seen.get(id(value)) if _tag_(value, type(value).__name__) else None
        why = _fill_(value, nodes, seen)
        if why:
            dropped[name] = why
            nodes = nodes[:mark]
            seen = {key: at for key, at in seen.items() if at < mark}
        else:
            names[name] = mark if known is None else known
    return names, nodes, dropped

def _shell_(node, type=type, int=int, float=float, bytes=bytes, set=set):
    if type(node).__name__ != 'list':
        return node
    tag = node[0]
    if tag == 'int':
        return int(node[1], 16)
    if tag == 'float':
        return float(node[1])
    if tag in ('bytes', 'text'):
        made = bytes.fromhex(node[1])
        return made if tag == 'bytes' else made.decode('utf-8', 'replace')
    if tag.startswith('deque'):
        return deque([], int(tag[6:])) if tag[6:] else deque()
    if tag.startswith('default:'):
        return defaultdict(_factories_.get(tag[8:]))
    return {'list': [], 'set': set(), 'counter': Counter()}.get(tag, {})

_factories_ = {'bool': bool, 'int': int, 'float': float, 'str': str, 'bytes': bytes, 'list': list, 'tuple': tuple}
_factories_.update({'dict': dict, 'set': set, 'frozenset': frozenset})

def _fixed_(at, nodes, values, type=type, tuple=tuple, frozenset=frozenset):
    node = nodes[at]
    if type(node).__name__ == 'list' and node[0] in ('tuple', 'frozenset'):
        parts = [_fixed_(part, nodes, values) for part in node[1:]]
        values[at] = tuple(parts) if node[0] == 'tuple' else frozenset(parts)
    return values[at]

def _restore_(nodes, type=type, len=len, range=range, zip=zip):
    values = [_shell_(node) for node in nodes]
    for at in range(len(nodes)):
        _fixed_(at, nodes, values)
    for node, value in zip(nodes, values):
        kind = type(value).__name__
        if kind not in ('list', 'set', 'deque', 'dict', 'Counter', 'defaultdict'):
            continue
        parts = [values[part] for part in node[1:]]
        if kind in ('list', 'deque'):
            value.extend(parts)
        elif kind == 'set':
            value.update(parts)
        else:
            for key, held in zip(parts[::2], parts[1::2]):
                value[key] = held
    return values

_restored_ = _restore_(_nodes_)

def sorted(items, /, *, key=None, reverse=False, _sorted_=sorted, enumerate=enumerate):
    if key is None:
        return _sorted_(items, reverse=reverse)
    sign = -1 if reverse else 1
    items = [*items]
    marked = [(key(item), sign * at) for at, item in enumerate(items)]
    return [items[sign * at] for _, at in _sorted_(marked, reverse=reverse)]

def _extreme_(items, key, later, native, rest, len=len):
    items = [*items[0]] if len(items) == 1 else items
    if not items:
        return native(items, **rest)
    best, mark = items[0], key(items[0])
    for item in items[1:]:
        other = key(item)
        if later(other, mark):
            best, mark = item, other
    return best

def min(*items, key=None, _min_=min, **rest):
    return _min_(*items, **rest) if key is None else _extreme_(items, key, lambda a, b: a < b, _min_, rest)

def max(*items, key=None, _max_=max, **rest):
    return _max_(*items, **rest) if key is None else _extreme_(items, key, lambda a, b: a > b, _max_, rest)

def map(function, /, *items, zip=zip):
    return [function(item) for item in items[0]] if len(items) == 1 else [function(*each) for each in zip(*items)]

def filter(function, items, /):
    return [item for item in items if (item if function is None else function(item))]

def next(items, /, *default, _next_=next, type=type):
    if type(items).__name__ != 'list':
        return _next_(items, *default)
    if items:
        return items.pop(0)
    if default:
        return default[0]
    raise StopIteration
"""
).replace("MAX_NODES", str(MAX_NODES))


_HEADER: Final = re.compile(r"^def[ \t]+solution[ \t]*\([^()#'\"]*\)[^:#'\"\n]*:[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_CALLS_SOLUTION: Final = re.compile(r"(?:\w+[ \t]*=[ \t]*)?solution[ \t]*\(|if[ \t]+__name__\b")
_IMPORT: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<statement>(?:from|import)[ \t]+"
    r"(?:ast|collections|json|large_language_model|math|random|re|string|typing|__future__)\b[^;()\\#]*)(?:#.*)?"
)
_BINDING: Final = re.compile(
    r"^(.*)(?<![=!<>:])=(?!=)"
    r"|\bas[ \t]+(\w+|\([^()]*\))|\b(?:def|class)[ \t]+(\w+)|(?<!\w)(\w++)[ \t]*:="
    r"|^[ \t]*case\b(.*):",
    re.MULTILINE,
)
_BEGINS: Final = re.compile(
    r"^[ \t]*(?:async[ \t]+(?:def|for|with)|await|(?:from|import)[ \t]+(?:asyncio|concurrent))\b"
    r"|=[ \t]*await\b|\basyncio\.(?:run|gather)\b|(?<![\w.])each[ \t]*\(",
    re.MULTILINE,
)
"""What begins calls without waiting for them. It may stand in a text, where it does no harm to refuse it."""

_FOR: Final = re.compile(r"\bfor\b")
_IN: Final = re.compile(r"\bin\b")
_WORD: Final = re.compile(r"(?<![\w.])[^\W\d]\w*")
_MODEL_NAME: Final = re.compile(r"\b(?:ask_llm|ask)(?:[ \t]+as[ \t]+(?P<other>\w+))?")


class ScriptError(Exception):
    """Says why a plan's text cannot be split into its parts."""


class ScriptLine(NamedTuple):
    """A line of the script, and the plan's line that it comes from; 0 if added."""

    text: str
    origin: int


class ScriptPart(NamedTuple):
    """Lines of ``solution`` that run together: a step, or code between steps (``step`` is None)."""

    step: int | None
    lines: list[ScriptLine]


class MontyScript(NamedTuple):
    """The script of one run."""

    lines: list[ScriptLine]

    @property
    def text(self) -> str:
        """The script as text."""
        return "\n".join(line.text for line in self.lines) + "\n"

    def plan_line(self, line: int) -> int | None:
        """The plan's line behind a line of the script, both counted from 1; None for added lines."""
        return (self.lines[line - 1].origin or None) if 1 <= line <= len(self.lines) else None

    def plan_line_at(self, offset: int) -> int | None:
        """The plan's line behind an offset in the script, in UTF-8 bytes; None in added lines."""
        return self.plan_line(self.text.encode()[:offset].count(b"\n") + 1)


def find_variable_names(source: str) -> tuple[str, ...]:
    """All names that a plan may bind, and perhaps a few more: every word in a binding position."""
    targets = [part for m in _BINDING.finditer(source) for part in m.groups("")]
    targets += (_IN.split(rest, maxsplit=1)[0] for line in source.split("\n") for rest in _FOR.split(line)[1:])
    found = {name for part in targets for name in _WORD.findall(part)}
    return tuple(sorted(n for n in found - RESERVED_NAMES if _is_plans_own(n)))


def _is_plans_own(name: str) -> bool:
    return name.strip("_") != "" and not is_reserved(name) and not keyword.iskeyword(name)


def build_script(plan: Plan, start_from: int, saved: Mapping[str, int]) -> MontyScript:
    """Build the script of a run; ``saved`` maps each variable to its index among the restored values.

    Raises ScriptError if ``solution`` is not written in the usual way, or if the plan begins calls without waiting.
    """
    if _BEGINS.search(plan.source):
        raise ScriptError("Monty makes one call after the other; write plain calls, without async, await and asyncio")
    outside, parts = _split_plan(plan)
    names = sorted({*find_variable_names(plan.source), *saved})
    hoisted = [*_find_imports(outside), *(statement for part in parts for statement in _find_imports(part.lines))]
    body = [
        *_added_lines(GUEST_SOURCE.splitlines()),
        ScriptLine(f"start_from = {start_from}", 0),
        *_added_lines(_guarded_imports(hoisted)),
        *_added_lines(f"{name} = _restored_[{at}]" for name, at in saved.items()),
        *_added_lines(_save_function(names)),
        *outside,
    ]
    for number, part in enumerate(parts):
        body += _part_function(number, part, names)
    return MontyScript([*body, *_added_lines(_run_function(parts, start_from))])


def _added_lines(lines: Iterable[str]) -> list[ScriptLine]:
    return [ScriptLine(text, 0) for text in lines]


def _split_plan(plan: Plan) -> tuple[list[ScriptLine], list[ScriptPart]]:
    """The lines outside ``solution``, and its parts."""
    text = plan.source.replace("\r\n", "\n").replace("\r", "\n")
    header = max(_HEADER.finditer(text), key=lambda m: m.start(), default=None)
    if header is None:
        raise ScriptError("Monty runs plans whose `def solution(agent, start_from=1):` stands alone on its line")
    lines = [ScriptLine(t, at) for at, t in enumerate(text.split("\n"), 1)]
    first = text.count("\n", 0, header.end()) + 2
    begin = text.count("\n", 0, header.start()) + 1
    if any(s.line < first for s in plan.steps):
        raise ScriptError("Monty runs plans whose steps all stand in `solution`")
    end = _end_of_solution(lines, max([first - 1, *(s.end_line for s in plan.steps)]))
    after = [line for line in lines[end:] if not line.text[:1].isspace()]
    rest = [] if any(_CALLS_SOLUTION.match(line.text) for line in after) else lines[end:]
    return [*lines[: begin - 1], *rest], list(_split_steps(plan, lines[first - 1 : end]))


def _end_of_solution(lines: Sequence[ScriptLine], least: int) -> int:
    """The number of lines up to the end of ``solution``, at least ``least``."""
    for line in lines[least:]:
        if line.text.strip() and line.text[0] not in " \t#":
            return line.origin - 1
    return len(lines)


def _split_steps(plan: Plan, lines: list[ScriptLine]) -> Iterator[ScriptPart]:
    within = {at: s.number for s in plan.steps for at in range(s.line, s.end_line + 1)}
    starts = {s.line for s in plan.steps}
    part = ScriptPart(None, [])
    for line in lines:
        step = within.get(line.origin)
        if step != part.step or line.origin in starts:
            if _has_code(part.lines):
                yield part
            part = ScriptPart(step, [])
        part.lines.append(line)
    if _has_code(part.lines):
        yield part


def _has_code(lines: Iterable[ScriptLine]) -> bool:
    return any(_is_code(line) for line in lines)


def _is_code(line: ScriptLine) -> bool:
    return bool(line.text.strip()) and not line.text.lstrip().startswith("#")


def _find_imports(lines: Iterable[ScriptLine]) -> Iterator[str]:
    """The imports among the lines, as statements for the start; names that the runtime provides need none."""
    for line in lines:
        found = _IMPORT.fullmatch(line.text)
        if found is None or re.match(r"(?:from|import)[ \t]+(?:ast|typing|__future__)\b", found["statement"]):
            continue
        if "large_language_model" not in found["statement"]:
            yield found["statement"].strip()
            continue
        yield from (f"{m['other']} = ask_llm" for m in _MODEL_NAME.finditer(found["statement"]) if m["other"])


def _guarded_imports(statements: Iterable[str]) -> Iterator[str]:
    """Names that Monty lacks stay undefined."""
    for statement in statements:
        yield from ("try:", f"    {statement}", "except ImportError:", "    pass")


def _remove_imports(line: ScriptLine) -> ScriptLine:
    found = _IMPORT.fullmatch(line.text)
    return line if found is None else ScriptLine(f"{found['indent']}pass", line.origin)


def _part_function(number: int, part: ScriptPart, names: Sequence[str]) -> list[ScriptLine]:
    first = next(line.text for line in part.lines if _is_code(line))
    indent = first[: len(first) - len(first.lstrip())]
    head = [f"def _part_{number}_():", *([f"{indent}global {', '.join(names)}"] if names else [])]
    return [*_added_lines(head), *map(_remove_imports, part.lines), *_added_lines([f"{indent}return _on_"])]


def _save_function(names: Iterable[str]) -> Iterator[str]:
    yield "def _save_():"
    yield "    variables = {}"
    for name in names:
        yield from ("    try:", f"        variables[{name!r}] = {name}", "    except NameError:", "        pass")
    yield "    return _table_(variables)"


def _run_function(parts: Sequence[ScriptPart], start_from: int) -> Iterator[str]:
    yield from ("_returned_ = None", "def _save_returned_():")
    yield f"    return _table_({{}} if _returned_ is None else {{'{RETURNED_NAME}': _returned_}})"
    yield from ("def _run_():", "    global _returned_")
    for number, part in enumerate(parts):
        if part.step is not None and part.step < start_from:
            continue
        yield f"    _enter_({part.step}, {'None' if part.step is None else '_save_()'})"
        yield from (f"    _returned_ = _part_{number}_()", "    if _returned_ is not _on_:", "        return")
    yield from ("    _returned_ = None", "_run_()")
