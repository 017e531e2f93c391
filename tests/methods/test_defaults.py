"""The defaults that papers set, and both sides of the limits that methods check."""

import re

import pytest

from codeplan import methods
from codeplan.budget import Budget
from codeplan.envs.hotpotqa.environment import HotpotQA
from codeplan.envs.household.environment import Household
from codeplan.envs.textcraft.environment import TextCraft
from codeplan.envs.webshop.environment import WebShop
from codeplan.errors import UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.planning.refinement import MAX_REPAIRS, LoopSettings
from codeplan.plugins import load_factory, setting_specs
from codeplan.types import ActionSpace

DEFAULTS = {
    # AdaPlanner (Sun et al., 2023): six tries, the last ones from step 1; one worked example; our savings on top. The
    # paper's examples are Table 6's (sample_table="paper"), and its refinements show the whole plan afresh.
    "adaplanner": (
        "tries=6 start_over_from=4 resume_by='syntax' code_check='on-error' fixes='on' replans=3 no_progress=2"
        " resume_state='failure' after_failure='resume' samples=1 sample_table='nearest' sample_set='own' asks=True"
        " refine_prompt='conversation' sample_kinds='' library=None skills=2 skill=None skill_chars=12000 reuse=False"
        " embeddings=None prompts=None limits=None allow_weak_sandbox=False backend='auto' imports=''"
    ),
    "text-planner": "executor='react' tries=6 samples=1 prompts=None",
    # ReAct (Yao et al., 2023): few-shot; turns and idle turns are the environment's, as in ADaPT's executors
    "react": (
        "calls=None max_idle_turns=None example=True demonstrations='standard' formalise=False thoughts='free' prompts=None"
    ),
    # ADaPT (Prasad et al., 2024): depth 3 in ALFWorld; the executor's claim counts
    "adapt": (
        "executor='react' max_depth=3 first='execute' success='claim' rollback=None subtasks='words' prompts=None"
    ),
    "plan-and-execute": "executor='react' subtasks='words' prompts=None",
    # Try-Again (Prasad et al., 2024, appendix A): retries at temperature 0.7
    "try-again": "executor='react' trials=3 retry_temperature=0.7",
    # Search over plans: Try-Again's temperature; LATS (Zhou et al., 2024) weighs the model's rating by half, and UCT by 1
    "best-of-n": "executor={'name': 'adaplanner', 'tries': 1} n=4 temperature=0.7",
    "tree": "executor='adaplanner' width=3 calls=30 exploration=1.0 word=0.5 temperature=0.7 prompts=None",
    # Reflexion (Shinn et al., 2023): the last three reflections
    "reflexion": "executor='react' trials=3 memory=3 prompts=None",
    # AutoPlan (Ouyang & Li, 2023): four tasks a batch, drawn at random; flaws from the history and the result
    "autoplan": (
        "plan=None executor='react' batch=4 epochs=1 batch_seed=0 per_kind=False flaws_from='history' reflection='full'"
        " folder=None prompts=None"
    ),
}


def declared(group, name):
    """The settings that a method or an environment declares, with their defaults."""
    specs = setting_specs(load_factory(group, name))
    return sorted(f"{s.name}={s.default!r}" for s in specs), specs


def listed(defaults):
    return sorted(re.split(r" (?=[a-z_]+=)", defaults))


@pytest.mark.parametrize("name", methods.names())
def test_a_method_has_the_defaults_of_its_paper(name):
    found, specs = declared("codeplan.methods", name)
    assert found == listed(DEFAULTS[name])
    assert all(s.help and not s.required for s in specs)


def test_the_loop_has_the_defaults_of_adaplanner():
    loop = LoopSettings()
    assert {f"{n}={getattr(loop, n)!r}" for n in loop.__struct_fields__} <= {*listed(DEFAULTS["adaplanner"])}
    assert MAX_REPAIRS == 2


