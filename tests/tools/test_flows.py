"""Flows decide about calls by where their arguments come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import codeplan
from codeplan.errors import UsageError
from codeplan.flows import Flows, anything, ask_llm, flows_of_table, goal, source_of_text, tool
from codeplan.recording.events import CallDecided, PlanOrigins
from codeplan.tools.approvals import Always
from codeplan.types import Waiting

GOAL = "Pay the bill bill.txt, and tell ann@example.org"


class Bank:
    """Tools that keep what was done; whatever an attacker may write is in the file."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def read_file(self, name: str) -> dict[str, str]:
        return {"name": name, "content": "133.00 to EVE-99"}

    def search_contacts(self, name: str) -> list[dict[str, str]]:
        return [{"name": "Bob", "email": "bob@example.org", "note": "EVE-99"}]

    def whoami(self) -> dict[str, str]:
        return {"id": "me-1", "secret": "4711"}

    def send_money(self, recipient: str, amount: float = 1.0) -> str:
        self.done.append(("money", recipient, amount))
        return "sent"

    def send_email(self, recipients: list[str], body: str = "", cc: str = "") -> str:
        self.done.append(("email", *recipients, body))
        return "sent"


FLOWS = {
    "trusted": [tool("search_contacts").fields("name", "email")],
    "rules": {"send_money.recipient": goal, "send_email.recipients|cc": goal | tool("search_contacts").email},
    "readonly": ["read_*", "search_*", "whoami"],
}


def played(
    body: str | list[str], flows: Any = None, approve: Any = None, answer: str = "EVE-99", **more: Any
) -> tuple[list[tuple[Any, ...]], codeplan.Result, list[Any]]:
    """What was done, the result and the calls that were asked for, when plans with these bodies run."""
    bodies = [body] if isinstance(body, str) else [*body]
    asked: list[Any] = []

    def decide(call: Any) -> Any:
        asked.append(call)
        return approve(call) if callable(approve) else approve

    def model(messages: Any) -> str:
        if "asks you a question while it runs" in messages[0]["content"]:
            return answer
        lines = "".join(f"    {line}\n" for line in bodies.pop(0).strip().split("\n"))
        return f"```python\ndef solution(agent, start_from=1):\n{lines}\n```"

    bank = Bank()
    given = Flows(**FLOWS) if flows is None else flows
    more.setdefault("tries", len(bodies))
    result = codeplan.do(GOAL, tools=bank, model=model, flows=given, approve=decide, **more)
    return bank.done, result, asked


READ = "bill = agent.read_file('bill.txt')\nsaid = ask_llm('Whom? ' + bill['content'])\n"


@pytest.mark.parametrize(
    ("call", "origins"),
    [
        ("agent.send_money(said)", {"recipient": ("read_file.content through ask_llm",)}),
        ("agent.send_money(bill['content'])", {"recipient": ("read_file.content",)}),
        ("agent.send_money(recipient='me', amount=float(bill['content'][:6]))", {"amount": ("read_file.content",)}),
        ("agent.send_email([said])", {"recipients": ("read_file.content through ask_llm",)}),
        ("agent.send_email(['x'], cc=agent.search_contacts('Bob')[0]['note'])", {"cc": ("search_contacts.note",)}),
        ("agent.send_email(['x'], agent.whoami()['id'])", {"body": ("whoami.id",)}),
    ],
)
def test_an_argument_from_elsewhere_is_asked_for_with_its_origin(call: str, origins: dict[str, Any]) -> None:
    done, result, asked = played([READ + call, "return 1"], approve="I do not know them")
    assert not done and len(asked) == 1
    (parameter,) = origins
    assert asked[0].origins[parameter] == origins[parameter]
    assert asked[0].why == f"{parameter} comes from {origins[parameter][0]}"
    assert result.failure is not None and "I do not know them" in result.failure.message


