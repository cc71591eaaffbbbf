"""What a processor is to those who plan queries."""

from moldau.streams.nodes.processors import Process


def test_a_processor_keeps_something_and_never_waits_for_windows() -> None:
    assert (Process.is_stateful, Process.is_final) == (True, False)
