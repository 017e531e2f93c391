"""How the scripted stand-in does MiniWoB++'s tasks of clicking: buttons, boxes, tabs, menus, shapes, posts."""

from __future__ import annotations

import re

from codeplan.standin.miniwob_steps import Move, click, last, quoted, reading, submit

_CLOSE = "//button[@title='Close']"

_SHAPES = """\
shapes = []
for tag, rest in re.findall(r'<(circle|rect|polygon|text)\\b(.*?)</', agent.current_state):
    told, mark = rest.split('>')
    measures = re.search(r'\\b(?:points|r|width|font-size)="([^"]*)', told)[1]
    numbers = [float(n) for n in re.findall(r'[\\d.]+', measures)]
    size = max(numbers[::2]) - min(numbers[::2]) if tag == 'polygon' else numbers[0] * (2 if tag == 'circle' else 1)
    sort = {'circle': 'circle', 'rect': 'rectangle', 'polygon': 'triangle'}.get(tag)
    sort = sort or ('digit' if mark.isdigit() else 'letter')
    colour = re.search(r'fill="(\\w+)"', told)[1]
    names = {'item', sort, colour, mark if tag == 'text' else 'shape', 'large' if size > 15 else 'small'}
    shapes.append((len(shapes) + 1, sort, names))
"""
"""What there is in the drawing: the place in it, the sort, and all that may be said of each."""


def button(name: str) -> list[Move]:
    """Click the button that reads this."""
    return [last(f"click the button {name}", reading(name, "button"))]


def in_turn() -> list[Move]:
    """Click the button ONE, then the button TWO."""
    first = Move(
        "click ONE", click(reading("ONE", "button")), "not state.startswith('DONE')", "the first click ended it"
    )
    return [first, last("click TWO", reading("TWO", "button"))]


def only_button() -> list[Move]:
    """Click the only button that there is."""
    return [last("click the button", "//button")]


def link(text: str) -> list[Move]:
    """Click the first link that reads this."""
    return [last(f"click the link {text}", f"(//span[@class='alink'][text()={quoted(text)}])[1]")]


def colour(name: str) -> list[Move]:
    """Click the box of this colour."""
    return [last(f"click the {name} box", f"//div[@data-color={quoted(name)}]")]


def dialog(label: str) -> list[Move]:
    """Close a dialog by its button of this label, ``x`` for its cross."""
    return [last(f"click {label} in the dialog", _CLOSE if label == "x" else reading(label, "button"))]


def boxes(names: list[str]) -> list[Move]:
    """Tick boxes by their labels, and hand that in."""
    lines = f"for name in {names!r}:\n    state = agent.click_xpath(f'//label[text()=\"{{name}}\"]')"
    ticked = Move(
        f"tick {', '.join(names)}",
        lines,
        f"state.count('checked=\"\"') == {len(names)}",
        "not all boxes are ticked",
    )
    return [ticked, submit()] if names else [submit()]


def alike(words: list[str]) -> list[Move]:
    """Tick boxes that mean much the same as some words: which, a language model must say."""
    ask = (
        "offered = re.findall(r'<label><input[^>]*>([^<]+)', agent.current_state)\n"
        f"named = {words}\n"
        "question = f'Which of the words {offered} mean much the same as one of the words {named}?'\n"
        "chosen = literal_eval(ask_llm(question + ' Answer with a Python list.'))"
    )
    asked = Move("ask which words are alike", ask, "chosen", "none of the words offered is alike")
    lines = "for word in chosen:\n    state = agent.click_xpath(f'//label[text()=\"{word}\"]')"
    ticked = Move("tick those words", lines, "state.count('checked=\"\"') == len(chosen)", "not all are ticked")
    return [asked, ticked, submit()]


def options(names: list[str]) -> list[Move]:
    """Choose options of a list by their texts, and hand that in."""
    lines = f"for name in {names!r}:\n    state = agent.click_option(f'//option[text()=\"{{name}}\"]')"
    test = f"state.count('selected=\"\"') == {len(names)}"
    return [Move(f"choose {', '.join(names)}", lines, test, "not all are chosen"), submit("//button")]


def section() -> list[Move]:
    """Unfold the section, and hand that in."""
    lines = click("//h3")
    unfolded = Move("unfold the section", lines, "'aria-expanded=\"true\"' in state", "the section is not unfolded")
    return [unfolded, submit()]


def link_in_section(text: str) -> list[Move]:
    """Unfold the section that a link is in, and click the link."""
    found = f"(//span[@class='alink'][text()={quoted(text)}])[1]"
    head = f"{found}/ancestor::div[@role='tabpanel']/preceding-sibling::h3[1]"
    unfold = Move("unfold its section", click(head), "'aria-expanded=\"true\"' in state", "the section is not unfolded")
    return [unfold, last(f"click the link {text}", found)]


def tab(number: str) -> list[Move]:
    """Click the tab of this number."""
    return [last(f"click tab {number}", reading(f"Tab #{number}", "a"))]


