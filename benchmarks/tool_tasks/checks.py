"""Decides about each task by what is in its folder at the end: files, git's history, the memory server's graph.

Each check returns True, or a sentence that says what is wrong without giving the answer away.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import file_worlds
import server_worlds

Verdict = bool | str


def read(path: Path) -> str | None:
    """A file's text; None if there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def same_text(folder: Path, name: str, wanted: str) -> Verdict:
    """Whether a file holds this text, apart from blanks at its ends."""
    found = read(folder / name)
    if found is None:
        return f"there is no file {name}"
    return found.strip() == wanted.strip() or f"{name} does not hold what it should"


def same_lines(folder: Path, name: str, wanted: Iterable[str]) -> Verdict:
    """Whether a file holds these lines."""
    found, lines = read(folder / name), list(wanted)
    if found is None:
        return f"there is no file {name}"
    given = [line.strip() for line in found.strip().splitlines()]
    if len(given) != len(lines):
        return f"{name} has {len(given)} lines, which is not the right number"
    wrong = sum(a != b for a, b in zip(given, lines, strict=True))
    return not wrong or f"{wrong} of the {len(lines)} lines in {name} are wrong"


def same_json(folder: Path, name: str, wanted: Any) -> Verdict:
    """Whether a file holds this JSON."""
    found = read(folder / name)
    if found is None:
        return f"there is no file {name}"
    try:
        data = json.loads(found)
    except ValueError:
        return f"{name} is no JSON"
    if isinstance(data, dict) and isinstance(wanted, dict) and data.keys() != wanted.keys():
        return f"{name} does not have the right keys"
    return data == wanted or f"values in {name} are wrong"


def same_tree(folder: Path, wanted: dict[str, str]) -> Verdict:
    """Whether a folder holds exactly these files."""
    found = {str(p.relative_to(folder)): read(p) for p in folder.rglob("*") if p.is_file()}
    if missing := wanted.keys() - found.keys():
        return f"{len(missing)} files are missing in {folder.name}"
    if more := found.keys() - wanted.keys():
        return f"{len(more)} files should not be in {folder.name}"
    wrong = [name for name, text in wanted.items() if found[name] != text]
    return not wrong or f"{len(wrong)} files in {folder.name} do not hold what they should"


# ------------------------------------------------------------------ files


def largest(value: object, tools: object, folder: Path) -> Verdict:
    """The name of the largest log."""
    sizes = {name: len(text) for name, text in file_worlds.log_sizes().items()}
    return same_text(folder, "answer.txt", max(sizes, key=lambda name: sizes[name]))


def todo(value: object, tools: object, folder: Path) -> Verdict:
    """The number of lines with TODO by file, without those that have none."""
    counts = {name: sum("TODO" in line for line in text.splitlines()) for name, text in file_worlds.sources().items()}
    return same_json(folder, "todo.json", {name: n for name, n in counts.items() if n})


def renamed_photos() -> dict[str, str]:
    """The new name of each photo."""
    by_day: dict[str, list[tuple[str, str]]] = {}
    for name, (day, time) in file_worlds.photos().items():
        by_day.setdefault(day, []).append((time, name))
    return {
        name: f"{day}_{number}.txt"
        for day, taken in by_day.items()
        for number, (_, name) in enumerate(sorted(taken), 1)
    }


def rename(value: object, tools: object, folder: Path) -> Verdict:
    """Each photo has its date and its place on that day as a name."""
    photos, names = file_worlds.photos(), renamed_photos()
    wanted = {
        new: f"camera: K-7\ntaken: {photos[old][0]} {photos[old][1]}\nplace: {old[4:6]}\n" for old, new in names.items()
    }
    return same_tree(folder / "photos", wanted)


def revenue() -> dict[str, int]:
    """What each customer paid, in cents, by name."""
    customers, prices, months = file_worlds.orders()
    sums = dict.fromkeys(customers.values(), 0)
    for rows in months.values():
        for customer, article, quantity in rows:
            sums[customers[customer]] += prices[article] * quantity
    return sums


def join(value: object, tools: object, folder: Path) -> Verdict:
    """What each customer paid, highest first."""
    rows = sorted(revenue().items(), key=lambda row: (-row[1], row[0]))
    return same_lines(folder, "revenue.csv", ["name,total", *(f"{n},{c / 100:.2f}" for n, c in rows)])


