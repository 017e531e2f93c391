"""The stand-in's rules for MiniWoB++: it plans by the task's sentence and the page, makes mistakes and mends plans."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from html import unescape

from codeplan.standin import miniwob_steps as steps
from codeplan.standin.miniwob_steps import StepSource, remaining_numbers, write_steps
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
    return _from_words(lambda *words: [steps.final_click(title.format(*words), xpath(*words))])


_quote = steps.xpath_string


def _link(text: str) -> str:
    return f"(//span[@class='alink'][text()={_quote(text)}])[1]"


def _solve_labels(words: re.Match[str], page: str) -> WebTaskSolution:
    """Boxes with labels, or the names in a menu."""
    if 'role="menu"' in page:
        return WebTaskSolution(steps.click_menu_item(words[1].split(">")))
    named = [] if words[1] == "nothing" else _find_offered(r"<label>(?:<[^<>]*>){1,5}([^<]+)", words[1], page)
    return WebTaskSolution(steps.tick_boxes(named))


def _solve_options(words: re.Match[str], page: str) -> WebTaskSolution:
    return WebTaskSolution(steps.choose_options(_find_offered(r"<option[^<>]*>([^<]+)", words[1], page)))


def _find_offered(pattern: str, said: str, page: str) -> list[str]:
    return steps.find_names(said, [unescape(name) for name in re.findall(pattern, page)])


def _solve_game(words: re.Match[str], page: str) -> WebTaskSolution:
    play = steps.play_tic_tac_toe
    return WebTaskSolution(play(), play(hasty=True), steps.BOARD_HELPERS)


def _solve_number(words: re.Match[str], page: str) -> WebTaskSolution:
    return WebTaskSolution(steps.guess_until_found(), steps.guess_once(list(range(10))))


def _solve_mail(goal: str, page: str) -> WebTaskSolution | None:
    task = steps.parse_mail_task(goal, re.findall(r'class="email-sender">([^<>]+)<', page))
    return WebTaskSolution(steps.write_mail_steps(task), steps.write_mail_steps(task, hasty=True)) if task else None


_SOLUTIONS: tuple[tuple[str, Callable[[re.Match[str], str], WebTaskSolution]], ...] = (
    (
        r'Click on the "(.+)" button\.',
        _click("click the button {}", lambda name: steps.xpath_with_text(name, "button")),
    ),
    (r"Click button ONE, then click button TWO\.", _from_words(steps.click_in_turn)),
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
        _click("click {} in the dialog", lambda name: steps.xpath_with_text(name, "button")),
    ),
    (r"Select words similar to (.+) and click Submit\.", _from_words(steps.tick_similar_words)),
    (r"Select (.+) from the (?:scroll )?list and click Submit\.", _solve_options),
    (r"Select all the shades of (\w+) and press Submit\.", _from_words(steps.click_shades)),
    (r"Select (-?\d+) with the spinner and hit Submit\.", _from_words(steps.turn_spinner)),
    (r"Select (.+?)(?: and click Submit\.)?", _solve_labels),
    (r"Expand the section below and click submit\.", _from_words(steps.expand_section)),
    (r'Expand the sections below, to find and click on the link "(.+)"\.', _from_words(steps.click_link_in_section)),
    (r"Click on Tab #(\d+)\.", _click("click tab {}", lambda number: steps.xpath_with_text(f"Tab #{number}", "a"))),
    (r'Switch between the tabs to find and click on the link "(.+)"\.', _from_words(steps.click_link_in_tab)),
    (r'Click on a "(\w+)" widget\.', _click("click a {}", lambda kind: f"(//*[@data-type={_quote(kind)}])[1]")),
    (r"Click on the grid coordinate (\(.+\))\.", _click("click {}", lambda point: f"//*[@id={_quote(point)}]")),
    (
        r'Navigate through the file tree\. Find and click on the folder or file named "(.+)"\.',
        _click(
            "open the folders above {}, and click it",
            lambda name: f"({steps.xpath_with_text(name, 'span')})/ancestor::li/span",
        ),
    ),
    (r"Click the button that best describes the figure below\.", _from_words(steps.name_figure)),
    (r"How many (.+) are there\?", _from_words(steps.count_shapes)),
    (r"Click on an? (.+)", _from_words(steps.click_shape)),
    (r'For the user (@\S+), click on the "(.+)" button\.', _from_words(steps.click_post_button)),
    (
        r'Click the "(\w+)" button on (?:all|(\d+)) posts? by (@\S+) and then click Submit\.',
        _from_words(steps.click_post_buttons),
    ),
    (r'Enter "(.+)" into the text field and press Submit\.', _from_words(steps.enter_text)),
    (r"Enter (\d\d)/(\d\d)/(\d{4}) as the date and hit submit\.", _from_words(steps.enter_date)),
    (r"Enter (\d+):(\d\d) ([AP]M) as the time and press submit\.", _from_words(steps.enter_time)),
    (r'Enter the password "(.+)" into both text fields and press submit\.', _from_words(steps.enter_password)),
    (
        r"Focus into the (?:(\d)\w\w input )?textbox\.",
        _click("click the text field", lambda number: f"(//input)[{number or 1}]"),
    ),
    (
        r"Solve for x and type your answer into the textbox\. Press Submit when done\.",
        _from_words(steps.solve_equation),
    ),
    (r"Search for (\w+) movies directed by (\w+) from year (\d+)\.", _from_words(steps.search_movies)),
    (r'Enter an item that starts with "(.+?)"(?: and ends with "(.+)")?\.', _from_words(steps.choose_suggestion)),
    (
        r'Enter the username "(.+)" and the password "(.+)" into the text fields and press login\.',
        _from_words(steps.log_in, careful=False),
    ),
    (
        r'Use the textbox to enter "(.+)" and press "Search", then find and click the (\d)\w\w search result\.',
        _from_words(steps.use_search_engine, hasty=True),
    ),
    (
        r"Use the terminal below to delete a file (?:ending with the extension (\.\S+)|that has no .*)",
        _from_words(steps.delete_file, hasty=True),
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
