"""Tools from Python: functions, the public methods of objects, the public functions of modules."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import itertools
import os
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout
from copy import copy
from dataclasses import replace
from importlib.machinery import ModuleSpec, PathFinder
from itertools import count
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Annotated, Any, Optional, TypeGuard, TypeVar, get_args, get_origin

from codeplan.errors import AgentError, UsageError
from codeplan.tools.arguments import (
    UNPACKS,
    Converter,
    TypeWriter,
    UnsupportedType,
    build_converter,
    certain_type,
    convert_arguments,
    describe,
    type_hints,
)
from codeplan.tools.failures import failure_sentence
from codeplan.tools.results import ResultType
from codeplan.tools.tool import Tool, ToolSettings, ToolsWithSettings, name_fault, settings_of
from codeplan.types import AgentMethod, AgentParameter
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.texts import MAX_REASON_CHARS, escape_surrogates, message_text, one_line
from codeplan.untrusted.values import in_quotes, type_name

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def with_settings(tool: Tool, settings: ToolSettings) -> Tool:
    """The tool, with the settings where it says nothing itself."""
    own = ToolSettings(tool.once, tool.timeout, tool.error_if, tool.at_once, tool.readonly, tool.untrusted)
    filled = own.filled_from(settings)
    return tool if filled == own else replace(tool, **filled._asdict())


def functions_of(thing: object) -> list[tuple[str, Callable[..., Any]]]:
    """The functions, by name, that a thing offers as tools. Raises: UsageError: it offers none."""
    if isinstance(thing, ModuleType):
        return _required(
            _module_functions(thing),
            f"the module {thing.__name__} has no public functions; define one, or name objects: FILE.py:NAME",
        )
    if isinstance(thing, type):
        name = thing.__name__
        raise UsageError(
            f"{name} is a class; give an object of it, such as {name}(), whose public methods become tools"
        )
    if inspect.isroutine(thing) or isinstance(thing, functools.partial):
        return [(_function_name(thing), thing)]
    if _is_named_function(thing):
        return [(thing.__name__, thing)]
    if type(thing).__module__ == "builtins":
        raise UsageError(f"a value of the type {type(thing).__name__} offers no tools; give functions or objects")
    methods = _methods(thing)
    if not methods and callable(thing):
        return [(type(thing).__name__, thing)]
    fault = f"an object of the type {type(thing).__name__} has no public methods; give a function or another object"
    return _required(methods, fault)


def _is_named_function(thing: Any) -> TypeGuard[Callable[..., Any]]:
    """Whether an object stands for a function whose name it has, as those of decorators that are classes do."""
    own = getattr(thing, "__dict__", {})
    return callable(thing) and not isinstance(thing, type) and isinstance(own.get("__name__"), str)


def _required(found: list[tuple[str, Callable[..., Any]]], fault: str) -> list[tuple[str, Callable[..., Any]]]:
    if not found:
        raise UsageError(fault)
    return found


def _function_name(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def _module_functions(module: ModuleType) -> list[tuple[str, Callable[..., Any]]]:
    """The functions that ``__all__`` names, or else those that the module defines itself."""
    named = getattr(module, "__all__", None)
    own = {n: v for n, v in vars(module).items() if not n.startswith("_") and _is_function(v)}
    if named is not None:
        return [(n, own[n]) for n in named if n in own]
    mine = (ToolsWithSettings,)  # said to be tools, wherever the functions in them come from
    return [(n, f) for n, f in own.items() if isinstance(f, mine) or getattr(f, "__module__", None) == module.__name__]


def _is_function(thing: object) -> bool:
    thing = thing.thing if isinstance(thing, ToolsWithSettings) else thing
    return inspect.isroutine(thing) or _is_named_function(thing)


def _methods(thing: object) -> list[tuple[str, Callable[..., Any]]]:
    """The public methods of an object, base classes first. Properties are not read."""
    cls = type(thing)
    names = dict.fromkeys(name for base in reversed(cls.__mro__[:-1]) for name in vars(base) if name[0] != "_")
    methods = [name for name in names if _is_method(inspect.getattr_static(cls, name))]
    return [(name, method) for name in methods if callable(method := _attribute(thing, name))]


def _is_method(value: object) -> bool:
    """Whether a value in a class is a method. Reading any other would run code, as that of properties."""
    makes_methods = (classmethod, staticmethod, functools.partialmethod, functools.singledispatchmethod)
    binds = inspect.isroutine(value) or hasattr(type(value), "__get__")
    return isinstance(value, makes_methods) or (callable(value) and not isinstance(value, type) and binds)


def _attribute(thing: object, name: str) -> object:
    """Raises: UsageError: reading the method runs code of the object, which fails."""
    try:
        found = getattr(thing, name)
        if isinstance(inspect.getattr_static(thing, name), functools.singledispatchmethod):
            signature = inspect.signature(found)  # Python's own has the object as a parameter
            found.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
        return found
    except Exception as error:
        what = f"{name} of the object of the type {type(thing).__name__}"
        raise UsageError(f"{what} cannot be read: {failure_sentence(error)}") from error


def build_tool(name: str, function: Callable[..., Any], types: TypeWriter) -> Tool:
    """The tool of a function. Raises: UsageError: it cannot be one."""
    if isinstance(function, ToolsWithSettings):
        return with_settings(build_tool(name, function.thing, types), function.settings)
    if fault := name_fault(name):
        raise UsageError(f"the function {in_quotes(name)} cannot be a tool: {fault}; rename it")
    if inspect.isfunction(function) and _lacks_its_object(function):
        raise UsageError(f"{function.__qualname__} is a method without its object; give it, or the object's method")
    whole, signature, converters = _read_signature(name, function)
    parameters = tuple(_parameter(p) for p in signature.parameters.values())
    text, named = types.signature(signature)
    method = AgentMethod(name, text, _doc(function, signature), parameters)
    call = PythonCall(name, function, whole, signature, converters)
    misfit = ResultType.misfit_of(signature.return_annotation)
    settings = settings_of(function)._asdict()
    return Tool(method, call, named, misfit=misfit, is_asynchronous=_is_asynchronous(function), **settings)


def _is_asynchronous(function: Any) -> bool:
    """Whether a call of the function itself only makes what is awaited then."""
    asks = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(ask(f) for ask in asks for f in (function, type(function).__call__))


def _lacks_its_object(function: FunctionType) -> bool:
    """Whether the function is that of a class, as in ``Store.get`` in place of ``store.get``."""
    outer = function.__qualname__.rpartition(".")[0]
    first = next(iter(inspect.signature(function).parameters), "")
    return first == "self" and bool(outer) and not outer.endswith("<locals>")


class PythonCall:
    """Calls a function with checked arguments. ``whole`` is its own signature, ``offered`` that without the parameters
    that keep their defaults.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        whole: inspect.Signature,
        offered: inspect.Signature,
        converters: Mapping[str, Converter],
    ) -> None:
        self._name, self._function, self._whole, self._converters = name, function, whole, converters
        parameters = whole.parameters.values()
        self._keywords = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), "")
        self._names = {p.name for p in parameters if p.kind in _BY_NAME} | _bound_names(function)
        simple = all(p.kind in _BY_NAME for p in parameters)
        before = itertools.takewhile(lambda p: p.name in offered.parameters, parameters)
        self._positional = [p.name for p in before if p.kind is _BY_NAME[0]] if simple else None

    def __call__(self, arguments: Mapping[str, Any]) -> object:
        if self._keywords in self._converters:  # a TypedDict of them may require some
            arguments = {self._keywords: {}, **arguments}
        converted = convert_arguments(self._name, self._converters, arguments)
        if self._positional is None:
            self._require_further(converted.get(self._keywords, ()))
            bound = inspect.BoundArguments(self._whole, converted)
            bound.apply_defaults()  # a parameter that keeps its default may stand before one that is given
            return self._function(*bound.args, **bound.kwargs)
        args = []  # as BoundArguments has them, in a fraction of its time
        for name in self._positional:
            if name not in converted:
                break
            args.append(converted.pop(name))
        return self._function(*args, **converted)

    def with_name(self, name: str) -> PythonCall:
        """The same call of a tool with another name."""
        renamed = copy(self)
        renamed._name = name
        return renamed

    def _require_further(self, keywords: Collection[str]) -> None:
        """Raises: AgentError: ``**kwargs`` would fill a parameter, unchecked or although it keeps its default."""
        if found := sorted(self._names.intersection(keywords)):
            raise AgentError(f"{self._name} was called wrongly: it takes no further argument {found[0]}", "TypeError")