def link_in_tab(text: str) -> list[Move]:
    """Open the tab that a link is in, and click the link."""
    found = f"(//span[@class='alink'][text()={quoted(text)}])[1]"
    head = f"//a[@href=concat('#', {found}/ancestor::div[@role='tabpanel']/@id)]"
    return [
        Move("open its tab", click(head), "'aria-selected=\"true\"' in state", "the tab is not open"),
        last(f"click the link {text}", found),
    ]


def menu(names: list[str]) -> list[Move]:
    """Click the last of the names in a menu; the others are the menus to open on the way, outermost first."""
    *above, name = names
    lines = f"for name in {above!r}:\n    state = agent.move_mouse_on(f'//div[text()=\"{{name}}\"]')"
    opened = Move(f"open {' and '.join(above)}", lines, "'aria-expanded=\"true\"' in state", "no menu is open")
    return [*([opened] if above else []), last(f"click {name}", reading(name, "div"))]


def shades(name: str) -> list[Move]:
    """Click all squares whose colour is a shade of this one, and hand that in."""
    lines = click(f"//span[@data-color={quoted(name)}]")
    test = f"not re.search(r'<span data-color=\"{name}\"(?![^>]*selected)', state)"
    return [Move(f"click all shades of {name}", lines, test, "not all are chosen"), submit("//button")]


def shape(said: str) -> list[Move]:
    """Click the first shape in the drawing of which all these words are true."""
    lines = f"{_SHAPES}fitting = [n for n, _, names in shapes if set({said.split()!r}) <= names]"
    point = "state = agent.click_xpath(f'(//*[name()=\"svg\"]/*)[{fitting[0]}]')"
    return [
        Move(f"find the {said}", lines, "fitting", f"there is no {said}"),
        Move("click it", point, "state.startswith('DONE')", "the task goes on"),
    ]


def count(said: str) -> list[Move]:
    """``said`` is in the plural."""
    lines = f"{_SHAPES}number = len([n for n, _, names in shapes if set({said[:-1].split()!r}) <= names])"
    point = "state = agent.click_xpath(f'//button[text()=\"{number}\"]')"
    return [
        Move(f"count the {said}", lines, "f'>{number}</button>' in agent.current_state", "{number} is not offered"),
        Move("click that number", point, "state.startswith('DONE')", "the task goes on"),
    ]


def figure() -> list[Move]:
    """Click the button that says what the only figure in the drawing is."""
    lines = f"{_SHAPES}state = agent.click_xpath(f'//button[@data-type=\"{{shapes[0][1]}}\"]')"
    return [Move("click what the figure is", lines, "state.startswith('DONE')", "the task goes on")]


def widget(sort: str) -> list[Move]:
    """Click the first widget of this sort."""
    return [last(f"click a {sort}", f"(//*[@data-type={quoted(sort)}])[1]")]


def coordinate(point: str) -> list[Move]:
    """Click the point with these coordinates."""
    return [last(f"click {point}", f"//*[@id={quoted(point)}]")]


def tree(name: str) -> list[Move]:
    """Folders are opened from the outermost in; the last click is on what is sought."""
    return [last(f"open the folders above {name}, and click it", f"({reading(name, 'span')})/ancestor::li/span")]


_ON_POST = {"reply": "Reply", "retweet": "Retweet", "like": "Like", "share": "Share"}


def post(user: str, act: str) -> list[Move]:
    """A button of somebody's post: one that shows, or one in the menu behind the dots."""
    first = f"(//div[@class='media'][.//span[@class='username'][text()={quoted(user)}]])[1]"
    shown = next((sign for sign, name in _ON_POST.items() if name == act), None)
    if shown:
        return [last(f"click {act} at the post of {user}", f"{first}//span[@class='{shown}']")]
    more = Move(
        "open the menu of the post", click(f"{first}//span[@class='more']"), "'<ul class=\"\"' in state", "it is shut"
    )
    return [more, last(f"click {act}", f"{first}//li[starts-with(., {quoted(act)})]")]


def posts(user: str, act: str, number: int | None) -> list[Move]:
    """The same button of several posts: of all, or of so many."""
    sign = next((sign for sign, name in _ON_POST.items() if name == act), act.lower())
    all_ = f"(//div[@class='media'][.//span[@class='username'][text()={quoted(user)}]]//span[@class='{sign}'])"
    xpath = all_ if number is None else f"{all_}[position() <= {number}]"
    done = Move(f"click {act} at posts of {user}", click(xpath), "' active\"' in state", "no post has changed")
    return [done, submit("//p[@id='submitRow']/button")]


def names_in(said: str, offered: list[str]) -> list[str]:
    """Which of the names that are offered are said: a name may have commas in it; the longest that fits is meant."""
    meant: list[str] = []
    for name in sorted(offered, key=len, reverse=True):
        said, times = re.subn(rf"(^|, ){re.escape(name)}(?=, |$)", r"\1", said)
        meant += [name] if times else []
    return [name for name in offered if name in meant]
