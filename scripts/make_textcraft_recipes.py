"""Generates TextCraft's recipes, ``envs/textcraft/recipes.txt``, from the npm package ``minecraft-data`` (MIT).

    python scripts/make_textcraft_recipes.py                    # gets the package from npm
    python scripts/make_textcraft_recipes.py FILE.tgz --check   # uses a file of it; checks that the table is the same

The package lists the inputs and outputs of recipes for Minecraft 1.16.5, by item numbers. TextCraft also depends on
facts that only the game's own recipe files (``data/minecraft/recipes/*.json``) contain: a recipe's group; item tags
(the package lists one recipe for each item of a tag); the order of recipes, by file name; and the order of inputs, by
the pattern's key. This script states these facts as rules.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "minecraft-data@3.117.0"
VERSION = "1.16.5"
DATA = "package/minecraft-data/data"
TABLE = Path(__file__).parent.parent / "envs" / "textcraft" / "recipes.txt"

# ------------------------------------------------------------------ facts that the package lacks

WOODS = ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak", "crimson", "warped")
WOODEN = ("button", "door", "fence", "fence_gate", "pressure_plate", "slab", "stairs", "trapdoor")
COLOURS = (
    *("white", "orange", "magenta", "light_blue", "yellow", "lime", "pink", "gray"),
    *("light_gray", "cyan", "purple", "blue", "brown", "green", "red", "black"),
)
LOGS = {w: [f"{w}_log", f"{w}_wood", f"stripped_{w}_log", f"stripped_{w}_wood"] for w in WOODS[:6]}
STEMS = {w: [f"{w}_stem", f"{w}_hyphae", f"stripped_{w}_stem", f"stripped_{w}_hyphae"] for w in WOODS[6:]}
HARD_STONES = ["cobblestone", "blackstone"]

TAGS: tuple[tuple[str, list[str], str], ...] = (
    ("planks", [f"{w}_planks" for w in WOODS], "*"),
    ("wooden_slabs", [f"{w}_slab" for w in WOODS], "*"),
    ("wool", [f"{c}_wool" for c in COLOURS], "*"),
    ("logs", [item for items in (LOGS | STEMS).values() for item in items], "*"),
    *((f"{w}_logs", items, "*") for w, items in LOGS.items()),
    *((f"{w}_stems", items, "*") for w, items in STEMS.items()),
    ("coals", ["coal", "charcoal"], "campfire"),
    ("soul_fire_base_blocks", ["soul_sand", "soul_soil"], "*"),
    ("stone_tool_materials", HARD_STONES, "stone_*"),
    ("stone_crafting_materials", HARD_STONES, "*"),
)
"""Item tags, their items, and the outputs whose recipes use them. Applied in this order."""

CHOICES = (
    *("torch", "soul_torch", "fire_charge", "tnt", "sandstone_slab", "sandstone_stairs", "red_sandstone_slab"),
    *("red_sandstone_stairs", "quartz_slab", "quartz_stairs", "purpur_slab", "purpur_stairs"),
)
"""Outputs whose recipe lists alternatives for an input without a tag: TextCraft uses only the first."""

GROUPS: tuple[tuple[str, str, str], ...] = (
    ("bark", "*_wood *_hyphae", ""),
    ("boat", "*_boat", ""),
    ("banner", "*_banner", ""),
    ("bonemeal", "bone_meal", ""),
    ("carpet", "*_carpet", ""),
    ("concrete_powder", "*_concrete_powder", ""),
    ("dyed_bed", "*_bed", "white_bed"),
    ("bed", "*_bed", ""),
    ("netherite_ingot", "netherite_ingot", ""),
    ("planks", "*_planks", ""),
    ("rabbit_stew", "rabbit_stew", ""),
    ("sign", "*_sign", ""),
    ("stained_glass", "*_stained_glass", ""),
    ("stained_glass_pane", "*_stained_glass_pane", ""),
    ("stained_terracotta", "*_terracotta", ""),
    ("sticks", "stick", ""),
    ("sugar", "sugar", ""),
    *((f"wooden_{thing}", " ".join(f"{w}_{thing}" for w in WOODS), "") for thing in WOODEN),
    ("wool", "*_wool", "white_wool"),
    *((f"{c}_dye", f"{c}_dye", "") for c in COLOURS if c not in ("cyan", "gray", "green", "lime", "purple")),
)
"""The field ``group`` of the game's files: its value, the outputs that have it, and an input they must have."""

