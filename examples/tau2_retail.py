"""Plays tasks of tau2-bench (retail) through ``codeplan.Session``: a policy, tools over a shop's data, and a user.

    git clone https://github.com/sierra-research/tau2-bench
    pip install ./tau2-bench
    TAU2_DATA_DIR=tau2-bench/data python examples/tau2_retail.py --model gpt-5 --user gpt-5 --out runs/tau2

The policy goes in as ``instructions``. A second model plays the user, by the task's script: it answers what a plan asks
(``ask_user``), and says what comes next. At the end the shop's data must be as the task's author expects.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tau2.domains.retail.data_model import RetailDB
from tau2.domains.retail.environment import get_tasks
from tau2.domains.retail.tools import RetailTools
from tau2.domains.retail.utils import RETAIL_DB_PATH, RETAIL_POLICY_PATH

import codeplan
from codeplan.runner.models import connect

STOP = "###STOP###"
MAX_MESSAGES = 20

USER = """You play a customer who writes to a shop's service. Your script:

{script}

Write only the customer's next message, in one to three sentences. Give what the script tells when it is asked for or
needed, and nothing that it does not tell. When the script's wishes are fulfilled or refused for good, write {stop}.

The conversation so far:

{talk}"""

Ask = Callable[[str], str]


class ServiceOutcome(NamedTuple):
    """How a task went: whether the data are as expected, and what the service's model used."""

    task: str
    won: bool
    model_calls: int
    messages: int


class Customer:
    """A user who is played by a model."""

    def __init__(self, script: str, ask: Ask) -> None:
        self._script, self._ask, self.talk = script, ask, list[str]()

    def answer(self, said: str) -> str:
        """The customer's next message after what the service said."""
        self.talk.append(f"Service: {said}")
        talk = "\n".join(self.talk)
        message = self._ask(USER.format(script=self._script, stop=STOP, talk=talk)).strip()
        self.talk.append(f"Customer: {message}")
        return message


def offered_tools(shop: RetailTools) -> list[Callable[..., Any]]:
    """The functions that the policy's agent has."""
    return [getattr(shop, name) for name in shop.get_tools()]


def play(task: Any, model: Any, ask: Ask, folder: Path) -> ServiceOutcome:
    """Play one task. ``ask`` is the model that plays the user: from a prompt to its text."""
    shop = RetailTools(RetailDB.load(RETAIL_DB_PATH))
    customer = Customer(str(task.user_scenario), ask)
    calls = 0
    with codeplan.Session(
        tools=offered_tools(shop),
        model=model,
        instructions=Path(RETAIL_POLICY_PATH).read_text(),
        ask_user=customer.answer,
        folder=folder,
    ) as session:
        message = customer.answer("Hello. How can I help you?")
        while STOP not in message and len(customer.talk) < 2 * MAX_MESSAGES:
            result = session.do(message)
            calls += result.model_calls
            message = customer.answer(str(result.value if result.value is not None else result.reason))
    return ServiceOutcome(task.id, shop.db == expected(task), calls, len(customer.talk) // 2)


def expected(task: Any) -> RetailDB:
    """The shop's data after the actions that the task's author expects."""
    shop = RetailTools(RetailDB.load(RETAIL_DB_PATH))
    for action in task.evaluation_criteria.actions or ():
        if action.requestor == "assistant":
            with contextlib.suppress(ValueError):  # some look-ups of the authors find nothing
                shop.use_tool(action.name, **action.arguments)
    return shop.db


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="the service's model, at an endpoint")
    parser.add_argument("--user", required=True, help="the model that plays the user")
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the traces")
    parser.add_argument("--tasks", nargs="*", default=("2", "14", "33", "51", "70", "96"))
    given = parser.parse_args()
    user = connect(given.user)

    def ask(text: str) -> str:
        return user.complete([{"role": "user", "content": text}], purpose="ask").text

    for task in get_tasks(None):
        if task.id in given.tasks:
            print(play(task, given.model, ask, given.out / task.id), flush=True)


if __name__ == "__main__":
    main()
