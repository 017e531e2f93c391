"""The stand-in's rules for MiniWoB++: it plans by the task's sentence and the page, makes mistakes and mends plans.

Steps with feedback come in a careful and a ``hasty`` form. The hasty one makes the mistake of a planner that has not
seen the page answer.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from html import unescape
from textwrap import indent

from codeplan.standin.mistakes import MistakeInserter
from codeplan.standin.plan_edits import (
    AgentVocabulary,
    edit_step,
    failed_step,
    fix_unknown_method,
    has_diagnostics,
    repair_plan,
    split_steps,
)
from codeplan.types import Value

SUBMIT_XPATH = "//button[@id='subbtn']"


class StepSource(Value, frozen=True):
    """One step of a plan: its title, the lines that act, the assertion and its error message."""

    title: str
    lines: str
    assertion: str
    error_message: str


def write_steps(steps: list[StepSource], helpers: str = "") -> str:
    """The plan with these steps."""
    outline = ", then ".join(step.title for step in steps)
    head = f"def solution(agent, start_from=1):\n    # General plan: {outline}.\n{indent(helpers, '    ')}"
    return head + "".join(write_step(number, step) for number, step in enumerate(steps, 1))


def write_step(number: int, source: StepSource) -> str:
    """The source of step ``number``."""
    said = source.title[0].upper() + source.title[1:]
    return (
        f"    if start_from <= {number}:\n"
        f"        print({f'[Step {number}] {said}'!r})\n"
        f"{indent(source.lines, '        ')}\n"
        f"        assert {source.assertion}, f'Error in [Step {number}]: {source.error_message}. {{agent.report()}}'\n"
    )


def click_line(xpath: str) -> str:
    """The line that clicks an element."""
    return f"state = agent.click_xpath({xpath!r})"


def final_click(title: str, xpath: str) -> StepSource:
    """A click that ends the task."""
    return StepSource(title, click_line(xpath), "state.startswith('DONE')", "the task goes on")


def submit_step(xpath: str = SUBMIT_XPATH) -> StepSource:
    """The click that submits."""
    return final_click("submit", xpath)


def fill_step(what: str, xpath: str, text: str) -> StepSource:
    """Types text into a field."""
    lines = f"{click_line(xpath)}\nstate = agent.type({text!r})"
    return StepSource(f"fill in the {what}", lines, value_assertion(text), f"the {what} is not filled in")


def value_assertion(value: str) -> str:
    """The assertion that a field has this value."""
    attribute = f'value="{value}"'
    return f"{attribute!r} in state"


def xpath_string(text: str) -> str:
    """A text as an XPath string."""
    if '"' not in text:
        return f'"{text}"'
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"


def xpath_with_text(text: str, tag: str = "*") -> str:
    """The XPath of the first element with this tag and exactly this text."""
    return f"(//{tag}[text()={xpath_string(text)}])[1]"


# ------------------------------------------------------------------ clicks

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


def click_in_turn() -> list[StepSource]:
    """Click the button ONE, then the button TWO."""
    lines = click_line(xpath_with_text("ONE", "button"))
    first = StepSource("click ONE", lines, "not state.startswith('DONE')", "the first click ended it")
    return [first, final_click("click TWO", xpath_with_text("TWO", "button"))]


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


# ------------------------------------------------------------------ forms

_INTO_FIRST_PART = click_line("//input[@id='tt']") + "\nagent.press_key('arrow_left')\nagent.press_key('arrow_left')\n"


def enter_text(words: str) -> list[StepSource]:
    """Type words into the text field, and submit."""
    return [fill_step("text", "//input[@id='tt']", words), submit_step()]


def enter_date(month: str, day: str, year: str) -> list[StepSource]:
    """Type a date into a field whose parts (month, day, year) advance by themselves."""
    lines = f"{_INTO_FIRST_PART}state = agent.type('{month}{day}{year}')"
    return [
        StepSource("enter the date", lines, value_assertion(f"{year}-{month}-{day}"), "the date is not in the field"),
        submit_step(),
    ]


def enter_time(hour: str, minute: str, half: str) -> list[StepSource]:
    """Type a time on a twelve-hour clock (``half`` is AM or PM), and submit."""
    lines = f"{_INTO_FIRST_PART}state = agent.type('{hour.zfill(2)}{minute}{half}')"
    clock = int(hour) % 12 + (12 if half == "PM" else 0)
    return [
        StepSource("enter the time", lines, value_assertion(f"{clock:02}:{minute}"), "the time is not in the field"),
        submit_step(),
    ]


def enter_password(word: str) -> list[StepSource]:
    """Type a password into both fields, and submit."""
    return [
        fill_step("password", "//input[@id='password']", word),
        fill_step("password once more", "//input[@id='verify']", word),
        submit_step(),
    ]


def solve_equation() -> list[StepSource]:
    """Solve the equation for x, type x, and submit."""
    enter = click_line("//input[@id='math-answer']")
    lines = (
        "left, sign, right, total = re.search(r'>(\\w+) ([+-]) (\\w+) = (-?\\d+)<', agent.current_state).groups()\n"
        "if left == 'x':\n"
        "    x = int(total) - int(right) if sign == '+' else int(total) + int(right)\n"
        "else:\n"
        "    x = int(total) - int(left) if sign == '+' else int(left) - int(total)\n"
        f"{enter}\n"
        "state = agent.type(str(x))"
    )
    return [
        StepSource("solve the equation and enter x", lines, "f'value=\"{x}\"' in state", "x is not filled in"),
        submit_step(),
    ]


def search_movies(genre: str, director: str, year: str) -> list[StepSource]:
    """Fill in a search form of any layout: each field shares a box with its label."""
    fields = {"Genre": genre, "Director": director, "Year": year}
    lines = (
        f"for label, words in {fields!r}.items():\n"
        "    label = 'Date' if label == 'Year' and 'Date' in agent.current_state else label\n"
        "    near = f'//*[contains(text(), \"{label}\")]'\n"
        "    agent.click_xpath(f'({near}/..//input | {near}//input)[1]')\n"
        "    state = agent.type(words)"
    )
    filled = StepSource(
        "fill in the form", lines, f"all(words in state for words in {list(fields.values())!r})", "a field is empty"
    )
    go = "//*[self::button or @class='final' or @class='ui-submit' or @type='submit']"
    return [filled, final_click("search", f"({go})[last()]")]


def choose_suggestion(start: str, end: str | None) -> list[StepSource]:
    """Type the start, and click a suggestion that fits; ``end`` is None if any ending does."""
    enter = click_line("//input[@id='tags']")
    lines = (
        f"{enter}\n"
        f"state = agent.type({start!r})\n"
        "offered = re.findall(r'class=\"ui-menu-item-wrapper[^>]*>([^<]+)<', state)\n"
        f"fitting = [name for name in offered if name.startswith({start!r}) and name.endswith({end or ''!r})]"
    )
    chosen = "state = agent.click_xpath(f'//li/div[text()=\"{fitting[0]}\"]')"
    return [
        StepSource(f"type {start}", lines, "fitting", "nothing that fits is offered"),
        StepSource("take one that is offered", chosen, "f'value=\"{fitting[0]}\"' in state", "it is not in the field"),
        submit_step(),
    ]


def turn_spinner(number: str) -> list[StepSource]:
    """Turn the spinner from 0 to this number, and submit."""
    way = "up" if int(number) >= 0 else "down"
    turn = click_line(f"//a[contains(@class, 'ui-spinner-{way}')]")
    lines = f"state = agent.current_state\nfor _ in range({abs(int(number))}):\n    {turn}"
    return [StepSource(f"turn {way}", lines, value_assertion(number), f"it is not at {number}"), submit_step()]


def log_in(user: str, word: str, *, careful: bool = True) -> list[StepSource]:
    """Log in. A pop-up may appear on a click into a field; a careful plan closes it and clicks again."""
    return [
        _click_field("username", careful),
        _type_field("username", user),
        _click_field("password", careful),
        _type_field("password", word),
        submit_step(),
    ]


def _click_field(field: str, careful: bool) -> StepSource:
    xpath = f"//input[@id={xpath_string(field)}]"
    again = (
        "for _ in range(2):\n"
        "    if 'id=\"popup\"' in agent.current_state:\n"
        "        agent.click_xpath('//button[@id=\"popup-cancel\"]')\n"
        f"    {click_line(xpath)}"
    )
    lines = again if careful else click_line(xpath)
    return StepSource(f"click the {field} field", lines, "'id=\"popup\"' not in state", "a window has come up")


def _type_field(field: str, word: str) -> StepSource:
    return StepSource(f"type the {field}", f"state = agent.type({word!r})", value_assertion(word), f"no {field} yet")


# ------------------------------------------------------------------ mail, whose goals come in many wordings


class ParsedMailTask(Value, frozen=True):
    """The action on the mail of ``sender``: ``trash``, ``star``, ``reply`` or ``forward``.

    ``text`` is the reply's text, or the recipient.
    """

    operation: str
    sender: str
    text: str = ""


_OPERATION_PATTERNS = (
    ("trash", r"\b(?:delete|trash|recycling|rid of|remove|discard|bin|erase|throw)"),
    ("star", r"\b(?:important|importance|star|flag|priority)"),
)

_SENDER_PATTERNS = (
    r"\b(?:from|by) {}\b",
    r"\b{} (?:sent|wrote|has sent|had sent)\b",
    r"\b{} wants (?:his|her|their)\b",
    r"\b{}'?s (?:[\w-]+ )?(?:e-?mail|message|mail|letter|note)",
    r"\b{}'?s\b",
)
"""How goals name the sender, the most certain pattern first."""


def parse_mail_task(goal: str, senders: list[str]) -> ParsedMailTask | None:
    """The goal's task, given the senders in the inbox; None if the goal names none of them."""
    quoted = re.search(r'"(.*)"', goal)
    text = goal.replace(quoted[0], "") if quoted else goal
    named = sorted((n for n in set(senders) if re.search(rf"\b{re.escape(n)}", text)), key=text.find)
    if not named:
        return None
    operation = next((name for name, words in _OPERATION_PATTERNS if re.search(words, text, re.IGNORECASE)), "")
    if quoted and not operation:
        return ParsedMailTask("reply", named[0], quoted[1])
    if operation:
        return ParsedMailTask(operation, named[0])
    sender = _find_sender(text, named)
    return ParsedMailTask("forward", sender, _find_recipient(text, sender, senders))


