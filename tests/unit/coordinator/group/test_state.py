"""States are shown by the names that Kafka's tools know."""

from moldau.coordinator.group.state import GroupState


def test_the_names_are_kafkas() -> None:
    assert [state.value for state in GroupState] == [
        "Empty",
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
        "Dead",
    ]
