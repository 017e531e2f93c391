"""What becomes of a skill when the tools that it calls have changed: ten changes, and a skill over each.

    python benchmarks/drifts.py           the table
    python benchmarks/drifts.py --blind   the same without what skills know of their tools' answers and descriptions

Each skill is learnt from one success. Then its tools change, and its goal comes back with other values. A change is
*mended* if the model is asked once, for one step, everything is done as the goal wants it, the success becomes a new
version of the skill whose test passes, and the next goal runs without a model. It is *wrong* if the run ends as a
success with other actions than the goal wants. The replies are written by hand, from the prompts' text.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import codeplan
from codeplan.cli.skill_runs import promote
from codeplan.curation.acquisition import AcquiredSkill, acquire_from_run
from codeplan.recording.events import PlanDrafted
from codeplan.recording.trace import Trace
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import Skill
from codeplan.testing.scaffold import write_skill_test


class Drift(NamedTuple):
    """A change of tools: their source before and after, the plan's steps, number and text of the step that the model
    mends, and the goals: the first, the one that meets the change, and a third, each with the actions that it wants.
    """

    name: str
    before: str
    after: str
    steps: tuple[str, ...]
    number: int
    mend: str
    goals: tuple[tuple[str, list[tuple[Any, ...]]], ...]


_ORDERS = """
def order(sku: str) -> str:
    '''Order one piece.'''
    return act("order", sku)
"""
_MAILS = """
def send_mail(address: str, text: str) -> str:
    '''Send a mail at once.'''
    return act("mail", address)
"""
_CONTACTS = """
def add_contact(name: str) -> str:
    '''Add somebody to the address book.'''
    return act("add", name)
