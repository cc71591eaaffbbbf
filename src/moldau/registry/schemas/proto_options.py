"""Options of a `.proto`: those that Google's package knows are set, the others kept as written."""

from google.protobuf import descriptor_pb2 as pb
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.proto_words import ProtoWords

_DEPTH_MAX = 50
_JSON_NAME, _DEFAULT = "json_name", "default"


def read_option(words: ProtoWords, options: Message) -> None:
    """`option name = value;`, after the first word."""
    _assignment(words, options, None)
    words.expect(";")


def read_bracketed(
    words: ProtoWords, options: Message, field: pb.FieldDescriptorProto | None = None
) -> None:
    """`[name = value, …]`; those of a field may hold its default and its name in JSON."""
    words.expect("[")
    while True:
        _assignment(words, options, field)
        if not words.skip(","):
            break
    words.expect("]")


def _assignment(words: ProtoWords, options: Message, field: pb.FieldDescriptorProto | None) -> None:
    parts = _option_name(words)
    words.expect("=")
    if field is not None and parts == [(_DEFAULT, False)]:
        field.default_value = _plain_value(words)
        return
    if field is not None and parts == [(_JSON_NAME, False)]:
        field.json_name = words.text()
        return
    name, is_extension = parts[0]
    known = options.DESCRIPTOR.fields_by_name.get(name)
    if is_extension or len(parts) > 1 or known is None or not _is_simple(known):
        _keep(words, options, parts)
    else:
        _set_known(words, options, known)


def _option_name(words: ProtoWords) -> list[tuple[str, bool]]:
    parts: list[tuple[str, bool]] = []
    while True:
        if words.skip("("):
            parts.append((words.name(), True))
            words.expect(")")
        else:
            parts += [(part, False) for part in words.name().lstrip(".").split(".")]
        if not (words.skip(".") or (parts[-1][1] and words.peek().startswith("."))):
            return parts


def _is_simple(known: FieldDescriptor) -> bool:
    return known.cpp_type != FieldDescriptor.CPPTYPE_MESSAGE and not _is_repeated(known)


def _is_repeated(known: FieldDescriptor) -> bool:
    is_repeated: bool = known.is_repeated
    return is_repeated


def _set_known(words: ProtoWords, options: Message, known: FieldDescriptor) -> None:
    try:
        if words.is_text():
            setattr(options, known.name, words.text())
            return
        word = _plain_value(words)
        if known.enum_type is not None:
            setattr(options, known.name, known.enum_type.values_by_name[word].number)
        elif known.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            setattr(options, known.name, {"true": True, "false": False}[word])
        else:
            setattr(options, known.name, int(word))
    except (TypeError, KeyError, ValueError) as error:
        raise InvalidSchema(f"option {known.name} cannot have this value") from error


def _keep(words: ProtoWords, options: Message, parts: list[tuple[str, bool]]) -> None:
    kept = options.uninterpreted_option.add()
    for name, is_extension in parts:
        kept.name.add(name_part=name, is_extension=is_extension)
    if words.peek() == "{":
        kept.aggregate_value = _aggregate(words)
    elif words.is_text():
        kept.string_value = words.text().encode("utf-8", "surrogateescape")
    else:
        value = _plain_value(words)
        if value.lstrip("-").isdigit():
            number = int(value)
            if number < 0:
                kept.negative_int_value = max(number, -(2**63))
            else:
                kept.positive_int_value = min(number, 2**64 - 1)
        elif value.lstrip("-")[:1] in "0123456789.":
            kept.double_value = float(value)
        else:
            kept.identifier_value = value


def _plain_value(words: ProtoWords) -> str:
    """A value as it stands in a descriptor: texts without quotes, numbers as they are."""
    if words.is_text():
        return words.text()
    sign = "-" if words.skip("-") else ""
    words.skip("+")
    word = words.take()
    if word[:2].lower() == "0x":
        word = str(int(word, 16))
    if not (word[0].isalnum() or word[0] in "._"):
        raise InvalidSchema(f"no value: {word!r}")
    return sign + word


def _aggregate(words: ProtoWords) -> str:
    """The inside of braces, word by word."""
    words.expect("{")
    depth, found = 1, []
    while depth:
        if words.is_text():
            found.append(_quoted(words.text()))
            continue
        word = words.take()
        depth += {"{": 1, "}": -1}.get(word, 0)
        if depth > _DEPTH_MAX:
            raise InvalidSchema(f"an option is nested deeper than {_DEPTH_MAX}")
        found.append(word)
    return " ".join(found[:-1])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def option_lines(options: Message, *, is_sorted: bool = False) -> list[str]:
    """Options as `name = value`, in the order of the declaration."""
    found: list[str] = []
    for known, value in options.ListFields():
        if known.name == "uninterpreted_option":
            found += map(_kept_line, value)
        elif known.name != "map_entry" and _is_simple(known):
            found.append(f"{known.name} = {_value_text(known, value)}")
    return sorted(found) if is_sorted else found


def _value_text(known: FieldDescriptor, value: object) -> str:
    if known.enum_type is not None:
        name: str = known.enum_type.values_by_number[value].name
        return name
    if isinstance(value, bool):
        return str(value).lower()
    return _quoted(value) if isinstance(value, str) else str(value)


def _kept_line(kept: pb.UninterpretedOption) -> str:
    name = ".".join(f"({e.name_part})" if e.is_extension else e.name_part for e in kept.name)
    if kept.HasField("aggregate_value"):
        return f"{name} = {{ {kept.aggregate_value} }}"
    if kept.HasField("string_value"):
        return f"{name} = {_quoted(kept.string_value.decode('utf-8', 'surrogateescape'))}"
    for part in ("identifier_value", "positive_int_value", "negative_int_value", "double_value"):
        if kept.HasField(part):
            return f"{name} = {getattr(kept, part)}"
    return f"{name} = true"
