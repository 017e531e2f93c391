"""Tools and verifiers from files of the user."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeplan.errors import UsageError
from codeplan.runner.tools import collect_tools
from codeplan.tools.python_tools import function_of_file

SOURCE = """
from __future__ import annotations
import dataclasses
from math import sqrt
from neighbour import helper

@dataclasses.dataclass
class Hit:
    name: str

def find(query: str) -> Hit:
    return Hit(helper(query))

def verify(value, tools):
    return True

class Store:
    def get(self, key: str) -> str:
        return key

store = Store()
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "neighbour.py").write_text("def helper(x): return x + '!'")
    (tmp_path / "my tools.py").write_text(SOURCE)
    return str(tmp_path / "my tools.py")


def test_a_files_own_functions_are_tools(file):
    tools = collect_tools(file)
    assert [t.name for t in tools] == ["find", "verify"]
    assert (tools[0].method.signature, tools[0].call({"query": "a"}).name) == ("(query: str) -> Hit", "a!")


def test_names_choose_functions_and_objects(file):
    assert [t.name for t in collect_tools(f"{file}:store, find")] == ["get", "find"]
    assert function_of_file(f"{file}:verify", "f(x)")(1, 2) is True


def test_a_file_that_several_threads_name_at_once_is_loaded_once(tmp_path):
    lines = ["import pathlib, time", "with pathlib.Path(__file__).with_name('log').open('a') as log: log.write('x')"]
    lines += ["time.sleep(0.1)", "count = []", "def add() -> int:", "    count.append(1)", "    return len(count)"]
    (tmp_path / "shared.py").write_text("\n".join(lines))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(collect_tools, [str(tmp_path / "shared.py")] * 4))
    assert [tools[0].call({}) for tools in found] == [1, 2, 3, 4]
    assert (tmp_path / "log").read_text() == "x"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (":fnd", "has no 'fnd'; did you mean 'find'"),
        (":Store", "Store is a class; give an object of it"),
        (":sqrt,missing", "has no 'missing'; it defines: "),
    ],
)
def test_what_a_file_lacks_is_named(file, name, why):
    with pytest.raises(UsageError, match=why):
        collect_tools(file + name)


@pytest.mark.parametrize(
    "text", ["def (", "1 / 0", "import missing_module", "exit(3)", "raise KeyboardInterruptLike", "\0"]
)
def test_a_file_that_does_not_import_is_refused_in_a_sentence(tmp_path, text):
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(UsageError, match="cannot be imported: ") as caught:
        collect_tools(str(tmp_path / "broken.py"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["\0.py", "x" * 5_000 + ".py", "\ud800.py", "loop.py", "missing/a.py", "pipe.py"])
def test_a_name_that_leads_to_no_file_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.py").symlink_to("loop.py")
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(UsageError, match="^there is no file ") as caught:
        collect_tools(f"{name}:find")
    assert len(str(caught.value)) < 1_000 and str(caught.value).isprintable()


def test_a_file_without_functions_a_folder_and_another_kind_of_file_are_refused(tmp_path):
    (tmp_path / "empty.py").write_text("x = 3")
    (tmp_path / "notes.txt").write_text("x = 3")
    for name, why in (
        ("empty.py", "has no public functions; define one, or name objects: FILE.py:NAME"),
        ("", "is a folder; name a Python file: FILE.py, or FILE.py:NAME"),
        ("absent.py", "there is no file .*absent.py'; name a Python file"),
        ("notes.txt", "must end in .py"),
    ):
        with pytest.raises(UsageError, match=why):
            collect_tools(str(tmp_path / name))
    with pytest.raises(UsageError, match="names no single function; write FILE.py:FUNCTION"):
        function_of_file(str(tmp_path / "empty.py"), "f(x)")


def test_an_object_of_a_class_from_elsewhere_is_announced(file, tmp_path, capsys):
    """It may be there for another purpose."""
    path = tmp_path / "places.py"
    path.write_text("from pathlib import Path\nfrom collections import Counter\nFOLDER = Path('x')\ndef find(): ...\n")
    tools = collect_tools(f"{path}:FOLDER,find")
    said = capsys.readouterr().err
    assert said == f"codeplan: FOLDER is a PosixPath, with its public methods as {len(tools) - 1} tools\n"
    collect_tools(f"{file}:store,find")
    assert capsys.readouterr().err == ""
