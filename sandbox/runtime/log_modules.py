"""Modules whose own versions write to the machine or read it, as plans see them.

``logging``, ``traceback`` and ``warnings`` print what they tell, or write it where the plan says; they read no frame,
and no attribute that a format names. ``zlib`` and ``gzip`` have a bound, and ``email.utils`` does not know the machine.
"""

from __future__ import annotations

import datetime
import email._parseaddr as addresses  # type: ignore[import-not-found]
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from string import Template
from types import FrameType, TracebackType
from typing import Any, NamedTuple, TypeAlias

from codeplan.sandbox.runtime.attributes import format_text
from codeplan.sandbox.runtime.class_modules import SimpleNamespace
from codeplan.sandbox.runtime.classes import PLAN_FILENAME, PLAN_MODULE, is_class, mark_class
from codeplan.sandbox.runtime.clocks import PlanClock
from codeplan.sandbox.runtime.guards import MAX_TEXT, SizeGuard, set_name, shown_exception
from codeplan.sandbox.runtime.termination import traceback_of
from codeplan.untrusted.texts import with_article

Members: TypeAlias = dict[str, object]


class LogRuntime(NamedTuple):
    """What the two modules need: the run's clock, its guard of sizes, and ways to write and to read.

    ``write`` writes a text to a stream as the plan could, or prints it for None. ``read`` reads an attribute as the
    plan could: a formatter that is a text must not look attributes up. ``require_no_limit`` stops the plan if a limit
    is behind an error.
    """

    clock: PlanClock
    size_guard: SizeGuard
    write: Callable[[Any, str], object]
    read: Callable[[Any, str], Any]
    require_no_limit: Callable[[BaseException], None]


def traceback_members(runtime: LogRuntime) -> Members:
    """Return the members of ``traceback``."""

    def format_exception(exc: Any, /, value: Any = None, tb: Any = None, limit: Any = None, chain: bool = True) -> Any:
        return _traceback_lines(exc if value is None else value, chain)

    def format_exception_only(exc: Any, /, value: Any = None) -> list[str]:
        return _traceback_lines(exc if value is None else value, chain=False)[-1:]

    def format_exc(limit: Any = None, chain: bool = True) -> str:
        error = shown_exception()
        return "NoneType: None\n" if error is None else "".join(_traceback_lines(error, chain))

    def print_exception(
        exc: Any, /, value: Any = None, tb: Any = None, limit: Any = None, file: Any = None, chain: bool = True
    ) -> None:
        runtime.write(file, "".join(format_exception(exc, value, chain=chain)))

    def print_exc(limit: Any = None, file: Any = None, chain: bool = True) -> None:
        runtime.write(file, format_exc(chain=chain))

    return _named(format_exc, format_exception, format_exception_only, print_exc, print_exception)


def _named(*functions: Any) -> Members:
    return {function.__name__: set_name(function.__name__, function) for function in functions}


_CAUSED = "\nThe above exception was the direct cause of the following exception:\n\n"
_DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"


def _traceback_lines(error: Any, chain: bool = True) -> list[str]:
    """Return an exception, after those that led to it, as Python shows them, with the lines of the plan alone."""
    if not issubclass(type(error), Exception):
        raise TypeError(f"an exception is needed here, not {type(error).__name__}")
    lines, seen, link = _lines_of_one(error), {id(error)}, _earlier(error)
    while chain and link is not None and id(link[0]) not in seen:
        earlier, sentence = link
        lines = [*_lines_of_one(earlier), sentence, *lines]
        seen.add(id(earlier))
        link = _earlier(earlier)
    return lines


def _earlier(error: Any) -> tuple[Any, str] | None:
    """Return the exception that led to this one, unless it ends the plan, with the sentence between them."""
    cause, context = error.__cause__, error.__context__
    if issubclass(type(cause), Exception):
        return cause, _CAUSED
    shown = issubclass(type(context), Exception) and not error.__suppress_context__
    return (context, _DURING) if shown else None


