"""``configparser`` for texts: Python's own opens files, so a plan's parser holds one that the plan cannot reach."""

from __future__ import annotations

import configparser
import io
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from codeplan.sandbox.runtime.classes import mark_class
from codeplan.sandbox.runtime.module_names import NO_FILES, split_names

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


_KINDS: Any = (configparser.ConfigParser, configparser.RawConfigParser)


def _own(parser: Any) -> configparser.RawConfigParser:
    """Return Python's own parser that a plan's holds. A plan may have put any object there, to have it written to."""
    if type(parser._own) not in _KINDS:
        raise TypeError("a ConfigParser is needed here")
    own: configparser.RawConfigParser = parser._own
    return own


class ConfigParser:
    """As ``configparser.ConfigParser``, from texts and dicts alone."""

    _raw = False
    BOOLEAN_STATES = MappingProxyType(configparser.RawConfigParser.BOOLEAN_STATES)

    def __init__(self, defaults: Any = None, **options: Any) -> None:
        if odd := options.keys() - _OPTIONS:
            raise TypeError(f"ConfigParser has no option {min(odd)!r} here")
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