FIRST = (
    ("stick", "*_sword *_shovel *_pickaxe *_axe *_hoe *_fence torch redstone_torch rail"),
    ("stick flint", "arrow"),
    ("planks", "smithing_table fletching_table cartography_table loom"),
    ("planks stick", "tripwire_hook"),
    ("redstone", "dropper"),
    ("redstone cobblestone", "dispenser"),
    ("redstone cobblestone planks", "piston"),
    ("redstone stick", "powered_rail"),
    ("redstone stone_pressure_plate", "detector_rail"),
    ("redstone_torch stick", "activator_rail"),
    ("quartz", "diorite daylight_detector"),
    ("quartz redstone", "observer"),
    ("chest", "hopper shulker_box"),
    ("torch", "lantern"),
    ("soul_torch", "soul_lantern"),
    ("logs stick", "campfire soul_campfire"),
    ("milk_bucket sugar wheat", "cake"),
    ("string", "scaffolding crossbow"),
    ("book obsidian", "enchanting_table"),
    ("ghast_tear ender_eye", "end_crystal"),
    ("nether_star", "beacon"),
    ("smooth_stone furnace", "blast_furnace"),
    ("sand", "tnt"),
    ("hay_block", "target"),
    ("piston", "sticky_piston"),
    ("nether_wart", "red_nether_bricks"),
    ("cobblestone", "lever"),
    ("popped_chorus_fruit", "end_rod"),
    ("iron_ingot", "chain"),
)
"""Inputs that the game's files name first, and in which outputs' recipes. Others follow the pattern's order."""

OWN_FILE = (
    ("carpet", "_wool"),
    ("stained_glass_pane", "_stained_glass"),
    ("bed", "planks"),
    ("stick", "planks"),
    ("blue_dye", "lapis_lazuli"),
    ("black_dye", "ink_sac"),
    ("white_dye", "bone_meal"),
)
"""Outputs with several recipes, and an input of the recipe whose file has the output's own name."""

FILE_NAMES = {"red_tulip": "tulip"}
"""Inputs with a different name in the other recipes' files, ``X_from_INPUTS``."""

TWICE = ("sugar",)
"""Outputs whose last file repeats the first file's recipe without its group."""

# ------------------------------------------------------------------ the package's recipes


class RecipeRow(NamedTuple):
    """``inputs`` are names and counts in order; a name with ``#`` in front is a tag."""

    output: str
    makes: int
    inputs: tuple[tuple[str, int], ...]
    group: str = ""

    def __str__(self) -> str:
        group = f"@{self.group}" if self.group else ""
        return f"{self.output}*{self.makes}{group}={','.join(f'{n} {name}' for name, n in self.inputs)}"


def read_recipes(package: Path) -> list[RecipeRow]:
    """Read all recipes of the package, with item names instead of numbers."""
    with tarfile.open(package) as tar:
        paths = _load(tar, "dataPaths")["pc"][VERSION]
        names = {item["id"]: item["name"] for item in _load(tar, f"{paths['items']}/items")}
        listed = _load(tar, f"{paths['recipes']}/recipes")
    return [_recipe(r, names) for recipes in listed.values() for r in recipes]


def _load(tar: tarfile.TarFile, name: str) -> Any:
    try:
        file = tar.extractfile(f"{DATA}/{name}.json")
    except KeyError:
        file = None
    return json.load(file) if file else sys.exit(f"the package has no {DATA}/{name}.json; give {PACKAGE}")


def _recipe(data: dict[str, Any], names: dict[int, str]) -> RecipeRow:
    rows = data.get("inShape") or [data["ingredients"]]
    inputs = Counter(names[cell] for row in rows for cell in row if cell is not None)
    return RecipeRow(names[data["result"]["id"]], data["result"]["count"], tuple(inputs.items()))


# ------------------------------------------------------------------ TextCraft's recipes


def build_table(recipes: Iterable[RecipeRow]) -> list[RecipeRow]:
    """TextCraft's recipes in its own order."""
    by_output: dict[str, list[RecipeRow]] = {}
    for recipe in recipes:
        by_output.setdefault(recipe.output, []).append(recipe)
    listed = [r for output in sorted(by_output, reverse=True) for r in _order_files(by_output[output])]
    return _replace_unused_tags(_drop_cycles([r for r in listed if not _has_only_block_input(r)]))


