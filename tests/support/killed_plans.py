"""Plans that use what agents remember and read: what they print shows whether that survives a kill.

Each has ``READY`` in an assertion of a later step, which fails at first.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from support import alfworld_files
from support.miniwob_pages import folder_of_pages

from codeplan import envs
from codeplan.envs.alfworld.environment import make as make_alfworld
from codeplan.protocols import Environment
from codeplan.types import Message

HOUSE = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] look around')
        for place in agent.receptacles[:5]:
            agent.goto(place)
        opened = [agent.look_in(place) for place in agent.closed[:2]]
        print(opened, agent.seen, agent.closed, agent.location)
        assert agent.seen, f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        print('[Step 2] find and take it')
        thing = agent.holding
        for place in agent.receptacles:
            if thing is None and place not in agent.seen:
                for name in agent.look_in(place):
                    if name.startswith('lettuce '):
                        thing = name
                        print(agent.take(thing, place), agent.holding)
        print(thing, agent.location, agent.seen, agent.closed)
        assert READY, f'Error in [Step 2]: not ready yet, {agent.report()}'
    if start_from <= 3:
        print('[Step 3] clean it')
        print(agent.seen, agent.closed, agent.location, agent.holding)
        agent.goto('microwave 1')
        print(agent.closed)
        agent.open_receptacle('microwave 1')
        agent.close_receptacle('microwave 1')
        print(agent.seen, agent.closed)
        agent.goto('sinkbasin 1')
        assert 'You clean' in agent.clean(thing, 'sinkbasin 1'), f'Error in [Step 3]: {agent.report()}'
    if start_from <= 4:
        print('[Step 4] put it away')
        agent.look_in('diningtable 1')
        print(agent.put(thing, 'diningtable 1'), agent.seen, agent.closed, agent.holding)
        assert thing in agent.seen['diningtable 1'], f'Error in [Step 4]: {agent.report()}'
"""

MINIWOB = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] fill in')
        print(agent.description, agent.find('//input'))
        agent.clear("//input[@id='tt']")
        agent.type('new')
        agent.press_key('home')
        agent.wait(6000)
        agent.drag("//*[@id='one']", "//*[@id='two']")
        agent.drag_by("//*[@id='two']", -5, -20)
        agent.scroll("//*[@id='box']", 40)
        print(agent.current_state)
        assert 'later' in agent.current_state, f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        print('[Step 2] draw')
        agent.click_point("//*[@id='pad']", 20, 10)
        agent.draw("//*[@id='pad']", [[5, 5], [50, 20], [90, 30]])
        agent.move_mouse_on("//*[@id='one']")
        agent.click_option("//option[text()='second']")
        print([row['text'] for row in agent.find('//ol/li')])
        assert READY, f'Error in [Step 2]: not ready yet, {agent.report()}'
    if start_from <= 3:
        print('[Step 3] go')
        print([row['text'] for row in agent.find('//ol/li')], agent.find("//input[@id='tt']"))
        agent.click_xpath('//button')
        assert agent.current_state.startswith('DONE'), f'Error in [Step 3]: {agent.report()}'
"""
AREA = """
<input id='tt' value='old'><div id='box' style='height:30px;overflow:auto'><p style='height:200px'>tall</p></div>
<div id='pad' style='height:60px;width:150px'></div><span id='one'>one</span> <span id='two'>two</span>
<select><option>first</option><option>second</option></select>
<button onclick="core.endEpisode(tt.value === 'new' ? 1 : -1)">go</button><ol id='log'></ol>
<script>
const note = (text) => { log.innerHTML += `<li>${text}</li>`; };
for (const kind of ['mousedown', 'mouseup'])
  area.addEventListener(kind, (e) => note(`${kind} ${e.target.id} ${e.offsetX | 0} ${e.offsetY | 0}`));
box.addEventListener('scroll', () => note(`scroll ${box.scrollTop}`));
setTimeout(() => note('later'), 5000);
</script>"""
"""A page that writes down what the mouse does to it."""

TEXTCRAFT = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] get')
        print(agent.goal, agent.craftable, agent.recipes(agent.goal), agent.can_get('oak logs'), agent.can_get('stick'))
        agent.get(2, 'oak logs')
        agent.get(1, 'oak planks')
        agent.get(1, 'iron ingot')
        print(agent.can_get('oak logs'), agent.can_get('oak planks'), agent.held)
        assert agent.can_get('oak logs'), f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        print('[Step 2] craft')
        agent.craft(4, 'oak planks', {'oak logs': 1})
        made = agent.craft_until(6, 'oak planks', ['oak logs'])
        print(made, agent.held, agent.inventory(), agent.can_get('oak planks'))
        assert READY, f'Error in [Step 2]: not ready yet, {agent.report()}'
    if start_from <= 3:
        print('[Step 3] the shield')
        print(agent.held, agent.can_get('oak planks'))
        made += agent.craft_until(1, 'shield', ['planks', 'iron ingot'], {'planks': 'oak planks'})
        print(made, agent.held)
        assert made > 1, f'Error in [Step 3]: {agent.report()}'
"""

