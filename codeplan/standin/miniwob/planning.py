"""Plans for MiniWoB++, by the task's sentence and the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from codeplan.standin.miniwob import clicks as clicks
from codeplan.standin.miniwob import feedback as feedback
from codeplan.standin.miniwob import forms as forms
from codeplan.standin.miniwob import mail as mail
from codeplan.standin.miniwob.steps import StepSource, write_steps
from codeplan.types import Value


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


def _solve_labels(words: re.Match[str], page: str) -> WebTaskSolution:
    """Boxes with labels, or the names in a menu."""
    if 'role="menu"' in page:
        return WebTaskSolution(clicks.click_menu_item(words[1].split(">")))
    named = [] if words[1] == "nothing" else _find_offered(r"<label>(?:<[^<>]*>){1,5}([^<]+)", words[1], page)
    return WebTaskSolution(clicks.tick_boxes(named))


def _solve_options(words: re.Match[str], page: str) -> WebTaskSolution:
    return WebTaskSolution(clicks.choose_options(_find_offered(r"<option[^<>]*>([^<]+)", words[1], page)))


def _find_offered(pattern: str, said: str, page: str) -> list[str]:
    return clicks.find_names(said, [unescape(name) for name in re.findall(pattern, page)])


def _solve_game(words: re.Match[str], page: str) -> WebTaskSolution:
    play = feedback.play_tic_tac_toe
    return WebTaskSolution(play(), play(hasty=True), feedback.BOARD_HELPERS)


def _solve_number(words: re.Match[str], page: str) -> WebTaskSolution:
    return WebTaskSolution(feedback.guess_until_found(), feedback.guess_once(list(range(10))))


def _solve_mail(goal: str, page: str) -> WebTaskSolution | None:
    task = mail.parse_mail_task(goal, re.findall(r'class="email-sender">([^<>]+)<', page))
    return WebTaskSolution(mail.write_mail_steps(task), mail.write_mail_steps(task, hasty=True)) if task else None


_SOLUTIONS: tuple[tuple[str, Callable[[re.Match[str], str], WebTaskSolution]], ...] = (
    (r'Click on the "(.+)" button\.', _from_words(clicks.click_button)),
    (r"Click button ONE, then click button TWO\.", _from_words(clicks.click_in_turn)),
    (r"Click the button\.|Click button ONE\.", _from_words(clicks.click_only_button)),
    (r'Click on the link "(.+)"\.', _from_words(clicks.click_link)),
    (r"Click on the (\w+) colored box\.", _from_words(clicks.click_coloured_box)),
    (r'Close the dialog box by clicking the "(x)"\.', _from_words(clicks.close_dialog)),
    (r'Click the button in the dialog box labeled "(.+)"\.', _from_words(clicks.close_dialog)),
    (r"Select words similar to (.+) and click Submit\.", _from_words(clicks.tick_similar_words)),
    (r"Select (.+) from the (?:scroll )?list and click Submit\.", _solve_options),
    (r"Select all the shades of (\w+) and press Submit\.", _from_words(clicks.click_shades)),
    (r"Select (-?\d+) with the spinner and hit Submit\.", _from_words(forms.turn_spinner)),
    (r"Select (.+?)(?: and click Submit\.)?", _solve_labels),
    (r"Expand the section below and click submit\.", _from_words(clicks.expand_section)),
    (r'Expand the sections below, to find and click on the link "(.+)"\.', _from_words(clicks.click_link_in_section)),
    (r"Click on Tab #(\d+)\.", _from_words(clicks.click_tab)),
    (r'Switch between the tabs to find and click on the link "(.+)"\.', _from_words(clicks.click_link_in_tab)),
    (r'Click on a "(\w+)" widget\.', _from_words(clicks.click_widget)),
    (r"Click on the grid coordinate (\(.+\))\.", _from_words(clicks.click_coordinate)),
    (
        r'Navigate through the file tree\. Find and click on the folder or file named "(.+)"\.',
        _from_words(clicks.click_in_tree),
    ),
    (r"Click the button that best describes the figure below\.", _from_words(clicks.name_figure)),
    (r"How many (.+) are there\?", _from_words(clicks.count_shapes)),
    (r"Click on an? (.+)", _from_words(clicks.click_shape)),
    (r'For the user (@\S+), click on the "(.+)" button\.', _from_words(clicks.click_post_button)),
    (
        r'Click the "(\w+)" button on (?:all|(\d+)) posts? by (@\S+) and then click Submit\.',
        _from_words(clicks.click_post_buttons),
    ),
    (r'Enter "(.+)" into the text field and press Submit\.', _from_words(forms.enter_text)),
    (r"Enter (\d\d)/(\d\d)/(\d{4}) as the date and hit submit\.", _from_words(forms.enter_date)),
    (r"Enter (\d+):(\d\d) ([AP]M) as the time and press submit\.", _from_words(forms.enter_time)),
    (r'Enter the password "(.+)" into both text fields and press submit\.', _from_words(forms.enter_password)),
    (r"Focus into the (?:(\d)\w\w input )?textbox\.", _from_words(forms.focus_field)),
    (
        r"Solve for x and type your answer into the textbox\. Press Submit when done\.",
        _from_words(forms.solve_equation),
    ),
    (r"Search for (\w+) movies directed by (\w+) from year (\d+)\.", _from_words(forms.search_movies)),
    (r'Enter an item that starts with "(.+?)"(?: and ends with "(.+)")?\.', _from_words(forms.choose_suggestion)),
    (
        r'Enter the username "(.+)" and the password "(.+)" into the text fields and press login\.',
        _from_words(forms.log_in, careful=False),
    ),
    (
        r'Use the textbox to enter "(.+)" and press "Search", then find and click the (\d)\w\w search result\.',
        _from_words(feedback.use_search_engine, hasty=True),
    ),
    (
        r"Use the terminal below to delete a file (?:ending with the extension (\.\S+)|that has no .*)",
        _from_words(feedback.delete_file, hasty=True),
    ),
    (r"Playing as 'X', win a game of tic-tac-toe\.", _solve_game),
    (r"Guess the number between 0-9 and press Submit\. .*", _solve_number),
)
"""The solutions by the pattern of the sentence, except for mail, which has no fixed wording."""
