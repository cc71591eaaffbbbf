"""Blocks of producer ids."""

from moldau.coordination.layout.producer_ids import ProducerIdBlock, decode_producer_id_block
from unit.coordination.layout.conftest import Nodes


def test_a_block_is_written_as_apache_kafka_writes_it_with_its_last_id(apache: Nodes) -> None:
    block = ProducerIdBlock(broker_id=1, start=1000, end=2000)
    assert block.encode() == apache["producer-ids"]
    assert decode_producer_id_block(apache["producer-ids"]) == block