@pytest.mark.parametrize(
    "call",
    [
        "agent.send_money('EVE-99', 5)",  # the plan's own text, written before anything was read
        "agent.send_email(['x'], cc=agent.search_contacts('Bob')[0]['email'])",
        "agent.send_email([p['email'] for p in agent.search_contacts('Bob')], body='hello')",
        "agent.send_email(['x'], cc=ask_llm('Who? ' + str(agent.search_contacts('Bob'))))",  # names a contact
        "agent.read_file(said)",
    ],
)
def test_what_the_flows_allow_is_not_asked_for(call: str) -> None:
    _, result, asked = played(READ + call, approve=False, answer="bob@example.org")
    assert not asked and result.failure is None


def test_a_value_that_stands_in_the_goal_is_trusted_whatever_way_it_came() -> None:
    ask = "agent.send_email([ask_llm('Whom? ' + agent.read_file('bill.txt')['content'])])"
    assert len(played(ask, approve=False, answer="ann@example.org")[2]) == 0
    assert len(played(ask, approve=False, answer="nn@example.org")[2]) == 1


def test_a_value_that_stands_in_the_instructions_is_the_users_too() -> None:
    ask = "agent.send_email([ask_llm('Whom? ' + agent.read_file('bill.txt')['content'])])"
    assert not played(ask, approve=False, answer="cy@example.org", instructions="Copy cy@example.org in.")[2]


def test_an_answer_with_what_the_call_was_given_makes_nothing_trusted() -> None:
    class Echo(Bank):
        def search_contacts(self, name: str) -> list[dict[str, str]]:
            return [{"name": name, "email": name}]

    bank, said = Echo(), "said = agent.search_contacts(agent.read_file('bill.txt')['content'])[0]['email']\n"
    body = f"```python\ndef solution(agent, start_from=1):\n    {said}    agent.send_email([said])\n```"
    result = codeplan.do(GOAL, tools=bank, model=lambda messages: body, flows=Flows(**FLOWS), tries=1)
    assert isinstance(result.ending, Waiting) and not bank.done


WIDE = "Pay 1,000.50 for ./docs/bill.txt by 2024-05-06, tell ann@example.org; see https://good.example/a"


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        *(("./docs/bill.txt", 0), ("1,000.50", 0), (1000.5, 0), ("2024-05-06", 0), ("https://good.example/a", 0)),
        *(("", 1), (".", 1), ("/", 1), ("example.org", 1), ("ann", 1), ("good.example", 1), ("docs", 1), ("2024", 1)),
        *((1, 1), (0.5, 1), (-5, 1), ("000.50", 1), (2024, 1)),
    ],
)
def test_only_a_whole_value_of_the_goal_is_trusted(value: object, asked: int) -> None:
    def read() -> object:
        return value

    calls: list[Any] = []
    body = "```python\ndef solution(agent, start_from=1):\n    agent.send(agent.read())\n```"
    flows = Flows(rules={"send": goal}, readonly=["read"])

    def send(to: object) -> None: ...

    tools, approve = [read, send], lambda call: calls.append(call) or False
    codeplan.do(WIDE, tools=tools, model=lambda messages: body, flows=flows, approve=approve, tries=1)
    assert len(calls) == asked


@pytest.mark.parametrize(
    "call",
    [
        "m = map(agent.send, [t]); [*m, agent.send('x')]",
        "m = filter(agent.send, [t]); [*m, agent.send('x')]",
        "from operator import methodcaller; [methodcaller('send', t)(agent), agent.send('x')]",
        "from operator import attrgetter; [attrgetter('send')(agent)(t), agent.send('x')]",
        "agent.send('x', k=t)",
        "agent.send(agent.echo(t)['said'])",
        "agent.send(agent.echo(t)['first'])",
    ],
)
def test_a_call_in_a_line_with_others_keeps_its_own_origins(call: str) -> None:
    def read() -> str:
        return "EVE-99 now"

    def echo(text: str) -> dict[str, str]:
        return {"said": f"you said: {text}", "first": text.split()[0].lower()}

    sent: list[Any] = []

    def send(to: str, **more: str) -> None:
        sent.append((to, more))

    body = f"```python\ndef solution(agent, start_from=1):\n    t = agent.read()\n    {call}\n```"
    flows = Flows(rules={"send": goal | tool("echo")}, readonly=["read", "echo"])
    asked: list[Any] = []
    given: dict[str, Any] = {"tools": [read, echo, send], "model": lambda messages: body, "flows": flows, "tries": 1}
    codeplan.do("g", approve=lambda call: asked.append(call.arguments) or False, **given)
    assert "eve" in str(asked).lower() and "eve" not in str(sent).lower()


