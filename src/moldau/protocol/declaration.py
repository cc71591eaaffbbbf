"""The language in which messages are declared.

A message is a class whose fields stand in wire order:

    @message(api_key=12, versions=range(0, 5), flexible_from=4)
    class HeartbeatRequest:
        group_id: str
        generation_id: Int32
        member_id: str
        group_instance_id: str | None = since(3, default=None)

One class serves all versions. It behaves as if made by
`@dataclass(slots=True, kw_only=True)`.

A field that some version lacks always has a default, which is its value in that
version; encoding refuses any other value there unless the field is `ignorable`.
A struct in a tagged field is declared `| None`, where None stands for a tag that
is absent.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from moldau.protocol.lightclass import REQUIRED, Specifier, with_slots

T = TypeVar("T")


class MessageFacts(NamedTuple):
    """The arguments of `@message`."""

    api_key: int | None
    versions: range
    flexible_from: int | None

    def is_flexible(self, version: int) -> bool:
        """Whether this version has compact lengths and tagged fields (KIP-482)."""
        return self.flexible_from is not None and version >= self.flexible_from


class Since(Specifier):
    """The arguments of `since`."""

    __slots__ = ("first", "is_ignorable", "nullable_from", "removed_in", "tag")

    first: int
    removed_in: int | None
    nullable_from: int | None
    tag: int | None
    is_ignorable: bool


def since(
    first: int,
    *,
    removed_in: int | None = None,
    default: Any = REQUIRED,
    factory: Callable[[], Any] | None = None,
    nullable_from: int | None = None,
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    """Declare a field of the versions [first, removed_in).

    The value of other versions is `default`, or what `factory` makes. Where the
    annotation allows None, so do all versions, or those from `nullable_from` on.
    `tag` makes it a tagged field.
    """
    specifier = Since(default, factory)
    specifier.first = first
    specifier.removed_in = removed_in
    specifier.nullable_from = nullable_from
    specifier.tag = tag
    specifier.is_ignorable = ignorable
    return specifier


@dataclass_transform(kw_only_default=True, field_specifiers=(since,))
def struct(cls: type[T]) -> type[T]:
    """Declare a part of a message."""
    return with_slots(cls, {})


@dataclass_transform(kw_only_default=True, field_specifiers=(since,))
def message(
    *, api_key: int | None = None, versions: range, flexible_from: int | None
) -> Callable[[type[T]], type[T]]:
    """Declare a message: a request, a response, or (without a key) stored data."""
    facts = MessageFacts(api_key, versions, flexible_from)
    return lambda cls: with_slots(cls, {"__message__": facts})


def facts_of(cls: type) -> MessageFacts:
    """The key and versions that a message was declared with."""
    facts = vars(cls)["__message__"]
    assert isinstance(facts, MessageFacts)
    return facts
