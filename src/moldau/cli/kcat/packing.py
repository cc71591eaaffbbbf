"""Keys and values that are numbers, or of a registered schema, by kcat's -s: '>ihs', 'avro'."""

import struct
from collections.abc import Callable, Iterable

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.web_address import address_with_login
from moldau.client.registry import Registry, RegistryError
from moldau.client.serdes.registered import RegisteredValues

Unpack = Callable[[bytes], bytes]

_NUMBERS = "bBhHiIqQ"
_OTHERS = "cs$"
_KINDS = ("avro", "json", "protobuf")


def read_packing(texts: Iterable[str], registry: str = "") -> dict[str, Unpack]:
    """How `key` and `value` are read; the registry is the address of one."""
    found: dict[str, Unpack] = {}
    values = _values_of(registry) if registry else None
    for text in texts:
        part, equals, form = text.partition("=")
        names = (part,) if equals and part in ("key", "value") else ("key", "value")
        for name in names:
            said = form if len(names) == 1 else text
            is_kind = said in _KINDS
            found[name] = _reader(said, values) if is_kind else _unpacker(said, name)
    if values is not None and not found:
        raise CommandFailed("-r: which of them has schemas? -s value=avro, json or protobuf")
    return found


def _values_of(registry: str) -> RegisteredValues:
    try:
        return RegisteredValues(Registry(address_with_login(registry, "-r")))
    except ValueError as error:
        raise CommandFailed(f"-r: {error}") from error


def _reader(kind: str, values: RegisteredValues | None) -> Unpack:
    if values is None:
        raise CommandFailed(f"-s {kind}: -r URL of a schema registry is missing")

    def read(data: bytes) -> bytes:
        try:
            found = values.kind_of(data)
            if found.lower() != kind:
                raise ValueError(f"its schema is {found}, not {kind}")
            return values.text(data).encode()
        except RegistryError as error:
            raise CommandFailed(f"% ERROR: {error}") from error
        except ImportError as error:
            raise CommandFailed(f"{error}: pip install 'moldau[schemas]'") from error

    return read


def _unpacker(form: str, name: str) -> Unpack:
    for letter in form:
        if letter not in f"<> {_NUMBERS}{_OTHERS}":
            raise CommandFailed(
                f"% ERROR: Invalid token '{letter}' in {name} pack-format, see -s usage."
            )

    def unpack(data: bytes) -> bytes:
        """Raises ValueError if there is too little, or what is not expected."""
        order, at, parts = ">", 0, []
        for letter in form:
            if letter in "<>":
                order = letter
            elif letter == "s":
                parts.append(data[at:])
                at = len(data)
            elif letter == "$" and at < len(data):
                left = len(data) - at
                raise ValueError(f"expected {name} end-of-input, but {left} bytes remaining")
            elif letter in _NUMBERS or letter == "c":
                part, at = _part(data, at, order + letter), at + struct.calcsize(order + letter)
                parts.append(part)
        return b"".join(parts)

    return unpack


def _part(data: bytes, at: int, form: str) -> bytes:
    try:
        (value,) = struct.unpack_from(form, data, at)
    except struct.error:
        needed = struct.calcsize(form)
        raise ValueError(
            f"{form[1]} needs {needed} bytes, but {len(data) - at} are remaining"
        ) from None
    return value if isinstance(value, bytes) else b"%d" % value
