"""Principals: who a connection is, once it is known."""

from typing import NamedTuple, Self

USER = "User"


class Principal(NamedTuple):
    """A kind and a name; both are compared to the letter."""

    kind: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `kind:name`; the name may itself contain colons. ValueError for other text."""
        kind, colon, name = text.partition(":")
        if not colon or not kind:
            raise ValueError(f"{text!r} is not a principal: write it as User:name")
        return cls(kind, name)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS = Principal(USER, "ANONYMOUS")
