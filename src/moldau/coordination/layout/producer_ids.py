"""Producer ids: the last block that was given to a broker."""

from dataclasses import dataclass

from moldau.coordination.layout.documents import Document, encode, parse_integer

PATH = "/latest_producer_id_block"
BLOCK_SIZE = 1000


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """The ids `[start, end)`, which one broker gives out."""

    broker_id: int
    start: int
    end: int

    def encode(self) -> bytes:
        # Kafka writes the numbers as texts, and the last id itself.
        return encode(
            {
                "version": 1,
                "broker": self.broker_id,
                "block_start": str(self.start),
                "block_end": str(self.end - 1),
            }
        )


def decode_producer_id_block(data: bytes) -> ProducerIdBlock:
    document = Document.decode(data)
    return ProducerIdBlock(
        document.integer("broker"),
        parse_integer(document.text("block_start")),
        parse_integer(document.text("block_end")) + 1,
    )
