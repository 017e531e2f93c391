"""Methods that act by one call at a time, on the user's own tools."""

import json

import pytest
from support.boxes import Replies

import codeplan
from codeplan.errors import UsageError
from codeplan.types import Claimed, GaveUp, NotSolved, Success


class Store:
    """Rows by key."""

    def __init__(self, **rows):
        self.rows = rows or {"a": 3, "b": 4}

    def get(self, key: str) -> int:
        """The number in a row."""
        return self.rows[key]

    def put(self, key: str, number: int = 0) -> None:
        self.rows[key] = number


def is_seven(value):
    return value == 7 or f"{json.dumps(value)} is not the sum"


def do(*replies, tools=None, method="react", **options):
    model = Replies(*replies)
    result = codeplan.do("add up", tools=tools or Store(), model=model, method=method, **options)
    return result, model


def last_prompt(model):
    return model.asked[-1][1][-1]["content"]


# ------------------------------------------------------------------ ReAct


def test_react_calls_tools_and_hands_over_a_value():
    replies = ['get {"key": "a"}', 'Now b.\n\nget {"key": "b"}', 'finish {"value": 7}']
    result, model = do(*replies, verify=is_seven)
    assert (result.ending, result.value, result.method) == (Success(), 7, "react")
    assert (result.actions, result.model_calls) == (2, 3)
    system = model.asked[0][1][0]["content"]
    assert 'def get(self, key: str) -> int:\n        """The number in a row."""' in system
    assert "def report" not in system
    told = '<reply>\nNow b.\n\nget {"key": "b"}\n</reply>\n<answer>\n4\n</answer>'
    assert told in last_prompt(model)


def test_a_value_that_is_not_accepted_is_answered_with_the_reason():
    result, model = do('finish {"value": [3]}', 'finish {"value": 7}', verify=is_seven)
    assert result.success
    assert "The result was not accepted: [3] is not the sum" in last_prompt(model)


def test_without_a_verifier_the_end_is_claimed():
    result, _ = do('finish {"value": 5}')
    assert result.ending == Claimed("it says that the goal is reached; nobody verified the result")
    assert (result.success, result.claim, result.value) == (False, True, 5)


def test_it_may_give_up():
    result, _ = do('give_up {"reason": "there is no c"}', verify=is_seven)
    assert (result.ending, result.claim) == (GaveUp("it gave up: there is no c"), False)


MISTAKES = {
    "I add 3 and 4.": "Your reply holds no call.",
    'take {"key": "a"}': "There is no tool 'take'.",
    "get {'key': 'a'}": "The arguments of get are no JSON object: Expecting property name",
    'get {"key": "a"': "The arguments of get are no JSON object: Expecting ',' delimiter",
    'get {"key": "a", "key": "b"}': "The arguments of get are no JSON object: the key 'key' stands there twice.",
    'put {"key": "a", "number": NaN}': "The arguments of put are no JSON object: JSON has no NaN.",
    'get {"key": ' + "[" * 90_000 + "]" * 90_000 + "}": "or are nested too deeply.",
    'get {"key": ' + "9" * 5000 + "}": "hold a number that is too long",
    'get {"key": "a", "kind": 1}': "TypeError: get(key: str) has no parameter 'kind'",
    'get {"key": 1}': "TypeError: get was called wrongly: key: Input should be a valid string (given: 1)",
    'get {"key": "z"}': "KeyError: z",
    'finish {"answer": 7}': "finish takes value and no other argument.",
    'get {"key": "a"}\nget {"key": "b"}': "3\n(Only the first call of your reply was made.)",
    "": "Your reply holds no call.",
}


@pytest.mark.parametrize("reply", MISTAKES)
def test_a_mistake_is_answered_in_a_sentence(reply):
    result, model = do(reply, 'finish {"value": 7}', verify=is_seven)
    assert result.success
    assert MISTAKES[reply] in last_prompt(model)


@pytest.mark.parametrize(
    "reply",
    [
        '```json\nget {"key": "a"}\n```',
        'Action: get {"key": "a"}',
        'get {\n  "key": "a"\n}',
        'I take {"key"} first.\n  get{"key":"a"} and then b',
        'Sure {}\nget {"key": "a"}',
    ],
)
def test_the_call_is_found_in_what_models_write_around_it(reply):
    result, _ = do(reply, 'finish {"value": 7}', verify=is_seven)
    assert (result.success, result.actions, result.failure) == (True, 1, None)


def test_arguments_reach_a_tool_as_json_has_them():
    seen = []

    def take(data):
        seen.append(data)

    data = {"a": [1, 2.5, None, True, "ü\n\"'"], "$tuple": [1], "": {"$int": "0xff"}}
    do(f"take {json.dumps({'data': data})}", "finish {}", tools=take)
    assert seen == [data]


def test_results_are_shown_as_json_and_within_bounds():
    def rows():
        return [("a", 1), {"b": None, 2: True}]

    def letter():
        return "x" * 100_000

    _, model = do("rows {}", "letter {}", "finish {}", tools=[rows, letter])
    assert '[["a", 1], ' in last_prompt(model)
    assert "… (the first 20,000 of 100,000 characters)" in last_prompt(model)
    assert len(last_prompt(model)) < 22_000


