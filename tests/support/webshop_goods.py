"""Small shops for tests: hand-written products, and files in WebShop's form."""

import json
import sqlite3
from pathlib import Path

from codeplan.envs.webshop.catalogue import Catalogue, CatalogueEntry, ShoppingInstruction, SqliteIndex, build_catalogue
from codeplan.envs.webshop.goals import Product
from codeplan.envs.webshop.loading import ShopData

SHARED = Path(__file__).parents[2] / ".." / "shared" / "fixtures"

MUG = Product(
    asin="B0MUG00001",
    title="Oakhurst Stoneware Mug, Dishwasher Safe",
    description="A mug for tea.",
    bullets=("Dishwasher safe", "Holds 12 ounces"),
    prices=(14.5,),
    category="garden",
    query="mugs",
    product_category="Home & Kitchen › Kitchen & Dining › Mugs",
    options={"color": ("navy blue #12", "black | white", "red"), "size": ("small", "large")},
    attributes=("dishwasher safe", "bpa free"),
)
BOTTLE = Product(
    asin="B0BOTTLE01",
    title="Fennway Glass Bottle",
    description="Carries water.",
    bullets=("Leak proof",),
    prices=(10.0, 20.0),
    category="garden",
    query="bottles",
    product_category="Sports › Bottles",
    attributes=("leak proof",),
)


def listed(product=MUG, text="i need a mug", attributes=("dishwasher safe",), options=()):
    return CatalogueEntry(product, (ShoppingInstruction(text, tuple(attributes), tuple(options)),))


def shop(*goods):
    """A shop with these entries, in memory."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    build_catalogue(database, goods)
    catalogue = Catalogue(database)
    return ShopData(catalogue, SqliteIndex(catalogue))


def record(asin, name="A Thing", **more):
    """A record of items_shuffle.json."""
    empty = {"small_description": [], "pricing": "", "customization_options": "", "full_description": ""}
    filed = {"category": "garden", "query": "Things ", "product_category": "Home › Things", "images": [""]}
    return {"asin": asin, "name": name, **empty, **filed, **more}


def write_files(folder, records, attributes=None, asked=None, suffix=""):
    """WebShop's three files in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / f"items_shuffle{suffix}.json").write_text(json.dumps(records))
    (folder / f"items_ins_v2{suffix}.json").write_text(json.dumps(attributes or {}))
    (folder / "items_human_ins.json").write_text(json.dumps(asked or {}))
    return str(folder)