"""

DRIFTS = (
    Drift(
        "a field is renamed",
        "def article(sku: str) -> dict:\n    return {'sku': sku, 'euros': {'SKU-7': 12, 'SKU-9': 35, 'SKU-8': 5}[sku]}"
        + _ORDERS,
        "def article(sku: str) -> dict:\n    return {'sku': sku, 'price': {'SKU-7': 12, 'SKU-9': 35, 'SKU-8': 5}[sku]}"
        + _ORDERS,
        (
            "euros = agent.article('SKU-7').get('euros', 0)",
            "if euros <= 20:\n    assert agent.order('SKU-7') == 'ok', 'not ordered'",
        ),
        1,
        "euros = agent.article(the_item)['price']",
        (
            ("Order SKU-7 at up to 20 euros", [("order", "SKU-7")]),
            ("Order SKU-9 at up to 30 euros", []),
            ("Order SKU-8 at up to 30 euros", [("order", "SKU-8")]),
        ),
    ),
    Drift(
        "a field is nested",
        "def customer(number: str) -> dict:\n    return {'name': 'x', 'email': f'{number}@a.example'}" + _MAILS,
        "def customer(number: str) -> dict:\n    return {'name': 'x', 'contact': {'email': f'{number}@a.example'}}"
        + _MAILS,
        (
            "email = agent.customer('C-12')['email']",
            "assert agent.send_mail(email, 'Your order is ready.') == 'ok', 'not sent'",
        ),
        1,
        "email = agent.customer(the_item)['contact']['email']",
        (
            ("Tell customer C-12 that the order is ready", [("mail", "C-12@a.example")]),
            ("Tell customer C-34 that the order is ready", [("mail", "C-34@a.example")]),
            ("Tell customer C-5 that the order is ready", [("mail", "C-5@a.example")]),
        ),
    ),
    Drift(
        "a new error for what is missing",
        "def find_contact(name: str) -> dict | None:\n    return None" + _CONTACTS,
        "def find_contact(name: str) -> dict | None:\n    return {'error': 'not found'}" + _CONTACTS,
        (
            "known = agent.find_contact('Ann Lee')\nassert known is None or isinstance(known, dict), 'an odd answer'",
            "if known is None:\n    assert agent.add_contact('Ann Lee') == 'ok', 'not added'",
        ),
        1,
        "known = agent.find_contact(the_item)\nassert known, 'an odd answer'\n"
        "known = None if 'error' in known else known",
        (
            ("Have Ann Lee in the address book", [("add", "Ann Lee")]),
            ("Have Bob Ray in the address book", [("add", "Bob Ray")]),
            ("Have Eve Kim in the address book", [("add", "Eve Kim")]),
        ),
    ),
    Drift(
        "a page in place of a list",
        "def open_orders(firm: str) -> object:\n    return [{'id': i} for i in range(len(firm))]\n"
        "def report(firm: str, count: int) -> str:\n    return act('report', firm, count)",
        "def open_orders(firm: str) -> object:\n"
        "    return {'items': [{'id': i} for i in range(len(firm))], 'next': None}\n"
        "def report(firm: str, count: int) -> str:\n    return act('report', firm, count)",
        ("count = len(agent.open_orders('Acme'))", "assert agent.report('Acme', count) == 'ok', 'not reported'"),
        1,
        "count = len(agent.open_orders(the_item)['items'])",
        (
            ("Report how many open orders Acme has", [("report", "Acme", 4)]),
            ("Report how many open orders Bluefin has", [("report", "Bluefin", 7)]),
            ("Report how many open orders Tern has", [("report", "Tern", 4)]),
        ),
    ),
    Drift(
        "a date in another form",
        "def due(invoice: str) -> str:\n"
        "    return {'INV-7': '2026-02-01', 'INV-8': '2026-09-01', 'INV-9': '2026-03-01'}[invoice]\n"
        "def remind(invoice: str) -> str:\n    return act('remind', invoice)",
        "def due(invoice: str) -> str:\n"
        "    return {'INV-7': '01/02/2026', 'INV-8': '01/09/2026', 'INV-9': '01/03/2026'}[invoice]\n"
        "def remind(invoice: str) -> str:\n    return act('remind', invoice)",
        (
            "day = agent.due('INV-7')",
            "if day < '2026-06-15':\n    assert agent.remind('INV-7') == 'ok', 'not reminded'",
        ),
        1,
        "day = '-'.join(reversed(agent.due(the_item).split('/')))",
        (
            ("Remind INV-7 if due before 2026-06-15", [("remind", "INV-7")]),
            ("Remind INV-8 if due before 2026-07-20", []),
            ("Remind INV-9 if due before 2026-05-10", [("remind", "INV-9")]),
        ),
    ),
    Drift(
        "an argument is renamed",
        "def stock(fruit: str) -> int:\n    return 3\n"
        "def buy(fruit: str, count: int) -> str:\n    return act('buy', fruit, count)",
        "def stock(fruit: str) -> int:\n    return 3\n"
        "def buy(item: str, count: int) -> str:\n    return act('buy', item, count)",
        (
            "there = agent.stock(fruit='apples')",
            "assert agent.buy(fruit='apples', count=10 - there) == 'ok', 'not bought'",
        ),
        2,
        "assert agent.buy(item=the_item, count=the_number - there) == 'ok', 'not bought'",
        (
            ("Order apples up to 10", [("buy", "apples", 7)]),
            ("Order pears up to 25", [("buy", "pears", 22)]),
            ("Order plums up to 8", [("buy", "plums", 5)]),
        ),
    ),
    Drift(
        "an argument is added, with no default",
        "def room_of(event: str) -> str:\n    return 'Aurora'\n"
        "def invite(email: str, event: str) -> str:\n    return act('invite', email, event)",
        "def room_of(event: str) -> str:\n    return 'Aurora'\n"
        "def invite(email: str, event: str, notify: bool) -> str:\n"
        "    '''Invite somebody; with notify, they get a mail, as before.'''\n"
        "    return act('invite', email, event, notify)",
        (
            "assert agent.room_of('Planning'), 'there is no room'",
            "assert agent.invite('dana@a.example', 'Planning') == 'ok', 'not invited'",
        ),
        2,
        "assert agent.invite(the_item_2, the_item, True) == 'ok', 'not invited'",
        (
            ("Invite dana@a.example to Planning", [("invite", "dana@a.example", "Planning")]),
            ("Invite omar@b.example to Retro", [("invite", "omar@b.example", "Retro", True)]),
            ("Invite mei@c.example to Kickoff", [("invite", "mei@c.example", "Kickoff", True)]),
        ),
    ),
    Drift(
        "cents in place of euros",
        "def balance(account: str) -> int:\n    '''The balance in euros.'''\n"
        "    return {'A-1': 80, 'A-2': 20, 'A-3': 90}[account]\n"
        "def pay(account: str, euros: int) -> str:\n    return act('pay', account, euros)",
        "def balance(account: str) -> int:\n    '''The balance in cents.'''\n"
        "    return {'A-1': 8000, 'A-2': 2000, 'A-3': 9000}[account]\n"
        "def pay(account: str, euros: int) -> str:\n    return act('pay', account, euros)",
        ("there = agent.balance('A-1')", "if there >= 50:\n    assert agent.pay('A-1', 50) == 'ok', 'not paid'"),
        1,
        "there = agent.balance(the_item) / 100",
        (
            ("Pay 50 euros from A-1 if it has them", [("pay", "A-1", 50)]),
            ("Pay 60 euros from A-2 if it has them", []),
            ("Pay 70 euros from A-3 if it has them", [("pay", "A-3", 70)]),
        ),
    ),
    Drift(
        "a number became a text",
        "def tickets_of(person: str) -> list:\n    return [{'id': 9}, {'id': 17}]\n"
        "def close(ticket: object) -> str:\n    return act('close', ticket)",
        "def tickets_of(person: str) -> list:\n    return [{'id': 'T-9'}, {'id': 'T-17'}]\n"
        "def close(ticket: object) -> str:\n    return act('close', ticket)",
        (
            "latest = max(ticket['id'] for ticket in agent.tickets_of('Priya'))",
            "assert agent.close(latest) == 'ok', 'not closed'",
        ),
        1,
        "latest = max((ticket['id'] for ticket in agent.tickets_of(the_item)), key=lambda id: int(id[2:]))",
        (
            ("Close the latest ticket of Priya", [("close", 17)]),
            ("Close the latest ticket of Marek", [("close", "T-17")]),
            ("Close the latest ticket of Kwame", [("close", "T-17")]),
        ),
    ),
    Drift(
        "a tool is split in two",
        "def price_of(sku: str) -> int:\n    return 5\n"
        "def change_price(sku: str, euros: int) -> str:\n    '''Set the price, and print the label.'''\n"
        "    return act('price', sku, euros) and act('label', sku)",
        "def price_of(sku: str) -> int:\n    return 5\n"
        "def set_price(sku: str, euros: int) -> str:\n    '''Set the price, without a label.'''\n"
        "    return act('price', sku, euros)\n"
        "def print_label(sku: str) -> str:\n    '''Print the label with the price.'''\n    return act('label', sku)",
        (
            "assert agent.price_of('SKU-11') != 32, 'it has this price'",
            "assert agent.change_price('SKU-11', 32) == 'ok', 'not changed'",
        ),
        2,
        "assert agent.set_price(the_item, the_number) == 'ok', 'not changed'\n"
        "assert agent.print_label(the_item) == 'ok', 'not printed'",
        (
            ("Price SKU-11 at 32 euros", [("price", "SKU-11", 32), ("label", "SKU-11")]),
            ("Price SKU-12 at 45 euros", [("price", "SKU-12", 45), ("label", "SKU-12")]),
            ("Price SKU-13 at 67 euros", [("price", "SKU-13", 67), ("label", "SKU-13")]),
        ),
    ),
)


class ToolsFromSource:
    """Tools from source, which keep what they do in ``done``."""

    def __init__(self, source: str) -> None:
        self.done: list[tuple[Any, ...]] = []
        space: dict[str, Any] = {"act": self._act}
        exec(source, space)
        self.tools = [f for name, f in space.items() if callable(f) and name != "act"]

    def _act(self, *what: Any) -> str:
        self.done.append(what)
        return "ok"


def step(number: int, code: str) -> str:
    """A step of a plan, with an assertion about what it finds out."""
    held = f"assert {code.split(' = ')[0]} is not None, 'nothing came back'"
    lines = [f"print('[Step {number}] do it')", *code.split("\n"), *([] if "assert" in code else [held])]
    return "\n".join([f"    if start_from <= {number}:", *(f"        {line}" for line in lines)])


def plan_of(steps: Sequence[str]) -> str:
    """A plan with these steps, which returns what it found out."""
    return "\n".join(["def solution(agent, start_from=1):", *(step(i, code) for i, code in enumerate(steps, 1))])


class ScriptedReplies:
    """Says these replies, one a call, and then NO."""

    def __init__(self, *replies: str) -> None:
        self.left, self.asked = list(replies), list[str]()

    def __call__(self, messages: Sequence[dict[str, str]]) -> str:
        self.asked.append("\n".join(m["content"] for m in messages))
        return self.left.pop(0) if self.left else "NO"


def learn(drift: Drift, library: SkillLibrary, folder: Path) -> Skill:
    """The active skill that the first goal yields."""
    goal, wanted = drift.goals[0]
    world = ToolsFromSource(drift.before)
    reply = f"```python\n{plan_of(drift.steps)}\n```"
    codeplan.do(goal, tools=world.tools, model=ScriptedReplies(reply), out=folder, verify=lambda value: True)
    assert world.done == wanted, (drift.name, world.done)
    found = acquire_from_run(folder, library, model=ScriptedReplies('{"said": []}'), out=folder / "proof")
    assert isinstance(found, AcquiredSkill), (drift.name, found)
    write_skill_test(library.path / "tools" / found.skill.name, Path(found.proof))
    return library.change(found.skill, status="active")


def play(drift: Drift, root: Path, *, blind: bool = False, untested: bool = False) -> tuple[str, ScriptedReplies]:
    """What becomes of the skill when its tools have changed, in a word, and the model that was asked.

    If ``untested``, the mended version is promoted without a run of its test.
    """
    library = SkillLibrary(root / "skills")
    skill = learn(drift, library, root / "first")
    if blind:
        library.change(skill, answers={}, tools=without_words(skill))
    goal, wanted = drift.goals[1]
    after = without_docs(drift.after) if blind else drift.after
    world = ToolsFromSource(after)
    model = ScriptedReplies(f"```python\n{step(drift.number, drift.mend)}\n```")
    result = codeplan.do(
        goal,
        tools=world.tools,
        model=model,
        out=root / "again",
        verify=lambda value: True,
        library=library,
        reuse=True,
        tries=2,
    )
    if result.success and world.done != wanted:
        return "wrong", model
    if not (result.success and len(model.asked) == 1 and touched(root / "again") == [drift.number]):
        return f"not mended: {result.reason}", model
    return next_time(drift.goals[2], after, library, skill, root, untested), model


def touched(folder: Path) -> list[int]:
    """The steps that the model's only reply has changed."""
    drafts = [e for e in Trace.read(folder / "trace.jsonl") if isinstance(e, PlanDrafted)]
    return list(drafts[-1].steps or ()) if len(drafts) == 2 else []


