"""What logs share has defaults that do nothing."""

from moldau.log.shared import Shared


def test_without_a_source_of_randomness_there_is_no_jitter() -> None:
    shared = Shared()
    assert shared.draw(1000) == 0
    shared.save_recovery_points()
    assert shared.producer_expiration_ms == 86_400_000
