"""Compiles the decoder of one message in one version.

The generated function reads a run of fixed-size fields, together with the first
byte of the size after them, with one `struct` call and stores the values straight
into the slots of a new object.

It need not compare every size with the bytes that are left: a slice past the end
is merely short, the next read past the end fails, and at the very end the position
is compared once. Counts are checked before anything is allocated for them.

Slices of `bytes` become text twice as fast as those of other buffers, so that a
message is first copied into one, except where records would be copied with it.

For long messages there is a variant that pauses, as for the encoder. Its reader can also stop
where there are more elements than any client needs: they take many times their bytes in memory.
"""

import struct
from collections.abc import Callable, Generator
from contextlib import nullcontext
from struct import Struct
from typing import Any

from moldau.errors import ProtocolError
from moldau.protocol.arrays import SHORT, short_unpackers, unpack_long
from moldau.protocol.declaration import facts_of
from moldau.protocol.primitives import Buffer, Primitive
from moldau.protocol.schema import Field, fields_of
from moldau.protocol.source import FunctionSource
from moldau.protocol.tagged import decode_tag, skip_tagged
from moldau.protocol.varint import SHORT_LENGTHS, decode_long_length, decode_uvarint

UNREADABLE = (ProtocolError, struct.error, IndexError, UnicodeDecodeError)
"""What the functions used here raise on bytes that say nonsense, end too soon or are not text."""

_TEXT_SIZE_MAX = 2**15 - 1


def compile_decoder(cls: type, version: int) -> Callable[[Buffer, int], tuple[Any, int]]:
    """A function from a buffer and a position to a message and the position after it."""
    assert version in facts_of(cls).versions, f"{cls.__name__} has no version {version}"
    return _Decoder(cls, version).compile()


def compile_pausing_decoder(
    cls: type, version: int
) -> Callable[[Buffer, int], Generator[int, None, tuple[Any, int]]]:
    """The same as a generator that pauses, and yields how many elements it has read."""
    assert version in facts_of(cls).versions, f"{cls.__name__} has no version {version}"
    return _Decoder(cls, version, pauses=True).compile()


def least_size(cls: type, version: int, *, is_flexible: bool) -> int:
    """The fewest bytes that a struct can take in this version."""
    size = int(is_flexible)
    for field in fields_of(cls):
        if field.is_in(version) and field.tag is None:
            size += _least_field_size(field, version, is_flexible=is_flexible)
    return size


def _least_field_size(field: Field, version: int, *, is_flexible: bool) -> int:
    if field.is_single_struct and field.struct is not None:
        if field.nullable_from is not None:
            return 1
        return least_size(field.struct, version, is_flexible=is_flexible)
    if not field.is_array and field.primitive is not None and field.primitive.format:
        return field.primitive.size
    return 1 if is_flexible else Struct(f">{_size_code(field)}").size


def _size_code(field: Field) -> str:
    is_text = field.primitive is not None and field.primitive.name == "string"
    return "h" if is_text and not field.is_array else "i"


