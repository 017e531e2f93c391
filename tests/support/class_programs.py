"""Short programs with classes, generators, contexts and patterns, which plans run as Python does. No two are alike."""

from __future__ import annotations

import textwrap


def _programs(text: str) -> dict[str, str]:
    """Return the programs by name: each begins with ``## name``."""
    parts = text.split("\n## ")[1:]
    return {name: textwrap.dedent(body) for name, _, body in (part.partition("\n") for part in parts)}


CLASSES = _programs(r"""
## text and identity of an object
class Point:
    "A place."
    unit = 'm'
    def __init__(self, x, y=0):
        self.x, self.y = x, y
    def __repr__(self):
        return f'Point({self.x}, {self.y})'
p = Point(1)
p.y += 2
p.x *= 3
p.x **= 2
print(p, str(p), f'{p!r:>14}', Point.__doc__, Point.__name__, Point.__qualname__, Point.__module__, p.__class__ is Point)
print(p.__dict__, sorted(p.__dict__), p.unit, Point.unit, type(p) is Point, isinstance(p, Point))
del p.y
try:
    p.y
except AttributeError as e:
    print(e)
## arithmetic of vectors
class V:
    def __init__(self, *n): self.n = n
    def __add__(self, o): return V(*(a + b for a, b in zip(self.n, o.n)))
    def __sub__(self, o): return V(*(a - b for a, b in zip(self.n, o.n)))
    def __mul__(self, k): return V(*(a * k for a in self.n)) if isinstance(k, int) else NotImplemented
    __rmul__ = __mul__
    def __matmul__(self, o): return sum(a * b for a, b in zip(self.n, o.n))
    def __truediv__(self, k): return V(*(a / k for a in self.n))
    def __floordiv__(self, k): return V(*(a // k for a in self.n))
    def __mod__(self, k): return V(*(a % k for a in self.n))
    def __pow__(self, k): return V(*(a ** k for a in self.n))
    def __neg__(self): return self * -1
    def __pos__(self): return self
    def __abs__(self): return sum(a * a for a in self.n) ** 0.5
    def __invert__(self): return V(*reversed(self.n))
    def __divmod__(self, k): return self // k, self % k
    def __repr__(self): return f'V{self.n}'
v, w = V(3, 4), V(1, 2)
print(v + w, v - w, v * 2, 2 * v, v @ w, v / 2, v // 2, v % 2, v ** 2, -v, +v, abs(v), ~v, divmod(v, 2), sum([v, w], V(0, 0)))
try:
    v * 'a'
except TypeError as e:
    print(e)
## reflected and in-place operators
class Log:
    def __init__(self): self.seen = []
    def __radd__(self, o): return f'radd {o}'
    def __rsub__(self, o): return f'rsub {o}'
    def __rpow__(self, o): return f'rpow {o}'
    def __rlshift__(self, o): return f'rlshift {o}'
    def __rmod__(self, o): return f'rmod {o}'
    def __rand__(self, o): return f'rand {o}'
    def __ror__(self, o): return f'ror {o}'
    def __rxor__(self, o): return f'rxor {o}'
    def __iadd__(self, o):
        self.seen.append(('+=', o))
        return self
    def __imul__(self, o):
        self.seen.append(('*=', o))
        return self
    def __ilshift__(self, o):
        self.seen.append(('<<=', o))
        return self
    def __ipow__(self, o):
        self.seen.append(('**=', o))
        return self
    def __imod__(self, o):
        self.seen.append(('%=', o))
        return self
    def __ior__(self, o):
        self.seen.append(('|=', o))
        return self
a = Log()
print(1 + a, 1 - a, 2 ** a, 1 << a, 5 % a, 1 & a, 1 | a, 1 ^ a)
a += 1; a *= 2; a <<= 3; a **= 4; a %= 5; a |= 6
print(a.seen)
## comparisons and their reflections
class N:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return isinstance(o, N) and self.v == o.v
    def __lt__(self, o): return self.v < o.v if isinstance(o, N) else NotImplemented
    def __le__(self, o): return self.v <= o.v
    def __repr__(self): return f'N{self.v}'
print(N(1) == N(1), N(1) != N(2), N(1) < N(2), N(2) > N(1), N(2) >= N(2), sorted([N(3), N(1), N(2)]), max(N(1), N(5)), min([N(4), N(0)]))
try:
    N(1) < 3
except TypeError as e:
    print(e)
try:
    {N(1): 1}
except TypeError as e:
    print(e)
print(N.__hash__ is None, [N(1), N(2)].index(N(2)), N(2) in [N(2)], [N(1), N(1)].count(N(1)))
## a container of one's own
class Bag:
    def __init__(self, **items): self.items = dict(items)
    def __len__(self): return len(self.items)
    def __getitem__(self, k): return self.items[k] if not isinstance(k, slice) else (k.start, k.stop, k.step)
    def __setitem__(self, k, v): self.items[k] = v
    def __delitem__(self, k): del self.items[k]
    def __contains__(self, k): return k in self.items
    def __iter__(self): return iter(sorted(self.items))
    def __reversed__(self): return iter(sorted(self.items, reverse=True))
    def __missing__(self, k): return 'missing'
    def __bool__(self): return 'off' not in self.items
b = Bag(x=1, y=2)
b['z'] = 5
b['z'] *= 2
b['z'] += 1
del b['x']
print(len(b), b['z'], 'x' in b, list(b), list(reversed(b)), b[1:2], b[::3], bool(b), [*b], {*b}, dict.fromkeys(b))
b['off'] = True
print('on' if b else 'off', not b, any(c == 'y' for c in b))
## conversions to numbers and texts
class C:
    def __int__(self): return 7
    def __float__(self): return 2.5
    def __complex__(self): return 1 + 2j
    def __index__(self): return 3
    def __bool__(self): return False
    def __str__(self): return 'text'
    def __bytes__(self): return b'bytes'
    def __round__(self, n=None): return ('round', n)
    def __trunc__(self): return 4
    def __floor__(self): return 5
    def __ceil__(self): return 6
import math
c = C()
print(int(c), float(c), complex(c), [0, 1, 2, 3][c], list(range(c)), bool(c), str(c), bytes(c), round(c), round(c, 2), math.floor(c), math.ceil(c), hex(c), 'ab' * c, 'abcdef'[c:], f'{c}')
## formats
class Money:
    def __init__(self, v): self.v = v
    def __format__(self, spec): return f'{self.v:{spec}}€' if spec else f'{self.v}€'
m = Money(3.14159)
print(f'{m:.2f} {m} {m!r:.5}', format(m, '8.1f'), '{:.0f} {}'.format(m, m), '{x:+}'.format(x=m))
class T(str):
    def __format__(self, spec): return '<' + spec + '>'
print(f'{T("a"):b}', T('a') + 'b', T('ab').upper(), len(T('abc')), '{}'.format(T('q')), T('{}').format(3), T('x').ljust(3) + '|')
## properties
class Temperature:
    def __init__(self): self._c = 0
    @property
    def f(self):
        "In Fahrenheit."
        return self._c * 9 / 5 + 32
    @f.setter
    def f(self, v): self._c = (v - 32) * 5 / 9
    @f.deleter
    def f(self): self._c = None
    only = property(lambda self: 'read')
t = Temperature()
t.f = 212
print(t.f, t._c, t.only, Temperature.f.__doc__)
t.f -= 180
print(t.f)
del t.f
print(t._c)
for change in ('t.only = 1', 'del t.only'):
    try:
        if change.startswith('del'):
            del t.only
        else:
            t.only = 1
    except AttributeError as e:
        print(e)
## mixins over built-in types
class Shout:
    def shout(self): return str(self).upper() + '!'
class Word(Shout, str): pass
class Ints(list):
    def total(self): return sum(self)
    def append(self, v): super().append(int(v))
class Defaults(dict):
    def __missing__(self, k): self[k] = len(k); return self[k]
    def __setitem__(self, k, v): super().__setitem__(k, v); self.last = k
class Odd(int):
    def __new__(cls, v): return super().__new__(cls, v | 1)
    def __add__(self, o): return Odd(int(self) + int(o))
class Pair(tuple):
    def __new__(cls, a, b): return tuple.__new__(cls, (a, b))
    @property
    def first(self): return self[0]
w, n, d = Word('hey'), Ints([1]), Defaults()
n.append('4')
d['q'] = 1
print(w.shout(), w == 'hey', n, n.total(), d['abc'], d, d.last, Odd(4), Odd(4) + 4, Pair(1, 2), Pair(1, 2).first, isinstance(w, str), sorted(n), type(w.upper()).__name__, {w: 1}['hey'], len(n), n[0], n + [2])
class Bits(set):
    def flip(self, v): self.symmetric_difference_update([v]); return self
class Temp(float):
    def __str__(self): return f'{float(self)} C'
print(sorted(Bits([1, 2]).flip(2).flip(3)), Temp(2), Temp(1) + 1, round(Temp(1.26), 1))
## hooks of attributes
class Any:
    def __init__(self): self.real = 1
    def __getattr__(self, name):
        if name.startswith('no'):
            raise AttributeError(name)
        return f'<{name}>'
    def __setattr__(self, name, v):
        super().__setattr__(name, v if name == 'real' else [v])
    def __delattr__(self, name):
        print('del', name)
        object.__delattr__(self, name)
a = Any()
a.x = 2
print(a.real, a.x, a.y, getattr(a, 'noway', 'default'), hasattr(a, 'no'), hasattr(a, 'z'))
del a.x
print(a.x)
setattr(a, 'w', 1)
delattr(a, 'w')
class Loud:
    v = 3
    def __getattribute__(self, name):
        print('get', name)
        return super().__getattribute__(name)
l = Loud()
print(l.v)
try:
    l.q
except AttributeError as e:
    print(e)
## descriptors
class Typed:
    def __init__(self, kind): self.kind = kind
    def __set_name__(self, owner, name): self.name, self.owner = '_' + name, owner.__name__
    def __get__(self, obj, owner=None): return self if obj is None else getattr(obj, self.name, None)
    def __set__(self, obj, v):
        if not isinstance(v, self.kind):
            raise TypeError(f'{self.owner}.{self.name[1:]} takes {self.kind.__name__}, not {type(v).__name__}')
        setattr(obj, self.name, v)
    def __delete__(self, obj): delattr(obj, self.name)
class Person:
    name = Typed(str)
    age = Typed(int)
p = Person()
p.name, p.age = 'Ann', 3
print(p.name, p.age, Person.age.kind is int, p.__dict__)
try:
    p.age = 'old'
except TypeError as e:
    print(e)
del p.age
print(p.age)
class Lazy:
    def __init__(self, f): self.f = f
    def __get__(self, obj, owner):
        v = obj.__dict__[self.f.__name__] if self.f.__name__ in obj.__dict__ else self.f(obj)
        setattr(obj, self.f.__name__, v)
        return v
class Page:
    @Lazy
    def text(self): print('computed'); return 'text'
g = Page()
print(g.text, g.text)
## slots
class S:
    __slots__ = ('a', '_b')
    def __init__(self): self.a = 1; self._b = 2
class T(S):
    __slots__ = ['c']
class U(S): pass
s, t, u = S(), T(), U()
t.c = 3
u.other = 4
print(s.a, s._b, t.a + t.c, u.other, S.__slots__, hasattr(s, '__dict__'), hasattr(u, '__dict__'))
for o in (s, t):
    try:
        o.z = 1
    except AttributeError as e:
        print(type(e).__name__)
del s.a
print(hasattr(s, 'a'))
## private names are mangled
class Account:
    __count = 0
    def __init__(self, v): self.__v = v; Account.__count += 1
    def __secret(self): return self.__v * 2
    def tell(self): return self.__secret(), self.__count
    def __len__(self): return self.__v
    class __Inner:
        def who(self): return 'inner'
    def inner(self): return self.__Inner().who()
class Sub(Account):
    def __secret(self): return 'other'
a = Sub(4)
a._own = 1
print(a.tell(), len(a), a._Account__v, sorted(a.__dict__), a.inner(), hasattr(a, '__v'), a._own)
def outside(o): return o._Account__count
print(outside(a))
## a class in a function with closures
def make(n):
    total = 0
    class Counter:
        step = n
        def up(self):
            nonlocal total
            total += self.step + n
            return total
    return Counter
K, J = make(1), make(10)
k = K()
print(k.up(), k.up(), K().up(), J().up(), K.__qualname__, K is not J, type(k).step)
## scopes of class bodies
x = 'outer'
class S:
    x = 'inner'
    y = x + '!'
    z = [x for _ in range(2)]
    w = [i for i in (x, y)]
    def f(self): return x
    g = lambda self: x
    if y:
        v = 1
    else:
        u = 1
    for i in range(3): pass
    del w
    try:
        {}[y]
    except KeyError as e:
        problem = str(e)
    n = (m := 5) + 1
print(S.x, S.y, S.z, S().f(), S().g(), S.v, hasattr(S, 'u'), S.i, hasattr(S, 'w'), S.problem, S.n, S.m)
## conditional and repeated definitions
flag = True
if flag:
    class A:
        v = 1
else:
    class A:
        v = 2
old = A
class A(A):
    w = 3
for i in range(2):
    class Loop:
        n = i
print(A.v, A.w, old is A.__bases__[0], Loop.n)
kinds = []
for base in (list, dict):
    class Own(base): pass
    kinds.append(Own)
print([k.__bases__[0].__name__ for k in kinds], kinds[0]([1]), kinds[1](a=1))
del A
try:
    A
except NameError as e:
    print(e)
## exceptions of one's own
class AppError(Exception):
    code = 1
class NotFound(AppError, LookupError):
    code = 404
    def __init__(self, name, *, hint=None):
        super().__init__(f'no {name}')
        self.name, self.hint = name, hint
class Odd(ValueError):
    def __str__(self): return 'odd: ' + repr(self.args)
for e in (NotFound('x', hint='y'), Odd(1, 2), AppError()):
    try:
        raise e
    except NotFound as f:
        print('nf', f, f.name, f.hint, f.code, f.args)
    except (AppError, Odd) as f:
        print(type(f).__name__, f, repr(f), f is e)
try:
    raise NotFound
except TypeError as e:
    print(e)
try:
    try:
        raise NotFound('a')
    except LookupError as e:
        raise AppError('outer') from e
except AppError as e:
    print(e, repr(e.__cause__), e.__context__ is e.__cause__)
try:
    try:
        {}['k']
    except KeyError:
        raise Odd('q') from None
except Odd as e:
    print(e.__cause__, repr(e.__context__))
e = AppError('n')
e.add_note('hint')
e.extra = [1]
print(e.__notes__, e.extra, e.args)
## types asked for and compared
class A: pass
class B(A): pass
a = B()
print(type(a), type(a).__name__, isinstance(a, A), issubclass(B, object), type(1) is int, type(A) is type, isinstance(A, type), type(a) in (A, B), type([]) == list, {int: 'i', B: 'b'}[type(a)])
print(isinstance(3, int | str), isinstance(a, B | None), type(None) is type(None), A == A, A != B, A.__name__ + 's')
names = {k.__name__: k for k in (A, B)}
print(type(names['B']()) is B, [type(v).__name__ for v in (1, '', None, a, A, lambda: 0)])
## attributes of functions and methods
def f(a, b=1):
    "Adds."
    return a + b
f.calls = 0
f.calls += 1
f.tag = 'x'
class A:
    def m(self): "M."; return 1
    m.tag = 'm'
print(f.calls, f.tag, f.__name__, f.__doc__, A.m.tag, A().m.tag, A().m.__doc__, hasattr(f, 'nothing'), getattr(f, 'tag'))
## star expressions and calls
class Row:
    def __init__(self, *c, **n): self.c, self.n = c, n
    def keys(self): return self.n.keys()
    def __getitem__(self, k): return self.n[k]
    def __iter__(self): return iter(self.c)
def show(*a, **k): return a, k
r = Row(1, 2, x=3)
print([*r, 0], {**r, 'y': 4}, show(*r, **r), (*r, *r), {*r}, dict(r))
a, *(b, c) = r.c + (5,)
print(a, b, c)
*start, last = r
print(start, last, Row(*r).c, max(*r), print(*r, sep='-'))
## walrus in classes and comprehensions
class W:
    def read(self, parts): return [n for p in parts if (n := len(p)) > 1], n
    def first(self, parts):
        while (p := parts.pop()) != 'end':
            self.last = p
        return self.last
w = W()
print(w.read(['a', 'bb', 'ccc']), w.first(['end', 'x', 'y']), (y := W().read(['qq']))[0], y)
## repr of the default kind hides no difference
class A:
    def __str__(self): return 'S'
class B:
    def __repr__(self): return 'R'
print(A(), [B()], {'b': B()}, (B(),), f'{B()} {B()!s} {A()!s}', '%s %r' % (A(), B()), str(B()), repr([B(), {B.__name__: B()}]))
## methods may have any name
class Tool:
    def print(self): return 'printed'
    def ask(self, q): return q + '?'
    def replan(self): return 'again'
    agent = 1
    solution = 2
    id = 3
    def type(self): return 't'
t = Tool()
print(t.print(), t.ask('a'), t.replan(), t.agent, Tool.solution, t.id, t.type(), type(t).__name__)
## errors of Python about classes
class A:
    def m(self, a): return a
    def __init__(self, v): pass
for f in (lambda: A(), lambda: A(1).m(), lambda: A(1).m(1, 2), lambda: A(1).nothing, lambda: A.nothing, lambda: A(1)(), lambda: A(1)[0], lambda: len(A(1)), lambda: iter(A(1)), lambda: A(1) + 1, lambda: 1 in A(1), lambda: A(1, x=2), lambda: A.m(), lambda: -A(1), lambda: int(A(1)), lambda: A(1) < A(1)):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, e)
""")


