"""The life of an admin client: what one has beside the areas that it administers."""

from collections.abc import Mapping
from typing import Unpack

from moldau.client.admin.area import AdminArea
from moldau.client.admin.routing import Router
from moldau.client.connection.cluster import Cluster
from moldau.client.lifetime import Managed
from moldau.client.metrics import Listener, Metrics, Reporter
from moldau.client.options import AdminOptions
from moldau.client.settings import AdminSettings, read_settings


class Connected(Managed, AdminArea):
    """An admin client without an area.

    `Admin` adds all of them. A program that is to start at once adds those that it needs:

        class TopicAdmin(Topics, Connected): ...
    """

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        on_metrics: Listener | None = None,
        **options: Unpack[AdminOptions],
    ) -> None:
        super().__init__()
        self._on_metrics = on_metrics
        self._settings = read_settings(AdminSettings, settings, options)

    async def start(self) -> None:
        """Connect; a broker that is not up yet is waited for, `default.api.timeout.ms` long."""
        cluster = Cluster(self._settings, creates_topics=False)
        await self._lifetime.begin(cluster, None if self._on_metrics is None else self._report)
        self._routes = Router(cluster)

    async def _report(self) -> None:
        assert self._on_metrics is not None, "somebody listens"
        interval_ms = self._settings.metrics_sample_window_ms
        await Reporter(self.metrics, self._on_metrics, interval_ms).run()

    def metrics(self) -> Metrics:
        """What was asked so far, by Kafka's names."""
        self._lifetime.check()
        return self._lifetime.cluster.traffic.metrics()

    async def close(self) -> None:
        """Hang up."""
        if self._lifetime.close():
            try:
                await self._lifetime.stop_working()
            finally:
                self._lifetime.cluster.close()
