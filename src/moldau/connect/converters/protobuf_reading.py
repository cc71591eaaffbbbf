"""Messages of Protocol Buffers as Connect's schemas."""

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor

from moldau.connect.converters.protobuf_options import noted_in
from moldau.connect.converters.protobuf_schemas import ENUM, LOGICAL, PRECISION, TAG, UNION
from moldau.connect.data.schema import DECIMAL, SCALE, Field, Kind, Schema
from moldau.connect.errors import DataError

_D = FieldDescriptor
_INT32 = (_D.TYPE_INT32, _D.TYPE_SINT32, _D.TYPE_SFIXED32)
_PLAIN = {
    **dict.fromkeys(_INT32, Kind.INT32),
    **dict.fromkeys((_D.TYPE_UINT32, _D.TYPE_FIXED32, _D.TYPE_INT64, _D.TYPE_UINT64), Kind.INT64),
    **dict.fromkeys((_D.TYPE_SINT64, _D.TYPE_FIXED64, _D.TYPE_SFIXED64), Kind.INT64),
    _D.TYPE_FLOAT: Kind.FLOAT32,
    _D.TYPE_DOUBLE: Kind.FLOAT64,
    _D.TYPE_BOOL: Kind.BOOLEAN,
    _D.TYPE_STRING: Kind.STRING,
    _D.TYPE_BYTES: Kind.BYTES,
}
_OF_MESSAGE = {message: name for name, (message, _) in LOGICAL.items()}
_STORED = {DECIMAL: Kind.BYTES, _OF_MESSAGE["google.protobuf.Timestamp"]: Kind.INT64}
WRAPPED = {
    "google.protobuf.Int32Value": Kind.INT32,
    "google.protobuf.UInt32Value": Kind.INT64,
    "google.protobuf.Int64Value": Kind.INT64,
    "google.protobuf.UInt64Value": Kind.INT64,
    "google.protobuf.FloatValue": Kind.FLOAT32,
    "google.protobuf.DoubleValue": Kind.FLOAT64,
    "google.protobuf.BoolValue": Kind.BOOLEAN,
    "google.protobuf.StringValue": Kind.STRING,
    "google.protobuf.BytesValue": Kind.BYTES,
}


def schema_of_message(
    message: Descriptor, *, unwraps: bool, around: tuple[str, ...] = ()
) -> Schema:
    """A struct: unions first, each as a struct of its own, then the other fields."""
    if message.full_name in around:
        raise DataError(f"{message.full_name} holds itself: Connect has no such schemas")
    within = (*around, message.full_name)
    fields = [
        Field(union_name(each), _union(each, unwraps=unwraps, around=within))
        for each in true_unions(message)
    ]
    fields += [
        Field(each.name, _field(each, unwraps=unwraps, around=within))
        for each in message.fields
        if not in_union(each)
    ]
    return Schema(Kind.STRUCT, name=message.name, fields=tuple(fields))


def true_unions(message: Descriptor) -> list[OneofDescriptor]:
    """Without those that stand for a single optional field."""
    return [each for each in message.oneofs if any(in_union(one) for one in each.fields)]


def in_union(field: FieldDescriptor) -> bool:
    """Whether a field is one of several of which one is set."""
    union = field.containing_oneof
    return union is not None and not (len(union.fields) == 1 and union.name == f"_{field.name}")


def union_name(union: OneofDescriptor) -> str:
    """What its struct is called."""
    return f"{union.name}_{union.index}"


def _union(union: OneofDescriptor, *, unwraps: bool, around: tuple[str, ...]) -> Schema:
    members = tuple(
        Field(each.name, _field(each, unwraps=unwraps, around=around)) for each in union.fields
    )
    return Schema(Kind.STRUCT, optional=True, name=f"{UNION}{union.name}", fields=members)


def _field(field: FieldDescriptor, *, unwraps: bool, around: tuple[str, ...]) -> Schema:
    """Every field may be null, as Java has it."""
    tag = {TAG: str(field.number)}
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        key, value = message.fields_by_name["key"], message.fields_by_name["value"]
        return Schema(
            Kind.MAP,
            optional=True,
            name=message.name,
            parameters=tag,
            key=_single(key, unwraps=unwraps, around=around).but(optional=False),
            value=_single(value, unwraps=unwraps, around=around),
        )
    found = _single(field, unwraps=unwraps, around=around).but(optional=True)
    if field.is_repeated:
        return Schema(Kind.ARRAY, optional=True, value=found, parameters=tag)
    return found.but(parameters={**found.parameters, **tag})


def _single(field: FieldDescriptor, *, unwraps: bool, around: tuple[str, ...]) -> Schema:
    if field.type in _PLAIN:
        kind = _PLAIN[field.type]
        noted = noted_in(field.GetOptions())
        if field.type in _INT32 and noted.get("connect.type") in ("int8", "int16"):
            kind = Kind(noted["connect.type"])
        return Schema(kind)
    if field.type == _D.TYPE_ENUM:
        return _enum(field.enum_type)
    if field.type != _D.TYPE_MESSAGE:
        raise DataError(f"{field.full_name}: groups have no counterpart among Connect's schemas")
    full = field.message_type.full_name
    if full in _OF_MESSAGE:
        return _logical(field, _OF_MESSAGE[full])
    if unwraps and full in WRAPPED:
        return Schema(WRAPPED[full])
    return schema_of_message(field.message_type, unwraps=unwraps, around=around)


def _enum(kind: EnumDescriptor) -> Schema:
    numbers = {f"{ENUM}.{each.name}": str(each.number) for each in kind.values}
    return Schema(Kind.STRING, name=kind.name, parameters={ENUM: kind.name, **numbers})


def _logical(field: FieldDescriptor, name: str) -> Schema:
    found = Schema(_STORED.get(name, Kind.INT32), name=name, version=1)
    if name != DECIMAL:
        return found
    noted = noted_in(field.GetOptions())
    parameters = {SCALE: noted.get("scale", "0")}
    if "precision" in noted:
        parameters[PRECISION] = noted["precision"]
    return found.but(parameters=parameters)
