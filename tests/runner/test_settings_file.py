"""The settings file of a folder that anyone may have written, and the list of the files that the user trusts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.trusted import trust_folder

from codeplan import doctor
from codeplan.cli.app import main
from codeplan.runner import settings_files
from codeplan.runner.settings_files import MAX_SETTINGS_BYTES, describe_settings, load_config, read_settings_file

# ------------------------------------------------------------------ what a folder sets before it is trusted

NEEDS_TRUST = {
    "a model": ("model = 'gpt-4.1'", "model"),
    "a model at an address": ("model = 'm@http://evil.example/v1'", "model"),
    "a route": ("ask_model = 'm@http://evil.example/v1'", "ask_model"),
    "an address": ("base_url = 'http://evil.example/v1'", "base_url"),
    "a key's variable": ("key_variable = 'AWS_SECRET_ACCESS_KEY'", "key_variable"),
    "a path": ("prices = '/etc/passwd'", "prices"),
    "more retries": ("max_retries = 1000000", "max_retries"),
    "a longer time": ("timeout = 1e9", "timeout"),
    "a huge number": ("max_tokens = 9000000000000", "max_tokens"),
    "many texts": (f"stop = {['x'] * 1000}", "stop"),
    "a looser budget": ("[budget]\nmodel_calls = 100000", "budget.model_calls"),
    "in pyproject.toml": ("[tool.codeplan]\nbase_url = 'http://evil.example/v1'", "base_url"),
}


@pytest.mark.parametrize(("text", "name"), NEEDS_TRUST.values(), ids=NEEDS_TRUST.keys())
def test_such_a_setting_has_no_effect_until_the_file_is_trusted(tmp_path, text, name):
    file = "pyproject.toml" if text.startswith("[tool.") else "codeplan.toml"
    (tmp_path / file).write_text(text)
    config = load_config(tmp_path, {})
    assert (config.model, config.settings, config.budget) == (None, {}, {})
    assert (config.file, config.ignored) == (file, (name,))
    trust_folder(tmp_path)
    trusted = load_config(tmp_path, {})
    assert trusted.ignored == ()
    assert trusted.model or trusted.settings or trusted.budget


def test_any_folder_may_set_what_is_harmless_and_lower_a_budget(tmp_path):
    (tmp_path / "codeplan.toml").write_text(
        "temperature = 0.5\nmodel_seed = 3\napi = 'responses'\nbase_url = 'http://evil.example'\n"
        "[budget]\nmodel_calls = 5\nmoney = 0.5\nactions = 7\n"
    )
    config = load_config(tmp_path, {})
    assert config.settings == {"temperature": 0.5, "model_seed": 3, "api": "responses"}
    assert config.budget == {"model_calls": 5, "money": 0.5, "actions": 7}
    assert config.ignored == ("base_url",)


def test_the_user_s_own_variables_need_no_trust_and_override_the_folder(tmp_path):
    (tmp_path / "codeplan.toml").write_text("base_url = 'http://evil.example'\n[budget]\nmodel_calls = 5\n")
    own = {"CODEPLAN_BASE_URL": "http://own/v1", "CODEPLAN_BUDGET_MODEL_CALLS": "200", "CODEPLAN_MODEL": "mine"}
    config = load_config(tmp_path, own)
    assert (config.model, config.settings, config.budget) == (
        "mine",
        {"base_url": "http://own/v1"},
        {"model_calls": 200},
    )


CHANGES: dict[str, Callable[[Path], object]] = {
    "one byte more": lambda f: f.write_bytes(f.read_bytes() + b"\n"),
    "another address": lambda f: f.write_text("base_url = 'http://evil.example/v1'"),
    "a copy elsewhere": lambda f: f.rename(f.parent.with_name("elsewhere") / f.name),
    "a second file": lambda f: f.rename(f.with_name("pyproject.toml")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_or_moved_file_is_not_trusted(tmp_path, change):
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    file = folder / "codeplan.toml"
    file.write_text("[tool.codeplan]\nbase_url = 'http://mine/v1'")
    trust_folder(folder)
    assert load_config(folder, {}).settings == {"base_url": "http://mine/v1"}
    change(file)
    for place in (folder, elsewhere):
        assert load_config(place, {}).settings == {}


def test_a_byte_order_mark_is_left_out(tmp_path):
    (tmp_path / "codeplan.toml").write_bytes(b"\xef\xbb\xbftemperature = 0.5\n[budget]\nmodel_calls = 3\n")
    assert load_config(tmp_path, {}).budget == {"model_calls": 3}


def test_a_folder_is_known_by_its_real_path(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    (real / "codeplan.toml").write_text("base_url = 'http://mine/v1'")
    trust_folder(link)
    assert load_config(real, {}).ignored == ()
    link.unlink()
    link.mkdir()
    (link / "codeplan.toml").write_bytes((real / "codeplan.toml").read_bytes())
    assert load_config(link, {}).ignored == ("base_url",)


# ------------------------------------------------------------------ files that are no settings files


def _link(file: Path) -> None:
    file.with_name("target").write_text("model = 'm'")
    file.symlink_to("target")


UNFIT: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (_link, "link"),
    "a link that leads nowhere": (lambda f: f.symlink_to("nowhere"), "link"),
    "an endless file behind a link": (lambda f: f.symlink_to("/dev/zero"), "link"),
    "a folder": (lambda f: f.mkdir(), "folder"),
    "a pipe": (os.mkfifo, "pipe"),
    "over a megabyte": (lambda f: f.write_bytes(b"#" * (MAX_SETTINGS_BYTES + 1)), "larger than 1,000,000 bytes"),
    "a sparse file of a terabyte": (lambda f: (f.touch(), os.truncate(f, 1 << 40)), "larger than 1,000,000 bytes"),
    "not UTF-8": (lambda f: f.write_bytes(b"\xff\xfe"), "UTF-8"),
    "no TOML": (lambda f: f.write_text("a = = b"), "is not TOML"),
    "a key of many parts": (lambda f: f.write_text("a." * 400_000 + "a = 1"), "key of more than"),
    "an escape code as a key": (lambda f: f.write_text('"\\u001b]0;evil\\u0007" = 1'), "there is no key"),
    "a key": (lambda f: f.write_text("api_key = 'sk-secret-of-mine'"), "keys do not belong in a file"),
    "a login without an end": (lambda f: f.write_text("base_url = 'nonsense'"), "the base URL is not"),
}


@pytest.mark.parametrize("file", ["codeplan.toml", "pyproject.toml"])
@pytest.mark.parametrize(("make", "said"), UNFIT.values(), ids=UNFIT.keys())
def test_an_unfit_file_is_one_error_for_every_reader(tmp_path, monkeypatch, capsys, make, said, file):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / file)
    if (file == "pyproject.toml" and said in ("there is no key", "keys do not belong in a file")) or "base URL" in said:
        text = (tmp_path / file).read_text()
        (tmp_path / file).write_text(f"[tool.codeplan]\n{text}")
    for command in (["trust"], ["run", "household", "-q"]):
        assert main(command) == 2
        shown = capsys.readouterr()
        assert said in shown.err
        assert (shown.out, shown.err.count("\n"), "\x1b" in shown.err, "sk-secret" in shown.err) == (
            "",
            1,
            False,
            False,
        )
    assert settings_files.trusted_files() == ()


# ------------------------------------------------------------------ the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codeplan.toml").write_text("base_url = 'http://me:secret@mine/v1'\n[budget]\nmodel_calls = 500\n")
    return tmp_path


def test_an_untrusted_file_costs_one_line_on_stderr_and_leaves_json_alone(folder, capsys):
    assert main(["run", "household", "--mistakes", "none", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == (
        "codeplan: ignored in codeplan.toml, which you do not trust: base_url, budget.model_calls; "
        "to trust it, run: codeplan trust\n"
    )
    assert json.loads(shown.out)["success"] is True


def test_trust_shows_what_it_trusts_without_secrets(folder, capsys):
    assert main(["trust"]) == 0
    shown = capsys.readouterr()
    assert f"{folder}/codeplan.toml is trusted until it changes" in shown.out
    assert "base_url = 'http://mine/v1'" in shown.out
    assert "secret" not in shown.out
    assert main(["run", "household", "--mistakes", "none", "--json"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["trust", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trusted"] == f"{folder}/codeplan.toml"


def test_trusted_files_are_listed_with_their_state_and_forgotten(folder, capsys):
    file = folder / "codeplan.toml"
    assert main(["trust", str(folder)]) == 0
    states = []
    for change in (lambda: None, lambda: file.write_text("model = 'm'"), file.unlink):
        change()
        capsys.readouterr()
        assert main(["trust", "--list", "--json"]) == 0
        states.append(json.loads(capsys.readouterr().out))
    assert [[entry["state"] for entry in listed] for listed in states] == [["trusted"], ["changed"], ["missing"]]
    assert main(["trust", "--forget", str(folder)]) == 0
    assert main(["trust", "--forget", str(folder)]) == 2
    assert "no file in" in capsys.readouterr().err
    assert settings_files.trusted_files() == ()


def test_values_are_shown_clean_and_bounded(tmp_path):
    (tmp_path / "codeplan.toml").write_text(
        'model = "\\u001b]0;evil\\u0007\\u202e"\n[extra_body]\npassword = "geheim"\n'
        f'text = "{"x" * 500_000}"\nurl = "https://user:geheim@host/"\n'
    )
    file = read_settings_file(tmp_path)
    assert file is not None
    shown = describe_settings(file.settings)
    assert all(text.isprintable() and len(text) <= 200 for text in shown.values())
    assert "geheim" not in str(shown)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no folder or file nowhere"),
        (["plan.py"], "plan.py does not describe a bench"),
        (["harmless.toml"], "sets nothing that needs your trust"),
        (["empty"], "there is no codeplan.toml in empty"),
        (["--list", "--forget"], "exclude each other"),
        (["--forget", "nowhere"], "no file in nowhere"),
        (["a", "b"], "unexpected extra argument"),
        (["emp\x00ty"], "embedded null"),
    ],
)
def test_a_wrong_argument_is_one_sentence(folder, capsys, arguments, said):
    (folder / "empty").mkdir()
    (folder / "plan.py").write_text("def solution(agent, start_from=1): ...")
    (folder / "harmless.toml").write_text("suites = ['household']\nmethods = ['react']\n[budget]\nmodel_calls = 3\n")
    assert main(["trust", *arguments]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1


# ------------------------------------------------------------------ the list


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no JSON": lambda f: f.write_text("{"),
    "not UTF-8": lambda f: f.write_bytes(b"\xff"),
    "another shape": lambda f: f.write_text('{"trusted": [{"path": 1}]}'),
    "a newer form": lambda f: f.write_text('{"trusted": [], "more": 1}'),
    "empty": lambda f: f.write_text(""),
    "too large": lambda f: f.write_text(" " * 1_000_001),
    "a folder": lambda f: f.mkdir(),
    "a pipe": os.mkfifo,
    "written by others": lambda f: (f.write_text('{"trusted": []}'), f.chmod(0o666)),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_list_is_one_sentence_and_is_left_as_it_is(folder, config_folder, capsys, damage):
    config_folder.mkdir()
    file = config_folder / "trusted.json"
    damage(file)
    before = file.read_bytes() if file.is_file() else None
    for command in (["trust"], ["trust", "--list"], ["trust", "--forget"], ["run", "household", "-q"]):
        assert main(command) == 2
        shown = capsys.readouterr().err
        assert str(config_folder) in shown
        assert shown.count("\n") == 1
    assert (file.read_bytes() if file.is_file() else None) == before


def test_the_list_is_its_owner_s_alone(folder, config_folder):
    before = os.umask(0)
    try:
        trust_folder(folder)
    finally:
        os.umask(before)
    assert config_folder.stat().st_mode & 0o077 == 0
    assert (config_folder / "trusted.json").stat().st_mode & 0o077 == 0


def test_a_list_behind_the_user_s_own_link_stays_there(folder, config_folder, tmp_path):
    config_folder.mkdir()
    (config_folder / "trusted.json").symlink_to(tmp_path / "elsewhere.json")
    trust_folder(folder)
    assert (config_folder / "trusted.json").is_symlink()
    assert str(folder) in (tmp_path / "elsewhere.json").read_text()


@pytest.mark.parametrize("base", ["/proc/nothing", "/dev/null"])
def test_a_config_folder_that_cannot_be_written_is_one_sentence(folder, monkeypatch, capsys, base):
    monkeypatch.setenv("XDG_CONFIG_HOME", base)
    assert main(["trust"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert load_config(folder, {}).ignored == ("base_url", "budget.model_calls")


def test_a_relative_config_folder_is_not_used_for_it_could_be_the_stranger_s(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert settings_files.config_folder() == tmp_path / "home" / ".config" / "codeplan"
    monkeypatch.setenv("HOME", ".")
    assert settings_files.config_folder() is None
    assert load_config(folder, {}).ignored == ("base_url", "budget.model_calls")


def test_a_folder_whose_name_is_not_text_can_be_trusted(tmp_path, monkeypatch, capsys):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m\n"))
    folder.mkdir()
    (folder / "codeplan.toml").write_text("model = 'mine'")
    monkeypatch.chdir(folder)
    assert main(["trust"]) == 0
    assert main(["trust", "--list"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert load_config(folder, {}).model == "mine"
    assert main(["trust", "--forget"]) == 0
    assert load_config(folder, {}).model is None


def test_two_at_once_lose_nothing(tmp_path):
    folders = [tmp_path / str(n) for n in range(12)]
    for folder in folders:
        folder.mkdir()
        (folder / "codeplan.toml").write_text("model = 'mine'")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from support.trusted import trust_folder"
        "; [trust_folder(Path(f)) for f in sys.argv[2:]]"
    )
    tests = str(Path(__file__).parents[1])
    halves = [[sys.executable, "-c", code, tests, *map(str, folders[n::3])] for n in range(2)]
    processes = [subprocess.Popen(half) for half in halves]
    threads = [threading.Thread(target=trust_folder, args=(folder,)) for folder in folders[2::3]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait(60) for process in processes] == [0, 0]
    assert len(settings_files.trusted_files()) == 12


# ------------------------------------------------------------------ the file of a bench

HOSTILE_BENCHES = {
    "models": "models = ['gpt-4.1']",
    "base_url": "models = [{name = 'm', base_url = 'http://evil.example/v1'}]",
    "key_variable": "models = ['m']\n[common]\nkey_variable = 'MY_SECRET'",
    "ask_model": "[common]\nask_model = 'm@http://evil.example/v1'",
    "browser": "suites = ['miniwob']\n[common]\nbrowser = '/tmp/evil.sh'",
    "plan": "methods = [{name = 'autoplan', plan = '/etc/passwd'}]",
    "executor": "methods = [{name = 'adapt', executor = {name = 'autoplan', plan = '/etc/passwd'}}]",
    "tries": "methods = [{name = 'adaplanner', tries = 1000000000}]",
    "budget.model_calls": "[budget]\nmodel_calls = 1000000",
}


@pytest.mark.parametrize(("name", "text"), HOSTILE_BENCHES.items(), ids=HOSTILE_BENCHES.keys())
def test_a_bench_s_file_needs_trust_for_what_is_not_harmless(tmp_path, monkeypatch, capsys, name, text):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "grid.toml"
    file.write_text(text if text.startswith("suites") else f"suites = ['household']\n{text}")
    assert main(["bench", "grid.toml"]) == 2
    shown = capsys.readouterr().err
    assert "only a file that you trust may set" in shown and name in shown
    assert shown.count("\n") == 1
    assert main(["trust", "grid.toml"]) == 0
    assert f"  {name} = " in capsys.readouterr().out
    file.write_text(file.read_text() + "\n")
    assert main(["bench", "grid.toml"]) == 2
    assert "only a file that you trust may set" in capsys.readouterr().err


def test_a_trusted_bench_runs_at_its_endpoint_and_another_one_never(serve, tmp_path, monkeypatch, capsys):
    endpoint = serve()
    monkeypatch.chdir(tmp_path)
    model = f"{{name = 'm', base_url = '{endpoint.url}'}}"
    text = f"suites = ['household']\nkind = 'pick'\nn = 1\nmethods = ['react']\nmodels = [{model}]\n"
    (tmp_path / "grid.toml").write_text(text)
    assert main(["bench", "grid.toml", "--out", "out"]) == 2
    assert endpoint.log == []
    assert main(["trust", "grid.toml"]) == 0
    assert main(["bench", "grid.toml", "--out", "out"]) == 0
    assert endpoint.log
    assert main(["trust", "--list"]) == 0
    assert main(["trust", "--forget", "grid.toml"]) == 0
    assert main(["bench", "grid.toml", "--out", "out"]) == 2
    capsys.readouterr()


def test_the_doctor_says_whether_the_folder_is_trusted(folder):
    def finding() -> tuple[str, str]:
        (found,) = doctor._settings_file()
        return found.status, found.detail

    assert finding() == ("absent", "codeplan.toml is not trusted: base_url, budget.model_calls")
    trust_folder(folder)
    assert finding() == ("ok", "codeplan.toml in this folder")
    (folder / "codeplan.toml").write_text("= nonsense")
    assert finding()[0] == "missing"
    (folder / "codeplan.toml").unlink()
    assert list(doctor._settings_file()) == []


def test_trust_takes_a_settings_file_s_own_name(folder):
    assert main(["trust", "codeplan.toml"]) == 0
    assert load_config(folder, {}).ignored == ()


# ------------------------------------------------------------------ nothing leaves


def test_no_request_and_no_key_leaves_for_a_stranger_s_endpoint(serve, tmp_path, monkeypatch, capsys):
    evil = serve()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_SECRET", "the-secret-of-this-machine")
    text = f"model = 'm'\nbase_url = '{evil.url}'\nkey_variable = 'MY_SECRET'\nask_model = 'm@{evil.url}'\n"
    (tmp_path / "codeplan.toml").write_text(text)
    assert main(["run", "household", "--mistakes", "none", "--json"]) == 0
    assert evil.log == []
    assert main(["trust"]) == 0
    assert main(["run", "household", "--json"]) == 0
    assert evil.log
    capsys.readouterr()