def _lines_of_one(error: Any) -> list[str]:
    frames = [
        f'  File "{PLAN_FILENAME}", line {trace.tb_lineno}, in {_function_name(trace.tb_frame)}\n'
        for trace in _links(traceback_of(error))
        if trace.tb_frame.f_code.co_filename == PLAN_FILENAME
    ]
    kind, text = type(error), str(error)
    name = kind.__name__ if kind.__module__ in ("builtins", PLAN_MODULE) else f"{kind.__module__}.{kind.__name__}"
    head = ["Traceback (most recent call last):\n"] if frames else []
    return [*head, *frames, f"{name}: {text}\n" if text else f"{name}\n"]


def _function_name(frame: FrameType) -> str:
    """Return a function's name; a plan's steps are compiled as functions of their own."""
    name = frame.f_code.co_name
    return "solution" if name == "_segment_" else name


def _links(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


LEVELS = {"CRITICAL": 50, "ERROR": 40, "WARNING": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0, "FATAL": 50, "WARN": 30}
"""The levels of ``logging`` by name."""

_LEVEL_NAMES = {number: name for name, number in reversed(LEVELS.items())}
_FORMATS = {"%": "%(message)s", "{": "{message}", "$": "${message}"}
_BASIC_FORMATS = {
    "%": "%(levelname)s:%(name)s:%(message)s",
    "{": "{levelname}:{name}:{message}",
    "$": "${levelname}:${name}:${message}",
}
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def _level(level: Any) -> int:
    if type(level) is str and level not in LEVELS:
        raise ValueError(f"Unknown level: {level!r}")
    if type(level) not in (str, int):
        raise TypeError(f"Level not an integer or a valid string: {level!r}")
    number: int = LEVELS[level] if type(level) is str else level
    return number


def _get_level_name(level: Any) -> Any:
    return LEVELS[level] if type(level) is str and level in LEVELS else _LEVEL_NAMES.get(level, f"Level {level}")


class LogRecord:
    """As ``logging.LogRecord``, of a call in the plan."""

    def __init__(self, name: str, level: int, text: str, args: Any, error: Any, clock: PlanClock) -> None:
        frame, created = _plan_frame(), clock.time_ns() / 1e9
        self.name, self.levelno, self.levelname = name, level, _get_level_name(level)
        self.msg, self.args, self.message = text, args, text
        self.exc_info = None if error is None else (type(error), error, None)
        self.created, self.msecs, self.relativeCreated = created, created % 1 * 1000, clock.elapsed_ns() / 1e6
        self.pathname = self.filename = PLAN_FILENAME
        self.module, self.thread, self.threadName = "plan", 1, "MainThread"
        self.process, self.processName, self.taskName = 1, "MainProcess", None
        self.lineno, self.funcName = (0, "") if frame is None else (frame.f_lineno, _function_name(frame))

    def getMessage(self) -> str:
        """Return the message with its arguments."""
        return self.message

    def __repr__(self) -> str:
        return f'<LogRecord: {self.name}, {self.levelno}, {self.pathname}, {self.lineno}, "{self.msg}">'


mark_class(LogRecord, shared=True)


def _plan_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != PLAN_FILENAME:
        frame = frame.f_back
    return frame


def _fields(record: Any) -> dict[str, Any]:
    """Return what a record holds. A plan could hand in any object."""
    if not issubclass(type(record), LogRecord):
        raise TypeError(f"a LogRecord is needed here, not {type(record).__name__}")
    fields: dict[str, Any] = dict(object.__getattribute__(record, "__dict__"))
    return fields


class Filterer:
    """What loggers and handlers have in common: a level and filters."""

    def __init__(self, level: Any = 0) -> None:
        self.level, self.filters = _level(level), list[Any]()

    def setLevel(self, level: Any) -> None:
        """Set the lowest level that passes."""
        self.level = _level(level)

    def addFilter(self, filter: Any) -> None:
        """Add a function, or an object with the method ``filter``."""
        self.filters.append(filter)

    def removeFilter(self, filter: Any) -> None:
        """Take a filter away."""
        self.filters.remove(filter)

    def filter(self, record: Any) -> bool:
        """Return whether a record passes the filters."""
        return all((f.filter if hasattr(type(f), "filter") else f)(record) for f in self.filters)


class Filter:
    """As ``logging.Filter``: lets the records of a logger and its children pass."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def filter(self, record: Any) -> bool:
        """Return whether a record passes."""
        return not self.name or f"{record.name}.".startswith(f"{self.name}.")


class LoggerAdapter:
    """As ``logging.LoggerAdapter``: a logger with values that each record gets."""

    def __init__(self, logger: Any, extra: Any = None) -> None:
        self.logger, self.extra = logger, extra

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return the message, and the options with the values."""
        kwargs["extra"] = self.extra
        return msg, kwargs

    def log(self, level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log at a level."""
        msg, kwargs = self.process(msg, kwargs)
        self.logger.log(level, msg, *args, **kwargs)

    def exception(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log an error with the exception that is handled."""
        self.log(LEVELS["ERROR"], msg, *args, **({"exc_info": True} | kwargs))

    def isEnabledFor(self, level: int) -> bool:
        """Return whether the logger logs at a level."""
        return bool(self.logger.isEnabledFor(level))

    def setLevel(self, level: Any) -> None:
        """Set the logger's level."""
        self.logger.setLevel(level)


def _add_level_methods(kind: Any) -> None:
    """Give a class ``debug``, ``info`` and the others, which call its ``log``."""

    def method(name: str, level: int) -> Callable[..., None]:
        def log(self: Any, msg: Any, /, *args: Any, **kwargs: Any) -> None:
            self.log(level, msg, *args, **kwargs)

        return set_name(name, log)

    for name in ("debug", "info", "warning", "warn", "error", "critical", "fatal"):
        setattr(kind, name, method(name, LEVELS[name.upper()]))


_add_level_methods(LoggerAdapter)
for _shared in (Filterer, Filter, LoggerAdapter):
    mark_class(_shared, shared=True)


def _formatter_class(size_guard: SizeGuard) -> Any:
    class Formatter:
        """As ``logging.Formatter``."""

        def __init__(self, fmt: Any = None, datefmt: Any = None, style: Any = "%", *_: Any, **__: Any) -> None:
            if style not in _FORMATS:
                raise ValueError(f"Style must be one of: {','.join(_FORMATS)}")
            self._fmt, self.datefmt, self._style = _FORMATS[style] if fmt is None else fmt, datefmt, style

        def formatTime(self, record: Any, datefmt: Any = None) -> str:
            """Return the record's time as text."""
            at = time.gmtime(record.created)
            return time.strftime(datefmt, at) if datefmt else f"{time.strftime(_TIME_FORMAT, at)},{record.msecs:03.0f}"

        def formatException(self, ei: Any) -> str:
            """Return an exception as text."""
            return "".join(_traceback_lines(ei[1])).rstrip("\n")

        def format(self, record: Any) -> str:
            """Return the text that is shown."""
            record.message = record.getMessage()
            if "asctime" in self._fmt:
                record.asctime = self.formatTime(record, self.datefmt)
            text = _fill(size_guard, self._fmt, self._style, _fields(record))
            return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text

    return mark_class(Formatter, shared=True)


def _fill(size_guard: SizeGuard, template: Any, style: str, fields: dict[str, Any]) -> str:
    if type(template) is not str:
        raise TypeError(f"a format is a text, not {type(template).__name__}")
    if style == "$":
        return Template(template).substitute(fields)
    return format_text(size_guard, template, (), fields) if style == "{" else str(size_guard.mod(template, fields))


def _mistake(error: Exception) -> str:
    return f"--- Logging error ---\n{_traceback_lines(error, chain=False)[-1]}"


class HandlerBase(Filterer):
    """What a handler has besides its ``format``."""

    def __init__(self, level: Any = 0) -> None:
        super().__init__(level)
        self.formatter: Any = None

    def setFormatter(self, fmt: Any) -> None:
        """Set what makes a text of a record."""
        self.formatter = fmt

    def handle(self, record: Any) -> bool:
        """Emit a record that passes the filters, and return whether it did."""
        passed = self.filter(record)
        if passed:
            self.emit(record)
        return passed

    def emit(self, record: Any) -> None:
        """Show a record."""
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


mark_class(HandlerBase, shared=True)


class _Handlers(NamedTuple):
    """The classes of handlers, and what makes a line of a record."""

    formatter: Any
    handler: Any
    stream_handler: Any
    null_handler: Any


def _handler_classes(runtime: LogRuntime) -> _Handlers:
    formatter = _formatter_class(runtime.size_guard)
    plain = formatter()

    class Handler(HandlerBase):
        """As ``logging.Handler``."""

        def format(self, record: Any) -> str:
            """Return a record as text."""
            text: str = runtime.read(plain if self.formatter is None else self.formatter, "format")(record)
            return text

    class StreamHandler(Handler):
        """As ``logging.StreamHandler``: prints, or writes to a stream."""

        terminator = "\n"

        def __init__(self, stream: Any = None) -> None:
            super().__init__()
            self.stream = stream

        def emit(self, record: Any) -> None:
            """Write a record. A mistake in a format is shown in its place, as in Python."""
            try:
                text = self.format(record)
            except Exception as error:
                runtime.require_no_limit(error)
                text = _mistake(error)
            runtime.write(self.stream, text + self.terminator)

    class NullHandler(Handler):
        """As ``logging.NullHandler``."""

        def emit(self, record: Any) -> None:
            """Do nothing."""

    for kind in (Handler, StreamHandler, NullHandler):
        mark_class(kind, shared=True)
    return _Handlers(formatter, Handler, StreamHandler, NullHandler)


class _Tree:
    """The loggers of a run by name, and what is common to them."""

    def __init__(self, runtime: LogRuntime, handlers: _Handlers) -> None:
        self.runtime, self.handlers = runtime, handlers
        self.disabled = 0
        self.last_resort = handlers.stream_handler()
        self.last_resort.setLevel("WARNING")
        self.loggers: dict[str, Any] = {}
        self.kind = _logger_class(self)
        self.root = self.kind("root", LEVELS["WARNING"])

    def get(self, name: Any = None) -> Any:
        """Return a logger, made with its parents where they are missing."""
        if not name or name == "root":
            return self.root
        if type(name) is not str:
            raise TypeError("A logger name must be a string")
        if name not in self.loggers:
            self.loggers[name] = self.kind(name)
            self.loggers[name].parent = self.get(name.rpartition(".")[0])
        return self.loggers[name]

    def record(self, name: str, level: int, msg: Any, args: tuple[Any, ...], exc_info: Any, extra: Any) -> Any:
        """Return a record. Raises: KeyError: ``extra`` would replace what it holds."""
        values = args[0] if len(args) == 1 and type(args[0]) is dict and args[0] else args
        try:
            text = str(self.runtime.size_guard.mod(str(msg), values)) if args else str(msg)
        except Exception as mistake:
            self.runtime.require_no_limit(mistake)
            text = _mistake(mistake)
        error = shown_exception() if exc_info is True else exc_info[1] if type(exc_info) is tuple else exc_info or None
        error = error if issubclass(type(error), Exception) else None
        record = LogRecord(name, level, text, values, error, self.runtime.clock)
        for key, value in (extra or {}).items():
            if key in ("message", "asctime") or key in record.__dict__ or str(key).startswith("__"):
                raise KeyError(f"Attempt to overwrite {key!r} in LogRecord")
            record.__dict__[str(key)] = value
        return record


class LoggerBase(Filterer):
    """What a logger has of its own; the rest needs the others of its run."""

    def __init__(self, name: str, level: Any = 0) -> None:
        super().__init__(level)
        self.name, self.parent, self.propagate = name, None, True
        self.handlers, self.disabled = list[Any](), False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} ({_get_level_name(self.getEffectiveLevel())})>"

    def removeHandler(self, hdlr: Any) -> None:
        """Take a handler away, if it is there."""
        self.handlers[:] = [own for own in self.handlers if own is not hdlr]

    def getEffectiveLevel(self) -> int:
        """Return the level that counts: one's own, or the nearest parent's."""
        return next((logger.level for logger in _with_parents(self) if logger.level), 0)

    def hasHandlers(self) -> bool:
        """Return whether a record would reach a handler."""
        return any(logger.handlers for logger in _with_parents(self, propagated=True))


mark_class(LoggerBase, shared=True)


def _logger_class(tree: _Tree) -> Any:
    class Logger(LoggerBase):
        """As ``logging.Logger``."""

        def addHandler(self, hdlr: Any) -> None:
            """Add a handler. Raises: TypeError: it is none."""
            if not issubclass(type(hdlr), tree.handlers.handler):
                raise TypeError(f"a handler is needed here, not {type(hdlr).__name__}")
            if hdlr not in self.handlers:
                self.handlers.append(hdlr)

        def getChild(self, suffix: str) -> Any:
            """Return a logger below this one."""
            return tree.get(suffix if self is tree.root else f"{self.name}.{suffix}")

        def isEnabledFor(self, level: int) -> bool:
            """Return whether a record of a level is made."""
            return not self.disabled and level > tree.disabled and level >= self.getEffectiveLevel()

        def exception(self, msg: Any, *args: Any, exc_info: Any = True, **kwargs: Any) -> None:
            """Log an error with the exception that is handled."""
            self.log(LEVELS["ERROR"], msg, *args, exc_info=exc_info, **kwargs)

        def log(self, level: Any, msg: Any, *args: Any, exc_info: Any = None, extra: Any = None, **_: Any) -> None:
            """Log at a level. ``stack_info`` and ``stacklevel`` are accepted."""
            if type(level) is not int:
                raise TypeError("level must be an integer")
            if self.isEnabledFor(level):
                self.handle(tree.record(self.name, level, msg, args, exc_info, extra))

        def handle(self, record: Any) -> None:
            """Give a record to the handlers, if it passes."""
            if self.disabled or not self.filter(record):
                return
            found = [h for logger in _with_parents(self, propagated=True) for h in logger.handlers]
            for handler in found or [tree.last_resort]:
                if record.levelno >= handler.level:
                    handler.handle(record)

    _add_level_methods(Logger)
    return mark_class(Logger, shared=True)


def _with_parents(logger: Any, propagated: bool = False) -> Iterator[Any]:
    """Return a logger and those above it; ``propagated`` stops at one that hands nothing on."""
    while logger is not None:
        yield logger
        logger = None if propagated and not logger.propagate else logger.parent


def logging_members(runtime: LogRuntime, no_files: str) -> Members:
    """Return the members of ``logging``. ``no_files`` says why there is no file to log to."""
    handlers = _handler_classes(runtime)
    tree = _Tree(runtime, handlers)

    def get_logger(name: Any = None) -> Any:
        return tree.get(name)

    def disable(level: Any = 50) -> None:
        tree.disabled = _level(level)

    def at_root(name: str) -> Callable[..., None]:
        def log(*args: Any, **kwargs: Any) -> None:
            if not tree.root.handlers:
                _configure(tree, {})
            getattr(tree.root, name)(*args, **kwargs)

        return set_name(name, log)

    def basic_config(*, filename: Any = None, filemode: Any = None, force: bool = False, **options: Any) -> None:
        if filename is not None:
            raise ValueError(f"there is no file to log to: {no_files}")
        if force:
            tree.root.handlers.clear()
        if not tree.root.handlers:
            _configure(tree, options)

    methods = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "log")
    classes = (*handlers, Filter, LogRecord, LoggerAdapter, tree.kind)
    return {
        **LEVELS,
        **{kind.__name__: kind for kind in classes},
        **{name: at_root(name) for name in methods},
        **{"BASIC_FORMAT": _BASIC_FORMATS["%"], "root": tree.root, "disable": set_name("disable", disable)},
        "shutdown": set_name("shutdown", lambda: None),
        "basicConfig": set_name("basicConfig", basic_config),
        "getLevelName": set_name("getLevelName", _get_level_name),
        "getLogger": set_name("getLogger", get_logger),
    }


