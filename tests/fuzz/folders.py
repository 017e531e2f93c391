"""Files of folders from strangers: manifests of tests, bench specs, skills, and settings."""

from __future__ import annotations

import os
import random
import tempfile
import tomllib
import zipfile
from functools import cache
from pathlib import Path

from confinement import Watch, judge_error
from mutation import as_json, as_toml, mutate_bytes, mutate_text, mutate_tree

from codeplan.bench.bench_spec import read_spec
from codeplan.errors import CodeplanError
from codeplan.runner import settings_files
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import Skill, SkillOrigin
from codeplan.testing.cases import PlanSuite

PROJECT = Path(__file__).parents[2]
_MANIFESTS = sorted((PROJECT / "tests" / "plans").glob("*.plan.toml"))


@cache
def _manifests() -> tuple[tuple[str, str], ...]:
    """The texts of real manifests, and their plans."""
    return tuple((path.read_text(), _plan_of(path)) for path in _MANIFESTS)


def _plan_of(path: Path) -> str:
    plan = path.with_name(tomllib.loads(path.read_text()).get("plan", "none"))
    return plan.read_text() if plan.is_file() else "def solution(agent, start_from=1):\n    pass\n"


def _changed_toml(pick: random.Random, text: str, donors: tuple[str, ...]) -> str | bytes:
    match pick.randrange(5):
        case 0:
            return mutate_bytes(pick, text.encode())
        case 1:
            return mutate_text(pick, text, donors)
        case _:
            return as_toml(mutate_tree(pick, tomllib.loads(text), [tomllib.loads(donor) for donor in donors]))


def judge_manifest(pick: random.Random, watch: Watch) -> None:
    """A manifest of plan tests, read with all its cases."""
    text, plan = pick.choice(_manifests())
    with watch.example():
        name = tomllib.loads(text).get("plan", "a.py")
        watch.write(f"tests/{name}", plan)
        path = watch.write("tests/a.plan.toml", _changed_toml(pick, text, tuple(t for t, _ in _manifests())))
        with watch.watched():
            try:
                assert PlanSuite(path).cases is not None
            except CodeplanError as error:
                judge_error(error)


_SPECS = tuple(path.read_text() for path in sorted((PROJECT / "examples").glob("*.toml")))


def judge_spec(pick: random.Random, watch: Watch) -> None:
    """A bench's specification."""
    with watch.example():
        path = watch.write("spec.toml", _changed_toml(pick, pick.choice(_SPECS), _SPECS))
        with watch.watched():
            try:
                read_spec(path)
            except CodeplanError as error:
                judge_error(error)


_SETTINGS = (
    'model = "scripted"\n',
    'model = "m"\nbase_url = "http://127.0.0.1:9/v1"\nkey_variable = "FUZZ_SECRET"\ntemperature = 0.5\n[budget]\nactions = 9\nseconds = 3.5\n',
    'ask_model = "a"\nrefine_model = "b@http://127.0.0.1:9/v1"\nmax_retries = 2\nprices = "p.toml"\n',
)


def judge_settings(pick: random.Random, watch: Watch) -> None:
    """The settings file of a folder, the list of trusted folders, and commands that read both."""
    with watch.example():
        os.environ["XDG_CONFIG_HOME"] = str(watch.folder / "config")
        text = _changed_toml(pick, pick.choice(_SETTINGS), _SETTINGS)
        name = pick.choice(["codeplan.toml", "codeplan.toml", "pyproject.toml"])
        if name == "pyproject.toml" and isinstance(text, str):
            text = "[tool.codeplan]\n" + text
        path = watch.write(name, text)
        with watch.watched():
            try:
                found = settings_files.read_settings_file(path.parent)
                if found is not None:
                    settings_files.split_settings(found.settings)
                    settings_files.describe_settings(found.settings)
            except CodeplanError as error:
                judge_error(error)
        _judge_trust(pick, watch)
        if pick.random() < 0.2:
            watch.run_command(
                "run", "household", "--task", "heat/3", "--model", "scripted", "--max-actions", "3", "--out", "r", "-q"
            )


