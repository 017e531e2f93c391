"""Of several faults of an argument, the sentence shows the first, and counts the others."""

from __future__ import annotations

import pytest

from codeplan.errors import AgentError
from codeplan.tools.arguments import build_converter, convert_arguments


def refusal(annotation: object, value: object) -> AgentError:
    converter = build_converter(annotation)
    assert converter is not None
    with pytest.raises(AgentError) as caught:
        convert_arguments("order", {"items": converter}, {"items": value})
    return caught.value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, "x", 3], "items[1]: Input should be a valid integer, unable to parse string as an integer (given: 'x')"),
        (
            ["x", 2, None],
            "items[0]: Input should be a valid integer, unable to parse string as an integer (given: 'x')",
        ),
        ([1, None, "x"], "items[1]: Input should be a valid integer (given: None)"),
    ],
)
def test_the_first_fault_is_shown(value: object, said: str) -> None:
    faults = sum(type(part) is not int for part in value)  # type: ignore[attr-defined]  # each is a list
    more = f", and {faults - 1} more" if faults > 1 else ""
    assert str(refusal(list[int], value)) == f"order was called wrongly: {said}{more}"


@pytest.mark.parametrize(("value", "kind"), [([None, "x"], "TypeError"), (["x", None], "ValueError")])
def test_the_kind_of_the_error_is_that_of_the_first_fault(value: object, kind: str) -> None:
    assert refusal(list[int], value).error == kind
