from collections.abc import Callable

import pytest
from support.boxes import BoxAgent

from codeplan.agent_interface import agent_api, describe_api
from codeplan.types import AgentAttribute, AgentMethod, AgentParameter


class Base:
    """A walker."""

    speed = 3

    def walk(self, to: str, *, fast: bool = False) -> str:
        """Walk somewhere."""
        return to


class Walker(Base):
    position: "tuple[int, int]"

    def __init__(self, act: Callable[[str], object]) -> None:
        self.act = act
        self._hidden = 1
        self.steps = 0

    @property
    def tired(self) -> bool:
        """Whether it needs a rest.

        More words."""
        return self.steps > 3

    def walk(self, to: str, *, fast: bool = True) -> str:
        """Walk, usually fast."""
        return to

    def _secret(self) -> None: ...

    def report(self) -> str:
        return ""


def test_the_api_holds_public_methods_and_attributes_only():
    assert agent_api(Walker).names == ("walk", "report", "position", "speed", "tired", "steps")


def test_the_callable_that_acts_is_no_attribute_of_the_api():
    assert "act" not in agent_api(Walker).names


def test_an_overridden_method_is_described_as_the_last_class_has_it():
    walk = agent_api(Walker).methods[0]
    assert walk.doc == "Walk, usually fast."
    assert walk.parameters == (AgentParameter("to"), AgentParameter("fast", "KEYWORD_ONLY", required=False))


def test_attributes_carry_their_type_and_the_first_line_of_their_docstring():
    attributes = {a.name: a for a in agent_api(Walker).attributes}
    assert attributes["tired"] == AgentAttribute("tired", "bool", "Whether it needs a rest.")
    assert attributes["position"].type == "tuple[int, int]"


def test_the_description_is_python_that_a_model_can_read():
    text = describe_api(agent_api(BoxAgent))
    compile(text, "stub", "exec")
    assert "def open(self, box: int) -> str:" in text
    assert "opened: list[int]" in text
    assert "Open a box by its number" in text


def takes(*names_and_kinds: str) -> AgentMethod:
    parameters = [n.partition(":") for n in names_and_kinds]
    return AgentMethod("f", "(…)", "", tuple(AgentParameter(n, k or "POSITIONAL_OR_KEYWORD") for n, _, k in parameters))


@pytest.mark.parametrize(
    ("method", "keywords", "said"),
    [
        (takes("item", "qty"), ["item", "quantity"], "f has no argument `quantity`; it has item, qty"),
        (takes(), ["quantity", "q"], "f has no argument `quantity` or `q`; it has none"),
        (takes("item", "qty"), ["item"], "python"),
        (takes("item", "note:KEYWORD_ONLY"), ["note", "n"], "f has no argument `n`; it has item, note"),
        (takes("item", "rest:VAR_POSITIONAL"), ["rest"], "f has no argument `rest`; it has item"),
        (takes("item:POSITIONAL_ONLY"), ["item"], "python"),
        (takes("item", "more:VAR_KEYWORD"), ["quantity"], "python"),
        (takes("a"), ["x" * 999], f"f has no argument `{'x' * 100}`; it has a"),
        (takes("a"), list("bcdefgh"), "f has no argument `b` or `c` or `d` or `e` or `f`; it has a"),
    ],
)
def test_a_keyword_that_a_method_lacks_is_named(method: AgentMethod, keywords: list[str], said: str):
    assert method.explain_misfit(keywords, TypeError("python")) == said
