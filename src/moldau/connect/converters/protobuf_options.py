"""What Confluent's converter notes beside a field: the option `confluent.field_meta`.

A reader that knows the option has it by its number, any other by its text, as it was written.
"""

import json
from collections.abc import Mapping

from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FieldOptions, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_FIELD_META, _NAME = 1088, "confluent.field_meta"
_P = FieldDescriptorProto


def _options_class() -> type[Message]:
    """Options of which nothing but this one is read; the pool of all has no place for others."""
    file = FileDescriptorProto(name="options.proto", syntax="proto3")
    meta = file.message_type.add(name="Meta")
    entry = meta.nested_type.add(name="ParamsEntry")
    entry.options.map_entry = True
    for number, name in enumerate(("key", "value"), 1):
        entry.field.add(name=name, number=number, type=_P.TYPE_STRING, label=_P.LABEL_OPTIONAL)
    meta.field.add(
        name="params",
        number=2,
        type=_P.TYPE_MESSAGE,
        label=_P.LABEL_REPEATED,
        type_name=".Meta.ParamsEntry",
    )
    file.message_type.add(name="Options").field.add(
        name="field_meta",
        number=_FIELD_META,
        type=_P.TYPE_MESSAGE,
        label=_P.LABEL_OPTIONAL,
        type_name=".Meta",
    )
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    found: type[Message] = GetMessageClass(pool.FindMessageTypeByName("Options"))
    return found


_OPTIONS = _options_class()


def note(options: FieldOptions, noted: Mapping[str, str]) -> None:
    """Write notes as a text: that is what a registry without the option can keep."""
    kept = options.uninterpreted_option.add()
    kept.name.add(name_part=_NAME, is_extension=True)
    listed = ", ".join(
        f"{{ key: {json.dumps(name)}, value: {json.dumps(text)} }}" for name, text in noted.items()
    )
    kept.aggregate_value = f"params: [ {listed} ]"


def noted_in(options: FieldOptions) -> dict[str, str]:
    """The notes in a field's options."""
    found = _OPTIONS.FromString(options.SerializeToString())
    meta = found.field_meta
    for each in options.uninterpreted_option:
        if "".join(part.name_part for part in each.name).lstrip(".") == _NAME:
            try:
                text_format.Parse(each.aggregate_value, meta, allow_unknown_field=True)
            except text_format.ParseError:
                continue  # a note that cannot be read says nothing
    return dict(meta.params)
