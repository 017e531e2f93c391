"""A manifest from a stranger sets only what is harmless, and reads only the files beside it."""

import json

import pytest
from support.canaries import SECRET, Canaries, canaries
from support.plan_suites import clean_plan

import codeplan
from codeplan.cli.app import main
from codeplan.testing.scaffold import new_test

pytestmark = pytest.mark.long

TASK = '[[tasks]]\nkind = "clean"\nseed = 418\n'
WIDE_CLASSES = "[!-\uffee]" * 1_900


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """Canaries; the machine has a key, and its endpoint is the canary too: no test may ask it."""
    with canaries(tmp_path / "canaries") as found:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("OPENAI_BASE_URL", found.url)
        yield found
    assert found.touched == []


def hostile(c):
    """Manifests without their tasks, each with what the refusal says."""
    household, plan = 'env = "household"\n', 'plan = "clean.py"\n'

    def settings(env, text):
        return f'{plan}env = "{env}"\n[settings]\n{text}\n'

    return {
        "browser": (settings("miniwob", f'browser = "{c.program}"'), "settings.browser: a manifest cannot set"),
        "pages": (settings("miniwob", f'pages = "{c.folder}"'), "settings.pages: a manifest cannot set"),
        "data": (settings("webshop", f'data = "{c.folder}"'), "settings.data: a manifest cannot set"),
        "pipeline": (settings("webshop", 'nouns = "spacy:antigravity"'), "settings.nouns: a manifest cannot set"),
        "address": (settings("hotpotqa", f'url = "{c.url}"'), "settings.url: a manifest cannot set"),
        "cache": (settings("hotpotqa", f'cache = "{c.file}"'), "settings.cache: a manifest cannot set"),
        "recorded": (settings("textcraft", f'recorded = "{c.file}"'), "settings.recorded: a manifest cannot set"),
        "long": (settings("textcraft", f'recorded = "{"x" * 100_000}"'), "settings.recorded: a manifest cannot set"),
        "unknown": (settings("household", "limits = { memory = 1e12 }"), "settings.limits: the environment has no"),
        "weak": (settings("household", "allow_weak_sandbox = true"), "the environment has no such setting"),
        "type": (settings("household", 'actions = "many"'), "it takes int"),
        "table": (settings("household", "dialect = { a = [1, 2] }"), "settings.dialect: "),
        "huge": (settings("household", f"actions = {10**15}"), "settings.actions: a manifest cannot set"),
        "patterns": (f'{household}{plan}[expect]\noutput = "(?i){WIDE_CLASSES}"\n', "more than 3 s to compile"),
        "plan-above": (f'{household}plan = "../canaries/canary.txt"\n', "no file '../canaries/canary.txt' beside"),
        "plan-absolute": (f'{household}plan = "{c.file}"\n', "beside the manifest"),
        "plan-link": (f'{household}plan = "link.py"\n', "no file 'link.py' beside"),
        "plan-through-a-link": (f'{household}plan = "links/canary.txt"\n', "no file 'links/canary.txt' beside"),
        "skill-above": (f'{household}skill = "../canaries/canary-folder"\n', "beside the manifest"),
        "skill-link": (f'{household}skill = "links"\n', "no folder 'links' beside"),
        "sample": (f'{household}sample = "../../../../etc/passwd"\n', "no worked sample"),
        "tape-above": (f'{household}{plan}[answers]\ntape = "../canaries/canary.txt"\n', "beside the manifest"),
        "tape-link": (f'{household}{plan}[answers]\ntape = "link.py"\n', "no file 'link.py' beside"),
        "model": (
            f'{household}{plan}[answers]\nmodel = "strong"\n[mutation]\nat_least = 0.5\n',
            "asks a real model, which costs money",
        ),
        "model-address": (f'{household}{plan}[answers]\nmodel = "m@{c.url}"\n', "asks a real model"),
        "env": (f'env = "os:system"\n{plan}', "there is no environment 'os:system'"),
        "marks": (f'{household}{plan}marks = ["__class__"]\n', "marks: '__class__' is not a marker's name"),
    }


def write(canary, folder, text):
    """A stranger's folder with a manifest, a plan and links; returns the manifest."""
    folder.mkdir()
    (folder / "clean.py").write_text(clean_plan())
    (folder / "link.py").symlink_to(canary.file)
    (folder / "links").symlink_to(canary.folder)
    (folder / "x.plan.toml").write_text(text + TASK)
    return folder / "x.plan.toml"


