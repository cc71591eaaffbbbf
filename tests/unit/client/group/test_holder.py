"""Who holds partitions."""

from moldau.client.group.group import GroupClient
from moldau.client.group.holder import Holder


def test_a_group_is_the_holder_of_what_it_gives() -> None:
    def take(holder: Holder) -> None:
        """Checked by the type checker."""

    methods = [name for name in vars(Holder) if not name.startswith("_")]
    assert methods
    assert all(hasattr(GroupClient, name) or name == "failed" for name in methods)
    assert take.__annotations__["holder"] is Holder
