"""The globals in which a plan's segments run: its builtins and modules, and the functions that call the host.

Builtins are harmless ones unchanged, and guarded versions of a few. Modules have only members that touch nothing but
their arguments. ``literal_eval`` reads a value from a model's answer, with caps on its size."""

from __future__ import annotations

import ast
import builtins
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import StringIO
from types import CodeType, CoroutineType, FrameType, MappingProxyType
from typing import Any, Final, NoReturn

from codeplan.sandbox.protocol.forms import (
    MAX_TRIES,
    NOT_KNOWN,
    Form,
    WrongForm,
    fit,
    form_of,
    in_words,
    read_answer,
    require_small,
)
from codeplan.sandbox.protocol.plain_data import ARGUMENT_RULES, find_non_plain
from codeplan.sandbox.runtime.attributes import AgentProxy, list_names, make_getattr
from codeplan.sandbox.runtime.classes import PLAN_FILENAME, PLAN_MODULE, PlanType, writable_class, writable_owner
from codeplan.sandbox.runtime.clocks import PlanClock, clock_methods
from codeplan.sandbox.runtime.concurrency import make_concurrency_modules, make_each
from codeplan.sandbox.runtime.copying import Identities
from codeplan.sandbox.runtime.guards import (
    CurrentRun,
    GuardedContext,
    HostCalls,
    PlanStopper,
    RunSettings,
    SizeGuard,
    count_turns,
    make_guards,
    make_matcher,
    set_name,
    truncate_message,
)
from codeplan.sandbox.runtime.module_names import PREDEFINED_MEMBERS, PREDEFINED_MODULES
from codeplan.sandbox.runtime.modules import ModuleMaker, OutputStream, reset_settings
from codeplan.sandbox.runtime.names import (
    ALLOWED_EXCEPTIONS,
    ASK_USER,
    CLASS_BUILTINS,
    DEFINABLE_DUNDERS,
    EXIT_EXCEPTIONS,
    PLAIN_BUILTINS,
    RESERVED_NAMES,
    RUNTIME_NAMES,
    is_readable,
    is_reserved,
    is_writable,
)
from codeplan.sandbox.runtime.saved_objects import plain_value
from codeplan.sandbox.runtime.scheduling import Future, Scheduler, as_awaitable
from codeplan.sandbox.runtime.switching import THREADS, EndedIteration, StarredCall, arrive, is_last
from codeplan.sandbox.runtime.syntax_module import TOO_DEEP, size_problem
from codeplan.sandbox.runtime.termination import (
    GiveUpRequested,
    OutOfMemory,
    PlanTermination,
    ReplanRequested,
    find_limit,
)
from codeplan.sandbox.runtime.thread_modules import enter
from codeplan.sandbox.runtime.user_imports import import_admitted, is_admitted, plain_data_hint, seed_packages
from codeplan.untrusted.texts import with_article
from codeplan.untrusted.values import NotKnown

_BUILTIN_NAMES = PLAIN_BUILTINS | CLASS_BUILTINS | ALLOWED_EXCEPTIONS | EXIT_EXCEPTIONS
_UNGUARDED = {name: getattr(builtins, name) for name in _BUILTIN_NAMES} | {"MemoryError": OutOfMemory}

_NO_DEFAULT = object()


def make_builtins(guarded_getattr: Callable[[Any, str], Any], size_guard: SizeGuard) -> dict[str, object]:
    """Return the builtins by name."""

    def getattr_(value: Any, name: str, default: Any = _NO_DEFAULT, /) -> Any:
        _check_attribute_name(getattr, name)
        try:
            return guarded_getattr(value, name)
        except AttributeError:
            if default is _NO_DEFAULT:
                raise
            return default

    def setattr_(owner: Any, name: str, value: Any, /) -> None:
        setattr(_writable(setattr, owner, name, value), name, value)

    def delattr_(owner: Any, name: str, /) -> None:
        delattr(_writable(delattr, owner, name), name)

    def hasattr_(value: Any, name: str, /) -> bool:
        _check_attribute_name(hasattr, name)
        return getattr_(value, name, _MISSING) is not _MISSING

    def pow_(*args: Any, **named: Any) -> Any:
        given = dict(zip(("base", "exp", "mod"), args, strict=False)) | named
        size_guard.check_power(given.get("base"), given.get("exp"), given.get("mod"))
        return pow(*args, **named)

    def format_(value: Any, format_spec: Any = "", /) -> str:
        return size_guard.format(value, format_spec)

    return {
        **_UNGUARDED,
        "getattr": _check_argument_count(getattr, getattr_, 2, 3),
        "hasattr": _check_argument_count(hasattr, hasattr_, 2, 2),
        "pow": set_name("pow", pow_),
        "format": _check_argument_count(format, format_, 1, 2),
        "setattr": _check_argument_count(setattr, setattr_, 3, 3),
        "delattr": _check_argument_count(delattr, delattr_, 2, 2),
        "type": PlanType,
    }


