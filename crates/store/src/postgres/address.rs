//! Where a server is and how to ask for it: the connection string, read once and never shown with its password.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    encryption::{Encryption, TlsOptions, take},
    tls::connector,
};
use crate::error::StoreError;

/// How long to try for a connection when the address does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A silent server is given up after about a minute, not after the hours an operating system allows.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Parameters that a list of them may begin with.
const PARAMETERS: [&str; 8] =
    ["host", "hostaddr", "port", "dbname", "user", "password", "application_name", "connect_timeout"];

/// A server's address; clones share it.
#[derive(Clone)]
pub(crate) struct Address {
    shared: Arc<Shared>,
    shown: PathBuf,
}

struct Shared {
    config: Config,
    encryption: Encryption,
    /// Made when it is first needed: it reads files.
    tls: OnceLock<MakeRustlsConnect>,
}

/// One way to try for a connection; plain without the second half.
pub(super) type Attempt = (Config, Option<MakeRustlsConnect>);

impl Address {
    /// Reads `postgres://user:password@host:port/database?option=value`, or `postgresql://`, or a list of
    /// parameters like `host=db user=ann`. What it does not say of encryption, `environment` may.
    pub(crate) fn parse(text: &str, environment: &TlsOptions) -> Result<Self, StoreError> {
        if !is_address(text) {
            return Err(StoreError::Invalid(
                "a store's address begins with `postgres://` or `postgresql://`, or is a list like \
                 `host=HOST dbname=DATABASE user=USER`"
                    .into(),
            ));
        }
        let (rest, said) = take(text)?;
        let mut config: Config = rest.parse().map_err(|error| malformed(&error, &rest))?;
        if config.get_hosts().is_empty() {
            return Err(StoreError::Invalid("the store's address names no host".into()));
        }
        complete(&mut config);
        let encryption = Encryption::new(&config, said, environment)?;
        let shown = PathBuf::from(describe(&config));
        Ok(Self { shared: Arc::new(Shared { config, encryption, tls: OnceLock::new() }), shown })
    }

    /// What the driver needs, the password included: the ways to connect, the first of which suits most servers.
    pub(super) fn attempts(&self) -> Result<Vec<Attempt>, StoreError> {
        let Encryption { first, otherwise, .. } = self.shared.encryption;
        let attempt = |mode: SslMode| {
            let mut config = self.shared.config.clone();
            config.ssl_mode(mode);
            let tls = if mode == SslMode::Disable { None } else { Some(self.tls()?) };
            Ok((config, tls))
        };
        [Some(first), otherwise].into_iter().flatten().map(attempt).collect()
    }

    fn tls(&self) -> Result<MakeRustlsConnect, StoreError> {
        if let Some(made) = self.shared.tls.get() {
            return Ok(made.clone());
        }
        let made = connector(&self.shared.encryption)
            .map_err(|why| StoreError::NotEncrypted { place: self.shown.clone(), why })?;
        Ok(self.shared.tls.get_or_init(|| made).clone())
    }

    /// How long a server may take until it is open to us, every host of the address in turn.
    pub(super) fn connect_timeout(&self) -> Duration {
        let config = &self.shared.config;
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1);
        config
            .get_connect_timeout()
            .copied()
            .unwrap_or(CONNECT_TIMEOUT)
            .saturating_mul(u32::try_from(hosts).unwrap_or(1))
    }

    /// User, host and database, for messages.
    pub(crate) const fn shown(&self) -> &PathBuf {
        &self.shown
    }

    /// The user whom the server knows us as.
    pub(crate) fn user(&self) -> &str {
        self.shared.config.get_user().unwrap_or_default()
    }
}

/// What is wrong with an address that the driver does not read. What it says may hold a piece of the password, but for
/// the name of an option.
fn malformed(error: &tokio_postgres::Error, address: &str) -> StoreError {
    let said = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let named = |before: &str| said.strip_prefix(before)?.strip_suffix('`');
    // What follows a `?` in a password that was not written as it should be looks like options.
    let options = address.split_once('?').map_or(address, |(_, options)| options);
    let is_plain = |name: &&str| {
        name.len() <= 40
            && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            && !options.contains('@')
    };
    if let Some(name) = named("unknown option `").filter(is_plain) {
        return StoreError::UnknownOption { name: name.to_owned() };
    }
    if let Some(name) = named("invalid value for option `") {
        return StoreError::Invalid(format!(
            "the store's address gives `{name}` a value that it cannot have"
        ));
    }
    StoreError::Invalid(
        "the store's address is malformed; write \
         `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require`, with `@`, `:`, `/`, `?` and `%` \
         in a name or password as `%40`, `%3A`, `%2F`, `%3F` and `%25`"
            .into(),
    )
}

/// Whether `text` is a server's address and not a path.
pub(crate) fn is_address(text: &str) -> bool {
    let first = text.split_once('=').map(|(name, _)| name.trim());
    text.starts_with("postgres://")
        || text.starts_with("postgresql://")
        || first.is_some_and(|name| PARAMETERS.contains(&name) || name.starts_with("ssl"))
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
            ("postgres://ann:secret@db/notes?sslmode=verify-full", "postgres://ann@db:5432/notes"),
            (
                "host=db user=ann password='sec ret' dbname=notes sslmode=require",
                "postgres://ann@db:5432/notes",
            ),
        ] {
            let address = Address::parse(url, &TlsOptions::default()).expect(url);
            assert_eq!(address.shown().to_str(), Some(shown));
            assert!(!format!("{address:?}").contains("sec"), "{address:?}");
        }
    }

    #[test]
    fn an_option_that_there_is_not_is_named_unless_it_may_be_a_piece_of_a_password() {
        let refused = |url: &str| Address::parse(url, &TlsOptions::default()).expect_err(url);
        for url in ["postgres://ann@db/notes?sslmode=disable&no_such=1", "host=db user=ann no_such=1"] {
            let error = refused(url);
            assert!(matches!(&error, StoreError::UnknownOption { name } if name == "no_such"), "{error:?}");
            assert!(error.hint().contains("connect_timeout"), "{}", error.hint());
        }
        for url in ["postgres://ann:a@b?pass_word=1@db/notes", "postgres://ann@db/notes?Pass%20Word=1"] {
            let error = refused(url);
            assert!(matches!(error, StoreError::Invalid(_)), "{url}: {error:?}");
            assert!(!error.to_string().to_lowercase().contains("pass_word"), "{error}");
        }
        let error = refused("postgres://ann@db/notes?connect_timeout=soon");
        assert!(
            error.to_string().contains("`connect_timeout`") && !error.to_string().contains("soon"),
            "{error}"
        );
    }

    #[test]
    fn a_malformed_address_is_refused_without_repeating_it() {
        for url in [
            "sqlite://x",
            "postgres://ann:secret@db:port/notes",
            "postgres://ann:secret@db/notes?sslmode=never",
            "host=db password=secret port=none",
            "postgres:///notes",
        ] {
            let error = Address::parse(url, &TlsOptions::default()).expect_err(url);
            assert!(matches!(error, StoreError::Invalid(_)), "{url}: {error:?}");
            assert!(!error.to_string().contains("cret"), "{error}");
        }
    }
}
