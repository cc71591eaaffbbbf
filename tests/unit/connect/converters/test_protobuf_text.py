"""Files as people write them."""

from moldau.connect.converters.protobuf_schemas import ENUM, TAG, UNION, Nullables, file_of_schema
from moldau.connect.converters.protobuf_text import proto_text
from moldau.connect.data.schema import (
    INT16,
    INT32,
    STRING,
    TIMESTAMP_SCHEMA,
    array,
    map_of,
    optional,
    struct,
)

COLOUR = STRING.but(parameters={ENUM: "Colour", f"{ENUM}.RED": "0", f"{ENUM}.BLUE": "2"})
CHOICE = struct([("n", INT32.but(parameters={TAG: "9"})), ("s", STRING)], name=f"{UNION}what")
WITHIN = struct([("small", INT16)], name="Within")
ROW = struct(
    [
        ("note", optional(STRING)),
        ("at", TIMESTAMP_SCHEMA),
        ("tags", array(STRING)),
        ("counts", map_of(STRING, INT32)),
        ("within", WITHIN),
        ("colour", COLOUR),
        ("what_0", CHOICE),
    ],
    name="a.b.Row",
)
NOTE = 'params: [ { key: "connect.type", value: "int16" } ]'
TEXT = """\
syntax = "proto3";
package a.b;

import "confluent/meta.proto";
import "google/protobuf/timestamp.proto";

message Row {
  optional string note = 1;
  .google.protobuf.Timestamp at = 2;
  repeated string tags = 3;
  map<string, int32> counts = 4;
  .a.b.Row.Within within = 5;
  .a.b.Row.Colour colour = 6;
  oneof what {
    int32 n = 9;
    string s = 7;
  }

  message Within {
    int32 small = 1 [(confluent.field_meta) = { NOTE }];
  }

  enum Colour {
    RED = 0;
    BLUE = 2;
  }
}
"""


def test_a_file_is_as_people_write_it() -> None:
    assert proto_text(file_of_schema(ROW, Nullables(as_optional=True))) == TEXT.replace(
        "NOTE", NOTE
    )
