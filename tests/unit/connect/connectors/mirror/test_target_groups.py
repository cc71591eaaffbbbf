"""Groups at the target are brought forward, unless they are in use, and never back."""

import pytest

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.connect.connectors.mirror.layouts import Checkpoint
from moldau.connect.connectors.mirror.target_groups import TargetGroups
from moldau.errors import ErrorCode
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.connect.connectors.mirror.mirrored import place, write

TOPIC = "targeted"


def offsets(admin: Admin, group: str) -> dict[int, tuple[int, str]]:
    found = admin.list_group_offsets(group)[group]
    return {at.partition: (each.offset, each.metadata) for at, each in found.items()}


def test_only_what_is_further_on_is_written(
    old: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    with Admin(bootstrap_servers=old.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(TOPIC, 3)]).check()
        groups = TargetGroups(admin)
        groups.bring_forward([])
        groups.bring_forward(
            [Checkpoint("g", place(TOPIC, 0), 9, 5, "m"), Checkpoint("g", place(TOPIC, 1), 9, 5)]
        )
        assert offsets(admin, "g") == {0: (5, "m"), 1: (5, "")}
        groups.bring_forward(
            [
                Checkpoint("g", place(TOPIC, 0), 9, 4),
                Checkpoint("g", place(TOPIC, 1), 9, 6),
                Checkpoint("g", place(TOPIC, 2), 0, 0),
            ]
        )
        assert offsets(admin, "g") == {0: (5, "m"), 1: (6, ""), 2: (0, "")}
        # Somebody may join between the look and the commit.
        end = old.control("OffsetCommit", lambda _: Fail(ErrorCode.UNKNOWN_MEMBER_ID))
        groups.bring_forward([Checkpoint("g", place(TOPIC, 0), 9, 9)])
        end()
        assert "group g keeps its offset of targeted-0" in caplog.text
        assert offsets(admin, "g")[0] == (5, "m")


def test_the_beginning_is_where_the_log_begins(old: EmbeddedBroker) -> None:
    write(old, "begun", range(5))
    with Admin(bootstrap_servers=old.bootstrap_servers) as admin:
        admin.delete_records({place("begun"): 3}).check()
        TargetGroups(admin).bring_forward([Checkpoint("b", place("begun"), 7, 0, "m")])
        assert offsets(admin, "b") == {0: (3, "m")}
