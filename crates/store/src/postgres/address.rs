//! Where a server is and how to ask for it: the connection string, read once and never shown with its password.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use crate::error::StoreError;

/// How long to try for a connection when the address does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A silent server is given up after about a minute, not after the hours an operating system allows.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// A server's address; clones share it.
#[derive(Clone)]
pub(crate) struct Address {
    config: Arc<Config>,
    shown: PathBuf,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?option=value`, or `postgresql://`.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        if !is_address(url) {
            return Err(StoreError::Invalid(
                "a store's address begins with `postgres://` or `postgresql://`".into(),
            ));
        }
        // What the driver says of a malformed address may hold a piece of the password.
        let mut config: Config = url.parse().map_err(|_| {
            StoreError::Invalid(
                "the store's address is malformed; write \
                 `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=disable`, with `@`, `:`, `/`, `?` and `%` \
                 in a name or password as `%40`, `%3A`, `%2F`, `%3F` and `%25`"
                    .into(),
            )
        })?;
        if config.get_hosts().is_empty() {
            return Err(StoreError::Invalid("the store's address names no host".into()));
        }
        if config.get_ssl_mode() == SslMode::Require {
            return Err(StoreError::Invalid(
                "this version speaks to PostgreSQL without TLS, so `sslmode=require` cannot be kept; \
                 use a local socket, or a tunnel to the server and `sslmode=disable`"
                    .into(),
            ));
        }
        complete(&mut config);
        let shown = PathBuf::from(describe(&config));
        Ok(Self { config: Arc::new(config), shown })
    }

    /// What the driver needs, the password included.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// User, host and database, for messages.
    pub(crate) const fn shown(&self) -> &PathBuf {
        &self.shown
    }

    /// The user whom the server knows us as.
    pub(crate) fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }
}

/// Whether `text` is a server's address and not a path.
pub(crate) fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

fn complete(config: &mut Config) {
    if config.get_application_name().is_none() {
        config.application_name("strata");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config
        .keepalives(true)
        .keepalives_idle(KEEPALIVE_IDLE)
        .keepalives_interval(KEEPALIVE_INTERVAL)
        .keepalives_retries(KEEPALIVE_RETRIES)
        .tcp_user_timeout(UNACKNOWLEDGED);
}

fn describe(config: &Config) -> String {
    let ports = config.get_ports();
    let places = config.get_hosts().iter().enumerate().map(|(index, host)| {
        let port = ports.get(index).or_else(|| ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]:{port}"),
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(directory) => format!("{}:{port}", directory.display()),
        }
    });
    let places = places.collect::<Vec<_>>().join(",");
    let user = config.get_user().unwrap_or_default();
    format!("postgres://{user}@{places}/{}", config.get_dbname().unwrap_or(user))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://ann:sec%40ret@db.example:6000/notes", "postgres://ann@db.example:6000/notes"),
            ("postgresql://ann:secret@db.example", "postgres://ann@db.example:5432/ann"),
            ("postgres://ann@/notes?host=/run/pg&password=secret", "postgres://ann@/run/pg:5432/notes"),
            ("postgres://ann:secret@a:1,b:2/notes", "postgres://ann@a:1,b:2/notes"),
        ] {
            let address = Address::parse(url).expect(url);
            assert_eq!(address.shown().to_str(), Some(shown));
            assert!(!format!("{address:?}").contains("sec"), "{address:?}");
        }
    }

    #[test]
    fn a_malformed_address_is_refused_without_repeating_it() {
        for url in [
            "sqlite://x",
            "postgres://ann:secret@db/notes?nonsense=secret",
            "postgres://ann:secret@db:port/notes",
            "postgres://ann:secret@db/notes?sslmode=require",
            "postgres://ann:secret@db/notes?sslmode=verify-full",
            "postgres:///notes",
        ] {
            let error = Address::parse(url).expect_err(url);
            assert!(matches!(error, StoreError::Invalid(_)), "{url}: {error:?}");
            assert!(!error.to_string().contains("cret"), "{error}");
        }
    }
}
