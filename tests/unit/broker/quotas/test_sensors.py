"""Sensors: made on first use, forgotten when they are idle, and never too many."""

from moldau.broker.quotas.precedence import ABSENT, HeldQuota
from moldau.broker.quotas.rates import Sensor, Windows
from moldau.broker.quotas.sensors import IDLE_MS, SENSORS_MAX, Sensors


class Kept:
    """Sensors with a count of how often some were forgotten."""

    def __init__(self) -> None:
        self.forgotten = 0
        self.sensors: Sensors[Sensor] = Sensors(self._make, self._forgot)

    def _make(self, quota: float, now_ms: int) -> Sensor:
        return Sensor(quota, Windows(), now_ms)

    def _forgot(self) -> None:
        self.forgotten += 1

    def of(self, name: str, now_ms: int = 0, quota: float = 5) -> Sensor:
        return self.sensors.of(HeldQuota(quota, (name, ABSENT)), now_ms)


def test_the_same_holder_has_the_same_sensor() -> None:
    kept = Kept()
    assert kept.of("a") is kept.of("a")
    assert kept.of("a") is not kept.of("b")
    assert len(kept.sensors) == 2


def test_what_was_recorded_stays_when_the_quota_changes() -> None:
    kept = Kept()
    kept.of("a").record(7, 0)
    changed = kept.of("a", quota=9)
    assert (changed.quota, changed.rate.per_second(0)) == (9, 0.7)


def test_one_that_was_idle_for_an_hour_is_forgotten() -> None:
    kept = Kept()
    first = kept.of("a")
    kept.of("b", 1)
    kept.of("new", IDLE_MS)
    assert kept.forgotten == 1
    assert [holder[0] for holder, _ in kept.sensors.used(IDLE_MS)] == ["new", "b"]
    assert kept.of("a", IDLE_MS) is not first


def test_one_that_is_used_is_not_forgotten() -> None:
    kept = Kept()
    first = kept.of("a")
    first.record(1, IDLE_MS - 1)
    kept.of("new", IDLE_MS)
    assert kept.forgotten == 0
    assert kept.of("a", IDLE_MS) is first


def test_a_client_that_always_changes_its_id_fills_no_memory() -> None:
    kept = Kept()
    for number in range(SENSORS_MAX + 1):
        kept.of(str(number), number)
    assert len(kept.sensors) == SENSORS_MAX * 9 // 10 + 1
    assert kept.forgotten == 1
    names = {holder[0] for holder, _ in kept.sensors.used(SENSORS_MAX)}
    assert str(SENSORS_MAX) in names
    assert "0" not in names


def test_very_long_names_that_begin_alike_share_a_sensor() -> None:
    kept = Kept()
    assert kept.of("x" * 30_000 + "1") is kept.of("x" * 30_000 + "2")
    (holder, _) = next(kept.sensors.used(0))
    assert len(str(holder[0])) < 300
