"""Notes beside a field come back, whatever else its options say."""

from google.protobuf.descriptor_pb2 import FieldOptions

from moldau.connect.converters.protobuf_options import note, noted_in

# Options of a field as protoc writes them: deprecated, and field_meta with scale 2.
COMPILED = bytes.fromhex("1801 8244 0c 120a 0a057363616c65 120132")


def test_notes_are_read_as_text_and_as_they_are_compiled() -> None:
    options = FieldOptions(deprecated=True)
    note(options, {"scale": "2", "quote": 'a"b'})
    assert noted_in(options) == {"scale": "2", "quote": 'a"b'}
    assert noted_in(FieldOptions.FromString(COMPILED)) == {"scale": "2"}
    assert noted_in(FieldOptions()) == {}


def test_a_note_that_cannot_be_read_says_nothing() -> None:
    options = FieldOptions()
    note(options, {})
    options.uninterpreted_option[0].aggregate_value = "params: {"
    assert noted_in(options) == {}
