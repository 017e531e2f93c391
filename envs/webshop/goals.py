"""Products, goals with their price caps, and the reward of a purchase, as in WebShop (Yao et al., 2022)."""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice, product
from math import prod
from typing import Any

from codeplan.errors import UsageError
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

NO_PRICE = 100.0
"""The price, in dollars, of a product whose record has none."""

NO_ATTRIBUTES = ("DUMMY_ATTR",)
"""The attributes of a product without known attributes."""

_MAX_ASIN_LENGTH = 10
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")


class Product(Value, frozen=True):
    """A product.

    ``prices`` are in dollars: one price, or the two ends of a range. ``options`` maps names to values
    (``{"size": ("small", "large")}``), all in lower case. ``attributes``, ``query``, ``category`` and
    ``product_category`` are never shown; the reward uses them.
    """

    asin: str
    title: str
    description: str = ""
    bullets: tuple[str, ...] = ()
    prices: tuple[float, ...] = (NO_PRICE,)
    category: str = ""
    query: str = ""
    product_category: str = ""
    options: dict[str, tuple[str, ...]] = {}
    attributes: tuple[str, ...] = NO_ATTRIBUTES

    @property
    def price_tag(self) -> str:
        """The price as a page shows it: ``$10.99``, or ``$15.0 to $22.5``."""
        return " to ".join(f"${price}" for price in self.prices)

    @property
    def index_text(self) -> str:
        """The searchable text: title, description, the first bullet and the options."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        return " ".join([self.title, self.description, *self.bullets[:1], options]).lower()


def is_on_sale(record: Mapping[str, Any]) -> bool:
    """Whether a record has a name and an ASIN of at most ten characters. Others are ignored."""
    asin = record.get("asin")
    return isinstance(asin, str) and 0 < len(asin) <= _MAX_ASIN_LENGTH and asin != "nan" and bool(record.get("name"))


def parse_product(record: Mapping[str, Any], attributes: Iterable[Any] | None) -> Product:
    """Parse a record of ``items_shuffle.json``.

    ``attributes`` are those in ``items_ins_v2.json``, None if it does not list the product. Fields that are missing or
    of the wrong type count as empty.
    """
    bullets = record.get("small_description")
    known = NO_ATTRIBUTES if attributes is None else tuple(_text(each) for each in attributes)
    return Product(
        asin=_text(record["asin"]),
        title=_text(record.get("name")),
        description=_text(record.get("full_description")),
        bullets=tuple(_text(each) for each in (bullets if isinstance(bullets, list) else [bullets])),
        prices=parse_prices(_text(record.get("pricing"))),
        category=_text(record.get("category")),
        query=_text(record.get("query")).lower().strip(),
        product_category=_text(record.get("product_category")),
        options=_options(record.get("customization_options")),
        attributes=known,
    )


def parse_prices(text: str) -> tuple[float, ...]:
    """The first two dollar amounts of a text (``"$15.00$22.50"``); ``NO_PRICE`` if there are none."""
    found = (_NUMBER.search(re.sub(r"[^\d.]", "", part)) for part in text.split("$")[1:])
    return tuple(float(number[0]) for number in found if number)[:2] or (NO_PRICE,)


def normalise_option(text: str) -> str:
    """An option's value as the shop writes it: lower case, with ``|`` for the slash."""
    return text.strip().replace("/", " | ").lower()


def _options(found: Any) -> dict[str, tuple[str, ...]]:
    """The options of a record. The field, or a single option in it, may be None or empty."""
    if not isinstance(found, dict):
        return {}
    return {name.lower(): _values(listed) for name, listed in found.items() if isinstance(listed, list)}


def _values(listed: list[Any]) -> tuple[str, ...]:
    return tuple(normalise_option(_text(each.get("value"))) for each in listed if isinstance(each, dict))


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


# ------------------------------------------------------------------ goals

NO_CAP = 1_000_000.0
"""The cap of a goal that names none, in dollars; higher than any price."""

SHUFFLE_SEED = 233
"""The seed of WebShop's own order of the goals."""

_CAPS = tuple(10.0 * tens for tens in range(1, 100))


