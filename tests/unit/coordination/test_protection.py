"""Who may see and change the nodes of a cluster."""

import pytest

from moldau.coordination.protection import Access, Protection, access_of


@pytest.mark.parametrize(
    ("path", "access"),
    [
        ("/brokers/ids/1", Access.READABLE),
        ("/config/topics/t", Access.READABLE),
        ("/config/users/anna", Access.SECRET),
        ("/config/brokers", Access.SECRET),
        ("/delegation_token/tokens/t", Access.SECRET),
        ("/delegation_token", Access.READABLE),
        ("/consumers", Access.OPEN),
    ],
)
def test_passwords_and_tokens_are_for_brokers_alone(path: str, access: Access) -> None:
    assert access_of(path, Protection(has_acls=True)) is access
    assert access_of(path, Protection()) is Access.OPEN