WEBSHOP = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] compare')
        agent.search('argan oil curl shampoo bar')
        found = [agent.product(result['id']) for result in agent.results()[:2]]
        print(agent.instruction, found, agent.score, agent.buttons())
        assert len(found) == 2, f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        print('[Step 2] choose')
        for values in agent.options().values():
            agent.click(values[0])
        print(agent.page, agent.chosen(), agent.price())
        assert READY, f'Error in [Step 2]: not ready yet, {agent.report()}'
    if start_from <= 3:
        print('[Step 3] buy')
        print(agent.chosen(), agent.price(), agent.options(), agent.score)
        agent.click('Buy Now')
        print(agent.score)
        assert agent.score is not None, f'Error in [Step 3]: {agent.report()}'
"""

HOTPOTQA = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] read')
        agent.search('Garabit bridge')
        print(agent.question, agent.similar, agent.page)
        agent.search('Johannes Brahms')
        agent.lookup('a')
        print(agent.lookup_all('a'), agent.similar, agent.page)
        agent.lookup('in')
        agent.search('Garabit')
        assert agent.similar, f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        print('[Step 2] read on')
        print(agent.similar, agent.page, agent.lookup_all('a'), agent.lookup_all('in'))
        assert READY, f'Error in [Step 2]: not ready yet, {agent.report()}'
    if start_from <= 3:
        print('[Step 3] answer')
        print(agent.similar, agent.page, agent.lookup_all('in'), agent.answer)
        agent.search(agent.similar[0])
        print(agent.similar, agent.page, agent.finish('Dijon'), agent.answer)
        assert agent.answer == 'Dijon', f'Error in [Step 3]: {agent.report()}'
"""

SCIENCEWORLD = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] take what is here')
        agent.look()
        print(agent.goal, agent.find('large cupboard'), agent.objects(), agent.rooms)
        agent.open('large cupboard')
        agent.look_in('large cupboard')
        agent.take(agent.find('bowl'))
        print(agent.holding, agent.rooms, agent.choices, agent.score)
        assert agent.holding, f'Error in [Step 1]: {agent.report()}'
    if start_from <= 2:
        print('[Step 2] carry it')
        agent.goto('living room')
        print(agent.room, agent.rooms, agent.holding, agent.score, agent.actions_left)
        assert READY, f'Error in [Step 2]: not ready yet, {agent.report()}'
    if start_from <= 3:
        print('[Step 3] put it down')
        print(agent.room, agent.rooms, agent.find('bowl'), agent.find('orange box'))
        agent.move('bowl', 'orange box')
        print(agent.inventory(), agent.examine('orange box'), agent.rooms, agent.things)
        assert agent.room == 'living room', f'Error in [Step 3]: {agent.report()}'
    if start_from <= 4:
        print('[Step 4] end it')
        agent.focus('orange box')
        assert agent.score is None, f'Error in [Step 4]: {agent.report()}'
"""


class KilledEpisode(NamedTuple):
    """An environment with a task for it, and the plan for the task."""

    env: Environment
    task: str
    plan: str

    def reply(self, messages: list[Message]) -> str:
        """The model: a plan that fails at step 2, and the corrected plan once it has failed."""
        failed = any("not ready yet" in message["content"] for message in messages)
        return f"```python{self.plan.replace('READY', 'agent.report()' if failed else 'not agent.report()')}```"


def killed_episode(name: str, folder: Path) -> KilledEpisode:
    """The episode in an environment; ``folder`` is for files that it needs, which are written once."""
    if name == "alfworld":
        games = folder / "json_2.1.1" / "valid_unseen"
        if not games.exists():
            alfworld_files.write(games, "clean", 1591, dialect="move")
        env: Environment = make_alfworld(data=str(folder))
        return KilledEpisode(env, env.tasks("valid_unseen")[0].id, HOUSE)
    if name == "miniwob":
        return KilledEpisode(envs.make(name, pages=folder_of_pages(folder, page=AREA)), "page/0", MINIWOB)
    task, plan = EPISODES[name]
    return KilledEpisode(envs.make(name), task, plan)


EPISODES = {
    "household": ("clean/1591", HOUSE),
    "textcraft": ("depth2/365", TEXTCRAFT),
    "webshop": ("buy/0", WEBSHOP),
    "hotpotqa": ("bridge/1", HOTPOTQA),
    "scienceworld": ("find-plant/225", SCIENCEWORLD),
}
