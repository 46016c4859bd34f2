//! What an address, or the environment, says of encryption: libpq's words, for addresses and lists of parameters.
//!
//! The driver knows some of these words only, so they are taken out before it reads the rest.

use std::{borrow::Cow, path::PathBuf};

use tokio_postgres::{
    Config,
    config::{ChannelBinding, Host, SslMode, SslNegotiation},
};

use crate::error::StoreError;

/// What is said of encryption, in libpq's words and unchecked. What is absent is as good as unsaid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// `sslmode`.
    pub mode: Option<String>,
    /// `sslrootcert`: a file of certificates, or `system`.
    pub roots: Option<String>,
    /// `sslcert`: the file of the client's certificate.
    pub certificate: Option<String>,
    /// `sslkey`: the file of its key.
    pub key: Option<String>,
}

impl TlsOptions {
    /// The same, with what it leaves open taken from `others`.
    fn or(self, others: &Self) -> Self {
        let or = |mine: Option<String>, other: &Option<String>| {
            mine.or_else(|| other.clone()).filter(|text| !text.is_empty())
        };
        Self {
            mode: or(self.mode, &others.mode),
            roots: or(self.roots, &others.roots),
            certificate: or(self.certificate, &others.certificate),
            key: or(self.key, &others.key),
        }
    }

    fn of_name(&mut self, name: &str) -> Option<&mut Option<String>> {
        match name {
            "sslmode" => Some(&mut self.mode),
            "sslrootcert" => Some(&mut self.roots),
            "sslcert" => Some(&mut self.certificate),
            "sslkey" => Some(&mut self.key),
            _ => None,
        }
    }
}

/// Whom the server's certificate must come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Roots {
    /// Anybody: what is encrypted is safe from listeners, not from an impostor.
    Anybody,
    /// The authorities that this machine trusts.
    System,
    /// Those in this file.
    File(PathBuf),
}

/// How connections are encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Encryption {
    /// What to try first.
    pub(super) first: SslMode,
    /// What to try when the server wants it otherwise.
    pub(super) otherwise: Option<SslMode>,
    /// Whom the certificate must come from.
    pub(super) roots: Roots,
    /// Whether it must be for the host's name.
    pub(super) named: bool,
    /// The files of the client's certificate and key.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

/// `sslmode`, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    fn parse(word: &str) -> Result<Self, StoreError> {
        Ok(match word {
            "disable" => Self::Disable,
            "allow" => Self::Allow,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                return Err(invalid(
                    "`sslmode` is one of disable, allow, prefer, require, verify-ca, verify-full",
                ));
            }
        })
    }

    /// What holds when nobody says: a connection that does not leave the machine is left as it is, unless the server
    /// asks for more, and so costs no question and no handshake.
    fn usual(config: &Config, roots: Option<&str>) -> Self {
        if roots == Some("system") {
            Self::VerifyFull
        } else if config.get_channel_binding() == ChannelBinding::Require {
            Self::Require
        } else if stays_on_machine(config) {
            Self::Allow
        } else {
            Self::Prefer
        }
    }
}

impl Encryption {
    /// What `said` by the address, and `otherwise` by the environment, means for the hosts of `config`.
    pub(super) fn new(config: &Config, said: TlsOptions, otherwise: &TlsOptions) -> Result<Self, StoreError> {
        let said = said.or(otherwise);
        let mode = match said.mode.as_deref() {
            Some(word) => Mode::parse(word)?,
            None => Mode::usual(config, said.roots.as_deref()),
        };
        if config.get_ssl_negotiation() == SslNegotiation::Direct && mode < Mode::Require {
            return Err(invalid("`sslnegotiation=direct` needs `sslmode=require`, or a stronger one"));
        }
        let roots = match (said.roots.as_deref(), mode) {
            (Some("system"), Mode::VerifyFull) | (None, Mode::VerifyFull) => Roots::System,
            (Some("system"), _) => {
                return Err(invalid("`sslrootcert=system` needs `sslmode=verify-full`"));
            }
            (None, Mode::VerifyCa) => {
                return Err(invalid(
                    "`sslmode=verify-ca` needs `sslrootcert` with the file of the authority's certificate",
                ));
            }
            (Some(file), _) => Roots::File(file.into()),
            (None, _) => Roots::Anybody,
        };
        let identity = match (said.certificate, said.key) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => return Err(invalid("`sslcert` and `sslkey` go together")),
        };
        let (first, otherwise) = match mode {
            // A socket of the file system has no encryption to ask for.
            _ if only_sockets(config) => (SslMode::Disable, None),
            Mode::Disable => (SslMode::Disable, None),
            Mode::Allow => (SslMode::Disable, Some(SslMode::Require)),
            Mode::Prefer => (SslMode::Prefer, Some(SslMode::Disable)),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => (SslMode::Require, None),
        };
        Ok(Self { first, otherwise, roots, named: mode == Mode::VerifyFull, identity })
    }
}

