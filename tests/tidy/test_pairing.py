"""The pairing rules find a module without a test, and a test without a module."""

from pathlib import Path

from tidy import pairing
from tidy.plant import places, plant


def test_a_module_without_its_test_file_is_found(tmp_path: Path) -> None:
    files = {
        "src/moldau/model.py": "",
        "src/moldau/log/log.py": "",
        "src/moldau/log/index.py": "",
        "tests/unit/test_model.py": "",
        "tests/unit/log/test_log.py": "",
        "tests/unit/test_index.py": "",
    }
    root = plant(tmp_path, files)
    assert places(pairing.modules_have_tests, root) == ["src/moldau/log/index.py"]
    assert places(pairing.tests_have_modules, root) == ["tests/unit/test_index.py"]


def test_packages_and_message_declarations_need_no_file_of_their_own(tmp_path: Path) -> None:
    files = {
        "src/moldau/log/__init__.py": "",
        "src/moldau/protocol/messages/fetch.py": "",
        "src/moldau/config/broker/quotas.py": "",
        "tests/unit/config/test_broker.py": "",
        "tests/unit/protocol/messages/test_round_trips.py": "",
    }
    root = plant(tmp_path, files)
    assert places(pairing.modules_have_tests, root) == []
    assert places(pairing.tests_have_modules, root) == []


def test_one_module_may_have_several_test_files(tmp_path: Path) -> None:
    files = {
        "src/moldau/log/log.py": "",
        "tests/unit/log/test_log_recovery.py": "",
        "tests/unit/log/test_logs.py": "",
    }
    root = plant(tmp_path, files)
    assert places(pairing.tests_have_modules, root) == ["tests/unit/log/test_logs.py"]
