"""A schema is read once, and nothing is taken for an envelope that is none."""

import json

import pytest

from moldau.connect.converters.json_converter import JsonConverter
from moldau.connect.converters.json_envelopes import LastEnvelope
from moldau.connect.data.schema import INT64, STRING
from moldau.connect.errors import DataError

NUMBER, TEXT = '{"type":"int64","optional":false}', '{"type":"string","optional":false}'


def envelope(schema: str, payload: str) -> bytes:
    return f'{{"schema":{schema},"payload":{payload}}}'.encode()


def test_the_next_value_of_the_schema_is_recognised() -> None:
    known = LastEnvelope()
    assert known.of(envelope(NUMBER, "1")) is None
    known.note(envelope(NUMBER, "1"), INT64)
    assert known.of(envelope(NUMBER, "2")) == (INT64, 2)
    assert known.of(envelope(NUMBER, '{"schema":{"a":1}}')) == (INT64, {"schema": {"a": 1}})
    assert known.of(envelope(TEXT, '"x"')) is None
    known.note(envelope(TEXT, '"ü"'), STRING)
    assert known.of(envelope(TEXT, '"ö"')) == (STRING, "ö")
    known.note(envelope("null", "1"), None)
    assert known.of(envelope("null", "2")) == (None, 2)


def test_spaces_may_stand_between() -> None:
    known = LastEnvelope()
    known.note(b' {"schema" : null , "payload" : 1}', None)
    assert known.of(b' {"schema" : null , "payload" :2}') == (None, 2)
    assert known.of(b' {"schema" : null , "payload" :\t[2] \n}') == (None, [2])
    assert known.of(' {"schema" : null , "payload" :\u00a02}'.encode()) is None
    assert known.of(envelope("null", "2")) is None


@pytest.mark.parametrize("written", ['{"payload":1,"schema":null}', '{"schema":null}'])
def test_what_is_written_otherwise_is_not_remembered(written: str) -> None:
    known = LastEnvelope()
    for data in (written.encode(), written.encode("utf-16")):
        known.note(data, None)
        assert known.of(envelope("null", "2")) is None


@pytest.mark.parametrize("payload", ['1,"more":2', '1,"payload":2', "1} {", ""])
def test_more_than_schema_and_payload_is_refused_after_a_good_one(payload: str) -> None:
    converter = JsonConverter({})
    assert converter.from_bytes("t", envelope(NUMBER, "1")).value == 1
    data = envelope(NUMBER, payload)
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if found is not None and set(found) == {"schema", "payload"}:
        # Of two that have the same name, the last one counts, as in Java.
        assert converter.from_bytes("t", data).value == found["payload"]
        return
    with pytest.raises(DataError):
        converter.from_bytes("t", data)