def _find_sender(text: str, named: list[str]) -> str:
    for pattern in _SENDER_PATTERNS:
        for name in named:
            if re.search(pattern.format(re.escape(name)), text):
                return name
    return named[0]


def _find_recipient(text: str, sender: str, senders: list[str]) -> str:
    """The other name: another sender, or a name after \"to\"."""
    others = [n for n in senders if n != sender and re.search(rf"\b{re.escape(n)}\b", text)]
    after = re.search(r"\bto ([A-Z][\w-]*)", text)
    return others[0] if others else after[1] if after else ""


def write_mail_steps(task: ParsedMailTask, *, hasty: bool = False) -> list[StepSource]:
    """The task's steps. The hasty ones look for every button in the list of mails."""
    thread = f"(//div[@class='email-thread'][.//div[@class='email-sender'][text()={xpath_string(task.sender)}]])[1]"
    if task.operation in ("trash", "star"):
        sign = {"trash": "delete", "star": "important"}[task.operation] if hasty else task.operation
        return [final_click(f"click the {task.operation} of {task.sender}'s mail", f"{thread}//span[@class='{sign}']")]
    what = task.operation
    open_mail = "" if hasty else click_line(thread) + "\n"
    sign = f"{thread}//span[@class='email-{what}']" if hasty else f"//span[@class='email-{what}']"
    field = "//textarea[@id='reply-text']" if what == "reply" else "//input[@class='forward-sender']"
    begin = StepSource(
        f"open {task.sender}'s mail, and begin to {what}",
        f"{open_mail}{click_line(sign)}",
        f"'id=\"send-{what}\"' in state",
        f"there is nothing to {what} with",
    )
    enter = fill_step(what, field, task.text)
    if what == "reply":
        enter = StepSource(enter.title, enter.lines, f"{task.text!r} in state", enter.error_message)
    return [begin, enter, final_click("send it", f"//*[@id='send-{what}']")]


