"""How the scripted stand-in does MiniWoB++'s tasks of filling in: texts, dates, lists of suggestions, logins."""

from __future__ import annotations

from codeplan.standin.miniwob_steps import Move, click, fill, last, quoted, shown, submit

_INTO_FIRST_PART = click("//input[@id='tt']") + "\nagent.press_key('arrow_left')\nagent.press_key('arrow_left')\n"


def text(words: str) -> list[Move]:
    """Type words into the text field, and hand that in."""
    return [fill("text", "//input[@id='tt']", words), submit()]


def date(month: str, day: str, year: str) -> list[Move]:
    """Fields of month, day and year in one: from the first on, digits go to the next by themselves."""
    lines = f"{_INTO_FIRST_PART}state = agent.type('{month}{day}{year}')"
    return [Move("enter the date", lines, shown(f"{year}-{month}-{day}"), "the date is not in the field"), submit()]


def time(hour: str, minute: str, half: str) -> list[Move]:
    """Enter a time of day by the clock of twelve hours, ``half`` being AM or PM, and hand that in."""
    lines = f"{_INTO_FIRST_PART}state = agent.type('{hour.zfill(2)}{minute}{half}')"
    clock = int(hour) % 12 + (12 if half == "PM" else 0)
    return [Move("enter the time", lines, shown(f"{clock:02}:{minute}"), "the time is not in the field"), submit()]


def password(word: str) -> list[Move]:
    """Type a password into both of its fields, and hand that in."""
    return [
        fill("password", "//input[@id='password']", word),
        fill("password once more", "//input[@id='verify']", word),
        submit(),
    ]


def focus(number: str) -> list[Move]:
    """Click the text field of this number, from 1; the first where the number is empty."""
    return [last("click the text field", f"(//input)[{number or 1}]")]


def equation() -> list[Move]:
    """Solve the equation for x, enter x, and hand that in."""
    enter = click("//input[@id='math-answer']")
    lines = (
        "left, sign, right, total = re.search(r'>(\\w+) ([+-]) (\\w+) = (-?\\d+)<', agent.current_state).groups()\n"
        "if left == 'x':\n"
        "    x = int(total) - int(right) if sign == '+' else int(total) + int(right)\n"
        "else:\n"
        "    x = int(total) - int(left) if sign == '+' else int(left) - int(total)\n"
        f"{enter}\n"
        "state = agent.type(str(x))"
    )
    return [Move("solve the equation and enter x", lines, "f'value=\"{x}\"' in state", "x is not filled in"), submit()]


def movies(genre: str, director: str, year: str) -> list[Move]:
    """A search form that is laid out in many ways: each field stands in one box with its label."""
    fields = {"Genre": genre, "Director": director, "Year": year}
    lines = (
        f"for label, words in {fields!r}.items():\n"
        "    label = 'Date' if label == 'Year' and 'Date' in agent.current_state else label\n"
        "    near = f'//*[contains(text(), \"{label}\")]'\n"
        "    agent.click_xpath(f'({near}/..//input | {near}//input)[1]')\n"
        "    state = agent.type(words)"
    )
    filled = Move(
        "fill in the form", lines, f"all(words in state for words in {list(fields.values())!r})", "a field is empty"
    )
    go = "//*[self::button or @class='final' or @class='ui-submit' or @type='submit']"
    return [filled, last("search", f"({go})[last()]")]


def suggestion(start: str, end: str) -> list[Move]:
    """A list comes up under the field while one types."""
    enter = click("//input[@id='tags']")
    lines = (
        f"{enter}\n"
        f"state = agent.type({start!r})\n"
        "offered = re.findall(r'class=\"ui-menu-item-wrapper[^>]*>([^<]+)<', state)\n"
        f"fitting = [name for name in offered if name.startswith({start!r}) and name.endswith({end!r})]"
    )
    chosen = "state = agent.click_xpath(f'//li/div[text()=\"{fitting[0]}\"]')"
    return [
        Move(f"type {start}", lines, "fitting", "nothing that fits is offered"),
        Move("take one that is offered", chosen, "f'value=\"{fitting[0]}\"' in state", "it is not in the field"),
        submit(),
    ]


def spinner(number: str) -> list[Move]:
    """Turn the spinner from 0 to this number, and hand that in."""
    way = "up" if int(number) >= 0 else "down"
    turn = click(f"//a[contains(@class, 'ui-spinner-{way}')]")
    lines = f"state = agent.current_state\nfor _ in range({abs(int(number))}):\n    {turn}"
    return [Move(f"turn {way}", lines, shown(number), f"it is not at {number}"), submit()]


def login(user: str, word: str, *, wary: bool = True) -> list[Move]:
    """A window may come up when a field is clicked, and then the field has to be clicked again."""
    return [
        _into("username", wary),
        _typed("username", user),
        _into("password", wary),
        _typed("password", word),
        submit(),
    ]


def _into(field: str, wary: bool) -> Move:
    xpath = f"//input[@id={quoted(field)}]"
    again = (
        "for _ in range(2):\n"
        "    if 'id=\"popup\"' in agent.current_state:\n"
        "        agent.click_xpath('//button[@id=\"popup-cancel\"]')\n"
        f"    {click(xpath)}"
    )
    lines = again if wary else click(xpath)
    return Move(f"click the {field} field", lines, "'id=\"popup\"' not in state", "a window has come up")


def _typed(field: str, word: str) -> Move:
    return Move(f"type the {field}", f"state = agent.type({word!r})", shown(word), f"no {field} yet")
