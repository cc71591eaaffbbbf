"""The circumstances of a request."""

from moldau.broker.context import Client, Context
from moldau.security.principals import ANONYMOUS


def test_nobody_has_proven_who_they_are() -> None:
    client = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092)
    assert Context(3, "c", client).client.principal == ANONYMOUS


def test_who_asks_is_written_on_one_line_whatever_they_call_themselves() -> None:
    client = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092)
    assert Context(3, "c", client).who == "client 'c' at 10.0.0.9"
    assert Context(3, "a\nERROR all is lost", client).who.count("\n") == 0
    assert len(Context(3, "c" * 30_000, client).who) < 200
