"""Steps for MiniWoB++ tasks with feedback: a search engine, games, a terminal.

Each comes in a careful and a ``hasty`` form. The hasty one makes the mistake of a planner that has not seen the page
answer.
"""

from __future__ import annotations

import re

from codeplan.standin.miniwob.steps import StepSource, click_line, fill_step, final_click

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
