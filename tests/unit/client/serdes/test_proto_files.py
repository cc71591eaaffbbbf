"""Files that nobody registers are known."""

from google.protobuf.descriptor_pool import DescriptorPool

from moldau.client.serdes.proto_files import known_file


def test_known_files_are_whole() -> None:
    pool = DescriptorPool()
    for name, message, fields in (
        ("confluent/type/decimal.proto", "confluent.type.Decimal", 3),
        ("google/type/date.proto", "google.type.Date", 3),
        ("google/type/timeofday.proto", "google.type.TimeOfDay", 4),
    ):
        file = known_file(name)
        assert file is not None
        pool.AddSerializedFile(file.SerializeToString())
        assert len(pool.FindMessageTypeByName(message).fields) == fields
    assert known_file("google/type/money.proto") is None