class GoalTemplate(Value, frozen=True):
    """A goal without its price cap.

    ``product`` is the wanted product's number in the catalogue, ``number`` counts the product's templates; ``options``
    are values.
    """

    product: int
    number: int
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()


class WebShopGoal(Value, frozen=True):
    """A complete goal. ``name``, ``query`` and ``product_category`` are those of the wanted product."""

    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()
    price_upper: float = NO_CAP
    name: str = ""
    query: str = ""
    product_category: str = ""


def make_goal(template: GoalTemplate, wanted: Product, price_seed: int) -> WebShopGoal:
    """Build a template's goal, with the price cap that the seed draws."""
    cap = draw_price_cap(sample_price(wanted, price_seed), f"{price_seed} cap {wanted.asin} {template.number}")
    suffix = "" if cap == NO_CAP else f", and price lower than {cap:.2f} dollars"
    return WebShopGoal(
        instruction=template.instruction + suffix,
        attributes=template.attributes,
        options=template.options,
        price_upper=cap,
        name=wanted.title,
        query=wanted.query,
        product_category=wanted.product_category,
    )


def sample_price(wanted: Product, price_seed: int) -> float:
    """A product's price in dollars; from a range, the seed draws one.

    WebShop draws prices and caps before it sets a seed, so they differ between starts. Here they depend only on the
    seed and the product.
    """
    low, high = wanted.prices[0], wanted.prices[-1]
    return low + (high - low) * random.Random(f"{price_seed} price {wanted.asin}").random()


def draw_price_cap(price: float, seed: str) -> float:
    """The larger of two of the next four multiples of ten above a price, up to 990; NO_CAP if fewer than two exist."""
    above = [cap for cap in _CAPS if cap > price][:4]
    if len(above) < 2:
        return NO_CAP
    draw = random.Random(seed).random
    first = above.pop(int(draw() * len(above)))
    return max(first, above[int(draw() * len(above))])


def trim_instruction(text: str) -> str:
    """A person's instruction, in the form in which a goal starts with it."""
    return text.strip(".")


def count_option_combinations(wanted: Product) -> int:
    """The number of ways to choose one value of each option."""
    return prod(map(len, wanted.options.values()))


def synthetic_goal_template(
    number: int, wanted: Product, instruction: str, attributes: tuple[str, ...], nth: int
) -> GoalTemplate:
    """The template of the ``nth`` combination of a product's options, which the instruction names at its end."""
    names = sorted(wanted.options)
    chosen = next(islice(product(*(wanted.options[name] for name in names)), nth, None))
    options = ", and ".join(f"{name}: {value}" for name, value in zip(names, chosen, strict=True))
    return GoalTemplate(number, nth, f"{instruction} with {options}" if options else instruction, attributes, chosen)


def goal_order(count: int) -> Sequence[int]:
    """The goals' numbers in the catalogue, in WebShop's order."""
    numbers = list(range(count))
    random.Random(SHUFFLE_SEED).shuffle(numbers)
    return numbers


def split_ranges(count: int, *, embedded: bool) -> dict[str, range]:
    """The positions of each split's goals: WebShop's own bounds, or smaller ones for the embedded catalogue."""
    test, dev = (200, 300) if embedded else (500, 1500)
    test, dev = min(test, count), min(dev, count)
    return {"test": range(test), "dev": range(test, dev), "train": range(dev, count)}


# ------------------------------------------------------------------ colour words, of which the reward compares one

_IN_ORDER = (
    "alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel "
    "camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry "
    "cream crystal dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey "
    "heather indigo ivory ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight "
    "mint mocha multicolor mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow "
    "red rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal "
    "tiger turquoise violet walnut wheat white wine yellow"
)
COLOURS = tuple(_IN_ORDER.split())
"""WebShop's colour words. If a text contains several, the one listed first here counts."""


def colour_or_text(text: str) -> str:
    """The first colour that occurs anywhere in the text, even inside a word; the text itself if there is none."""
    return next((colour for colour in COLOURS if colour in text), text)


NounFinder = Callable[[str], tuple[str, ...]]
"""Returns the nouns and proper nouns of a product's name, in lower case and in order, duplicates included."""


# ------------------------------------------------------------------ nouns of product names

