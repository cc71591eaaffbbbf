"""What a declaration says, field by field, for the code that reads or compiles it."""

from dataclasses import dataclass
from typing import Any

from moldau.protocol.declaration import Since, since
from moldau.protocol.lightclass import REQUIRED
from moldau.protocol.primitives import Primitive, primitive_of


@dataclass(frozen=True, slots=True)
class Field:
    """One field; exactly one of `primitive` and `struct` is set, for arrays the element's."""

    name: str
    primitive: Primitive | None
    struct: type | None
    is_array: bool
    first: int
    removed_in: int | None
    nullable_from: int | None
    """First version that can express None, or None if no version can."""
    default: object
    tag: int | None
    is_ignorable: bool

    def is_in(self, version: int) -> bool:
        """Whether this version has the field."""
        return self.first <= version and (self.removed_in is None or version < self.removed_in)

    def is_nullable_in(self, version: int) -> bool:
        """Whether this version can express None."""
        return self.nullable_from is not None and version >= self.nullable_from

    @property
    def is_single_struct(self) -> bool:
        """Whether the value is one struct rather than a list or an elementary value."""
        return self.struct is not None and not self.is_array


_FIELDS: dict[type, tuple[Field, ...]] = {}


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of a message or struct, in wire order."""
    if cls not in _FIELDS:
        annotations = cls.__annotations__
        _FIELDS[cls] = tuple(_field(cls, name, annotations[name]) for name in annotations)
    return _FIELDS[cls]


def _field(cls: Any, name: str, annotation: Any) -> Field:
    declared = cls.__defaults__.get(name, REQUIRED)
    if not isinstance(declared, Since):
        declared = since(0, default=declared)
    inner, allows_none = _without_none(annotation)
    is_array = getattr(inner, "__origin__", None) is list
    element = inner.__args__[0] if is_array else inner
    primitive = primitive_of(element)
    default = declared.default
    if default is REQUIRED:
        default = [] if is_array else primitive and primitive.zero
    nullable_from = declared.nullable_from
    # In a tagged field None usually means that the tag is absent: the wire has no null for it.
    is_tagged_struct = declared.tag is not None and primitive is None and not is_array
    if nullable_from is None and allows_none and not is_tagged_struct:
        nullable_from = 0
    return Field(
        name=name,
        primitive=primitive,
        struct=None if primitive else element,
        is_array=is_array,
        first=declared.first,
        removed_in=declared.removed_in,
        nullable_from=nullable_from,
        default=default,
        tag=declared.tag,
        is_ignorable=declared.is_ignorable,
    )


def _without_none(annotation: Any) -> tuple[Any, bool]:
    arguments = getattr(annotation, "__args__", ())
    if type(None) in arguments:
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return inner, True
    return annotation, False
