"""The parts of the scripted stand-in's plans for MiniWoB++: steps, and the XPaths in them."""

from __future__ import annotations

from textwrap import indent

from codeplan.types import Value

SUBMIT = "//button[@id='subbtn']"


class Move(Value, frozen=True):
    """One step of a plan: why, the lines that act, the test of what came of them, and what it says where that fails."""

    why: str
    lines: str
    test: str
    fault: str


def write(moves: list[Move], helpers: str = "") -> str:
    """The plan that makes these moves."""
    outline = ", then ".join(move.why for move in moves)
    head = f"def solution(agent, start_from=1):\n    # General plan: {outline}.\n{indent(helpers, '    ')}"
    return head + "".join(step(number, move) for number, move in enumerate(moves, 1))


def step(number: int, move: Move) -> str:
    """A move as a step of this number."""
    said = move.why[0].upper() + move.why[1:]
    return (
        f"    if start_from <= {number}:\n"
        f"        print({f'[Step {number}] {said}'!r})\n"
        f"{indent(move.lines, '        ')}\n"
        f"        assert {move.test}, f'Error in [Step {number}]: {move.fault}. {{agent.report()}}'\n"
    )


def click(xpath: str) -> str:
    """A line that clicks."""
    return f"state = agent.click_xpath({xpath!r})"


def last(why: str, xpath: str) -> Move:
    """The click that ends the task."""
    return Move(why, click(xpath), "state.startswith('DONE')", "the task goes on")


def submit(xpath: str = SUBMIT) -> Move:
    """The click that hands in what was done."""
    return last("submit", xpath)


def fill(what: str, xpath: str, text: str) -> Move:
    """Text into a field."""
    lines = f"{click(xpath)}\nstate = agent.type({text!r})"
    return Move(f"fill in the {what}", lines, shown(text), f"the {what} is not filled in")


def shown(value: str) -> str:
    """The test that a field has this value."""
    told = f'value="{value}"'
    return f"{told!r} in state"


def quoted(text: str) -> str:
    """A text as an XPath says it."""
    if '"' not in text:
        return f'"{text}"'
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"


def reading(text: str, tag: str = "*") -> str:
    """The first element of this tag that has just this text."""
    return f"(//{tag}[text()={quoted(text)}])[1]"
