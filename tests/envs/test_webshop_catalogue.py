"""WebShop's files, the database built from them, and searching it."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.webshop_goods import BOTTLE, MUG, listed, record, shop, write_files

from codeplan.envs.webshop import loading
from codeplan.envs.webshop.catalogue import Catalogue, find_products, query_words
from codeplan.envs.webshop.environment import make
from codeplan.envs.webshop.loading import load_embedded_shop, open_shop
from codeplan.errors import EnvironmentFailure, UsageError

# ------------------------------------------------------------------ streaming JSON

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.lists(JSON, max_size=6), st.sampled_from([None, 1]), st.integers(1, 40))
def test_a_list_is_read_like_json_with_any_chunk_size(values, indent, piece):
    assert list(read(loading.read_list, json.dumps(values, indent=indent), piece)) == values


@given(st.dictionaries(st.text(), JSON, max_size=6), st.sampled_from([None, 1]), st.integers(1, 40))
def test_an_object_is_read_like_json_with_any_chunk_size(values, indent, piece):
    assert dict(read(loading.read_object, json.dumps(values, indent=indent), piece)) == values


def read(reading, text, piece):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.json"
        file.write_text(text)
        yield from reading(file, piece)


@pytest.mark.parametrize(
    "text", ["", "{}", "[1", "[1,", "[1,]", "[1 2]", "[,]", "[nul]", '["x', "[" * 100_000, "[1e]", "7", '[{"a":}]']
)
def test_a_malformed_list_is_reported_with_its_position(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UsageError, match=r"x\.json is not a valid WebShop file: .* at character \d+") as refused:
        list(loading.read_list(tmp_path / "x.json"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["[]", '{"a"}', '{"a": 1,}', '{"a" 1}', '{"a": 1 "b": 2}'])
def test_a_malformed_object_is_reported_with_its_position(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UsageError, match=r"at character \d+"):
        list(loading.read_object(tmp_path / "x.json"))


def test_unpaired_surrogates_become_question_marks(tmp_path):
    texts = {"name": "Mug \ud83d", "half \ude00": ["\udc00\ud83d"], "whole": "\U0001f600 \\ud800"}
    (tmp_path / "x.json").write_text(json.dumps([texts, texts["whole"]]))
    whole = {"name": "Mug ?", "half ?": ["??"], "whole": texts["whole"]}
    assert list(loading.read_list(tmp_path / "x.json")) == [whole, texts["whole"]]


def test_a_file_with_invalid_utf_8_is_reported(tmp_path):
    (tmp_path / "x.json").write_bytes(b'["\xff\xfe"]')
    with pytest.raises(UsageError, match="invalid UTF-8"):
        list(loading.read_list(tmp_path / "x.json"))


def test_a_missing_folder_or_file_is_reported(tmp_path):
    with pytest.raises(UsageError, match="there is no folder"):
        make(data=str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"lacks items_shuffle\.json or items_shuffle_1000\.json"):
        make(data=str(tmp_path))


def test_the_small_files_are_used_for_few_products_or_without_others(tmp_path):
    data = write_files(tmp_path / "data", [record("B0SMALL")], suffix="_1000")
    assert open_shop(data).catalogue.product(1).asin == "B0SMALL"
    write_files(tmp_path / "data", [record("B0FULL")])
    assert open_shop(data).catalogue.product(1).asin == "B0FULL"
    assert open_shop(data, products=1000).catalogue.product(1).asin == "B0SMALL"


# ------------------------------------------------------------------ the database


def test_records_that_are_invalid_or_repeated_are_ignored(tmp_path):
    records = [record("B01", "One"), record("nan"), record("B" * 11), record("B01", "Again"), "x", record("B02", "Two")]
    goods = open_shop(write_files(tmp_path / "data", records)).catalogue
    assert (goods.size, goods.product(1).title, goods.product(2).title) == (2, "One", "Two")
    assert [goods.number_of(asin) for asin in ("B01", "B02", "nan")] == [1, 2, None]


def test_products_limits_how_many_are_read(tmp_path):
    data = write_files(tmp_path / "data", [record(f"B0{n}") for n in range(5)])
    assert (open_shop(data, products=2).catalogue.size, open_shop(data).catalogue.size) == (2, 5)


ASKED = {"instruction": "a thing.", "instruction_attributes": ["blue"], "instruction_options": ["big"]}


@pytest.mark.parametrize(
    "odd",
    [None, "x", {}, {"instruction": 5}, {**ASKED, "instruction_attributes": []}, {**ASKED, "instruction_options": 7}],
)
def test_instructions_without_attributes_are_skipped(tmp_path, odd):
    data = write_files(
        tmp_path / "data", [record("B01")], {"B01": odd}, {"B01": [odd, ASKED], "B02": [ASKED], "B03": odd}
    )
    goods = open_shop(data).catalogue
    assert goods.count_goal_templates("human") == 1
    template = goods.goal_template("human", 0)
    assert (template.instruction, template.attributes, template.options) == ("a thing", ("blue",), ("big",))


def test_surrogates_and_huge_numbers_are_accepted(tmp_path):
    half, known = "b\ud83d", {"attributes": ["\udc00", 10**30]}
    data = write_files(tmp_path / "data", [record(half, half, query=half)], {half: known}, {half: [ASKED]})
    goods = open_shop(data).catalogue
    assert (goods.product(1).title, goods.product(1).attributes) == ("b?", ("?", str(10**30)))
    assert goods.count_goal_templates("human") == 1


def test_synthetic_goals_are_counted_across_products(tmp_path):
    options = {"size": [{"value": "S"}, {"value": "M"}]}
    more = {"customization_options": options}
    records = [record("B01", **more), record("B02"), record("B03", **more)]
    facts = {asin: {"attributes": ["a"], **ASKED} for asin in ("B01", "B02", "B03")}
    goods = open_shop(write_files(tmp_path / "data", records, facts)).catalogue
    assert goods.count_goal_templates("synthetic") == 5
    wanted = [(1, ("s",)), (1, ("m",)), (2, ()), (3, ("s",)), (3, ("m",))]
    assert [(w.product, w.options) for w in (goods.goal_template("synthetic", n) for n in range(5))] == wanted


def test_the_database_is_reused_and_rebuilt_when_a_file_changes(tmp_path):
    data = write_files(tmp_path / "data", [record("B01", "Old")])
    index = tmp_path / "elsewhere"
    assert open_shop(data, str(index)).catalogue.product(1).title == "Old"
    made = {f.name: f.stat().st_mtime_ns for f in index.glob("webshop-*/*")}
    make(data=data, index=str(index))
    assert {f.name: f.stat().st_mtime_ns for f in index.glob("webshop-*/*")} == made
    assert sorted(os.listdir(data)) == ["items_human_ins.json", "items_ins_v2.json", "items_shuffle.json"]
    write_files(tmp_path / "data", [record("B01", "Much Newer")])
    assert open_shop(data, str(index)).catalogue.product(1).title == "Much Newer"


def test_concurrent_processes_build_the_database_once(tmp_path):
    data = write_files(tmp_path / "data", [record(f"B{n:09}", f"Thing {n}") for n in range(300)])
    code = f"from codeplan.envs.webshop.loading import open_shop; print(open_shop({data!r}).catalogue.size)"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [each.communicate(timeout=60)[0].strip() for each in running] == ["300"] * 3
    assert len(list((tmp_path / "data" / "codeplan-index").glob("webshop-*"))) == 1


def test_a_broken_file_leaves_nothing_behind(tmp_path):
    data = write_files(tmp_path / "data", [record("B01")])
    (tmp_path / "data" / "items_shuffle.json").write_text('[{"asin": "B01", "name": "x"}, {')
    with pytest.raises(UsageError, match="invalid JSON"):
        make(data=data)
    assert list((tmp_path / "data" / "codeplan-index").glob("webshop-*")) == []


def test_an_unwritable_folder_is_reported_with_the_setting_that_helps(tmp_path):
    data = write_files(tmp_path / "data", [record("B01")])
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written.*name a folder by index"):
        make(data=data, index=str(tmp_path / "file" / "below"))


def test_a_damaged_database_is_reported_in_one_sentence(tmp_path):
    (tmp_path / "catalogue.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(EnvironmentFailure, match="cannot be read"):
        Catalogue.open(tmp_path / "catalogue.sqlite")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE products SET product = x'81a47469746c65c0'",
        "UPDATE products SET product = 7",
        "DELETE FROM human WHERE number = 1",
        "UPDATE human SET instruction = x''",
        "DROP TABLE human",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'x'",
    ],
)
def test_a_catalogue_damaged_later_is_reported_with_advice(tmp_path, damage):
    data = write_files(tmp_path / "data", [record("B01"), record("B02")], asked={"B01": [ASKED], "B02": [ASKED]})
    make(data=data)
    made = next(Path(data).rglob("catalogue.sqlite"))
    database = sqlite3.connect(made)
    database.executescript(damage)
    database.close()
    with pytest.raises(EnvironmentFailure, match=f"{made.parent} cannot be read .*; delete it to rebuild it"):
        read_all_of(made)


def read_all_of(made):
    goods = Catalogue.open(made)
    for number in range(2):
        goods.goal_template("human", number)
        goods.product(number + 1)


def test_many_threads_read_one_catalogue():
    goods = load_embedded_shop()

    def read_all(_):
        return [goods.catalogue.product(id).asin and goods.text_index.find_best(["black"], 5) for id in range(1, 301)]

    with ThreadPoolExecutor(4) as pool:
        assert all(map(all, pool.map(read_all, range(4))))


# ------------------------------------------------------------------ searching

SHOP = shop(listed(), listed(BOTTLE))


def found(query, goods=SHOP, draw=""):
    return [goods.catalogue.product(id).asin for id in find_products(goods.catalogue, goods.text_index, query, draw)]


@pytest.mark.parametrize(
    ("query", "asins"),
    [
        ("mug", [MUG.asin]),
        ("MUGS", [MUG.asin]),
        ("oakhurst or fennway", [BOTTLE.asin, MUG.asin]),
        ("safe glass bottle water", [BOTTLE.asin, MUG.asin]),
        ("navy #12", [MUG.asin]),
        ("sock", []),
        ("the and of", []),
        ("#/*\"'()", []),
        ('" OR "*', []),
        ("text:mug NEAR(mug)", [MUG.asin]),
        ("<q> mugs", [MUG.asin]),
        ("<q> mug", []),
        ("<c> garden", [MUG.asin, BOTTLE.asin]),
        ("<a> leak proof", [BOTTLE.asin]),
        ("<a>", []),
    ],
)
def test_a_search_finds(query, asins):
    assert found(query) == asins


def test_a_search_finds_at_most_fifty_and_a_category_everything():
    goods = load_embedded_shop()
    assert len(found("water bottle shampoo tea", goods)) == 50
    assert len(found("<c> fashion", goods)) == 75


def test_random_products_depend_on_the_seed():
    goods = load_embedded_shop()
    drawn = found("<r>", goods, "a")
    assert drawn == found("<r> whatever", goods, "a") != found("<r>", goods, "b")
    assert len(set(drawn)) == 50
    assert sorted(found("<r>")) == sorted([MUG.asin, BOTTLE.asin])


@given(st.text())
def test_any_text_is_a_valid_query(query):
    assert len(found(query)) <= 2
    assert len(query_words(query)) == len(set(query_words(query)))


def test_tantivy_finds_products_by_words(tmp_path):
    pytest.importorskip("tantivy")
    records = [
        record(f"B{n:09}", f"Thing {n} with a {word}") for n, word in enumerate(["mug", "mug", "bottle", "lamp"])
    ]
    goods = open_shop(write_files(tmp_path / "data", records), engine="tantivy")
    assert found("mugs", goods) == ["B000000000", "B000000001"]
    assert found("a lamp or a bottle", goods) in (["B000000002", "B000000003"], ["B000000003", "B000000002"])
    assert found('AND NOT ) " title:x', goods) == []
    again = make(data=str(tmp_path / "data"), search="tantivy")
    assert again.shop is goods


def test_any_text_is_a_valid_query_for_tantivy(tmp_path):
    pytest.importorskip("tantivy")
    goods = open_shop(write_files(tmp_path / "data", [record("B01", "Thing a_b ² e\u0301é")]), engine="tantivy")

    @given(st.text(min_size=1))
    def search(query):
        assert len(found(query, goods)) <= 1

    search()
    assert found("a_b", goods) == ["B01"]


def test_search_engines_do_not_share_files(tmp_path):
    pytest.importorskip("tantivy")
    data = write_files(tmp_path / "data", [record("B01", "Blue Thing")])
    for engine in ("fts5", "tantivy"):
        assert found("thing", open_shop(data, engine=engine)) == ["B01"]
    with pytest.raises(EnvironmentFailure, match="texts"):
        open_shop(data, engine="tantivy").catalogue.match_text("thing", 5)
