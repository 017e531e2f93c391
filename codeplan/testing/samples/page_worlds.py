"""Small worlds of pages: a shop, a form and an encyclopedia."""

from __future__ import annotations

import re
from typing import Any

from codeplan.testing.samples.world import SampleWorld


class SampleShop(SampleWorld):
    """A web shop in WebShop's words: search, then click on products, options and buttons."""

    _GOODS = {
        "B01AAA": (
            "Blue cotton t-shirt, men, classic fit",
            19.99,
            {"color": ["blue", "navy"], "size": ["s", "m", "l"]},
        ),
        "B02BBB": ("Red wool sweater for women", 49.5, {"color": ["red"], "size": ["m", "xl"]}),
        "B03CCC": ("Blue t-shirt for kids, pack of 2", 12.0, {"size": ["4t", "5t"]}),
        "B04DDD": ("Stainless steel water bottle 32 oz, leak proof", 24.95, {"color": ["black", "blue"]}),
        "B05EEE": ("Water bottle for cycling 20 oz", 8.75, {}),
        "B06FFF": ("Gluten free granola bars, 12 count", 15.25, {"flavor": ["honey", "berry"]}),
    }

    page: str

    def __init__(self) -> None:
        super().__init__()
        self.page = "search"
        self._item = ""
        self._chosen: dict[str, str] = {}

    def search(self, query: str) -> str:
        """Search the shop. Results are lines of an id, a name and a price."""
        words = set(re.findall(r"\w+", query.lower()))
        hits = [(len(words & set(re.findall(r"\w+", g[0].lower()))), key) for key, g in self._GOODS.items()]
        best = [key for n, key in sorted(hits, key=lambda h: (-h[0], h[1])) if n][:4]
        self.page = "results"
        lines = [f"[{key}] {self._GOODS[key][0]} ${self._GOODS[key][1]:.2f}" for key in best]
        return f"Page 1 (Total results: {len(best)})\n" + "\n".join(lines)

    def click(self, target: str) -> str:
        """Click on a product's id, on an option's value, on "description", "back to search" or "buy now"."""
        key = target.upper()
        if key in self._GOODS:
            self._item, self._chosen, self.page = key, {}, "item"
            return self._shown()
        if target == "back to search":
            self.page = "search"
            return "Search page"
        if not self._item or self.page != "item":
            return f"There is nothing called {target!r} to click on."
        if target == "buy now":
            self.page = "done"
            return f"Thank you! You bought {self._item} {self._chosen}"
        kind = next((k for k, values in self._GOODS[self._item][2].items() if target in values), None)
        if kind is None:
            return "It is well made." if target == "description" else f"There is nothing called {target!r} to click on."
        self._chosen[kind] = target
        return f"You have clicked {target}."

    def report(self) -> str:
        """Which page it is, and what is chosen."""
        return f"On page {self.page}; item {self._item or None}, options {self._chosen}."

    def _shown(self) -> str:
        name, price, options = self._GOODS[self._item]
        lines = [f"{kind}: {' | '.join(values)}" for kind, values in options.items()]
        return "\n".join([name, f"Price: ${price:.2f}", *lines, "[description] [buy now]"])