def _order_files(recipes: list[RecipeRow]) -> list[RecipeRow]:
    """One output's recipes as in the game's files, in reverse order of the file names."""
    output = recipes[0].output
    for tag, items, outputs in TAGS:
        if fnmatchcase(output, outputs):
            recipes = _merge_by_tag(recipes, tag, items)
    recipes = recipes[:1] if output in CHOICES else recipes
    files = [_sort_inputs(_set_group(r)) for r in sorted(recipes, key=_file_name, reverse=True)]
    return files + [r._replace(group="") for r in files[:1] if output in TWICE]


def _merge_by_tag(recipes: list[RecipeRow], tag: str, items: list[str]) -> list[RecipeRow]:
    """Merge the recipes that differ only in the items of a tag."""
    made = [r._replace(inputs=tuple((f"#{tag}" if n in items else n, k) for n, k in r.inputs)) for r in recipes]
    keys = [(r.makes, frozenset(r.inputs)) for r in made]
    whole = {key for key, times in Counter(keys).items() if times == len(items)}
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    merged = (made[i] if keys[i] in whole else recipe for i, recipe in enumerate(recipes))
    return [recipe for i, recipe in enumerate(merged) if keys[i] not in whole or first[keys[i]] == i]


def _file_name(recipe: RecipeRow) -> str:
    """The part of the file's name after the output's name; empty for the file with just that name."""
    names = [name.lstrip("#") for name, _ in recipe.inputs]
    for output, own in OWN_FILE:
        if recipe.output.endswith(output) and any(name.endswith(own) for name in names):
            return ""
    return "_".join(FILE_NAMES.get(name, name).removesuffix("_dye") for name in names)


def _set_group(recipe: RecipeRow) -> RecipeRow:
    names = {name for name, _ in recipe.inputs}
    for group, outputs, needed in GROUPS:
        if any(fnmatchcase(recipe.output, o) for o in outputs.split()) and (not needed or needed in names):
            return recipe._replace(group=group)
    return recipe


def _sort_inputs(recipe: RecipeRow) -> RecipeRow:
    for names, outputs in FIRST:
        if any(fnmatchcase(recipe.output, o) for o in outputs.split()):
            first = names.split()
            ahead = {name: place for place, name in enumerate(first)}
            ordered = sorted(recipe.inputs, key=lambda each: ahead.get(each[0].lstrip("#"), len(ahead)))
            return recipe._replace(inputs=tuple(ordered))
    return recipe


def _has_only_block_input(recipe: RecipeRow) -> bool:
    """Whether the only input is a block. TextCraft drops such recipes, so their outputs can be found."""
    return len(recipe.inputs) == 1 and recipe.inputs[0][0].endswith("_block")


def _drop_cycles(recipes: list[RecipeRow]) -> list[RecipeRow]:
    """Drop each recipe whose output the recipes before it need for one of its inputs."""
    kept: list[RecipeRow] = []
    needs: dict[str, set[str]] = {}
    for recipe in recipes:
        names = {name for name, _ in recipe.inputs}
        if not any(recipe.output in _find_all_needed(name, needs) for name in names):
            kept.append(recipe)
            needs.setdefault(recipe.output, set()).update(names)
    return kept


def _find_all_needed(name: str, needs: dict[str, set[str]]) -> set[str]:
    found, left = set[str](), [name]
    while left:
        for each in needs.get(left.pop(), set()) - found:
            found.add(each)
            left.append(each)
    return found


def _replace_unused_tags(recipes: list[RecipeRow]) -> list[RecipeRow]:
    """Turn each tag that is not a recipe group into an item of that name."""
    groups = {r.group for r in recipes}

    def plain(name: str) -> str:
        return name.lstrip("#") if name.lstrip("#") not in groups else name

    return [r._replace(inputs=tuple((plain(name), n) for name, n in r.inputs)) for r in recipes]


# ------------------------------------------------------------------ the command


def main(arguments: list[str] | None = None) -> int:
    """Write the table, or with ``--check`` compare it. Returns 0 on success."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", nargs="?", type=Path, help=f"the file that `npm pack {PACKAGE}` makes")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the table differs")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(f"{r}\n" for r in build_table(read_recipes(given.package or _download(Path(folder)))))
    if given.check:
        same = TABLE.read_text() == text
        print(f"{TABLE} is {'up to date' if same else 'out of date'}")
        return 0 if same else 1
    TABLE.write_text(text)
    print(f"{TABLE}: {text.count(chr(10))} recipes, {len(text.encode()):,} bytes")
    return 0


def _download(folder: Path) -> Path:
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.tgz"))


if __name__ == "__main__":
    sys.exit(main())
