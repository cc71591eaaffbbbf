"""Who may come in: counts and rates, of all listeners and of each."""

from moldau.net.admission import Admission, ConnectionLimits, ListenerLimits, plain


def test_a_rate_holds_for_all_listeners_and_for_each() -> None:
    admission = Admission(
        ConnectionLimits(connections_per_s=10, of_listeners={"slow": ListenerLimits(9, 2)})
    )
    assert admission.at_once("SLOW") == 2
    assert admission.at_once("OTHER") == 10
    admission.took("SLOW", 2, now_s=100.0)
    assert admission.wait_s("SLOW", 100.0) == 1.0
    assert round(admission.wait_s("OTHER", 100.0), 6) == 0.2
    admission.took("OTHER", 5, now_s=100.2)
    assert round(admission.wait_s("OTHER", 100.2), 6) == 0.5
    assert admission.wait_s("SLOW", 102.0) == 0.0


def test_the_least_room_counts() -> None:
    limits = ConnectionLimits(connections_max=4, of_listeners={"small": ListenerLimits(3)})
    admission = Admission(limits)
    assert admission.room_on("SMALL") == 3
    assert admission.room_on("LARGE") == 4


def test_an_address_that_was_mapped_into_the_other_family_is_plain() -> None:
    assert plain("::ffff:10.0.0.1") == "10.0.0.1"
    assert plain("::1") == "::1"
