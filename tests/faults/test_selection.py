"""A few faults of each kind; all of them are played by `bin/faults`."""

from dataclasses import replace

import pytest

from conformance.apache.marks import needs_apache
from faults.catalogue import FAULTS
from faults.fault import played
from faults.run import told

pytestmark = needs_apache("kafka-3.9")

# A leader without ZooKeeper, requests that come late, and directories that fail, these behind
# TLS, logins, access rules and quotas.
SELECTED = (("F14", False), ("F28", False), ("F37", True))


@pytest.mark.parametrize(("name", "is_guarded"), SELECTED)
def test_the_invariants_hold_whatever_fails(name: str, *, is_guarded: bool) -> None:
    result = played(replace(FAULTS[name], is_guarded=is_guarded))
    assert result.violations == [], told(result)
