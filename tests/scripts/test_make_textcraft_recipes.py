"""The script that makes TextCraft's table of recipes."""

import importlib.util
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("script", ROOT / "scripts" / "make_textcraft_recipes.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


def package(folder, recipes):
    """A file like the package's, with the recipes ``(output, count, rows or list of inputs)``."""
    names = sorted({n for output, _, _ in recipes for n in [output]} | {n for *_, i in recipes for n in flat(i)})
    number = {name: i for i, name in enumerate(names)}
    listed: dict[str, list] = {}
    for output, count, inputs in recipes:
        shaped = isinstance(inputs[0], list)
        coded = [[number[n] for n in row] for row in inputs] if shaped else [number[n] for n in inputs]
        recipe = {"inShape" if shaped else "ingredients": coded, "result": {"id": number[output], "count": count}}
        listed.setdefault(str(number[output]), []).append(recipe)
    contents = {
        "dataPaths": {"pc": {"1.16.5": {"items": "pc/x", "recipes": "pc/x"}}},
        "pc/x/items": [{"id": i, "name": n} for n, i in number.items()],
        "pc/x/recipes": listed,
    }
    with tarfile.open(folder / "package.tgz", "w:gz") as tar:
        for name, value in contents.items():
            data = json.dumps(value).encode()
            info = tarfile.TarInfo(f"{script.DATA}/{name}.json")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return folder / "package.tgz"


def flat(inputs):
    return [n for row in inputs for n in (row if isinstance(row, list) else [row])]


def made(folder, *recipes):
    return [str(r) for r in script.build_table(script.read_recipes(package(folder, recipes)))]


def test_counts_follow_the_pattern_and_names_are_in_reverse_order(tmp_path):
    lever = ("lever", 1, [["stick"], ["cobblestone"]])
    assert made(tmp_path, ("bow", 1, [["string", "stick"], ["stick", "string"]]), lever) == [
        "lever*1=1 cobblestone,1 stick",
        "bow*1=2 string,2 stick",
    ]


def test_recipes_that_differ_only_in_a_tag_s_items_are_merged(tmp_path):
    sticks = [("stick", 4, [[f"{wood}_planks"], [f"{wood}_planks"]]) for wood in script.WOODS]
    planks = [("oak_planks", 4, [log]) for log in script.LOGS["oak"]]
    assert made(tmp_path, *sticks, *planks) == ["stick*4@sticks=2 #planks", "oak_planks*4@planks=1 oak_logs"]


def test_a_single_item_of_a_tag_stays_an_item(tmp_path):
    assert made(tmp_path, ("oak_button", 1, ["oak_planks"])) == ["oak_button*1@wooden_button=1 oak_planks"]


def test_only_the_first_alternative_counts_and_blocks_and_cycles_are_dropped(tmp_path):
    assert made(
        tmp_path,
        ("torch", 4, [["coal"], ["stick"]]),
        ("torch", 4, [["charcoal"], ["stick"]]),
        ("coal", 9, ["coal_block"]),
        ("iron_nugget", 9, ["iron_ingot"]),
        ("iron_ingot", 1, [["iron_nugget"] * 3] * 3),
    ) == ["torch*4=1 stick,1 coal", "iron_nugget*9=1 iron_ingot"]


def test_the_whole_table_is_up_to_date(capsys):
    file = os.environ.get("CODEPLAN_MINECRAFT_DATA")
    if not file:
        pytest.skip(f"set CODEPLAN_MINECRAFT_DATA to the file that `npm pack {script.PACKAGE}` makes")
    assert script.main([file, "--check"]) == 0
    from codeplan.envs.textcraft.environment import UNCRAFTABLE_ITEMS, recipe_book

    outputs = {r.output for r in script.read_recipes(Path(file))}
    assert outputs - set(recipe_book().recipes_by_output) == set(UNCRAFTABLE_ITEMS)


def test_a_wrong_package_is_reported_in_one_sentence(tmp_path):
    with tarfile.open(tmp_path / "other.tgz", "w:gz"):
        pass
    with pytest.raises(SystemExit, match=r"the package has no .*give minecraft-data@"):
        script.read_recipes(tmp_path / "other.tgz")
