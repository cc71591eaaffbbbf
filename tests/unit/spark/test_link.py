"""Connections without a thread of their own."""

import asyncio
import threading

from moldau.spark.link import Link
from moldau.testing.broker import EmbeddedBroker


def test_brokers_are_asked_in_the_callers_thread(kafka: EmbeddedBroker) -> None:
    async def ask() -> threading.Thread:
        await link.cluster.refresh()
        return threading.current_thread()

    link = Link([("bootstrap.servers", kafka.bootstrap_servers)])
    assert link.wait(ask()) is threading.current_thread()
    assert len(link.cluster.metadata.brokers) == 1
    link.close()


def test_what_was_begun_goes_on_while_something_else_is_waited_for(kafka: EmbeddedBroker) -> None:
    link = Link([("bootstrap.servers", kafka.bootstrap_servers)])
    begun = link.begin(link.cluster.refresh())
    link.wait(asyncio.wait_for(asyncio.shield(begun), 30))
    assert begun.done()
    link.close()


def test_closing_ends_what_is_under_way_and_may_be_repeated(kafka: EmbeddedBroker) -> None:
    link = Link([("bootstrap.servers", kafka.bootstrap_servers)])
    begun = link.begin(asyncio.Event().wait())
    link.close()
    link.close()
    assert begun.cancelled()
