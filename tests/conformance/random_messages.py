"""Messages filled with random values, drawn from their declarations."""

import random

from moldau.protocol.primitives import Primitive
from moldau.protocol.schema import Field, fields_of

_ITEMS_MAX = 3
_TEXT = "abcxyz-._/ äß€𝄞"


class RandomMessages:
    """A source of values; the same seed gives the same ones."""

    def __init__(self, seed: str) -> None:
        self._draw = random.Random(seed)
        self._count = 0

    def message(self, cls: type, version: int) -> object:
        """An instance that says only what `version` can express."""
        values = {
            field.name: self._field(field, version)
            for field in fields_of(cls)
            if field.is_in(version) and not self._keeps_default(field)
        }
        return cls(**{**_defaults(cls), **values})

    def _keeps_default(self, field: Field) -> bool:
        return field.tag is not None and self._draw.random() < 0.3

    def _field(self, field: Field, version: int) -> object:
        if field.is_nullable_in(version) and self._draw.random() < 0.2:
            return None
        if field.is_array:
            return [self._item(field, version) for _ in range(self._draw.randint(0, _ITEMS_MAX))]
        return self._item(field, version)

    def _item(self, field: Field, version: int) -> object:
        if field.primitive is None:
            assert field.struct is not None
            return self.message(field.struct, version)
        return self._value(field.primitive)

    def _value(self, primitive: Primitive) -> object:
        draw = self._draw
        match primitive.name:
            case "bool":
                return draw.random() < 0.5
            case "float64":
                return draw.uniform(-1e9, 1e9)
            case "uuid":
                return draw.randbytes(16)
            case "string":
                # Java keeps some arrays as maps, so no two strings may be equal.
                self._count += 1
                return "".join(draw.choices(_TEXT, k=draw.randint(0, 20))) + str(self._count)
            case "bytes" | "records":
                return draw.randbytes(draw.randint(0, 200))
            case "uint16":
                return draw.randrange(2**16)
            case _:
                bits = 8 * primitive.size
                return draw.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))


def _defaults(cls: type) -> dict[str, object]:
    return {
        field.name: list(field.default) if isinstance(field.default, list) else field.default
        for field in fields_of(cls)
    }
