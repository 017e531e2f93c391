"""The source of steps in MiniWoB++ plans, and of the XPaths in them."""

from __future__ import annotations

from textwrap import indent

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
