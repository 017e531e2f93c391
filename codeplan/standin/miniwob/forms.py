"""Steps for MiniWoB++ forms: texts, dates, suggestions, logins."""

from __future__ import annotations

from codeplan.standin.miniwob.steps import (
    StepSource,
    click_line,
    fill_step,
    final_click,
    submit_step,
    value_assertion,
    xpath_string,
)

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


def focus_field(number: str) -> list[StepSource]:
    """Click the text field with this number, from 1; the first if the number is empty."""
    return [final_click("click the text field", f"(//input)[{number or 1}]")]


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