def _check_argument_count(
    builtin: Callable[..., Any], guarded: Callable[..., Any], fewest: int, most: int
) -> Callable[..., Any]:
    """Wrap ``guarded`` so that a wrong number of arguments raises the builtin's own error."""

    def call(*args: Any, **named: Any) -> Any:
        if named or not fewest <= len(args) <= most:
            builtin(*[None] * len(args), **dict.fromkeys(named))
        return guarded(*args, **named)

    return set_name(builtin.__name__, call)


_MISSING = object()


def _check_attribute_name(builtin: Callable[..., Any], name: Any) -> None:
    if type(name) is not str:
        builtin(None, name)  # raises the builtin's own error
        raise TypeError("an attribute's name must be a text")
    if not is_readable(name):
        raise AttributeError(f"'{name}' is private; use public methods and attributes only")


def _writable(builtin: Callable[..., Any], owner: Any, name: Any, *value: Any) -> Any:
    """Return the owner of an attribute that a plan may write."""
    if type(name) is not str:
        builtin(object(), name, *value)  # raises the builtin's own error
    if name in DEFINABLE_DUNDERS and not is_writable(name):
        return writable_class(owner)
    if not is_writable(name):
        raise AttributeError(f"'{name}' is private; it cannot be written")
    return writable_owner(owner)


_SHOWN = 120


def literal_eval(text: object) -> object:
    """Return the value of the Python literal in ``text``, ignoring surrounding white space.

    Raises: The exceptions of ``ast.literal_eval`` (SyntaxError, ValueError, or TypeError for a list as a key), with
    the start of the text; ValueError for anything but a str.
    """
    if type(text) is not str:
        raise ValueError(f"literal_eval takes a text, not {type(text).__name__}; use the value as it is")
    problem: str | None = size_problem(text)
    raised: type[Exception] = ValueError
    if problem is None:
        raised, problem, value = _evaluate(text.strip())
        if problem is None:
            return value
    raise raised(f"literal_eval cannot read {_excerpt(text)}: {problem}")


def _evaluate(text: str) -> tuple[type[Exception], str | None, object]:
    """Return the exception type, the problem and the value. Errors are returned, so that none remains as a context."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ValueError, None, ast.literal_eval(text)
    except (MemoryError, RecursionError):
        return ValueError, TOO_DEEP, None
    except (SyntaxError, ValueError, TypeError) as error:
        raised = next(kind for kind in (SyntaxError, ValueError, TypeError) if isinstance(error, kind))
        return raised, "it is not a Python literal such as 'text', 3, ['a', 'b'] or {'a': 1}", None


def _excerpt(text: str) -> str:
    start = text.strip()
    return repr(start if len(start) <= _SHOWN else start[:_SHOWN] + "…")


_NOTING_FRAMES: Final = 50
"""Stack frames that noting a lost limit may add at the plan's greatest depth."""


class NotSaved(NameError):
    """The plan read a name whose value the checkpoint could not hold."""


class _Builtins(dict[str, object]):
    """Builtins that explain missing names. Python asks them only for names found nowhere else."""

    def __init__(self, names: dict[str, object], dropped: dict[str, str], missing: frozenset[str]) -> None:
        super().__init__((n, value) for n, value in names.items() if n not in dropped or not _is_plans_own(n))
        self._dropped, self._missing = dropped, missing

    def __missing__(self, name: str) -> object:
        if name in self._dropped:
            raise NotSaved(f"{name} was not saved ({self._dropped[name]}); compute it again in this step")
        if name in self._missing:
            raise NameError(missing_message(name))
        raise KeyError(name)


