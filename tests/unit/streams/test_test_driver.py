"""Tests of applications go on importing the driver as they did."""

from moldau.streams import test_driver
from moldau.streams.testing import driver


def test_both_names_mean_the_same_driver() -> None:
    assert test_driver.TestDriver is driver.TestDriver
    assert test_driver.OutputRecord is driver.OutputRecord
    assert test_driver.local_session is driver.local_session
