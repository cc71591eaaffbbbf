"""Puts together how the clients of a broker log in, from its settings."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from moldau.broker.broker import Broker
from moldau.broker.login.bearer_settings import read_bearer_settings
from moldau.broker.login.bearer_tokens import validator
from moldau.broker.login.credentials import ScramCredentials, find_login_key
from moldau.broker.login.failure_delays import FailureDelays
from moldau.broker.login.gate import Gatekeeper
from moldau.broker.login.identity import Mechanism
from moldau.broker.login.key_set import KeySet
from moldau.broker.login.login_counts import LoginCounts
from moldau.broker.login.login_settings import (
    OAUTHBEARER,
    PLAIN,
    LoginSettings,
    MechanismSettings,
    read_logins,
)
from moldau.broker.login.oauthbearer_login import OauthbearerMechanism
from moldau.broker.login.plain_login import PlainMechanism
from moldau.broker.login.scram_login import ScramMechanism
from moldau.config.broker.startup import Startup
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import SecurityProtocol
from moldau.coordination.tree import Tree
from moldau.runtime.random import Random

_log = logging.getLogger(__name__)

_SASL = (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


@dataclass(slots=True)
class Logins:
    """How clients log in, by listener."""

    broker: Broker
    gatekeepers: dict[str, Gatekeeper] = field(default_factory=dict)
    key_sets: list[KeySet] = field(default_factory=list)

    async def run(self) -> None:
        """Keep keys for bearer tokens and delegation tokens up to date, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.broker.tokens.clean(self._is_controller))
            for keys in self.key_sets:
                tasks.create_task(keys.run())

    def _is_controller(self) -> bool:
        return self.broker.controller.is_controller


def login_settings(startup: Startup) -> Iterator[LoginSettings]:
    """Those of each listener with SASL; InvalidConfig for what cannot be."""
    for listener in startup.listeners.bound:
        if listener.protocol in _SASL:
            settings = ListenerSettings(startup.texts, listener.name)
            logins = read_logins(settings)
            for mechanism in logins.mechanisms:
                if mechanism.name == OAUTHBEARER:
                    read_bearer_settings(settings, mechanism.options)
            yield logins


async def make_logins(broker: Broker, startup: Startup, tree: Tree, random: Random) -> Logins:
    """Learn what is needed to know clients, and make the gates of all SASL listeners."""
    found = tuple(login_settings(startup))
    maker = _Maker(broker, startup, random)
    if any(one.name.startswith("SCRAM") for logins in found for one in logins.mechanisms):
        await broker.users.load()
        maker.key = await find_login_key(tree, random.uuid() + random.uuid())
    delays = FailureDelays(broker.config.network.connection_failed_authentication_delay_ms)
    for logins in found:
        _warn_of_clear_text(startup, logins)
        maker.made.gatekeepers[logins.listener] = Gatekeeper(
            [await maker.mechanism(logins.listener, one) for one in logins.mechanisms],
            logins.frame_size_max,
            delays,
            LoginCounts(broker.metrics, logins.listener),
            broker.clock,
        )
    return maker.made


class _Maker:
    def __init__(self, broker: Broker, startup: Startup, random: Random) -> None:
        self.made = Logins(broker)
        self.key = b""
        self._broker = broker
        self._startup = startup
        self._random = random

    async def mechanism(self, listener: str, settings: MechanismSettings) -> Mechanism:
        """One that clients of a listener may use."""
        renewal_ms = settings.reauthentication_ms
        if settings.name == PLAIN:
            return PlainMechanism(settings.passwords, reauthentication_ms=renewal_ms)
        if settings.name == OAUTHBEARER:
            return await self._oauthbearer(listener, settings)
        credentials = ScramCredentials(self._broker.users, self._broker.tokens, self.key)
        return ScramMechanism(
            settings.name,
            credentials.find,
            new_nonce=self._new_nonce,
            reauthentication_ms=renewal_ms,
        )

    def _new_nonce(self) -> str:
        """Another for every exchange, or who has seen one could repeat it."""
        return (self._random.uuid() + self._random.uuid()).hex()

    async def _oauthbearer(self, listener: str, settings: MechanismSettings) -> Mechanism:
        bearer = read_bearer_settings(
            ListenerSettings(self._startup.texts, listener), settings.options
        )
        keys = None
        if bearer.keys is None:
            _log.warning(
                "Listener %s accepts tokens without a signature: "
                "moldau.oauthbearer.allow.unsecured.tokens is for tests",
                listener,
            )
        else:
            keys = KeySet(bearer.keys)
            await keys.load()
            self.made.key_sets.append(keys)
        return OauthbearerMechanism(
            validator(bearer.rules, keys, self._broker.clock),
            reauthentication_ms=settings.reauthentication_ms,
        )


def _warn_of_clear_text(startup: Startup, logins: LoginSettings) -> None:
    protocols: Mapping[str, SecurityProtocol] = {
        one.name: one.protocol for one in startup.listeners.bound
    }
    if protocols[logins.listener] is SecurityProtocol.SASL_PLAINTEXT:
        for one in logins.mechanisms:
            if one.name in (PLAIN, OAUTHBEARER):
                _log.warning(
                    "Listener %s: %s sends credentials without encryption; use SASL_SSL",
                    logins.listener,
                    one.name,
                )