def missing_message(name: str) -> str:
    """Why a variable is missing that the plan takes over from the run before."""
    return (
        f"{name} is missing: it was a variable of the run before, and this run started without it; set it in this step"
    )


class PlanRuntime:
    """What plans reach beside their own variables: guards, builtins, modules, and the functions that call the host.

    Making it takes longer than a short plan, so a zygote makes it and the workers inherit it. It serves one run after
    the other and keeps nothing of a run for the next. ``compile_expression`` compiles the text of an ``eval``.
    """

    def __init__(self, compile_expression: Callable[[str], CodeType]) -> None:
        self._compile_expression = compile_expression
        self._run = CurrentRun()
        self._stopper = PlanStopper(self._run)
        self._scheduler = Scheduler(self._run, self._stopper)
        self._agent_methods: dict[str, Callable[..., object]] = {}
        self._names = self._make_names()
        self._builtins: dict[str, object] = self._names
        self._has_imports = False

    def begin(
        self,
        host: HostCalls,
        *,
        turns: int,
        settings: RunSettings,
        start_from: int,
        variables: dict[str, object],
        dropped: dict[str, str],
        missing: frozenset[str] = frozenset(),
        explains_later: bool = False,
    ) -> dict[str, object]:
        """Return the globals for a run of a plan's segments.

        ``turns`` caps loop iterations and calls of the plan's functions. ``variables`` are restored, except runtime
        names. ``dropped`` maps the variables that a checkpoint could not hold to the reason; ``missing`` are those of
        the run before that this run does not have. ``explains_later`` says that ``dropped`` may grow during the run.
        """
        self._run.begin(host, settings)
        self._deepest = sys.getrecursionlimit() + _NOTING_FRAMES
        seed_packages(settings.seed)
        self._agent_methods.clear()
        self._scheduler.reset()
        THREADS.connect(self._clock.now, self._clock.sleep, self._clock.skip)
        if self._has_imports:  # by the plan before; only then can it have changed settings
            reset_settings()
            self._names, self._has_imports = self._make_names(), False
        space = {name: value for name, value in variables.items() if _is_plans_own(name)}
        self._names |= {"start_from": start_from, "_keep_": partial(_keep, space), **count_turns(self._stopper, turns)}
        self._names |= {"_host_": host, "_unsaid_": self._run.unsaid}
        # Only an exact dict keeps the interpreter's fast path for builtins.
        explains = dropped or missing or explains_later
        self._builtins = _Builtins(self._names, dropped, missing) if explains else self._names
        space |= {"__builtins__": self._builtins, "__name__": PLAN_MODULE}
        self._space = space
        return space

    def note_lost(self, lost: Any) -> None:
        """As ``sys.unraisablehook``: record the limit that ended a generator as it went with its last reference, also
        where hardly a further call fits: the first two are of functions in C that call nothing.
        """
        depth = sys.getrecursionlimit()
        sys.setrecursionlimit(self._deepest if depth < self._deepest else depth)
        try:
            if (reached := find_limit(lost.exc_value)) is not None:
                self._stopper.record(reached)
        finally:
            with suppress(RecursionError):  # at the greatest depth itself; the next one does not add to it
                sys.setrecursionlimit(depth)

    def finish_segment(self, returned: Any) -> Any:
        """What a segment returned, once everything has ended that it began. A segment that awaits is a coroutine."""
        if type(returned) is CoroutineType:
            returned = self._scheduler.run_coroutine(returned)
        if THREADS.standing:
            THREADS.settle()
        if not self._scheduler.is_idle:
            self._scheduler.end_tasks()
        return returned

    def _make_names(self) -> dict[str, object]:
        """The names that are the same for every run."""
        run, stopper = self._run, self._stopper
        size_guard = SizeGuard(stopper.stop_at_limit)
        ask = _make_ask(run, stopper)
        scheduler = self._scheduler
        clock, identities = PlanClock(run, stopper), Identities(run)
        self._clock = clock
        write = _make_writer(run, stopper)
        output, errors = OutputStream(write), OutputStream(write)
        scheduler.write_error = errors.write
        read_agent = _make_agent_reader(run, stopper, scheduler, self._agent_methods)
        guarded_getattr = make_getattr(read_agent, size_guard, clock_methods(clock), identities.guard_hash)
        functions: dict[str, Callable[..., Any]] = {
            "ask_llm": ask,
            "literal_eval": literal_eval,
            "context": partial(GuardedContext, stopper),
            "find_name": self._find_name,
            "require_no_limit": scheduler.require_no_limit,
        }
        maker = ModuleMaker(run, clock, size_guard, identities, guarded_getattr, functions, output, errors)
        modules = maker.make(make_concurrency_modules(scheduler))
        return {
            **make_builtins(guarded_getattr, size_guard),
            **identities.builtins(),
            **make_guards(stopper, size_guard),
            "_case_": make_matcher(guarded_getattr),
            **{name: modules[name] for name in PREDEFINED_MODULES},
            **{name: modules["collections"].members[name] for name in PREDEFINED_MEMBERS},
            "__import__": _ignore_import,
            "eval": self._eval,
            "dir": self._dir,
            "globals": self._globals,
            "locals": self._locals,
            "vars": self._vars,
            "_await_": as_awaitable,
            "_enter_": enter,
            "_pair_": THREADS.pair,
            "_wait_": THREADS.call,
            "_wait_starred_": StarredCall,
            "_arrive_": arrive,
            "_StopIteration_": StopIteration,
            "_ended_": EndedIteration,
            "_is_last_": is_last,
            "_begin_": _make_beginner(guarded_getattr, scheduler),
            "_getattr_": guarded_getattr,
            "_import_": self._import,
            "_modules_": modules,
            "agent": AgentProxy(),
            "ask_llm": ask,
            "ask": ask,
            ASK_USER: _make_ask_user(run, stopper, scheduler),
            "each": make_each(scheduler),
            "replan": _make_ending("replan", stopper, ReplanRequested),
            "_replan_at_end_": _make_ending("replan", stopper, partial(ReplanRequested, step_done=True)),
            "give_up": _make_ending("give_up", stopper, GiveUpRequested),
            "literal_eval": literal_eval,
            "NotKnown": NotKnown,
            "print": _make_print(guarded_getattr, output),
        }

    def _eval(self, source: object, globals: Any = None, locals: Any = None, /) -> object:
        """``eval`` over values: the text, which may come from a tool or a model, reaches no agent and no function.

        Raises: SyntaxError: the text is not one expression of the plan language.
        """
        if type(source) is not str:
            raise TypeError("eval() arg 1 must be a string")
        code = self._compile_expression(source)
        caller = sys._getframe(1)
        seen = caller.f_locals if globals is None and caller.f_code.co_filename == PLAN_FILENAME else {}
        given = (self._space if globals is None else globals, seen if locals is None else locals)
        values = {name: value for space in given for name, value in dict(space).items() if _is_value(name, value)}
        builtins_ = {n: value for n, value in self._names.items() if n not in RUNTIME_NAMES and n != ASK_USER}
        return eval(code, {**values, "__builtins__": builtins_, "__name__": PLAN_MODULE})

    def _find_name(self, name: str) -> Any:
        """What a name of the plan means outside its functions. Raises: NameError."""
        for space in (self._space, self._builtins):
            if name in space and not is_reserved(name) and name not in RUNTIME_NAMES:
                return space[name]
        raise NameError(f"name {name!r} is not defined", name=name)

    def _globals(self) -> MappingProxyType[str, object]:
        """``globals``: the plan's variables outside functions, to read."""
        return MappingProxyType(plan_variables(self._space))

    def _locals(self) -> dict[str, object]:
        """``locals``: a copy of the variables of the plan's code that calls it."""
        return self._variables_of(sys._getframe(1))

    def _variables_of(self, caller: FrameType) -> dict[str, object]:
        if caller.f_code.co_filename != PLAN_FILENAME:  # a function of the runtime that was given ``locals`` to call
            return {}
        outermost = caller.f_code.co_name == "_segment_"
        return plan_variables({**(self._space if outermost else {}), **caller.f_locals})

    def _vars(self, *owner: Any) -> Any:
        """``vars``: the attributes of an object or a class of the plan; without one, as ``locals``."""
        if not owner:
            return self._variables_of(sys._getframe(1))
        if len(owner) > 1:
            vars(*owner)  # raises Python's own error
        try:
            return self._names["_getattr_"](owner[0], "__dict__")  # type: ignore[operator]
        except AttributeError:
            raise TypeError("vars() argument must have __dict__ attribute") from None

    def _dir(self, *owner: Any) -> list[str]:
        """``dir``: the names that a plan may read; without a value, those of its variables."""
        if not owner:
            return sorted(self._variables_of(sys._getframe(1)))
        if type(owner[0]) is AgentProxy:
            return sorted(self._run.host.methods | self._run.host.attributes)
        return list_names(*owner)

    def _import(self, name: str, module: str, member: str | None) -> None:
        modules: Any = self._names["_modules_"]
        self._has_imports = True
        if is_admitted(module):
            self._builtins[name] = import_admitted(module, member)
            return
        self._builtins[name] = modules[module] if member is None else modules[module].members[member]