def _judge_trust(pick: random.Random, watch: Watch) -> None:
    listed = {"trusted": [{"path": str(watch.folder / "codeplan.toml"), "sha256": "0" * 64}]}
    data = as_json(mutate_tree(pick, listed))
    file = watch.write("config/codeplan/trusted.json", mutate_bytes(pick, data) if pick.random() < 0.3 else data)
    file.chmod(0o600)
    with watch.watched():
        try:
            settings_files.is_trusted(watch.folder / "codeplan.toml", "0" * 64)
        except CodeplanError as error:
            judge_error(error)


# ------------------------------------------------------------------ skills

_PLAN = """def solution(agent, start_from=1):
    # Parameters, with their values for the task: heat some apple and put it in fridge.
    # the_item: step 1: I look for an apple
    the_item = "apple"
    # End of the parameters.
    if start_from <= 1:
        print(f'[Step 1] I look for a {the_item}')
        assert the_item, f'Error in [Step 1]: nowhere. {agent.report()}'
"""


@cache
def _library() -> dict[str, bytes]:
    """The files of a small library."""
    with tempfile.TemporaryDirectory() as folder:
        library = SkillLibrary(Path(folder) / "skills")
        for number, status in enumerate(("active", "candidate")):
            origin = SkillOrigin("heat/2000", "heat some apple and put it in fridge.", "scripted", "runs/1")
            library.add(
                Skill(f"heat-{number}", "household", _PLAN, "heat", "Heat a thing.", status=status, origins=(origin,))  # type: ignore[arg-type]
            )
        return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


_SKILL_COMMANDS = (
    ("skills", "list"),
    ("skills", "list", "--json"),
    ("skills", "show", "heat-0"),
    ("skills", "show", "heat-1", "--json"),
    ("skills", "stats"),
    ("skills", "search", "a hot apple in the fridge"),
    ("skills", "rebuild"),
    ("skills", "diff", "heat-0", "heat-1"),
    ("skills", "promote", "heat-1"),
    ("skills", "retire", "heat-0"),
    ("skills", "merge", "heat-0", "heat-1"),
    ("skills", "export", "out.zip"),
    ("skills", "import", "other", "--library", "mine"),
    ("skills", "import", "other.zip", "--library", "mine"),
)


def judge_skill(pick: random.Random, watch: Watch) -> None:
    """A stranger's library of skills, as a folder or a zip file, with the commands that read it."""
    with watch.example():
        files = dict(_library())
        for name in pick.sample(sorted(files), pick.choice([1, 1, 2])):
            files[name] = _changed_skill_file(pick, name, files[name])
        for name, data in files.items():
            watch.write(name, data)
            watch.write(name.replace("skills/", "other/", 1), data)
        _write_zip(pick, watch, files)
        if pick.random() < 0.1:
            _put_link(pick, watch)
        watch.run_command(*pick.choice(_SKILL_COMMANDS))


def _changed_skill_file(pick: random.Random, name: str, data: bytes) -> bytes:
    if not name.endswith("SKILL.md") or pick.random() < 0.2:
        return mutate_bytes(pick, data)
    _, front, prose = data.decode().split("---\n", 2)
    changed = mutate_text(pick, front, (front,))
    return b"---\n" + changed.encode("utf-8", "replace") + b"---\n" + prose.encode()


def _write_zip(pick: random.Random, watch: Watch, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(watch.folder / "other.zip", "w") as packed:
        for name, data in files.items():
            inside = name.removeprefix("skills/")
            if pick.random() < 0.1:
                inside = pick.choice(["../", "/", "a/../../", "x" * 300 + "/", "\\", "\x1b[2J"]) + inside
            packed.writestr(inside, watch.fill(data))


def _put_link(pick: random.Random, watch: Watch) -> None:
    file = pick.choice([p for p in (watch.folder / "skills").rglob("*") if p.is_file()])
    file.unlink()
    file.symlink_to(pick.choice([watch.canary / "secret", file, watch.canary]))
