"""What the folders of the tasks on files hold at the beginning. All follows from fixed seeds: each run begins alike."""

from __future__ import annotations

import json
import random
from pathlib import Path

NAMES = ["Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lea", "Max", "Nia", "Otto"]
NAMES.append("Pia")
WORDS = ["river", "stone", "paper", "cloud", "train", "lemon", "candle", "window", "garden", "copper", "mirror"]
WORDS += ["harbour", "pencil", "saddle", "velvet"]


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
    """Logs beside a larger file that is no log, and a larger log in a folder."""
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
    """Python files, and notes that are none."""
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
    """Photos with their dates in the text."""
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
    """Customers, prices and orders in files of their own."""
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
    """A configuration for each service."""
    write(folder, {f"services/{n}/config.json": json.dumps(c, indent=2) + "\n" for n, c in services().items()})


def wiki() -> dict[str, list[str]]:
    """The pages of a wiki, each with the pages that it links to; some do not exist."""
    chance = random.Random(6)
    pages = [f"{word}.md" for word in WORDS[:12]]
    gone = [f"{word}.md" for word in WORDS[12:]]
    return {page: chance.sample(pages, 3) + chance.sample(gone, chance.choice([0, 0, 1, 2])) for page in pages}


def links(folder: Path) -> None:
    """A wiki with links to pages that do not exist."""
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
    """Notes, some of them equal."""
    write(folder, {f"notes/{name}": text for name, text in notes().items()})


def mails() -> dict[str, str]:
    """The domain of each mail's sender, by file name."""
    chance = random.Random(8)
    domains = ["shop.example", "school.example", "bank.example", "club.example"]
    return {f"{n:03}.eml": chance.choice(domains) for n in range(1, 13)}


def inbox(folder: Path) -> None:
    """Mails whose headers come in any order."""
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
    """A changelog with one release, and fragments for the next."""
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
    """The stock on two days."""
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
    """Logs of services."""
    chance = random.Random(110)
    texts = {}
    for name, lines in log_lines().items():
        rows = [f"10:{n:02} {level} [{module}] {sentence(chance, 4)}" for n, (level, module) in enumerate(lines)]
        texts[f"logs/{name}"] = "\n".join(rows) + "\n"
    write(folder, texts)