def next_time(
    third: tuple[str, list[tuple[Any, ...]]],
    after: str,
    library: SkillLibrary,
    skill: Skill,
    root: Path,
    untested: bool,
) -> str:
    """Whether the success becomes a version that is promoted, and does the next goal without a model."""
    found = acquire_from_run(root / "again", library, model=ScriptedReplies(), out=root / "proof", mends=True)
    if not (isinstance(found, AcquiredSkill) and found.mends == skill.version):
        return f"not kept: {found}"
    write_skill_test(library.path / "tools" / skill.name, Path(found.proof))
    with contextlib.redirect_stdout(io.StringIO()):
        promote(skill.name, library=library.path, untested=untested)
    goal, wanted = third
    world, model = ToolsFromSource(after), ScriptedReplies()
    codeplan.do(goal, tools=world.tools, model=model, out=root / "third", library=library, reuse=True)
    return "mended" if world.done == wanted else f"not known: {world.done}"


def without_docs(source: str) -> str:
    """The tools' source without docstrings."""
    return "\n".join(line for line in source.split("\n") if not line.strip().startswith("'''"))


def without_words(skill: Skill) -> tuple[Any, ...]:
    """The skill's tools without descriptions."""
    replace = msgspec.structs.replace
    return tuple(replace(t, method=replace(t.method, doc="")) for t in skill.tools)


def outcomes(*, blind: bool = False) -> Iterator[str]:
    """What becomes of each skill, in a word."""
    for drift in DRIFTS:
        with tempfile.TemporaryDirectory() as folder:
            outcome, model = play(drift, Path(folder), blind=blind)
        print(f"{drift.name:40} {outcome} (model calls: {len(model.asked)})")
        yield outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blind", action="store_true", help="without what skills know of answers and descriptions")
    found = list(outcomes(blind=parser.parse_args().blind))
    print(f"{found.count('mended')} of {len(found)} mended by one reply for one step, {found.count('wrong')} wrong")


if __name__ == "__main__":
    main()