LIBRARY = _programs(r"""
## marks of abc and typing
from abc import ABC, abstractmethod
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Protocol, final, overload, runtime_checkable

def noted(f):
    @wraps(f)
    def inner(*a):
        return f(*a)
    return inner

class Base(ABC):
    @abstractmethod
    def plain(self): ...
    @abstractmethod
    @contextmanager
    def opened(self):
        yield
    @property
    @abstractmethod
    def size(self): ...
    @staticmethod
    @abstractmethod
    def made(): ...
    @abstractmethod
    @lru_cache
    def kept(self): ...
    @abstractmethod
    @noted
    def noting(self): ...
    @abstractmethod
    @wraps(len)
    def measured(self): ...

class Part(Base):
    def plain(self): return 1

for kind in (Base, Part):
    try:
        kind()
    except TypeError as e:
        print(e)
for wrong in (len, 1, 'a', None, int, [], property(len)):
    try:
        print(abstractmethod(wrong))
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
print(final(1), final(len), final(int))

@final
class Last:
    @final
    def f(self): return 2
    @final
    @staticmethod
    def g(): return 3

print(Last().f(), Last.g(), '__final__' in vars(Last))

@overload
def twice(x: int) -> int: ...
@overload
def twice(x: str) -> str: ...
def twice(x):
    return x * 2

print(twice(2), twice('a'))

@runtime_checkable
class Sized2(Protocol):
    def size(self): ...

class Unchecked(Protocol):
    def size(self): ...

class A:
    def size(self): return 1

print(isinstance(A(), Sized2), isinstance(1, Sized2))
for of in (lambda: isinstance(A(), Unchecked), lambda: runtime_checkable(A), lambda: runtime_checkable(1)):
    try:
        print(of())
    except TypeError as e:
        print(e)
## what an alias has of its class
import typing
T = typing.TypeVar('T')
class Stack(typing.Generic[T]):
    size = 5
    def __init__(self, xs=()):
        self.xs = list(xs)
    @classmethod
    def make(cls, *xs):
        return cls(xs)
    @staticmethod
    def two():
        return 2
print(Stack[int].make(1, 2).xs, Stack[str].two(), Stack[int].size, dict[str, int].fromkeys('ab'), list[int]().copy())
for use in (lambda: list[int].nothing, lambda: Stack[int].nothing):
    try:
        use()
    except AttributeError as e:
        print(e)
## a set that changes while it is copied, and names of os
import copy, os
class Clears:
    def __deepcopy__(self, memo):
        source.clear()
        return 'ok'
global source
source = {Clears(), 1, 2}
print(copy.deepcopy(source) == {'ok', 1, 2})
print(os.altsep, os.curdir, os.extsep, os.fspath('a'), os.name, os.pardir, os.pathsep)
try:
    os.fspath(5)
except TypeError as e:
    print(e)
## parts of functions, aliases, tuples and paths
import pathlib, typing
from collections import namedtuple
from dataclasses import dataclass
T = typing.TypeVar('T')
def f(a, b=2, *, c=[3]): pass
f.__kwdefaults__['c'].append(4)
class K(typing.Generic[T]):
    def m(self, x=1): pass
print(f.__defaults__, f.__kwdefaults__, K.m.__defaults__, K().m.__defaults__, (lambda: 0).__defaults__, len.__name__)
print(list[T].__parameters__, typing.List[T].__parameters__, K.__parameters__, K[int].__args__, type(list[int]), type(int | str))
print(namedtuple('P', 'a b')(1, 2).__getnewargs__(), 'a'.__getnewargs__(), pathlib.PurePosixPath('/a/b').__fspath__())
@dataclass(frozen=True)
class D:
    x: int
    y: int = 0
    def __post_init__(self):
        object.__setattr__(self, 'y', self.x + 1)
print(D(1), D.__dataclass_params__.frozen, D(1).__dataclass_params__)
for args in ((K(), 1, 2), (1, 'x', 2), (K(),), (K(), 'x'), (K, 'x', 1), ('s', 'x', 1), ([], 1, 1)):
    for write in (object.__setattr__, object.__delattr__):
        try:
            print(write(*args))
        except (AttributeError, TypeError) as e:
            print(type(e).__name__, e)
## keys of passwords
import hashlib
print(hashlib.pbkdf2_hmac('sha256', b'pw', b'salt', 1000).hex())
print(hashlib.pbkdf2_hmac('sha1', b'pw', b'salt', iterations=7, dklen=50).hex())
for args in (('nope', b'', b'', 1), (5, b'', b'', 1), ('md5', 'a', b'', 1), ('md5', b'', b'', 0), ('md5', b'', b'', 'a'), ('md5', b'', b'', 1, 0)):
    try:
        print(hashlib.pbkdf2_hmac(*args))
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
## dialects of one's own
import csv, io
csv.register_dialect('pipes', delimiter='|', quoting=csv.QUOTE_ALL)
out = io.StringIO()
csv.writer(out, 'pipes').writerow(['a', 'b'])
print(out.getvalue(), csv.get_dialect('pipes').delimiter, csv.list_dialects())
print(list(csv.DictReader(io.StringIO('a|b\n1|2\n'), dialect='pipes')))
class Semi(csv.excel):
    delimiter = ';'
csv.register_dialect('semi', Semi)
print(list(csv.reader(['a;b'], 'semi')), csv.get_dialect('semi').strict, list(csv.reader(['a;b'], Semi())))
csv.unregister_dialect('semi')
csv.unregister_dialect('pipes')
for use in (lambda: csv.reader(['a'], 'semi'), lambda: csv.register_dialect(5), lambda: csv.get_dialect('semi')):
    try:
        use()
    except (csv.Error, TypeError) as e:
        print(e)
## signals of a decimal context
from decimal import Context, Decimal, DecimalTuple, FloatOperation, Inexact, getcontext
c = Context(prec=5)
c.traps[Inexact] = 1
try:
    c.divide(Decimal(1), Decimal(3))
except Inexact:
    print('inexact')
getcontext().traps[FloatOperation] = True
try:
    Decimal(0.5)
except FloatOperation:
    print('float')
getcontext().traps[FloatOperation] = False
c.flags[Inexact] = False
c.traps[Inexact] &= 0
print(c.flags[Inexact], c.traps[Inexact], c.divide(1, 3), Decimal(DecimalTuple(0, (1, 2), -1)))
def forget():
    del c.flags[Inexact]
for use in (lambda: c.flags.update({'x': 1}) if 0 else c.flags['x'], forget):
    try:
        use()
    except (KeyError, ValueError) as e:
        print(type(e).__name__, e)
## the time of a moment and of now
import time
for use in (time.gmtime, time.localtime, time.ctime, time.asctime, time.strftime):
    for args in ((1, 2), ('a',), (), (1, 2, 3), (None,), (5,), ('%Y',), ('%Y', time.gmtime(0)), ('%Y', None)):
        try:
            use(*args)
        except TypeError as e:
            print(use.__name__, args, e)
    try:
        use(x=1)
    except TypeError as e:
        print(use.__name__, e)
print(time.gmtime(0), time.strftime('%Y', time.gmtime(0)))
## the hash of a dataclass is that of its fields
from dataclasses import dataclass
class Q: pass
@dataclass(frozen=True)
class P:
    x: object
    y: int = 1
@dataclass(frozen=True, eq=False)
class S(P):
    z: int = 2
q = Q()
print(hash(P(1)) == hash((1, 1)), P(q) in {P(q)}, hash(P(q)) == hash((q, 1)), hash(S(q)) == hash(S(q, 1, 5)))
## dataclasses of all kinds
from dataclasses import dataclass, field, asdict, astuple, replace, fields, is_dataclass, FrozenInstanceError
@dataclass
class P:
    x: int
    y: int = 2
    tags: list = field(default_factory=list, repr=False)
    size: int = field(init=False, default=0, compare=False)
    def __post_init__(self): self.size = self.x + self.y
@dataclass(order=True, frozen=True)
class Q:
    rank: int
    name: str = field(compare=False, default='')
@dataclass(kw_only=True, slots=True, eq=False)
class K:
    a: int = 1
    b: str
p = P(1)
p.tags.append('t')
print(p, p.size, P(1) == P(1), asdict(p), astuple(P(3, tags=[Q(1)])), replace(p, y=9), [f.name for f in fields(p)], is_dataclass(P))
print(sorted([Q(2, 'b'), Q(1, 'c')]), Q(1, 'x') == Q(1, 'y'), Q(1) < Q(2), {Q(1): 'q'}[Q(1)], K(b='x'), K(b='x') == K(b='x'))
try:
    Q(1).rank = 2
except FrozenInstanceError as e:
    print(type(e).__name__, e)
try:
    K(1, 'x')
except TypeError as e:
    print(e)
## flags, and enums with data
from enum import Flag, IntFlag, auto, Enum
class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W
print(Perm.R | Perm.X, Perm.RW, Perm.R in Perm.RW, bool(Perm.R & Perm.W), ~Perm.R, Perm(3), [p.name for p in Perm.RW], Perm.R ^ Perm.RW)
class Bits(IntFlag):
    A = 1
    B = 4
print(Bits.A | Bits.B, Bits(5) == 5, (Bits.A | 8).value)
class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)
    def __init__(self, mass, radius): self.mass, self.radius = mass, radius
    @property
    def g(self): return round(self.mass / self.radius ** 2, 3)
print(Planet.EARTH.g, Planet.MARS.mass, Planet((0.64, 3.39)))
Animal = Enum('Animal', 'CAT DOG')
print(list(Animal), Animal.CAT.value, Animal['DOG'].name)
class Level(Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()
    LOW = auto()
    HIGH = auto()
print([l.value for l in Level], Level.LOW._value_, Level.HIGH._name_)
## named tuples and typed dicts
from typing import NamedTuple, TypedDict, NotRequired
class P(NamedTuple):
    "A point."
    x: int
    y: int = 0
    def s(self): return self.x + self.y
    @property
    def flip(self): return self._replace(x=self.y, y=self.x)
p = P(1, 2)
x, y = p
print(p, p.s(), p._asdict(), p._replace(x=9), P._fields, P._make([4, 5]), p.x, p[1], p == (1, 2), len(p), p.flip, P._field_defaults, {p: 1}[(1, 2)], sorted([P(2), P(1, 5)]))
try:
    p.x = 3
except AttributeError as e:
    print(e)
Pair = NamedTuple('Pair', [('a', int), ('b', str)])
print(Pair(1, 'z'), Pair.__name__)
class TD(TypedDict, total=False):
    a: int
    b: NotRequired[str]
t: TD = {'a': 1}
t['b'] = 'x'
print(t, TD(a=2), type(t).__name__)
## generics and protocols
from typing import Generic, TypeVar, Protocol, runtime_checkable, Union, Callable, Any, cast, overload, Final, Literal
T = TypeVar('T')
class Stack(Generic[T]):
    def __init__(self) -> None: self.items: list[T] = []
    def push(self, v: T) -> 'Stack[T]':
        self.items.append(v)
        return self
    def pop(self) -> T: return self.items.pop()
class Ints(Stack[int]):
    limit: Final = 3
print(Stack[int]().push(1).push(2).pop(), Ints().push(5).items, Ints.limit)
@runtime_checkable
class Sized(Protocol):
    def size(self) -> int: ...
class Box:
    def size(self) -> int: return 4
class Cup(Sized):
    def size(self): return 1
print(isinstance(Box(), Sized), isinstance(3, Sized), Cup().size(), isinstance(Cup(), Sized))
def apply(f: Callable[[int], Union[int, str]], *a: Any, mode: Literal['x'] = 'x') -> list[Any]: return [f(v) for v in a]
print(apply(lambda v: v + 1, 1, 2), cast(int, 'q'), apply(str, 3))
@overload
def two(a: int) -> int: ...
@overload
def two(a: str) -> str: ...
def two(a): return a * 2
print(two(2), two('a'))
## abstract classes
from abc import ABC, abstractmethod, ABCMeta
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def name(self): ...
    def tell(self): return f'{self.name} {self.area()}'
class Square(Shape):
    def __init__(self, a): self.a = a
    def area(self): return self.a ** 2
    name = 'square'
class Half(Shape):
    def area(self): return super().area()
class Meta(metaclass=ABCMeta):
    @abstractmethod
    def f(self): return 'base f'
class Done(Meta):
    def f(self): return 'done ' + super().f()
print(Square(3).tell(), isinstance(Square(1), Shape), Done().f())
for k in (Shape, Half, Meta):
    try:
        k()
    except TypeError as e:
        print(e)
## context managers
class Ctx:
    def __init__(self, name, hide=None): self.name, self.hide = name, hide
    def __enter__(self): print('in', self.name); return self.name.upper()
    def __exit__(self, kind, error, trace):
        print('out', self.name, kind and kind.__name__, error, trace is None)
        return self.hide is not None and kind is not None and issubclass(kind, self.hide)
with Ctx('a') as a, Ctx('b') as b:
    print(a, b)
with Ctx('c', KeyError):
    {}['x']
with (Ctx('d', ValueError) as d, Ctx('e', KeyError)):
    int('q')
print('after', d)
try:
    with Ctx('f', KeyError):
        1 / 0
except ZeroDivisionError as e:
    print('passed', e)
def f():
    with Ctx('g'):
        return 'returned'
print(f())
for i in range(3):
    with Ctx(str(i)):
        if i == 0: continue
        if i == 1: break
class NoExit:
    def __enter__(self): pass
for bad in (1, NoExit()):
    try:
        with bad: pass
    except (TypeError, AttributeError) as e:
        print(type(e).__name__)
## contextlib
from contextlib import contextmanager, suppress, ExitStack, nullcontext, closing, ContextDecorator
@contextmanager
def ctx(n, handle=ValueError):
    print('enter', n)
    try:
        yield n * 2
    except handle as e:
        print('handled', e)
    else:
        print('clean', n)
    finally:
        print('exit', n)
with ctx(1) as a, ctx(2):
    print(a)
    raise ValueError('x')
try:
    with ctx(3):
        {}['k']
except KeyError as e:
    print('through', e)
with suppress(KeyError, IndexError): [][1]
with ExitStack() as st:
    print(st.enter_context(ctx(4)), [st.enter_context(ctx(n)) for n in (5, 6)])
    st.callback(print, 'cb', sep='')
with nullcontext(7) as q: print(q)
class Door:
    def close(self): print('closed')
with closing(Door()) as d: print(type(d).__name__)
@ctx('deco')
def g(): print('g'); return 8
print(g(), g())
class Tag(ContextDecorator):
    def __enter__(self): print('<'); return self
    def __exit__(self, *e): print('>')
@Tag()
def h(): print('h')
h()
@contextmanager
def never():
    if False: yield
try:
    with never(): pass
except RuntimeError as e:
    print(e)
## namespaces
from types import SimpleNamespace, MappingProxyType
n = SimpleNamespace(a=1, b=[2])
n.c = n.a + 1
n.b.append(3)
n.a *= 5
del n.c
print(n, n.a, n.b, hasattr(n, 'c'), n == SimpleNamespace(a=5, b=[2, 3]), n.__dict__)
m = MappingProxyType({'a': 1})
print(m['a'], dict(m), len(m), 'a' in m, m.get('z', 0), list(m.items()))
try:
    m['b'] = 2
except TypeError as e:
    print(e)
## classes made by functions
from dataclasses import make_dataclass, field, asdict
P = make_dataclass('P', ['x', ('y', int), ('z', int, field(default=5))], namespace={'total': lambda self: self.x + self.y + self.z})
print(P(1, 2), P(1, 2).total(), asdict(P(1, 2)), P.__name__)
def record(name):
    class Record:
        def __repr__(self): return f'<{name}>'
    Record.__name__ = name
    return Record
print(record('A')(), record('B').__name__)
""")