/// Takes what is said of encryption out of an address or a list of parameters; returns the rest, for the driver.
pub(super) fn take(text: &str) -> Result<(Cow<'_, str>, TlsOptions), StoreError> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        Ok(take_from_address(text))
    } else {
        take_from_list(text)
    }
}

fn take_from_address(url: &str) -> (Cow<'_, str>, TlsOptions) {
    let mut said = TlsOptions::default();
    // A password may hold a `?`; the driver ends it at the first `@`.
    let host = url.find('@').map_or(0, |at| at + 1);
    let Some(query) = url[host..].find('?').map(|at| host + at) else { return (url.into(), said) };
    let keep = |part: &&str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match (said.of_name(&decoded(name)), value) {
            (Some(place), value) => {
                *place = Some(decoded(value));
                false
            }
            (None, _) => true,
        }
    };
    let rest: Vec<&str> = url[query + 1..].split('&').filter(keep).collect();
    let head = &url[..query];
    let rest = if rest.is_empty() { head.to_owned() } else { format!("{head}?{}", rest.join("&")) };
    (rest.into(), said)
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// `name = value` pairs between spaces; a value may stand in `'`, and `\` takes the next character as it is.
fn take_from_list(list: &str) -> Result<(Cow<'_, str>, TlsOptions), StoreError> {
    let (mut said, mut rest) = (TlsOptions::default(), String::new());
    let mut left = list.trim_start();
    while !left.is_empty() {
        let (name, after) =
            left.split_once('=').ok_or_else(|| invalid("a parameter of the store's address has no `=`"))?;
        let after = after.trim_start();
        let (value, length) = value(after)?;
        match said.of_name(name.trim_end()) {
            Some(place) => *place = Some(value),
            None => {
                rest.push_str(&left[..left.len() - after.len() + length]);
                rest.push(' ');
            }
        }
        left = after[length..].trim_start();
    }
    Ok((rest.into(), said))
}

