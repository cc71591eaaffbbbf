"""The circumstances of a request."""

from moldau.broker.context import Client, Context


def test_nobody_has_proven_who_they_are() -> None:
    client = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092)
    assert Context(3, "c", client).client.principal == "User:ANONYMOUS"
