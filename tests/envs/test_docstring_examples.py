"""Every example in the docstrings of every environment's agents is played, and returns what the docstring says.

An example stands at the end of a docstring, as ``Example: agent.method(…) returns "text"`` or ``returns [data]``; … stands
for what is left out. ``RUNS`` says for each what is done first, and in which task.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import alfworld_files
from support.miniwob_pages import needs_browser
from support.scienceworld_engine import needs_engine

from codeplan import envs
from codeplan.agent_interface import agent_api
from codeplan.episode.episode import build_agent
from codeplan.protocols import Environment

EXAMPLE = re.compile(r"Example: (agent\.(\w+)(?:\(.*?\))?) returns (.+?)\s*(?=Example: |\Z)", re.DOTALL)


class Run(NamedTuple):
    """What is done before an example: statements with ``agent``, in a task (empty: the environment's first of TASKS)."""

    first: str = ""
    task: str = ""


TASKS = {
    "household": "cool/2003",
    "alfworld": "cool/2003",
    "textcraft": "depth2/365",
    "webshop": "buy/300",
    "hotpotqa": "bridge/14",
    "miniwob": "enter-text/2000",
    "scienceworld": "chemistry-mix/0",
}

HOLD = "agent.goto('diningtable 1'); agent.take('apple 2', 'diningtable 1')"

HOUSEHOLD = {
    'agent.goto("countertop 2")': Run(),
    'agent.goto("fridge 1")': Run(),
    'agent.look_in("drawer 2")': Run(),
    'agent.take("apple 2", "diningtable 1")': Run("agent.goto('diningtable 1')"),
    'agent.put("apple 2", "sidetable 1")': Run(f"{HOLD}; agent.goto('sidetable 1')"),
    'agent.open_receptacle("drawer 2")': Run("agent.goto('drawer 2')"),
    'agent.close_receptacle("drawer 2")': Run("agent.goto('drawer 2'); agent.open_receptacle('drawer 2')"),
    'agent.clean("apple 2", "sinkbasin 1")': Run(f"{HOLD}; agent.goto('sinkbasin 1')"),
    'agent.heat("apple 2", "microwave 1")': Run(f"{HOLD}; agent.goto('microwave 1')"),
    'agent.cool("apple 2", "fridge 1")': Run(f"{HOLD}; agent.goto('fridge 1')"),
    'agent.turn_on("desklamp 1")': Run("agent.goto('sidetable 2')", "examine/2000"),
    "agent.report()": Run(f"{HOLD}; agent.goto('sidetable 1'); agent.open_receptacle('sidetable 1')"),
}

OPTION = "agent.search('insulated water bottle'); agent.click('B011024K4C'); agent.click('18 oz')"
FIELD = """agent.click_xpath("//input[@id='tt']")"""

IN_KITCHEN = "agent.goto('kitchen')"
OPEN_CUPBOARD = f"{IN_KITCHEN}; agent.open('cupboard')"
TAKE_THERMOMETER = f"{IN_KITCHEN}; agent.take('thermometer')"

RUNS: dict[str, dict[str, Run]] = {
    "household": HOUSEHOLD,
    "alfworld": HOUSEHOLD,
    "textcraft": {
        'agent.get(2, "oak logs")': Run(),
        'agent.get(1, "stick")': Run(),
        'agent.can_get("iron ingot")': Run(),
        'agent.can_get("oak planks")': Run(),
        'agent.can_get("oak logs")': Run(),
        'agent.craft_until(7, "oak planks", ["oak logs"])': Run("agent.get(2, 'oak logs')"),
        'agent.craft_until(1, "shield", ["planks", "iron ingot"], {"planks": "oak planks"})': Run(
            "agent.get(2, 'oak logs'); agent.craft_until(6, 'oak planks', ['oak logs']); agent.get(1, 'iron ingot')"
        ),
        'agent.craft(1, "shield", {"oak planks": 6, "iron ingot": 1})': Run("agent.get(1, 'iron ingot')"),
        'agent.craft(4, "oak planks", {"oak logs": 1})': Run("agent.get(1, 'oak logs')"),
        "agent.inventory()": Run("agent.get(2, 'oak logs'); agent.craft(4, 'oak planks', {'oak logs': 1})"),
        'agent.recipes("shield")': Run(),
        "agent.report()": Run("agent.get(1, 'oak logs'); agent.get(6, 'planks')"),
    },
    "webshop": {
        'agent.search("insulated water bottle")': Run(),
        'agent.click("18 oz")': Run(OPTION.rpartition("; ")[0]),
        "agent.results()": Run(OPTION.partition("; ")[0]),
        'agent.product("B011024K4C")': Run(OPTION.partition("; ")[0]),
        **{f"agent.{name}()": Run(OPTION) for name in ("options", "chosen", "price", "buttons", "report")},
    },
    "hotpotqa": {
        'agent.search("Budapest")': Run(),
        'agent.search("Adriatic")': Run(),
        'agent.lookup("stands on")': Run("agent.search('Budapest')"),
        'agent.lookup("queen")': Run("agent.search('Budapest')"),
        'agent.lookup_all("city")': Run("agent.search('Budapest')"),
        'agent.finish("Black Sea")': Run(),
        "agent.report()": Run("agent.search('Adriatic')"),
    },
    "miniwob": {
        'agent.type("Karrie")': Run(FIELD),
        'agent.press_key("backspace")': Run(f"{FIELD}; agent.type('Karrie')"),
        "agent.click_option(\"//option[text()='Benin']\")": Run(task="choose-list/2000"),
        "agent.click_xpath(\"//input[@id='tt']\")": Run(),
        "agent.move_mouse_on(\"//ul[@id='menu']/li[2]/div\")": Run(task="click-menu/2000"),
        'agent.find("//input")': Run(),
        "agent.clear(\"//input[@id='tt']\")": Run(f"{FIELD}; agent.type('Karrie')"),
        "agent.wait(2000)": Run(),
        "agent.scroll(\"//div[@id='area']\", 100)": Run(),
        "agent.click_point(\"//*[@id='svg-grid']\", 54, 39)": Run(task="circle-center/41"),
        "agent.drag(\"//*[@id='draggableSmall']\", \"//*[@id='draggableLarge']\")": Run(task="drag-box/1"),
        "agent.drag_by(\"//*[@id='slider']/span\", -22, 0)": Run(task="use-slider/41"),
        "agent.draw(\"//*[name()='svg']\", [[20, 50], [120, 50]])": Run(task="draw-line/1"),
        "agent.report()": Run(f"{FIELD}; agent.type('Karrie')"),
    },
    "scienceworld": {
        "agent.look()": Run(),
        'agent.examine("table")': Run(IN_KITCHEN),
        'agent.look_in("fridge")': Run(IN_KITCHEN),
        'agent.read("recipe")': Run(IN_KITCHEN),
        "agent.inventory()": Run(),
        "agent.objects()": Run(),
        'agent.find("jar")': Run(IN_KITCHEN),
        'agent.goto("kitchen")': Run(),
        'agent.teleport("kitchen")': Run(),
        'agent.open("door to kitchen")': Run(),
        'agent.close("door to kitchen")': Run("agent.open('door to kitchen')"),
        'agent.take("thermometer")': Run(IN_KITCHEN),
        'agent.drop("thermometer")': Run(TAKE_THERMOMETER),
        'agent.move("glass jar", "stove")': Run(IN_KITCHEN),
        'agent.pour("tin cup", "metal pot")': Run(
            f"{OPEN_CUPBOARD}; agent.move('tin cup', 'sink'); agent.activate('sink')"
        ),
        'agent.dunk("tin cup", "metal pot")': Run(
            f"{OPEN_CUPBOARD}; agent.move('metal pot', 'sink'); agent.activate('sink'); agent.take('metal pot')"
        ),
        'agent.mix("bowl")': Run(IN_KITCHEN),
        'agent.activate("stove")': Run(IN_KITCHEN),
        'agent.deactivate("stove")': Run(f"{IN_KITCHEN}; agent.activate('stove')"),
        'agent.use("thermometer", "soap")': Run(TAKE_THERMOMETER),
        'agent.connect("battery anode", "blue wire terminal 1")': Run("agent.goto('workshop')"),
        'agent.disconnect("battery")': Run(
            "agent.goto('workshop'); agent.connect('battery anode', 'black wire terminal 1')"
        ),
        'agent.eat("apple")': Run(IN_KITCHEN),
        'agent.flush("toilet")': Run(f"{IN_KITCHEN}; agent.goto('bathroom')"),
        'agent.focus("thermometer")': Run(TAKE_THERMOMETER, "use-thermometer/0"),
        "agent.wait()": Run(),
        "agent.choose(0)": Run(f"{IN_KITCHEN}; agent.take('orange')"),
        "agent.report()": Run(),
    },
}
"""By environment and example, what is done before it."""


class Example(NamedTuple):
    """An example of a docstring. ``agent`` is the agent's name in ``agents``; empty if the environment has one agent."""

    env: str
    agent: str
    call: str
    name: str
    returned: str

    @property
    def id(self) -> str:
        return "-".join(filter(None, (self.env, self.agent, self.call)))


def agents_of(env: str) -> dict[str, type]:
    with closing(envs.make(env)) as made:
        return dict(getattr(made, "agents", {})) or {"": made.agent}


def docstrings() -> Iterator[tuple[str, str, str, str]]:
    """Environment, agent, method (empty: the class) and docstring."""
    for env in envs.names():
        for agent, cls in agents_of(env).items():
            api = agent_api(cls)
            yield env, agent, "", api.doc
            yield from ((env, agent, m.name, m.doc) for m in api.methods)


def examples() -> Iterator[Example]:
    for env, agent, _, doc in docstrings():
        for call, name, returned in EXAMPLE.findall(doc):
            yield Example(env, agent, call, name, returned)


EXAMPLES = list(examples())


@pytest.mark.parametrize("env", envs.names())
def test_every_method_has_an_example_of_its_own_and_in_the_same_form(env):
    for _, agent, method, doc in (found for found in docstrings() if found[0] == env):
        named = [name for _, name, _ in EXAMPLE.findall(doc)]
        assert len(named) == doc.count("Example"), f"{env} {agent} {method}: Example: agent.method(…) returns …"
        assert set(named) == {method} or not method, f"{env} {agent} {method}: examples of {named}"


@pytest.mark.parametrize("env", envs.names())
def test_every_example_has_a_run_and_every_run_an_example(env):
    assert {e.call for e in EXAMPLES if e.env == env} == set(RUNS[env])


@cache
def alfworld_ids(folder: str) -> dict[str, str]:
    """The household's tasks as ALFWorld's games; their ids there."""
    split = Path(folder) / "json_2.1.1" / "valid_unseen"
    pairs = [(task.split("/")[0], int(task.split("/")[1])) for task in ("cool/2003", "examine/2000")]
    return {f"{kind}/{seed}": alfworld_files.write(split, kind, seed, dialect="move") for kind, seed in pairs}


class Worlds:
    """The environments of the examples, each opened once."""

    def __init__(self, folder: str, resources: ExitStack) -> None:
        self._folder, self._resources = folder, resources
        self._envs: dict[tuple[str, str], Environment] = {}

    def begin(self, example: Example) -> Any:
        """The example's agent at the start of the example's task."""
        run = RUNS[example.env][example.call]
        env, id = self._open(example.env, example.agent), run.task or TASKS[example.env]
        task = envs.select(env, id=alfworld_ids(self._folder)[id] if example.env == "alfworld" else id)
        return build_agent(env, env.step, env.reset(task))

    def _open(self, name: str, agent: str) -> Environment:
        if (name, agent) not in self._envs:
            settings: dict[str, Any] = {"agent": agent} if agent else {}
            if name == "alfworld":
                alfworld_ids(self._folder)
                settings["data"] = self._folder
            self._envs[name, agent] = self._resources.enter_context(closing(envs.make(name, **settings)))
        return self._envs[name, agent]


@pytest.fixture(scope="module")
def worlds():
    with tempfile.TemporaryDirectory(prefix="codeplan-examples-") as folder, ExitStack() as resources:
        yield Worlds(folder, resources)


MARKS = {"miniwob": needs_browser, "scienceworld": needs_engine}


def fits(returned: str, answer: object) -> bool:
    """Whether an answer is what a docstring says; … stands for anything, and white space does not count."""
    shown = f'"{answer.strip()}"' if isinstance(answer, str) else str(answer).replace("'", '"')
    parts = [re.escape(" ".join(part.split())) for part in returned.split("…")]
    return re.fullmatch(" ?.* ?".join(parts), " ".join(shown.split())) is not None


@pytest.mark.parametrize("example", [pytest.param(e, id=e.id, marks=MARKS.get(e.env, ())) for e in EXAMPLES])
def test_an_example_returns_what_the_docstring_says(example, worlds):
    agent = worlds.begin(example)
    exec(RUNS[example.env][example.call].first, {"agent": agent})
    answer = eval(example.call, {"agent": agent})
    assert fits(example.returned, answer), answer


def test_another_answer_does_not_fit():
    assert fits('"You … it."', "You take it.\n") and fits('["a", …]', ["a", 1]) and fits("33.0", 33.0)
    assert not fits('"You … it."', "You take it. No.") and not fits('["a"]', ["a", "b"]) and not fits("33.0", 33.5)
