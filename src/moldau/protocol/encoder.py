"""Compiles the encoder of one message in one version.

The generated function appends to a bytearray. Fixed-size fields that follow each
other, together with the size or count after them, become one `struct` call; what
waits for that call is `pending`. Records are not copied: they stand between the
parts of the result as the objects that they are.

For long messages there is a variant that pauses: a generator of the same lines that yields
every few hundred elements, so that its caller can do something else in between.
"""

from collections.abc import Callable, Generator
from typing import Any

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.arrays import SHORT, pack_long, short_packers
from moldau.protocol.declaration import facts_of
from moldau.protocol.primitives import Primitive
from moldau.protocol.schema import Field, fields_of
from moldau.protocol.source import FunctionSource
from moldau.protocol.tagged import encode_tagged
from moldau.protocol.varint import SINGLE_BYTES, encode_uvarint


def compile_encoder(cls: type, version: int) -> Callable[[Any], list[Any]]:
    """A function from a message to the parts of its encoding."""
    assert version in facts_of(cls).versions, f"{cls.__name__} has no version {version}"
    return _Encoder(cls, version).compile()


def compile_pausing_encoder(
    cls: type, version: int
) -> Callable[[Any], Generator[int, None, list[Any]]]:
    """The same as a generator that pauses, and yields how many bytes are written since records."""
    assert version in facts_of(cls).versions, f"{cls.__name__} has no version {version}"
    return _Encoder(cls, version, pauses=True).compile()


def refuse(message: str, version: int, field: str, value: object) -> KafkaError:
    """The error for a value that this version cannot carry."""
    return KafkaError(
        ErrorCode.UNSUPPORTED_VERSION,
        f"{message} version {version} cannot carry {field}={value!r}",
    )


