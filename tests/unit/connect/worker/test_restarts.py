"""What may pass is tried again, later each time, as often as is allowed."""

import pytest

from moldau.connect.errors import ConfigError, DataError, RetriableConnectError
from moldau.connect.worker.restarts import RestartRule
from moldau.connect.worker.settings import WorkerSettings


def test_each_restart_comes_later_until_there_is_none() -> None:
    error, restarts = RetriableConnectError("gone"), RestartRule()
    assert [restarts.wait_s(error, count) for count in range(7)] == [1, 2, 5, 15, 60, 300, None]
    assert restarts.described(2, 2.0) == "restart 2 of 6 in 2 s"


@pytest.mark.parametrize("error", [ConfigError("x"), DataError("x")])
def test_what_stays_wrong_is_not_tried_again(error: Exception) -> None:
    assert RestartRule(-1).wait_s(error, 0) is None


def test_a_connector_may_have_a_limit_of_its_own_or_none() -> None:
    error, worker = RetriableConnectError("gone"), WorkerSettings({"restarts.max": "1"})
    assert worker.restarts({}).wait_s(error, 1) is None
    for_ever = worker.restarts({"restarts.max": "-1"})
    assert for_ever.wait_s(error, 1000) == 300
    assert for_ever.described(1000, 300.0) == "restart 1000 in 300 s"
    assert worker.restarts({"restarts.max": "0"}).wait_s(error, 0) is None