FUNCTIONS = _programs(r"""
## a finally that returns, breaks and continues loses an error
def returns():
    try:
        1 / 0
    finally:
        return 'returned'
def breaks(found=None):
    for n in range(3):
        try:
            if n == 1:
                raise ValueError
            print(n)
        finally:
            continue
    while True:
        try:
            raise KeyError
        finally:
            break
    else:
        print('else')
    try:
        try:
            raise ValueError('a')
        except ValueError as e:
            raise TypeError('b') from e
        finally:
            for k in (1, 2):
                if k == 2:
                    return k
    finally:
        print('outer')
def chooses():
    try:
        return 1
    finally:
        if breaks():
            return 2
def ends():
    try:
        yield 1
        raise ValueError
    finally:
        return 'ended'
def stops():
    try:
        raise ExceptionGroup('a', [ValueError(1)])
    except* TypeError:
        print('type')
    finally:
        return 'stopped'
def leaves():
    try:
        raise SystemExit('x')
    finally:
        return 'stays'
def handles():
    try:
        raise ValueError
    except ValueError:
        try:
            pass
        finally:
            return 'handled'
print(returns(), breaks(), chooses(), list(ends()), stops(), leaves(), handles())
## errors of memory that Python finds by arithmetic
class Own(MemoryError):
    pass
for error in (MemoryError('a'), Own('b')):
    try:
        raise error
    except MemoryError as caught:
        print(repr(caught), isinstance(caught, Exception), MemoryError.__mro__)
def grow(x, n):
    x *= n
for x in ('ab', b'ab', bytearray(b'ab'), [1, 2], (1, 2)):
    for n in (2**62, 2**63 - 1, 10**30):
        for use in (lambda: x * n, lambda: grow(x, n)):
            try:
                use()
            except (MemoryError, OverflowError) as e:
                print(type(e).__name__, e)
for use in (lambda: format(1, '>99999999999999999999'), lambda: '%99999999999999999999d' % 1, lambda: 'a'.ljust(10**30),
            lambda: '%.99999999999999999999f' % 1.5, lambda: 1 << 10**30, lambda: 'a\t'.expandtabs(10**30)):
    try:
        use()
    except (OverflowError, ValueError) as e:
        print(type(e).__name__, e)
from collections import deque
print(deque([1, 2], maxlen=2) * 10**9, format(5, '000000000000000000000000000005'), '%00000000000000000000005d' % 7)
## a class that reads a name before it binds it looks past the function around it
name = 'outside'
def make():
    name = 'inside'
    class A:
        name = name
        class B:
            name = name + '!'
    class C:
        other = name
    return A.name, A.B.name, C.other
print(make())
## generators
def gen(n):
    print('start')
    for i in range(n):
        got = yield i
        if got:
            print('got', got)
    return 'result'
g = gen(3)
print(next(g), g.send('x'), list(g))
def outer():
    v = yield from gen(2)
    print('v', v)
    yield 'last'
print(list(outer()))
g = gen(1)
next(g)
try:
    next(g)
except StopIteration as e:
    print('stop', e.value)
print(next(g, 'gone'))
## generators are thrown into and closed
def careful():
    try:
        while True:
            try:
                v = yield 'ready'
                print('value', v)
            except ValueError as e:
                print('caught', e)
                yield 'handled'
    finally:
        print('cleaned')
g = careful()
print(next(g), g.send(1), g.throw(ValueError('bad')), next(g))
g.close()
g.close()
print(list(g))
h = careful()
next(h)
try:
    h.throw(KeyError('k'))
except KeyError as e:
    print('out', e)
def stubborn():
    yield 1
try:
    s = stubborn(); s.send(5)
except TypeError as e:
    print(e)
## closures with nonlocal
def counter():
    n = 0
    history = []
    def up(by=1):
        nonlocal n
        n += by
        history.append(n)
        return n
    def reset():
        nonlocal n, history
        n, history = 0, []
    def show(): return n, history
    return up, reset, show
up, reset, show = counter()
up(); up(5)
print(show()); reset(); print(show(), up())
def deep():
    x = 'a'
    def one():
        x = 'b'
        def two():
            nonlocal x
            x += 'c'
            return x
        return two() + x
    return one() + x
print(deep())
## global in nested functions
total = 0
def outer():
    total = 'own'
    def inner():
        global total, fresh
        total += 1
        fresh = 'new'
    inner()
    return total
print(outer(), total, fresh)
def middle():
    global total
    def inner():
        total = 5
        return total
    total = 10
    return inner(), total
print(middle(), total)
def loop():
    global i
    for i in range(3): pass
loop()
print(i)
def drop():
    global fresh
    del fresh
drop()
try:
    fresh
except NameError as e:
    print(e)
## default arguments and late binding
fs = [lambda: i for i in range(3)]
gs = [lambda i=i: i for i in range(3)]
print([f() for f in fs], [g() for g in gs])
def keep(v, seen=[]):
    seen.append(v)
    return seen
print(keep(1), keep(2), keep(3, []))
def f(a, /, b, *, c=3, **d): return a, b, c, d
print(f(1, b=2), f(1, 2, c=4, a=5))
try:
    f(a=1, b=2)
except TypeError as e:
    print(e)
## groups of errors
def raises(*errors):
    raise ExceptionGroup('several', list(errors))
try:
    raises(ValueError(1), KeyError('k'), ExceptionGroup('inner', [TypeError('t'), ValueError(2)]))
except* ValueError as g:
    print('values', g.exceptions)
except* (KeyError, TypeError) as g:
    print('rest', len(g.exceptions), [type(e).__name__ for e in g.exceptions])
else:
    print('none')
finally:
    print('finally')
try:
    try:
        raises(ValueError(1), OSError('o'))
    except* ValueError:
        raise KeyError('new')
except ExceptionGroup as g:
    print(g, [repr(e) for e in g.exceptions])
try:
    raise ValueError('alone')
except* ValueError as g:
    print(type(g).__name__, g.exceptions)
class Own(ExceptionGroup):
    pass
try:
    raise Own('own', [ValueError('v')])
except* ValueError as g:
    print(g.message)
## errors, else and finally in all orders
def f(how):
    try:
        print('try', how)
        if how == 'raise': raise ValueError(how)
        if how == 'return': return 'returned'
        if how == 'other': {}[how]
    except ValueError as e:
        print('except', e)
        return 'handled'
    else:
        print('else')
    finally:
        print('finally')
    return 'end'
for how in ('raise', 'return', 'pass'):
    print(f(how))
try:
    f('other')
except KeyError as e:
    print('out', e)
def chain():
    try:
        try:
            1 / 0
        finally:
            [][0]
    except IndexError as e:
        return type(e.__context__).__name__
print(chain())
def again():
    for n in range(3):
        try:
            if n < 2: raise RuntimeError(n)
            return f'at {n}'
        except RuntimeError:
            continue
print(again())
try:
    raise
except RuntimeError as e:
    print(e)
""")


