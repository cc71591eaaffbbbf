"""Refusals have Confluent's codes, whose first digits are the HTTP status."""

import pytest

from moldau.registry import failures
from moldau.registry.failures import InvalidSchema, NotLeader, RegistryRefused


@pytest.mark.parametrize(
    ("refusal", "status", "code"),
    [
        (failures.subject_not_found("a"), 404, 40401),
        (failures.version_not_found(1), 404, 40402),
        (failures.schema_not_found(1), 404, 40403),
        (failures.subject_soft_deleted("a"), 404, 40404),
        (failures.subject_not_soft_deleted("a"), 404, 40405),
        (failures.version_soft_deleted("a", 1), 404, 40406),
        (failures.version_not_soft_deleted("a", 1), 404, 40407),
        (failures.no_config("a"), 404, 40408),
        (failures.no_mode("a"), 404, 40409),
        (InvalidSchema("no"), 422, 42201),
        (failures.invalid_version("x"), 422, 42202),
        (failures.not_permitted("no"), 422, 42205),
        (NotLeader("none"), 500, 50004),
        (RegistryRefused(422, "no"), 422, 422),
    ],
)
def test_codes_and_statuses(refusal: RegistryRefused, status: int, code: int) -> None:
    assert (refusal.status, refusal.code) == (status, code)
    assert refusal.body() == {"error_code": code, "message": refusal.message}