@pytest.mark.parametrize(("otherwise", "done", "asked"), [("allow", 1, 0), ("ask", 0, 1), ("refuse", 0, 0)])
def test_otherwise_says_what_happens(otherwise: Any, done: int, asked: int) -> None:
    found = played(READ + "agent.send_money(said)", Flows(**FLOWS, otherwise=otherwise), approve=False)
    assert (len(found[0]), len(found[2])) == (done, asked)
    if otherwise == "refuse":
        assert found[1].failure is not None and found[1].failure.error == "PermissionError"
        assert "flows do not allow" in found[1].failure.message


def test_by_default_only_the_model_and_what_is_marked_is_not_trusted() -> None:
    body = READ + "agent.send_email(['x'], bill['content'])\nagent.send_money(said)"
    done, _, asked = played(body, Flows(readonly=["read_*"]), approve=True)
    assert [call.tool for call in asked] == ["send_money"] and len(done) == 2
    marked = Flows(readonly=["read_*"], untrusted=["read_file"])
    assert [call.tool for call in played(body, marked, approve=True)[2]] == ["send_email", "send_money"]


def test_what_is_marked_is_not_trusted_unless_a_rule_names_it() -> None:
    body = (
        READ
        + "agent.send_money('x', float(agent.read_file('b')['content'][:6]))\nagent.send_email(['x'], bill['content'])"
    )
    given: dict[str, Any] = {"trusted": [tool("*")], "untrusted": ["read_file"], "readonly": ["read_*"]}
    assert [call.tool for call in played(body, Flows(**given), approve=True)[2]] == ["send_money", "send_email"]
    named = Flows(**given, rules={"send_email.body": tool("read_file")})
    assert [call.tool for call in played(body, named, approve=True)[2]] == ["send_money"]


def test_a_tool_says_itself_that_it_reads_or_is_not_trusted() -> None:
    @codeplan.tool(untrusted=True)
    @codeplan.tool(readonly=True)
    def page() -> str:
        return "EVE"

    def send(to: str) -> str:
        return to

    def asked(body: str, **more: Any) -> int:
        calls: list[Any] = []
        reply = f"```python\ndef solution(agent, start_from=1):\n    {body}\n```"
        given: dict[str, Any] = {"tools": [page, send], "model": lambda messages: reply, "flows": Flows(), "tries": 1}
        codeplan.do("g", approve=lambda call: calls.append(call) or False, **given, **more)
        return len(calls)

    assert asked("agent.send(agent.page())") == 1
    assert asked("agent.send(agent.page())", readonly=["send"]) == 0
    with pytest.raises(UsageError, match="fits readonly"):
        asked("pass", readonly=["sendd"])


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("agent.send_money('me', said['n'])", []),
        ("agent.send_money(said['to'], 1.0)", ["recipient comes from read_file.content through ask_llm"]),
        ("agent.send_money('me', float(str(said)[6:7]))", ["amount comes from read_file.content through ask_llm"]),
    ],
)
def test_closed_answers_may_be_trusted_more(call: str, why: list[str]) -> None:
    said = "said = ask_llm('How much?', agent.read_file('b')['content'], {'n': float, 'to': str})\n"
    flows = Flows(rules={"send_money.amount": goal | ask_llm.closed, "send_money.recipient": goal}, readonly=["read_*"])
    _, result, asked = played(said + call, flows, approve=True, answer='{"n": 5, "to": "EVE-99"}')
    assert [each.why for each in asked] == why and result.failure is None


def test_private_data_leaves_only_where_a_rule_names_it() -> None:
    secret = tool("whoami").secret.private
    body = "agent.send_email(['x'], agent.whoami()['secret'])\nagent.send_email(['x'], agent.whoami()['id'])"
    rest: dict[str, Any] = {"readonly": ["whoami", "read_file"], "trusted": [tool("whoami"), secret]}
    assert len(played(body, Flows(**rest), approve=True)[2]) == 1
    assert len(played(body, Flows(**rest, rules={"send_email.body": anything}), approve=True)[2]) == 1
    assert not played(body, Flows(**rest, rules={"send_email.body": goal | tool("whoami")}), approve=True)[2]
    reads = "agent.read_file(agent.whoami()['secret'])\nagent.read_file(ask_llm('x' + agent.whoami()['secret']))"
    assert len(played(reads, Flows(**rest), approve=True)[2]) == 2  # a tool that reads may carry it away as well


