"""What the tasks on the servers for memory, git and time find at the beginning. Every run begins alike."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

from file_worlds import NAMES, WORDS, sentence, write

WHEN = "2024-05-01T12:00:00+00:00"
MEMORY = "memory.jsonl"


def people() -> dict[str, tuple[str, str | None]]:
    """The department and the boss of people, by name; the first has no boss."""
    chance = random.Random(12)
    names = chance.sample(NAMES, 10)
    departments = ["Research", "Sales", "Support"]
    return {n: (chance.choice(departments), chance.choice(names[:at]) if at else None) for at, n in enumerate(names)}


def team(folder: Path) -> None:
    """Notes on who works where, in any order."""
    lines = []
    for name, (department, boss) in people().items():
        lines.append(
            f"{name} works in {department}" + (f" and reports to {boss}." if boss else " and reports to nobody.")
        )
    random.Random(120).shuffle(lines)
    write(folder, {f"notes/{n:02}.txt": line + "\n" for n, line in enumerate(lines, 1)})


def write_graph(
    folder: Path, entities: list[tuple[str, str, list[str]]], relations: list[tuple[str, str, str]]
) -> None:
    """Write a graph as the memory server keeps it."""
    lines = [{"type": "entity", "name": n, "entityType": t, "observations": o} for n, t, o in entities]
    lines += [{"type": "relation", "from": a, "to": b, "relationType": t} for a, t, b in relations]
    write(folder, {MEMORY: "\n".join(map(json.dumps, lines))})


def mixed_graph() -> tuple[list[tuple[str, str, list[str]]], list[tuple[str, str, str]]]:
    """Entities (name, type, observations) and relations (from, type, to) of people, projects and drafts."""
    chance = random.Random(13)
    entities = [(name, "person", [f"likes {chance.choice(WORDS)}"]) for name in NAMES[:12]]
    entities += [(f"project {word}", "project", []) for word in WORDS[:4]]
    entities += [(f"draft {word}", "draft", ["to be deleted"]) for word in WORDS[4:9]]
    chance.shuffle(entities)
    joined = chance.sample(NAMES[:12], 8)
    relations = [(name, "works_on", f"project {chance.choice(WORDS[:4])}") for name in joined[:6]]
    relations += [(f"draft {WORDS[4]}", "written_by", joined[6]), (joined[7], "knows", joined[0])]
    return entities, relations


def clean(folder: Path) -> None:
    """A graph with drafts in it."""
    write_graph(folder, *mixed_graph())


def dependencies() -> dict[str, list[str]]:
    """The packages that each package depends on."""
    chance = random.Random(14)
    packages = ["app", *WORDS]
    found = {}
    for at, name in enumerate(packages):
        later = packages[at + 1 :]
        found[name] = sorted(chance.sample(later, min(len(later), chance.choice([0, 1, 2, 2]) if at else 3)))
    return found


def closure(folder: Path) -> None:
    """A graph of packages and what they depend on."""
    graph = dependencies()
    relations = [(name, "depends_on", other) for name, others in graph.items() for other in others]
    random.Random(140).shuffle(relations)
    write_graph(folder, [(name, "package", []) for name in sorted(graph)], relations)


# ------------------------------------------------------------------ git


def git(repo: Path, *arguments: str, author: str = "Ada", when: str = WHEN) -> str:
    """Run git; names and dates are fixed, so hashes are as well."""
    mail = f"{author.lower()}@work.example"
    fixed = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": when}
    fixed |= {"GIT_COMMITTER_NAME": author, "GIT_COMMITTER_EMAIL": mail, "GIT_COMMITTER_DATE": when}
    env = os.environ | fixed | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", *arguments], cwd=repo, env=env, check=True, capture_output=True, text=True)
    return done.stdout


def new_repo(repo: Path) -> None:
    """An empty repository that anybody can commit to."""
    repo.mkdir(parents=True)
    git(repo, "init", "-q", "-b", "main")
    git(repo, "config", "user.name", "Robot")
    git(repo, "config", "user.email", "robot@work.example")


def commit(repo: Path, files: dict[str, str], message: str, author: str = "Ada", number: int = 0) -> None:
    """Commit files, a number of hours after the beginning."""
    write(repo, files)
    git(repo, "add", "-A")
    when = f"2024-05-{1 + number // 24:02}T{number % 24:02}:00:00+00:00"
    git(repo, "commit", "-q", "-m", message, author=author, when=when)


def commit_authors() -> list[str]:
    """The authors of commits, oldest first."""
    chance = random.Random(15)
    return [chance.choice(NAMES[:4]) for _ in range(26)]


def authors(folder: Path) -> None:
    """A repository with commits of several authors."""
    chance, repo = random.Random(150), folder / "repo"
    new_repo(repo)
    for number, author in enumerate(commit_authors()):
        commit(repo, {f"{chance.choice(WORDS)}.txt": f"{number}\n"}, sentence(chance, 4), author, number)


def limits() -> list[int]:
    """The value of ``limit`` after each commit."""
    chance = random.Random(16)
    values = chance.sample([100, 150, 200, 250, 300, 400, 600, 800], 8)
    return [value for value in [*values[:5], 500, *values[5:]] for _ in range(2)]


def find_commit(folder: Path) -> None:
    """A repository whose commits change a limit."""
    chance, repo = random.Random(160), folder / "repo"
    new_repo(repo)
    for number, limit in enumerate(limits()):
        text = f"[server]\nlimit = {limit}\nworkers = {number}\n"
        commit(repo, {"settings.ini": text}, f"Tune the server: {sentence(chance, 3)}", NAMES[number % 5], number)


REPOS = ("api", "site", "tools")


def release(folder: Path) -> None:
    """Several repositories, each with a version."""
    for number, name in enumerate(REPOS):
        repo = folder / "repos" / name
        new_repo(repo)
        commit(repo, {"VERSION": f"1.3.{number}\n", "README.md": f"# {name}\n"}, "Begin")
        commit(repo, {"main.txt": f"{name}\n"}, "Add main", number=1)


def branches() -> dict[str, str]:
    """The message of the last commit of branches, by name."""
    chance = random.Random(18)
    kinds = ["WIP: ", "", "Fix: ", "WIP: ", "", "wip later: ", "Add: ", "WIP: ", "Not WIP: "]
    return {f"topic/{word}": kind + sentence(chance, 3) for word, kind in zip(WORDS, kinds, strict=False)}


def wip(folder: Path) -> None:
    """A repository with branches, some unfinished."""
    repo = folder / "repo"
    new_repo(repo)
    commit(repo, {"a.txt": "a\n"}, "Begin")
    for number, (branch, message) in enumerate(branches().items(), 1):
        git(repo, "checkout", "-q", "-b", branch, "main")
        commit(repo, {"b.txt": "b\n"}, "WIP: start" if number % 2 else "Start", number=number)
        commit(repo, {"c.txt": f"{branch}\n"}, message, number=number + 20)
    git(repo, "checkout", "-q", "main")


# ------------------------------------------------------------------ time and weather

OFFICES = {  # none of these zones has summer time
    "Tokyo": ("Asia/Tokyo", 9 * 60),
    "Mumbai": ("Asia/Kolkata", 5 * 60 + 30),
    "Kathmandu": ("Asia/Kathmandu", 5 * 60 + 45),
    "Dubai": ("Asia/Dubai", 4 * 60),
    "Nairobi": ("Africa/Nairobi", 3 * 60),
    "Bogota": ("America/Bogota", -5 * 60),
    "Phoenix": ("America/Phoenix", -7 * 60),
    "Honolulu": ("Pacific/Honolulu", -10 * 60),
}


def meeting(folder: Path) -> None:
    """The offices and their time zones."""
    write(folder, {"offices.json": json.dumps({city: zone for city, (zone, _) in OFFICES.items()}, indent=1) + "\n"})


def weather(folder: Path) -> None:
    """The cities."""
    write(folder, {"cities.txt": "Chicago\nNew York\nLos Angeles\n"})
