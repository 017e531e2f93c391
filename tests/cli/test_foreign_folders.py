"""Commands on folders from elsewhere: links lead nowhere, nothing of the user's changes, and each refusal is one line."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.skill_samples import skill
from support.trace_samples import acted, ended, started, write

from codeplan.bench.metrics import measure_episode
from codeplan.bench.store import EpisodeOutcome
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.events import EnvironmentReset
from codeplan.recording.trace import Trace
from codeplan.skills.import_export import export_skills, import_skills
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord
from codeplan.types import Observation, Result, Success

SECRET = "export PATH=/mine and no newline at the end"
EVIDENCE = EvidenceRecord("heat/7", 7, "scripted", True, True)


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an episode that was run here."""
    folder = tmp_path_factory.mktemp("runs") / "one"
    assert main(["run", "household", "--task", "clean/1", "--quiet", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A file of the user's. Whatever a test does, it stays as it is and nothing appears beside it."""
    (tmp_path / "home").mkdir()
    file = tmp_path / "home" / "own.txt"
    file.write_text(SECRET)
    yield file
    assert file.read_text() == SECRET
    assert os.listdir(file.parent) == ["own.txt"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that must refuse in one line; returns the line."""
    monkeypatch.chdir(tmp_path)

    def refuse(*arguments: object) -> str:
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert code == 2, err
        assert err.startswith("codeplan: ") and err.count("\n") == 1 and SECRET[:10] not in out + err
        return str(err)

    return refuse


def commands(folder: Path) -> list[list[str]]:
    return [
        ["resume", str(folder)],
        ["replay", str(folder)],
        ["fork", str(folder), "--at", "3", "--out", "branch"],
        ["new-test", str(folder), "--out", "tests"],
        ["report", str(folder)],
    ]


PLANTED: dict[str, Callable[[Path, Path], None]] = {
    "link": lambda trace, own: trace.symlink_to(own),
    "relative link": lambda trace, own: trace.symlink_to("../home/own.txt"),
    "dangling link": lambda trace, own: trace.symlink_to(own.with_name("new")),
    "loop": lambda trace, own: trace.symlink_to(trace.name),
    "device": lambda trace, own: trace.symlink_to("/dev/zero"),
    "environment": lambda trace, own: trace.symlink_to("/proc/self/environ"),
    "pipe": lambda trace, own: os.mkfifo(trace),
    "folder": lambda trace, own: trace.mkdir(),
    "sparse": lambda trace, own: _sparse(trace),
}


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 << 30)


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("number", range(5), ids=["resume", "replay", "fork", "new-test", "report"])
def test_a_planted_trace_is_refused(kind, number, tmp_path, own, run, capsys):
    (tmp_path / "foreign").mkdir()
    PLANTED[kind](tmp_path / "foreign" / "trace.jsonl", own)
    command = commands(tmp_path / "foreign")[number]
    if kind == "sparse" and command[0] == "report":
        assert main(command) == 0
        assert "left out" in capsys.readouterr().err
    else:
        run(*command)
    assert not (tmp_path / "branch").exists()


def test_a_hard_link_to_a_trace_of_the_user_is_not_continued(tmp_path, episode, run):
    mine = tmp_path / "mine.jsonl"
    mine.write_bytes(b"".join((episode / "trace.jsonl").read_bytes().splitlines(keepends=True)[:-1]))
    (tmp_path / "foreign").mkdir()
    os.link(mine, tmp_path / "foreign" / "trace.jsonl")
    before = mine.read_bytes()
    assert "second name" in run("resume", tmp_path / "foreign")
    assert mine.read_bytes() == before


@pytest.mark.parametrize(
    "text", [SECRET, "no newline", "{}\n", '{"event": "text_printed", "text": "x", "seq": 0, "at": 0.0}\ntorn']
)
def test_a_file_that_is_no_trace_is_left_as_it_is(text, tmp_path, run):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "trace.jsonl").write_text(text)
    run("resume", tmp_path / "foreign")
    assert (tmp_path / "foreign" / "trace.jsonl").read_text() == text


def test_a_torn_end_stays_until_a_new_event_replaces_it(tmp_path, episode):
    lines = (episode / "trace.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(lines[:5]) + b'{"torn')
    trace = Trace.resume(path)
    trace.close()
    assert path.read_bytes().endswith(b'{"torn')
    trace = Trace.resume(path)
    for event in trace.recording:
        trace.append(event)
    trace.append(Trace.read(episode / "trace.jsonl")[5])
    trace.close()
    assert [type(e) for e in Trace.read(path)] == [type(e) for e in Trace.read(episode / "trace.jsonl")[:6]]


def test_a_folder_that_the_user_linked_himself_is_followed(tmp_path, episode, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("latest").symlink_to(episode)
    assert main(["replay", "latest"]) == 0
    assert main(["report", "latest"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("name", ["branch/trace.jsonl"])
def test_a_branch_is_not_written_through_a_link(name, tmp_path, episode, own, run):
    (tmp_path / "branch").mkdir()
    (tmp_path / name).symlink_to(own.with_name("new"))
    assert "exists already" in run("fork", episode, "--at", "3", "--out", "branch")


@pytest.mark.parametrize("ending", [".plan.py", ".plan.toml"])
def test_a_new_test_is_not_written_through_a_link(ending, tmp_path, episode, own, run):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / f"clean_1{ending}").symlink_to(own.with_name("new"))
    assert "exists already" in run("new-test", episode, "--out", "tests")


@pytest.mark.parametrize("link", ["tests", "tests/plans"])
def test_a_new_test_does_not_enter_a_default_folder_behind_a_link(link, tmp_path, episode, own, run):
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(own.parent)
    assert f"{link} is a link; name the real folder with --out" in run("new-test", episode)


def test_pictures_are_not_saved_through_a_linked_folder(tmp_path, own):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "pictures").symlink_to(own.parent)
    trace = Trace(tmp_path / "run" / "trace.jsonl")
    with pytest.raises(Exception, match="it is a link"):
        trace.save_file("pictures", ".png", b"png")
    trace.close()


def test_a_page_is_not_written_over_a_linked_file(tmp_path, episode, own, run):
    (tmp_path / "report.html").symlink_to(own)
    assert "it is a link" in run("report", episode)


def test_a_page_shows_no_trace_and_no_picture_from_outside_its_folder(tmp_path, episode):
    from codeplan.report.pages.episode_pages import read_png
    from codeplan.report.pages.report_source import ReportSource

    foreign = tmp_path / "foreign"
    shutil.copytree(episode, foreign / "one")
    (foreign / "linked").symlink_to(episode)
    (foreign / "up").symlink_to("..")
    assert [run.folder.name for run in ReportSource(foreign).read().episodes] == ["one"]
    png = tmp_path / "own.png"
    png.write_bytes(b"\x89PNG\r\n\x1a\n")
    (foreign / "one" / "p.png").symlink_to(png)
    (foreign / "one" / "pictures").symlink_to(tmp_path)
    for name in ("p.png", "pictures/own.png", "../../own.png", str(png), "/dev/zero", "", "a\0b"):
        assert read_png(foreign / "one", name) is None


def test_the_default_folder_for_runs_may_not_be_a_link(tmp_path, own, run):
    (tmp_path / "runs").symlink_to(own.parent)
    assert "runs: it is a link" in run("run", "household", "--task", "clean/1")


@pytest.mark.parametrize("planted", ["learnt/episodes", "learnt/episodes/001"])
def test_traces_of_a_training_do_not_go_through_links(planted, tmp_path, own, run):
    (tmp_path / planted).parent.mkdir(parents=True)
    (tmp_path / planted).symlink_to(own.parent)
    assert "it is a link" in run("learn", "household", "-n", "1", "--out", "learnt")


# ------------------------------------------------------------------ skills


@pytest.mark.parametrize("command", [["list"], ["rebuild"], ["import", "library"], ["search", "x"]])
def test_the_default_library_may_not_be_a_link(command, tmp_path, own, run):
    (tmp_path / "skills").symlink_to(own.parent)
    (tmp_path / "library").mkdir()
    assert "skills is a link" in run("skills", *command)


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    library = SkillLibrary(tmp_path / "skills")
    library.record(library.add(skill()), EVIDENCE)
    return library


def plant(library: SkillLibrary, name: str, target: Path | str) -> None:
    path = library.path / "household" / "heat-1" / name
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize("how", ["link", "dangling link", "hard link", "pipe", "folder"])
def test_evidence_is_not_written_through_what_is_planted(how, library, own):
    path = library.path / "household" / "heat-1" / "evidence.jsonl"
    path.unlink()
    match how:
        case "link":
            path.symlink_to(own)
        case "dangling link":
            path.symlink_to(own.with_name("new"))
        case "hard link":
            os.link(own, path)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    with pytest.raises(UsageError, match=r"evidence\.jsonl cannot be written: it "):
        library.record(skill(), EVIDENCE)


@pytest.mark.parametrize("name", ["SKILL.md", "plan.py", "evidence.jsonl"])
@pytest.mark.parametrize("target", ["own", "/dev/zero", "/proc/self/environ", "missing"])
def test_a_linked_file_makes_a_skill_unusable(name, target, library, own):
    plant(library, name, own if target == "own" else target)
    library.refresh()
    (fault,) = library.faults()
    assert f"{name}: it is a link" in fault
    assert SECRET[:10] not in fault


def test_a_linked_skill_or_environment_is_no_part_of_the_library(library, tmp_path):
    other = SkillLibrary(tmp_path / "other")
    other.add(skill("private-1"))
    (library.path / "household" / "private-1").symlink_to(other.path / "household" / "private-1")
    (library.path / "textcraft").symlink_to(other.path / "household")
    library.refresh()
    assert [e.name for e in library.entries()] == ["heat-1"]
    with pytest.raises(UsageError, match="it is a link"):
        library.get("household", "private-1")


def test_a_changed_plan_is_not_kept_through_a_linked_folder(library, own):
    versions = library.path / "household" / "heat-1" / "versions"
    shutil.rmtree(versions)
    versions.symlink_to(own.parent)
    with pytest.raises(OSError, match="it is a link"):
        library.change(skill(), plan=skill().plan + "\n")


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
def test_a_planted_lock_is_refused(kind, library, own):
    lock = library.path / ".lock"
    lock.unlink()
    {"link": lambda: lock.symlink_to(own.with_name("new")), "hard link": lambda: os.link(own, lock)}.get(
        kind, lambda: os.mkfifo(lock)
    )()
    with pytest.raises(UsageError, match=r"\.lock cannot be locked: it "):
        library.record(skill(), EVIDENCE)


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_sqlite_gets_no_planted_file(ending, library, own):
    library.close()
    for left in library.path.glob(".index.sqlite*"):
        left.unlink()
    (library.path / f".index.sqlite{ending}").symlink_to(own)
    again = SkillLibrary(library.path)
    again.add(skill("heat-2"))
    assert [e.name for e in again.entries()] == ["heat-1", "heat-2"]
    again.close()


def test_an_index_with_a_view_that_never_ends_is_made_again(library):
    library.close()
    with sqlite3.connect(library.path / ".index.sqlite") as db:
        columns = [row[1] for row in db.execute("pragma table_info(files)")]
        db.execute("drop table files")
        endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n"
        db.execute(f"create view files as select {', '.join(f'x as {c}' for c in columns)} from ({endless})")
    db.close()
    assert [e.name for e in SkillLibrary(library.path).entries()] == ["heat-1"]


def test_an_export_carries_nothing_that_is_linked(library, own, tmp_path):
    plant(library, "evidence.jsonl", own)
    with pytest.raises(UsageError, match="it is a link"):
        export_skills(library, tmp_path / "out.zip", [skill()])
    assert not (tmp_path / "out.zip").exists()


def test_an_import_of_a_folder_follows_no_links(library, tmp_path, own):
    plant(library, "plan.py", own)
    (library.path / "textcraft").symlink_to(library.path / "household")
    (result,) = import_skills(SkillLibrary(tmp_path / "new"), library.path)
    assert "it is a link" in result.reason


# ------------------------------------------------------------------ benches and manifests


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("results.jsonl", "the bench cannot be written to bench: it is a link"),
        ("bench.json", "there is no bench in bench: bench.json cannot be read (it is a link"),
        ("runs", "the trace cannot be written to "),
    ],
)
def test_a_bench_is_not_written_through_links(name, said, tmp_path, own, run):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / name).symlink_to(own.parent if name == "runs" else own)
    line = run("bench", "household", "-n", "1", "--out", "bench")
    assert line.startswith(f"codeplan: {said}") and "it is a link, and links are not followed here" in line
    assert (tmp_path / "bench" / name).is_symlink()


@pytest.mark.parametrize("place", ["../home", "linked", "inside/linked", "/home"])
def test_results_cannot_name_a_trace_outside_the_bench(place, tmp_path):
    bench, home = tmp_path / "bench", tmp_path / "home"
    (bench / "inside").mkdir(parents=True)
    head = started()
    write(home, head, EnvironmentReset(observation=Observation("a room")), acted(), acted(), ended(head))
    shutil.copytree(home, bench / "own")
    (bench / "linked").symlink_to(home)
    (bench / "inside" / "linked").symlink_to("../../home")
    result = Result(head.task, Success(), "adaplanner", "scripted", actions=7)
    run = str(home) if place == "/home" else place
    assert measure_episode(EpisodeOutcome("cell", head.task, 0, "own", result), bench, ()).trajectory == 2
    assert measure_episode(EpisodeOutcome("cell", head.task, 0, run, result), bench, ()).trajectory == 7


def test_results_without_a_bench_are_not_cut(tmp_path, run):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "results.jsonl").write_text(SECRET)
    line = run("bench", "household", "-n", "1", "--out", "bench")
    assert line == "codeplan: bench holds a results.jsonl but no bench.json; name another folder\n"
    assert (tmp_path / "bench" / "results.jsonl").read_text() == SECRET


MANIFEST = 'plan = {}\nenv = "household"\n[[tasks]]\nid = "clean/1"\n'


@pytest.mark.parametrize("plan", ["linked.py", "folder/own.txt", "../home/own.txt", "/etc/passwd", "pipe.py"])
def test_a_manifest_names_no_plan_outside_its_folder(plan, tmp_path, own, run):
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "linked.py").symlink_to(own)
    (folder / "folder").symlink_to(own.parent)
    os.mkfifo(folder / "pipe.py")
    manifest = folder / "a.plan.toml"
    manifest.write_text(MANIFEST.format(f"{plan!r}"))
    line = run("mutate", manifest)
    assert line == f"codeplan: {manifest}:1: plan: there is no file {plan!r} beside the manifest\n"


def test_a_linked_manifest_is_not_read(tmp_path, own, run):
    (tmp_path / "a.plan.toml").symlink_to(own)
    assert "it is a link" in run("mutate", tmp_path / "a.plan.toml")


@pytest.mark.parametrize(("path", "kind"), [("/dev/zero", "device"), ("pipe.py", "pipe"), ("folder.py", "folder")])
def test_a_plan_that_the_user_names_must_be_a_regular_file(path, kind, tmp_path, run):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    line = run("check", path, "--env", "household")
    assert line == f"codeplan: cannot read the plan {path}: it is a {kind}, not a file\n"
