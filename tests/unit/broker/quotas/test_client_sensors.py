"""What a connection keeps of its quotas: as long as they are the same, and not longer."""

from types import ModuleType
from typing import Any

import pytest

from moldau.broker.context import Client
from moldau.broker.quotas import client_sensors as source
from moldau.broker.quotas.enforcement import Enforcement
from moldau.broker.quotas.rates import Windows
from moldau.config.broker.quotas import QuotaConfig
from moldau.coordination.layout.configs import ConfigEntity
from moldau.runtime import native
from moldau.security.principals import Principal
from unit.broker.world import SettableClock

COMPILED = native.kernel(
    "moldau.broker.quotas._client_sensors", "moldau.broker.quotas.client_sensors"
)
SENSOR: Any = native.kernel("moldau.broker.quotas._rates", "moldau.broker.quotas.rates").Sensor
EVERY_SECOND = Windows()
GENERATION = object()


@pytest.fixture(params=[source, COMPILED], ids=["source", "compiled"])
def module(request: pytest.FixtureRequest) -> ModuleType:
    found: ModuleType = request.param
    return found


def client(user: str = "anna") -> Client:
    return Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092, principal=Principal("User", user))


def quotas(**texts: str) -> Enforcement:
    made = Enforcement(QuotaConfig(), SettableClock())
    made.apply(ConfigEntity("users", "anna"), texts)
    return made


def sensors(
    module: ModuleType, *kinds: str, quota: float = 100, windows: Windows = EVERY_SECOND
) -> Any:
    found = [SENSOR(quota, windows, 0) if kind in kinds else None for kind in KINDS]
    return module.ClientSensors(client().principal, "c", windows, tuple(found), GENERATION)


KINDS = ("produce", "fetch", "request")


def test_what_nothing_limits_does_not_wait(module: ModuleType) -> None:
    free = sensors(module)
    assert free.produced(10**9, 0) == free.fetched(10**9, 0) == 0
    assert free.spent(10**12, 0, 7) == 7
    assert free.fetch_bytes_max() == 2**31 - 1


def test_each_use_is_held_against_its_own_quota(module: ModuleType) -> None:
    assert sensors(module, "fetch", "request").produced(2000, 0) == 0
    assert sensors(module, "produce").produced(2000, 0) == 10_000
    assert sensors(module, "produce", "request").fetched(2000, 0) == 0
    assert sensors(module, "produce", "fetch").spent(10**12, 0, 0) == 0


def test_time_is_percent_of_a_second_and_waits_for_no_longer_than_a_sample(
    module: ModuleType,
) -> None:
    one = sensors(module, "request", quota=10)  # a tenth of the time, over ten seconds
    assert one.spent(1_000_000_000, 0, 0) == 0
    assert one.spent(50_000_000, 0, 0) == 500
    assert one.spent(500_000_000, 0, 0) == 1000


def test_the_longer_wait_counts(module: ModuleType) -> None:
    one = sensors(module, "request", quota=10)
    one.spent(1_000_000_000, 0, 0)
    assert one.spent(50_000_000, 0, 499) == 500
    assert one.spent(0, 0, 501) == 501


def test_what_is_not_sent_is_taken_back(module: ModuleType) -> None:
    one = sensors(module, "fetch")
    assert one.fetched(1000, 0) == 0
    assert [one.fetched(500, 0) for _ in range(3)] == [5000] * 3
    assert one.fetched(0, 0) == 0


def test_what_is_larger_than_can_ever_pass_does_so_after_a_silence(module: ModuleType) -> None:
    one = sensors(module, "fetch")
    assert one.fetched(5000, 0) == 0
    assert one.fetched(1, 0) > 0
    assert one.fetched(5000, 11_000) == 0


def test_an_answer_has_ten_seconds_worth_at_most(module: ModuleType) -> None:
    assert sensors(module, "fetch").fetch_bytes_max() == 1000
    assert sensors(module, "fetch", windows=Windows(3, 500)).fetch_bytes_max() == 100
    assert sensors(module, "fetch", quota=1e12).fetch_bytes_max() == 2**31 - 1


def test_a_connection_keeps_its_sensors(module: ModuleType) -> None:
    limits, anna = quotas(producer_byte_rate="100"), client()
    found = module.sensors_of(limits, anna, "c")
    assert found.produce is not None
    assert module.sensors_of(limits, anna, "c") is found


def test_they_are_found_anew_after_whatever_decides_them(module: ModuleType) -> None:
    limits, anna = quotas(producer_byte_rate="100"), client()
    first = module.sensors_of(limits, anna, "c")
    assert module.sensors_of(limits, anna, "other") is not first
    first = module.sensors_of(limits, anna, "c")
    anna.principal = Principal("User", "bert")  # another login
    assert module.sensors_of(limits, anna, "c").produce is None
    anna.principal = Principal("User", "anna")
    first = module.sensors_of(limits, anna, "c")
    limits.apply(ConfigEntity("users", "anna"), {})
    assert module.sensors_of(limits, anna, "c").produce is None


def test_who_waits_is_muted_and_nobody_else(module: ModuleType) -> None:
    anna = client()
    times: list[int] = []
    anna.mute = times.append
    one = sensors(module, "request", quota=10)
    assert module.charge(anna, one, 1_000_000_000, 0, 0) == 0
    assert times == []
    assert module.charge(anna, one, 50_000_000, 0, 20) == 500
    assert module.charge(anna, sensors(module), 10**12, 0, 30) == 30
    assert times == [500, 30]