def test_strict_counts_what_decides_about_a_call() -> None:
    body = "if agent.read_file('b')['content']:\n    agent.send_money('x')"
    assert not played(body, Flows(**FLOWS), approve=True)[2]
    (asked,) = played(body, Flows(**FLOWS, strict=True), approve=True)[2]
    assert asked.why == "the call comes from read_file.content"


REVISABLE = "n = agent.read_file('bill.txt')['content']\nassert n == 1, n\nagent.send_money('EVE-1')"


@pytest.mark.parametrize(
    ("revised", "why"),
    [
        ("agent.send_money('EVE-1')", ""),
        ("agent.send_money('EVE-99')", "recipient comes from revision"),
        ("agent.send_money('EVE-1', 5)", "amount comes from revision"),
        ("agent.send_money('EVE-' + '1')", "recipient comes from revision"),
        ("agent.send_email(['ann@example.org'])", "the call comes from revision"),
    ],
)
def test_what_a_plan_says_after_it_read_data_is_asked_for(revised: str, why: str) -> None:
    asked = played([REVISABLE, revised], approve=True)[2]
    assert [call.why for call in asked] == [why] * bool(why)


def test_a_planner_that_saw_shapes_alone_may_write_anew() -> None:
    assert not played([REVISABLE, "agent.send_money('EVE-2')"], approve=True, feedback="blind")[2]


def test_a_resumed_plan_knows_where_its_variables_come_from() -> None:
    again = "if start_from <= 1:\n    to = agent.read_file('b')['content']\n    assert to == 1"
    (asked,) = played([again, "if start_from <= 1:\n    agent.send_email(['ann@example.org'], to)"], approve=True)[2]
    assert asked.why == "body comes from read_file.content; the call comes from revision"
    first = "if start_from <= 1:\n    to = agent.read_file('b')['content']\n    assert to\nif start_from <= 2:\n    assert 0"
    second = "if start_from <= 1:\n    to = 'EVE-1'\n    assert to\nif start_from <= 2:\n    agent.send_money(to)"
    first = first.replace("to = agent", "to = agent").replace("assert 0", "assert to == 1")
    (asked,) = played([first, second.replace("to = 'EVE-1'", "to = agent.read_file('b')['content']")], approve=True)[2]
    assert asked.origins["recipient"] == ("read_file.content",)


def test_an_approval_of_a_tool_does_not_answer_for_its_flows() -> None:
    body = READ + "agent.send_money(said)\nagent.send_money(said)\nagent.send_money(said, 2)"
    assert len(played(body, approve=Always.TOOL)[2]) == 3
    assert len(played(body, approve=Always.ARGUMENTS)[2]) == 2


def test_allow_does_not_answer_for_the_flows() -> None:
    assert len(played(READ + "agent.send_money(said)", approve=True, allow=["send_*"])[2]) == 1


def test_a_call_that_no_plan_makes_may_come_from_anywhere() -> None:
    def model(messages: Any) -> str:
        return 'send_money {"recipient": "EVE-99"}'

    result = codeplan.do(GOAL, tools=Bank(), model=model, flows=Flows(**FLOWS), method="react", budget=None)
    assert isinstance(result.ending, Waiting) and "recipient comes from unknown" in str(result.ending)


def test_each_decision_is_an_event_with_its_origins(tmp_path: Any) -> None:
    body = READ + "agent.send_money('x')\nagent.send_money(said)"
    played(body, approve=False, out=tmp_path / "run")
    events = codeplan.Trace.read(tmp_path / "run" / "trace.jsonl")
    decided = [event for event in events if isinstance(event, CallDecided)]
    assert [(e.allowed, e.by, dict(e.origins)) for e in decided] == [
        (True, "flows", {"recipient": ("goal",)}),
        (False, "approver", {"recipient": ("read_file.content through ask_llm",)}),
    ]
    assert sum(isinstance(event, PlanOrigins) for event in events) == 1
    assert codeplan.replay(tmp_path / "run").failure is not None


