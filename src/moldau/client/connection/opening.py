"""Opens connections to brokers: every address of a name is tried, versions are agreed on."""

import asyncio
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

import moldau
from moldau.client.beside import call_beside
from moldau.client.connection.addresses import Address
from moldau.client.connection.connection import BrokerConnection
from moldau.client.connection.login_session import NO_END, LoginSession
from moldau.client.connection.refusal import NameUnknown, SecurityRefused, why
from moldau.client.connection.versions import BEFORE_API_VERSIONS, BrokerVersions
from moldau.client.metrics import ConnectionTraffic
from moldau.client.settings import SYSTEMS_OWN, ClientSettings
from moldau.errors import ErrorCode, KafkaError, NetworkException
from moldau.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from moldau.runtime.clock import Clock

if TYPE_CHECKING:
    from moldau.client.connection.authentication import Authentication

_API_VERSIONS_NEWEST = 4
_NOT_TLS = "is it a PLAINTEXT listener? check security.protocol"


@dataclass(slots=True)
class OpenBroker:
    """A connection, and what can be said over it."""

    connection: BrokerConnection
    versions: BrokerVersions
    session: LoginSession = NO_END


class Opener:
    """Opens connections as the settings of a client say, protected if they say so."""

    def __init__(self, settings: ClientSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._tls = _tls_of(settings) if settings.uses_tls else None
        self._authentication = _authentication_of(settings) if settings.uses_sasl else None

    async def open(self, address: Address, traffic: ConnectionTraffic) -> OpenBroker:
        """Connect, agree on versions, and authenticate."""
        broker = await open_broker(address, self._settings, self._tls)
        traffic.connections += 1
        broker.connection.traffic = traffic
        try:
            await self._authenticate(broker)
        except BaseException:
            broker.connection.close()
            raise
        return broker

    async def renew(self, broker: OpenBroker) -> None:
        """Authenticate again, if the broker wants that by now (KIP-368)."""
        if self.is_due(broker):
            await self._authenticate(broker)

    def is_due(self, broker: OpenBroker) -> bool:
        """Whether the broker wants the client to authenticate again."""
        return broker.session.is_due(now_ms=self._clock.monotonic_ms())

    async def _authenticate(self, broker: OpenBroker) -> None:
        if self._authentication is not None:
            broker.session = await self._authentication.perform(
                broker.connection, broker.versions, now_ms=self._clock.monotonic_ms()
            )


# TLS and SASL take a while to load, and most that try something out need neither.
def _tls_of(settings: ClientSettings) -> ssl.SSLContext:
    from moldau.security.tls import client_context  # noqa: PLC0415

    return client_context(settings.tls)


def _authentication_of(settings: ClientSettings) -> "Authentication":
    from moldau.client.connection.authentication import Authentication  # noqa: PLC0415

    return Authentication(settings)


async def open_broker(
    address: Address, settings: ClientSettings, tls: ssl.SSLContext | None = None
) -> OpenBroker:
    """Connect and agree on versions.

    A broker that does not know the version of ApiVersions answers with version 0; one from
    before 0.10 knows none and hangs up, which a broker that is just stopping does as well:
    only two in a row are taken for old age.
    """
    for version in (_API_VERSIONS_NEWEST, 0):
        connection = await _connect(address, settings, tls)
        try:
            return OpenBroker(connection, await _agree(connection, version, settings))
        except BaseException as error:
            connection.close()
            if not isinstance(error, NetworkException) or not error.is_retriable:
                raise
    if settings.uses_sasl:  # which the old ones do not know: something else is wrong
        reason = f"{address} closed the connection: is security.protocol right?"
        raise KafkaError(ErrorCode.NETWORK_EXCEPTION, reason)
    connection = await _connect(address, settings, tls)
    return OpenBroker(connection, BrokerVersions(BEFORE_API_VERSIONS))


async def _agree(
    connection: BrokerConnection, version: int, settings: ClientSettings
) -> BrokerVersions:
    request = ApiVersionsRequest(
        client_software_name="moldau", client_software_version=moldau.__version__
    )
    timeout_s = settings.request_timeout_ms / 1000
    frame = await connection.exchange(request, version, timeout_s=timeout_s)
    answer = frame.decode(ApiVersionsResponse, 0 if frame.error_code else version)
    if answer.error_code == ErrorCode.UNSUPPORTED_VERSION and not answer.api_keys:
        # Before 2.4 the refusal does not say what would have been right.
        frame = await connection.exchange(request, 0, timeout_s=timeout_s)
        answer = frame.decode(ApiVersionsResponse, 0)
    elif answer.error_code not in (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION):
        raise KafkaError(ErrorCode(answer.error_code), f"{connection.name} refused ApiVersions")
    return BrokerVersions.of_answer(answer.api_keys)


Found = tuple[int, tuple[object, ...]]
"""A family of addresses, and an address as sockets of that family take it."""


async def _resolve(address: Address, timeout_s: float) -> list[Found]:
    """All addresses of a name. Name servers may take much longer than one wants to wait."""
    host, port = address
    try:
        async with asyncio.timeout(timeout_s):
            found = await call_beside(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    except TimeoutError:
        reason = f"{address}: the name was not resolved in {timeout_s:g} s"
        raise KafkaError(ErrorCode.NETWORK_EXCEPTION, reason) from None
    except OSError as error:
        # Name servers that cannot answer now may do so later.
        is_final = isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN
        kind = NameUnknown if is_final else NetworkException
        reason = f"{address}: {error.strerror or why(error)}"
        raise kind(ErrorCode.NETWORK_EXCEPTION, reason) from error
    return [(family, place) for family, _, _, _, place in found]


async def _connect(
    address: Address, settings: ClientSettings, tls: ssl.SSLContext | None
) -> BrokerConnection:
    """The first of all addresses that takes the connection; the error names each that did not."""
    tried: list[str] = []
    found = await _resolve(address, settings.request_timeout_ms / 1000)
    timeout_s = settings.socket_connection_setup_timeout_ms / 1000 / len(found)
    for family, place in found:
        try:
            async with asyncio.timeout(timeout_s):
                connected = await _connected_socket(family, place, settings)
                return await _greet(connected, address, settings.client_id, tls)
        except TimeoutError:
            reason = f"no answer in {timeout_s:g} s"
        except OSError as error:
            reason = why(error)
        except NetworkException as error:
            if not error.is_retriable:
                raise
            reason = str(error)
        host = Address(str(place[0]), address.port)
        tried.append(reason if host == address else f"{host}: {reason}")
    raise KafkaError(ErrorCode.NETWORK_EXCEPTION, f"{address}: {'; '.join(dict.fromkeys(tried))}")


async def _greet(
    connected: socket.socket, address: Address, client_id: str, tls: ssl.SSLContext | None
) -> BrokerConnection:
    """Make a connection of a socket, protected if it is to be."""
    loop = asyncio.get_running_loop()
    try:
        _, connection = await loop.create_connection(
            lambda: BrokerConnection(str(address), client_id),
            sock=connected,
            ssl=tls,
            server_hostname=None if tls is None else address.host,
        )
    except ssl.SSLCertVerificationError as error:
        reason = f"{address}: its certificate is not trusted: {error.verify_message}"
        raise SecurityRefused(ErrorCode.NETWORK_EXCEPTION, reason) from error
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError) as error:
        # A broker that is just starting or stopping does that too, so it is not final.
        reason = f"closed the connection during the TLS handshake; {_NOT_TLS}"
        raise NetworkException(ErrorCode.NETWORK_EXCEPTION, reason) from error
    except ssl.SSLError as error:
        reason = f"{address}: the TLS handshake failed: {why(error)}; {_NOT_TLS}"
        raise SecurityRefused(ErrorCode.NETWORK_EXCEPTION, reason) from error
    return connection


async def _connected_socket(
    family: int, place: tuple[object, ...], settings: ClientSettings
) -> socket.socket:
    """A socket whose buffers are as large as settings say: they must say it before it connects."""
    connecting = socket.socket(family, socket.SOCK_STREAM)
    try:
        connecting.setblocking(False)
        for option, size in (
            (socket.SO_SNDBUF, settings.send_buffer_bytes),
            (socket.SO_RCVBUF, settings.receive_buffer_bytes),
        ):
            if size != SYSTEMS_OWN:
                connecting.setsockopt(socket.SOL_SOCKET, option, size)
        await asyncio.get_running_loop().sock_connect(connecting, place)
    except BaseException:
        connecting.close()
        raise
    return connecting
