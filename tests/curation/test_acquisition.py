"""Acquisition: a success becomes a candidate when its plan, made whole and general, wins the same task again."""

import pytest
from support.boxes import Boxes, Replies

from codeplan.curation.acquisition import NothingAcquired, acquire_skill, try_to_acquire
from codeplan.curation.curation_runner import CurationRunner
from codeplan.sandbox import Sandbox
from codeplan.sandbox.analysis.plan_shape import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.skills.library import SkillLibrary
from codeplan.types import Observation, Plan, Task


@pytest.fixture
def library(tmp_path):
    return SkillLibrary(tmp_path / "skills")


def household(task_id, tmp_path, **settings):
    runner = CurationRunner("household", folder=tmp_path / "runs", **settings)
    task = next(t for t in runner.tasks("train") if t.id == task_id)
    return runner, runner.run_planner(task, "first")


class LockAgent:
    """Opens a door that is locked."""

    def __init__(self, act):
        self._act = act

    def do(self, what: str) -> str:
        """Turn the key, or open the door."""
        return self._act(what).text

    def report(self) -> str:
        """Nothing to report."""
        return ""


class Lock:
    """The door opens when the key has been turned."""

    name, agent = "lock", LockAgent

    def tasks(self, split):
        return [Task("door/1", "lock", "open", "open the door")]

    resets = 0

    def reset(self, task):
        self.turned, self.resets = False, self.resets + 1
        return Observation("A door.")

    def step(self, action):
        self.turned = self.turned or action == "turn"
        won = action == "open" and self.turned
        return Observation("It opens." if won else "It is done." if action == "turn" else "It is stuck.", 1.0, won, won)

    def close(self):
        pass


def steps(*actions):
    blocks = [
        f"    if start_from <= {n}:\n        print('[Step {n}] I {a}')\n        seen = agent.do('{a}')\n"
        f"        assert 'stuck' not in seen, f'Error in [Step {n}]: stuck. {{agent.report()}}'\n"
        for n, a in enumerate(actions, 1)
    ]
    return "def solution(agent, start_from=1):\n" + "".join(blocks)


# ------------------------------------------------------------------ what becomes a candidate


@pytest.mark.parametrize("kind", ["clean", "examine", "pick_two"])
def test_a_success_becomes_a_candidate_with_parameters_and_a_proof(library, tmp_path, kind):
    runner, ran = household(f"{kind}/2003", tmp_path)
    skill = acquire_skill(runner, library, ran)
    assert (skill.status, skill.kind, skill.env) == ("candidate", kind, "household")
    assert {"the_item", "the_places"} <= set(skill.parameters)
    assert skill.origins[0].run == ran.run
    (trial,) = library.read_evidence(skill)
    assert (trial.phase, trial.success, trial.task) == ("acquire", True, f"{kind}/2003")
    assert isinstance(Sandbox().check(skill.plan, runner.api()), Plan)


def test_a_failure_yields_no_skill(library, tmp_path):
    runner, ran = household("heat/2003", tmp_path, gaps=1.0, sample_kinds="pick")
    assert not ran.result.success
    assert acquire_skill(runner, library, ran) is None
    assert library.entries() == []


def test_plans_of_one_shape_are_one_skill_with_all_origins(library, tmp_path):
    settings = {"mistakes": "none"}
    for task in ("heat/2003", "heat/2004"):
        runner, ran = household(task, tmp_path / task[-4:], **settings)
        skill = acquire_skill(runner, library, ran)
    assert len(library.entries()) == 1
    assert [o.task for o in skill.origins] == ["heat/2003", "heat/2004"]


@pytest.mark.parametrize("kind", ["Türen öffnen", "扉", "", "../x"])
def test_a_kind_in_any_script_makes_a_skill_with_a_name(library, kind):
    class Doors(Lock):
        def tasks(self, split):
            return [Task("door/1", "lock", kind, "open the door")]

    runner = CurationRunner(Doors(), Replies(steps("turn", "open")))
    skill = acquire_skill(runner, library, runner.run_planner(runner.tasks("test")[0], "first"))
    assert skill.kind == kind
    assert library.get("lock", skill.name) == skill


def test_a_skill_whose_plan_became_another_gets_no_evidence_from_the_old_one(library):
    runner = CurationRunner(Lock(), Replies(*[steps("turn", "open")] * 3))
    task = runner.tasks("test")[0]
    first = acquire_skill(runner, library, runner.run_planner(task, "first"))
    edited = library.change(first, plan=first.plan.replace("'turn'", "'push'"))
    second = acquire_skill(runner, library, runner.run_planner(task, "second"))
    assert second.name == f"{first.name}-2"
    assert acquire_skill(runner, library, runner.run_planner(task, "third")).name == second.name
    assert [t.version for t in library.read_evidence(edited)] == [1]


def test_a_damaged_skill_of_the_same_name_does_not_prevent_a_new_one(library):
    runner = CurationRunner(Lock(), Replies(*[steps("turn", "open")] * 2))
    task = runner.tasks("test")[0]
    first = acquire_skill(runner, library, runner.run_planner(task, "first"))
    (library.path / "lock" / first.name / "plan.py").write_bytes(b"\xff")
    assert acquire_skill(runner, library, runner.run_planner(task, "second")).name == f"{first.name}-2"


def test_a_retired_skill_stays_retired_when_it_is_found_again(library, tmp_path):
    runner, ran = household("heat/2003", tmp_path)
    library.change(acquire_skill(runner, library, ran), status="retired")
    assert acquire_skill(runner, library, ran).status == "retired"