for _builtin in (PlanRuntime._dir, PlanRuntime._eval, PlanRuntime._globals, PlanRuntime._locals, PlanRuntime._vars):
    set_name(_builtin.__name__.removeprefix("_"), _builtin)


def _keep(space: dict[str, object], variables: dict[str, object], names: tuple[str, ...]) -> None:
    """Keep those of these variables that are set."""
    space.update({name: variables[name] for name in names if name in variables})


def plan_variables(namespace: dict[str, object]) -> dict[str, object]:
    """Return the plan's own variables, which a checkpoint saves."""
    return {name: value for name, value in namespace.items() if _is_plans_own(name)}


def _is_plans_own(name: str) -> bool:
    return name.strip("_") != "" and not is_reserved(name) and name not in RESERVED_NAMES


def _is_value(name: object, value: object) -> bool:
    """Return whether an expression in an ``eval`` may read this variable."""
    return type(name) is str and _is_plans_own(name) and not callable(value)


def _ignore_import(*_: object) -> None:
    """Accept imports by the interpreter's C code (such as ``Pattern.sub``), which reads ``sys.modules`` itself."""


def _make_agent_reader(
    run: CurrentRun, stopper: PlanStopper, scheduler: Scheduler, methods: dict[str, Callable[..., object]]
) -> Callable[[str], object]:
    """Return what reads ``agent.x``. It keeps the functions that it made for a run's ``methods`` there."""

    def bound(method: str) -> Callable[..., object]:
        shown = f"agent.{method}"

        def call(*args: object, **kwargs: object) -> object:
            stopper.raise_if_failed()
            given = tuple(_plain_argument(shown, argument) for argument in args)
            named = {name: _plain_argument(shown, argument) for name, argument in kwargs.items()}
            if scheduler.open:
                return scheduler.call(method, given, named)
            return run.host.call(method, given, named)

        def begin(*args: object, **kwargs: object) -> Future:
            stopper.raise_if_failed()
            given = tuple(_plain_argument(shown, argument) for argument in args)
            named = {name: _plain_argument(shown, argument) for name, argument in kwargs.items()}
            return scheduler.begin_call(method, given, named)

        scheduler.begins[set_name(method, call)] = begin
        return call

    def read(name: str) -> object:
        if name in methods:
            return methods[name]
        host = run.host
        if name in host.methods:
            methods[name] = bound(name)
            return methods[name]
        if name in host.attributes:
            stopper.raise_if_failed()
            return host.read(name)
        raise AttributeError(f"the agent has no '{name}'; it has: {', '.join(sorted(host.methods | host.attributes))}")

    return read


