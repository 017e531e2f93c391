"""The reward and its parts: goals, prices, similar words, nouns."""

import re
from itertools import product as pairs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.webshop_goods import BOTTLE, MUG, record

from codeplan.envs.webshop.goals import (
    COLOURS,
    NO_ATTRIBUTES,
    NO_CAP,
    GoalTemplate,
    WebShopGoal,
    colour_or_text,
    count_attributes_met,
    count_option_combinations,
    count_options_met,
    draw_price_cap,
    find_nouns_by_rules,
    goal_order,
    is_on_sale,
    make_goal,
    make_noun_finder,
    noun_overlap,
    parse_prices,
    parse_product,
    purchase_reward,
    sample_price,
    split_ranges,
    synthetic_goal_template,
    token_set_ratio,
    trim_instruction,
    type_factor,
)
from codeplan.errors import UsageError

# ------------------------------------------------------------------ products


@pytest.mark.parametrize(
    ("text", "prices", "tag"),
    [
        ("$10.99", (10.99,), "$10.99"),
        ("$15.00$22.50", (15.0, 22.5), "$15.0 to $22.5"),
        ("$1,299.00", (1299.0,), "$1299.0"),
        ("$1.00$2.00$3.00", (1.0, 2.0), "$1.0 to $2.0"),
        ("", (100.0,), "$100.0"),
        ("ask us", (100.0,), "$100.0"),
        ("$$5", (5.0,), "$5.0"),
    ],
)
def test_prices_are_the_amounts_after_dollar_signs(text, prices, tag):
    assert parse_prices(text) == prices
    assert parse_product(record("B1", pricing=text), None).price_tag == tag


def test_a_record_becomes_a_product():
    options = {"Color": [{"value": " Navy/White ", "image": None}, {"value": "RED"}], "Size": None}
    made = parse_product(
        record("B1", "Tall Lamp", small_description="one text", customization_options=options, query=" Lamps "), ["led"]
    )
    assert made.options == {"color": ("navy | white", "red")}
    assert (made.bullets, made.query, made.attributes) == (("one text",), "lamps", ("led",))
    assert made.index_text == "tall lamp  one text color: navy | white, red"


@pytest.mark.parametrize("empty", ["", None, [], 5, {"Size": "x"}, {"Size": ["x"]}])
def test_malformed_options_count_as_empty(empty):
    made = parse_product(record("B1", customization_options=empty), None)
    assert not any(made.options.values())
    assert made.attributes == NO_ATTRIBUTES


@pytest.mark.parametrize(
    ("asin", "name"), [("nan", "x"), ("B" * 11, "x"), ("", "x"), (None, "x"), ("B1", ""), ("B1", None)]
)
def test_a_record_without_a_name_or_a_valid_asin_is_ignored(asin, name):
    assert not is_on_sale(record(asin, name))
    assert is_on_sale(record("B123456789", "x"))


# ------------------------------------------------------------------ goals


def test_a_cap_is_the_larger_of_two_of_the_next_four_tens():
    caps = {draw_price_cap(10.99, str(seed)) for seed in range(200)}
    assert caps == {30.0, 40.0, 50.0}
    assert {draw_price_cap(20.0, str(seed)) for seed in range(200)} == {40.0, 50.0, 60.0}
    assert {draw_price_cap(975.0, str(seed)) for seed in range(20)} == {990.0}
    assert draw_price_cap(985.0, "any") == NO_CAP


def test_a_goal_names_its_cap_unless_there_is_none():
    template = GoalTemplate(1, 0, "a mug", ("x",))
    assert re.fullmatch(r"a mug, and price lower than [345]0\.00 dollars", make_goal(template, MUG, 0).instruction)
    assert make_goal(template, replace(MUG, prices=(2000.0,)), 0).instruction == "a mug"


def test_a_price_is_drawn_from_a_range_by_the_seed_and_the_product():
    drawn = [sample_price(BOTTLE, seed) for seed in range(50)]
    assert drawn == [sample_price(BOTTLE, seed) for seed in range(50)]
    assert len(set(drawn)) == 50
    assert all(10 <= price <= 20 for price in drawn)
    assert sample_price(MUG, 7) == 14.5


