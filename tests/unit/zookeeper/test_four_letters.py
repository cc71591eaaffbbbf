"""The four letters that people and monitors send."""

import re

from moldau.zookeeper.four_letters import Figures, answer_word

FIGURES = Figures(31, 5, 1, 100, 3, 2, 4, 6, 70, 80)


def test_each_word_has_its_answer() -> None:
    assert answer_word("ruok", lambda: FIGURES) == "imok"
    assert answer_word("isro", lambda: FIGURES) == "rw"
    assert answer_word("\0\0\0\x2d", lambda: FIGURES) is None


def test_srvr_looks_as_monitors_expect_it() -> None:
    lines = (answer_word("srvr", lambda: FIGURES) or "").splitlines()
    assert lines[0].startswith("Zookeeper version: ")
    assert {"Zxid: 0x1f", "Mode: standalone", "Node count: 5", "Connections: 6"} <= set(lines)


def test_mntr_is_names_tabs_and_values() -> None:
    found = dict(
        line.split("\t") for line in (answer_word("mntr", lambda: FIGURES) or "").splitlines()
    )
    assert found["zk_znode_count"] == "5"
    assert found["zk_server_state"] == "standalone"
    assert found["zk_watch_count"] == "3"


def test_envi_has_a_version_that_clients_can_compare() -> None:
    # kazoo's locking queue asks for it, and works with none.
    head, version = (answer_word("envi", lambda: FIGURES) or "").splitlines()
    assert head == "Environment:"
    assert re.fullmatch(r"zookeeper\.version=\d+\.\d+\.\d+-.*", version)