def _read_signature(
    name: str, function: Callable[..., Any]
) -> tuple[inspect.Signature, inspect.Signature, dict[str, Converter]]:
    """The signature, that of the tool with evaluated annotations, and the converters of its parameters."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        raise UsageError(f"the signature of {name} cannot be read; wrap it in a function of your own") from None
    hints, bound = type_hints(_annotated(function)), _bound_names(function)
    kept: list[inspect.Parameter] = []
    converters: dict[str, Converter] = {}
    for parameter in signature.parameters.values():
        if parameter.name in bound and parameter.kind in _BY_NAME:
            continue
        annotation = _with_none(parameter, hints.get(parameter.name, Any))
        try:
            converter = build_converter(_whole(parameter, annotation))
        except UnsupportedType as type_name:
            if parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
                raise UsageError(
                    f"{name} cannot be a tool: plain data cannot stand for the type of its parameter {parameter.name}, "
                    f"{type_name}; give it a default or wrap the function"
                ) from None
            continue
        kept.append(parameter.replace(annotation=annotation))
        converters |= {parameter.name: converter} if converter else {}
    return signature, signature.replace(parameters=kept, return_annotation=hints.get("return", Any)), converters


def _bound_names(function: Any) -> set[str]:
    """The arguments that partial objects give by name, such as an account or a key: no plan sees or sets them."""
    if isinstance(function, functools.partial):
        return {*function.keywords, *_bound_names(function.func)}
    inner = inspect.unwrap(function, stop=lambda f: isinstance(f, functools.partial))
    return set() if inner is function else _bound_names(inner)


def _with_none(parameter: inspect.Parameter, annotation: Any) -> Any:
    """The annotation, with None if that is the parameter's default: ``a: int = None`` takes None."""
    if parameter.default is not None or annotation in (Any, object) or isinstance(annotation, str | TypeVar):
        return annotation
    words = describe(annotation)
    optional = Optional[annotation]  # noqa: UP045  # the operator | knows no annotation in quotes
    return Annotated[optional, words] if words else optional