def test_the_full_stops_around_an_instruction_are_removed():
    assert trim_instruction("..i need it 3.5 in. ") == "i need it 3.5 in. "
    assert trim_instruction("i need it.") == "i need it"


def test_there_is_a_synthetic_goal_for_each_combination_of_options():
    assert count_option_combinations(MUG) == 6
    templates = [synthetic_goal_template(1, MUG, "Find me mugs", ("x",), nth) for nth in range(6)]
    assert {t.options for t in templates} == set(pairs(*MUG.options.values()))
    assert templates[0].instruction == "Find me mugs with color: navy blue #12, and size: small"
    assert synthetic_goal_template(1, BOTTLE, "Find me bottles", ("x",), 0).instruction == "Find me bottles"


def test_goals_have_the_original_s_order_and_splits():
    assert goal_order(10) == [5, 9, 0, 1, 4, 7, 6, 3, 8, 2]
    sizes = {name: len(seeds) for name, seeds in split_ranges(12_087, embedded=False).items()}
    assert sizes == {"test": 500, "dev": 1000, "train": 10_587}
    assert [len(seeds) for seeds in split_ranges(7, embedded=False).values()] == [7, 0, 0]


# ------------------------------------------------------------------ words that are alike

TEXTS = st.lists(
    st.sampled_from(
        ["black", "blue", "12ft", "a", "natural", "3-ounce", "x-large", "XL", "é", "(pack", "of", "2)", "_x", "#"]
    ),
    max_size=5,
).map(" ".join)


@given(TEXTS | st.text("abc -_é白’", max_size=12), TEXTS | st.text("abc -_é白’", max_size=12))
def test_the_ratio_is_that_of_rapidfuzz(one, other):
    rapidfuzz = pytest.importorskip("rapidfuzz")
    cleaned = [re.sub(r"\W", " ", re.sub("[\x80-\xff]", "", text)).lower().strip() for text in (one, other)]
    assert token_set_ratio(one, other) == round(rapidfuzz.fuzz.token_set_ratio(*cleaned))


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("黑色", "黑色", 100),
        ("c-黑色", "c-白色", 75),
        ("men’s", "men s", 100),
        ("6–12 months", "12 6 months", 100),
        ("été", "t", 100),
        ("ß", "ß", 0),
        ("|", "|", 0),
        ("non_stick", "non stick", 89),
        ("ДА", "да", 100),
    ],
)
def test_the_ratio_of_non_latin_texts_is_that_of_thefuzz(one, other, ratio):
    """Computed by thefuzz 0.19.0."""
    assert token_set_ratio(one, other) == ratio


def test_a_text_is_reduced_to_its_first_colour():
    assert colour_or_text("royal blue (matte)") == "blue"
    assert colour_or_text("size 9") == "size 9"
    assert colour_or_text("dark navy") == "dark"
    assert colour_or_text("altered") == "red"
    assert len(COLOURS) == 102


# ------------------------------------------------------------------ nouns


def test_nouns_by_rules_exclude_function_words_adjectives_and_numbers():
    name = "Lands' End Men's Traditional Fit Waterproof Flannel Shirt for the Outdoors, 2-Pack (Navy)"
    assert " ".join(find_nouns_by_rules(name)) == "lands end men's traditional fit flannel shirt outdoors pack"


@pytest.mark.parametrize(
    ("finder", "why"), [("guess", "rules, spacy, or spacy:PIPELINE"), ("spacy:no_such_pipeline", "spaCy")]
)
def test_an_unknown_noun_finder_is_refused_and_a_missing_pipeline_never_downloaded(finder, why):
    with pytest.raises(UsageError, match=why):
        make_noun_finder(finder)


def test_nouns_by_a_spacy_pipeline(tmp_path):
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "mug"}]], {"POS": "NOUN"})
    ruler.add([[{"LOWER": "oakhurst"}]], {"POS": "PROPN"})
    pipeline.to_disk(tmp_path / "tiny")
    assert make_noun_finder(f"spacy:{tmp_path / 'tiny'}")("Oakhurst Blue Mug") == ("oakhurst", "mug")


