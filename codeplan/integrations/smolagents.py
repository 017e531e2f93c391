"""The cage as the executor of smolagents' CodeAgent (extra ``smolagents``).

    agent = CodeAgent(tools=[search], model=model, executor=CagedExecutor())

Each snippet is a run; what it leaves is plain data, objects of its classes, and its definitions' text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from codeplan.errors import UsageError
from codeplan.integrations.code_runs import CodeRunner, Kept, missing_extra, showable
from codeplan.runner.start_state import merge_variables, read_variables
from codeplan.sandbox import decode
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES
from codeplan.untrusted.json_values import plain_variables

try:
    from smolagents.local_python_executor import BASE_BUILTIN_MODULES, CodeOutput, InterpreterError, PythonExecutor
except ImportError:
    raise missing_extra("smolagents") from None

_ANY_WAY: Final = inspect.Parameter.POSITIONAL_OR_KEYWORD
_FINAL: Final = "final_answer"
_ENDS: Final = f"def {_FINAL}(*args, **kwargs):\n    agent.{_FINAL}(*args, **kwargs)\n    replan('{_FINAL}')"
_TYPES: Final = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class CagedExecutor(PythonExecutor):  # type: ignore[misc]
    """Runs each snippet of a CodeAgent in the cage; variables and definitions are kept between snippets.

    ``additional_authorized_imports`` are packages to load in the cage, as by ``--imports``. ``options`` are those of
    ``codeplan.execute`` about tools, and ``limits``. A snippet that fails raises smolagents' InterpreterError.

    Raises: UsageError: an option is wrong, or the imports are ``"*"``. SandboxError: this machine cannot run plans.
    """

    def __init__(self, additional_authorized_imports: Iterable[str] = (), **options: Any) -> None:
        names = {name.removesuffix(".*") for name in additional_authorized_imports} - {*BASE_BUILTIN_MODULES}
        if "*" in names:
            raise UsageError('the cage loads packages by name: name them in place of "*"')
        self._options = {"imports": (*sorted(names - ALLOWED_MODULES.keys()),), **options}
        self._kept, self._answers = Kept(_ENDS), list[Any]()
        self.state: dict[str, Any] = {"_print_outputs": ""}
        self.send_tools({})

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        """Take the tools and managed agents that snippets may call."""
        functions = [
            self._function(name, tool) for name, tool in ({_FINAL: lambda answer=None: answer} | {**tools}).items()
        ]
        self._runner = CodeRunner(functions, **self._options)

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Set variables for the next snippets. Raises: UsageError: a value cannot become data."""
        merged = merge_variables(self._kept.variables, read_variables(variables or None))
        self._kept = Kept(self._kept.definitions, merged or Kept().variables)

    def __call__(self, code_action: str) -> CodeOutput:
        self._answers.clear()
        run = self._runner.run(code_action, self._kept)
        self._kept = run.kept
        self.state = {**plain_variables(decode(run.kept.variables)).values, "_print_outputs": run.printed}
        is_final = bool(self._answers) and run.stopped_by == _FINAL
        if run.fault and not is_final:
            raise InterpreterError(run.fault)
        return CodeOutput(showable(self._answers[-1]) if is_final else run.value, run.printed, is_final)

    def _function(self, name: str, tool: Any) -> Callable[..., Any]:
        """The tool as a function with the signature that smolagents shows for it."""
        signature = _signature(tool)

        def call(*args: Any, **kwargs: Any) -> Any:
            if hasattr(tool, "inputs"):  # a managed agent takes some by name alone
                args, kwargs = (), signature.bind(*args, **kwargs).arguments
            answer = tool(*args, **kwargs)
            if name == _FINAL:
                self._answers.append(answer)
            return answer

        call.__name__, call.__doc__ = name, getattr(tool, "description", None) or inspect.getdoc(tool)
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = {n: p.annotation for n, p in signature.parameters.items() if p.annotation is not p.empty}
        return call


def _signature(tool: Any) -> inspect.Signature:
    """The tool's signature: of a function its own, of smolagents' tools and agents that of their ``inputs``."""
    own = inspect.signature(getattr(tool, "forward", tool), eval_str=True)
    parameters = []
    for name, given in getattr(tool, "inputs", {}).items():
        kind: Any = _TYPES.get(given["type"], Any) if isinstance(given["type"], str) else Any
        default = own.parameters[name].default if name in own.parameters else inspect.Parameter.empty
        if given.get("nullable"):
            kind, default = kind | None, None if default is inspect.Parameter.empty else default
        parameters.append(inspect.Parameter(name, _ANY_WAY, default=default, annotation=kind))
    return inspect.Signature(parameters) if hasattr(tool, "inputs") else own
