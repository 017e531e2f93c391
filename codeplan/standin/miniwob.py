"""How the scripted stand-in plans in MiniWoB++: it reads the task's sentence and the page off the prompt."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from codeplan.standin import miniwob_clicks as clicks
from codeplan.standin import miniwob_feedback as feedback
from codeplan.standin import miniwob_forms as forms
from codeplan.standin import miniwob_mail as mail
from codeplan.standin.miniwob_steps import Move, write
from codeplan.types import Value


class Job(Value, frozen=True):
    """A task as it was understood: the moves that do it, and those of one in haste, where there is feedback to hear."""

    moves: tuple[Move, ...]
    hasty: tuple[Move, ...] = ()
    helpers: str = ""


def understand(goal: str, observation: str) -> Job | None:
    """The job that a task sets; None where it is none of the 53 of the paper."""
    found = re.search(r"\ATask: (.*)\n\nPage:\n", observation)
    text = goal or (found[1] if found else "")
    if 'class="email-thread"' in observation:
        return _mail(text, observation)
    for pattern, job in _JOBS:
        if words := re.fullmatch(pattern, text):
            return job(words, observation)
    return None


def write_plan(job: Job) -> str:
    """A plan that is sound as far as the page tells."""
    return write(list(job.moves), job.helpers)


def write_hasty_plan(job: Job) -> str:
    """A plan with the mistake that one makes in haste; the sound one where there is none to make."""
    return write(list(job.hasty or job.moves), job.helpers)


# ------------------------------------------------------------------ by the task's sentence


def _plain(moves: Callable[..., list[Move]]) -> Callable[[re.Match[str], str], Job]:
    """A job whose moves depend on the words of the sentence alone."""
    return lambda words, page: Job(tuple(moves(*words.groups())))


def _labels(words: re.Match[str], page: str) -> Job:
    """Boxes or buttons with labels; or, in a menu, the names on the way."""
    if 'role="menu"' in page:
        return Job(tuple(clicks.menu(words[1].split(">"))))
    return Job(tuple(clicks.boxes([] if words[1] == "nothing" else _offered(r"<label>.*?>([^<]+)", words[1], page))))


def _options(words: re.Match[str], page: str) -> Job:
    return Job(tuple(clicks.options(_offered(r"<option[^>]*>([^<]+)", words[1], page))))


def _offered(pattern: str, said: str, page: str) -> list[str]:
    return clicks.names_in(said, [unescape(name) for name in re.findall(pattern, page)])


def _posts(words: re.Match[str], page: str) -> Job:
    act, number, user = words.groups()
    return Job(tuple(clicks.posts(user, act, int(number) if number else None)))


def _suggestion(words: re.Match[str], page: str) -> Job:
    return Job(tuple(forms.suggestion(words[1], words[2] or "")))


def _login(words: re.Match[str], page: str) -> Job:
    return Job(tuple(forms.login(*words.groups())), tuple(forms.login(*words.groups(), wary=False)))


def _search(words: re.Match[str], page: str) -> Job:
    text, place = words[1], int(words[2])
    return Job(tuple(feedback.search(text, place)), tuple(feedback.search(text, place, hasty=True)))


def _terminal(words: re.Match[str], page: str) -> Job:
    ending = words[1] or ""
    return Job(tuple(feedback.terminal(ending)), tuple(feedback.terminal(ending, hasty=True)))


def _game(words: re.Match[str], page: str) -> Job:
    play = feedback.noughts_and_crosses
    return Job(tuple(play()), tuple(play(hasty=True)), feedback.BOARD)


def _number(words: re.Match[str], page: str) -> Job:
    return Job(tuple(feedback.guesses()), tuple(feedback.guess(list(range(10)))))


def _mail(goal: str, page: str) -> Job | None:
    senders = re.findall(r'class="email-sender">([^<]+)<', page)
    errand = mail.understand(goal, senders)
    return Job(tuple(mail.moves(errand)), tuple(mail.moves(errand, hasty=True))) if errand else None


_JOBS: tuple[tuple[str, Callable[[re.Match[str], str], Job]], ...] = (
    (r'Click on the "(.+)" button\.', _plain(clicks.button)),
    (r"Click button ONE, then click button TWO\.", _plain(clicks.in_turn)),
    (r"Click the button\.|Click button ONE\.", _plain(clicks.only_button)),
    (r'Click on the link "(.+)"\.', _plain(clicks.link)),
    (r"Click on the (\w+) colored box\.", _plain(clicks.colour)),
    (r'Close the dialog box by clicking the "(x)"\.', _plain(clicks.dialog)),
    (r'Click the button in the dialog box labeled "(.+)"\.', _plain(clicks.dialog)),
    (r"Select words similar to (.+) and click Submit\.", lambda m, page: Job(tuple(clicks.alike(m[1].split(", "))))),
    (r"Select (.+) from the (?:scroll )?list and click Submit\.", _options),
    (r"Select all the shades of (\w+) and press Submit\.", _plain(clicks.shades)),
    (r"Select (-?\d+) with the spinner and hit Submit\.", _plain(forms.spinner)),
    (r"Select (.+?)(?: and click Submit\.)?", _labels),
    (r"Expand the section below and click submit\.", _plain(clicks.section)),
    (r'Expand the sections below, to find and click on the link "(.+)"\.', _plain(clicks.link_in_section)),
    (r"Click on Tab #(\d+)\.", _plain(clicks.tab)),
    (r'Switch between the tabs to find and click on the link "(.+)"\.', _plain(clicks.link_in_tab)),
    (r'Click on a "(\w+)" widget\.', _plain(clicks.widget)),
    (r"Click on the grid coordinate (\(.+\))\.", _plain(clicks.coordinate)),
    (r'Navigate through the file tree\. Find and click on the folder or file named "(.+)"\.', _plain(clicks.tree)),
    (r"Click the button that best describes the figure below\.", _plain(clicks.figure)),
    (r"How many (.+) are there\?", _plain(clicks.count)),
    (r"Click on an? (.+)", _plain(clicks.shape)),
    (r'For the user (@\S+), click on the "(.+)" button\.', _plain(clicks.post)),
    (r'Click the "(\w+)" button on (?:all|(\d+)) posts? by (@\S+) and then click Submit\.', _posts),
    (r'Enter "(.+)" into the text field and press Submit\.', _plain(forms.text)),
    (r"Enter (\d\d)/(\d\d)/(\d{4}) as the date and hit submit\.", _plain(forms.date)),
    (r"Enter (\d+):(\d\d) ([AP]M) as the time and press submit\.", _plain(forms.time)),
    (r'Enter the password "(.+)" into both text fields and press submit\.', _plain(forms.password)),
    (r"Focus into the (?:(\d)\w\w input )?textbox\.", _plain(forms.focus)),
    (r"Solve for x and type your answer into the textbox\. Press Submit when done\.", _plain(forms.equation)),
    (r"Search for (\w+) movies directed by (\w+) from year (\d+)\.", _plain(forms.movies)),
    (r'Enter an item that starts with "(.+?)"(?: and ends with "(.+)")?\.', _suggestion),
    (r'Enter the username "(.+)" and the password "(.+)" into the text fields and press login\.', _login),
    (r'Use the textbox to enter "(.+)" and press "Search", then find and click the (\d)\w\w search result\.', _search),
    (r"Use the terminal below to delete a file (?:ending with the extension (\.\S+)|that has no .*)", _terminal),
    (r"Playing as 'X', win a game of tic-tac-toe\.", _game),
    (r"Guess the number between 0-9 and press Submit\. .*", _number),
)
"""What sentences there are, and the job that each sets. Of mail one may speak in any words."""
