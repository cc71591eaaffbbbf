"""Messages are found in the text of a .proto, in its order."""

import pytest

from moldau.client.serdes.proto_text import indexes_of, message_at

PROTO = """
syntax = "proto3"; // message Comment {
package shop;
/* message Another { } */
option (text) = "message Quoted { \\" }";
option (more) = { message: 1 };
enum Kind { NONE = 0; }
message Place { double x = 1; }
message Order {
  map<string, Line> lines_by_name = 1;
  enum State { NEW = 0; }
  oneof what { string message = 2; }
  message Note { string text = 1; }
  message Line {
    message Price { int64 cents = 1; }
    Price price = 1 [(old) = { a: "}" }];
  }
}
service Shop { rpc Sell (Order) returns (Place) { option (x) = 1; } }
message Last { }
"""


@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("Place", [0]),
        ("Order", [1]),
        ("Order.Note", [1, 0]),
        ("Order.Line", [1, 1]),
        ("Order.Line.Price", [1, 1, 0]),
        ("Last", [2]),
    ],
)
def test_a_message_has_its_place(name: str, indexes: list[int]) -> None:
    assert indexes_of(PROTO, name) == indexes
    assert message_at(PROTO, indexes) == name


def test_what_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no message 'Order\.Kind'"):
        indexes_of(PROTO, "Order.Kind")
    with pytest.raises(ValueError, match=r"no message \[3\]"):
        message_at(PROTO, [3])
    with pytest.raises(ValueError, match=r"no message \[1, -1\]"):
        message_at(PROTO, [1, -1])
