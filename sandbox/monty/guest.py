"""The code that runs inside Monty next to a plan: it saves the plan's variables to a checkpoint's table and restores
them. It also has the builtins that take functions, in Python: a function that Monty's own builtins call cannot reach
the host, that is, agent and model. Its ``next`` takes lists, because Monty turns generator expressions into lists.

Its names begin with an underscore, which a plan's cannot. It binds the builtins that it needs before the plan can
rebind them.
"""

from __future__ import annotations

from typing import Final

from codeplan.sandbox.protocol.checkpoint_table import MAX_NODES

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
