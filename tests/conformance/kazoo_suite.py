"""A pytest plugin: kazoo's own tests find our tree where they would start ZooKeeper.

    pytest -p conformance.kazoo_suite --pyargs kazoo.tests.test_lock

Their harness runs Java servers, and makes certificates for them; both are replaced, nothing else.
"""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from conformance.our_tree import OurTree

os.environ.setdefault("ZOOKEEPER_VERSION", "3.9.3")
os.environ.setdefault("ZOOKEEPER_CLUSTER_SIZE", "1")


class Server(OurTree):
    """Our tree under the names that their tests have for a server."""

    def __init__(self) -> None:
        directory = tempfile.mkdtemp(prefix="moldau-kazoo-")
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        super().__init__(Path(directory) / "tree")
        self.running = False

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def client_port(self) -> int:
        return self.port

    def run(self) -> None:
        if not self.running:
            self.start()
        self.running = True

    def stop(self) -> None:
        if self.running:
            super().stop()
        self.running = False


class ZookeeperCluster:
    """One server, whatever is asked for."""

    def __init__(self, **_options: object) -> None:
        self._server = Server()

    def __getitem__(self, _number: int) -> Server:
        return self._server

    def __iter__(self) -> Iterator[Server]:
        return iter([self._server])

    def start(self) -> None:
        self._server.run()

    def stop(self) -> None:
        self._server.stop()

    # Their tests start it anew where it does not run: what it has is in their own chroot.
    terminate = reset = stop

    def get_logs(self) -> list[str]:
        return []


common = ModuleType("kazoo.testing.common")
common.ZookeeperCluster = ZookeeperCluster  # type: ignore[attr-defined]
sys.modules["kazoo.testing.common"] = common