/// The value that `text` begins with, and how many bytes it takes there.
fn value(text: &str) -> Result<(String, usize), StoreError> {
    let quoted = text.starts_with('\'');
    let mut characters = text.char_indices().skip(usize::from(quoted));
    let mut value = String::new();
    while let Some((at, c)) = characters.next() {
        match c {
            '\'' if quoted => return Ok((value, at + 1)),
            c if c.is_whitespace() && !quoted => return Ok((value, at)),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    if quoted {
        return Err(invalid("a value of the store's address begins with `'` and does not end"));
    }
    Ok((value, text.len()))
}

fn stays_on_machine(config: &Config) -> bool {
    let near = |host: &Host| match host {
        Host::Tcp(name) if config.get_hostaddrs().is_empty() => {
            name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        Host::Tcp(_) => config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(near)
}

fn only_sockets(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)))
}

fn invalid(text: &str) -> StoreError {
    StoreError::Invalid(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encryption(text: &str, environment: &TlsOptions) -> Result<Encryption, StoreError> {
        let (rest, said) = take(text)?;
        Encryption::new(&rest.parse().expect("an address"), said, environment)
    }

    fn attempts(text: &str) -> (SslMode, Option<SslMode>) {
        let found = encryption(text, &TlsOptions::default()).expect(text);
        (found.first, found.otherwise)
    }

    #[test]
    fn a_mode_says_what_is_tried() {
        let (off, want, must) = (SslMode::Disable, SslMode::Prefer, SslMode::Require);
        for (text, expected) in [
            ("postgres://a@db/x", (want, Some(off))),
            ("postgres://a@db/x?sslmode=prefer", (want, Some(off))),
            ("postgres://a@db/x?sslmode=allow", (off, Some(must))),
            ("postgres://a@db/x?sslmode=disable", (off, None)),
            ("postgres://a@db/x?sslmode=require", (must, None)),
            ("host=db user=a sslmode=verify-full", (must, None)),
            ("postgres://a@db/x?channel_binding=require", (must, None)),
            ("postgres://a@db/x?sslrootcert=system", (must, None)),
            // Nobody listens between a machine and itself.
            ("postgres://a@localhost/x", (off, Some(must))),
            ("postgres://a@127.0.0.1:6000/x", (off, Some(must))),
            ("postgres://a@[::1]/x", (off, Some(must))),
            ("postgres://a@db/x?hostaddr=127.0.0.1", (off, Some(must))),
            ("postgres://a@localhost,db/x", (want, Some(off))),
            ("postgres://a@localhost/x?hostaddr=10.0.0.1", (want, Some(off))),
            ("postgres://a@127.0.0.1/x?sslmode=prefer", (want, Some(off))),
            ("postgres://a@127.0.0.1/x?sslmode=require", (must, None)),
            #[cfg(unix)]
            ("postgres://a@/x?host=/run/pg&sslmode=require", (off, None)),
        ] {
            assert_eq!(attempts(text), expected, "{text}");
        }
    }

    #[test]
    fn addresses_and_lists_say_the_same() {
        let url = "postgres://a:p%3F@db/x?sslmode=verify-ca&application_name=n&sslrootcert=%2Fa%20b.pem&sslcert=c&sslkey=k";
        let list = r"host=db user = a password='p?' dbname=x sslmode= verify-ca sslrootcert='/a b.pem' sslcert=\c
            application_name=n sslkey='k'";
        let (one, other) = (take(url).expect(url), take(list).expect(list));
        assert_eq!(one.1, other.1);
        assert_eq!(one.1.roots.as_deref(), Some("/a b.pem"));
        assert_eq!(one.0, "postgres://a:p%3F@db/x?application_name=n");
        assert_eq!(other.0, "host=db user = a password='p?' dbname=x application_name=n ");
        let found = encryption(list, &TlsOptions::default()).expect("well formed");
        assert_eq!((found.named, found.roots), (false, Roots::File("/a b.pem".into())));
        assert_eq!(found.identity, Some(("c".into(), "k".into())));
    }

    #[test]
    fn a_question_mark_in_a_password_begins_nothing() {
        let (rest, said) = take("postgres://a:b?sslmode=disable@db/x?sslmode=require").expect("well formed");
        assert_eq!(rest, "postgres://a:b?sslmode=disable@db/x");
        assert_eq!(said.mode.as_deref(), Some("require"));
    }

    #[test]
    fn the_environment_fills_what_the_address_leaves_open() {
        let environment = TlsOptions {
            mode: Some("verify-full".into()),
            roots: Some("/roots.pem".into()),
            ..TlsOptions::default()
        };
        let found = encryption("postgres://a@db/x", &environment).expect("well formed");
        assert_eq!((found.first, found.named), (SslMode::Require, true));
        assert_eq!(found.roots, Roots::File("/roots.pem".into()));
        let found = encryption("postgres://a@db/x?sslmode=require", &environment).expect("well formed");
        assert!(!found.named, "the address wins");
    }

    #[test]
    fn what_cannot_be_kept_is_refused_without_repeating_it() {
        for text in [
            "postgres://a:secret@db/x?sslmode=secret",
            "postgres://a:secret@db/x?sslmode=verify-ca",
            "postgres://a:secret@db/x?sslmode=require&sslrootcert=system",
            "postgres://a:secret@db/x?sslmode=require&sslcert=secret",
            "postgres://a:secret@db/x?sslkey=secret",
            "postgres://a:secret@db/x?sslnegotiation=direct",
            "host=db password='secret",
            "host=db secret",
        ] {
            let error = encryption(text, &TlsOptions::default()).expect_err(text);
            assert!(matches!(error, StoreError::Invalid(_)), "{text}: {error:?}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
