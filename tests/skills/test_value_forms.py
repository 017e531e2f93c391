"""Words of a goal that stand for a plan's value by a conversion or a table: verified, or they count for nothing."""

from datetime import date, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop import Shop

import codeplan
from codeplan.curation.acquisition import AcquiredSkill, acquire_from_run
from codeplan.skills.import_export import export_skills, import_skills
from codeplan.skills.library import SkillLibrary
from codeplan.skills.selection import match_goal
from codeplan.skills.value_forms import ValueForm, convert, find_days, says_own_value

SUNDAY = date(2026, 11, 29)


def shown(words, own, day=None, table=()):
    return ValueForm("x", words, day.isoformat() if day else "", table)


@pytest.mark.parametrize(
    ("words", "today", "days"),
    [
        ("tomorrow", SUNDAY, {date(2026, 11, 30)}),
        ("the day after tomorrow", SUNDAY, {date(2026, 12, 1)}),
        ("in two weeks", SUNDAY, {date(2026, 12, 13)}),
        ("10 days from now", SUNDAY, {date(2026, 12, 9)}),
        ("Friday", SUNDAY, {date(2026, 12, 4)}),
        ("this Sunday", SUNDAY, set()),  # today, or in a week?
        ("next Friday", SUNDAY, {date(2026, 12, 4), date(2026, 12, 11)}),
        ("next Friday", date(2026, 11, 30), {date(2026, 12, 4), date(2026, 12, 11)}),
        ("next Friday", date(2026, 12, 5), {date(2026, 12, 11)}),
        ("two weeks", SUNDAY, set()),  # how long, and not when
        ("Friday night", SUNDAY, set()),
        ("in 10 days", date.max, set()),
    ],
)
def test_words_mean_days(words, today, days):
    assert set(find_days(words, today).values()) == days


def test_what_next_friday_means_is_shown_by_the_first_goal_or_nobody_knows():
    monday, to_come, of_next_week = date(2026, 11, 30), "2026-12-04", "2026-12-11"
    for own in (to_come, of_next_week):
        assert convert(shown("next Friday", own, monday), own, "next Friday", monday) == own
    unclear = shown("next Friday", "2026-12-11", date(2026, 12, 5))
    assert says_own_value(unclear, "2026-12-11")
    assert convert(unclear, "2026-12-11", "next Friday", monday) is None
    assert convert(unclear, "2026-12-11", "tomorrow", monday) == "2026-12-01"
    assert not says_own_value(shown("next Friday", to_come, monday), "2026-12-05")


@given(st.dates(date(2020, 1, 1), date(2030, 1, 1)), st.sampled_from(["Monday", "Thursday", "Sunday"]))
def test_every_reading_of_a_weekday_is_such_a_day_within_two_weeks(today, weekday):
    for kind in ("", "this ", "next "):
        for day in find_days(kind + weekday, today).values():
            assert day.strftime("%A") == weekday
            assert timedelta(0) < day - today <= timedelta(14)


@pytest.mark.parametrize(
    ("words", "own", "others"),
    [
        ("apples", "apple", {"pears": "pear", "plates": "plate", "Pears": None, "pear": None}),
        ("apples", "apple", {"boxes": None, "knives": None, "potatoes": None, "berries": None, "jeans": None}),
        ("apples", "apple", {"chaos": None, "glass": None, "status": None, "lens": None}),
        ("Apples", "apples", {"Pears": "pears", "iPhones": None, "USB": None}),
        ("Apples", "apple", {"Pears": "pear"}),
        ("green apples", "green apple", {"red pears": "red pear"}),
    ],
)
def test_a_singular_or_small_letters_are_made_where_that_is_regular(words, own, others):
    form = shown(words, own)
    assert says_own_value(form, own)
    assert {word: convert(form, own, word, SUNDAY) for word in others} == others


def test_a_table_counts_for_the_words_that_it_names():
    form = shown("Berlin", "DE-BE", table=(("Berlin", "DE-BE"), ("New York", "US-NY")))
    assert [convert(form, "DE-BE", w, SUNDAY) for w in ("berlin", "the new York", "York", "Hamburg")] == [
        *("DE-BE", "US-NY"),
        *(None, None),
    ]


