"""What a handler of events raises is told apart from what it reports on."""

from __future__ import annotations

import pytest

from codeplan.errors import UsageError
from codeplan.recording.events import Event, WarningIssued
from codeplan.recording.trace import HandlerError, guard_handler, handler_errors_unwrapped


def raising(error: BaseException) -> None:
    def handler(event: Event) -> None:
        raise error from LookupError("why")

    guarded = guard_handler(handler)
    assert guarded
    guarded(WarningIssued(message=""))


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(0)])
def test_an_error_of_a_handler_passes_through_under_another_name(error: BaseException) -> None:
    with pytest.raises(HandlerError) as caught:
        raising(error)
    assert caught.value.error is error


@pytest.mark.parametrize("error", [UsageError("no"), KeyboardInterrupt()])
def test_an_error_of_codeplan_and_an_interrupt_pass_as_they_are(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        raising(error)
    assert caught.value is error


def test_the_caller_sees_what_the_handler_raised_with_its_cause() -> None:
    error = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught, handler_errors_unwrapped():
        raising(error)
    assert caught.value is error and isinstance(error.__cause__, LookupError)


def test_without_a_handler_there_is_none() -> None:
    assert guard_handler(None) is None
