"""Many tools in a prompt: those that fit the goal in full, the others on one line each, and all of them to read."""

import pytest
from support.boxes import Replies

import codeplan
from codeplan.agent_interface import agent_api, describe_api
from codeplan.runner.given_plans import execute
from codeplan.tools import Tool, ToolEnvironment, Toolset
from codeplan.tools.agent import MAX_API_CHARS, MIN_FULL_CHARS, rank, shown_api, tool_text
from codeplan.types import AgentApi, AgentMethod, AgentParameter, AgentType, Finished, Rejected

SUBJECTS = ("invoice", "branch", "calendar", "photo", "server")
VERBS = ("list", "read", "delete", "rename", "send")


def tool(name, doc="", types=()):
    method = AgentMethod(
        name,
        "(item: Item, limit: int = 5) -> str",
        doc,
        (AgentParameter("item"), AgentParameter("limit", required=False)),
    )
    return Tool(method, lambda arguments: name, types)


def tools(count):
    """Tools with long descriptions."""
    item = AgentType("Item", "class Item(TypedDict):  # a dict\n    n: int")
    made = []
    for n in range(count):
        verb, subject = VERBS[n % 5], SUBJECTS[n // 5 % 5]
        made.append(
            tool(f"{verb}_{subject}_{n}", f"{verb.title()} the {subject}s. Then more.\n" + "Details. " * 60, (item,))
        )
    return made


def shown(count, goal="send an invoice"):
    return describe_api(agent_api(ToolEnvironment(goal, Toolset(tools(count))).agent))


def test_a_few_tools_are_shown_in_full():
    text = shown(20)
    assert text.count("def ") == 21 and "describe" not in text


def test_many_tools_take_one_line_each():
    text = shown(150)
    assert len(text) < MAX_API_CHARS + 1_500  # 10 characters a line are indentation and the like
    assert all(text.count(f"{VERBS[n % 5]}_{SUBJECTS[n // 5 % 5]}_{n}(") == 1 for n in range(150))
    assert "    # rename_photo_118(item, limit=…) -> str: Rename the photos\n" in text
    assert "    def describe(self, name: str) -> str:" in text


@pytest.mark.parametrize("count", [500, 5_000])
def test_however_many_tools_there_are_a_prompt_stays_within_eight_thousand_tokens(count):
    asked = []

    def model(messages):
        asked.append(sum(len(message["content"]) for message in messages))
        return "def solution(agent, start_from=1):\n    return 1"

    codeplan.do("send an invoice", tools=Toolset(tools(count)), model=model)
    assert asked[0] / 4 < 8_000  # a token has some four characters
    text = shown(count)
    lines = text.count("\n    # ") - 2
    assert f"# and {count - text.count('    def ') + 2 - lines:,} more; agent.describe('some words') finds" in text


def test_the_lines_are_those_of_the_tools_that_fit_best():
    lines = [line for line in shown(2_000, "photo").splitlines() if line.startswith("    # ") and "(item" in line]
    assert len(lines) > 50 and all("photo" in line for line in lines)


def test_a_line_is_bounded():
    long = AgentMethod("f" * 90, "(x)", "A. " * 99 + "b" * 999, tuple(AgentParameter(f"p{n}") for n in range(99)))
    assert long.first_line == f"{'f' * 90}(p0, p1, p2…): A"
    assert len(AgentMethod("f", "()", "b" * 999).first_line) == 106


def test_a_type_that_tools_share_is_counted_once():
    shared = AgentType("Item", "class Item(TypedDict):  # a dict\n" + "\n".join(f"    n{n}: int" for n in range(1_000)))
    made = [tool(f"do_{n}", "Does it.", (shared,)) for n in range(30)]
    text = describe_api(shown_api(Toolset(made), "send"))
    assert text.count("class Item") == 1 and text.count("    def ") == 31


def test_tools_that_were_called_lately_are_shown_in_full_and_leave_room_for_the_goal():
    made = tools(500)
    lately = [made[n].name for n in reversed(range(400))]
    shown_lines = hidden(shown_api(Toolset(made), "calendars", lately))
    full = [name for name in Toolset(made).names if name not in shown_lines]
    called = [name for name in full if name in lately and "calendar" not in name]
    assert made[399].name in called and made[0].name not in called
    assert len(called) >= 5 and any("calendar" in name and int(name.split("_")[2]) < 300 for name in full)


def hidden(api):
    return {*api.brief, *api.unlisted}


def test_those_that_fit_the_goal_are_shown_in_full():
    text = shown(500, "Which calendars can be sent?")
    full = [line.split("(")[0].split()[-1] for line in text.splitlines() if line.startswith("    def ")]
    assert len(full) > 10 and {name.split("_")[1] for name in full if "_" in name} == {"calendar"}


def test_exactly_as_much_as_there_is_room_is_shown_in_full():
    def brief(length):
        made = [tool("first"), tool("second", "x" * length)]
        return shown_api(Toolset(made), "").brief

    fixed = len(describe_api(AgentApi(tuple(t.method for t in (tool("first"), tool("second", "x")))))) - 1
    assert brief(MAX_API_CHARS - fixed) == ()
    assert brief(MAX_API_CHARS - fixed + 1) == ("second",)


def test_only_the_types_of_tools_in_full_are_explained():
    mine, others = AgentType("Item", "class Item: ..."), AgentType("Other", "class Other: ...")
    made = [tool("send_mail", "Send.", (mine,)), *(tool(f"do_{n}", "Details. " * 3_000, (others,)) for n in range(3))]
    api = shown_api(Toolset(made), "send mail")
    assert (api.types, api.brief) == ((mine, others), ("do_1", "do_2"))
    api = shown_api(Toolset([made[0], tool("do_it", "x" * 2 * MAX_API_CHARS, (others,))]), "send mail")
    assert (api.types, api.brief) == ((mine,), ("do_it",))


def test_some_are_shown_in_full_even_if_a_line_for_each_takes_all_the_room():
    made = [tool(f"find_{n}", "A line of some length, that takes room. " * 2) for n in range(600)]
    api = shown_api(Toolset(made), "find")
    full = sum(len(tool_text(t)) for t in made if t.name not in hidden(api))
    assert MIN_FULL_CHARS - 300 < full <= MIN_FULL_CHARS


def test_only_the_beginning_of_a_description_decides():
    made = [tool("first", "x " * 2_000 + "mail"), tool("second", "mail")]
    assert [t.name for t in rank(made, "mail")] == ["second", "first"]


def test_words_in_a_name_count_more_and_common_words_less():
    given = [
        tool("aFile", "Reads mail."),
        tool("mail", "Sends."),
        tool("other", "Reads files."),
        tool("last", "Reads."),
    ]
    assert [t.name for t in rank(given, "read the mail files")] == ["aFile", "mail", "other", "last"]
    assert rank(given, "") == given


def run(lines, given):
    body = "".join(f"        {line}\n" for line in lines.splitlines())
    plan = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n{body}"
    return execute(plan, ToolEnvironment("do it", Toolset(given)), model=Replies())


def test_a_plan_reads_the_whole_description_without_an_action():
    execution = run("print(agent.describe('list_server_120'))", tools(150))
    assert isinstance(execution.outcome, Finished) and execution.result.actions == 0
    text = execution.outcome.output
    assert "class Item(TypedDict)" in text and "def list_server_120(self, item: Item, limit: int = 5) -> str:" in text


def test_a_plan_can_call_what_is_shown_briefly_and_the_check_knows_its_signature():
    assert run("print(agent.list_server_120(1))", tools(150)).outcome.output == "list_server_120\n"
    assert isinstance(run("agent.list_server_120()", tools(150)).outcome, Rejected)


def test_a_tool_that_is_not_there_is_a_key_error():
    lines = "try:\n    agent.describe('x')\nexcept KeyError as e:\n    print('caught')"
    assert run(lines, tools(150)).outcome.output == "caught\n"


def test_words_find_the_tools_that_fit_best():
    found = run("print(agent.describe('rename some photos'))", tools(150)).outcome.output
    names = [line.split("(")[0].split()[-1] for line in found.splitlines() if line.startswith("    def ")]
    assert 1 < len(names) <= 5 and all(name.startswith("rename_photo_") for name in names)
    assert found.count("class Item") == 1


def test_describe_has_another_name_if_a_tool_has_this_one():
    made = [*tools(150), tool("describe", "Describe a thing.")]
    text = describe_api(shown_api(Toolset(made), "describe"))
    assert "def describe(self, item: Item" in text and "def describe_(self, name: str)" in text
    assert "agent.describe_(name) returns" in text
    assert run("print(agent.describe(1))\nprint(agent.describe_('describe'))", made).outcome.output.startswith(
        "describe\n"
    )