MATCHING = _programs(r"""
## keys that are twice the same
from enum import IntEnum
class A(IntEnum):
    a = 1
    b = 1
    c = 3
try:
    match {1: 2, 3: 4}:
        case {A.a: x, A.b: y}:
            print('no')
except ValueError as e:
    print(e)
match {1: 2, 3: 4, 5: 6}:
    case {A.a: x, A.c: 4, **rest}:
        print(x, rest)
## classes with positional and named parts
class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
class Q(P): pass
class Z: pass
def f(v):
    match v:
        case P(0, 0): return 'origin'
        case Q(x, y) if x == y: return f'Q diagonal {x}'
        case P(x=0, y=y): return f'on y {y}'
        case P(x, 0) | P(0, x): return f'axis {x}'
        case P(x, P(a, b) as inner): return f'nested {x} {a} {b} {inner.x}'
        case P(): return 'some P'
        case Z(): return 'Z'
        case _: return 'other'
print([f(v) for v in (P(0, 0), Q(2, 2), P(0, 5), P(3, 0), P(1, P(2, 3)), P(1, 1), Z(), 7)])
try:
    match P(1, 2):
        case P(1, 2, 3): pass
except TypeError as e:
    print(e)
try:
    match Z():
        case Z(1): pass
except TypeError as e:
    print(e)
## builtin classes
def f(v):
    match v:
        case bool(): return 'bool'
        case int(n) if n > 100: return f'big {n}'
        case int(n) | float(n): return f'number {n}'
        case str(s) if s.isupper(): return f'loud {s}'
        case str(): return 'text'
        case list([int(a), *rest]): return f'ints from {a} {rest}'
        case list(v): return f'list {len(v)}'
        case dict(d): return f'dict {len(d)}'
        case tuple((a, b)): return f'pair {a} {b}'
        case set() | frozenset(): return 'set'
        case bytes(b): return f'bytes {b}'
        case None: return 'none'
    return 'fell through'
print([f(v) for v in (True, 500, 3, 2.5, 'HI', 'hi', [1, 2, 3], ['a'], {'a': 1}, (1, 2), {1}, b'x', None, 1j, (1, 2, 3))])
## enums and dotted names
from enum import Enum
class C(Enum):
    R = 1
    G = 2
class Limits:
    low, high = 0, 10
    class Deep: v = 'deep'
def f(v):
    match v:
        case C.R: return 'red'
        case C.G | 3: return 'green or 3'
        case Limits.low: return 'low'
        case Limits.Deep.v: return 'deep'
        case [C.R, C() as other]: return f'red and {other.name}'
        case {'c': C.G, **rest}: return f'green in {rest}'
        case x: return f'{x!r}'
print([f(v) for v in (C.R, C.G, 3, 0, 'deep', [C.R, C.G], {'c': C.G, 'd': 1}, {'c': C.R}, 10)])
## dataclasses and named tuples
from dataclasses import dataclass
from typing import NamedTuple
@dataclass
class Add:
    left: object
    right: object
@dataclass
class Mul:
    left: object
    right: object
class Num(NamedTuple):
    v: int
def ev(e):
    match e:
        case Num(v): return v
        case Add(Num(0), x) | Add(x, Num(0)): return ev(x)
        case Add(a, b): return ev(a) + ev(b)
        case Mul(left=Num(v=1), right=x): return ev(x)
        case Mul(a, b): return ev(a) * ev(b)
        case _: raise ValueError(e)
print(ev(Add(Num(2), Mul(Num(3), Add(Num(0), Num(4))))), ev(Mul(Num(1), Num(7))))
match Num(5):
    case (x,): print('as a tuple', x)
match [Num(1), Add(1, 2)]:
    case [Num(v=n), Add(right=r)]: print(n, r)
## sequences and mappings without classes
def f(v):
    match v:
        case []: return 'empty'
        case [x]: return f'one {x}'
        case [1, *_, 9]: return 'one to nine'
        case [a, b, *rest] if len(rest) > 1: return f'{a} {b} {rest}'
        case {'op': 'add', 'args': [int(a), int(b)]}: return a + b
        case {'op': str(op), **rest}: return f'{op} {rest}'
        case {}: return 'mapping'
        case 'a' | 'b' as letter: return f'letter {letter}'
        case -1 | 1.5 | 2j: return 'number'
        case (x, (y, z)) if x == y: return 'nested'
        case _: return 'no'
print([f(v) for v in ([], [5], [1, 4, 9], [1, 2, 3, 4], {'op': 'add', 'args': (1, 2)}, {'op': 'x', 'n': 1}, {}, 'b', -1, 1.5, 2j, (3, (3, 4)), 'zz', range(1))])
""")


