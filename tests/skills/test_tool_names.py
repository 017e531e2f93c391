"""A value that a tool lists is bound from the words of a goal that name exactly one of what the tool lists now."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import codeplan
from codeplan.curation.acquisition import AcquiredSkill, acquire_from_run
from codeplan.recording.events import CallBegun, PlanStarted
from codeplan.recording.trace import Trace
from codeplan.skills.tool_names import ListedNames, names_at

GOAL = "Send the invoice to Acme Corp"
PLAN = """def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] find the customer')
        there = [row["name"] for row in agent.list_customers("all")]
        assert "Acme Corp" in there, "there is no such customer"
    if start_from <= 2:
        print('[Step 2] send it')
        assert agent.send("Acme Corp") == "sent", "not sent"
"""
KNOWN = ["Acme Corp", "Bob's Bikes", "green pears", "Globex", "globex", "Bob", "3M"]


class Books:
    """Customers, and what was sent to them."""

    def __init__(self, names=KNOWN):
        self.names, self.sent, self.asked = names, [], 0

    def list_customers(self, which: str) -> list[dict]:
        self.asked += 1
        if self.names is None:
            raise OSError("the books are closed")
        return [{"id": i, "name": name} for i, name in enumerate(self.names)]

    def list_secrets(self) -> list[dict]:
        return self.list_customers("secret")

    def send(self, name: str) -> str:
        self.sent.append(name)
        return "sent"


class Model:
    def __init__(self, reply):
        self.reply, self.calls = reply, 0

    def __call__(self, messages):
        self.calls += 1
        return self.reply


READS = ("list_customers",)


@pytest.fixture
def known(library, tmp_path):
    """An active skill."""
    codeplan.do(GOAL, tools=[Books()], model=Model(PLAN), out=tmp_path / "first", verify=lambda value: True)
    found = acquire_from_run(tmp_path / "first", library, model=Model("no"))
    assert isinstance(found, AcquiredSkill)
    return library.change(found.skill, status="active")


def play(goal, books, library, tmp_path, readonly=READS, **more):
    model = Model("NO")
    out = tmp_path / f"later-{len(list(tmp_path.iterdir()))}"
    result = codeplan.do(
        goal, tools=[books], model=model, library=library, reuse=True, readonly=readonly, out=out, tries=1, **more
    )
    return result, model.calls


def test_a_skill_knows_the_call_that_lists_its_value_and_keeps_it(known, library):
    (source,) = known.sources
    assert (source.tool, source.path, source.arguments) == ("list_customers", ("*", "name"), (("which", "all"),))
    assert library.get("tools", known.name) == known


@pytest.mark.parametrize(
    ("words", "name"),
    [("acme", "Acme Corp"), ("the Acme Corp", "Acme Corp"), ("green pears", "green pears"), ("3M", "3M")],
)
def test_words_that_name_one_bind_and_the_call_is_made_once_and_recorded(known, library, tmp_path, words, name):
    books = Books()
    result, calls = play(f"Send the invoice to {words}", books, library, tmp_path)
    assert (calls, books.sent, books.asked) == (0, [name], 2)  # one before the plan, one of the plan
    events = list(Trace.read(result.trace))
    first = next(i for i, e in enumerate(events) if isinstance(e, CallBegun))
    assert first < next(i for i, e in enumerate(events) if isinstance(e, PlanStarted))
    assert codeplan.replay(Path(result.trace).parent).value == result.value
    assert books.asked == 2


@pytest.mark.parametrize(
    "goal",
    [
        "Send the invoice to Zorro",  # unknown
        "Send the invoice to GLOBEX",  # two have this name
        "Send the invoice to Corp",  # only a part of a name
        "Send the invoice to Bob's Bikes Bob",
        "Send the invoice to Acme and 3M",
        "Send the invoice to Acme and tell Bob",
        "Send the invoice to Acme, not to 3M",
    ],
)
def test_words_that_name_none_or_several_go_to_the_model(known, library, tmp_path, goal):
    books = Books()
    _, calls = play(goal, books, library, tmp_path)
    assert calls > 0 and books.sent == []


@pytest.mark.parametrize("more", ["and tell Bob", "weekly", "soon", "until May", "again", "not today", "all"])
def test_a_name_made_to_swallow_what_a_goal_asks_for_names_nothing(known, library, tmp_path, more):
    books = Books(["Acme Corp", f"Acme {more}", more, f"Zorro {more}"])
    for goal in (f"Send the invoice to Acme {more}", f"Send the invoice to Zorro {more}"):
        _, calls = play(goal, books, library, tmp_path)
        assert calls > 0 and books.sent == []


def test_a_tool_that_is_not_marked_is_never_called_for_names_and_words_count_as_without_it(known, library, tmp_path):
    books = Books()
    result, calls = play("Send the invoice to Globex", books, library, tmp_path, readonly=())
    assert (calls, books.asked, result.success or result.claim) == (0, 1, True)
    books = Books()
    assert play("Send the invoice to globex", books, library, tmp_path, readonly=())[1] > 0
    books = Books()
    play("Send the invoice to acme", books, library, tmp_path, ask=["list_*"], approve=lambda call: False)
    assert (books.asked, books.sent) == (0, [])


def test_an_episode_killed_while_a_tool_lists_names_goes_on(known, library, tmp_path):
    books = Books()
    result, _ = play("Send the invoice to acme", books, library, tmp_path)
    folder = Path(result.trace).parent
    lines = Path(result.trace).read_text().splitlines(keepends=True)
    (at,) = [i for i, line in enumerate(lines) if '"call_begun"' in line][:1]
    Path(result.trace).write_text("".join(lines[: at + 1]))
    books = Books()
    again = codeplan.resume(folder, tools=[books], readonly=READS, idempotent=READS, model=Model("NO"), library=library)
    assert (books.sent, books.asked, again.model_calls) == (["Acme Corp"], 3, 0)  # repeated, for names, by the plan


def test_an_unanswered_call_of_a_strangers_trace_is_not_made_for_names(known, library, tmp_path):
    result, _ = play("Send the invoice to acme", Books(), library, tmp_path)
    lines = Path(result.trace).read_text().splitlines(keepends=True)
    (at,) = [i for i, line in enumerate(lines) if '"call_begun"' in line][:1]
    hostile = lines[at].replace("list_customers", "send").replace('"which":"all"', '"name":"all"')
    Path(result.trace).write_text("".join([*lines[:at], hostile]))
    books = Books()
    with pytest.raises(codeplan.errors.CodeplanError):
        codeplan.resume(Path(result.trace).parent, tools=[books], readonly=READS, model=Model("NO"), library=library)
    assert books.sent == []


def test_no_tool_is_called_for_a_goal_that_has_other_words(known, library, tmp_path):
    books = Books()
    play("Is the invoice of Acme paid?", books, library, tmp_path)
    assert books.asked == 0


@pytest.mark.parametrize("more", [{"arguments": (("which", "passwords"),)}, {"tool": "list_secrets", "arguments": ()}])
def test_a_call_that_the_plan_does_not_make_is_not_made_for_names(known, library, tmp_path, more):
    library.change(known, sources=(msgspec.structs.replace(known.sources[0], **more),))
    books = Books()
    play("Send the invoice to Zorro", books, library, tmp_path, readonly=["*"])
    assert books.asked == 1  # by the plan: words count as without a list


def test_a_tool_that_fails_names_nothing(known, library, tmp_path):
    books = Books(None)
    _, calls = play("Send the invoice to Acme", books, library, tmp_path)
    assert calls > 0 and books.sent == []


def test_a_name_that_the_plan_itself_put_into_the_list_is_no_source(library, tmp_path):
    class Growing(Books):
        def send(self, name: str) -> str:
            self.names = [*self.names, name]
            return super().send(name)

    plan = """def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] add')
        assert agent.send("Acme Corp") == "sent"
        assert any(row["name"] == "Acme Corp" for row in agent.list_customers("all"))
"""
    codeplan.do(GOAL, tools=[Growing(["a", "b"])], model=Model(plan), out=tmp_path / "first", verify=lambda value: True)
    found = acquire_from_run(tmp_path / "first", library, model=Model("no"))
    assert isinstance(found, AcquiredSkill) and found.skill.sources == ()


@given(st.lists(st.text(max_size=12), max_size=6), st.lists(st.sampled_from(["Acme", "Corp", "Bob", "to"]), max_size=3))
def test_what_is_found_is_listed_and_has_the_words(names, words):
    names = [*names, " ".join(words), "Bob Corp"]
    found = ListedNames(names).find(words) if words else None
    assert found is None or (found in names and words[0].casefold() in found.casefold())


def test_names_stand_at_a_path_of_an_answer():
    answer = {"rows": [{"name": "a"}, {"name": "b"}, {"name": "a"}, {"other": 1}], "by": {"x": 1, "y": 2}}
    assert names_at(answer, ("rows", "*", "name")) == ["a", "b"]
    assert names_at(answer, ("by", "**")) == ["x", "y"]
    assert names_at(answer, ("by", "*")) == names_at([1], ("rows",)) == names_at(None, ("*",)) == []
    assert names_at([str(i) for i in range(6_000)], ("*",)) == []
