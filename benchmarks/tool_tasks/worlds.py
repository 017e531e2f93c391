"""What the folders of the tasks hold at the beginning. All follows from fixed seeds: every run begins alike."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

NAMES = ["Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lea", "Max", "Nia", "Otto"]
NAMES.append("Pia")
WORDS = ["river", "stone", "paper", "cloud", "train", "lemon", "candle", "window", "garden", "copper", "mirror"]
WORDS += ["harbour", "pencil", "saddle", "velvet"]
WHEN = "2024-05-01T12:00:00+00:00"
MEMORY = "memory.jsonl"


def write(folder: Path, files: dict[str, str]) -> None:
    """Write texts by relative path."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def sentence(chance: random.Random, words: int = 8) -> str:
    """A sentence that means nothing."""
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


# ------------------------------------------------------------------ files


def log_sizes() -> dict[str, str]:
    """Logs by name; one is the largest."""
    chance = random.Random(1)
    names = [f"{word}-{number}.log" for number, word in enumerate(WORDS[:12], 1)]
    return {name: "x" * chance.randrange(200, 9_000) + "\n" for name in names}


def largest(folder: Path) -> None:
    notes = {"logs/readme.txt": "y" * 20_000, "logs/old/huge.log": "z" * 30_000}
    write(folder, {f"logs/{name}": text for name, text in log_sizes().items()} | notes)


def sources() -> dict[str, str]:
    """Python files by path; some hold lines with TODO."""
    chance = random.Random(2)
    files = {}
    for folder in ("", "core/", "core/io/", "web/", "web/forms/"):
        for word in chance.sample(WORDS, 3):
            lines = [f"{w} = {chance.randrange(99)}" for w in chance.choices(WORDS, k=20)]
            for at in chance.sample(range(20), chance.choice([0, 0, 1, 2, 4])):
                lines[at] += f"  # TODO: {sentence(chance, 3)}"
            files[f"{folder}{word}.py"] = "\n".join(lines) + "\n"
    return files


def todo(folder: Path) -> None:
    texts = {f"src/{name}": text for name, text in sources().items()}
    write(folder, texts | {"src/notes.md": "TODO: write notes\nTODO: read them\n"})


def photos() -> dict[str, tuple[str, str]]:
    """The date and time of photos, by file name."""
    chance = random.Random(3)
    days = ["2024-03-05", "2024-03-06", "2024-04-11"]
    times = chance.sample(range(6 * 60, 22 * 60), 12)
    numbers = chance.sample(range(1000, 9999), 12)
    return {
        f"IMG_{number}.txt": (chance.choice(days), f"{time // 60:02}:{time % 60:02}")
        for number, time in zip(numbers, times, strict=True)
    }


def rename(folder: Path) -> None:
    texts = {
        f"photos/{n}": f"camera: K-7\ntaken: {day} {time}\nplace: {n[4:6]}\n" for n, (day, time) in photos().items()
    }
    write(folder, texts)


def orders() -> tuple[dict[str, str], dict[str, int], dict[str, list[tuple[str, str, int]]]]:
    """Customers by id, prices in cents by article, and each month's orders: customer's id, article, quantity."""
    chance = random.Random(4)
    customers = {f"C{n:02}": name for n, name in enumerate(chance.sample(NAMES, 8), 1)}
    prices = {word: chance.randrange(95, 4_000) for word in WORDS[:9]}
    months = {
        f"2024-{month:02}": [
            (chance.choice(list(customers)[:7]), chance.choice(list(prices)), chance.randrange(1, 9)) for _ in range(12)
        ]
        for month in range(1, 7)
    }
    return customers, prices, months


def join(folder: Path) -> None:
    customers, prices, months = orders()
    files = {
        "customers.csv": "id,name\n" + "".join(f"{i},{n}\n" for i, n in customers.items()),
        "prices.json": json.dumps({name: f"{cents / 100:.2f}" for name, cents in prices.items()}, indent=1),
    }
    for month, rows in months.items():
        files[f"orders/{month}.csv"] = "customer,article,quantity\n" + "".join(f"{c},{a},{q}\n" for c, a, q in rows)
    write(folder, files)


def services() -> dict[str, dict[str, object]]:
    """The configuration of services."""
    chance = random.Random(5)
    return {
        word: {"port": 8000 + n, "timeout": chance.randrange(5, 60), "critical": chance.random() < 0.5, "owner": "ops"}
        for n, word in enumerate(WORDS[:10])
    }


def configs(folder: Path) -> None:
    write(folder, {f"services/{n}/config.json": json.dumps(c, indent=2) + "\n" for n, c in services().items()})


def wiki() -> dict[str, list[str]]:
    """The pages of a wiki, each with the pages that it links to; some do not exist."""
    chance = random.Random(6)
    pages = [f"{word}.md" for word in WORDS[:12]]
    gone = [f"{word}.md" for word in WORDS[12:]]
    return {page: chance.sample(pages, 3) + chance.sample(gone, chance.choice([0, 0, 1, 2])) for page in pages}