_WORD = re.compile(r"[^\W\d_](?:[\w]|['’](?=\w)|&(?=\w))*")
_FUNCTION_WORDS = (
    "a an the this that these those of for with without in on at by to from up off over under into onto out than as "
    "per and or nor but if so not no is are was be been being has have had do does can will would may it its you "
    "your our we us my me his her their them who which what when where how all any both each every more most other "
    "some such only own same too very just also plus one two three four five six seven eight nine ten x w vs via"
)
_ADJECTIVES = (
    "new old big small large medium mini tiny huge long short tall high low wide narrow slim thin thick heavy light "
    "lightweight soft hard warm cool cold hot dry wet fresh clean clear dark bright black white red blue green "
    "yellow brown pink purple gray grey beige navy natural organic pure raw real fake faux genuine vegan healthy "
    "sweet sour salty spicy rich deep full empty whole half double single dual multi extra super ultra best better "
    "good great nice cute sexy cozy comfy loose tight casual formal classic modern vintage retro simple plain fancy "
    "elegant luxury premium professional portable compact foldable adjustable removable reusable washable "
    "waterproof durable sturdy flexible elastic breathable stretchy electric electronic digital analog automatic "
    "manual wireless smart fast quick quiet safe easy free compatible suitable perfect ideal unique special "
    "different various assorted round square oval flat curved straight curly wavy open closed sensitive gentle mild "
    "strong daily annual"
)
_NON_NOUNS = frozenset(f"{_FUNCTION_WORDS} {_ADJECTIVES}".split())
_ADJECTIVE_ENDING = re.compile(r".{3,}(?:able|ible|less|ful|ous|ive|ish|est|ly|proof|ical|ed)$")


def make_noun_finder(how: str) -> NounFinder:
    """The finder for ``rules``, ``spacy`` or ``spacy:PIPELINE``. Raises: UsageError for anything else."""
    if how == "rules":
        return find_nouns_by_rules
    tool, _, pipeline = how.partition(":")
    if tool != "spacy":
        raise UsageError(f"WebShop's setting nouns is {in_quotes(how)}; give rules, spacy, or spacy:PIPELINE")
    return make_spacy_noun_finder(pipeline or "en_core_web_lg")


def find_nouns_by_rules(name: str) -> tuple[str, ...]:
    """All words except function words, common adjectives and words with an adjective's ending."""
    words = (word.lower() for word in _WORD.findall(name))
    return tuple(word for word in words if len(word) > 1 and not _is_not_a_noun(word))


def make_spacy_noun_finder(model: str) -> NounFinder:
    """A finder that uses an installed spaCy pipeline, by name (WebShop's is ``en_core_web_lg``) or folder.

    Nothing is downloaded. Raises: UsageError if spaCy or the pipeline is missing.
    """
    tag = _load_pipeline(model)

    @cache
    def nouns(name: str) -> tuple[str, ...]:
        return tuple(token.text.lower() for token in tag(name) if token.pos_ in ("NOUN", "PROPN"))

    return nouns


def _is_not_a_noun(word: str) -> bool:
    return word in _NON_NOUNS or _ADJECTIVE_ENDING.match(word) is not None


@cache
def _load_pipeline(model: str) -> Callable[[str], Any]:
    try:
        pipeline: Callable[[str], Any] = importlib.import_module("spacy").load(model)
    except ImportError:
        raise UsageError("nouns by spaCy need its package: pip install 'codeplan[spacy]'; or leave nouns out") from None
    except OSError:
        raise UsageError(
            f"the spaCy pipeline {in_quotes(model)} is not installed; install it (python -m spacy download "
            "en_core_web_lg gives the one that WebShop uses), name one by nouns='spacy:NAME', or leave nouns out"
        ) from None
    return pipeline


# ------------------------------------------------------------------ similarity of texts

_NON_WORD = re.compile(r"\W")
_DROPPED = dict.fromkeys(range(128, 256))
"""Characters that the measure ignores: Latin-1 beyond ASCII, such as é and °."""


