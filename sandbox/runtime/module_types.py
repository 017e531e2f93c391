"""What plans may read of the types that modules give: an allow-list of attributes for each exact type.

None leads to code, frames, modules, classes or files. Methods that read the machine's clock or random numbers are
replaced (see ``clocks``).
"""

from __future__ import annotations

import array
import calendar
import csv
import datetime
import decimal
import difflib
import functools
import graphlib
import hashlib
import hmac
import http
import io
import ipaddress
import itertools
import pathlib
import random
import re
import statistics
import string
import struct
import sys
import textwrap
import time
import urllib.parse
import uuid
import zoneinfo
from collections import ChainMap
from fractions import Fraction
from json import JSONDecodeError
from xml.etree.ElementTree import ParseError

from codeplan.sandbox.runtime.classes import VISIBLE_TYPES
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES, split_names


def public_names(kind: type, *without: str) -> frozenset[str]:
    """Return the attributes of a type whose names have no underscore in front."""
    return frozenset(n for n in dir(kind) if not n.startswith("_") and n not in without)


_NAMED_TUPLE = split_names("_asdict _fields _make _replace count index")
_ONE_DIGEST = split_names("block_size copy digest digest_size hexdigest name update")
_URL_PARTS = split_names("fragment geturl hostname netloc password path port query scheme username")
_CALENDAR = split_names(
    "firstweekday getfirstweekday itermonthdates itermonthdays itermonthdays2 itermonthdays3 itermonthdays4 "
    "iterweekdays monthdatescalendar monthdays2calendar monthdayscalendar setfirstweekday yeardatescalendar "
    "yeardays2calendar yeardayscalendar"
)
_TEXT_CALENDAR = _CALENDAR | split_names(
    "formatday formatmonth formatmonthname formatweek formatweekday formatweekheader formatyear"
)
_PATH = split_names(
    "anchor as_posix as_uri drive is_absolute is_relative_to joinpath match name parent parents parts relative_to root "
    "stem suffix suffixes with_name with_stem with_suffix"
)

DIALECT = split_names("delimiter doublequote escapechar lineterminator quotechar quoting skipinitialspace strict")