class SamplePage(SampleWorld):
    """A web page in MiniWoB's manner: elements in a list, clicked and filled by reference."""

    def __init__(self) -> None:
        super().__init__()
        self._elements: list[dict[str, Any]] = [
            {"ref": 1, "tag": "label", "text": "First name", "value": ""},
            {"ref": 2, "tag": "input_text", "text": "", "value": "", "name": "first"},
            {"ref": 3, "tag": "label", "text": "E-mail", "value": ""},
            {"ref": 4, "tag": "input_text", "text": "", "value": "", "name": "email"},
            {"ref": 5, "tag": "input_checkbox", "text": "cats", "value": False},
            {"ref": 6, "tag": "input_checkbox", "text": "dogs", "value": False},
            {"ref": 7, "tag": "input_checkbox", "text": "birds", "value": True},
            {"ref": 8, "tag": "span", "text": "12", "value": "", "x": 40, "y": 10},
            {"ref": 9, "tag": "span", "text": "7", "value": "", "x": 5, "y": 30},
            {"ref": 10, "tag": "span", "text": "31", "value": "", "x": 22, "y": 20},
            {"ref": 11, "tag": "button", "text": "Cancel", "value": ""},
            {"ref": 12, "tag": "button", "text": "Submit", "value": ""},
        ]
        self.utterance = 'Select cats and dogs, type "ada@example.org" into the e-mail field and press Submit.'

    def elements(self) -> list[dict[str, Any]]:
        """Everything on the page, in reading order."""
        return [dict(e) for e in self._elements]

    def click(self, ref: int) -> bool:
        """Click on an element; False where there is none."""
        found = next((e for e in self._elements if e["ref"] == ref), None)
        if found is not None and found["tag"] == "input_checkbox":
            found["value"] = not found["value"]
        return found is not None

    def type(self, ref: int, text: str) -> bool:
        """Type into a field; False where that cannot be."""
        found = next((e for e in self._elements if e["ref"] == ref and e["tag"] == "input_text"), None)
        if found is not None:
            found["value"] += text
        return found is not None

    def html(self) -> str:
        """The page's source."""
        rows = [f'<{e["tag"]} ref="{e["ref"]}" value="{e["value"]}">{e["text"]}</{e["tag"]}>' for e in self._elements]
        return "<body>\n" + "\n".join(rows) + "\n</body>"

    def report(self) -> str:
        """What is filled in."""
        return ", ".join(f"{e['ref']}={e['value']}" for e in self._elements if e["value"]) or "nothing is filled in"


class SampleEncyclopedia(SampleWorld):
    """An encyclopedia in HotpotQA's manner: search an entity, look up a word in the page, finish with an answer."""

    _PAGES = {
        "Ada Lovelace": "Ada Lovelace was an English mathematician. She was born on 10 December 1815 in London. "
        "She worked with Charles Babbage on the Analytical Engine. She died in 1852.",
        "Charles Babbage": "Charles Babbage was an English polymath. He was born on 26 December 1791 in London. "
        "He designed the Analytical Engine. He died in 1871.",
        "Analytical Engine": "The Analytical Engine was a proposed mechanical computer. It was designed by Charles "
        "Babbage. It was first described in 1837.",
        "Grace Hopper": "Grace Hopper was an American computer scientist. She was born on 9 December 1906 in New York "
        "City. She worked on COBOL.",
    }

    def __init__(self) -> None:
        super().__init__()
        self._page: list[str] = []
        self._at: dict[str, int] = {}
        self.answer: str | None = None

    def search(self, entity: str) -> str:
        """The first sentences of a page, or similar titles."""
        if entity not in self._PAGES:
            near = [t for t in self._PAGES if set(t.lower().split()) & set(entity.lower().split())]
            return f"Could not find {entity}. Similar: {near}."
        self._page, self._at = re.findall(r"[^.]+\.", self._PAGES[entity]), {}
        return "".join(self._page[:2]).strip()

    def lookup(self, keyword: str) -> str:
        """The next sentence of the page with this word."""
        hits = [s.strip() for s in self._page if keyword.lower() in s.lower()]
        at = self._at[keyword] = self._at.get(keyword, 0) + 1
        return f"(Result {at} / {len(hits)}) {hits[at - 1]}" if at <= len(hits) else "No more results."

    def finish(self, answer: str) -> str:
        """Give the answer."""
        self.answer = answer
        return "Episode finished."

    def report(self) -> str:
        """Where the reader is."""
        return f"{len(self._page)} sentences open; answer {self.answer}"

    def _say(self, question: str) -> str:
        if years := re.findall(r"\b1[789]\d\d\b", question):
            return str(years[0])
        return "yes" if "mathematician" in question else "unknown"
