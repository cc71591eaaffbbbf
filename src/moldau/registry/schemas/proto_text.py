"""Writes a descriptor as `.proto`, in the order and with the spaces of Confluent's registry."""

from collections.abc import Iterable, Sequence

from google.protobuf import descriptor_pb2 as pb

from moldau.registry.schemas.proto_options import option_lines
from moldau.registry.schemas.proto_parser import SCALARS

_Field = pb.FieldDescriptorProto
_SCALAR_NAMES = {number: name for name, number in SCALARS.items()}
_FIELD_NUMBER_MAX = 536_870_911
_ENUM_NUMBER_MAX = 2_147_483_647
_LABELS = {_Field.LABEL_REQUIRED: "required ", _Field.LABEL_REPEATED: "repeated "}


def proto_text(file: pb.FileDescriptorProto, *, is_sorted: bool = False) -> str:
    """The text of a file; sorted, what may stand in any order has one."""
    return _Printer(file, is_sorted=is_sorted).file()


class _Printer:
    def __init__(self, file: pb.FileDescriptorProto, *, is_sorted: bool) -> None:
        self._file = file
        self._is_sorted = is_sorted
        self._is_proto3 = file.syntax == "proto3"

    def file(self) -> str:
        file = self._file
        head = f'syntax = "{file.syntax or "proto2"}";\n'
        if file.package:
            head += f"package {file.package};\n"
        sections = [
            self._imports(),
            [f"option {each};\n" for each in self._options(file.options)],
            [*map(self._message, file.message_type), *map(self._enum, file.enum_type)],
            self._extends(file.extension),
            [self._service(each) for each in file.service],
        ]
        return head + "".join("\n" + "".join(each) for each in sections if each)

    def _imports(self) -> list[str]:
        public = set(self._file.public_dependency)
        names = list(enumerate(self._file.dependency))
        private = [f'import "{name}";\n' for at, name in names if at not in public]
        shared = [f'import public "{name}";\n' for at, name in names if at in public]
        return sorted(private) + sorted(shared) if self._is_sorted else private + shared

    # Messages

    def _message(self, message: pb.DescriptorProto) -> str:
        entries = {each.name: each for each in message.nested_type if each.options.map_entry}
        fields = sorted(message.field, key=_number) if self._is_sorted else list(message.field)
        groups = [each.type_name for each in fields if each.type == _Field.TYPE_GROUP]
        nested = [
            each
            for each in message.nested_type
            if each.name not in entries and not any(_is_named(name, each.name) for name in groups)
        ]
        sections = [
            _reserved(message.reserved_name, _ranges(message.reserved_range, 1)),
            [f"option {each};\n" for each in self._options(message.options)],
            [self._field(e, message, entries) for e in fields if not _is_in_oneof(e)],
            self._oneofs(message, fields, entries),
            [f"extensions {each};\n" for each in _ranges(message.extension_range, 1)],
            [*map(self._message, nested), *map(self._enum, message.enum_type)],
            self._extends(message.extension),
        ]
        return _block(f"message {message.name}", sections)

    def _oneofs(
        self,
        message: pb.DescriptorProto,
        fields: Sequence[pb.FieldDescriptorProto],
        entries: dict[str, pb.DescriptorProto],
    ) -> list[str]:
        found: list[str] = []
        for at, oneof in enumerate(message.oneof_decl):
            inside = [each for each in fields if _is_in_oneof(each) and each.oneof_index == at]
            if inside:
                options = [f"option {each};\n" for each in self._options(oneof.options)]
                lines = [self._field(each, message, entries) for each in inside]
                found.append(_block(f"oneof {oneof.name}", [options, lines]))
        return sorted(found) if self._is_sorted else found

    def _field(
        self,
        field: pb.FieldDescriptorProto,
        message: pb.DescriptorProto | None = None,
        entries: dict[str, pb.DescriptorProto] | None = None,
    ) -> str:
        entry = (entries or {}).get(field.type_name.rpartition(".")[2])
        if entry is not None and field.label == _Field.LABEL_REPEATED:
            key, value = (_type(each) for each in entry.field)
            start = f"map<{key}, {value}> {field.name}"
        elif field.type == _Field.TYPE_GROUP and message is not None:
            name = field.type_name.rpartition(".")[2]
            group = next(each for each in message.nested_type if each.name == name)
            body = self._message(group).removeprefix(f"message {name}")
            return f"{self._label(field)}group {name} = {field.number}{body}"
        else:
            start = f"{self._label(field)}{_type(field)} {field.name}"
        return f"{start} = {field.number}{_bracketed(self._field_options(field))};\n"

    def _label(self, field: pb.FieldDescriptorProto) -> str:
        if _is_in_oneof(field):
            return ""
        if field.label in _LABELS:
            return _LABELS[field.label]
        return "optional " if field.proto3_optional or not self._is_proto3 else ""

    def _field_options(self, field: pb.FieldDescriptorProto) -> list[str]:
        found: list[str] = []
        if field.HasField("default_value"):
            is_text = field.type in (_Field.TYPE_STRING, _Field.TYPE_BYTES)
            found.append(f"default = {_quoted(field.default_value, is_text=is_text)}")
        if field.json_name and field.json_name != json_name(field.name):
            found.append(f'json_name = "{field.json_name}"')
        return found + self._options(field.options)

    def _extends(self, extensions: Iterable[pb.FieldDescriptorProto]) -> list[str]:
        by_target: dict[str, list[str]] = {}
        for each in extensions:
            by_target.setdefault(each.extendee, []).append(self._field(each))
        return [_block(f"extend {target}", [lines]) for target, lines in by_target.items()]

    # Enumerations, services

    def _enum(self, enum: pb.EnumDescriptorProto) -> str:
        sections = [
            _reserved(enum.reserved_name, _ranges(enum.reserved_range, 0)),
            [f"option {each};\n" for each in self._options(enum.options)],
            [
                f"{each.name} = {each.number}{_bracketed(self._options(each.options))};\n"
                for each in enum.value
            ],
        ]
        return _block(f"enum {enum.name}", sections)

    def _service(self, service: pb.ServiceDescriptorProto) -> str:
        options = [f"option {each};\n" for each in self._options(service.options)]
        return _block(f"service {service.name}", [options, [*map(self._rpc, service.method)]])

    def _rpc(self, method: pb.MethodDescriptorProto) -> str:
        sent = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
        returned = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
        start = f"rpc {method.name} ({sent}) returns ({returned})"
        options = [f"option {each};\n" for each in self._options(method.options)]
        return _block(start, [options]) if options else f"{start};\n"

    def _options(self, options: object) -> list[str]:
        return option_lines(options, is_sorted=self._is_sorted)