def test_an_episode_that_is_acquired_again_is_no_further_evidence(library, tmp_path):
    runner, ran = household("heat/2003", tmp_path)
    assert try_to_acquire(runner, library, ran).is_new
    again = try_to_acquire(runner, library, ran)
    assert (again.is_new, again.was_known) == (False, True)
    assert [t.success for t in library.read_evidence(again.skill)] == [True]
    assert len(library.get("household", again.skill.name).origins) == 1


def test_a_plan_whose_skill_the_library_could_not_read_again_is_refused(library):
    """A manifest holds at most 200 parameters, and the plan has 300 of its own."""
    block = "".join(f'    p{n} = "x"\n' for n in range(300))
    own = f"    {PARAMETERS_OPENING} open\n{block}    {PARAMETERS_CLOSING}\n"
    plan = steps("turn", "open").replace("start_from=1):\n", f"start_from=1):\n{own}")
    runner = CurationRunner(Lock(), Replies(plan))
    found = try_to_acquire(runner, library, runner.run_planner(runner.tasks("test")[0], "first"))
    assert isinstance(found, NothingAcquired)
    assert "parameters" in found.reason
    assert not library.path.exists()


# ------------------------------------------------------------------ whole


def test_a_resumed_plan_with_all_steps_is_complete(library):
    runner = CurationRunner(Lock(), Replies(steps("turn", "push"), steps("turn", "open")))
    skill = acquire_skill(runner, library, runner.run_planner(runner.tasks("test")[0], "first"))
    assert [line.strip() for line in skill.plan.split("\n") if "agent.do" in line] == [
        "seen = agent.do('turn')",
        "seen = agent.do(the_item)",
    ]


def test_a_plan_that_continues_earlier_plans_is_merged_with_them(library):
    """The last plan alone does not open the door: the key was turned by the one before it."""
    runner = CurationRunner(Lock(), Replies(steps("turn", "push"), steps("open")))
    task = runner.tasks("test")[0]
    ran = runner.run_planner(task, "first")
    assert ran.result.success
    assert not runner.run_plan(steps("open"), task, "alone").result.success
    skill = acquire_skill(runner, library, ran)
    assert runner.run_plan(skill.plan, task, "again").result.success
    assert skill.plan.count("if start_from") == 2


GROWN = """def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] I look')
        seen = agent.do('look')
        replan('what is to be seen')
    if start_from <= 2:
        print('[Step 2] I turn the key')
        seen += agent.do('turn')
        assert 'stuck' not in seen[10:], f'Error in [Step 2]: {seen}'
        replan('the key is turned')
    if start_from <= 3:
        print('[Step 3] I open the door')
        seen = agent.do('open')
        assert 'opens' in seen, f'Error in [Step 3]: {seen}'
"""


@pytest.mark.parametrize("keeps_its_replans", [True, False])
def test_a_plan_that_grew_is_a_skill_that_asks_for_nothing_more(library, keeps_its_replans):
    first, second = (GROWN[: GROWN.index(f"    if start_from <= {k}:")] for k in (2, 3))
    last = GROWN if keeps_its_replans else GROWN.replace("        replan('what is to be seen')\n", "")
    lock = Lock()
    runner = CurationRunner(lock, Replies(first, second, last))
    task = runner.tasks("test")[0]
    ran = runner.run_planner(task, "first")
    assert (ran.result.success, ran.result.refinements) == (True, 2)
    skill = acquire_skill(runner, library, ran)
    assert skill is not None
    assert lock.resets == 2  # the episode and one proof: the first candidate is right
    assert "replan" not in skill.plan
    again = runner.run_plan(skill.plan, task, "again").result
    assert (again.success, again.actions, again.model_calls) == (True, 3, 0)
    checked = Sandbox().check(skill.plan, runner.api())
    assert isinstance(checked, Plan)
    assert checked.warnings == ()
    assert (len(checked.steps), checked.steps[0].title) == (2, "I look")


def test_a_plan_that_only_looks_and_wins_keeps_its_last_replan(library):
    plan = steps("turn", "open").rstrip() + "\n        replan('never reached')\n"
    runner = CurationRunner(Lock(), Replies(plan))
    skill = acquire_skill(runner, library, runner.run_planner(runner.tasks("test")[0], "first"))
    assert skill.plan.count("replan('never reached')") == 1


def test_a_step_that_asked_to_replan_midway_is_no_completed_step(library):
    first = steps("turn", "push").replace(
        "        assert 'stuck'", "        if 'stuck' in seen:\n            replan('no')\n        assert 'stuck'"
    )
    runner = CurationRunner(Lock(), Replies(first, steps("turn", "open")))
    task = runner.tasks("test")[0]
    skill = acquire_skill(runner, library, runner.run_planner(task, "first"))
    assert "push" not in skill.plan
    assert runner.run_plan(skill.plan, task, "again").result.success


def test_a_plan_that_fails_from_step_1_is_not_a_candidate(library):
    class Once(Boxes):
        """The ball is gone when it was found once."""

        def step(self, action):
            observation = super().step(action)
            self.ball = None if observation.success else self.ball
            return observation

        def reset(self, task):
            seen = getattr(self, "resets", 0)
            self.resets = seen + 1
            observation = super().reset(task)
            self.ball = task.seed if seen == 0 else None
            return observation

    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] look')\n        assert agent.open(2)\n"
    runner = CurationRunner(Once(), Replies(plan))
    ran = runner.run_planner(runner.tasks("test")[1], "first")
    assert ran.result.success
    assert acquire_skill(runner, library, ran) is None
    assert library.entries() == []
