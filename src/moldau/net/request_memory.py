"""Memory for large requests: a bound on what all connections of a broker receive at once."""

from typing import Protocol


class Receiver(Protocol):
    """A connection that a large request comes in on."""

    def turn(self) -> None:
        """There may be memory now."""


class RequestMemory:
    """Given for a whole request before it is received, and given back when it is answered.

    As in Kafka a request that comes while any of it is left gets all it needs, so the bound
    is exceeded by one request, and a request larger than it can be received at all. What fits a
    connection's own buffer is not counted.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.left_bytes = limit_bytes
        self._waiting: dict[Receiver, None] = {}

    def take(self, receiver: Receiver, size: int) -> bool:
        """Take memory for a request; if there is none, the receiver is called when there is."""
        if self.left_bytes <= 0:
            self._waiting[receiver] = None
            return False
        self._waiting.pop(receiver, None)
        self.left_bytes -= size
        return True

    def give_back(self, size: int) -> None:
        """A request has been answered, or will never be."""
        self.left_bytes += size
        while self._waiting and self.left_bytes > 0:
            receiver = next(iter(self._waiting))
            del self._waiting[receiver]
            receiver.turn()

    def forget(self, receiver: Receiver) -> None:
        """A connection has gone."""
        self._waiting.pop(receiver, None)
