"""Tests of applications go on importing the driver of processors as they did."""

from moldau.streams import test_driver_processors
from moldau.streams.testing.processors import ProcessorDriver


def test_both_names_mean_the_same_driver() -> None:
    assert test_driver_processors.ProcessorDriver is ProcessorDriver