class _Decoder:
    def __init__(self, cls: type, version: int, *, pauses: bool = False) -> None:
        self.cls = cls
        self.version = version
        self.pauses = pauses
        self.is_flexible = facts_of(cls).is_flexible(version)
        self.has_records = _has_records(cls)
        self.pending: list[tuple[str, str]] = []
        self.source = FunctionSource(
            {
                "UNREADABLE": UNREADABLE,
                "ProtocolError": ProtocolError,
                "new": object.__new__,
                "decode_uvarint": decode_uvarint,
                "decode_long_length": decode_long_length,
                "short_length": SHORT_LENGTHS,
                "decode_tag": decode_tag,
                "skip_tagged": skip_tagged,
                "unpack_long": unpack_long,
            },
            reserved=(
                *("buffer", "position", "limit", "end", "message", "tag_count", "marker"),
                *("done", "pause_at"),
            ),
        )

    def compile(self) -> Callable[..., Any]:
        title = f"{self.cls.__name__} v{self.version}"
        line, block = self.source.line, self.source.block
        with block("def decode(buffer, position):"):
            if self.pauses:
                self.source.begin_pausing()
            with block("try:"):
                if not self.has_records:
                    with block("if type(buffer) is not bytes:"):
                        line("buffer = bytes(buffer)")
                line("limit = len(buffer)")
                self.struct(self.cls, "message")
                self.flush()
                with block("if position > limit:"):
                    line("raise ProtocolError('the bytes end too soon')")
                line("return message, position")
            with block("except UNREADABLE as error:"):
                line(f"raise ProtocolError(f'{title}: {{error}}') from error")
        return self.source.function("decode", f"{title} decoder")

    def struct(self, cls: type, variable: str) -> None:
        """Read a struct into a new object."""
        self.source.line(f"{variable} = new({self.source.reference(cls.__name__, cls)})")
        tagged: list[Field] = []
        for field in fields_of(cls):
            target = f"{variable}.{field.name}"
            if field.tag is not None or not field.is_in(self.version):
                self.source.line(f"{target} = {field.default!r}")
                if field.is_in(self.version):
                    tagged.append(field)
            else:
                self.field(field, target)
        if self.is_flexible:
            self.tail(tagged, variable)

    def tail(self, fields: list[Field], variable: str) -> None:
        """Read the tagged fields at the end of a struct."""
        self.pending.append(("B", "tag_count"))
        self.flush()
        with self.source.block("if tag_count:"):
            if not fields:
                self.source.line("position = skip_tagged(buffer, position)")
                return
            line, tag = self.source.line, self.source.fresh("tag")
            end, count = self.source.fresh("tag_end"), self.source.fresh("tags")
            line(f"{count}, position = decode_uvarint(buffer, position - 1)")
            line(f"{tag} = -1")
            with self.source.block(f"for _ in range({count}):"):
                line(f"{tag}, position, {end} = decode_tag(buffer, position, {tag})")
                for field in fields:
                    with self.source.block(f"if {tag} == {field.tag}:"):
                        self.field(field, f"{variable}.{field.name}")
                        self.flush()
                        with self.source.block(f"if position != {end}:"):
                            line(f"raise ProtocolError('tag {field.tag} has the wrong size')")
                line(f"position = {end}")

    def field(self, field: Field, target: str) -> None:
        """Read one field that this version has."""
        if field.primitive is not None and field.primitive.format and not field.is_array:
            self.pending.append((field.primitive.format, target))
        elif field.is_single_struct:
            self.single_struct(field, target)
        elif field.is_array:
            self.sized(field, target, self.array)
        else:
            self.sized(field, target, self.text_or_bytes)

    def single_struct(self, field: Field, target: str) -> None:
        assert field.struct is not None
        variable = self.source.fresh(field.name)
        if field.nullable_from is None:
            self.flush()
            self.struct(field.struct, variable)
            self.flush()
            self.source.line(f"{target} = {variable}")
            return
        self.pending.append(("b", "marker"))  # KIP-893
        self.flush()
        with self.source.block("if marker < 0:"):
            self.source.line(f"{target} = None")
        with self.source.block("else:"):
            self.struct(field.struct, variable)
            self.flush()
            self.source.line(f"{target} = {variable}")

    def sized(self, field: Field, target: str, read: Callable[[Field, str, str], None]) -> None:
        """Read a length, and then with `read` what it is the length of."""
        length = self.source.fresh("length")
        self.pending.append(("B" if self.is_flexible else _size_code(field), length))
        self.flush()
        is_nullable = field.is_nullable_in(self.version)
        if is_nullable:
            with self.source.block(f"if {length} == {0 if self.is_flexible else -1}:"):
                self.source.line(f"{target} = None")
        with self.source.block("else:") if is_nullable else nullcontext():
            if self.is_flexible:
                self.source.line(f"{length} = short_length[{length}]")
            with self.source.block(f"if {length} < 0:"):
                if self.is_flexible:
                    self.source.line(f"{length}, position = decode_long_length(buffer, position)")
                    self.limit_text(field, length)
                else:
                    message = f"{field.name} has a negative length"
                    self.source.line(f"raise ProtocolError({message!r})")
            read(field, target, length)

    def limit_text(self, field: Field, length: str) -> None:
        """Text is never longer than a classic string can be, as it may be stored as one."""
        is_text = field.primitive is not None and field.primitive.name == "string"
        if is_text and not field.is_array:
            with self.source.block(f"if {length} > {_TEXT_SIZE_MAX}:"):
                message = f"{field.name} is too long"
                self.source.line(f"raise ProtocolError({message!r})")

    def text_or_bytes(self, field: Field, target: str, length: str) -> None:
        assert field.primitive is not None
        self.source.line(f"end = position + {length}")
        self.source.line(f"{target} = {self.slice_of(field.primitive)}")
        self.source.line("position = end")

    def slice_of(self, primitive: Primitive) -> str:
        if primitive.name == "string":
            text = "bytes(buffer[position:end])" if self.has_records else "buffer[position:end]"
            return f"{text}.decode()"
        if primitive.name == "records":
            return "memoryview(buffer)[position:end]"
        # Copied, because such values are small and often outlive the request by hours
        # (assignments, tokens): a view would keep the whole frame in memory.
        return "bytes(buffer[position:end])"

    def array(self, field: Field, target: str, count: str) -> None:
        line = self.source.line
        if field.primitive is not None and field.primitive.format:
            self.array_of_fixed_size(field.primitive, target, count)
            return
        items = self.source.fresh(field.name)
        item = self.source.fresh(f"{field.name}_element")
        if field.struct is not None:
            least = least_size(field.struct, self.version, is_flexible=self.is_flexible)
        else:
            least = 1 if self.is_flexible else 2
        assert least > 0, f"{self.cls.__name__}.{field.name}: elements of no size"
        with self.source.block(f"if {count} * {least} > limit - position:"):
            message = f"{field.name} has more elements than there are bytes for"
            line(f"raise ProtocolError({message!r})")
        line(f"{target} = {items} = []")
        # For the few elements that there usually are, quicker than a `for` over a `range`.
        with self.source.block(f"while {count}:"):
            line(f"{count} -= 1")
            if self.pauses:
                self.source.pause_after("1")
            if field.struct is not None:
                self.struct(field.struct, item)
                self.flush()
            else:
                self.sized(_element_of(field), item, self.text_or_bytes)
            line(f"{items}.append({item})")

    def array_of_fixed_size(self, primitive: Primitive, target: str, count: str) -> None:
        code = primitive.format
        stem = f"unpackers_{code}"
        if stem not in self.source.scope:
            self.source.scope[stem] = short_unpackers(code)
        if self.pauses:
            self.source.pause_after(count)
        self.source.line(
            f"{target} = list({stem}[{count}](buffer, position) if {count} < {SHORT}"
            f" else unpack_long(buffer, position, {code!r}, {count}))"
        )
        self.source.line(f"position += {count} * {primitive.size}")

    def flush(self) -> None:
        """Read what is pending."""
        if not self.pending:
            return
        codes = "".join(code for code, _ in self.pending)
        targets = ", ".join(target for _, target in self.pending)
        self.pending = []
        if codes == "B":
            self.source.line(f"{targets} = buffer[position]")
            self.source.line("position += 1")
            return
        comma = "," if targets.count(",") == 0 else ""
        unpack = self.source.unpacker(codes)
        self.source.line(f"{targets}{comma} = {unpack}(buffer, position)")
        self.source.line(f"position += {Struct('>' + codes).size}")


def _has_records(cls: type) -> bool:
    return any(
        _has_records(field.struct)
        if field.struct
        else field.primitive is not None and field.primitive.name == "records"
        for field in fields_of(cls)
    )


def _element_of(field: Field) -> Field:
    """The field that one text of an array would be on its own."""
    return Field(
        name=field.name,
        primitive=field.primitive,
        struct=None,
        is_array=False,
        first=field.first,
        removed_in=field.removed_in,
        nullable_from=None,
        default="",
        tag=None,
        is_ignorable=False,
    )