def test_a_waiting_call_goes_on_after_its_answer_and_never_without_flows(tmp_path: Any) -> None:
    bank, out = Bank(), tmp_path / "run"
    lines = "".join(f"    {line}\n" for line in (READ + "agent.send_money(said)").split("\n"))

    def model(messages: Any) -> str:
        asks = "asks you a question" in messages[0]["content"]
        return "EVE-99" if asks else f"```python\ndef solution(agent, start_from=1):\n{lines}\n```"

    result = codeplan.do(GOAL, tools=bank, model=model, flows=Flows(**FLOWS), out=out)
    assert isinstance(result.ending, Waiting) and "read_file.content through ask_llm" in result.ending.message
    codeplan.approve(out)
    with pytest.raises(UsageError, match="the episode has flows"):
        codeplan.resume(out, tools=bank, model=model)
    assert not bank.done
    codeplan.resume(out, tools=bank, model=model, flows=Flows(**FLOWS))
    assert bank.done == [("money", "EVE-99", 1.0)]


def _wrong(make: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as caught:
        make()
    return str(caught.value)


def test_wrong_flows_are_usage_errors() -> None:
    assert "otherwise is ask, refuse or allow" in _wrong(lambda: Flows(otherwise="no"))  # type: ignore[arg-type]
    assert "sources such as goal or tool" in _wrong(lambda: Flows(rules={"send": "goal"}))  # type: ignore[dict-item]
    assert "TOOL.PARAMETER" in _wrong(lambda: Flows(rules={".x": goal}))
    assert "trusted is a list" in _wrong(lambda: Flows(trusted="read"))  # type: ignore[arg-type]
    assert "no setting 'rule'" in _wrong(lambda: flows_of_table({"rule": {}}))
    assert "names no source" in _wrong(lambda: source_of_text("a b"))
    assert "flows.rules" in _wrong(lambda: played("pass", Flows(rules={"sendmoney": goal})))
    assert "has a parameter 'to'" in _wrong(lambda: played("pass", Flows(rules={"send_money.to": goal})))
    with pytest.raises(AttributeError, match="has no fields"):
        _ = goal.name


def test_a_table_says_the_same_as_the_object() -> None:
    table = {
        "trusted": ["search_contacts.name", "search_contacts.email"],
        "rules": {"send_money.recipient": "goal", "send_email.recipients|cc": ["goal", "search_contacts.email"]},
        "readonly": ["read_*", "search_*", "whoami"],
    }
    found, wanted = flows_of_table(table), Flows(**FLOWS)
    assert [str(source) for source in found._trusted.each] == [str(source) for source in wanted._trusted.each]
    assert found._rules[1].sources == wanted._rules[1].sources and found.readonly == wanted.readonly
    assert str(source_of_text("private whoami.secret")) == str(tool("whoami").secret.private)


def test_the_command_line_reads_flows_from_files(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    from codeplan.cli.app import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(
        "def read() -> str:\n    return 'EVE'\n\n\ndef send(to: str) -> str:\n    return 'sent'\n"
    )
    (tmp_path / "plan.py").write_text("def solution(agent, start_from=1):\n    return agent.send(agent.read())\n")
    (tmp_path / "flows.toml").write_text('readonly = ["read"]\notherwise = "refuse"\nrules = { "send.to" = "goal" }\n')
    (tmp_path / "flows.py").write_text(
        "from codeplan.flows import Flows, anything\n\nmine = Flows(rules={'send': anything}, readonly=['read'])\n"
    )
    given = ("flows.toml", "flows.py:mine", "default", "none.toml", "tools.py:read")
    codes = [main(["exec", "plan.py", "--tools", "tools.py", "--flows", each]) for each in given]
    told = capsys.readouterr()
    assert codes == [1, 1, 1, 2, 2] and told.out.count("Claimed") == 2
    assert "the user's flows do not allow this call of send: to comes from read" in " ".join(told.out.split())
    assert "the flows none.toml cannot be read" in told.err and "is no codeplan.flows.Flows" in told.err