# ------------------------------------------------------------------ the reward

GOAL = WebShopGoal(
    "a mug",
    ("dishwasher safe", "bpa free"),
    ("black | white", "large"),
    price_upper=20.0,
    name=MUG.title,
    query="mugs",
    product_category=MUG.product_category,
)


def bought(goal=GOAL, product=MUG, price=14.5, chosen=("black | white", "large")):
    return purchase_reward(goal, product, price, chosen, find_nouns_by_rules)


def test_a_purchase_that_meets_everything_has_reward_1():
    assert bought() == 1.0


@pytest.mark.parametrize(
    ("changes", "worth"),
    [
        ({"chosen": ("large",)}, 4 / 5),
        ({"chosen": ()}, 3 / 5),
        ({"price": 20.01}, 4 / 5),
        ({"price": 20.0}, 1),
        ({"product": replace(MUG, attributes=("other",), bullets=(), description="", title="Stoneware Mug")}, 3 / 5),
    ],
)
def test_each_unmet_part_costs_a_share(changes, worth):
    assert bought(**changes) == pytest.approx(worth)


def test_an_attribute_is_met_by_a_similar_one_or_by_the_product_s_text():
    assert (
        count_attributes_met(GOAL, replace(MUG, attributes=("safe for the dishwasher safe", "free of bpa free"))) == 2
    )
    plain = replace(MUG, attributes=(), title="Mug", bullets=("It is BPA", "free"), description="DISHWASHER SAFE")
    assert count_attributes_met(GOAL, plain) == 2


def test_an_option_is_met_by_a_similar_one_and_colours_by_their_first_word():
    assert count_options_met(GOAL, ["jet black", "large"]) == 2
    assert count_options_met(GOAL, ["white", "x-large"]) == 1
    assert count_options_met(GOAL, ["white", "small"]) == 0


@pytest.mark.parametrize(
    ("one", "other", "ratio", "met"), [("a" * 17 + "bbb", "a" * 17 + "ccc", 85, 0), ("aaaaaab", "aaaaaac", 86, 1)]
)
def test_texts_match_above_a_ratio_of_85(one, other, ratio, met):
    goal = replace(GOAL, attributes=(one,), options=(one,))
    assert token_set_ratio(one, other) == ratio
    assert count_options_met(goal, [other]) == met
    assert count_attributes_met(goal, replace(MUG, attributes=(other,))) == met


def test_the_type_is_judged_by_names_query_and_categories():
    """A tenth of the nouns is enough for half, and more than a fifth for all."""
    ten = "Apple Banana Cherry Date Elder Fig Grape Hazel Iris Jasmine"
    goal = replace(GOAL, query="fruit", product_category="Food › Fruit", name=f"{ten} Kiwi Lemon")
    one = replace(MUG, title="Apple", query="other", product_category="Food › Other")
    assert noun_overlap(goal, one, find_nouns_by_rules) == pytest.approx(1 / 12)
    assert type_factor(goal, one, find_nouns_by_rules) == 0.1
    two = replace(one, title="Apple Banana")
    assert type_factor(goal, two, find_nouns_by_rules) == 0.5
    assert type_factor(goal, replace(two, query="fruit"), find_nouns_by_rules) == 1.0
    assert type_factor(goal, replace(two, product_category="Fruit › Food"), find_nouns_by_rules) == 1.0
    for title, factor in (("Apple", 0.5), ("Apple Banana", 0.5), ("Apple Banana Cherry", 1.0)):
        assert type_factor(replace(goal, name=ten), replace(two, title=title), find_nouns_by_rules) == factor
    assert type_factor(goal, replace(two, title="Stapler", query="fruit"), find_nouns_by_rules) == 0.0


def test_a_name_without_nouns_overlaps_by_a_fifth():
    assert noun_overlap(replace(GOAL, name="the 12 blue"), MUG, find_nouns_by_rules) == 0.2
