"""Colour words. WebShop's reward compares colours by one word only: ``royal blue`` equals ``blue (matte)``."""

from __future__ import annotations

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