MODULE_ATTRIBUTES: dict[type, frozenset[str]] = {
    array.array: split_names(
        "append byteswap count extend frombytes fromlist index insert itemsize pop remove reverse tobytes tolist "
        "typecode"
    ),
    graphlib.TopologicalSorter: split_names("add done get_ready is_active prepare static_order"),
    **{
        type(sample): frozenset(name for name in dir(sample) if not name.startswith("_"))
        for text in ("10.0.0.0", "::")
        for sample in (ipaddress.ip_address(text), ipaddress.ip_interface(text), ipaddress.ip_network(text))
    },
    ChainMap: split_names("clear copy get items keys maps new_child parents pop popitem setdefault update values"),
    Fraction: public_names(Fraction, "from_decimal", "from_float", "from_number"),
    calendar.Calendar: _CALENDAR,
    calendar.HTMLCalendar: _CALENDAR | split_names("formatday formatmonth formatmonthname formatweek formatyear"),
    calendar.TextCalendar: _TEXT_CALENDAR,
    type(csv.get_dialect("excel")): DIALECT,
    csv.DictReader: split_names("fieldnames line_num"),
    csv.DictWriter: split_names("fieldnames writeheader writerow writerows"),
    csv.Sniffer: split_names("has_header preferred sniff"),
    type(csv.reader([])): split_names("line_num"),
    type(csv.writer(io.StringIO())): split_names("writerow writerows"),
    datetime.date: public_names(datetime.date, "fromtimestamp", "today"),
    datetime.datetime: public_names(datetime.datetime, "now", "today", "utcnow"),
    datetime.time: public_names(datetime.time),
    datetime.timedelta: public_names(datetime.timedelta),
    datetime.timezone: public_names(datetime.timezone),
    type(datetime.date.min.isocalendar()): split_names("count index week weekday year"),
    decimal.DecimalTuple: _NAMED_TUPLE | split_names("digits exponent sign"),
    decimal.Context: public_names(decimal.Context, "clear_traps", "flags", "traps"),
    decimal.Decimal: public_names(decimal.Decimal),
    difflib.Differ: split_names("compare"),
    difflib.SequenceMatcher: split_names(
        "find_longest_match get_grouped_opcodes get_matching_blocks get_opcodes quick_ratio ratio real_quick_ratio "
        "set_seq1 set_seq2 set_seqs"
    ),
    difflib.Match: _NAMED_TUPLE | split_names("a b size"),
    functools._lru_cache_wrapper: split_names("cache_clear cache_info cache_parameters"),
    functools._CacheInfo: _NAMED_TUPLE | split_names("currsize hits maxsize misses"),
    hmac.HMAC: _ONE_DIGEST,
    http.HTTPMethod: split_names("description name value"),
    http.HTTPStatus: split_names("description name phrase value"),
    io.BytesIO: split_names(
        "close closed flush getvalue read read1 readable readinto readline readlines seek seekable tell truncate "
        "writable write writelines"
    ),
    io.StringIO: split_names(
        "close closed flush getvalue newlines read readable readline readlines seek seekable tell truncate writable "
        "write writelines"
    ),
    **dict.fromkeys((pathlib.PurePosixPath, pathlib.PureWindowsPath), _PATH | {"__fspath__"}),
    type(pathlib.PurePath("/").parents): split_names("count index"),
    random.Random: public_names(random.Random, "VERSION"),
    re.RegexFlag: split_names("name value"),
    statistics.LinearRegression: _NAMED_TUPLE | split_names("intercept slope"),
    statistics.NormalDist: public_names(statistics.NormalDist),
    string.Template: split_names("get_identifiers is_valid safe_substitute substitute template"),
    struct.Struct: split_names("format iter_unpack pack pack_into size unpack unpack_from"),
    textwrap.TextWrapper: split_names("fill wrap"),
    time.struct_time: public_names(time.struct_time, "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    urllib.parse.DefragResult: _NAMED_TUPLE | split_names("fragment geturl url"),
    urllib.parse.DefragResultBytes: _NAMED_TUPLE | split_names("fragment geturl url"),
    urllib.parse.ParseResult: _NAMED_TUPLE | _URL_PARTS | {"params"},
    urllib.parse.ParseResultBytes: _NAMED_TUPLE | _URL_PARTS | {"params"},
    urllib.parse.SplitResult: _NAMED_TUPLE | _URL_PARTS,
    urllib.parse.SplitResultBytes: _NAMED_TUPLE | _URL_PARTS,
    uuid.UUID: public_names(uuid.UUID, "is_safe"),
    zoneinfo.ZoneInfo: split_names("dst key tzname utcoffset"),
    type(sys.float_info): public_names(type(sys.float_info), "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    type(sys.hash_info): public_names(type(sys.hash_info), "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    type(sys.int_info): public_names(type(sys.int_info), "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    type(sys.version_info): split_names("count index major micro minor releaselevel serial"),
    **{kind: split_names("name value") for kind in {type(calendar.MONDAY)} - {int}},
    **{type(hashlib.new(name)): _ONE_DIGEST for name in hashlib.algorithms_guaranteed},
}
"""Readable attributes of values by exact type."""

_DECIMAL, _DATE = MODULE_ATTRIBUTES[decimal.Decimal], MODULE_ATTRIBUTES[datetime.date]

MODULE_TYPE_ATTRIBUTES: dict[type, frozenset[str]] = {
    Fraction: split_names("from_decimal from_float limit_denominator"),
    datetime.date: _DATE | {"fromtimestamp"},
    datetime.datetime: MODULE_ATTRIBUTES[datetime.datetime],
    datetime.time: MODULE_ATTRIBUTES[datetime.time],
    datetime.timedelta: MODULE_ATTRIBUTES[datetime.timedelta],
    datetime.timezone: MODULE_ATTRIBUTES[datetime.timezone],
    decimal.Decimal: _DECIMAL,
    **{kind: frozenset(kind.__members__) for kind in (http.HTTPMethod, http.HTTPStatus)},
    itertools.chain: frozenset({"from_iterable"}),
    statistics.NormalDist: frozenset({"from_samples"}),
    urllib.parse.ParseResult: frozenset({"_fields", "_make"}),
    urllib.parse.SplitResult: frozenset({"_fields", "_make"}),
}
"""Readable attributes of types."""

CLASS_KINDS: frozenset[type] = frozenset({type, type(Fraction)})
"""The types of types whose attributes are looked up by the tables above."""

_POSITION = split_names("colno lineno msg pos")

ERROR_ATTRIBUTES: dict[type[Exception], frozenset[str]] = {
    AttributeError: frozenset({"name"}),
    ImportError: split_names("msg name path"),
    JSONDecodeError: _POSITION | {"doc"},
    NameError: frozenset({"name"}),
    ParseError: split_names("code position"),
    OSError: split_names("errno filename filename2 strerror"),
    StopIteration: frozenset({"value"}),
    SyntaxError: split_names("end_lineno end_offset filename lineno msg offset text"),
    UnicodeDecodeError: split_names("encoding end object reason start"),
    UnicodeEncodeError: split_names("encoding end object reason start"),
    UnicodeTranslateError: split_names("encoding end object reason start"),
    re.error: _POSITION | {"pattern"},
}
"""Readable attributes of exceptions, also of subclasses: plain data. ``obj`` and tracebacks are none."""

VISIBLE_TYPES |= {
    array.array,
    re.Match,
    re.Pattern,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
}
_OF_ITERTOOLS = (getattr(itertools, name) for name in ALLOWED_MODULES["itertools"])
VISIBLE_TYPES |= {kind for kind in _OF_ITERTOOLS if isinstance(kind, type)}
VISIBLE_TYPES |= {bytearray, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone}
VISIBLE_TYPES |= {pathlib.PurePosixPath, pathlib.PureWindowsPath, decimal.Decimal, Fraction, uuid.UUID, ChainMap}
