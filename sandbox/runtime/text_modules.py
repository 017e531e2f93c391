"""``string.Formatter``, ``html.parser``, ``configparser`` and parts of ``xml`` for plans.

No attribute is read past the guard, and no file: Python's own ``configparser`` opens files, so a plan's parser holds
one that the plan cannot reach.
"""

from __future__ import annotations

import configparser
import io
import weakref
from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator
from html import parser as html_parsing
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree as Trees

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES, CONVERSIONS, MAX_NESTING
from codeplan.sandbox.runtime.classes import RUNTIME_BASES, WRITERS, mark_class
from codeplan.sandbox.runtime.elements import Element, tag_text
from codeplan.sandbox.runtime.guards import SizeGuard, set_name
from codeplan.sandbox.runtime.module_names import NO_FILES, split_names
from codeplan.sandbox.runtime.names import is_readable
from codeplan.untrusted.texts import with_article


def _replace_all(text: str, entities: Any) -> str:
    for key, value in entities.items():
        text = text.replace(key, value)
    return text


def _escape(data: Any, entities: Any = {}) -> str:  # noqa: B006  # Python's own signature
    """``xml.sax.saxutils.escape``, without the module, which loads the network's."""
    return _replace_all(data.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;"), entities)


def _unescape(data: Any, entities: Any = {}) -> str:  # noqa: B006
    """``xml.sax.saxutils.unescape``."""
    return _replace_all(data.replace("&lt;", "<").replace("&gt;", ">"), entities).replace("&amp;", "&")


def _quoteattr(data: Any, entities: Any = {}) -> str:  # noqa: B006
    """``xml.sax.saxutils.quoteattr``."""
    text = _escape(data, {**entities, "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    if '"' not in text:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text else '"' + text.replace('"', "&quot;") + '"'


MARKUP_MEMBERS: dict[str, object] = {
    name: set_name(name, function)
    for name, function in (("escape", _escape), ("quoteattr", _quoteattr), ("unescape", _unescape))
}
"""The members of ``xml.sax.saxutils``."""

Read = Callable[[Any, str], Any]
"""Reads an attribute as a plan may."""


def make_formatter(read: Read, size_guard: SizeGuard) -> type:
    """Return ``string.Formatter`` for plans to use, or to derive from."""

    def read_public(value: Any, name: str) -> Any:
        if not is_readable(name):
            raise AttributeError(f"'{name}' is private; use public methods and attributes only")
        return read(value, name)

    class Formatter:
        """Fills templates as ``str.format`` does, by methods that a subclass may replace."""

        def format(self, format_string: str, /, *args: Any, **kwargs: Any) -> str:
            """Fill a template."""
            return self.vformat(format_string, args, kwargs)

        def vformat(self, format_string: str, args: Any, kwargs: Any) -> str:
            """Fill a template. Raises: what ``str.format`` raises."""
            used: set[Any] = set()
            text = _fill(self, format_string, args, kwargs, used)
            self.check_unused_args(used, args, kwargs)
            return text

        def parse(self, format_string: str) -> Iterator[tuple[str, str | None, str | None, str | None]]:
            """Yield each text between fields, with the name, the specification and the conversion of the field."""
            return iter(list(formatter_parser(format_string)))

        def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
            """Return what a field's name stands for, and the name or number of the argument."""
            first, rest = formatter_field_name_split(field_name)
            value = self.get_value(first, args, kwargs)
            for is_attribute, key in rest:
                value = read_public(value, key) if is_attribute else value[key]
            return value, first

        def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:
            """Return an argument by its number or its name."""
            return args[key] if isinstance(key, int) else kwargs[key]

        def check_unused_args(self, used_args: set[Any], args: Any, kwargs: Any) -> None:
            """Accept arguments that no field uses."""

        def format_field(self, value: Any, format_spec: str) -> Any:
            """Return a value as text."""
            return size_guard.format(value, format_spec)

        def convert_field(self, value: Any, conversion: str | None) -> Any:
            """Apply ``!s``, ``!r`` or ``!a``."""
            if conversion is None:
                return value
            if conversion not in CONVERSIONS:
                raise ValueError(f"Unknown conversion specifier {conversion}")
            return CONVERSIONS[conversion](value)

    RUNTIME_BASES.add(Formatter)
    mark_class(Formatter, shared=True).__module__ = "string"
    return Formatter


def _fill(formatter: Any, template: str, args: Any, named: Any, used: set[Any]) -> str:
    """Fill a template by a formatter's methods, which may be the plan's."""
    position = 0

    def fill(text: str, nesting: int) -> str:
        nonlocal position
        if nesting < 0:
            raise ValueError("Max string recursion exceeded")
        parts = []
        for literal, name, spec, conversion in formatter.parse(text):
            parts.append(literal)
            if name is None:
                continue
            if name == "":
                name, position = str(position), position + 1
            value, key = formatter.get_field(name, args, named)
            used.add(key)
            value = formatter.convert_field(value, conversion)
            parts.append(formatter.format_field(value, fill(spec or "", nesting - 1)))
        return "".join(parts)

    return fill(template, MAX_NESTING)


class HTMLReader(html_parsing.HTMLParser):
    """Reads for one parser of a plan, whose methods it calls. No plan reaches it."""

    parser: Any = None


def _calls_parser(name: str) -> Callable[..., Any]:
    return lambda reader, *found: getattr(reader.parser, name)(*found)


for _name in split_names(
    "handle_charref handle_comment handle_data handle_decl handle_endtag handle_entityref handle_pi "
    "handle_startendtag handle_starttag unknown_decl"
):
    setattr(HTMLReader, _name, _calls_parser(_name))


class _Readers:
    """The readers of a plan's parsers, by identity: the parsers themselves hold nothing that a plan could find."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[Any], HTMLReader]] = {}

    def make(self, parser: Any, convert_charrefs: bool) -> HTMLReader:
        """Make the reader of a parser, in place of an earlier one."""
        reader = HTMLReader(convert_charrefs=convert_charrefs)
        number = id(parser)
        reader.parser = weakref.proxy(parser)
        self._held[number] = (weakref.ref(parser, lambda _: self._held.pop(number, None)), reader)
        return reader

    def of(self, parser: Any) -> HTMLReader:
        """Return the reader of a parser. One that was copied, or not initialised, begins with nothing read."""
        held = self._held.get(id(parser))
        return held[1] if held and held[0]() is parser else self.make(parser, True)


def make_html_parser(size_guard: SizeGuard) -> type:
    """Return ``html.parser.HTMLParser`` for plans to derive from."""
    readers = _Readers()

    class HTMLParser:
        """Calls its methods for what it finds in the text that it is fed."""

        def __init__(self, *, convert_charrefs: Any = True) -> None:
            readers.make(self, bool(convert_charrefs))
            self.reset()

        def reset(self) -> None:
            """Forget what was fed and not handled yet."""
            readers.of(self).reset()

        def feed(self, data: str) -> None:
            """Handle what is complete in ``data`` and what was fed before."""
            reader = readers.of(self)
            size_guard.check_text(len(reader.rawdata) + len(data))
            reader.feed(data)

        def close(self) -> None:
            """Handle the rest, complete or not."""
            readers.of(self).close()

        def getpos(self) -> tuple[int, int]:
            """Return the line and the column."""
            return readers.of(self).getpos()

        def get_starttag_text(self) -> str | None:
            """Return the text of the latest start tag."""
            return readers.of(self).get_starttag_text()

        def handle_startendtag(self, tag: str, attrs: Any) -> None:
            """Handle a tag like ``<br/>`` as a start and an end."""
            self.handle_starttag(tag, attrs)
            self.handle_endtag(tag)

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            """Do nothing, as the methods below: for a subclass to replace."""

        def handle_endtag(self, tag: str) -> None:
            """Do nothing."""

        def handle_charref(self, name: str) -> None:
            """Do nothing."""

        def handle_entityref(self, name: str) -> None:
            """Do nothing."""

        def handle_data(self, data: str) -> None:
            """Do nothing."""

        def handle_comment(self, data: str) -> None:
            """Do nothing."""

        def handle_decl(self, decl: str) -> None:
            """Do nothing."""

        def handle_pi(self, data: str) -> None:
            """Do nothing."""

        def unknown_decl(self, data: str) -> None:
            """Do nothing."""

    RUNTIME_BASES.add(HTMLParser)
    mark_class(HTMLParser, shared=True).__module__ = "html.parser"
    return HTMLParser


_WRITTEN = split_names("attrib tag tail text")


class _ElementWriter:
    """Writes the four attributes of an element."""

    def __init__(self, element: Any) -> None:
        object.__setattr__(self, "element", element)

    def __getattr__(self, name: str) -> Any:
        if name not in _WRITTEN:
            raise AttributeError(f"'Element' object has no attribute '{name}'")
        return getattr(self.element, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _WRITTEN:
            raise AttributeError(f"'Element' object has no attribute '{name}'")
        if name == "attrib" and type(value) is not dict:
            raise TypeError("attrib must be dict")
        setattr(self.element, name, tag_text(value) if name == "tag" else value)


WRITERS[Element] = _ElementWriter
ALLOWED_ATTRIBUTES[Element] = _WRITTEN | split_names(
    "append clear extend find findall findtext get insert items iter iterfind itertext keys remove set"
)


def element_members(size_guard: SizeGuard) -> dict[str, object]:
    """Return the members of ``xml.etree.ElementTree``, for texts alone.

    Expat reads no external entity, and bounds what entities may become.
    """

    def read_text(text: Any) -> Any:
        size_guard.check_text(len(text))
        return Trees.fromstring(text, Trees.XMLParser(target=Trees.TreeBuilder(element_factory=Element)))

    def fromstring(text: Any) -> Any:
        return read_text(text)

    def XML(text: Any) -> Any:  # Python's name
        return read_text(text)

    def tostring(
        element: Any, encoding: Any = None, *, xml_declaration: Any = None, short_empty_elements: Any = True
    ) -> Any:
        wanted = None if encoding is None else str(encoding).lower()
        if wanted not in (None, "unicode", "utf-8", "us-ascii", "ascii"):
            raise LookupError(f"unknown encoding: {encoding}")
        options = {"xml_declaration": xml_declaration, "short_empty_elements": bool(short_empty_elements)}
        return Trees.tostring(_require_element(element), wanted, **options)

    def indent(tree: Any, space: str = "  ", level: int = 0) -> None:
        Trees.indent(_require_element(tree), str(space), level)

    def iselement(element: Any) -> bool:
        return type(element) is Element

    def SubElement(parent: Any, tag: Any, /, *args: Any, **named: Any) -> Any:  # Python's name
        owner, made = _require_element(parent), Element(tag, *args, **named)
        owner.append(made)
        return made

    functions: tuple[Any, ...] = (fromstring, XML, tostring, indent, iselement, SubElement)
    return {function.__name__: set_name(function.__name__, function) for function in functions} | {"Element": Element}


def _require_element(value: Any) -> Any:
    if type(value) is not Element:
        raise TypeError(f"an Element is needed here, not {with_article(type(value).__name__)}")
    return value


def preload_xml() -> None:
    """Load what ElementTree loads lazily: a locked worker cannot open files."""
    Trees.fromstring("<a><b/></a>").findtext(".//b")
    Trees.tostring(Element("a"), "utf-8")


_MISSING: Any = object()
_OPTIONS = split_names(
    "allow_no_value comment_prefixes default_section defaults delimiters empty_lines_in_values inline_comment_prefixes "
    "interpolation strict"
)


class SectionProxy:
    """A section of a ``ConfigParser``, read and written like a dict of texts."""

    def __init__(self, parser: ConfigParser, name: str) -> None:
        self.parser, self.name = parser, name

    def __repr__(self) -> str:
        return f"<Section: {self.name}>"

    def __getitem__(self, option: str) -> str:
        if not self.parser.has_option(self.name, option):
            raise KeyError(option)
        found: str = self.parser.get(self.name, option)
        return found

    def __setitem__(self, option: str, value: str) -> None:
        self.parser.set(self.name, option, value)

    def __delitem__(self, option: str) -> None:
        if not self.parser.remove_option(self.name, option):
            raise KeyError(option)

    def __contains__(self, option: object) -> bool:
        return self.parser.has_option(self.name, option)

    def __iter__(self) -> Iterator[str]:
        return iter(self.parser.options(self.name) if self.name in self.parser.sections() else self.parser.defaults())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> list[str]:
        """The options."""
        return list(self)

    def values(self) -> list[str]:
        """The values of the options."""
        return [self[option] for option in self]

    def items(self) -> list[tuple[str, str]]:
        """The options with their values."""
        return [(option, self[option]) for option in self]

    def get(self, option: str, fallback: Any = None, *, raw: bool = False) -> Any:
        """The value of an option as text, or the fallback."""
        return self.parser.get(self.name, option, raw=raw, fallback=fallback)

    def getint(self, option: str, fallback: Any = None) -> Any:
        """The value of an option as an integer."""
        return self.parser.getint(self.name, option, fallback=fallback)

    def getfloat(self, option: str, fallback: Any = None) -> Any:
        """The value of an option as a float."""
        return self.parser.getfloat(self.name, option, fallback=fallback)

    def getboolean(self, option: str, fallback: Any = None) -> Any:
        """The value of an option as true or false."""
        return self.parser.getboolean(self.name, option, fallback=fallback)


_INTERPOLATIONS = (configparser.BasicInterpolation, configparser.ExtendedInterpolation)
_KINDS: Any = (configparser.ConfigParser, configparser.RawConfigParser)


def _own(parser: Any) -> configparser.RawConfigParser:
    """Return Python's own parser that a plan's holds. A plan may have put any object there, to have it written to."""
    own: configparser.RawConfigParser = parser._own  # once: a second reading may give another
    if type(own) not in _KINDS:
        raise TypeError("a ConfigParser is needed here")
    return own


class ConfigParser:
    """As ``configparser.ConfigParser``, from texts and dicts alone."""

    _raw = False
    BOOLEAN_STATES = MappingProxyType(configparser.RawConfigParser.BOOLEAN_STATES)

    def __init__(self, defaults: Any = None, **options: Any) -> None:
        if odd := options.keys() - _OPTIONS:
            raise TypeError(f"ConfigParser has no option {min(odd)!r} here")
        if type(options.get("interpolation")) not in (type(None), *_INTERPOLATIONS):  # an object may pose as one
            raise TypeError("interpolation takes None, BasicInterpolation() or ExtendedInterpolation() here")
        kind = configparser.RawConfigParser if self._raw else configparser.ConfigParser
        self._own = kind(defaults, **options)

    @property
    def optionxform(self) -> Any:
        """What makes an option's name of its text; lower case, unless the plan sets another function."""
        return _own(self).optionxform

    @optionxform.setter
    def optionxform(self, function: Any) -> None:
        _own(self).optionxform = function  # type: ignore[method-assign]

    def read(self, filenames: Any, encoding: Any = None) -> None:
        """Raises: OSError: there are no files."""
        raise OSError(NO_FILES)

    def write(self, fp: Any, space_around_delimiters: bool = True) -> None:
        """Write the sections as text. Raises: TypeError: ``fp`` is no StringIO."""
        if type(fp) is not io.StringIO:
            raise TypeError("write takes an io.StringIO here")
        _own(self).write(fp, space_around_delimiters)

    def read_string(self, string: str, source: str = "<string>") -> None:
        """Read a text. Raises: the errors of ``configparser``."""
        _own(self).read_string(str(string), source)

    def read_dict(self, dictionary: Any, source: str = "<dict>") -> None:
        """Read sections of options from a dict."""
        _own(self).read_dict(dictionary, source)

    def read_file(self, f: Any, source: str | None = None) -> None:
        """Read the lines of an iterable, such as an ``io.StringIO``."""
        _own(self).read_file(iter(f), source or "<???>")

    def sections(self) -> list[str]:
        """The names of the sections but the default one."""
        return _own(self).sections()

    def defaults(self) -> dict[str, str]:
        """The options of the default section."""
        return dict(_own(self).defaults())

    def options(self, section: str) -> list[str]:
        """The options of a section, with the defaults."""
        return _own(self).options(section)

    def has_section(self, section: str) -> bool:
        """Whether there is such a section."""
        return _own(self).has_section(section)

    def has_option(self, section: str, option: Any) -> bool:
        """Whether a section has an option."""
        return _own(self).has_option(section, option)

    def get(self, section: str, option: str, *, raw: bool = False, vars: Any = None, fallback: Any = _MISSING) -> Any:
        """The value of an option as text."""
        return self._read(_own(self).get, section, option, raw, vars, fallback)

    def getint(
        self, section: str, option: str, *, raw: bool = False, vars: Any = None, fallback: Any = _MISSING
    ) -> Any:
        """The value of an option as an integer."""
        return self._read(_own(self).getint, section, option, raw, vars, fallback)

    def getfloat(
        self, section: str, option: str, *, raw: bool = False, vars: Any = None, fallback: Any = _MISSING
    ) -> Any:
        """The value of an option as a float."""
        return self._read(_own(self).getfloat, section, option, raw, vars, fallback)

    def getboolean(
        self, section: str, option: str, *, raw: bool = False, vars: Any = None, fallback: Any = _MISSING
    ) -> Any:
        """The value of an option as true or false."""
        return self._read(_own(self).getboolean, section, option, raw, vars, fallback)

    def _read(self, get: Any, section: str, option: str, raw: bool, vars: Any, fallback: Any) -> Any:
        given = {} if fallback is _MISSING else {"fallback": fallback}
        return get(section, option, raw=raw, vars=vars, **given)

    def items(self, section: str | None = None, raw: bool = False) -> list[tuple[str, Any]]:
        """The options of a section with their values; without one, all sections."""
        if section is None:
            return [(name, self[name]) for name in self]
        return list(_own(self).items(section, raw=raw))

    def set(self, section: str, option: str, value: str | None = None) -> None:
        """Set the value of an option."""
        _own(self).set(section, option, value)

    def add_section(self, section: str) -> None:
        """Add an empty section."""
        _own(self).add_section(section)

    def remove_option(self, section: str, option: str) -> bool:
        """Remove an option, and return whether there was one."""
        return _own(self).remove_option(section, option)

    def remove_section(self, section: str) -> bool:
        """Remove a section, and return whether there was one."""
        return _own(self).remove_section(section)

    def __getitem__(self, name: str) -> SectionProxy:
        if name not in self:
            raise KeyError(name)
        return SectionProxy(self, name)

    def __setitem__(self, name: str, options: Any) -> None:
        _own(self)[name] = dict(options)

    def __contains__(self, name: object) -> bool:
        return name == _own(self).default_section or name in _own(self).sections()

    def __iter__(self) -> Iterator[str]:
        return iter([_own(self).default_section, *_own(self).sections()])

    def __len__(self) -> int:
        return len(_own(self).sections()) + 1


class RawConfigParser(ConfigParser):
    """As ``configparser.RawConfigParser``, from texts and dicts alone."""

    _raw = True


for _shared in (SectionProxy, ConfigParser, RawConfigParser):
    mark_class(_shared, shared=True)

CONFIG_MEMBERS: dict[str, object] = {"ConfigParser": ConfigParser, "RawConfigParser": RawConfigParser}
