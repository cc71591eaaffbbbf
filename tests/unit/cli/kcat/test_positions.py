"""Where reading begins and ends, by kcat's -o."""

import pytest

from moldau.cli.kcat.positions import Bounds, parse_bounds, seek_all
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.consumer.consumer import Consumer
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_bounds_are_read() -> None:
    assert parse_bounds([]) == Bounds("beginning")
    assert parse_bounds(["-10"]) == Bounds("-10")
    assert parse_bounds(["s@5", "e@6"]) == Bounds("beginning", 5, 6)
    with pytest.raises(CommandFailed, match="-o soon"):
        parse_bounds(["soon"])


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("beginning", 0),
        ("end", 3),
        ("-2", 1),
        ("-9", 0),
        ("2", 2),
        ("s@1", 0),
        ("s@9999999999999", 3),
    ],
)
async def test_reading_begins_there(
    broker: EmbeddedBroker, bootstrap: str, text: str, start: int
) -> None:
    partition = TopicPartition(f"t{start}{text.replace('@', '')}", 0)
    broker.call(_create(broker, partition.topic))
    async with Consumer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as consumer:
        consumer.assign([partition])
        ends = await seek_all(consumer, [partition], parse_bounds([text]))
        assert ends == {partition: 3}
        assert await consumer.position(partition) == start


async def _create(broker: EmbeddedBroker, topic: str) -> None:
    """Three records, written from the broker's own loop."""
    from moldau.client.producer.producer import Producer

    async with Producer[str, str](bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(3):
            await producer.send(topic, str(number))


def test_a_time_may_end_it(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "ended", stdin="a\nb\n")
    servers = bootstrap.partition("=")[2]
    done = run("cat", "-C", "-b", servers, "-t", "ended", "-o", "s@1", "-o", "e@2")
    assert done == (0, "", "")
