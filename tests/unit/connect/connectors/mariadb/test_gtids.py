"""Sets of transactions' ids."""

import pytest

from moldau.connect.connectors.mariadb.gtids import MariaDbGtids, MySqlGtids, gtids_of
from moldau.connect.errors import ConnectError

A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "4e11fa47-71ca-11e1-9e33-c80aa9429562"


def test_mariadbs_set_has_the_last_of_each_domain() -> None:
    found = gtids_of("1-2-7, 0-1-5").added("0-9-6").added("3-1-1")
    assert isinstance(found, MariaDbGtids)
    assert found.text == "0-9-6,1-2-7,3-1-1"
    assert gtids_of("").text == ""
    assert gtids_of("").added("0-7-1").text == "0-7-1"


def test_mysqls_set_has_ranges() -> None:
    found = gtids_of(f"{B}:1-3:8-10,{A.upper()}:5")
    assert isinstance(found, MySqlGtids)
    assert found.added(f"{A}:6").text == f"{A}:5-6,{B}:1-3:8-10"
    assert found.added(f"{B}:4").added(f"{B}:7").text == f"{A}:5,{B}:1-4:7-10"
    assert gtids_of(f"{A}:1,{A}:2-4").text == f"{A}:1-4"


@pytest.mark.parametrize("text", ["soon", "0-1", f"{A}", f"0-1-5,{A}:1"])
def test_what_is_no_set_is_refused(text: str) -> None:
    with pytest.raises(ConnectError, match="is no set of global transaction ids"):
        gtids_of(text)
