"""What belongs to a schema is made once, and not kept for ever."""

from moldau.connect.converters.per_schema import PerSchema
from moldau.connect.data.schema import INT32, STRING, Schema, struct


def test_equal_schemas_share_what_was_made() -> None:
    made: list[str] = []

    def make(topic: str, schema: Schema) -> str:
        made.append(f"{topic} {schema.fields[0].name}")
        return made[-1]

    known = PerSchema(make, schemas_max=2)
    for _ in range(3):
        assert known.of("t", struct([("a", INT32)])) == "t a"
        assert known.of("u", struct([("a", INT32)])) == "u a"
    assert made == ["t a", "u a"]
    known.of("t", struct([("b", STRING)]))
    known.of("u", struct([("a", INT32)]))
    assert made == ["t a", "u a", "t b", "u a"], "there was room for two"