def _configure(tree: _Tree, options: dict[str, Any]) -> None:
    """``logging.basicConfig`` for a root logger without handlers. Raises: ValueError: an unknown option or style."""
    options = dict(options)
    style, level = options.pop("style", "%"), options.pop("level", None)
    if style not in _FORMATS:
        raise ValueError(f"Style must be one of: {','.join(_FORMATS)}")
    formatter = tree.handlers.formatter(
        options.pop("format", _BASIC_FORMATS[style]), options.pop("datefmt", None), style
    )
    stream, handlers = options.pop("stream", None), options.pop("handlers", None)
    unknown = options.keys() - {"encoding", "errors"}
    if unknown:
        raise ValueError(f"Unrecognised argument(s): {', '.join(sorted(unknown))}")
    for handler in [tree.handlers.stream_handler(stream)] if handlers is None else handlers:
        if handler.formatter is None:
            handler.setFormatter(formatter)
        tree.root.addHandler(handler)
    if level is not None:
        tree.root.setLevel(level)


class WarningFilter(NamedTuple):
    """What happens to warnings of a category whose text begins as the pattern says."""

    action: str
    category: Any
    begins: re.Pattern[str]


class WarningLevel(NamedTuple):
    """Where warnings go, and the filters in force, the newest first."""

    caught: list[object]
    filters: list[WarningFilter]