# ------------------------------------------------------------------ a search engine


def use_search_engine(words: str, place: str, *, hasty: bool = False) -> list[StepSource]:
    """Search, and click a result. A page has three results; the hasty form reads only the first page."""
    result = int(place) - 1
    page = result // 3 + 1
    lines = click_line("//button[@id='search']")
    if page > 1 and not hasty:
        lines += "\n" + click_line(f"//ul[@id='pagination']//a[text()='{page}']")
    there = f"'data-result=\"{result}\"' in state"
    return [
        fill_step("search text", "//input[@id='search-text']", words),
        StepSource(
            f"search, and go to the page of result {place}", lines, there, f"result {place} is not on this page"
        ),
        final_click(f"click result {place}", f"//a[@data-result='{result}']"),
    ]


# ------------------------------------------------------------------ noughts and crosses

BOARD_HELPERS = """\
rows = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

def board():
    # The marks of the nine cells: x, o, or nothing.
    cells = re.findall(r'<span id="ttt-(\\d)"[^>]*?(?:class="mark-(.)")?></span>', agent.current_state)
    return {int(cell): mark for cell, mark in cells}

def worth(cells, cell):
    # How good a cell is: it wins; it keeps the other from winning; how many rows are still open through it.
    rows_here = [[cells[c] for c in row if c != cell] for row in rows if cell in row]
    if ['x', 'x'] in rows_here:
        return 100
    if ['o', 'o'] in rows_here:
        return 50
    begun = sum(1 for row in rows_here if sorted(row) == ['', 'x'])
    return 10 * (begun > 1) + 2 * begun + sum(1 for row in rows_here if 'o' not in row)

"""