# ------------------------------------------------------------------ learnt from a success


def plan_of(calls):
    lines = "".join(f"        assert agent.{call} is not None\n" for call in calls)
    return f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] do it')\n{lines}"


class Office(Shop):
    def __init__(self):
        super().__init__()
        self.booked = []

    def book(self, place: str, day: str) -> str:
        self.booked.append((place, day))
        return "booked"

    def accounts(self) -> list[dict]:
        return [{"id": "ACC-1", "name": "Savings"}, {"id": "ACC-2", "name": "Checking"}]

    def move(self, source: str, target: str, amount: int) -> str:
        return "moved"

    def pay(self, account: str, amount: int) -> str:
        self.booked.append((account, amount))
        return "paid"


class Model:
    """Says a plan, then a reply to the question for words, and keeps that question."""

    def __init__(self, plan, reply="no"):
        self.plan, self.reply, self.asked = plan, reply, []

    def __call__(self, messages):
        self.asked.append(messages[-1]["content"])
        return self.reply if "How else do people say it?" in self.asked[-1] else self.plan


def learn(goal, calls, library, tmp_path, values=None, **more):
    model = Model(plan_of(calls), msgspec.json.encode({"values": values or {}} | more).decode())
    codeplan.do(goal, tools=[Office()], model=model, out=tmp_path / "first", verify=lambda value: True)
    found = acquire_from_run(tmp_path / "first", library, model=model)
    assert isinstance(found, AcquiredSkill)
    assert len(model.asked) <= 2
    return library.change(found.skill, status="active")


def matched(library, goal):
    return [list(values.values()) for _, values in match_goal(library, goal)]


def test_a_day_in_words_is_that_of_the_later_goal(library, tmp_path):
    today = date.today()
    first, later = (today + timedelta(days=n) for n in (1, 14))
    learn("Book Berlin for tomorrow", [f"book('Berlin', {first.isoformat()!r})"], library, tmp_path)
    assert matched(library, "Book Hamburg for in two weeks") == [["Hamburg", later.isoformat()]]
    assert matched(library, "Book Hamburg for 2030-01-02") == [["Hamburg", "2030-01-02"]]
    assert matched(library, "Book Hamburg for the holidays") == []
    office = Office()
    result = codeplan.do(
        "Book Hamburg for tomorrow",
        tools=[office],
        model=Model("no"),
        library=library,
        reuse=True,
        verify=lambda value: True,
    )
    assert (result.model_calls, office.booked) == (0, [("Hamburg", first.isoformat())])


def test_words_for_numbers_and_things_are_values_by_rule(library, tmp_path):
    learn("Order apples up to twelve", ["stock('apple')", "order('apple', 12)"], library, tmp_path)
    assert matched(library, "Order pears up to 20") == [["pear", 20]]
    assert matched(library, "Order potatoes up to 20") == []


def test_a_plan_that_keeps_a_day_which_its_goal_says_in_words_is_never_sure(library, tmp_path):
    learn("Book Berlin before the end of the month", ["book('Berlin', '2026-11-30')"], library, tmp_path)
    assert matched(library, "Book Hamburg before the end of the month") == []


def test_a_table_of_the_reply_counts_for_its_words_alone(library, tmp_path):
    goal, calls = "Book Berlin for 2026-12-04", ["book('DE-BE', '2026-12-04')"]
    table = {"Berlin": "DE-BE", "Hamburg": "DE-HH", "Bonn": "Rhine", "everybody": "DE-XX"}
    skill = learn(goal, calls, library, tmp_path, {"the_value": table}, said=["Reserve {the_value} on {the_item}"])
    assert [name for name, _ in skill.forms[0].table] == ["Berlin", "Hamburg"]
    assert matched(library, "Book Hamburg for 2027-01-02") == [["DE-HH", "2027-01-02"]]
    assert matched(library, "Reserve Hamburg on 2027-01-02") == [["DE-HH", "2027-01-02"]]
    assert matched(library, "Book Munich for 2027-01-02") == matched(library, "Book DE-XX for 2027-01-02") == []
    assert library.get(skill.env, skill.name) == skill  # as its files say