class _Encoder:
    def __init__(self, cls: type, version: int, *, pauses: bool = False) -> None:
        self.cls = cls
        self.version = version
        self.pauses = pauses
        self.is_flexible = facts_of(cls).is_flexible(version)
        self.out = "out"
        self.pending: list[tuple[str, str]] = []
        self.source = FunctionSource(
            {
                "single_byte": SINGLE_BYTES,
                "encode_uvarint": encode_uvarint,
                "encode_tagged": encode_tagged,
                "pack_long": pack_long,
                "refuse": refuse,
            },
            reserved=("message", "parts", "out", "size", "count", "done", "pause_at"),
        )

    def compile(self) -> Callable[..., Any]:
        with self.source.block("def encode(message):"):
            if self.pauses:
                self.source.begin_pausing()
            self.source.line("parts = []")
            self.source.line("out = bytearray()")
            self.struct(self.cls, "message")
            self.flush()
            self.source.line("parts.append(out)")
            self.source.line("return parts")
        return self.source.function("encode", f"{self.cls.__name__} v{self.version} encoder")

    def struct(self, cls: type, variable: str) -> None:
        """Write the struct that `variable` holds."""
        tagged: list[Field] = []
        for field in fields_of(cls):
            value = f"{variable}.{field.name}"
            if not field.is_in(self.version):
                self.check_absent(cls, field, value)
            elif field.tag is not None:
                tagged.append(field)
            else:
                self.field(field, value)
        if tagged:
            self.tagged_fields(sorted(tagged, key=lambda field: field.tag or 0), variable)
        elif self.is_flexible:
            self.pending.append(("x", ""))

    def check_absent(self, cls: type, field: Field, value: str) -> None:
        """Refuse what this version would lose without the reader's consent."""
        if field.is_ignorable:
            return
        with self.source.block(f"if not ({self.is_default(field, value)}):"):
            self.raise_refusal(cls, field, value)

    def raise_refusal(self, cls: type, field: Field, value: str) -> None:
        names = f"{cls.__name__!r}, {self.version}, {field.name!r}"
        self.source.line(f"raise refuse({names}, {value})")

    def is_default(self, field: Field, value: str) -> str:
        """An expression that is true for the field's default."""
        if field.is_single_struct and field.struct is not None and field.nullable_from is None:
            parts = [self.is_default(f, f"{value}.{f.name}") for f in fields_of(field.struct)]
            return f"{value} is None or ({' and '.join(parts)})"
        if field.default is None:
            return f"{value} is None"
        if isinstance(field.default, list):
            nullable = field.nullable_from is not None
            return f"not {value} and {value} is not None" if nullable else f"not {value}"
        return f"{value} == {field.default!r}"

    def tagged_fields(self, fields: list[Field], variable: str) -> None:
        """Write the tail of a struct; usually every field has its default."""
        self.flush()
        conditions = [self.is_default(field, f"{variable}.{field.name}") for field in fields]
        with self.source.block(f"if {' and '.join(f'({each})' for each in conditions)}:"):
            self.source.line(f"{self.out} += b'\\0'")
        with self.source.block("else:"):
            outer, self.out = self.out, self.source.fresh("tag_value")
            tags = self.source.fresh("tags")
            self.source.line(f"{tags} = []")
            for field, is_default in zip(fields, conditions, strict=True):
                with self.source.block(f"if not ({is_default}):"):
                    self.source.line(f"{self.out} = bytearray()")
                    self.field(field, f"{variable}.{field.name}")
                    self.flush()
                    self.source.line(f"{tags}.append(({field.tag}, {self.out}))")
            self.out = outer
            self.source.line(f"{self.out} += encode_tagged({tags})")

    def field(self, field: Field, value: str) -> None:
        """Write one field that this version has."""
        if field.primitive is not None and field.primitive.format and not field.is_array:
            self.pending.append((field.primitive.format, value))
            return
        if field.is_single_struct and field.nullable_from is None:
            self.single_struct(field, value)
            return
        variable = self.source.fresh(field.name)
        self.source.line(f"{variable} = {value}")
        if field.nullable_from is None:
            self.variable_size(field, variable)
            return
        before = list(self.pending)
        with self.source.block(f"if {variable} is None:"):
            if field.is_nullable_in(self.version):
                self.null(field)
            else:
                self.raise_refusal(self.cls, field, variable)
                self.pending.clear()
        self.pending = before
        with self.source.block("else:"):
            self.variable_size(field, variable)
            self.flush()

    def null(self, field: Field) -> None:
        if field.is_single_struct:
            self.pending.append(("b", "-1"))  # KIP-893: a byte before a struct that may be null
        elif self.is_flexible:
            self.pending.append(("x", ""))
        else:
            self.pending.append((self.size_code(field), "-1"))
        self.flush()

    def variable_size(self, field: Field, variable: str) -> None:
        """Write a value that is not null, and not of fixed size."""
        if field.is_single_struct:
            self.pending.append(("b", "1"))
            self.single_struct(field, variable)
        elif not field.is_array:
            assert field.primitive is not None
            self.text_or_bytes(field.primitive, variable)
        elif field.primitive is not None and field.primitive.format:
            self.array_of_fixed_size(field.primitive, variable)
        else:
            self.array(field, variable)

    def single_struct(self, field: Field, value: str) -> None:
        assert field.struct is not None
        variable = self.source.fresh(f"{field.name}_struct")
        self.source.line(f"{variable} = {value}")
        self.struct(field.struct, variable)

    def text_or_bytes(self, primitive: Primitive, variable: str) -> None:
        if primitive.name == "string":
            self.source.line(f"{variable} = {variable}.encode()")
        self.size(f"len({variable})", "h" if primitive.name == "string" else "i")
        self.flush()
        if primitive.name == "records":
            self.source.line(f"parts += ({self.out}, {variable})")
            self.source.line(f"{self.out} = bytearray()")
        else:
            self.source.line(f"{self.out} += {variable}")

    def array_of_fixed_size(self, primitive: Primitive, variable: str) -> None:
        self.flush()
        code, compact = primitive.format, self.is_flexible
        stem = f"packers_{code}"
        if stem not in self.source.scope:
            self.source.scope[stem] = short_packers(code, compact=compact)
        count = f"count + {int(compact)}" if compact else "count"
        self.source.line(f"count = len({variable})")
        self.source.line(
            f"{self.out} += {stem}[count]({count}, *{variable}) if count < {SHORT}"
            f" else pack_long({variable}, {code!r}, compact={compact})"
        )

    def array(self, field: Field, variable: str) -> None:
        self.size(f"len({variable})", "i")
        self.flush()
        element = self.source.fresh(f"{field.name}_element")
        with self.source.block(f"for {element} in {variable}:"):
            if self.pauses:
                self.source.pause_after("1", "len(out)")
            if field.struct is not None:
                self.struct(field.struct, element)
            else:
                assert field.primitive is not None
                self.text_or_bytes(field.primitive, element)
            self.flush()

    def size(self, length: str, code: str) -> None:
        """Write a size or count: a varint of one more in flexible versions (0 is null)."""
        if not self.is_flexible:
            self.pending.append((code, length))
            return
        codes, values = self.take_pending()
        arguments = "".join(f"{value}, " for value in values)
        self.source.line(f"size = {length} + 1")
        if codes:
            short = f"{self.source.packer(codes + 'B')}({arguments}size)"
            long = f"{self.source.packer(codes)}({arguments[:-2]}) + encode_uvarint(size)"
        else:
            short, long = "single_byte[size]", "encode_uvarint(size)"
        self.source.line(f"{self.out} += {short} if size < 128 else {long}")

    def size_code(self, field: Field) -> str:
        is_text = field.primitive is not None and field.primitive.name == "string"
        return "h" if is_text and not field.is_array else "i"

    def take_pending(self) -> tuple[str, list[str]]:
        codes = "".join(code for code, _ in self.pending)
        values = [value for code, value in self.pending if code != "x"]
        self.pending = []
        return codes, values

    def flush(self) -> None:
        """Write what is pending."""
        codes, values = self.take_pending()
        if values:
            self.source.line(f"{self.out} += {self.source.packer(codes)}({', '.join(values)})")
        elif codes:
            self.source.line(f"{self.out} += {bytes(len(codes))!r}")
