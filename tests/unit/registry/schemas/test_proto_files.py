"""Files are checked together with what they import."""

import base64
import sys

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.proto_files import ProtoFile, builtin, descriptor_set, load, serialized

MONEY = 'syntax = "proto3"; package m; message Money { int64 cents = 1; }'


def test_imports_are_references_or_files_that_everybody_has() -> None:
    money = load(MONEY, {})
    order = load(
        'syntax = "proto3"; import "money.proto"; import "confluent/type/decimal.proto"; '
        'import "google/protobuf/any.proto"; message Order { m.Money price = 1; '
        "confluent.type.Decimal d = 2; google.protobuf.Any a = 3; }",
        {"money.proto": money},
    )
    assert order.resolved.message_type[0].field[0].type_name == ".m.Money"
    outer = load(
        'syntax = "proto3"; import "order.proto"; message All { Order o = 1; }',
        {"order.proto": order},
    )
    assert sorted(dict(outer.all_others())) == ["money.proto", "order.proto"]


def test_descriptors_come_after_what_they_import() -> None:
    text = 'syntax = "proto3"; package p; import "confluent/meta.proto"; message A {} message B {}'
    data, first = descriptor_set(text)
    assert first == "p.A"
    names = [each.name for each in FileDescriptorSet.FromString(data).file]
    assert names[:2] == ["google/protobuf/descriptor.proto", "confluent/meta.proto"]
    with pytest.raises(InvalidSchema, match="it has no message"):
        descriptor_set('syntax = "proto3";')


@pytest.mark.parametrize(
    "text",
    [
        'import "none.proto";',
        "message A { Nothing x = 1; }",
        'syntax = "proto3"; message A { int32 x = 1; int32 y = 1; }',
        'syntax = "proto3"; message A { int32 x = 1; int32 x = 2; }',
        "message A {} message A {}",
        'syntax = "proto3"; enum E { A = 1; }',
    ],
)
def test_what_does_not_fit_together_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchema):
        load(text, {})


def test_a_descriptor_in_base64_is_a_file_too() -> None:
    money = load(MONEY, {})
    again = load(serialized(money), {})
    assert isinstance(again, ProtoFile)
    assert again.resolved == money.resolved
    for text in ("AAAA", base64.b64encode(b"\xff" * 9).decode()):
        with pytest.raises(InvalidSchema):
            load(text, {})


def test_only_known_files_can_be_imported_without_a_reference() -> None:
    assert builtin("google/protobuf/timestamp.proto") is not None
    assert builtin("google/protobuf/../os.proto") is None
    assert builtin("os.proto") is None


def test_googles_common_types_are_known_where_their_package_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = 'import "google/type/date.proto"; message A { google.type.Date d = 1; }'
    assert load(text, {}).resolved.dependency == ["google/type/date.proto"]
    monkeypatch.setitem(sys.modules, "google.type.money_pb2", None)
    with pytest.raises(InvalidSchema, match="pip install googleapis-common-protos"):
        load('import "google/type/money.proto"; message A {}', {})