@pytest.mark.parametrize(
    "values",
    [
        {"the_value": "Friday"},  # no conversion makes the account of it
        {"the_value": {"Bob": "EVIL-9"}},  # without the goal's own words
        {"the_value": {"Ann": "EVIL-9", "Bob": "ACC-7"}},  # the goal does not say Bob
        {"the_value": {"Pay": "ACC-7", "Send": "EVIL-9"}},  # the verb
        {"the_value": {"to": "ACC-7", "from": "EVIL-9"}},  # words that limit
        {"other": {"Ann": "ACC-7"}, "the_item": "Ann"},
        {"the_value": "x" * 10_000},
        {"the_value": {str(i): "ACC-7" for i in range(1_000)}},
        {"the_value": ["Ann"]},
    ],
)
def test_a_claim_that_no_rule_verifies_makes_no_parameter(library, tmp_path, values):
    skill = learn(
        "Pay 30 to Ann", ["pay('ACC-7', 30)"], library, tmp_path, values, said=["Give {the_value} {the_number}"]
    )
    assert (skill.forms, skill.parameters, skill.said) == ((), ("the_number",), ())
    assert matched(library, "Pay 40 to Ann") == [[40]]
    assert matched(library, "Pay 40 to Bob") == []


@pytest.mark.parametrize("swapped", [False, True])
def test_a_table_that_the_tools_own_answers_contradict_is_not_believed(library, tmp_path, swapped):
    """A reply that exchanges two accounts would later move money the other way."""
    accounts = {"savings": "ACC-1", "checking": "ACC-2"}
    wrong = {"checking": "ACC-1", "savings": "ACC-2"}
    names = {"the_value": wrong, "the_value_2": wrong} if swapped else {"the_value": accounts, "the_value_2": accounts}
    calls = ["accounts()", "move('ACC-1', 'ACC-2', 30)"]
    skill = learn("Move 30 from savings to checking", calls, library, tmp_path, names)
    moved = matched(library, "Move 40 from checking to savings")
    assert len(skill.forms) == (0 if swapped else 2)
    assert moved == ([] if swapped else [[40, "ACC-2", "ACC-1"]])


def test_a_goal_with_two_orders_or_another_direction_is_not_that_of_one(library, tmp_path):
    table = {"Ann": "ACC-7", "Bob": "ACC-8"}
    first = date.today().isoformat()
    calls = ["pay('ACC-7', 30)", f"book('desk', {first!r})"]
    skill = learn("Pay Ann 30 today", calls, library, tmp_path, {"the_value": table})
    assert matched(library, "Pay Bob 40 tomorrow") != []
    for goal in (
        "Pay Bob 40 tomorrow and Ann 50 today",
        "Pay Ann and Bob 40 today",
        "Pay Bob 40 today and tomorrow",
        "Pay Bob 40 from today",
        "Pay Bob 40 today, not tomorrow",
        "Pay my Bob 40 today",
        "Pay Bob 40 every Friday",
        "Pay Bob twelve of 40 today",
    ):
        assert matched(library, goal) == []
    export_skills(library, tmp_path / "a.zip", [skill])
    other = SkillLibrary(tmp_path / "other")
    (row,) = import_skills(other, tmp_path / "a.zip")
    assert (other.get_by_name(row.name).forms, other.get_by_name(row.name).status) == ((), "candidate")


def test_an_edited_form_that_no_longer_says_the_plans_value_is_not_believed(library, tmp_path):
    skill = learn("Pay 30 to Ann", ["pay('ACC-7', 30)"], library, tmp_path, {"the_value": {"Ann": "ACC-7"}})
    assert matched(library, "Pay 40 to Ann") == [[40, "ACC-7"]]
    table = (("Ann", "EVIL-9"),)
    library.change(skill, forms=(msgspec.structs.replace(skill.forms[0], table=table),))
    assert matched(library, "Pay 40 to Ann") == []