def _annotated(function: Any) -> Any:
    """The function whose annotations count: that inside decorators, partial objects, methods and callable objects."""
    while isinstance(function, functools.partial):
        function = function.func
    found = inspect.unwrap(getattr(function, "__func__", function))
    if isinstance(found, functools.partial):
        return _annotated(found)
    return found if inspect.isroutine(found) else type(found).__call__


def _whole(parameter: inspect.Parameter, annotation: Any) -> Any:
    """The type of all that a parameter takes: a list for ``*args``, a dict for ``**kwargs``."""
    if annotation is Any or parameter.kind not in _VARIADIC:
        return annotation
    if parameter.kind is parameter.VAR_KEYWORD and get_origin(annotation) in UNPACKS:
        return get_args(annotation)[0]
    return list[annotation] if parameter.kind is parameter.VAR_POSITIONAL else dict[str, annotation]


def _parameter(p: inspect.Parameter) -> AgentParameter:
    variadic = p.kind in _VARIADIC
    kind = "" if variadic else certain_type(p.annotation)
    return AgentParameter(p.name, p.kind.name, required=p.default is p.empty and not variadic, type=kind)  # type: ignore[arg-type]


def _doc(function: Any, signature: inspect.Signature) -> str:
    """The docstring, and what annotations say about parameters and about what is returned."""
    doc = escape_surrogates(inspect.getdoc(_annotated(function)) or "")
    notes = [f"{p.name}: {note}" for p in signature.parameters.values() if (note := describe(p.annotation))]
    if note := describe(signature.return_annotation):
        notes.append(f"returns: {note}")
    return "\n".join([doc, *notes] if doc else notes)


