//! Answers JSON requests on standard input, a line each: a client logs in, writes a record, and
//! reads it again.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder, Credentials, OauthBearerCredentials, SaslConfig};
use rskafka::record::Record;
use rskafka::BackoffConfig;
use rustls::{ClientConfig, RootCertStore};
use serde::{Deserialize, Serialize};

/// Trust, certificate and key are PEM; without a mechanism the certificate says who it is.
#[derive(Deserialize)]
struct Login {
    mechanism: String,
    user: String,
    password: String,
    trust: String,
    certificate: String,
    key: String,
}

#[derive(Deserialize)]
struct Request {
    bootstrap: String,
    topic: String,
    value: String,
    login: Login,
}

#[derive(Serialize)]
struct Answer {
    value: String,
    error: String,
}

const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for line in std::io::stdin().lock().lines() {
        let asked: Request = serde_json::from_str(&line?)?;
        let told = runtime.block_on(async {
            match tokio::time::timeout(PATIENCE, there_and_back(&asked)).await {
                Ok(Ok(value)) => Answer { value, error: String::new() },
                Ok(Err(error)) => Answer { value: String::new(), error: format!("{error:?}") },
                Err(late) => Answer { value: String::new(), error: late.to_string() },
            }
        });
        println!("{}", serde_json::to_string(&told)?);
        std::io::stdout().flush()?;
    }
    Ok(())
}

async fn there_and_back(asked: &Request) -> Result<String, Box<dyn Error>> {
    let client = connected(asked).await?;
    client.controller_client()?.create_topic(&asked.topic, 1, 1, 10_000).await?;
    let handling = UnknownTopicHandling::Retry;
    let partition = client.partition_client(&asked.topic, 0, handling).await?;
    let record = Record {
        key: None,
        value: Some(asked.value.clone().into_bytes()),
        headers: BTreeMap::new(),
        timestamp: DateTime::<Utc>::UNIX_EPOCH,
    };
    let offsets = partition.produce(vec![record], Compression::NoCompression).await?;
    let (found, _) = partition.fetch_records(offsets[0], 1..1_000_000, 10_000).await?;
    let value = found.into_iter().next().and_then(|one| one.record.value).unwrap_or_default();
    Ok(String::from_utf8(value)?)
}

async fn connected(asked: &Request) -> Result<Client, Box<dyn Error>> {
    // A login that was refused is not tried again.
    let backoff = BackoffConfig { deadline: Some(Duration::from_secs(1)), ..Default::default() };
    let mut builder = ClientBuilder::new(vec![asked.bootstrap.clone()])
        .backoff_config(backoff)
        .tls_config(Arc::new(secured(&asked.login)?));
    if let Some(own) = mechanism(&asked.login) {
        builder = builder.sasl_config(own);
    }
    Ok(builder.build().await?)
}

fn secured(own: &Login) -> Result<ClientConfig, Box<dyn Error>> {
    let mut trusted = RootCertStore::empty();
    for certificate in rustls_pemfile::certs(&mut own.trust.as_bytes()) {
        trusted.add(certificate?)?;
    }
    let builder = ClientConfig::builder().with_root_certificates(trusted);
    if own.certificate.is_empty() {
        return Ok(builder.with_no_client_auth());
    }
    let chain = rustls_pemfile::certs(&mut own.certificate.as_bytes()).collect::<Result<_, _>>()?;
    let key = rustls_pemfile::private_key(&mut own.key.as_bytes())?.ok_or("no key")?;
    Ok(builder.with_client_auth_cert(chain, key)?)
}

fn mechanism(own: &Login) -> Option<SaslConfig> {
    let secret = Credentials::new(own.user.clone(), own.password.clone());
    match own.mechanism.as_str() {
        "PLAIN" => Some(SaslConfig::Plain(secret)),
        "SCRAM-SHA-256" => Some(SaslConfig::ScramSha256(secret)),
        "SCRAM-SHA-512" => Some(SaslConfig::ScramSha512(secret)),
        "OAUTHBEARER" => {
            let token = own.password.clone();
            Some(SaslConfig::Oauthbearer(OauthBearerCredentials {
                callback: Arc::new(move || {
                    let token = token.clone();
                    Box::pin(async move { Ok(token) })
                }),
                authz_id: None,
                bearer_kvs: Vec::new(),
            }))
        }
        _ => None,
    }
}
