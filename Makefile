# make run     one AdaPlanner episode, live: no key, no network
# make test    the tests to run before each commit: some minutes on two idle cores
# make test-all   every test, also what takes long: attacks, kills, whole pages, engines, the older openai; what CI runs
# make check   what CI checks before it tests: style, types, who may import whom
# make crosscheck   longer: ALFWorld's own engine, 2,000 random sequences, each hostile plan through each adapter, all tool tasks, mutants of plans
# make crosscheck-scienceworld   150 gold paths beside the package itself, and 1,000 episodes; half an hour
# make test-openai-2   the model client on the older major of its package
# make docs    the documentation as a site, in build/site
# make golden  rewrite the prompts that the tests compare (tests/prompts/golden); read what changed
# make fuzz    foreign data of every kind, ten minutes each, or: make fuzz SECONDS=60 TARGET=traces
# make bench   the benchmarks; figures to read, nothing that passes or fails
# make crash   500 episodes killed at random points and resumed, and 300 kills of episodes with tools (about half an hour)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SECONDS ?= 600
DEMO ?= --task clean/22 --mistakes forgotten_walk

# The tests start Python some thousand times. Without its compiled files each start takes twice as long.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-all test-openai-2 crosscheck crosscheck-scienceworld fuzz check check-style check-mypy check-pyright golden docs format bench crash clean

run: $(VENV)/installed
	@echo "Playing one episode: a scripted model writes a plan, which fails, is refined and resumed"
	$(BIN)/python -m codeplan run household $(DEMO)

# Each of the two processes takes one half of the modules, so that what a module's tests share is made once.
test: $(VENV)/installed-test
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

test-all: $(VENV)/installed-all
	CODEPLAN_TEST_OF_BENCH_PAGE=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "" \
	  --ignore tests/envs/test_scienceworld_crosscheck.py
	$(BIN)/python -m pytest -q -n 2 tests/plans --plan-mutants --plan-cov --plan-cov-fail-under 80
	$(MAKE) test-openai-2

crosscheck: $(VENV)/installed-all
	CODEPLAN_SEQUENCES=2000 $(BIN)/python -m pytest -q -n 2 --maxschedchunk 1 -m "" \
	  tests/envs/test_alfworld_crosscheck.py tests/envs/test_household_laws.py tests/envs/test_webshop_laws.py \
	  tests/methods/test_search_played.py
	CODEPLAN_HOSTILE_SHARE=1 $(BIN)/python -m pytest -q -n 2 -m "" tests/integrations/test_hostile_code.py
	CODEPLAN_TEST_OF_BENCH_PAGE=1 CODEPLAN_TOOL_TASKS=all $(BIN)/python -m pytest -q tests/docs/test_bench_page.py -k tool_tasks
	$(BIN)/python -m pytest -q -n 2 tests/plans --plan-mutants --plan-cov --plan-cov-fail-under 80

crosscheck-scienceworld: $(VENV)/installed-test
	$(BIN)/python -m pytest -q -n 2 --maxschedchunk 1 -m crosscheck tests/envs/test_scienceworld_crosscheck.py

# A second environment that holds the older openai alone and sees the first one behind it.
test-openai-2: $(VENV)/installed-test
	$(PYTHON) -m venv $(VENV)-openai-2
	$(BIN)/python -c 'import site; print("import site; site.addsitedir(%r)" % site.getsitepackages()[0])' \
	  > $$($(VENV)-openai-2/bin/python -c 'import site; print(site.getsitepackages()[0])')/codeplan-tests.pth
	$(VENV)-openai-2/bin/python -m pip install -q --disable-pip-version-check --ignore-installed 'openai>=2,<3'
	$(VENV)-openai-2/bin/python -m pytest -q -n 2 -m "" tests/llm

check: check-style check-mypy check-pyright

check-style: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python scripts/lint_untrusted.py

check-mypy: $(VENV)/installed-dev
	$(BIN)/mypy

check-pyright: $(VENV)/installed-dev
	$(BIN)/pyright --pythonpath $(BIN)/python

golden: $(VENV)/installed-test
	PYTHONPATH=tests $(BIN)/python tests/support/golden_prompts.py

# MkDocs' theme warns of a version of MkDocs that pyproject.toml leaves out.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fuzz: $(VENV)/installed-test
	$(BIN)/python -X faulthandler tests/fuzz --seconds $(SECONDS) $(if $(TARGET),--target $(TARGET))

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/flows.py
	$(BIN)/python benchmarks/model_calls.py
	$(BIN)/python benchmarks/sandbox.py
	$(BIN)/python benchmarks/textcraft.py
	$(BIN)/python benchmarks/scienceworld_engine.py
	$(BIN)/python benchmarks/webshop.py
	$(BIN)/python benchmarks/miniwob.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/pages.py
	$(BIN)/python benchmarks/traces.py
	$(BIN)/python benchmarks/plan_tests.py
	$(BIN)/python benchmarks/skills.py
	$(BIN)/python benchmarks/reuse.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/mcp_servers.py
	$(BIN)/python benchmarks/mcp_server.py
	$(BIN)/python benchmarks/careless.py

crash: $(VENV)/installed-test
	$(BIN)/python benchmarks/crash.py
	PYTHONPATH=tests $(BIN)/python tests/support/tool_crashes.py 300
	PYTHONPATH=tests $(BIN)/python tests/support/killed_jobs.py 500

clean:
	rm -rf $(VENV) $(VENV)-openai-2 build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "codeplan needs Python 3.11 or newer; name one: make run PYTHON=python3.12"; exit 1; }
	@echo "Making the environment $(VENV): a few seconds, the first time only"
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml
	@echo "Installing codeplan and its packages into $(VENV): about 20 seconds with a good connection"
	$(BIN)/python -m pip install --progress-bar on --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-test: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-dev: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/installed $(VENV)/installed-test

$(VENV)/installed-docs: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-all: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,dask,ray,textworld]'
	@touch $@ $(VENV)/installed $(VENV)/installed-test