def play_tic_tac_toe(*, hasty: bool = False) -> list[StepSource]:
    """Play until the game is over. The hasty form takes cells in a fixed order, free or not."""
    choice = "cells.popitem()[0]" if hasty else "max(free, key=lambda cell: worth(cells, cell))"
    lines = (
        "state = agent.current_state\n"
        "while not state.startswith(('DONE', 'FAILED')):\n"
        "    cells = board()\n"
        "    free = [cell for cell in cells if cells[cell] == '']\n"
        f"    cell = {choice}\n"
        "    assert cell in free, f'Error in [Step 1]: the cell {cell} is taken. {agent.report()}'\n"
        "    state = agent.click_xpath(f'//span[@id=\"ttt-{cell}\"]')"
    )
    return [
        StepSource("play the best free cell until the game is over", lines, "state.startswith('DONE')", "it goes on")
    ]


# ------------------------------------------------------------------ a terminal

_ENTER = "agent.type({!r})\nstate = agent.press_key('enter')"


def delete_file(ending: str | None, *, hasty: bool = False) -> list[StepSource]:
    """Delete a file with this ending (with its dot; None: no dot). The hasty form makes up the file's name."""
    focus = "agent.click_xpath('//div[@id=\"terminal\"]')\n"
    look = f"{focus}{_ENTER.format('ls')}\nnames = re.findall(r'class=\"output\">([^<]*)<', state)[-1].split()\n"
    guess = f"{focus}names = ['file{ending or ''}']\n"
    fits = f"name.endswith({ending!r})" if ending else "'.' not in name"
    lines = f"{guess if hasty else look}fitting = [name for name in names if {fits}]"
    remove = "agent.type('rm ' + fitting[0])\nstate = agent.press_key('enter')"
    why = "name the file, and delete it" if hasty else "list the files, and delete one that fits"
    return [StepSource(why, f"{lines}\n{remove}", "state.startswith('DONE')", "no such file is deleted")]


# ------------------------------------------------------------------ a number to guess

_SUBMIT = click_line("//button[@id='subbtn']")


def guess_once(possible: list[int]) -> list[StepSource]:
    """Guess once, the middle of what is possible: the hasty form."""
    into = click_line("//input[@id='tt']")
    lines = (
        f"possible = {possible}\n"
        "number = possible[len(possible) // 2]\n"
        f"{into}\n"
        "agent.press_key('backspace')\n"
        "agent.type(str(number))\n"
        f"{_SUBMIT}"
    )
    return [StepSource("try a number in the middle", lines, "state.startswith('DONE')", "{number} is not the number")]


def guess_until_found() -> list[StepSource]:
    """Guess until the number is found."""
    into = click_line("//input[@id='tt']")
    lines = (
        "possible = list(range(10))\n"
        "state = agent.current_state\n"
        "while possible and not state.startswith(('DONE', 'FAILED')):\n"
        "    number = possible[len(possible) // 2]\n"
        f"    {into}\n"
        "    agent.press_key('backspace')\n"
        "    agent.type(str(number))\n"
        f"    {_SUBMIT}\n"
        '    higher = \'id="higher" class="hide"\' not in state\n'
        "    possible = [n for n in possible if (n > number if higher else n < number)]"
    )
    return [
        StepSource("halve what is possible until it is found", lines, "state.startswith('DONE')", "it is not found")
    ]