def configs(value: object, tools: object, folder: Path) -> Verdict:
    """Critical services have five seconds more; nothing else has changed."""
    for name, config in file_worlds.services().items():
        wanted = dict(config)
        if config["critical"]:
            wanted["timeout"] = int(str(config["timeout"])) + 5
        verdict = same_json(folder, f"services/{name}/config.json", wanted)
        if verdict is not True:
            return verdict
    return True


def links(value: object, tools: object, folder: Path) -> Verdict:
    """The links to pages that do not exist, in order."""
    pages = file_worlds.wiki()
    broken = {f"{page} -> {target}" for page, targets in pages.items() for target in targets if target not in pages}
    return same_lines(folder, "broken.txt", sorted(broken))


def dedupe(value: object, tools: object, folder: Path) -> Verdict:
    """The first of equal notes stays; the others are among the duplicates."""
    kept: dict[str, str] = {}
    texts = file_worlds.notes()
    for name in sorted(texts):
        kept.setdefault(texts[name], name)
    stay = {name: texts[name] for name in kept.values()}
    verdict = same_tree(folder / "notes", stay)
    moved = {name: text for name, text in texts.items() if name not in stay}
    return same_tree(folder / "duplicates", moved) if verdict is True else verdict


def inbox(value: object, tools: object, folder: Path) -> Verdict:
    """Each mail is in the folder of its sender's domain."""
    if any((folder / "inbox").glob("*")):
        return "there are still mails in inbox"
    wanted = {f"{domain}/{name}" for name, domain in file_worlds.mails().items()}
    found = {str(p.relative_to(folder / "mails")) for p in (folder / "mails").rglob("*") if p.is_file()}
    return found == wanted or f"{len(found ^ wanted)} paths below mails are wrong or missing"


def changelog(value: object, tools: object, folder: Path) -> Verdict:
    """The fragments stand in the changelog, and are put away."""
    lines = ["# Changelog", "", "## 1.1.0", ""]
    for kind, title in file_worlds.FRAGMENT_KINDS.items():
        found = sorted((int(n.split(".")[0]), t) for n, t in file_worlds.fragments().items() if n.split(".")[1] == kind)
        lines += [f"### {title}", "", *(f"- {text.strip()} (#{number})" for number, text in found), ""]
    lines += ["## 1.0.0", "", "- First release."]
    text = read(folder / "CHANGELOG.md") or ""
    if [line.rstrip() for line in text.splitlines() if line.strip()] != [line for line in lines if line]:
        return "CHANGELOG.md does not hold what it should"
    return (
        same_tree(folder / "done", file_worlds.fragments() | {".keep": ""})
        if list_of(folder / "fragments") == []
        else ("there are still files in fragments")
    )