def _plain_argument(function: str, argument: object) -> object:
    """Return an argument as plain data: dataclasses become dicts, members of an Enum their values, dates texts."""
    problem = find_non_plain(argument, ARGUMENT_RULES)
    if problem is None:
        return argument
    plain = plain_value(argument, texts=True)
    problem = find_non_plain(plain, ARGUMENT_RULES)
    if problem is not None:
        advice = f"give it texts, numbers, lists and dicts{plain_data_hint()}"
        raise TypeError(f"{function} was given {problem}; {advice}")
    return plain


def _make_beginner(guarded_getattr: Callable[[Any, str], Any], scheduler: Scheduler) -> Callable[[Any, str], Any]:
    """Return the guard for ``agent.f`` where its call is begun and not waited for."""

    def begin_of(value: Any, name: str) -> Any:
        method = guarded_getattr(value, name)
        return scheduler.find_begin(method) or method

    return begin_of


def _make_ask(run: CurrentRun, stopper: PlanStopper) -> Callable[..., object]:
    def ask_llm(question: str, data: object = None, form: object = None) -> object:
        if type(question) is not str:
            raise TypeError(f"ask_llm takes one text, not {with_article(type(question).__name__)}; write ask_llm(f'…')")
        stopper.raise_if_failed()
        given = _plain_argument("ask_llm", data)
        if form is None:
            return run.host.ask(question, given, None, "")
        return _ask_for_form(run, question, given, form_of(form))

    return set_name("ask_llm", ask_llm)