def remaining_numbers(possible: list[int], page: str) -> list[int]:
    """The numbers that are still possible after the page's answer."""
    answer = re.search(r'id="(lower|higher)" class="">[^<]*<span>(\d)</span>', page)
    if not answer:
        return possible
    return [n for n in possible if (n > int(answer[2]) if answer[1] == "higher" else n < int(answer[2]))]


class WebTaskSolution(Value, frozen=True):
    """The steps of a task; for tasks with feedback, also the steps of a hasty plan."""

    steps: list[StepSource]
    hasty_steps: list[StepSource] = []
    helpers: str = ""


def find_solution(goal: str, observation: str) -> WebTaskSolution | None:
    """The solution of a task; None if it is not one of the paper's 53."""
    found = re.search(r"\ATask: (.*)\n\nPage:\n", observation)
    text = goal or (found[1] if found else "")
    if 'class="email-thread"' in observation:
        return _solve_mail(text, observation)
    for pattern, job in _SOLUTIONS:
        if words := re.fullmatch(pattern, text):
            return job(words, observation)
    return None


def write_plan(solution: WebTaskSolution) -> str:
    """A plan that is correct according to the page."""
    return write_steps(solution.steps, solution.helpers)


def write_hasty_plan(solution: WebTaskSolution) -> str:
    """A plan with the hasty mistake; the correct plan if the task allows none."""
    return write_steps(solution.hasty_steps or solution.steps, solution.helpers)


# ------------------------------------------------------------------ by the task's sentence


def _from_words(
    write: Callable[..., list[StepSource]], **hasty: bool
) -> Callable[[re.Match[str], str], WebTaskSolution]:
    """A solution that depends only on the words of the sentence; ``hasty`` are the settings of its hasty plan."""
    return lambda words, page: WebTaskSolution(write(*words.groups()), write(*words.groups(), **hasty) if hasty else [])


def _click(title: str, xpath: Callable[..., str]) -> Callable[[re.Match[str], str], WebTaskSolution]:
    """A single click; ``title`` and ``xpath`` get the words of the sentence."""
    return _from_words(lambda *words: [final_click(title.format(*words), xpath(*words))])


_quote = xpath_string


def _link(text: str) -> str:
    return f"(//span[@class='alink'][text()={_quote(text)}])[1]"


def _solve_labels(words: re.Match[str], page: str) -> WebTaskSolution:
    """Boxes with labels, or the names in a menu."""
    if 'role="menu"' in page:
        return WebTaskSolution(click_menu_item(words[1].split(">")))
    named = [] if words[1] == "nothing" else _find_offered(r"<label>(?:<[^<>]*>){1,5}([^<]+)", words[1], page)
    return WebTaskSolution(tick_boxes(named))


def _solve_options(words: re.Match[str], page: str) -> WebTaskSolution:
    return WebTaskSolution(choose_options(_find_offered(r"<option[^<>]*>([^<]+)", words[1], page)))


def _find_offered(pattern: str, said: str, page: str) -> list[str]:
    return find_names(said, [unescape(name) for name in re.findall(pattern, page)])


def _solve_game(words: re.Match[str], page: str) -> WebTaskSolution:
    play = play_tic_tac_toe
    return WebTaskSolution(play(), play(hasty=True), BOARD_HELPERS)


def _solve_number(words: re.Match[str], page: str) -> WebTaskSolution:
    return WebTaskSolution(guess_until_found(), guess_once(list(range(10))))


def _solve_mail(goal: str, page: str) -> WebTaskSolution | None:
    task = parse_mail_task(goal, re.findall(r'class="email-sender">([^<>]+)<', page))
    return WebTaskSolution(write_mail_steps(task), write_mail_steps(task, hasty=True)) if task else None


