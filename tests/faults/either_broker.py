"""A broker that is Apache's at one time and ours at another, on the same data and port."""

import signal
from dataclasses import dataclass

from conformance.apache.broker import ApacheBroker
from conformance.our_broker import OurBroker

APACHE = "apache"
OURS = "moldau"
_ZOOKEEPER_PORT = 0  # It is in the settings.


@dataclass(slots=True)
class EitherBroker(OurBroker):
    """Runs Apache's broker while its `program` is called so."""

    _apache: ApacheBroker | None = None

    @property
    def process_id(self) -> int:
        if self._apache is not None:
            return self._apache.pid
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._apache is not None or self._process is not None

    def start(self) -> None:
        if self.program != APACHE:
            OurBroker.start(self)
            return
        self.directory.mkdir(exist_ok=True)
        apache = ApacheBroker(self.directory, _ZOOKEEPER_PORT, self.settings)
        apache.port = self.port
        self._apache = apache
        apache.start()

    def _end(self, number: signal.Signals) -> int:
        apache, self._apache = self._apache, None
        if apache is None:
            return OurBroker._end(self, number)
        if number is signal.SIGTERM:
            apache.stop()
        else:
            apache.kill()
        return 0