_numbers = count(1)
_loaded: dict[Path, ModuleType] = {}
_loading = threading.RLock()  # reentrant: a file may begin an episode with tools of another file


def things_of_file(given: str) -> tuple[ModuleType, dict[str, Any]]:
    """The module of ``FILE.py`` or ``FILE.py:NAME,…``, and the things that it names.

    Raises: UsageError: the file cannot be imported, or has no such thing.
    """
    path, names = _split(given)
    module = _load(path)
    return module, {name: _member(module, path, name) for name in names}


def function_of_file(given: str, form: str) -> Any:
    """The function that ``FILE.py:FUNCTION`` names. Raises: UsageError: there is none; ``form`` says what is wanted."""
    return object_of_file(given, f"names no single function; write FILE.py:FUNCTION, a function {form}")


def is_file(given: str) -> bool:
    """Whether a text has the form of a file or of ``FILE.py:NAME``, instead of a name's."""
    return ".py:" in given or given.endswith(".py")


def object_of_file(given: str, otherwise: str) -> Any:
    """The object that ``FILE.py:NAME`` names. ``otherwise`` is the message for a text of another form. Raises:
    UsageError: it has none.
    """
    path, names = _split(given)
    if len(names) != 1:
        raise UsageError(f"{in_quotes(given)} {otherwise}")
    return _member(_load(path), path, names[0])


def _split(given: str) -> tuple[Path, list[str]]:
    file, _, names = given.partition(".py:")
    if not names:
        return Path(given), []
    return Path(f"{file}.py"), [name.strip() for name in names.split(",") if name.strip()]


def _load(path: Path) -> ModuleType:
    """The file as a module, loaded once, by whichever thread is first. What it imports from its own folder is found.

    What it prints meanwhile goes to standard error: standard output may be for a JSON document.
    """
    if not os.path.isfile(path):  # the method raises for names that no file can have
        wrong = f"{_shown(path)} is a folder" if os.path.isdir(path) else f"there is no file {_shown(path)}"
        raise UsageError(f"{wrong}; name a Python file: FILE.py, or FILE.py:NAME")
    with _loading:
        known = _loaded.get(path.resolve())
        return _load_first(path) if known is None else known


def _load_first(path: Path) -> ModuleType:
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{_shown(path)} is no Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    _find_modules_in(str(path.resolve().parent))
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        said = one_line(f"{type_name(error)}: {message_text(error)}", MAX_REASON_CHARS)
        raise UsageError(f"{_shown(path)} cannot be imported: {said}{_line(error, path)}") from error
    _loaded[path.resolve()] = module
    return module


class _FolderFinder:
    """Finds what files import from their own folders, after everything that is installed.

    The folders stay out of ``sys.path``: the sandbox's processes import from there, also what is optional.
    """

    def __init__(self) -> None:
        self.folders: list[str] = []

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module of this name in one of the folders; no module of Python's own, which another system may have."""
        if path is not None or name in sys.stdlib_module_names:
            return None
        return PathFinder.find_spec(name, self.folders, target)


_finder = _FolderFinder()


def _find_modules_in(folder: str) -> None:
    if folder not in _finder.folders:
        _finder.folders.append(folder)
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)


def _line(error: BaseException, path: Path) -> str:
    """The last line of the file that was running; empty if none was, as after a SyntaxError, which names its line."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if f.filename in (str(path), str(path.absolute()))]
    return f" (line {lines[-1]})" if lines else ""


def _member(module: ModuleType, path: Path, name: str) -> Any:
    if not hasattr(module, name):
        own = [n for n, thing in vars(module).items() if getattr(thing, "__module__", None) == module.__name__]
        near = nearest_name(name, sorted(n for n in vars(module) if not n.startswith("_")))
        hint = f"; did you mean {in_quotes(near)}?" if near else f"; it defines: {', '.join(own[:20])}" if own else ""
        raise UsageError(f"{_shown(path)} has no {in_quotes(name)}{hint}")
    return getattr(module, name)


def _shown(path: Path) -> str:
    return in_quotes(str(path), MAX_REASON_CHARS)
