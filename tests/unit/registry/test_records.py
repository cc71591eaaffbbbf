"""Records are Confluent's, byte for byte, and go there and back."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.registry.records import (
    ConfigRecord,
    ModeRecord,
    NoopRecord,
    RegistryRecord,
    Rubbish,
    SchemaRecord,
    SchemaReference,
    StoredSchema,
    SubjectClearing,
    SubjectDeletion,
    decode,
    encode,
)

REFERENCE = SchemaReference("Money", "money", 1)

PROTOBUF = (
    '{"subject":"pb","version":2,"id":8,"schemaType":"PROTOBUF","references":'
    '[{"name":"Money","subject":"money","version":1}],"schema":"S","deleted":true}'
)

# As Confluent's registry writes them.
BYTES: list[tuple[RegistryRecord, str, str | None]] = [
    (
        SchemaRecord("a", 1, StoredSchema("a", 1, 7, '"string"')),
        '{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}',
        '{"subject":"a","version":1,"id":7,"schema":"\\"string\\"","deleted":false}',
    ),
    (
        SchemaRecord("pb", 2, StoredSchema("pb", 2, 8, "S", "PROTOBUF", (REFERENCE,), True)),
        '{"keytype":"SCHEMA","subject":"pb","version":2,"magic":1}',
        PROTOBUF,
    ),
    (
        SchemaRecord("a", 3, None),
        '{"keytype":"SCHEMA","subject":"a","version":3,"magic":1}',
        None,
    ),
    (
        ConfigRecord(None, {"compatibilityLevel": "FULL"}),
        '{"keytype":"CONFIG","subject":null,"magic":0}',
        '{"compatibilityLevel":"FULL"}',
    ),
    (ConfigRecord("a", None), '{"keytype":"CONFIG","subject":"a","magic":0}', None),
    (
        ModeRecord("a", "READONLY"),
        '{"keytype":"MODE","subject":"a","magic":0}',
        '{"mode":"READONLY"}',
    ),
    (
        SubjectDeletion("a", 2),
        '{"keytype":"DELETE_SUBJECT","subject":"a","magic":0}',
        '{"subject":"a","version":2}',
    ),
    (
        SubjectClearing("a"),
        '{"keytype":"CLEAR_SUBJECT","subject":"a","magic":0}',
        '{"subject":"a"}',
    ),
    (NoopRecord(), '{"keytype":"NOOP","magic":0}', None),
]


@pytest.mark.parametrize(("record", "key", "value"), BYTES)
def test_bytes_are_confluents_own(record: RegistryRecord, key: str, value: str | None) -> None:
    expected = key.encode(), None if value is None else value.encode()
    assert encode(record) == expected
    assert decode(*expected) == record


def test_what_newer_releases_keep_is_given_back_as_it_was() -> None:
    key = b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}'
    value = (
        b'{"subject":"a","version":1,"id":7,"md5":"x==","metadata":{"properties":{"k":"v"}},'
        b'"schema":"\\"int\\"","deleted":false}'
    )
    assert encode(decode(key, value)) == (key, value)


def test_the_highest_id_goes_with_a_noop_which_confluents_does_not_read() -> None:
    assert decode(*encode(NoopRecord(12))) == NoopRecord(12)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"{}"),
        (b"", b"{}"),
        (b"\xff\xfe", b"{}"),
        (b"[]", None),
        (b'{"keytype":"OTHER"}', None),
        (b"{}", None),
        (b'{"keytype":"SCHEMA","subject":"a"}', None),
        (b'{"keytype":"SCHEMA","subject":"a","version":true}', None),
        (b'{"keytype":"SCHEMA","subject":"a","version":1}', b"{"),
        (b'{"keytype":"SCHEMA","subject":"a","version":1}', b'{"id":1}'),
        (b'{"keytype":"SCHEMA","subject":"a","version":1}', b'{"id":-1,"schema":""}'),
        (
            b'{"keytype":"SCHEMA","subject":"a","version":1}',
            b'{"subject":"b","version":1,"id":1,"schema":""}',
        ),
        (
            b'{"keytype":"SCHEMA","subject":"a","version":1}',
            b'{"id":1,"schema":"","references":[7]}',
        ),
        (
            b'{"keytype":"SCHEMA","subject":"a","version":1}',
            b'{"id":1,"schema":"","references":{"a":1}}',
        ),
        (b'{"keytype":"MODE","subject":"a"}', b'{"mode":1}'),
        (b"[" * 100_000, None),
    ],
)
def test_rubbish_is_called_that(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(Rubbish):
        decode(key, value)


@given(st.binary(), st.none() | st.binary())
def test_no_bytes_do_any_harm(key: bytes, value: bytes | None) -> None:
    with suppress(Rubbish):
        decode(key, value)
