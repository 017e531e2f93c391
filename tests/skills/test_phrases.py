"""A goal in a skill's own words, or in those that it was taught, is recognised by rule; any other is not."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.skills.parameter_binding import MAX_GOAL, PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.skills.phrases import MAX_PHRASES, bind_by_rule, find_phrase, own_phrase, parse_phrases, valid_phrases
from codeplan.skills.skill import Skill


def skill(goal, values, said=(), words=(), more=""):
    lines = "".join(f"    {name} = {msgspec.json.encode(value).decode()}\n" for name, value in values.items())
    plan = (
        f"def solution(agent, start_from=1):\n    {PARAMETERS_OPENING} {goal}\n{lines}    {PARAMETERS_CLOSING}\n{more}"
    )
    return Skill("one", "tools", plan, parameters=tuple(values), said=said, words=words)


ORDER = skill(
    "Order apples up to 10",
    {"the_item": "apples", "the_number": 10},
    said=("Buy {the_item} until there are {the_number}", "Of {the_item} have {the_number}"),
    words=(("order", "purchase"), ("stock", "inventory")),
)
MOVE = skill("Move 30 from savings to checking", {"n": 30, "one": "savings", "other": "checking"})
REFUND = skill("Refund #W52 by 2026-03-01", {"id": "#W52", "day": "2026-03-01"})
MAIL = skill("Mail the report to bob@example.com", {"address": "bob@example.com"})
CANCEL = skill("Cancel the orders 17, 19 and 23", {"n": [17, 19, 23]}, said=("Annul {n} now please",))
INVITE = skill("Invite Ann, Bob Ray and Eve to Retro", {"who": ["Ann", "Bob Ray", "Eve"], "to": "Retro"})
SEND = skill("Send 15 desk lamps to Leeds", {"n": 15, "what": "desk lamps", "where": "Leeds"})
SHARE = skill("Share budget.xlsx as viewer", {"file": "budget.xlsx", "role": "viewer"})
MEET = skill("Meet Ann Lee", {"who": "Ann Lee"}, said=("An appointment with {who}",))


@pytest.mark.parametrize(
    ("known", "goal", "values"),
    [
        (ORDER, "order pears up to 25", {"the_item": "pears", "the_number": 25}),
        (ORDER, "Could you please purchase the pears up to 7? Thank you!", {"the_item": "pears", "the_number": 7}),
        (ORDER, "Order pears up to twenty-five", {"the_item": "pears", "the_number": 25}),
        (ORDER, "Buy the kiwi until there are 3.", {"the_item": "kiwi", "the_number": 3}),
        (ORDER, "Order Granny Smith up to 5", {"the_item": "Granny Smith", "the_number": 5}),
        (ORDER, 'Order "pears and plums" up to 5', {"the_item": "pears and plums", "the_number": 5}),
        (MOVE, "Move 5 from holidays to checking", {"n": 5, "one": "holidays", "other": "checking"}),
        (SEND, "Send 6 garden chairs to York", {"n": 6, "what": "garden chairs", "where": "York"}),
        (SHARE, "Share plan9.pdf as viewer", {"file": "plan9.pdf", "role": "viewer"}),
        (REFUND, "Refund #W7 by 2nd of May 2027", {"id": "#W7", "day": "2027-05-02"}),
        (REFUND, "Refund #W7 by 05.06.2027", {"id": "#W7", "day": "2027-06-05"}),
        (REFUND, "Refund #W7 by 6 Dec 2027", {"id": "#W7", "day": "2027-12-06"}),
        (REFUND, "Refund #W7 by 5 May 2027", {"id": "#W7", "day": "2027-05-05"}),
        (REFUND, "refund #W7 by May 5, 2027", {"id": "#W7", "day": "2027-05-05"}),
        (MAIL, "Mail report to eve@example.org", {"address": "eve@example.org"}),
        (MEET, "Meet Bob", {"who": "Bob"}),
        (CANCEL, "Cancel orders 4 and 5", {"n": [4, 5]}),
        (CANCEL, "Annul 1, 2, 3, and 4 now", {"n": [1, 2, 3, 4]}),
        (CANCEL, "cancel the order 7", {"n": [7]}),
        (INVITE, 'Invite Joe, "a b" & Kim Lee to Planning', {"who": ["Joe", "a b", "Kim Lee"], "to": "Planning"}),
        (MEET, "an appointment with Bob Ray Jones, please", {"who": "Bob Ray Jones"}),
    ],
)
def test_other_values_in_the_same_words_are_bound(known, goal, values):
    assert bind_by_rule(known, goal) == values


@pytest.mark.parametrize(
    ("known", "goal"),
    [
        (ORDER, "Order pears"),
        (ORDER, "Order up to 5"),
        (ORDER, "Cancel pears up to 5"),
        (ORDER, "Do not order pears up to 5"),
        (ORDER, "Order pears up to 5 and tell Bob"),
        (ORDER, "Order pears and plums up to 5"),
        (ORDER, "Order fresh pears up to 5"),
        (ORDER, "Order everything up to 5"),
        (ORDER, "Order them up to 5"),
        (ORDER, "Order pears up to 2.5"),
        (ORDER, "Order pears up to -5"),
        (ORDER, "Order pears up to 5 %"),
        (ORDER, "Order 7 up to 5"),
        (ORDER, "Order bob@example.com up to 5"),
        (ORDER, "Order pears up to 5. Order plums up to 5"),
        (ORDER, "Buy pears up to 5"),
        (ORDER, "up to 5 pears, order"),
        (ORDER, "Order pears up to " + "5" * 16),
        (ORDER, "Order pears up to 5" + " " * MAX_GOAL),
        (MOVE, "Move 5 to checking from savings"),
        (MOVE, "Move 5 from savings to holidays"),
        (SHARE, "Share budget.xlsx as editor"),
        (SHARE, "Share budget.xlsx as Editor"),
        (SHARE, 'Share budget.xlsx as "editor"'),
        (SHARE, "Share budget.xlsx as viewers"),
        (SEND, "Send 15 desk lamps and chairs to Leeds"),
        (SEND, "Send 15 old brass desk lamps to Leeds"),
        (REFUND, "Refund #W7 by 05/06/2027"),
        (MOVE, "Move 5 from savings"),
        (MOVE, "Move half from savings to checking"),
        (REFUND, "Refund W7 by 2027-05-05"),
        (REFUND, "Refund #W7 by 2027-02-30"),
        (REFUND, "Refund #W7 by tomorrow"),
        (MAIL, "Mail the report to Bob"),
        (MAIL, "Mail the report to a@example.org and b@example.org"),
        (CANCEL, "Cancel the orders 17 or 19"),
        (CANCEL, "Cancel the orders 17-19"),
        (CANCEL, "Cancel the orders 17 19"),
        (CANCEL, "Cancel the orders 17, 17"),
        (CANCEL, "Cancel the orders 17, 2.5"),
        (CANCEL, "Cancel the orders 17, and"),
        (CANCEL, "Cancel the orders 17 and 19 and tell Bob"),
        (CANCEL, "Cancel the orders 17 and all others"),
        (INVITE, "Invite Joe and my boss to Retro"),
        (INVITE, "Invite Joe and everybody to Retro"),
        (MEET, "Meet everyone"),
        (MEET, "Meet Bob and Eve"),
        (MEET, "Meet The Hague"),
        (MEET, "Meet landlord"),
        (ORDER, "Order my pears up to 5"),
        (ORDER, 'Order my "pears" up to 5'),
        (ORDER, "Order pears/plums up to 5"),
        (ORDER, "Order not-apples up to 5"),
        (ORDER, "Order don't up to 5"),
        (ORDER, 'Order pears up to 5"'),
        (ORDER, "Order pears up to (5)"),
        (ORDER, 'Order "a\nb" up to 5'),
        (ORDER, 'Order "\U000e0041x" up to 5'),
        (ORDER, 'Order "\ud800" up to 5'),
        (MEET, ""),
    ],
)
def test_a_goal_that_says_anything_else_is_not_bound(known, goal):
    assert bind_by_rule(known, goal) is None


def test_a_plan_that_has_a_value_elsewhere_too_is_never_sure():
    more = "    agent.mail('about apples')\n"
    values = {"the_item": "apples"}
    assert bind_by_rule(skill("Order apples", values), "Order pears")
    assert bind_by_rule(skill("Order apples", values, more=more), "Order pears") is None


def test_a_skill_that_does_not_fit_its_plan_is_never_sure():
    """A stranger wrote the files of a library that is opened in place."""
    values = {"the_item": "apples", "the_number": 10}
    for names, said in ((("the_item", "ghost"), "Buy {the_item} from {ghost}"), (("the_item",), "Buy {the_item}")):
        wrong = msgspec.structs.replace(skill("Order apples up to 10", values), parameters=names, said=(said,))
        assert bind_by_rule(wrong, "Buy pears from Bob") is bind_by_rule(wrong, "Buy pears") is None
    twice = skill("Order apples up to 10", values)
    plan = twice.plan.replace("    the_number", '    the_item = "gold"\n    the_number')
    assert bind_by_rule(msgspec.structs.replace(twice, plan=plan), "Order pears up to 5") is None


def test_the_mark_of_a_place_in_an_interchangeable_word_is_no_place():
    marked = skill("Order apples", {"a": "apples"}, words=(("\ue000", "order"), ("\ue000 order", "buy")))
    assert bind_by_rule(marked, "Order pears") == {"a": "pears"}
    assert bind_by_rule(marked, "Buy pears") is None


def test_a_long_goal_is_aligned_in_a_deep_stack():
    long = skill("# " * 140 + "apples", {"a": "apples"})

    def deep(levels):
        return deep(levels - 1) if levels else bind_by_rule(long, "# " * 140 + "pears")

    assert deep(800) == {"a": "pears"}


def test_a_plan_without_parameters_is_never_sure():
    assert bind_by_rule(skill("Order apples", {}), "Order apples") is None


def test_a_list_may_be_named_in_what_is_printed_and_nowhere_else():
    values = {"who": ["Ann", "Eve"]}
    printed = skill("Meet Ann and Eve", values, more="    print('[Step 1] meet Ann and Eve')\n")
    assert bind_by_rule(printed, "Meet Joe") == {"who": ["Joe"]}
    assert bind_by_rule(skill("Meet Ann and Eve", values, more="    agent.tell('Eve')\n"), "Meet Joe") is None


def test_a_goal_that_fits_in_two_ways_is_not_bound():
    two = skill("Give Ann from Bob", {"a": "Ann", "b": "Bob"}, said=("Give {b} from {a}",))
    assert bind_by_rule(two, "Give Eve from Joe") is None


def test_a_word_in_two_groups_stands_for_itself():
    both = skill("Order apples", {"a": "apples"}, words=(("order", "buy"), ("buy", "acquire")))
    assert bind_by_rule(both, "Buy pears") is None
    assert bind_by_rule(both, "Order pears") == {"a": "pears"}


@pytest.mark.parametrize(
    ("goal", "value"),
    [
        ("call off the order PO-7, then tell the supplier", "PO-7"),
        ("Cancel PO-7 and let our supplier know", "PO-7"),
        ("Cancel PO-7 and tell the supplier to wait", None),
        ("Cancel tell the supplier and tell the supplier", None),
    ],
)
def test_parts_of_a_sentence_may_be_interchangeable(goal, value):
    parts = (("let the supplier know", "tell the supplier"), ("call off the order", "cancel"), ("and", "then"))
    known = skill("Cancel PO-1 and let the supplier know", {"id": "PO-1"}, words=parts)
    assert bind_by_rule(known, goal) == ({"id": value} if value else None)


@given(st.text('ab c.7"{}', max_size=30), st.text('ab c.7"{}', max_size=30))
def test_what_is_bound_stands_in_the_goal(phrase, goal):
    values = bind_by_rule(skill("Take b", {"x": "b"}, said=(phrase,)), goal)
    assert values is None or str(values["x"]) in goal


def test_phrases_have_each_parameter_once_and_words_between():
    two, one = skill("b c", {"a": "b", "b": "c"}), skill("b", {"a": "b"})
    wrong = ["buy {a}", "{a} {b}", "buy {a} {b}", "{a} is {c}", "x" * MAX_GOAL + " {a} in {b}"]
    assert valid_phrases(two, [*wrong, "buy  {a} for {b}", "buy {a} for {b}"]) == ("buy {a} for {b}",)
    assert len(valid_phrases(one, [f"buy {{a}} {i}" for i in range(MAX_PHRASES + 1)])) == MAX_PHRASES


def test_a_reply_teaches_phrases_and_words():
    taught = parse_phrases('Here: {"said": ["Get {a}", "Get it"], "words": [["get", "fetch", "get"], ["one"]]}', ORDER)
    assert (taught.said, taught.words) == (ORDER.said, (*ORDER.words, ("get", "fetch")))
    one = skill("Order apples", {"a": "apples"})
    assert parse_phrases('{"said": ["Get {a}"]}', one).said == ("Get {a}",)
    assert all(parse_phrases(reply, one) is one for reply in ("no", "{", '{"said": 1}', "[" * 10_000))


def test_a_date_that_the_goal_has_in_words_is_bound():
    known = skill("Remind Bob on 1 March 2026, please", {"day": "2026-03-01"})
    assert own_phrase(known) == "Remind Bob on {day}, please"
    assert bind_by_rule(known, "Remind Bob on May 2nd, 2027") == {"day": "2027-05-02"}


def test_a_goal_becomes_a_phrase_with_the_values_that_were_right_for_it():
    assert own_phrase(ORDER) == "Order {the_item} up to {the_number}"
    values = {"the_item": "pears", "the_number": 7}
    phrase = find_phrase(ORDER, "There should be 7 of pears", values)
    assert phrase == "There should be {the_number} of {the_item}"
    assert find_phrase(ORDER, "There should be many pears", values) is None
    assert find_phrase(ORDER, "7 pears of 7", values) is None
    assert find_phrase(ORDER, "7 pears", values) is None
    for goal in ("Do not order pears up to 7", "Have 7 of pears, if Bob agrees", "Don’t have pears up to 7"):
        assert find_phrase(ORDER, goal, values) is None
