"""Steps for MiniWoB++ tasks of clicking: buttons, boxes, tabs, menus, shapes, posts."""

from __future__ import annotations

import re

from codeplan.standin.miniwob.steps import (
    StepSource,
    click_line,
    final_click,
    submit_step,
    xpath_string,
    xpath_with_text,
)

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
"""Code that lists the shapes of the drawing: position, kind, and all words that describe each."""


def click_button(name: str) -> list[StepSource]:
    """Click the button with this text."""
    return [final_click(f"click the button {name}", xpath_with_text(name, "button"))]


def click_in_turn() -> list[StepSource]:
    """Click the button ONE, then the button TWO."""
    lines = click_line(xpath_with_text("ONE", "button"))
    first = StepSource("click ONE", lines, "not state.startswith('DONE')", "the first click ended it")
    return [first, final_click("click TWO", xpath_with_text("TWO", "button"))]


def click_only_button() -> list[StepSource]:
    """Click the only button."""
    return [final_click("click the button", "//button")]


def click_link(text: str) -> list[StepSource]:
    """Click the first link with this text."""
    return [final_click(f"click the link {text}", f"(//span[@class='alink'][text()={xpath_string(text)}])[1]")]


def click_coloured_box(name: str) -> list[StepSource]:
    """Click the box of this colour."""
    return [final_click(f"click the {name} box", f"//div[@data-color={xpath_string(name)}]")]


def close_dialog(label: str) -> list[StepSource]:
    """Close a dialog by its button with this label; ``x`` is its cross."""
    return [final_click(f"click {label} in the dialog", _CLOSE if label == "x" else xpath_with_text(label, "button"))]


def tick_boxes(names: list[str]) -> list[StepSource]:
    """Tick boxes by their labels, and submit."""
    lines = f"for name in {names!r}:\n    state = agent.click_xpath(f'//label[text()=\"{{name}}\"]')"
    ticked = StepSource(
        f"tick {', '.join(names)}", lines, f"state.count('checked=\"\"') == {len(names)}", "not all boxes are ticked"
    )
    return [ticked, submit_step()] if names else [submit_step()]


def tick_similar_words(words: str) -> list[StepSource]:
    """Tick the boxes that resemble some words, listed with commas; the plan asks which these are."""
    ask = (
        "offered = re.findall(r'<label><input[^>]*>([^<]+)', agent.current_state)\n"
        f"named = {words.split(', ')}\n"
        "question = f'Which of the words {offered} mean much the same as one of the words {named}?'\n"
        "chosen = literal_eval(ask_llm(question + ' Answer with a Python list.'))"
    )
    asked = StepSource("ask which words are alike", ask, "chosen", "none of the words offered is alike")
    lines = "for word in chosen:\n    state = agent.click_xpath(f'//label[text()=\"{word}\"]')"
    ticked = StepSource("tick those words", lines, "state.count('checked=\"\"') == len(chosen)", "not all are ticked")
    return [asked, ticked, submit_step()]


def choose_options(names: list[str]) -> list[StepSource]:
    """Choose options of a list by their texts, and submit."""
    lines = f"for name in {names!r}:\n    state = agent.click_option(f'//option[text()=\"{{name}}\"]')"
    test = f"state.count('selected=\"\"') == {len(names)}"
    return [StepSource(f"choose {', '.join(names)}", lines, test, "not all are chosen"), submit_step("//button")]


def expand_section() -> list[StepSource]:
    """Expand the section, and submit."""
    return [_unfold("the section", "//h3"), submit_step()]


def click_link_in_section(text: str) -> list[StepSource]:
    """Expand a link's section, and click the link."""
    found = f"(//span[@class='alink'][text()={xpath_string(text)}])[1]"
    head = f"{found}/ancestor::div[@role='tabpanel']/preceding-sibling::h3[1]"
    return [_unfold("its section", head), final_click(f"click the link {text}", found)]


def _unfold(what: str, head: str) -> StepSource:
    unfolded = "'aria-expanded=\"true\"' in state"
    return StepSource(f"unfold {what}", click_line(head), unfolded, "the section is not unfolded")


def click_tab(number: str) -> list[StepSource]:
    """Click the tab with this number."""
    return [final_click(f"click tab {number}", xpath_with_text(f"Tab #{number}", "a"))]


def click_link_in_tab(text: str) -> list[StepSource]:
    """Open a link's tab, and click the link."""
    found = f"(//span[@class='alink'][text()={xpath_string(text)}])[1]"
    head = f"//a[@href=concat('#', {found}/ancestor::div[@role='tabpanel']/@id)]"
    return [
        StepSource("open its tab", click_line(head), "'aria-selected=\"true\"' in state", "the tab is not open"),
        final_click(f"click the link {text}", found),
    ]


