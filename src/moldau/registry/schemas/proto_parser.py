"""Reads a `.proto` into the descriptor that `protoc` would make of it.

There is no parser for the language in Google's Python package, and `protoc` as a program would
be a dependency of ten megabytes that is started for each schema. Names of types stay as they
are written; the descriptor pool resolves and checks them.
"""

from typing import Protocol

from google.protobuf import descriptor_pb2 as pb

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.proto_options import read_bracketed, read_option
from moldau.registry.schemas.proto_words import ProtoWords

_Field = pb.FieldDescriptorProto
SCALARS = {
    name.removeprefix("TYPE_").lower(): number
    for name, number in _Field.Type.items()
    if name not in ("TYPE_GROUP", "TYPE_MESSAGE", "TYPE_ENUM")
}
_LABELS = {
    "optional": _Field.LABEL_OPTIONAL,
    "required": _Field.LABEL_REQUIRED,
    "repeated": _Field.LABEL_REPEATED,
}
_DECLARATIONS = ("message", "enum", "option", "oneof", "extend", "reserved", "extensions")
_FIELD_NUMBER_MAX = 536_870_911
_ENUM_NUMBER_MAX = 2_147_483_647
_DEPTH_MAX = 100
_NAME_MAX = 1000


class _List(Protocol):
    """A repeated field of messages."""

    def add(self, **values: object) -> pb.DescriptorProto:
        """A new one at the end."""


def parse_proto(text: str) -> pb.FileDescriptorProto:
    """The descriptor of a file; InvalidSchema if it is none."""
    return _Parser(ProtoWords(text)).file()