LIBRARY |= _programs(r"""
## methods of plain data by their names
it = iter('ab')
print((5).__add__(1), [1, 2].__len__(), 'x'.__eq__('x'), {1: 2}.__contains__(1), it.__next__(), (3).__class__, None.__repr__())
try:
    [].__dict__
except AttributeError as e:
    print(e)
## protocols ask for their methods and nothing else
from typing import Protocol, runtime_checkable
@runtime_checkable
class HasAppend(Protocol):
    def append(self, o): ...
class Own:
    def append(self, o): pass
print(isinstance([], HasAppend), isinstance(3, HasAppend), issubclass(Own, HasAppend), issubclass(list, HasAppend))
## enums and errors show their classes
from enum import Enum, IntEnum, Flag
class A(IntEnum): a = 1
class B(Flag): b = 1
class C(Enum): c = 1
def names(kind): return [k.__name__ for k in kind.__mro__ if k.__name__ != 'ReprEnum']
print(names(A), names(B), names(C), names(KeyError), type(A).__name__, isinstance(KeyError(), BaseException))
try:
    A(b=1)
except TypeError as e:
    print(e)
## names of attributes
class P:
    unit = 'm'
    def __init__(self): self.x = 1
    def move(self): pass
def public(v): return [n for n in dir(v) if n[:1] != '_']
p = P()
vars(p)['y'] = 2
def f(a):
    b = a
    return sorted(vars()), dir()
print(vars(p), p.y, public(p), public(P), sorted(n for n in vars(P) if n[:1] != '_'), f(1), 'strip' in dir(str), 'strip' in dir(''))
try:
    vars(3)
except TypeError as e:
    print(e)
## functions by the annotation of their first parameter
from functools import singledispatch
@singledispatch
def show(v): return 'any'
@show.register
def _(v: int | float): return 'number'
@show.register
def _(v: list): return [show(x) for x in v]
print(show('a'), show([1, 2.5, None]))
## encoders of one's own
import json
class E(json.JSONEncoder):
    def default(self, o): return sorted(o) if isinstance(o, set) else super().default(o)
print(json.dumps({'a': {2, 1}}, cls=E, indent=1), json.dumps([1, {'b': 2}], cls=E), E(sort_keys=True).encode({'b': {1}, 'a': 2}))
for bad in (lambda: json.dumps(1j, cls=E), lambda: json.dumps(1j)):
    try:
        bad()
    except TypeError as e:
        print(e)
## queues in memory and silent warnings
import warnings
from queue import Empty, Full, LifoQueue, PriorityQueue, Queue
q, l, p = Queue(2), LifoQueue(), PriorityQueue()
for k in (2, 1):
    for each_ in (q, l, p): each_.put(k)
for work in (lambda: q.put(3, timeout=0.01), lambda: q.put_nowait(3)):
    try:
        work()
    except Full: print('full', q.qsize(), q.full())
print([each_.get() for each_ in (q, l, p)], p.empty(), q.task_done(), isinstance(q, Queue))
try:
    PriorityQueue().get(block=False)
except Empty: print('empty')
warnings.filterwarnings('ignore')
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter('always')
    warnings.warn('old', DeprecationWarning)
    warnings.warn(UserWarning('own'))
print([(w.category.__name__, str(w.message)) for w in seen])
## words of a shell and patterns of names
import fnmatch, shlex
print(shlex.split('a "b c" -n'), shlex.quote('a b'), shlex.join(['a', 'b c']), fnmatch.filter(['a.py', 'b.txt'], '*.py'), fnmatch.fnmatchcase('A', 'a'))
## a decorator gives a class its methods
def shown(kind):
    def __repr__(self): return f'{kind.__name__}{sorted(vars(self).items())}'
    kind.__repr__ = __repr__
    return kind
@shown
class S:
    def __init__(self): self.a = 1
print(S())
""")


