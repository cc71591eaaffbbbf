"""Settings of SASL authentication."""

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    boolean,
    class_name,
    double,
    integer,
    listing,
    long,
    password,
    short,
    string,
)
from moldau.config.values import Password


class SaslConfig(Area):
    """Mechanisms and logins.

    `listener.name.<name>.<mechanism>.` before a name sets it for that one alone.
    """

    sasl_enabled_mechanisms: tuple[str, ...] = listing(
        ("GSSAPI",), "Mechanisms that clients may use.", update=UpdateMode.PER_BROKER
    )
    sasl_mechanism_inter_broker_protocol: str = string(
        "GSSAPI", "Mechanism that brokers use among themselves.", update=UpdateMode.PER_BROKER
    )
    sasl_mechanism_controller_protocol: str = string(
        "GSSAPI", "KRaft only: mechanism towards controllers.", importance=Importance.HIGH
    )
    sasl_jaas_config: Password | None = password(
        "Users and passwords of a mechanism, in JAAS syntax.", update=UpdateMode.PER_BROKER
    )
    sasl_server_max_receive_size: int = integer(
        524_288, "Largest request before authentication is done."
    )
    sasl_server_callback_handler_class: str | None = class_name(
        None, "Java class that checks credentials; not supported."
    )
    sasl_client_callback_handler_class: str | None = class_name(
        None, "Java class that provides credentials; not supported."
    )
    sasl_login_class: str | None = class_name(None, "Java class that logs in; not supported.")
    sasl_login_callback_handler_class: str | None = class_name(
        None, "Java class that a login asks; not supported."
    )
    sasl_login_connect_timeout_ms: int | None = integer(
        None, "Time to connect to an identity provider.", importance=Importance.LOW
    )
    sasl_login_read_timeout_ms: int | None = integer(
        None, "Time to wait for an identity provider's answer.", importance=Importance.LOW
    )
    sasl_login_refresh_window_factor: float = double(
        0.8,
        "Share of a credential's life after which it is refreshed.",
        update=UpdateMode.PER_BROKER,
    )
    sasl_login_refresh_window_jitter: float = double(
        0.05, "Random share added to that.", update=UpdateMode.PER_BROKER
    )
    sasl_login_refresh_min_period_seconds: int = short(
        60, "Shortest time between two refreshes.", update=UpdateMode.PER_BROKER
    )
    sasl_login_refresh_buffer_seconds: int = short(
        300,
        "Time before expiry by which a refresh must have happened.",
        update=UpdateMode.PER_BROKER,
    )
    sasl_login_retry_backoff_ms: int = long(
        100, "First wait after a failed login.", importance=Importance.LOW
    )
    sasl_login_retry_backoff_max_ms: int = long(
        10_000, "Longest wait after failed logins.", importance=Importance.LOW
    )
    sasl_kerberos_service_name: str | None = string(
        None, "Kerberos name of the brokers.", update=UpdateMode.PER_BROKER
    )
    sasl_kerberos_kinit_cmd: str = string(
        "/usr/bin/kinit", "Path of `kinit`.", update=UpdateMode.PER_BROKER
    )
    sasl_kerberos_ticket_renew_window_factor: float = double(
        0.8, "Share of a ticket's life after which it is renewed.", update=UpdateMode.PER_BROKER
    )
    sasl_kerberos_ticket_renew_jitter: float = double(
        0.05, "Random share added to that.", update=UpdateMode.PER_BROKER
    )
    sasl_kerberos_min_time_before_relogin: int = long(
        60_000, "Shortest time between two renewals, in milliseconds.", update=UpdateMode.PER_BROKER
    )
    sasl_kerberos_principal_to_local_rules: tuple[str, ...] = listing(
        ("DEFAULT",),
        "Rules that make a user name from a Kerberos principal.",
        update=UpdateMode.PER_BROKER,
    )
    oauthbearer_allow_unsecured_tokens: bool = boolean(
        False,
        "Accept bearer tokens without a signature, from any client: only for tests.",
        name="moldau.oauthbearer.allow.unsecured.tokens",
    )
    oauthbearer_allow_any_issuer: bool = boolean(
        False,
        "Take bearer tokens of any issuer whose keys are known.",
        name="moldau.oauthbearer.allow.any.issuer",
    )
    oauthbearer_allow_any_audience: bool = boolean(
        False,
        "Take bearer tokens that were issued for other services.",
        name="moldau.oauthbearer.allow.any.audience",
    )
    sasl_oauthbearer_token_endpoint_url: str | None = string(
        None, "Where the broker gets its own token."
    )
    sasl_oauthbearer_jwks_endpoint_url: str | None = string(
        None, "Where the keys are that verify tokens."
    )
    sasl_oauthbearer_jwks_endpoint_refresh_ms: int = long(
        3_600_000, "Time between two reads of those keys.", importance=Importance.LOW
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms: int = long(
        100, "First wait after a failed read.", importance=Importance.LOW
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms: int = long(
        10_000, "Longest wait after failed reads.", importance=Importance.LOW
    )
    sasl_oauthbearer_expected_audience: tuple[str, ...] | None = listing(
        None, "Audiences of which a token must name one.", importance=Importance.LOW
    )
    sasl_oauthbearer_expected_issuer: str | None = string(
        None, "Issuer that a token must name.", importance=Importance.LOW
    )
    sasl_oauthbearer_scope_claim_name: str = string(
        "scope", "Claim that holds a token's scope.", importance=Importance.LOW
    )
    sasl_oauthbearer_sub_claim_name: str = string(
        "sub", "Claim that holds a token's user.", importance=Importance.LOW
    )
    sasl_oauthbearer_clock_skew_seconds: int = integer(
        30, "Difference of clocks that is tolerated.", importance=Importance.LOW
    )