class _Parser:
    def __init__(self, words: ProtoWords) -> None:
        self._words = words
        self._made = pb.FileDescriptorProto()
        self._depth = 0

    def file(self) -> pb.FileDescriptorProto:
        words, made = self._words, self._made
        while not words.is_over:
            match words.take():
                case "syntax":
                    words.expect("=")
                    made.syntax = words.text()
                    if made.syntax not in ("proto2", "proto3"):
                        raise words.error(f"no syntax {made.syntax!r}")
                    words.expect(";")
                case "edition":
                    raise InvalidSchema("editions are not supported: say syntax, proto2 or proto3")
                case "package":
                    made.package = words.name()
                    words.expect(";")
                case "import":
                    self._import()
                case "option":
                    read_option(words, made.options)
                case "message":
                    self._message(made.message_type.add())
                case "enum":
                    self._enum(made.enum_type.add())
                case "extend":
                    self._extend(made.extension, made.message_type)
                case "service":
                    self._service(made.service.add())
                case ";":
                    pass
                case other:
                    raise words.error(f"unexpected {other!r} before")
        return made

    def _import(self) -> None:
        kind = self._words.take() if self._words.peek() in ("public", "weak") else ""
        place = len(self._made.dependency)
        self._made.dependency.append(self._words.text())
        if kind == "public":
            self._made.public_dependency.append(place)
        elif kind == "weak":
            self._made.weak_dependency.append(place)
        self._words.expect(";")

    # Messages

    def _message(self, message: pb.DescriptorProto) -> None:
        message.name = self._simple_name()
        self._body(message)

    def _body(self, message: pb.DescriptorProto) -> None:
        words = self._words
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise InvalidSchema(f"messages are nested deeper than {_DEPTH_MAX}")
        words.expect("{")
        while not words.skip("}"):
            self._statement(message)
        _add_synthetic_oneofs(message)
        self._depth -= 1

    def _statement(self, message: pb.DescriptorProto) -> None:
        word = self._words.peek()
        if self._words.skip(";"):
            return
        if word in _DECLARATIONS and self._is_declaration():
            self._words.take()
            self._declaration(word, message)
        else:
            self._field(message.field.add(), message.nested_type)

    def _is_declaration(self) -> bool:
        """A field may have a type that is named like a keyword: `message message = 1;`."""
        return self._words.peek_after() not in ("=", ".")

    def _declaration(self, word: str, message: pb.DescriptorProto) -> None:
        match word:
            case "message":
                self._message(message.nested_type.add())
            case "enum":
                self._enum(message.enum_type.add())
            case "option":
                read_option(self._words, message.options)
            case "oneof":
                self._oneof(message)
            case "extend":
                self._extend(message.extension, message.nested_type)
            case "reserved":
                self._reserved(message, message.reserved_range)
            case "extensions":
                for start, end in self._ranges(_FIELD_NUMBER_MAX):
                    message.extension_range.add(start=start, end=end + 1)
                if self._words.peek() == "[":
                    read_bracketed(self._words, pb.FieldOptions())
                self._words.expect(";")

    def _oneof(self, message: pb.DescriptorProto) -> None:
        words = self._words
        place = len(message.oneof_decl)
        declared = message.oneof_decl.add(name=self._simple_name())
        words.expect("{")
        while not words.skip("}"):
            if words.peek() == "option" and self._is_declaration():
                words.take()
                read_option(words, declared.options)
            elif not words.skip(";"):
                field = message.field.add(oneof_index=place)
                self._field(field, message.nested_type)

    def _field(self, field: pb.FieldDescriptorProto, nested: _List) -> None:
        words = self._words
        field.label = _Field.LABEL_OPTIONAL
        if words.peek() in _LABELS:
            label = words.take()
            field.label = _LABELS[label]
            field.proto3_optional = label == "optional" and self._made.syntax == "proto3"
        if words.peek() == "map" and words.peek_after() == "<":
            self._map(field, nested)
        elif words.peek() == "group":
            self._group(field, nested)
            return
        else:
            _set_type(field, words.name())
            field.name = self._simple_name()
            self._number(field)
        if words.peek() == "[":
            read_bracketed(words, field.options, field)
        words.expect(";")
        if not field.proto3_optional:
            field.ClearField("proto3_optional")

    def _number(self, field: pb.FieldDescriptorProto) -> None:
        self._words.expect("=")
        number = self._words.integer()
        if not 0 < number <= _FIELD_NUMBER_MAX:
            raise self._words.error(f"field {field.name} cannot have the number {number}")
        field.number = number

    def _map(self, field: pb.FieldDescriptorProto, nested: _List) -> None:
        words = self._words
        words.take()
        words.expect("<")
        key = words.name()
        words.expect(",")
        value = words.name()
        words.expect(">")
        field.name = self._simple_name()
        self._number(field)
        entry = nested.add(name=map_entry_name(field.name))
        entry.options.map_entry = True
        for number, (name, kind) in enumerate((("key", key), ("value", value)), 1):
            _set_type(entry.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL), kind)
        field.label = _Field.LABEL_REPEATED
        field.type_name = entry.name
        field.type = _Field.TYPE_MESSAGE

    def _group(self, field: pb.FieldDescriptorProto, nested: _List) -> None:
        self._words.take()
        message = nested.add(name=self._simple_name())
        field.name, field.type_name = message.name.lower(), message.name
        field.type = _Field.TYPE_GROUP
        self._number(field)
        self._body(message)

    def _extend(self, extensions: _List, nested: _List) -> None:
        extended = self._words.name()
        self._words.expect("{")
        while not self._words.skip("}"):
            if not self._words.skip(";"):
                self._field(extensions.add(extendee=extended), nested)

    # Enumerations, services

    def _enum(self, enum: pb.EnumDescriptorProto) -> None:
        words = self._words
        enum.name = self._simple_name()
        words.expect("{")
        while not words.skip("}"):
            if words.skip(";"):
                continue
            if words.peek() == "option" and self._is_declaration():
                words.take()
                read_option(words, enum.options)
            elif words.peek() == "reserved" and self._is_declaration():
                words.take()
                self._reserved(enum, enum.reserved_range)
            else:
                value = enum.value.add(name=self._simple_name())
                words.expect("=")
                value.number = _within_enum(words)
                if words.peek() == "[":
                    read_bracketed(words, value.options)
                words.expect(";")

    def _reserved(self, declared: pb.DescriptorProto, ranges: _List) -> None:
        if self._words.is_text():
            declared.reserved_name.append(self._words.text())
            while self._words.skip(","):
                declared.reserved_name.append(self._words.text())
        else:
            # The end of a range is not part of it in messages, and is in enumerations.
            extra = 1 if isinstance(declared, pb.DescriptorProto) else 0
            largest = _FIELD_NUMBER_MAX if extra else _ENUM_NUMBER_MAX
            for start, end in self._ranges(largest):
                ranges.add(start=start, end=end + extra)
        self._words.expect(";")

    def _ranges(self, largest: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        while True:
            start = end = self._words.integer()
            if self._words.skip("to"):
                end = largest if self._words.skip("max") else self._words.integer()
            if not abs(start) <= largest or not start <= end <= largest:
                raise self._words.error(f"no range: {start} to {end}")
            found.append((start, end))
            if not self._words.skip(","):
                return found

    def _service(self, service: pb.ServiceDescriptorProto) -> None:
        words = self._words
        service.name = self._simple_name()
        words.expect("{")
        while not words.skip("}"):
            if words.skip(";"):
                continue
            if words.skip("option"):
                read_option(words, service.options)
                continue
            words.expect("rpc")
            method = service.method.add(name=self._simple_name())
            method.client_streaming, method.input_type = self._rpc_type()
            words.expect("returns")
            method.server_streaming, method.output_type = self._rpc_type()
            if words.skip("{"):
                while not words.skip("}"):
                    if not words.skip(";"):
                        words.expect("option")
                        read_option(words, method.options)
            else:
                words.expect(";")

    def _rpc_type(self) -> tuple[bool, str]:
        self._words.expect("(")
        is_stream = self._words.peek() == "stream" and self._words.peek_after() != ")"
        if is_stream:
            self._words.take()
        name = self._words.name()
        self._words.expect(")")
        return is_stream, name

    def _simple_name(self) -> str:
        name = self._words.name()
        if "." in name or len(name) > _NAME_MAX:
            raise self._words.error(f"{name[:_NAME_MAX]} cannot be a name here")
        return name


def map_entry_name(field_name: str) -> str:
    """How `protoc` calls the message that a map field is a list of."""
    return "".join(part[:1].upper() + part[1:] for part in field_name.split("_")) + "Entry"


def _set_type(field: pb.FieldDescriptorProto, name: str) -> None:
    if name in SCALARS:
        field.type = SCALARS[name]
    else:
        field.type_name = name


def _within_enum(words: ProtoWords) -> int:
    number = words.integer()
    if not -_ENUM_NUMBER_MAX - 1 <= number <= _ENUM_NUMBER_MAX:
        raise words.error(f"an enumeration has no value {number}")
    return number


def _add_synthetic_oneofs(message: pb.DescriptorProto) -> None:
    """A field that is `optional` in proto3 has a oneof of its own, after the declared ones."""
    taken = {each.name for each in message.oneof_decl} | {each.name for each in message.field}
    for field in message.field:
        if field.proto3_optional and not field.HasField("oneof_index"):
            name = f"_{field.name}"
            while name in taken:
                name = f"X{name}"
            taken.add(name)
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=name)