MATCHING |= _programs(r"""
## properties and hooks are read by patterns
class Box:
    def __init__(self, w, h): self.w, self.h = w, h
    @property
    def area(self): return self.w * self.h
    def __getattr__(self, name):
        if name == 'ghost': return 'boo'
        raise AttributeError(name)
    def __eq__(self, o): return o == 'box'
def f(v):
    match v:
        case Box(area=0): return 'flat'
        case Box(area=a, w=w) if w == a: return 'thin'
        case Box(missing=_): return 'never'
        case Box(ghost='boo', area=a): return f'ghost {a}'
print(f(Box(0, 3)), f(Box(2, 1)), f(Box(2, 3)), f(1))
match Box(1, 1):
    case 'box': print('equal by its own method')
match 'x':
    case str() as whole if len(whole) == 1: print(whole)
""")


STEPS = _programs(r"""
## classes and functions shared by steps
class Cart:
    def __init__(self): self.items = {}
    def add(self, name, n=1): self.items[name] = self.items.get(name, 0) + n; return self
    def __len__(self): return sum(self.items.values())
total = 0
def count(n):
    global total
    total += n
    return total
#-- step
cart = Cart().add('a').add('b', 2)
count(len(cart))
print(total, cart.items)
#-- step
cart.add('a')
count(1)
extra = [k for k in cart.items if cart.items[k] > 1]
print(total, extra, len(cart))
#-- step
total *= 2
cart.owner = 'x'
print(total, count(0), cart.owner)
## a helper declares a variable of the plan nonlocal
seen = []
n = 0
def note(v):
    nonlocal_or_global()
    seen.append(v)
    return n
def nonlocal_or_global():
    global n
    n = n + 1
#-- step
print(note('a'), n)
n = 10
#-- step
print(note('b'), n, seen)
def local():
    n = 'own'
    def inner():
        nonlocal n
        n += '!'
        return n
    return inner() + n
print(local(), n)
## a step defines a class and uses it alone
base = 3
#-- step
class Local:
    k = base
    def f(self): return self.k + base
    class Inner: pass
values = [Local().f() for _ in range(2)]
base = 5
print(values, Local().f())
#-- step
values.append(base)
for v in values:
    class V:
        w = v
print(values, V.w, v)
## a step matches, catches and opens
class E(Exception): pass
from contextlib import contextmanager
@contextmanager
def opened(name):
    print('open', name)
    yield name.upper()
    print('close', name)
#-- step
with opened('a') as handle:
    try:
        raise E('x')
    except E as e:
        kept = e.args
print(handle, kept)
#-- step
match kept:
    case (str(text),): pass
    case _: text = None
print(text)
try:
    e
except NameError as error:
    print(error)
gen = (c for c in text + handle)
print(next(gen), [*gen])
""")