_SOLUTIONS: tuple[tuple[str, Callable[[re.Match[str], str], WebTaskSolution]], ...] = (
    (r'Click on the "(.+)" button\.', _click("click the button {}", lambda name: xpath_with_text(name, "button"))),
    (r"Click button ONE, then click button TWO\.", _from_words(click_in_turn)),
    (r"Click the button\.|Click button ONE\.", _click("click the button", lambda: "//button")),
    (r'Click on the link "(.+)"\.', _click("click the link {}", _link)),
    (
        r"Click on the (\w+) colored box\.",
        _click("click the {} box", lambda name: f"//div[@data-color={_quote(name)}]"),
    ),
    (
        r'Close the dialog box by clicking the "(x)"\.',
        _click("click {} in the dialog", lambda _: "//button[@title='Close']"),
    ),
    (
        r'Click the button in the dialog box labeled "(.+)"\.',
        _click("click {} in the dialog", lambda name: xpath_with_text(name, "button")),
    ),
    (r"Select words similar to (.+) and click Submit\.", _from_words(tick_similar_words)),
    (r"Select (.+) from the (?:scroll )?list and click Submit\.", _solve_options),
    (r"Select all the shades of (\w+) and press Submit\.", _from_words(click_shades)),
    (r"Select (-?\d+) with the spinner and hit Submit\.", _from_words(turn_spinner)),
    (r"Select (.+?)(?: and click Submit\.)?", _solve_labels),
    (r"Expand the section below and click submit\.", _from_words(expand_section)),
    (r'Expand the sections below, to find and click on the link "(.+)"\.', _from_words(click_link_in_section)),
    (r"Click on Tab #(\d+)\.", _click("click tab {}", lambda number: xpath_with_text(f"Tab #{number}", "a"))),
    (r'Switch between the tabs to find and click on the link "(.+)"\.', _from_words(click_link_in_tab)),
    (r'Click on a "(\w+)" widget\.', _click("click a {}", lambda kind: f"(//*[@data-type={_quote(kind)}])[1]")),
    (r"Click on the grid coordinate (\(.+\))\.", _click("click {}", lambda point: f"//*[@id={_quote(point)}]")),
    (
        r'Navigate through the file tree\. Find and click on the folder or file named "(.+)"\.',
        _click(
            "open the folders above {}, and click it",
            lambda name: f"({xpath_with_text(name, 'span')})/ancestor::li/span",
        ),
    ),
    (r"Click the button that best describes the figure below\.", _from_words(name_figure)),
    (r"How many (.+) are there\?", _from_words(count_shapes)),
    (r"Click on an? (.+)", _from_words(click_shape)),
    (r'For the user (@\S+), click on the "(.+)" button\.', _from_words(click_post_button)),
    (
        r'Click the "(\w+)" button on (?:all|(\d+)) posts? by (@\S+) and then click Submit\.',
        _from_words(click_post_buttons),
    ),
    (r'Enter "(.+)" into the text field and press Submit\.', _from_words(enter_text)),
    (r"Enter (\d\d)/(\d\d)/(\d{4}) as the date and hit submit\.", _from_words(enter_date)),
    (r"Enter (\d+):(\d\d) ([AP]M) as the time and press submit\.", _from_words(enter_time)),
    (r'Enter the password "(.+)" into both text fields and press submit\.', _from_words(enter_password)),
    (
        r"Focus into the (?:(\d)\w\w input )?textbox\.",
        _click("click the text field", lambda number: f"(//input)[{number or 1}]"),
    ),
    (r"Solve for x and type your answer into the textbox\. Press Submit when done\.", _from_words(solve_equation)),
    (r"Search for (\w+) movies directed by (\w+) from year (\d+)\.", _from_words(search_movies)),
    (r'Enter an item that starts with "(.+?)"(?: and ends with "(.+)")?\.', _from_words(choose_suggestion)),
    (
        r'Enter the username "(.+)" and the password "(.+)" into the text fields and press login\.',
        _from_words(log_in, careful=False),
    ),
    (
        r'Use the textbox to enter "(.+)" and press "Search", then find and click the (\d)\w\w search result\.',
        _from_words(use_search_engine, hasty=True),
    ),
    (
        r"Use the terminal below to delete a file (?:ending with the extension (\.\S+)|that has no .*)",
        _from_words(delete_file, hasty=True),
    ),
    (r"Playing as 'X', win a game of tic-tac-toe\.", _solve_game),
    (r"Guess the number between 0-9 and press Submit\. .*", _solve_number),
)
"""The solutions by the pattern of the sentence, except for mail, which has no fixed wording."""


# ------------------------------------------------------------------ mistakes, and mending plans

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(["type", "press_key", "click_option", "click_xpath", "move_mouse_on", "find", "clear", "wait", "scroll"])
    | {"click_point", "drag", "drag_by", "draw", "report", "description", "current_state"},
    {
        "type": "write enter type_text input fill",
        "press_key": "press hit key",
        "click_option": "choose select select_option",
        "click_xpath": "click click_on click_element tap",
        "move_mouse_on": "hover move_to hover_over",
    },
)


