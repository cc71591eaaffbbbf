"""A few faults of each kind; all of them are played by `bin/faults`."""

import pytest

from conformance.apache.marks import needs_apache
from faults.catalogue import FAULTS
from faults.fault import played
from faults.run import told

pytestmark = needs_apache("kafka-3.9")

# A leader without ZooKeeper, requests that come late, and directories that fail.
SELECTED = ("F14", "F28", "F37")


@pytest.mark.parametrize("name", SELECTED)
def test_the_invariants_hold_whatever_fails(name: str) -> None:
    result = played(FAULTS[name])
    assert result.violations == [], told(result)