ENVIRONMENTS = {
    # ALFWorld (Shridhar et al., 2021): an episode has 50 actions
    "alfworld": "data=None actions=50 feedback='plain' arrival='exact' engine='codeplan' agent='full'",
    "household": "actions=50 dialect='put' feedback='plain' difficulty='normal' agent='full'",
    "miniwob": "browser=None pages=None actions=100 data_mode='train' pictures=False agent='full'",
    "textcraft": "exact=False recorded=None actions=60 agent='full'",
    # WebShop (Yao et al., 2022): 100 actions, goals that people wrote, pages as text; ReAct's and ADaPT's client_products
    "webshop": (
        "data=None index=None products=None search='fts5' goals='human' price_seed=0 observation_mode='text_rich'"
        " nouns='rules' show_attrs=False actions=100 agent='full' client_products=3"
    ),
    "hotpotqa": (
        "data=None live=False contact=None before=None cache=None url='https://en.wikipedia.org/w/api.php'"
        " interval=0.5 actions=40 reward='em' agent='full'"
    ),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_has_the_defaults_of_its_paper(name):
    assert declared("codeplan.envs", name)[0] == listed(ENVIRONMENTS[name])


def test_a_model_has_the_endpoints_own_defaults_and_bounded_patience():
    defaults = {s.name: s.default for s in setting_specs(OpenAIModel)}
    assert (defaults["temperature"], defaults["max_tokens"], defaults["stop"]) == (None, None, ())
    assert (defaults["timeout"], defaults["deadline"], defaults["max_retries"]) == (600.0, 1200.0, 3)
    assert (defaults["api"], defaults["key_variable"]) == ("chat", "OPENAI_API_KEY")


def test_executors_get_the_turns_of_adapt():
    assert (Household.space.calls, Household.space.max_idle_turns, Household.space.rollback) == (19, 5, True)
    assert (TextCraft.space.calls, TextCraft.space.max_idle_turns, TextCraft.space.rollback) == (39, 8, False)
    assert (WebShop.space.calls, WebShop.space.max_idle_turns, WebShop.space.rollback) == (14, 3, False)
    assert (HotpotQA.space.calls, HotpotQA.space.max_idle_turns, HotpotQA.space.rollback) == (16, 6, False)
    assert (ActionSpace(("look",)).calls, ActionSpace(("look",)).max_idle_turns) == (30, 5)


def test_a_budget_limits_only_model_calls_by_default():
    # Four trials of an executor in TextCraft, with a reflection after each but the last, must fit.
    assert Budget().model_calls >= 4 * TextCraft.space.calls + 3
    assert Budget() == Budget(model_calls=200, tokens=None, money=None, actions=None, refinements=None, seconds=None)


COUNTS = (
    "adaplanner.tries adaplanner.start_over_from text-planner.tries react.calls react.max_idle_turns adapt.max_depth"
    " try-again.trials reflexion.trials reflexion.memory autoplan.batch autoplan.epochs best-of-n.n tree.width tree.calls"
)


@pytest.mark.parametrize(("method", "setting"), [count.split(".") for count in COUNTS.split()])
def test_a_count_begins_at_one(method, setting):
    methods.make(method, **{setting: 1})
    with pytest.raises(UsageError, match=rf"{setting}.* 0"):
        methods.make(method, **{setting: 0})


@pytest.mark.parametrize("method", ["adaplanner", "text-planner"])
def test_samples_begin_at_zero(method):
    methods.make(method, samples=0)
    with pytest.raises(UsageError, match="samples .* -1"):
        methods.make(method, samples=-1)


@pytest.mark.parametrize("count", [0, 2, 4, 6])
def test_the_papers_table_has_two_four_or_six_samples(count):
    assert methods.make("adaplanner", samples=count, sample_table="paper").samples.count == count


@pytest.mark.parametrize("count", [1, 3, 5, 7])
def test_the_papers_table_has_no_other_number_of_samples(count):
    with pytest.raises(UsageError, match=f"0, 2, 4 or 6 samples.* {count}"):
        methods.make("adaplanner", samples=count, sample_table="paper")


def test_the_papers_table_chooses_the_kinds_alone():
    with pytest.raises(UsageError, match="leave out sample_kinds"):
        methods.make("adaplanner", samples=2, sample_table="paper", sample_kinds="pick")