def mistake_inserters(solution: WebTaskSolution) -> dict[str, MistakeInserter]:
    """The inserters for a plan with this solution, by mistake."""
    return {
        "wrong_guess": lambda plan, which: write_hasty_plan(solution),
        "unknown_method": _insert_unknown_method,
        "syntax_error": _insert_syntax_error,
    }


def _insert_unknown_method(plan: str, which: float) -> str:
    pairs = [("click_xpath", "click"), ("type", "write"), ("press_key", "press"), ("click_option", "choose")]
    there = [(right, wrong) for right, wrong in pairs if f"agent.{right}(" in plan]
    right, wrong = there[int(which * len(there))]
    return plan.replace(f"agent.{right}(", f"agent.{wrong}(")


def _insert_syntax_error(plan: str, which: float) -> str:
    ends = r"^ +state = agent\.\w+\(.*(\))$|^    if start_from <= \d+(:)$"
    lines = list(re.finditer(ends, plan, re.MULTILINE))
    end = lines[int(which * len(lines))].end()
    return plan[: end - 1] + plan[end:]


def refine_plan(source: str, feedback: str, solution: WebTaskSolution) -> str:
    """The plan with its failing step mended according to the page's answer, or done carefully; otherwise a new plan."""
    if has_diagnostics(feedback):
        return repair_plan(source, feedback, AGENT_VOCABULARY)
    mended = fix_unknown_method(source, feedback, AGENT_VOCABULARY) or _use_next_guess(source, feedback)
    return mended or _use_careful_step(source, failed_step(feedback), solution)


def _use_next_guess(source: str, feedback: str) -> str | None:
    """Continue with the numbers that the page's answer to a guess leaves."""
    tried = re.search(r"^        possible = (\[[\d, ]*\])$", source, re.MULTILINE)
    if not tried:
        return None
    left = remaining_numbers(literal_eval(tried[1]), feedback)
    return edit_step(source, 1, r"^        possible = .*$", lambda _: f"        possible = {left}") if left else None


def _use_careful_step(source: str, step: int | None, job: WebTaskSolution) -> str:
    """Take the failed step from the correct plan, if both plans have the same steps; otherwise all of it."""
    sound, now = split_steps(write_plan(job)), split_steps(source)
    if step is None or sound.keys() != now.keys() or sound[step] == now[step]:
        return write_plan(job)
    return "".join({**now, step: sound[step]}.values())


# ------------------------------------------------------------------ words alike

_SYNONYM_GROUPS = """
big large huge enormous gigantic; small tiny little mini petite; red scarlet crimson vermillion;
happy cheerful joyful gleeful delighted; sad unhappy sorrowful miserable tragic; angry mad furious irritated;
evil wicked immoral sinful corrupt depraved; wrong incorrect mistaken erroneous; real genuine actual;
strange odd peculiar unusual weird; stop cease halt end finish;
scared terrified panicked fearful frightened afraid; quiet calm peaceful serene mild; old aged archaic;
love like adore favor; kill murder assassinate; keep retain preserve sustain maintain; hide conceal camouflage;
hate despise loathe detest dislike; funny humorous amusing comical laughable; fat fleshy plump chubby;
stupid dumb dull unwise; delicious savory delectable appetizing; cut slice carve chop; brave courageous fearless;
begin start initiate launch; answer reply response; television televisions tv tvs; house home houses homes;
fire flame fires flames; pig pork swine; rabbit rabbits bunny bunnies;
car cars automobile automobiles vehicle vehicles; water
"""
_QUESTION = re.compile(r"Which of the words \[([^\[\]]*)\] mean much the same as one of the words \[([^\[\]]*)\]\?")
_SYNONYMS = [set(group.split()) for group in _SYNONYM_GROUPS.split(";")]


def answer_question(question: str) -> str | None:
    """The Python list of offered words that resemble one of the named words; None for any other question."""
    asked = _QUESTION.search(question)
    if not asked:
        return None
    offered, named = (re.findall(r"'([^']+)'", part) for part in asked.groups())
    same, lowered = {*named}, {word.lower() for word in named}
    synonyms = set[str]().union(*(group for group in _SYNONYMS if group & lowered))
    return repr([word for word in offered if word in same or word.lower() in synonyms])