LIBRARY |= _programs(r"""
## powers of one and zero with huge exponents
print(1 ** 2 ** 70, (-1) ** (2 ** 70 + 1), True ** 2 ** 70, 0 ** 2 ** 70, pow(1, 2 ** 70))
## the factory of a defaultdict is written
from collections import Counter, defaultdict
d = defaultdict(int)
d.default_factory = list
d['a'].append(1)
d.default_factory = None
for use in (lambda: d['b'], lambda: Counter.fromkeys('ab')):
    try:
        use()
    except Exception as e:
        print(type(e).__name__, e)
print(d)
## constants
import sys
print(Ellipsis is ..., isinstance(sys.version, str))
## templates read attributes
class A:
    def __init__(self):
        self.x = {'k': [1]}
    @property
    def p(self):
        return 5
print('{0.p} {0.x[k][0]:>3} {a.x!r}'.format(A(), a=A()), '{a.p}'.format_map({'a': A()}), '{.real}'.format(3))
try:
    '{0.nothing}'.format(A())
except AttributeError as e:
    print(e)
## methods of an object alone are not those of its class
class A:
    def __init__(self):
        self.__contains__ = self.__repr__ = lambda *o: 'own'
a = A()
try:
    print(a.__contains__(3), repr(a) == 'own', 3 in a)
except TypeError as e:
    print(e)
## a NameError that is caught
try:
    print(never_set)
except NameError as e:
    print(e)
def read():
    try:
        return never_called(1)
    except (ValueError, NameError) as e:
        return str(e)
print(read())
## super of plain data, and of nothing
class A: pass
for use in (lambda: super(bool, True).__eq__(), lambda: super(bool, True).__add__(2), lambda: super(A, None).__eq__()):
    try:
        print(use())
    except TypeError as e:
        print(e)
## a copied set is made by its class
import copy
class Own(set):
    def __new__(cls, *o):
        print('new', o)
        made = super().__new__(cls)
        made.tag = len(o)
        return made
a = Own([(1, 2)])
b, c = copy.copy(a), copy.deepcopy(a)
print(b == a == c, b.tag, c.tag, type(b).__name__)
## Python's own methods say what they lack
from enum import Enum
class E(Enum):
    a = 1
for use in (lambda: E.__str__(value=1), lambda: E.__str__()):
    try:
        use()
    except TypeError as e:
        print(e)
## copies of methods and modules
import copy, math
class A:
    def __init__(self):
        self.v = [1]
    def get(self):
        return self.v
a = A()
own, b = copy.copy(a.get), copy.deepcopy([a, a.get])
a.v.append(2)
b[0].v.append(3)
print(own(), b[1]())
try:
    copy.deepcopy([math])
except TypeError as e:
    print(e)
## a walrus in a decorator binds where the function is defined
def passed(x):
    return lambda c: c
def f():
    @passed(first := 1)
    class A(passed(third := 3)(object)): pass
    @passed(second := 2)
    def g(): pass
    def read():
        return first, second, third
    return read()
print(f())
## types of objects of the library are shown and compared
import copy, dataclasses, hashlib, io, itertools, types, typing
class C:
    def m(self): pass
def g(): yield 1
shown = [hashlib.md5(), typing.Optional, dataclasses.MISSING, next(itertools.groupby([1]))[1], iter([]), {}.keys(), g, len]
for value in (*shown, C().m, staticmethod(g), io.StringIO(), map(len, []), zip()):
    kind = type(value)
    print(kind, kind is type(value), isinstance(value, kind), isinstance(3, kind), type(kind), isinstance(kind, type), kind.__name__, kind.__module__, value.__class__)
print(type(typing), type(io.StringIO()) is io.StringIO, type(map(len, [])) is map, type(C().m) is types.MethodType, copy.deepcopy([type(len)]) == [type(max)], {type(g): 1}[type(C.m)], issubclass(type(g), type(g)), issubclass(bool, type(g)))
for use in (lambda: type(g()), lambda: type(iter([]))(), lambda: type(len).nothing, lambda: isinstance(1, (type(len), int))):
    try:
        print(use())
    except (AttributeError, TypeError) as e:
        print(e)
## an import that is tried may fail
def fetch():
    try:
        import yaml_of_nobody.parts as y, json
        return y
    except (ValueError, ImportError) as e:
        return type(e).__name__, str(e), e.name
print(fetch())
try:
    import lxml_of_nobody
    fast = True
except ImportError:
    fast = False
class C:
    try:
        import numpy_of_nobody as np
    except ModuleNotFoundError:
        np = None
try:
    import pandas_of_nobody
    frames = True
except:
    frames = False
print(fast, C.np, frames)
## cached functions keep their names
import functools
def logged(f):
    @functools.wraps(f)
    def inner(*args): return f(*args)
    return inner
@functools.lru_cache(maxsize=None)
def double(x):
    "Twice."
    return 2 * x
@functools.cache
def plain(x): return x
named = logged(double)
print(double.__name__, double.__qualname__, double.__doc__, plain.__doc__, double.__wrapped__(3), named.__name__, named.__doc__, named.__wrapped__ is double)
class K:
    @functools.cache
    def m(self): return 5
print(K().m(), K.m.__name__, K.m.__wrapped__(K()), logged(functools.cache(functools.partial(max)))([1, 2]))
try:
    functools.cache(functools.partial(len)).__name__
except AttributeError as e:
    print(e)
## copies, hashes and patterns as Python has them
import copy, re
from dataclasses import dataclass
class Grows:
    def __deepcopy__(self, memo):
        held['added'] = 1
held = {'k': Grows(), 'z': 2}
@dataclass(frozen=True)
class F: x: int = 1
print(F.__hash__.__name__, F.__hash__.__qualname__, F.__hash__(F()) == hash(F(1)), re.compile('a', True).flags)
for use in (lambda: copy.deepcopy(held), lambda: re.search(re.compile('a'), 'a', True)):
    try:
        use()
    except (RuntimeError, ValueError) as e:
        print(e)
## methods and settings of the library that a plan's own calls reach
import copy, csv, functools, hashlib, io, random
from dataclasses import dataclass
@dataclass(frozen=True)
class F: x: int = 1
f, marks = F(), dataclass(order=True)
for use in (lambda: F.__setattr__(f, 'x', 2), lambda: F.__delattr__(f, 'x'), lambda: F.__setattr__(3, 'x', 2), lambda: F.__setattr__(f, 5, 6), marks, lambda: functools.cache(F).nothing):
    try:
        use()
    except (TypeError, AttributeError) as e:
        print(type(e).__name__, e)
r = random.Random(3)
c, d = copy.copy(r), copy.deepcopy([r])[0]
print(F.__init__ is F.__init__, F.__eq__(f, F(1)), F.__init__ in {F.__dict__['__init__']})
print(c is r, c.random() == r.random() == d.random(), copy.deepcopy([int | str]), marks(cls=F.__class__('K', (), {})).__name__, hashlib.blake2b.MAX_DIGEST_SIZE, hashlib.blake2s().SALT_SIZE)
print(csv.reader([], quotechar=None).dialect.quoting, csv.reader([], 'excel-tab').dialect.delimiter, csv.writer(io.StringIO(), dialect='unix').dialect.lineterminator)
## members that an Enum's own __new__ makes, and other enums by calls
import enum
class Planet(enum.Enum):
    def __new__(cls, mass, radius):
        made = object.__new__(cls)
        made._value_, made.radius = mass, radius
        return made
    EARTH = (1, 2)
    MARS = (3, 4)
class Language(str, enum.Enum):
    def __new__(cls, value, label):
        made = str.__new__(cls, value)
        made._value_, made.label = value, label
        return made
    PY = 'py', 'Python'
class Right(enum.Flag):
    R = enum.auto()
    W = enum.auto()
print(Planet.EARTH.radius, Planet(3), Language('py').label, Language.PY == 'py', Right(3), ~Right.R, Right.R | Right.W)
print(list(enum.Enum('E', 'A B')), enum.IntEnum('N', ['x']).x, enum.Enum('S', {'a': 'b'}, type=str).a)
## errors and members of Python's own types
import datetime, decimal
from collections import defaultdict, deque, namedtuple
class N:
    def __str__(self):
        return 'fine'
print(namedtuple('T', [N(), 'b'])(1, 2), defaultdict.fromkeys('ab', 1), list(map(deque.popleft, [deque([1])])))
print(decimal.Context().flags[decimal.Inexact], decimal.getcontext().traps[decimal.DivisionByZero])
for use in (lambda: datetime.date.nothing, lambda: type(1, (), {}), lambda: type('A', 1, {}), lambda: type('A', (), 1)):
    try:
        use()
    except (AttributeError, TypeError) as e:
        print(e)
""")
