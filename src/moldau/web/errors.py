"""Refusals over HTTP, in the JSON that clients of Kafka's REST interfaces expect."""


class WebError(Exception):
    """A request that is refused: the status, a code of the application's own, and why."""

    def __init__(self, status: int, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = status if code is None else code
        """What clients look at; Kafka Connect and the registry use the status if nothing fits."""

    def body(self) -> dict[str, object]:
        """What the client gets."""
        return {"error_code": self.code, "message": self.message}
