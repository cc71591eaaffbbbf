"""Options of the console about who may do what: rules, a proxy that vouches, OpenID Connect."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moldau.cli.terminal.failure import CommandFailed

if TYPE_CHECKING:
    from moldau.console.login.oidc import OidcOptions
    from moldau.console.rules import ConsoleRules
    from moldau.web.proxies import TrustedProxy


def add_login_options(parser: argparse.ArgumentParser) -> None:
    """Who may log in, and with which rights."""
    parser.add_argument(
        "--rules", metavar="FILE", help="roles by topics, and what is hidden of records, in TOML"
    )
    parser.add_argument(
        "--kafka-logins",
        action="store_true",
        help="users log in with names and passwords of Kafka, whose access rules decide",
    )
    parser.add_argument(
        "--trusted-proxy",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="an address, or a network as 10.0.0.0/24, of a proxy that says who asks",
    )
    parser.add_argument(
        "--proxy-header",
        metavar="NAME",
        default="X-Forwarded-User",
        help="the header with the user's name; default: %(default)s",
    )
    parser.add_argument(
        "--proxy-groups-header",
        metavar="NAME",
        default="X-Forwarded-Groups",
        help="the header with the groups, with commas between; default: %(default)s",
    )
    parser.add_argument("--oidc", metavar="ISSUER", help="users log in with this OpenID provider")
    parser.add_argument(
        "--oidc-client", metavar="ID", help="the console's client id at the provider"
    )
    parser.add_argument(
        "--oidc-secret-file", metavar="FILE", help="the client's secret, if it has one"
    )
    parser.add_argument(
        "--oidc-groups-claim",
        metavar="NAME",
        default="groups",
        help="the claim with the groups; default: %(default)s",
    )
    parser.add_argument(
        "--url", metavar="URL", help="with --oidc: the console's address, as browsers see it"
    )


def rules_of(options: argparse.Namespace) -> "ConsoleRules":
    """The rules of the file, or none."""
    from moldau.console.rules import ConsoleRules, RulesError, read_rules  # noqa: PLC0415

    if options.rules is None:
        return ConsoleRules()
    try:
        return read_rules(_read(options.rules))
    except RulesError as error:
        raise CommandFailed(f"{options.rules}: {error}") from None


def proxy_of(options: argparse.Namespace) -> "TrustedProxy | None":
    """The proxy whose word is taken."""
    from moldau.web.proxies import TrustedProxy  # noqa: PLC0415

    if not options.trusted_proxy:
        return None
    try:
        return TrustedProxy(
            options.trusted_proxy,
            user_header=options.proxy_header,
            groups_header=options.proxy_groups_header,
        )
    except ValueError as error:
        raise CommandFailed(f"--trusted-proxy: {error}") from None


def oidc_of(options: argparse.Namespace) -> "OidcOptions | None":
    """The provider that logs users in."""
    if options.oidc is None:
        if options.oidc_client or options.oidc_secret_file or options.url:
            raise CommandFailed("--oidc-client, --oidc-secret-file and --url go with --oidc ISSUER")
        return None
    if not options.oidc_client or not options.url:
        raise CommandFailed("--oidc needs --oidc-client ID and --url, where browsers find this")
    from moldau.console.login.oidc import OidcOptions  # noqa: PLC0415
    from moldau.errors import KafkaError  # noqa: PLC0415
    from moldau.security.web_keys import require_cryptography  # noqa: PLC0415

    secret = None
    if options.oidc_secret_file is not None:
        secret = _read(options.oidc_secret_file).strip()
    try:
        require_cryptography("--oidc")
        return OidcOptions(
            options.oidc, options.oidc_client, options.url, secret, options.oidc_groups_claim
        )
    except (ValueError, KafkaError) as error:
        raise CommandFailed(f"--oidc: {error}") from None


def kafka_logins_of(
    options: argparse.Namespace, clusters: Mapping[str, Mapping[str, object]]
) -> bool:
    """Whether users log in to the clusters themselves, which have to take passwords."""
    from moldau.console.login.kafka import MECHANISMS, takes_passwords  # noqa: PLC0415

    if not options.kafka_logins:
        return False
    if options.users or options.oidc or options.trusted_proxy:
        raise CommandFailed("--kafka-logins goes with no other way to log in")
    if options.audit_topic:
        raise CommandFailed("--kafka-logins has no login of its own to write an --audit-topic by")
    for name, settings in clusters.items():
        if not takes_passwords(settings):
            raise CommandFailed(
                f"--kafka-logins: cluster {name} needs security.protocol SASL_SSL or "
                f"SASL_PLAINTEXT, and sasl.mechanism {', '.join(MECHANISMS)}: --command-config FILE"
            )
    return True


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CommandFailed(f"{path}: {reason}") from error
