"""The events that led to the present state, when an episode went back."""

from hypothesis import given
from hypothesis import strategies as st

from codeplan.recording.event_log import standing_events
from codeplan.recording.events import EnvironmentRestored, WarningIssued


@given(st.lists(st.one_of(st.none(), st.integers(0, 50)), max_size=40))
def test_they_are_those_of_the_state_gone_back_to_and_all_since(moves):
    events, states = [], []
    for seq, to in enumerate(moves):
        if to is None or to >= seq:
            events.append(WarningIssued(seq=seq, message=str(seq)))
            states.append([*(states[-1] if states else ()), seq])
        else:
            events.append(EnvironmentRestored(seq=seq, to=to))
            states.append(states[to])
        assert [e.seq for e in standing_events(events)] == states[-1]


def test_a_forged_way_back_that_points_forward_ends():
    events = [WarningIssued(seq=0, message=""), EnvironmentRestored(seq=1, to=9), WarningIssued(seq=2, message="")]
    assert [e.seq for e in standing_events(events)] == [0, 2]