@pytest.mark.parametrize("name", [*hostile(Canaries)])
def test_a_strangers_manifest_reaches_nothing_outside_its_folder(name, canary, tmp_path, capsys):
    text, said = hostile(canary)[name]
    manifest = write(canary, tmp_path / "theirs", text)
    assert main(["mutate", str(manifest)]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert len(shown.err) < 1500
    assert SECRET not in shown.err


def test_a_folder_of_hostile_manifests_is_refused_by_pytest_too(canary, tmp_path, capsys):
    cases = hostile(canary)
    folder = write(canary, tmp_path / "theirs", "").parent
    (folder / "x.plan.toml").unlink()
    for name, (text, _) in cases.items():
        (folder / f"{name}.plan.toml").write_text(text + TASK)
    arguments = [str(folder), "-p", "no:cacheprovider", "--plan-mutants", "-rs"]
    assert main(["test", *arguments]) == 2
    shown = capsys.readouterr().out.replace("\n", " ")
    assert all(said in shown for name, (_, said) in cases.items() if not name.startswith("model"))
    assert SECRET not in shown
    assert main(["test", *arguments, "--continue-on-collection-errors"]) == 1
    assert "3 skipped" in capsys.readouterr().out  # what asks a real model: two plans, and the mutants of one


def test_what_only_the_user_can_set_comes_from_the_command_line(canary, tmp_path, capsys):
    text = 'plan = "clean.py"\nenv = "household"\n[settings]\nactions = 10000000\n'
    manifest = write(canary, tmp_path / "mine", text)
    quiet = ["-q", "-p", "no:cacheprovider"]
    assert main(["test", str(manifest), *quiet]) == 2
    assert main(["test", str(manifest), *quiet, "--plan-set", "actions=10000000"]) == 0
    assert main(["test", str(manifest), *quiet, "--plan-set", "actions=2"]) == 1
    assert main(["mutate", str(manifest), "--set", "actions=10000000", "--json"]) in (0, 1)
    assert main(["test", str(manifest), *quiet, "--plan-set", "actions"]) == 2
    assert "--plan-set takes NAME=VALUE, not 'actions'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        ({"dialect": "put", "actions": 60}, []),
        ({"dialect": "put", "actions": 10**12}, ["actions"]),
        ({"dialect": ["put"], "no_such_setting": 1}, ["dialect"]),
        ({"mistakes": "none", "library": "/etc", "prompts": "/etc"}, []),
    ],
)
def test_a_new_test_copies_only_what_is_harmless(settings, left_out, canary, tmp_path, capsys):
    folder = tmp_path / "run"
    codeplan.run("household", "clean/22", mistakes="none", out=folder)
    first, *rest = (folder / "trace.jsonl").read_text().splitlines(keepends=True)
    header = json.loads(first)
    header["settings"] = settings
    (folder / "trace.jsonl").write_text("".join([json.dumps(header) + "\n", *rest]))
    assert main(["new-test", str(folder), "-o", str(tmp_path / "tests")]) == 0
    err = capsys.readouterr().err
    assert all(f"a manifest cannot set {name}" in err for name in left_out)
    assert left_out or "cannot set" not in err
    text = (tmp_path / "tests" / "clean_22.plan.toml").read_text().partition("[expect]")[0]
    assert not any(f"{name} =" in text for name in left_out)
    assert main(["test", str(tmp_path / "tests"), "-q", "-p", "no:cacheprovider"]) == 0


def test_a_new_test_of_a_hostile_trace_leaves_its_program_out(canary, tmp_path, capsys):
    folder = tmp_path / "run"
    codeplan.run("household", "clean/22", mistakes="none", out=folder)
    first, *rest = (folder / "trace.jsonl").read_text().splitlines(keepends=True)
    header = json.loads(first) | {"env": "miniwob"}
    header["settings"] = {"browser": str(canary.program), "pages": str(canary.folder), "data_mode": "test"}
    (folder / "trace.jsonl").write_text("".join([json.dumps(header) + "\n", *rest]))
    manifest = new_test(folder, tmp_path / "tests")[1].read_text()
    assert 'data_mode = "test"' in manifest
    assert "canar" not in manifest