def test_turns_without_a_call_and_turns_altogether_are_limited():
    result, model = do(*["hm"] * 20)
    assert (result.ending, len(model.asked)) == (NotSolved("5 turns in a row made no call"), 5)
    result, model = do(*['get {"key": "a"}'] * 20, calls=3)
    assert (result.ending, result.actions) == (NotSolved("no end in 3 turns"), 3)
    assert "Replies left: 1." in last_prompt(model)


def test_a_tool_may_have_the_name_of_a_special_call():
    def finish():
        return "of the tool"

    result, model = do("finish {}", 'finish_task {"value": 1}', tools=finish)
    assert (result.claim, result.value, result.actions) == (True, 1, 1)
    assert "of the tool" in last_prompt(model)


def many_tools():
    def build(number):
        def tool(value: int) -> int:
            return value

        tool.__name__, tool.__doc__ = f"tool_{number}", f"Doubles number {number}. " + "It is long. " * 30
        return tool

    return [build(number) for number in range(200)]


def test_many_tools_are_disclosed_as_plans_see_them():
    result, model = do('describe {"name": "tool_150"}', 'describe {"name": "no"}', "finish {}", tools=many_tools())
    system = model.asked[0][1][0]["content"]
    assert "# tool_150(value) -> int: Doubles number 150" in system
    assert len(system) < 45_000
    assert "def tool_150(self, value: int) -> int:" in last_prompt(model)
    assert "there is no tool 'no'" in last_prompt(model)
    assert result.actions == 0


def test_it_replays_from_its_trace_without_a_call(tmp_path):
    store = Store()
    replies = ['put {"key": "c", "number": 7}', 'finish {"value": 1}', 'finish {"value": 7}']
    result, _ = do(*replies, tools=store, verify=is_seven, out=tmp_path / "run")
    store.rows.clear()
    assert codeplan.replay(tmp_path / "run") == result
    assert store.rows == {}


def test_a_tool_error_that_stops_ends_the_turns():
    result, _ = do('get {"key": "z"}', 'get {"key": "a"}', tool_errors="stop")
    assert result.actions == 1 and result.failure and result.failure.error == "KeyError"


# ------------------------------------------------------------------ the others

TWO_STEPS = "Step 1: read a\nStep 2: read b and add it\nExecution order: (Step 1 AND Step 2)"
FIRST, SECOND = ['get {"key": "a"}', 'finish {"value": 3}'], ['get {"key": "b"}', 'finish {"value": 7}']


def test_plan_and_execute_hands_over_what_its_last_step_came_to():
    result, model = do(TWO_STEPS, *FIRST, *SECOND, method="plan-and-execute", verify=is_seven)
    assert (result.success, result.value, result.model_calls) == (True, 7, 5)
    assert "acts by calls of these tools:\n- get(key) -> int: The number in a row" in model.asked[0][1][0]["content"]
    assert "What the step before came to: 3" in last_prompt(model)


def test_plan_and_execute_fails_if_the_value_is_not_accepted():
    result, _ = do(TWO_STEPS, *FIRST, *FIRST, method="plan-and-execute", verify=is_seven)
    assert result.ending == NotSolved("The result was not accepted: 3 is not the sum")


def test_adapt_decomposes_what_the_executor_gives_up():
    result, model = do('give_up {"reason": "hard"}', TWO_STEPS, *FIRST, *SECOND, method="adapt", verify=is_seven)
    assert (result.success, result.value) == (True, 7)
    assert model.purposes == ["act", "decompose", "act", "act", "act", "act"]


def test_reflexion_goes_on_in_the_world_as_it_is():
    store = Store()
    replies = ['put {"key": "c"}', 'give_up {"reason": "no"}', "I should add.", 'finish {"value": 7}']
    result, model = do(*replies, tools=store, method="reflexion", verify=is_seven)
    assert (result.success, store.rows["c"]) == (True, 0)
    assert '> put {"key": "c"}\nnull' in model.asked[2][1][-1]["content"]
    assert "What I learnt from a trial that failed: I should add." in last_prompt(model)


def test_the_text_planner_follows_a_plan_in_words():
    refused = ['finish {"value": 1}', 'give_up {"reason": "hm"}']
    result, model = do(
        "1. add", *refused, "1. add better", 'finish {"value": 7}', method="text-planner", verify=is_seven
    )
    assert result.success
    assert model.purposes == ["plan_text", "act", "act", "refine_text", "act"]
    assert "> finish\nThe result was not accepted: 1 is not the sum" in model.asked[3][1][-1]["content"]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("try-again", {}),
        ("try-again", {"trials": 2}),
        ("adapt", {"rollback": True}),
        ("adaplanner", {"after_failure": "restart"}),
    ],
)
def test_what_needs_a_fresh_world_is_refused_before_the_first_call(method, settings):
    with pytest.raises(UsageError, match="but tools act in the real world, which cannot go back; take"):
        do(method=method, **settings)


def test_try_again_may_try_once():
    result, _ = do('finish {"value": 7}', method="try-again", trials=1, verify=is_seven)
    assert result.success


PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        number = agent.get('a')
        assert number == 3, 'Error in [Step 1]: no 3'
    return number
"""


def test_plans_may_be_the_executor_of_parts():
    method = codeplan.methods.make("plan-and-execute", executor="adaplanner")
    result, _ = do(TWO_STEPS, PLAN, PLAN.replace("return number", "return 7"), method=method, verify=is_seven)
    assert (result.success, result.value, result.actions) == (True, 7, 2)
