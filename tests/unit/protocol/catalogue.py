"""Every declared message, and values for them made from the declarations."""

import pkgutil
from importlib import import_module
from typing import Any

from hypothesis import strategies as st

from moldau.protocol import messages
from moldau.protocol.declaration import facts_of
from moldau.protocol.schema import Field, fields_of


def all_messages() -> list[type]:
    """The class of every request, response and stored record."""
    found = []
    for module in pkgutil.iter_modules(messages.__path__):
        declared = vars(import_module(f"{messages.__name__}.{module.name}")).values()
        found += [cls for cls in declared if isinstance(cls, type) and "__message__" in vars(cls)]
    return found


def message_versions() -> list[tuple[type, int]]:
    """Every message in every version."""
    return [(cls, version) for cls in all_messages() for version in facts_of(cls).versions]


# Lengths around 127 need a second byte when they are compact.
_TEXTS = st.one_of(st.text(max_size=6), st.sampled_from(["x" * 126, "x" * 127, "ä" * 200]))
_BYTES = st.one_of(st.binary(max_size=6), st.sampled_from([b"x" * 126, b"\0" * 127, b"\xff" * 300]))
_PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    "uuid": st.one_of(st.just(bytes(16)), st.binary(min_size=16, max_size=16)),
    "string": _TEXTS,
    "bytes": _BYTES,
    "records": _BYTES,
}


def values(field: Field) -> st.SearchStrategy[Any]:
    """Values of a field in the newest version that has it."""
    if field.struct is not None:
        strategy = instances(field.struct)
    else:
        assert field.primitive is not None
        strategy = _PRIMITIVES[field.primitive.name]
    if field.is_array:
        numbers = field.primitive is not None and field.primitive.format
        strategy = st.lists(strategy, max_size=20 if numbers else 2)
    may_be_none = field.nullable_from is not None or (field.tag is not None and field.struct)
    if may_be_none and not (field.is_array and field.nullable_from is None):
        strategy = st.one_of(st.none(), strategy)
    return strategy


def instances(cls: type) -> st.SearchStrategy[Any]:
    """Objects of a message or struct, all fields set as if every version had them."""
    return st.builds(cls, **{field.name: values(field) for field in fields_of(cls)})


def fitted(value: Any, version: int) -> Any:
    """The message as this version can express it: what a reader gets from its bytes."""
    facts: dict[str, Any] = {}
    for field in fields_of(type(value)):
        current = getattr(value, field.name)
        if not field.is_in(version):
            current = default_of(field)
        elif current is None and field.nullable_from is not None:
            current = None if field.is_nullable_in(version) else zero_of(field)
        elif field.struct is not None and current is not None:
            if field.is_array:
                current = [fitted(item, version) for item in current]
            else:
                current = fitted(current, version)
                is_absent_by_default = field.tag is not None and field.nullable_from is None
                if is_absent_by_default and current == field.struct():
                    current = None
        facts[field.name] = current
    return type(value)(**facts)


def default_of(field: Field) -> Any:
    return list(field.default) if isinstance(field.default, list) else field.default


def zero_of(field: Field) -> Any:
    if field.is_array or field.primitive is None:
        return []
    return b"" if field.primitive.name == "records" else field.primitive.zero
