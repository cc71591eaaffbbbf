"""Quotas of users and their clients."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.quotas import CLIENT_ID, USER, QuotaEntity, QuotaFilter, QuotaMatch
from moldau.errors import InvalidRequest

ANNA: QuotaEntity = ((USER, "anna"),)
HER_CLIENT: QuotaEntity = ((USER, "anna"), (CLIENT_ID, "c"))
EVERYBODY: QuotaEntity = ((USER, None),)


async def test_quotas_are_set_shown_and_taken_away(admin: Admin) -> None:
    rates: dict[str, float | None] = {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}
    changes: dict[QuotaEntity, dict[str, float | None]]
    changes = {ANNA: rates, EVERYBODY: {"request_percentage": 50.0}}
    (await admin.alter_client_quotas(changes)).check()
    assert await admin.describe_client_quotas() == changes
    exactly = QuotaFilter(USER, QuotaMatch.EXACT, "anna")
    assert await admin.describe_client_quotas([exactly]) == {ANNA: rates}
    default = QuotaFilter(USER, QuotaMatch.DEFAULT)
    assert list(await admin.describe_client_quotas([default])) == [EVERYBODY]
    (await admin.alter_client_quotas({ANNA: {"producer_byte_rate": None}})).check()
    assert (await admin.describe_client_quotas([exactly]))[ANNA] == {"consumer_byte_rate": 6.0}


async def test_an_entity_may_be_written_in_any_order(admin: Admin) -> None:
    reversed_parts = (HER_CLIENT[1], HER_CLIENT[0])
    outcomes = await admin.alter_client_quotas({reversed_parts: {"producer_byte_rate": 5.0}})
    assert outcomes[HER_CLIENT] is None
    some = [QuotaFilter(USER)]
    assert list(await admin.describe_client_quotas(some)) == [HER_CLIENT]
    assert await admin.describe_client_quotas(some, strict=True) == {}


async def test_each_entity_has_its_own_outcome(admin: Admin) -> None:
    outcomes = await admin.alter_client_quotas(
        {ANNA: {"nonsense": 1.0}, EVERYBODY: {"producer_byte_rate": 5.0}}, validate_only=True
    )
    assert outcomes[EVERYBODY] is None
    with pytest.raises(InvalidRequest):
        outcomes[ANNA]
    assert await admin.describe_client_quotas() == {}