def json_name(name: str) -> str:
    """How a field is called in JSON unless it says otherwise."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _block(start: str, sections: Sequence[Sequence[str]]) -> str:
    inside = ("\n" + "".join(map(_indented, each)) for each in sections if each)
    return f"{start} {{{''.join(inside)}}}\n"


def _indented(text: str) -> str:
    return "".join(f"  {line}" if line.strip() else line for line in text.splitlines(True))


def _bracketed(options: list[str]) -> str:
    if not options:
        return ""
    if len(options) == 1:
        return f" [{options[0]}]"
    return " [\n" + ",\n".join(f"  {each}" for each in options) + "\n]"


def _reserved(names: Iterable[str], ranges: list[str]) -> list[str]:
    found = [f"reserved {', '.join(ranges)};\n"] if ranges else []
    quoted = ", ".join(f'"{each}"' for each in names)
    return [*found, f"reserved {quoted};\n"] if quoted else found


def _ranges(declared: Iterable[pb.DescriptorProto.ReservedRange], excess: int) -> list[str]:
    largest = _FIELD_NUMBER_MAX if excess else _ENUM_NUMBER_MAX
    found: list[str] = []
    for each in declared:
        end = each.end - excess
        shown = "max" if end == largest else str(end)
        found.append(str(each.start) if end == each.start else f"{each.start} to {shown}")
    return found


def _type(field: pb.FieldDescriptorProto) -> str:
    name: str = field.type_name
    return name or _SCALAR_NAMES[field.type]


def _number(declared: pb.FieldDescriptorProto) -> int:
    number: int = declared.number
    return number


def _is_in_oneof(field: pb.FieldDescriptorProto) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _is_named(type_name: str, name: str) -> bool:
    return type_name.rpartition(".")[2] == name


def _quoted(text: str, *, is_text: bool) -> str:
    if not is_text:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
