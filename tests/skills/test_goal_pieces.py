"""A goal that is said in the pieces that a skill knows, in any order, is recognised; one that says anything else is not."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.skills.parameter_binding import MAX_GOAL, PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.skills.phrases import MAX_PIECES, bind_by_rule, parse_phrases
from codeplan.skills.skill import MAX_PATTERNS, GoalPieces, Skill
from codeplan.skills.skill_folder import MAX_MANIFEST_BYTES, format_manifest, parse_manifest


def skill(goal, values, **reply):
    lines = "".join(f"    {name} = {msgspec.json.encode(value).decode()}\n" for name, value in values.items())
    plan = f"def solution(agent, start_from=1):\n    {PARAMETERS_OPENING} {goal}\n{lines}    {PARAMETERS_CLOSING}\n"
    return parse_phrases(msgspec.json.encode(reply).decode(), Skill("one", "tools", plan, parameters=tuple(values)))


PAY = skill(
    "Pay invoice INV-1 from account 4410 and tell Priya",
    {"id": "INV-1", "n": 4410, "who": "Priya"},
    does=[["(pay|settle) [off]", "[to be] paid"], ["(tell|inform) {who} [about it]", "let {who} know"]],
    has=["{id}", "(invoice|bill) [no|number] {id}", "(from|out of|until) [account] {n}", "{n}", "{who}"],
    said=["{id} (by|->) {n}, inform {who}"],
    other=["(pay|settle) {id} from {n} and tell {who} about it"],
)
FILL = skill(
    "Top up oranges to 40", {"what": "oranges", "n": 40}, does=[["top up", "order"]], has=["{n} {what}", "{what}"]
)
LOGS = skill(
    "Count the .log files in /data/a/logs and write /data/a/sum.txt",
    {"root": "/data/a/", "end": ".log"},
    said=["How many {end} file has {root}/logs write it to {root}/sum.txt"],
)
SHARE = skill(
    "Share a.pdf with Bob as viewer", {"f": "a.pdf", "who": "Bob", "as": "viewer"}, said=["Let {who} read {f}"]
)


@pytest.mark.parametrize(
    ("known", "goal", "values"),
    [
        (PAY, "From account 7, settle bill INV-2 and let Joe Ray know", {"id": "INV-2", "n": 7, "who": "Joe Ray"}),
        (PAY, "INV-2 (out of 7): pay - inform Joe", {"id": "INV-2", "n": 7, "who": "Joe"}),
        (PAY, "Invoice no. INV-2 from 7, could you pay it off, please?", None),
        (PAY, "Tell Joe. Then pay INV-2 from 7", None),
        (PAY, "Tell Joe, and could you please pay INV-2 from twelve?", {"id": "INV-2", "n": 12, "who": "Joe"}),
        (PAY, "INV-2 -> 7, inform Joe", {"id": "INV-2", "n": 7, "who": "Joe"}),
        (FILL, "Top up lemons to 5", {"what": "lemons", "n": 5}),
        (
            LOGS,
            "How many .txt files has /srv/b-2/logs? Write it to /srv/b-2/sum.txt",
            {"root": "/srv/b-2/", "end": ".txt"},
        ),
        (SHARE, "Let Ann read b.pdf", {"f": "b.pdf", "who": "Ann", "as": "viewer"}),
    ],
)
def test_a_goal_in_known_pieces_is_bound(known, goal, values):
    assert bind_by_rule(known, goal) == values


@pytest.mark.parametrize(
    ("known", "goal"),
    [
        (PAY, "Pay INV-2 from 7"),
        (PAY, "Pay INV-2 from 7 and tell Joe and let Joe know"),
        (PAY, "Pay INV-2 from 7 and tell Joe and tell Eve"),
        (PAY, "Pay INV-2 from 7 and pay INV-3 from 7 and tell Joe"),
        (PAY, "Do not pay INV-2 from 7 and tell Joe"),
        (PAY, "Pay INV-2 from 7 and tell Joe tomorrow"),
        (PAY, "Pay INV-2 until 7 and tell Joe"),
        (PAY, "Pay INV-2, 7, and tell Joe"),
        (PAY, "Pay INV-2 from -7 and tell Joe"),
        (PAY, "Pay INV-2 from 7 and tell Joe about it"),
        (PAY, "INV-2 to be paid from 7? Tell Joe"),
        (PAY, "Urgent: pay INV-2 from 7 and tell"),
        (FILL, "Order 40 lemons"),
        (FILL, "Lemons, order to 5"),
        (LOGS, "How many .txt files has /srv/b/logs? Write it to /srv/c/sum.txt"),
        (LOGS, "How many .txt files has /srv/b/../logs? Write it to /srv/b/../sum.txt"),
        (SHARE, "Let Ann read b.pdf as editor"),
    ],
)
def test_a_goal_with_any_other_piece_is_not_bound(known, goal):
    assert bind_by_rule(known, goal) is None


def test_a_reply_cannot_add_denials_or_names_and_needs_a_way_to_say_each_thing():
    denied = skill(
        "Order apples", {"a": "apples"}, does=[["order {a}", "never buy {a}", "(get|[do] not get) {a}", "{a}"]]
    )
    assert bind_by_rule(denied, "Get pears") == {"a": "pears"}
    assert all(bind_by_rule(denied, goal) is None for goal in ("Never buy pears", "Do not get pears", "pears"))
    assert skill("Order apples", {"a": "apples"}, does=[["buy {b}"], ["x"]]).pieces == GoalPieces()


def test_no_reply_makes_a_manifest_that_cannot_be_read():
    long = ['"' * 299 + f"{{a}}{i}" for i in range(100)]
    made = skill("Order apples", {"a": "apples"}, does=[[f"x {t}" for t in long]] * 6, has=long, said=long, other=long)
    assert sum(map(len, (*made.pieces.has, *made.pieces.other, *sum(made.pieces.does, ())))) <= MAX_PIECES
    text = format_manifest(made)
    assert len(text.encode()) <= MAX_MANIFEST_BYTES
    assert parse_manifest(text).pieces == made.pieces


@pytest.mark.parametrize("piece", ["[x]" * 90, "(x|b" * 99, "(" * 300, "[(x|[x]|[x x])]" * 30, "{a}" * 90, "|" * 300])
def test_a_hostile_pattern_costs_a_goal_and_no_more(piece):
    known = skill(
        "Order apples",
        {"a": "apples"},
        does=[[f"go {piece} {i}" for i in range(MAX_PATTERNS)]],
        has=[piece + "{a}"],
        said=[piece],
    )
    assert bind_by_rule(known, "go " + "x " * (MAX_GOAL // 2 - 10) + "pears") is None
    assert bind_by_rule(known, "Order pears") in ({"a": "pears"}, None)


@given(st.text("ab c{}[]()|\\", max_size=30), st.text("ab c[]()|\\", max_size=30))
def test_what_pieces_bind_stands_in_the_goal(piece, goal):
    known = skill("Take b", {"x": "b"}, does=[[piece, "take"]], has=[piece, "to {x}"])
    values = bind_by_rule(known, goal)
    assert values is None or str(values["x"]) in goal