def links(folder: Path) -> None:
    chance = random.Random(60)
    texts = {}
    for page, targets in wiki().items():
        lines = [f"{sentence(chance, 5)} See [{t.removesuffix('.md')}]({t}) for more." for t in targets]
        texts[f"wiki/{page}"] = f"# {page.removesuffix('.md')}\n\n" + "\n\n".join(lines) + "\n"
    write(folder, texts)


def notes() -> dict[str, str]:
    """Notes by name; some are the same."""
    chance = random.Random(7)
    texts = [f"{sentence(chance)}\n{sentence(chance)}\n" for _ in range(8)]
    names = [f"note-{n:02}.txt" for n in chance.sample(range(10, 99), 14)]
    return {name: texts[n % 8] if n < 12 else texts[3] for n, name in enumerate(names)}


def dedupe(folder: Path) -> None:
    write(folder, {f"notes/{name}": text for name, text in notes().items()})


def mails() -> dict[str, str]:
    """The domain of each mail's sender, by file name."""
    chance = random.Random(8)
    domains = ["shop.example", "school.example", "bank.example", "club.example"]
    return {f"{n:03}.eml": chance.choice(domains) for n in range(1, 13)}


def inbox(folder: Path) -> None:
    chance = random.Random(80)
    texts = {}
    for name, domain in mails().items():
        other = f"{chance.choice(NAMES).lower()}@home.example"
        sender = f"{chance.choice(NAMES).lower()}@{domain}"
        head = [f"To: {other}", f"Subject: {sentence(chance, 4)}", f"From: {sender}", f"Reply-To: {other}"]
        chance.shuffle(head)
        texts[f"inbox/{name}"] = "\n".join(head) + f"\n\n{sentence(chance)}\n"
    write(folder, texts)


FRAGMENT_KINDS = {"breaking": "Breaking changes", "feature": "Features", "fix": "Fixes"}


def fragments() -> dict[str, str]:
    """Pieces of a changelog by file name: NUMBER.KIND.md."""
    chance = random.Random(9)
    numbers = chance.sample(range(80, 400), 11)
    return {f"{n}.{chance.choice(list(FRAGMENT_KINDS))}.md": sentence(chance, 6) + "\n" for n in numbers}


def changelog(folder: Path) -> None:
    texts = {f"fragments/{name}": text for name, text in fragments().items()}
    write(folder, texts | {"CHANGELOG.md": "# Changelog\n\n## 1.0.0\n\n- First release.\n", "done/.keep": ""})


def snapshots() -> tuple[dict[str, int], dict[str, int]]:
    """The stock of articles, before and after."""
    chance = random.Random(10)
    articles = [f"{a}-{n}" for a in WORDS for n in range(100, 104)]
    before = {a: chance.randrange(1, 90) for a in sorted(chance.sample(articles, 50))}
    after = {a: n for a, n in before.items() if chance.random() > 0.1}
    after = {a: n if chance.random() > 0.15 else n + chance.randrange(1, 9) for a, n in after.items()}
    after |= {a: chance.randrange(1, 90) for a in chance.sample([a for a in articles if a not in before], 4)}
    return before, dict(chance.sample(list(after.items()), len(after)))


def stock(folder: Path) -> None:
    before, after = snapshots()
    for name, rows in (("monday.csv", before), ("friday.csv", after)):
        write(folder, {name: "article,count\n" + "".join(f"{a},{n}\n" for a, n in rows.items())})


def log_lines() -> dict[str, list[tuple[str, str]]]:
    """The lines of services' logs: level and module."""
    chance = random.Random(11)
    levels = ["INFO"] * 6 + ["WARN"] * 2 + ["ERROR"]
    return {
        f"{w}.log": [(chance.choice(levels), chance.choice(["db", "web", "auth"])) for _ in range(40)]
        for w in WORDS[:5]
    }


def levels(folder: Path) -> None:
    chance = random.Random(110)
    texts = {}
    for name, lines in log_lines().items():
        rows = [f"10:{n:02} {level} [{module}] {sentence(chance, 4)}" for n, (level, module) in enumerate(lines)]
        texts[f"logs/{name}"] = "\n".join(rows) + "\n"
    write(folder, texts)


# ------------------------------------------------------------------ memory


def people() -> dict[str, tuple[str, str | None]]:
    """The department and the boss of people, by name; the first has no boss."""
    chance = random.Random(12)
    names = chance.sample(NAMES, 10)
    departments = ["Research", "Sales", "Support"]
    return {n: (chance.choice(departments), chance.choice(names[:at]) if at else None) for at, n in enumerate(names)}


def team(folder: Path) -> None:
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
    chance, repo = random.Random(160), folder / "repo"
    new_repo(repo)
    for number, limit in enumerate(limits()):
        text = f"[server]\nlimit = {limit}\nworkers = {number}\n"
        commit(repo, {"settings.ini": text}, f"Tune the server: {sentence(chance, 3)}", NAMES[number % 5], number)


REPOS = ("api", "site", "tools")


def release(folder: Path) -> None:
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
    write(folder, {"offices.json": json.dumps({city: zone for city, (zone, _) in OFFICES.items()}, indent=1) + "\n"})


def weather(folder: Path) -> None:
    write(folder, {"cities.txt": "Chicago\nNew York\nLos Angeles\n"})