def _ask_for_form(run: CurrentRun, question: str, data: object, form: Form) -> object:
    """The model's answer in a form. A wrong one is asked again. Raises: ValueError: none of them has the form."""
    require_small(form)
    wrong = ""
    for _ in range(MAX_TRIES):
        match run.host.ask(question, data, form, wrong):
            case ["known", answer]:
                return fit(form, answer)
            case ["unknown"]:
                return NotKnown
            case ["wrong", str(why)]:
                wrong = why
    raise ValueError(f"ask_llm got no answer of the form {in_words(form)[:_MAX_FORM]}: {wrong}")


def _read_by_model(run: CurrentRun, question: str, said: str, form: Form) -> object:
    """What the model reads out of the user's own words, as ``HostCalls.ask`` returns it; it sees nothing else."""
    if not run.host.can_ask:
        return ["unknown"]
    return run.host.ask(f"What does the user answer to this question? {question}", said, form, "")


def _make_ask_user(run: CurrentRun, stopper: PlanStopper, scheduler: Scheduler) -> Callable[..., object]:
    """Return ``ask_user``: calls of the agent, until the answer has the form or the host refuses to ask again."""

    def call(*given: str) -> object:
        return scheduler.call(ASK_USER, given, {}) if scheduler.open else run.host.call(ASK_USER, given, {})

    def ask_user(question: str, form: object = None) -> object:
        if type(question) is not str:
            found = with_article(type(question).__name__)
            raise TypeError(f"ask_user takes one text, not {found}; write ask_user(f'…')")
        stopper.raise_if_failed()
        if ASK_USER not in run.host.methods:
            raise NameError(f"name '{ASK_USER}' is not defined")
        if form is None:
            return call(question)
        wanted = form_of(form)
        require_small(wanted)
        refused = ""
        while True:
            said = str(call(question, in_words(wanted)[:_MAX_FORM], refused))
            try:
                answer = read_answer(wanted, said)
                return NotKnown if answer == NOT_KNOWN else fit(wanted, answer)
            except WrongForm as reason:
                refused = str(reason)
            match _read_by_model(run, question, said, wanted):
                case ["known", answer]:
                    return fit(wanted, answer)

    return set_name(ASK_USER, ask_user)


_MAX_FORM: Final = 500  # characters of a form in words


def _make_ending(
    name: str, stopper: PlanStopper, termination: Callable[[str], PlanTermination]
) -> Callable[[str], NoReturn]:
    run, unsaid = stopper.run, termination("(no further call fits)")

    def end_plan(reason: str) -> NoReturn:
        try:
            if type(reason) is not str:
                raise TypeError(f"{name} takes one text, not {with_article(type(reason).__name__)}; write {name}(f'…')")
            stopper.stop(termination(truncate_message(reason)))
        except RecursionError:
            if run.host.failure is None:
                unsaid.__traceback__ = None
                run.host.failure = unsaid
            raise

    return set_name(name, end_plan)


def _make_writer(run: CurrentRun, stopper: PlanStopper) -> Callable[[str], None]:
    def write(text: str) -> None:
        stopper.raise_if_failed()
        run.host.print(text)

    return write


def _make_print(guarded_getattr: Callable[..., Any], output: OutputStream) -> Callable[..., None]:
    def print_(*values: object, file: Any = None, flush: Any = False, **named: Any) -> None:
        text = StringIO()
        print(*values, file=text, **named)
        (output.write if file is None else guarded_getattr(file, "write"))(text.getvalue())

    return set_name("print", print_)