class CaughtWarnings:
    """As ``warnings.catch_warnings``: with ``record=True``, the warnings inside are in the list that it gives."""

    def __init__(self, levels: list[WarningLevel], *, record: bool = False, **_: object) -> None:
        self._levels, self._record = levels, record

    def __enter__(self) -> list[object] | None:
        self._levels.append(WarningLevel([], [*self._levels[-1].filters]))
        return self._levels[-1].caught if self._record else None

    def __exit__(self, *_: object) -> None:
        self._levels.pop()


def warnings_members() -> dict[str, object]:
    """Return the members of ``warnings``. Nobody sees a warning but the list of ``catch_warnings``."""
    levels = [WarningLevel([], [])]

    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **_: Any) -> None:
        kind = UserWarning if category is None else category
        if not (is_class(kind) and issubclass(kind, Warning)):
            raise TypeError(f"category must be a Warning subclass, not {type(kind).__name__!r}")
        made = message if issubclass(type(message), Warning) else kind(message)
        if not issubclass(type(made), Warning):  # what a plan's __new__ made: its type could be the runtime's
            raise TypeError(f"category must make a warning, not {with_article(type(made).__name__)}")
        level, text = levels[-1], str(made)
        fitting = (each for each in level.filters if isinstance(made, each.category) and each.begins.match(text))
        action = next(fitting, _ALWAYS).action
        if action == "error":
            raise made
        if action != "ignore" and len(levels) > 1:
            level.caught.append(SimpleNamespace(message=made, category=type(made)))

    def catch_warnings(**options: Any) -> CaughtWarnings:
        return CaughtWarnings(levels, **options)

    def simplefilter(action: Any, category: Any = Warning, lineno: Any = 0, append: Any = False) -> None:
        filterwarnings(action, "", category, append=append)

    def filterwarnings(
        action: Any, message: Any = "", category: Any = Warning, module: Any = "", lineno: Any = 0, append: Any = False
    ) -> None:
        if action not in _ACTIONS:
            raise AssertionError(f"invalid action: {action!r}")
        made = WarningFilter(str(action), category, re.compile(str(message), re.IGNORECASE))
        levels[-1].filters.insert(len(levels[-1].filters) if append else 0, made)

    def resetwarnings() -> None:
        levels[-1].filters.clear()

    functions = (warn, catch_warnings, simplefilter, filterwarnings, resetwarnings)
    return {function.__name__: set_name(function.__name__, function) for function in functions}