def click_menu_item(names: list[str]) -> list[StepSource]:
    """Click the last name in a menu; the others are the menus above it, outermost first."""
    *above, name = names
    lines = f"for name in {above!r}:\n    state = agent.move_mouse_on(f'//div[text()=\"{{name}}\"]')"
    opened = StepSource(f"open {' and '.join(above)}", lines, "'aria-expanded=\"true\"' in state", "no menu is open")
    return [*([opened] if above else []), final_click(f"click {name}", xpath_with_text(name, "div"))]


def click_shades(name: str) -> list[StepSource]:
    """Click all squares with a shade of this colour, and submit."""
    lines = click_line(f"//span[@data-color={xpath_string(name)}]")
    test = f"not re.search(r'<span data-color=\"{name}\"(?![^>]*selected)', state)"
    return [StepSource(f"click all shades of {name}", lines, test, "not all are chosen"), submit_step("//button")]


def click_shape(description: str) -> list[StepSource]:
    """Click the first shape that all these words describe."""
    lines = f"{_SHAPES}fitting = [n for n, _, names in shapes if set({description.split()!r}) <= names]"
    point = "state = agent.click_xpath(f'(//*[name()=\"svg\"]/*)[{fitting[0]}]')"
    return [
        StepSource(f"find the {description}", lines, "fitting", f"there is no {description}"),
        StepSource("click it", point, "state.startswith('DONE')", "the task goes on"),
    ]


def count_shapes(description: str) -> list[StepSource]:
    """Click the number of shapes; ``description`` is in the plural."""
    lines = f"{_SHAPES}number = len([n for n, _, names in shapes if set({description[:-1].split()!r}) <= names])"
    point = "state = agent.click_xpath(f'//button[text()=\"{number}\"]')"
    return [
        StepSource(
            f"count the {description}", lines, "f'>{number}</button>' in agent.current_state", "{number} is not offered"
        ),
        StepSource("click that number", point, "state.startswith('DONE')", "the task goes on"),
    ]


def name_figure() -> list[StepSource]:
    """Click the button that names the only figure."""
    lines = f"{_SHAPES}state = agent.click_xpath(f'//button[@data-type=\"{{shapes[0][1]}}\"]')"
    return [StepSource("click what the figure is", lines, "state.startswith('DONE')", "the task goes on")]


def click_widget(kind: str) -> list[StepSource]:
    """Click the first widget of this kind."""
    return [final_click(f"click a {kind}", f"(//*[@data-type={xpath_string(kind)}])[1]")]


def click_coordinate(point: str) -> list[StepSource]:
    """Click the point with these coordinates."""
    return [final_click(f"click {point}", f"//*[@id={xpath_string(point)}]")]


def click_in_tree(name: str) -> list[StepSource]:
    """Open the folders from the outermost in, and click the file or folder."""
    path = f"({xpath_with_text(name, 'span')})/ancestor::li/span"
    return [final_click(f"open the folders above {name}, and click it", path)]


_POST_BUTTONS = {"reply": "Reply", "retweet": "Retweet", "like": "Like", "share": "Share"}


def click_post_button(user: str, label: str) -> list[StepSource]:
    """Click a button of a user's post, in the menu behind the dots if it is not visible."""
    first = f"(//div[@class='media'][.//span[@class='username'][text()={xpath_string(user)}]])[1]"
    shown = next((sign for sign, name in _POST_BUTTONS.items() if name == label), None)
    if shown:
        return [final_click(f"click {label} at the post of {user}", f"{first}//span[@class='{shown}']")]
    open_menu = click_line(f"{first}//span[@class='more']")
    more = StepSource("open the menu of the post", open_menu, "'<ul class=\"\"' in state", "it is shut")
    return [more, final_click(f"click {label}", f"{first}//li[starts-with(., {xpath_string(label)})]")]


def click_post_buttons(label: str, number: str | None, user: str) -> list[StepSource]:
    """Click the same button of the first ``number`` posts of a user, or of all."""
    sign = next((sign for sign, name in _POST_BUTTONS.items() if name == label), label.lower())
    all_ = f"(//div[@class='media'][.//span[@class='username'][text()={xpath_string(user)}]]//span[@class='{sign}'])"
    xpath = all_ if number is None else f"{all_}[position() <= {number}]"
    done = StepSource(
        f"click {label} at posts of {user}", click_line(xpath), "' active\"' in state", "no post has changed"
    )
    return [done, submit_step("//p[@id='submitRow']/button")]


def find_names(text: str, offered: list[str]) -> list[str]:
    """The offered names that the text contains. Names may contain commas; the longest match wins."""
    meant: list[str] = []
    for name in sorted(offered, key=len, reverse=True):
        text, times = re.subn(rf"(^|, ){re.escape(name)}(?=, |$)", r"\1", text)
        meant += [name] if times else []
    return [name for name in offered if name in meant]