def token_set_ratio(one: str, other: str) -> int:
    """0 to 100: the best match between the common words, alone and with the remaining words of either text.

    The function of that name in thefuzz 0.19, which WebShop uses. Both texts first lose their non-ASCII Latin-1
    characters, are lower-cased, and have everything but letters, digits and underscores (of any script) replaced by
    spaces. The result is 0 if that leaves a text empty.
    """
    words, others = _words(one), _words(other)
    if not words or not others:
        return 0
    common, left, right = words & others, words - others, others - words
    if common and not (left and right):
        return 100
    shared, rest, rests = (" ".join(sorted(each)) for each in (common, left, right))
    space = bool(shared)
    whole, wholes = len(shared) + space + len(rest), len(shared) + space + len(rests)
    best = _similarity(len(rest) + len(rests) - 2 * common_subsequence_length(rest, rests), whole + wholes)
    if shared:
        one_side = _similarity(space + len(rest), len(shared) + whole)
        best = max(best, one_side, _similarity(space + len(rests), len(shared) + wholes))
    return round(best)


def common_subsequence_length(one: str, other: str) -> int:
    """The length of the longest common subsequence of characters.

    The bits of one integer hold all rows of a column (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
    """
    positions: dict[str, int] = {}
    for i, character in enumerate(one):
        positions[character] = positions.get(character, 0) | 1 << i
    full = (1 << len(one)) - 1
    column = full
    for character in other:
        matches = column & positions.get(character, 0)
        column = (column + matches | column - matches) & full
    return len(one) - column.bit_count()


def _words(text: str) -> set[str]:
    return set(_NON_WORD.sub(" ", text.translate(_DROPPED)).lower().split())


def _similarity(distance: int, length: int) -> float:
    return 100 - 100 * distance / length if length else 100.0


# ------------------------------------------------------------------ the reward (Yao et al., 2022, section 3.1)

MATCH_THRESHOLD = 85
"""Two texts match if their ratio is above this."""

_OVERLAP_WITHOUT_NOUNS = 0.2


def purchase_reward(
    goal: WebShopGoal, bought: Product, price: float, chosen: Iterable[str], find_nouns: NounFinder
) -> float:
    """The reward for buying a product at a price (dollars) with the chosen option values."""
    met = count_attributes_met(goal, bought) + count_options_met(goal, chosen) + (price <= goal.price_upper)
    return type_factor(goal, bought, find_nouns) * met / (len(goal.attributes) + len(goal.options) + 1)


def count_attributes_met(goal: WebShopGoal, bought: Product) -> int:
    """The number of the goal's attributes that match the product's, or occur in its texts."""
    texts = [bought.title.lower(), " ".join(bought.bullets).lower(), bought.description.lower()]
    return sum(
        any(token_set_ratio(attribute, wanted) > MATCH_THRESHOLD for attribute in bought.attributes)
        or any(wanted in text for text in texts)
        for wanted in goal.attributes
    )


def count_options_met(goal: WebShopGoal, chosen: Iterable[str]) -> int:
    """The number of the goal's options that match a chosen value; colours are compared by their first colour word."""
    values = [colour_or_text(value) for value in chosen]
    return sum(
        any(token_set_ratio(value, colour_or_text(wanted)) > MATCH_THRESHOLD for value in values)
        for wanted in goal.options
    )


def type_factor(goal: WebShopGoal, bought: Product, find_nouns: NounFinder) -> float:
    """1 for a product of the goal's type; 0.5, 0.1 or 0 for others, by names, query and categories."""
    overlap = noun_overlap(goal, bought, find_nouns)
    if overlap == 0:
        return 0.0
    if overlap < 0.1:
        return 0.1
    same_query = bought.query == goal.query
    return 1.0 if same_query or _count_shared_categories(goal, bought) >= 2 or overlap > 0.2 else 0.5


def noun_overlap(goal: WebShopGoal, bought: Product, find_nouns: NounFinder) -> float:
    """The share of the nouns in the wanted product's name that the bought product's name contains."""
    wanted = find_nouns(goal.name)
    return len(set(wanted) & set(find_nouns(bought.title))) / len(wanted) if wanted else _OVERLAP_WITHOUT_NOUNS


def _count_shared_categories(goal: WebShopGoal, bought: Product) -> int:
    one, other = ({name.strip() for name in each.product_category.split("›")} for each in (goal, bought))
    return len(one & other)