_ACTIONS = ("error", "ignore", "always", "default", "module", "once")
_ALWAYS = WarningFilter("always", Warning, re.compile(""))


_GZIP = 31
"""The ``wbits`` of zlib for gzip's header."""


def compression_members(size_guard: SizeGuard) -> dict[str, dict[str, object]]:
    """Return what plans get in place of members of ``zlib`` and ``gzip``, by module."""

    def decompress(data: Any, /, wbits: int = zlib.MAX_WBITS, bufsize: int = 0) -> bytes:
        work = zlib.decompressobj(wbits)
        found = work.decompress(data, MAX_TEXT + 1)
        size_guard.check_text(len(found))
        if not work.eof:
            raise zlib.error("Error -5 while decompressing data: incomplete or truncated stream")
        return found

    def unzip(data: Any) -> bytes:
        return decompress(data, _GZIP)

    def compress(data: Any, compresslevel: int = 9, *, mtime: Any = None) -> bytes:
        return zlib.compress(data, compresslevel, _GZIP)

    gzip: dict[str, object] = {"compress": set_name("compress", compress), "decompress": set_name("decompress", unzip)}
    return {"zlib": {"decompress": set_name("decompress", decompress)}, "gzip": gzip}


def mail_members() -> dict[str, object]:
    """Return the members of ``email.utils``: dates and addresses of mail, as texts."""

    def parsedate_to_datetime(data: str) -> datetime.datetime:
        parsed = addresses._parsedate_tz(data)
        if parsed is None:
            raise ValueError(f"Invalid date value or format {str(data)!r}")
        *parts, offset = parsed
        zone = None if offset is None else datetime.timezone(datetime.timedelta(seconds=offset))
        year, month, day, hour, minute, second = parts[:6]
        return datetime.datetime(year, month, day, hour, minute, second, tzinfo=zone)

    def format_datetime(dt: datetime.datetime, usegmt: bool = False) -> str:
        if usegmt and dt.tzinfo is not datetime.UTC:
            raise ValueError("usegmt option requires a UTC datetime")
        zone = "GMT" if usegmt else "-0000" if dt.tzinfo is None else dt.strftime("%z")
        return f"{_DAYS[dt.weekday()]}, {dt.day:02d} {_MONTHS[dt.month - 1]} {dt.year:04d} {dt:%H:%M:%S} {zone}"

    def getaddresses(fieldvalues: Any, *, strict: bool = True) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = addresses.AddressList(", ".join(map(str, fieldvalues))).addresslist
        return found

    def parseaddr(addr: Any, *, strict: bool = True) -> tuple[str, str]:
        found = addresses.AddressList(str(addr)).addresslist
        return found[0] if found else ("", "")

    def formataddr(pair: Any) -> str:
        name, address = pair
        if not name:
            return str(address)
        if not name.isascii():
            raise ValueError("formataddr takes names in ASCII here")
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        quotes = '"' if any(c in _SPECIAL for c in name) else ""
        return f"{quotes}{escaped}{quotes} <{address}>"

    functions: tuple[Any, ...] = (parsedate_to_datetime, format_datetime, getaddresses, parseaddr, formataddr)
    own = {name: getattr(addresses, name) for name in ("mktime_tz", "parsedate", "parsedate_tz", "quote")}
    return own | {function.__name__: set_name(function.__name__, function) for function in functions}


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SPECIAL = frozenset('()<>@,:;".[]\\')
