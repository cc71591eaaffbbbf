"""The examples of streams are applications, and the one with timers does what it says."""

import runpy
from pathlib import Path

import pytest

from moldau.streams.processors import Processor, Record
from moldau.streams.running_app import load_app
from moldau.streams.test_driver_processors import ProcessorDriver

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["word_count", "sessions", "enrichment", "fraud_alerts"])
def test_an_example_is_an_application(name: str) -> None:
    app = load_app(str(EXAMPLES / f"{name}.py"))
    assert app.topology.describe().startswith("Topologies:")
    assert app.application


def test_a_card_is_watched_for_a_minute_after_its_last_payment() -> None:
    watching = runpy.run_path(str(EXAMPLES / "fraud_alerts.py"))["Watching"]()
    assert isinstance(watching, Processor)
    driver = ProcessorDriver(watching)

    def pay(amount: float, timestamp_ms: int) -> list[Record]:
        payment = {"shop": "x", "amount": amount}
        return driver.pipe("card", payment, timestamp_ms=timestamp_ms)

    assert pay(1.0, 1_000) == pay(2.0, 2_000) == []
    assert pay(600.0, 3_000) == [Record("card", "3 payments, the last of 600.0", 3_000)]
    assert driver.advance_to(63_000) == []
    assert pay(600.0, 63_001) == []