def list_of(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []


def stock(value: object, tools: object, folder: Path) -> Verdict:
    """The articles that came, that went, and whose count has changed."""
    before, after = file_worlds.snapshots()
    changed = {a: [before[a], after[a]] for a in before.keys() & after.keys() if before[a] != after[a]}
    added, removed = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
    return same_json(folder, "diff.json", {"added": added, "removed": removed, "changed": changed})


def levels(value: object, tools: object, folder: Path) -> Verdict:
    """How many lines each module logged at each level."""
    counts = Counter(line for lines in file_worlds.log_lines().values() for line in lines)
    wanted = {m: {level: counts[level, m] for level in ("INFO", "WARN", "ERROR")} for m in ("auth", "db", "web")}
    return same_json(folder, "levels.json", wanted)


# ------------------------------------------------------------------ memory


def graph(folder: Path) -> tuple[dict[str, tuple[str, list[str]]], set[tuple[str, str, str]]]:
    """The memory server's entities by name, and its relations (from, type, to)."""
    entities, relations = {}, set()
    for line in (read(folder / server_worlds.MEMORY) or "").splitlines():
        entry = json.loads(line)
        if entry["type"] == "entity":
            entities[entry["name"]] = (entry["entityType"], entry["observations"])
        else:
            relations.add((entry["from"], entry["relationType"], entry["to"]))
    return entities, relations


def team(value: object, tools: object, folder: Path) -> Verdict:
    """The graph has the people, their departments and their bosses."""
    people, (entities, relations) = server_worlds.people(), graph(folder)
    types = dict.fromkeys(people, "person") | {department: "department" for department, _ in people.values()}
    if {name: kind for name, (kind, _) in entities.items()} != types:
        return "the entities in the graph are not the people and departments of the notes"
    wanted = {(name, "works_in", department) for name, (department, _) in people.items()}
    wanted |= {(name, "reports_to", boss) for name, (_, boss) in people.items() if boss}
    return relations == wanted or f"{len(relations ^ wanted)} relations are wrong or missing"


def clean(value: object, tools: object, folder: Path) -> Verdict:
    """The graph has no drafts, and people without a relation are marked."""
    before, links = server_worlds.mixed_graph()
    entities, relations = graph(folder)
    kept = {name for name, kind, _ in before if kind != "draft"}
    wanted_links = {link for link in links if link[0] in kept and link[2] in kept}
    if entities.keys() != kept:
        return "the entities in the graph are not those that should be left"
    if relations != wanted_links:
        return "the relations in the graph are not those that should be left"
    joined = {end for start, _, other in wanted_links for end in (start, other)}
    wanted = {
        name: [*seen, "unconnected"] if kind == "person" and name not in joined else seen
        for name, kind, seen in before
        if name in kept
    }
    wrong = [name for name, seen in wanted.items() if entities[name][1] != seen]
    return not wrong or f"the observations of {len(wrong)} entities are wrong"


def closure(value: object, tools: object, folder: Path) -> Verdict:
    """All packages that the app needs, in order."""
    graph_of, found = server_worlds.dependencies(), set[str]()
    todo = ["app"]
    while todo:
        new = set(graph_of[todo.pop()]) - found
        found |= new
        todo += new
    return same_lines(folder, "needed.txt", sorted(found))


# ------------------------------------------------------------------ git


def authors(value: object, tools: object, folder: Path) -> Verdict:
    """The number of commits by author."""
    return same_json(folder, "authors.json", dict(Counter(server_worlds.commit_authors())))


def find_commit(value: object, tools: object, folder: Path) -> Verdict:
    """The first commit whose limit is 500."""
    first = server_worlds.limits().index(500)
    hashes = server_worlds.git(folder / "repo", "log", "--reverse", "--format=%H").split()
    return same_text(folder, "answer.txt", hashes[first])


def release(value: object, tools: object, folder: Path) -> Verdict:
    """Each repository has a branch with one commit more, which sets the version; the branch main is as it was."""
    for name in server_worlds.REPOS:
        repo = folder / "repos" / name
        try:
            version = server_worlds.git(repo, "show", "release-1.4:VERSION")
            log = server_worlds.git(repo, "log", "--format=%s", "release-1.4").splitlines()
            main = server_worlds.git(repo, "log", "--format=%s", "main").splitlines()
            changed = server_worlds.git(repo, "diff", "--name-only", "main", "release-1.4").split()
        except subprocess.CalledProcessError:
            return f"the repository {name} has no branch release-1.4 with a file VERSION"
        if version.strip() != "1.4.0":
            return f"VERSION on the branch release-1.4 of {name} is not 1.4.0"
        if log != ["Release 1.4.0", "Add main", "Begin"] or changed != ["VERSION"]:
            return f"the branch release-1.4 of {name} should have one more commit, which changes VERSION alone"
        if main != ["Add main", "Begin"]:
            return f"the branch main of {name} was changed"
    return True


def wip(value: object, tools: object, folder: Path) -> Verdict:
    """The branches whose last commit is unfinished work."""
    wanted = sorted(branch for branch, message in server_worlds.branches().items() if message.startswith("WIP:"))
    return same_lines(folder, "wip.txt", wanted)


# ------------------------------------------------------------------ time and weather


def meeting(value: object, tools: object, folder: Path) -> Verdict:
    """The local time of the meeting at each office."""
    utc = 8 * 60 + 30 - server_worlds.OFFICES["Tokyo"][1]
    lines = []
    for city, (_, offset) in sorted(server_worlds.OFFICES.items()):
        local = (utc + offset) % (24 * 60)
        lines.append(f"{city},{local // 60:02}:{local % 60:02}")
    return same_lines(folder, "meeting.csv", ["city,time", *lines])


def weather(value: object, tools: object, folder: Path) -> Verdict:
    """The temperatures that the server makes up, and the warmest city."""
    found = {"Chicago": 36, "Los Angeles": 73, "New York": 33}
    return same_json(folder, "weather.json", {"temperatures": found, "warmest": "Los Angeles"})
