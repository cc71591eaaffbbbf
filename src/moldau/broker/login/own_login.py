"""The broker's own login to others: by the mechanism and the login module of their listener."""

from collections.abc import Mapping

from moldau.broker.login.login_settings import OAUTHBEARER, MechanismSettings, read_logins
from moldau.config.broker.startup import Startup
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import SecurityProtocol
from moldau.config.values import config_error
from moldau.net.channel_login import BeginLogin, ChannelLogin
from moldau.runtime.clock import Clock
from moldau.runtime.threads import in_thread
from moldau.security.client_login import begin_by_password
from moldau.security.exchange import ClientExchange
from moldau.security.oauthbearer import OauthbearerClient
from moldau.security.token_endpoint import fetch_token, token_request
from moldau.security.web_tokens import unsecured_token

_SASL = (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)
_TIMEOUT_S = 10.0


def own_login(startup: Startup, clock: Clock, listener_name: str) -> ChannelLogin | None:
    """How this broker logs in to a listener of other brokers; None if that wants no login."""
    protocols = {one.name: one.protocol for one in startup.listeners.bound}
    if protocols.get(listener_name) not in _SASL:
        return None
    settings = ListenerSettings(startup.texts, listener_name)
    wanted = startup.config.sasl.sasl_mechanism_inter_broker_protocol
    mechanism = read_logins(settings).mechanism(wanted)
    if wanted == OAUTHBEARER:
        return ChannelLogin(_by_token(settings, mechanism.options, clock))
    _require_password(settings, mechanism)

    async def begin() -> ClientExchange:
        return begin_by_password(wanted, mechanism.options)

    return ChannelLogin(begin)


def _require_password(settings: ListenerSettings, mechanism: MechanismSettings) -> None:
    if not {"username", "password"} <= mechanism.options.keys():
        where = settings.own_name("sasl.jaas.config", mechanism.name)
        raise config_error(
            f"{where}: brokers log in to each other by {mechanism.name}, so the login module needs "
            "a username and a password"
        )


def _by_token(settings: ListenerSettings, options: Mapping[str, str], clock: Clock) -> BeginLogin:
    url = settings.text("sasl.oauthbearer.token.endpoint.url", OAUTHBEARER)
    if url is None:

        async def begin() -> ClientExchange:
            return OauthbearerClient(unsecured_token(options, now_ms=clock.now_ms()))

        return begin
    request = token_request(url, options)

    async def fetched() -> ClientExchange:
        return OauthbearerClient(await in_thread(lambda: fetch_token(request, _TIMEOUT_S)))

    return fetched
