"""The checks of benchmarks/tool_tasks: each refuses its world as it begins, and accepts it once the goal is reached.

The solutions here read the worlds as an agent has to: from the files, the history and the graph.
"""

import csv
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from codeplan.bench.bench_spec import read_spec

FILE = Path(__file__).parents[2] / "benchmarks" / "tool_tasks" / "tasks.toml"


@pytest.fixture(scope="module")
def tasks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOL_TASKS_SERVERS", "/nowhere")
        found = read_spec(FILE).tool_tasks
        assert len(found.select(None, None)) == 20
        yield found


def texts(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def save(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))


def git(repo, *arguments):
    return subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True, text=True).stdout


def rows(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def graph(folder):
    return [json.loads(line) for line in (folder / "memory.jsonl").read_text().splitlines()]


def save_graph(folder, entries):
    save(folder / "memory.jsonl", "\n".join(map(json.dumps, entries)))


# ------------------------------------------------------------------ solutions


def largest(folder):
    save(folder / "answer.txt", max((folder / "logs").glob("*.log"), key=lambda p: p.stat().st_size).name + "\n")


def todo(folder):
    counts = {n: len(re.findall("TODO", t)) for n, t in texts(folder / "src").items() if n.endswith(".py")}
    save(folder / "todo.json", {n: c for n, c in counts.items() if c})


def rename(folder):
    taken, counts = {}, Counter()
    for path in (folder / "photos").iterdir():
        taken[path] = re.search(r"taken: (\S+) (\S+)", path.read_text()).groups()
    for path, (day, _) in sorted(taken.items(), key=lambda item: item[1]):
        counts[day] += 1
        path.rename(path.parent / f"{day}_{counts[day]}.txt")


def join(folder):
    names = {row["id"]: row["name"] for row in rows(folder / "customers.csv")}
    prices = json.loads((folder / "prices.json").read_text())
    sums = dict.fromkeys(names.values(), 0)
    for path in (folder / "orders").iterdir():
        for row in rows(path):
            sums[names[row["customer"]]] += round(float(prices[row["article"]]) * 100) * int(row["quantity"])
    lines = [f"{n},{c / 100:.2f}" for n, c in sorted(sums.items(), key=lambda item: (-item[1], item[0]))]
    assert lines[-1].endswith(",0.00")
    save(folder / "revenue.csv", "\n".join(["name,total", *lines]))


def configs(folder):
    for path in folder.glob("services/*/config.json"):
        config = json.loads(path.read_text())
        config["timeout"] += 5 * config["critical"]
        save(path, config)


def links(folder):
    pages = texts(folder / "wiki")
    found = {(n, target) for n, t in pages.items() for target in re.findall(r"\]\((.*?)\)", t) if target not in pages}
    save(folder / "broken.txt", "\n".join(sorted(f"{a} -> {b}" for a, b in found)))


def dedupe(folder):
    (folder / "duplicates").mkdir()
    seen = set()
    for name, text in texts(folder / "notes").items():
        if text in seen:
            (folder / "notes" / name).rename(folder / "duplicates" / name)
        seen.add(text)


def inbox(folder):
    for name, text in texts(folder / "inbox").items():
        domain = re.search(r"^From: \S+@(\S+)", text, re.MULTILINE)[1]
        (folder / "mails" / domain).mkdir(parents=True, exist_ok=True)
        (folder / "inbox" / name).rename(folder / "mails" / domain / name)


def changelog(folder):
    found = [(int(n.split(".")[0]), n.split(".")[1], t.strip()) for n, t in texts(folder / "fragments").items()]
    parts = ["## 1.1.0", ""]
    for kind, title in (("breaking", "Breaking changes"), ("feature", "Features"), ("fix", "Fixes")):
        lines = [f"- {text} (#{number})" for number, of_kind, text in sorted(found) if of_kind == kind]
        assert lines
        parts += [f"### {title}", "", *lines, ""]
    old = (folder / "CHANGELOG.md").read_text()
    save(folder / "CHANGELOG.md", old.replace("## 1.0.0", "\n".join([*parts, "## 1.0.0"])))
    for path in list((folder / "fragments").iterdir()):
        path.rename(folder / "done" / path.name)


def stock(folder):
    old, new = ({r["article"]: int(r["count"]) for r in rows(folder / f"{day}.csv")} for day in ("monday", "friday"))
    changed = {a: [old[a], new[a]] for a in old if a in new and old[a] != new[a]}
    lists = {"added": sorted(new.keys() - old.keys()), "removed": sorted(old.keys() - new.keys())}
    assert changed and all(lists.values())
    save(folder / "diff.json", lists | {"changed": changed})


def levels(folder):
    counts = {m: dict.fromkeys(("INFO", "WARN", "ERROR"), 0) for m in ("db", "web", "auth")}
    for text in texts(folder / "logs").values():
        for level, module in re.findall(r"^\S+ (\w+) \[(\w+)\]", text, re.MULTILINE):
            counts[module][level] += 1
    save(folder / "levels.json", counts)


def team(folder):
    entities, relations = {}, []
    for text in texts(folder / "notes").values():
        name, department, boss = re.match(r"(\w+) works in (\w+) and reports to (\w+)\.", text).groups()
        entities |= {name: "person", department: "department"}
        relations.append((name, "works_in", department))
        relations += [(name, "reports_to", boss)] if boss != "nobody" else []
    entries = [{"type": "entity", "name": n, "entityType": t, "observations": []} for n, t in entities.items()]
    save_graph(folder, entries + [{"type": "relation", "from": a, "relationType": t, "to": b} for a, t, b in relations])


def clean(folder):
    entries = graph(folder)
    drafts = {e["name"] for e in entries if e.get("entityType") == "draft"}
    left = [e for e in entries if not drafts & {e.get("name"), e.get("from"), e.get("to")}]
    joined = {end for e in left if e["type"] == "relation" for end in (e["from"], e["to"])}
    for entry in left:
        if entry.get("entityType") == "person" and entry["name"] not in joined:
            entry["observations"].append("unconnected")
    save_graph(folder, left)


def closure(folder):
    needs = {}
    for entry in graph(folder):
        if entry["type"] == "relation":
            needs.setdefault(entry["from"], []).append(entry["to"])
    found, left = set(), ["app"]
    while left:
        for name in needs.get(left.pop(), []):
            left += [name] if name not in found else []
            found.add(name)
    save(folder / "needed.txt", "\n".join(sorted(found)))


def authors(folder):
    save(folder / "authors.json", Counter(git(folder / "repo", "log", "--format=%an").split()))


def find_commit(folder):
    found = git(folder / "repo", "log", "--reverse", "-G", "limit = 500", "--format=%H").split()
    save(folder / "answer.txt", found[0])


def release(folder):
    for repo in (folder / "repos").iterdir():
        git(repo, "checkout", "-q", "-b", "release-1.4")
        save(repo / "VERSION", "1.4.0\n")
        git(repo, "commit", "-q", "-a", "-m", "Release 1.4.0")


def wip(folder):
    branches = git(folder / "repo", "branch", "--format=%(refname:short) %(subject)").splitlines()
    save(
        folder / "wip.txt", "\n".join(line.split()[0] for line in branches if line.split(" ", 1)[1].startswith("WIP:"))
    )


def meeting(folder):
    from datetime import datetime
    from zoneinfo import ZoneInfo

    begin = datetime(2024, 7, 1, 8, 30, tzinfo=ZoneInfo("Asia/Tokyo"))
    zones = json.loads((folder / "offices.json").read_text())
    lines = [f"{city},{begin.astimezone(ZoneInfo(zone)):%H:%M}" for city, zone in sorted(zones.items())]
    save(folder / "meeting.csv", "\n".join(["city,time", *lines]))


def weather(folder):
    temperatures = {"New York": 33, "Los Angeles": 73, "Chicago": 36}
    save(folder / "weather.json", {"temperatures": temperatures, "warmest": "Los Angeles"})


SOLUTIONS = {f.__name__.replace("_", "-"): f for f in (
    largest, todo, rename, join, configs, links, dedupe, inbox, changelog, stock, levels, team, clean, closure, authors,
    find_commit, release, wip, meeting, weather,
)}  # fmt: skip


@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_check_refuses_the_beginning_and_accepts_the_goal(tasks, name):
    with tasks.open_world(tasks.find(name)) as world:
        refused = world.verify(None, None)
        assert isinstance(refused, str) and refused
        SOLUTIONS[name](world.folder)
        assert world.verify(None, None) is True


def test_every_task_has_a_solution_here(tasks):
    assert [task.name for task in tasks.tasks] == list(SOLUTIONS)
    assert {task.verify for task in tasks.tasks} == {f"checks.py:{n.replace('-', '_')}" for n in SOLUTIONS}
