"""Create, renew, expire and show delegation tokens (kafka-delegation-tokens.sh)."""

import base64
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Option,
    Options,
)
from moldau.client.admin.connected import Connected
from moldau.client.admin.tokens import DelegationToken, TokensArea

OPTIONS = Options(
    "delegation-tokens",
    "Creates, renews, expires and shows delegation tokens.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("create", "Create a token."),
    Option("renew", "Renew a token."),
    Option("expire", "Expire a token."),
    Option("describe", "Print tokens."),
    Option("owner-principal", "The owner of the token: User:alice.", "PRINCIPAL"),
    Option("renewer-principal", "Principals that may renew the token.", "PRINCIPAL"),
    Option(
        "max-life-time-period",
        "The longest time that the token may be valid.",
        "MILLISECONDS",
        kind=int,
    ),
    Option("renew-time-period", "How long from now.", "MILLISECONDS", kind=int),
    Option("expiry-time-period", "How long from now; -1: at once.", "MILLISECONDS", kind=int),
    Option("hmac", "The secret of the token.", "BASE64"),
)
_TITLES = "TOKENID HMAC OWNER REQUESTER RENEWERS ISSUEDATE EXPIRYDATE MAXDATE"
_WIDTHS = (15, 30, 15, 15, 25, 15, 15, 15)


class TokenAdmin(TokensArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    actions = [name for name in _WORK if name in given]
    if len(actions) != 1:
        raise CommandFailed(
            "Command must include exactly one action: --create, --renew, --expire or --describe"
        )
    given.require("bootstrap-server", "command-config")
    work = _WORK[actions[0]]
    run_admin(given, TokenAdmin, lambda admin: work(admin, given))
    return 0


async def _create(admin: TokenAdmin, given: Given) -> None:
    given.require("max-life-time-period")
    renewers, period_ms = given.texts("renewer-principal"), given.number("max-life-time-period")
    if not given.is_json:
        print(
            f"Calling create token operation with renewers :[{', '.join(renewers)}] "
            f", max-life-time-period :{period_ms}"
        )
    token = await admin.create_delegation_token(
        renewers=renewers,
        max_lifetime_ms=period_ms,
        owner=given.text("owner-principal") or None,
    )
    if given.is_json:
        print(json.dumps(as_data(token)))
        return
    print(f"Created delegation token with tokenId : {token.token_id}\n")
    print("\n\n".join(lines([token])))


async def _renew(admin: TokenAdmin, given: Given) -> None:
    given.require("hmac", "renew-time-period")
    await _change(given, admin.renew_delegation_token, "renew", given.number("renew-time-period"))


async def _expire(admin: TokenAdmin, given: Given) -> None:
    given.require("hmac", "expiry-time-period")
    await _change(
        given, admin.expire_delegation_token, "expire", given.number("expiry-time-period")
    )


async def _change(
    given: Given, change: Callable[..., Awaitable[int]], name: str, period_ms: int
) -> None:
    hmac = _hmac(given)
    if not given.is_json:
        print(
            f"Calling {name} token operation with hmac :{given.text('hmac')} "
            f", {name}-time-period :{period_ms}"
        )
    expires_ms = await change(hmac, period_ms=period_ms)
    if given.is_json:
        print(json.dumps({"expires_ms": expires_ms}))
    else:
        print(f"Completed {name} operation. New expiry date : {_date(expires_ms)}")


async def _describe(admin: TokenAdmin, given: Given) -> None:
    owners = given.texts("owner-principal")
    if not given.is_json:
        whose = f"owners: [{', '.join(owners)}]" if owners else "current user."
        print(f"Calling describe token operation for {whose}")
    tokens = await admin.describe_delegation_tokens(owners or None)
    if given.is_json:
        print(json.dumps([as_data(each) for each in tokens]))
        return
    print(f"Total number of tokens : {len(tokens)}")
    print("\n\n".join(lines(tokens)))


def lines(tokens: Iterable[DelegationToken]) -> list[str]:
    """The table of tokens."""
    rows = [
        [
            token.token_id,
            base64.b64encode(token.hmac).decode(),
            token.owner,
            token.requester,
            f"[{', '.join(token.renewers)}]",
            _date(token.issued_ms),
            _date(token.expires_ms),
            _date(token.max_ms),
        ]
        for token in tokens
    ]
    return [
        " ".join(f"{cell:{width}}" for cell, width in zip(row, _WIDTHS, strict=True))
        for row in [_TITLES.split(), *rows]
    ]


def as_data(token: DelegationToken) -> dict[str, object]:
    """A token for `--format json`."""
    return {
        "token_id": token.token_id,
        "hmac": base64.b64encode(token.hmac).decode(),
        "owner": token.owner,
        "requester": token.requester,
        "renewers": list(token.renewers),
        "issued_ms": token.issued_ms,
        "expires_ms": token.expires_ms,
        "max_ms": token.max_ms,
    }


def _hmac(given: Given) -> bytes:
    try:
        return base64.b64decode(given.text("hmac"), validate=True)
    except ValueError:
        raise CommandFailed("--hmac is expected in base64") from None


def _date(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone()
    return moment.strftime("%Y-%m-%dT%H:%M")


_WORK: dict[str, Callable[[TokenAdmin, Given], Awaitable[None]]] = {
    "create": _create,
    "renew": _renew,
    "expire": _expire,
    "describe": _describe,
}
