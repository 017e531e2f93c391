"""Measures WebShop: opening a shop, and answering a query with its page of results.

    python benchmarks/webshop.py            # 1,000 products, SQLite's index
    python benchmarks/webshop.py --full     # and 1,181,430 products, tantivy's: minutes, and 2 GB of disk for a while

The products are generated: words drawn by Zipf's law, with WebShop's average record length for 1,000 products and less
for the full set. Queries are three to eight words of a product's title, like those of an instruction.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import Any

from codeplan.envs.webshop import catalogue
from codeplan.envs.webshop.catalogue import Catalogue, CatalogueEntry, ShoppingInstruction
from codeplan.envs.webshop.environment import WebShop, WebShopSettings
from codeplan.envs.webshop.goals import Product
from codeplan.envs.webshop.loading import ShopData, open_shop

FULL = 1_181_430
QUERIES = 2000
LIMIT_1000, LIMIT_FULL = 2.0, 15.0
"""Limits of the median query, in milliseconds."""

_OPEN = (
    "import time; t = time.perf_counter(); from codeplan import envs; e = envs.make('webshop', {}); "
    "e.reset(e.tasks('test')[0]); print(time.perf_counter() - t)"
)


class Words:
    """Random words, most common first, drawn by Zipf's law."""

    def __init__(self, count: int, seed: str) -> None:
        draw = random.Random(seed)
        self._words = ["".join(draw.choices("bcdfghklmnprstvaeiou", k=draw.randint(3, 9))) for _ in range(count)]
        self._weights = list(accumulate(1 / rank for rank in range(8, count + 8)))
        self._draw = draw

    def some(self, count: int) -> list[str]:
        """Draw ``count`` words."""
        return self._draw.choices(self._words, cum_weights=self._weights, k=count)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="also measure the size of the full set")
    parser.add_argument("--products", type=int, default=FULL, help="products of the full set")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="webshop-") as folder:
        small(Path(folder))
    if given.full:
        with tempfile.TemporaryDirectory(prefix="webshop-") as folder:
            full(Path(folder), given.products)


# ------------------------------------------------------------------ 1,000 products


def small(folder: Path) -> None:
    """Measure user files with a thousand products of 4 kB each."""
    words = Words(30_000, "small")
    records = [_record(words, n) for n in range(1000)]
    asked = {
        r["asin"]: [{"instruction": "a thing", "instruction_attributes": ["x"], "instruction_options": []}]
        for r in records
    }
    for name, content in (("items_shuffle_1000", records), ("items_ins_v2_1000", {}), ("items_human_ins", asked)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    opening = _OPEN.format(f"data={str(folder)!r}")
    for what in ("first", "again"):
        seconds = float(
            subprocess.run([sys.executable, "-c", opening], capture_output=True, text=True, check=True).stdout
        )
        print(f"1,000 products, opened {what}       {seconds * 1e3:8.1f} ms   including imports and a reset")
    shop = open_shop(str(folder))
    _measure(shop, "1,000 products, FTS5", LIMIT_1000)


def _record(words: Words, n: int) -> dict[str, Any]:
    return {
        "asin": f"B{n:09}",
        "name": " ".join(words.some(14)),
        "full_description": " ".join(words.some(150)),
        "small_description": [" ".join(words.some(25)) for _ in range(6)],
        "pricing": f"${n % 90 + 5}.99",
        "category": "garden",
        "query": words.some(1)[0],
        "product_category": "Home › Things",
        "customization_options": {"Size": [{"value": w, "image": None} for w in words.some(6)]},
        "images": [],
    }


# ------------------------------------------------------------------ the full set


def full(folder: Path, count: int) -> None:
    """Measure a database and a tantivy index built directly from products."""
    began = time.perf_counter()
    with closing(sqlite3.connect(folder / "catalogue.sqlite")) as database:
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        catalogue.build_catalogue(database, _listed(count), with_text_index=False)
    goods = Catalogue.open(folder / "catalogue.sqlite")
    print(f"{count:,} products, database   {time.perf_counter() - began:8.1f} s    including generating the products")
    began = time.perf_counter()
    (folder / "texts").mkdir()
    catalogue.build_tantivy_index(folder / "texts", goods.index_texts())
    print(f"{count:,} products, index      {time.perf_counter() - began:8.1f} s")
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    began = time.perf_counter()
    shop = ShopData(Catalogue.open(folder / "catalogue.sqlite"), catalogue.TantivyIndex(folder / "texts"))
    env = WebShop(shop)
    env.reset(env.tasks("test")[0])
    print(f"{count:,} products, opened     {(time.perf_counter() - began) * 1e3:8.1f} ms   {size / 1e9:.2f} GB on disk")
    _measure(shop, f"{count:,} products, tantivy", LIMIT_FULL)


def _listed(count: int) -> Iterator[CatalogueEntry]:
    words = Words(200_000, "full")
    for n in range(count):
        drawn = words.some(48)
        product = Product(
            asin=f"B{n:09}",
            title=" ".join(drawn[:14]),
            description=" ".join(drawn[14:32]),
            bullets=(" ".join(drawn[32:44]),),
            prices=(n % 90 + 5.99,),
            category="garden",
            query=drawn[44],
            options={"size": tuple(drawn[44:47])},
            attributes=(drawn[47],),
        )
        yield CatalogueEntry(product, (ShoppingInstruction("a thing", ("x",)),) if n % 100 == 0 else ())


# ------------------------------------------------------------------ queries


def _measure(shop: ShopData, what: str, limit: float) -> None:
    """Measure wall and processor time of searches, each with its page of results."""
    draw = random.Random("queries")
    env = WebShop(shop, WebShopSettings(actions=10 * QUERIES))
    env.reset(env.tasks("test")[0])
    wall, cpu = [], []
    for _ in range(QUERIES):
        title = shop.catalogue.product(draw.randint(1, shop.catalogue.size)).title.split()
        query = " ".join(draw.sample(title, min(len(title), draw.randint(3, 8))))
        started, spent = time.perf_counter(), time.process_time()
        env.step(f"search[{query}]")
        wall.append((time.perf_counter() - started) * 1e3)
        cpu.append((time.process_time() - spent) * 1e3)
    p50, p95 = statistics.median(wall), sorted(wall)[int(len(wall) * 0.95)]
    print(
        f"{what}: query and page {p50:.2f} ms median ({p50 / limit:.2f} of the limit of {limit:g} ms), {p95:.2f} ms at "
        f"the 95th of 100; {statistics.median(cpu):.2f} ms of processor"
    )


if __name__ == "__main__":
    main()
