"""The lint that keeps foreign values away from text and comparisons without bounds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lint_untrusted", ROOT / "scripts" / "lint_untrusted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


lint = load()


def found(source: str) -> list[str]:
    return [finding.what for finding in lint.find_problems(source, "codeplan/sample.py")]


@pytest.mark.parametrize(
    "source",
    [
        "text = repr(value)",
        "text = ascii(value)",
        "texts = list(map(repr, values))",
        "json.dumps(value, default=repr)",
        "text = f'{value!r}'",
        "text = f'{value.part[0]!a:>40}'",
        "text = f'{value!r:.40}'",
        "text = 'it is %r' % value",
        "text = 'it is %-10.3r' % (value,)",
        "text = 'it is {!r}'.format(value)",
        "text = 'it is {0.x!a:>9}'.format(value)",
        "text = value.__repr__()",
        "class A:\n    def __str__(self):\n        return repr(self)",
        "import reprlib",
        "import pprint as p",
        "from difflib import unified_diff",
        "from reprlib import Repr",
        "def late():\n    import difflib",
        "from codeplan.sandbox import decode",
        "from codeplan.sandbox.protocol.codec import decode",
    ],
)
def test_notation_modules_and_decoding_are_found(source: str) -> None:
    assert len(found(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "text = str(decode(checkpoint))",
        "text = format(decode(checkpoint)['x'])",
        "text = f'{decode(checkpoint)}'",
        "values = decode(checkpoint)\n    text = f'{values[name]}'",
        "values = decode(checkpoint)\n    text = '%s' % values[name]",
        "values = decode(checkpoint)\n    text = '%s and %s' % (1, values)",
        "values = decode(checkpoint)\n    for name, value in values.items():\n        print(value)",
        "values = decode(checkpoint)\n    for value in values.values():\n        hash(value)",
        "values = decode(checkpoint)\n    return [str(value) for value in values.values()]",
        "values = decode(checkpoint)\n    return values['x'] == 3",
        "values = decode(checkpoint)\n    return values != {}",
        "one = decode(checkpoint)['x']\n    part = one[0]\n    return 3 in part",
        "values = again = decode(checkpoint)\n    return again.get('x') == 1",
        "if (values := decode(checkpoint)) == {}:\n        pass",
        "late = values['x']\n    values: dict = decode(checkpoint)\n    return sorted(late)",
    ],
)
def test_unbounded_use_of_decoded_values_is_found(source: str) -> None:
    assert len(found(f"def show(checkpoint, name):\n    {source}")) == 1


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring may speak of repr(x), of %r and of {!r}."""',
        "text = f'{value}' + str(value) + '%s' % value + '{}'.format(value)",
        "text = 'it is 100%% red' % ()",
        "class A:\n    def __repr__(self):\n        return f'A({self.name!r})'",
        "text = repr('constant')",
        "isascii = value.isascii()",
        "from codeplan.untrusted.values import value_text",
        "import json\ndata = json.decoder",
        "def f(data):\n    text = data.decode('utf-8')\n    return text == 'x'",
        "def f(c):\n    values = decode(c)\n    return name in values and len(values)",
        "def f(c):\n    for name, value in decode(c).items():\n        print(name, value_text(value, 9))",
        "def f(c):\n    values = decode(c)\n    return values is None",
        "def f(c):\n    return f'{value_text(decode(c), 100)}'",
        "def g(values):\n    return values == 3\ndef f(c):\n    values = decode(c)",
    ],
)
def test_other_code_is_left_alone(source: str) -> None:
    assert found(source) == []


def test_what_a_list_allows_is_allowed_and_an_entry_for_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint, "ALLOWED", {"codeplan/a.py": {"name!r": "typed", "gone!r": "typed"}})
    monkeypatch.setattr(lint, "MAY_DECODE", {"codeplan/b.py": "for a page"})
    files = [
        ("codeplan/a.py", "text = f'{name!r} {other!r}'"),
        ("codeplan/b.py", "from codeplan.sandbox import decode"),
        ("codeplan/untrusted/c.py", "text = repr(value)"),
    ]
    assert [(f.path, f.what) for f in lint.lint(files)] == [("codeplan/a.py", "other!r"), ("codeplan/a.py", "gone!r")]


def test_the_project_passes_and_every_exempt_folder_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main() == 0, capsys.readouterr().out
    assert all((ROOT / folder).is_dir() for folder in lint.EXEMPT_FOLDERS)


def test_the_style_check_runs_it() -> None:
    makefile = (ROOT / "Makefile").read_text()
    style = makefile.split("check-style:")[1].split("\n\n")[0]
    assert "scripts/lint_untrusted.py" in style
