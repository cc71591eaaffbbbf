"""Logins with a name and a password of Kafka: the cluster says who is let in, and to what.

A user who logs in has connections of their own. So the cluster's access rules decide what a user
sees and does, and no second book of rules is needed.
"""

import asyncio
import hmac
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from moldau.console.cluster import ConsoleCluster
from moldau.console.sampling import Sampler
from moldau.errors import KafkaError
from moldau.web.errors import WebError
from moldau.web.users import User, basic_login

_log = logging.getLogger(__name__)

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_VERIFIED_S = 300.0
_IDLE_S = 3600.0
_USERS_MAX = 100
_VERIFIED_AT_ONCE = 8
_UNAVAILABLE = 503
_PEPPER_BYTES = 32
Settings = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class KafkaUser(User):
    """Somebody whom the cluster knows, with connections that are theirs alone."""

    clusters: Mapping[str, ConsoleCluster] = field(default_factory=dict, compare=False)
    samplers: Mapping[str, Sampler] = field(default_factory=dict, compare=False)


@dataclass(slots=True)
class _Login:
    user: KafkaUser
    verified_s: float
    used_s: float
    work: "list[asyncio.Task[None]]" = field(default_factory=list)

    @property
    def is_watched(self) -> bool:
        """Whether a tab has a stream open."""
        return any(each.watchers for each in self.user.samplers.values())

    async def end(self) -> None:
        """Hang up, and let go of all tabs."""
        for sampler in self.user.samplers.values():
            await sampler.close()
        for task in self.work:
            task.cancel()
        for cluster in self.user.clusters.values():
            await cluster.close()


def takes_passwords(settings: Settings) -> bool:
    """Whether a cluster of these settings can be logged in to with a name and a password."""
    protocol = str(settings.get("security.protocol", "")).upper()
    mechanism = str(settings.get("sasl.mechanism", "")).upper()
    return protocol.startswith("SASL") and mechanism in MECHANISMS


class KafkaLogins:
    """Who is logged in. A password is verified by the cluster, and again after five minutes."""

    def __init__(
        self, clusters: Mapping[str, Settings], now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.clusters = clusters
        self.tasks: asyncio.TaskGroup | None = None
        """What samples numbers for users; without it none are sampled."""
        self._now_s = now_s
        self._pepper = os.urandom(_PEPPER_BYTES)
        self._known: dict[bytes, _Login] = {}
        self._verifying = asyncio.Semaphore(_VERIFIED_AT_ONCE)
        self._locks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    async def authenticate(self, header: str) -> User | None:
        """Who sent this `Authorization`; None if no cluster lets them in."""
        sent = basic_login(header)
        if sent is None or not all(sent):
            return None
        mark = hmac.digest(self._pepper, header.encode(), "sha256")
        now_s = self._now_s()
        known = self._known.get(mark)
        if known is None or now_s - known.verified_s > _VERIFIED_S:
            lock = self._locks.setdefault(mark, asyncio.Lock())
            async with lock, self._verifying:  # a page asks for several things at once
                known = await self._verify(mark, *sent)
        if known is not None:
            known.used_s = now_s
        return None if known is None else known.user

    async def close(self) -> None:
        """Log everybody out."""
        while self._known:
            await self._known.pop(next(iter(self._known))).end()

    async def _verify(self, mark: bytes, name: str, password: str) -> _Login | None:
        now_s = self._now_s()
        known = self._known.get(mark)
        if known is not None and now_s - known.verified_s <= _VERIFIED_S:
            return known
        settings = {each: _as(own, name, password) for each, own in self.clusters.items()}
        if not await _is_let_in(settings, is_known=known is not None):
            if known is not None:
                await self._known.pop(mark).end()
            return None
        if known is None:
            await self._make_room(now_s)
            known = self._known[mark] = self._login(name, settings, now_s)
        known.verified_s = now_s
        return known

    def _login(self, name: str, settings: Mapping[str, Settings], now_s: float) -> _Login:
        clusters = {each: ConsoleCluster(each, own) for each, own in settings.items()}
        samplers = {each: Sampler(cluster) for each, cluster in clusters.items()}
        user = KafkaUser(name, clusters=clusters, samplers=samplers)
        tasks = self.tasks
        work = (
            [] if tasks is None else [tasks.create_task(each.run()) for each in samplers.values()]
        )
        return _Login(user, now_s, now_s, work)

    async def _make_room(self, now_s: float) -> None:
        for mark, login in list(self._known.items()):
            if now_s - login.used_s > _IDLE_S and not login.is_watched:
                await self._known.pop(mark).end()
        while len(self._known) >= _USERS_MAX:
            oldest = min(self._known, key=lambda each: self._known[each].used_s)
            await self._known.pop(oldest).end()


def _as(settings: Settings, name: str, password: str) -> dict[str, object]:
    own = {each: value for each, value in settings.items() if each != "sasl.jaas.config"}
    return {**own, "sasl.username": name, "sasl.password": password}


async def _is_let_in(settings: Mapping[str, Settings], *, is_known: bool) -> bool:
    """Whether one of the clusters knows this name and password."""
    silent: list[KafkaError] = []
    for name, own in settings.items():
        cluster = ConsoleCluster(name, own)
        try:
            await cluster.admin()
        except KafkaError as error:
            _log.info("cluster %s refuses this login: %s", name, error.code.name)
            if error.is_retriable:
                silent.append(error)
        else:
            return True
        finally:
            await cluster.close()
    if silent and not is_known:
        raise WebError(_UNAVAILABLE, f"logins cannot be checked: {silent[0].message or silent[0]}")
    return bool(silent)
