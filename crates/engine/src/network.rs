//! The one gate for everything that leaves the machine. Nothing passes until the user has configured where to.
//!
//! A [`Door`] leads to one host. It follows no redirect, uses no proxy, waits no longer and reads no more than it was
//! told. Making one opens no socket.

use std::{net::IpAddr, time::Duration};

use strata_core::{error::ParseError, redact::clean_text};
use ureq::http::Uri;

use crate::error::Error;

/// A way to one host.
#[derive(Debug)]
pub struct Door {
    agent: ureq::Agent,
    address: Address,
}

/// Where a door leads: a checked URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: String,
    host: String,
}

impl Address {
    /// Checks a URL.
    ///
    /// # Errors
    /// Anything but `http` and `https`, a URL without a host or with a user's name in it, and plain `http` to a host
    /// that is not on this machine or its own network: what is sent could be read on the way.
    pub fn parse(url: &str) -> Result<Self, ParseError> {
        let wrong = |allowed: &str| ParseError::new("URL", url, allowed);
        let uri: Uri = url.trim().parse().map_err(|_| wrong("write it as https://host/path"))?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("name a host"))?;
        if uri.authority().is_some_and(|a| a.as_str().contains('@')) {
            return Err(wrong("leave user and password out; `key_env` or `key_file` name the key"));
        }
        if uri.query().is_some() {
            return Err(wrong("leave the query out"));
        }
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_near(host) => {}
            Some("http") => return Err(wrong("use https for a host outside your own network")),
            _ => return Err(wrong("begin it with https:// or http://")),
        }
        Ok(Self { url: url.trim().trim_end_matches('/').to_owned(), host: host.to_owned() })
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The URL without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same host with `ending` at the end of the path, unless it is there.
    pub fn ending_in(mut self, ending: &str) -> Self {
        if !self.url.ends_with(ending) {
            self.url.push_str(ending);
        }
        self
    }
}

/// Whether a host is this machine or on its own network, as far as its name tells.
fn is_near(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => {
            let name = bare.to_ascii_lowercase();
            !name.contains('.')
                || [".local", ".localhost", ".internal", ".lan"].iter().any(|e| name.ends_with(e))
        }
    }
}

impl Door {
    /// A door to `address`. The whole exchange takes at most `patience`.
    pub fn new(address: Address, patience: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(patience))
            .max_redirects(0)
            .proxy(None)
            .http_status_as_error(false)
            .max_idle_connections(0)
            .user_agent(concat!("strata/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.new_agent(), address }
    }

    /// Where it leads.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends JSON and returns the body of the answer, at most `limit` bytes.
    ///
    /// # Errors
    /// `Remote` for everything but an answer with a status of 200 to 299.
    pub fn post(&self, key: Option<&str>, body: &serde_json::Value, limit: u64) -> Result<Vec<u8>, Error> {
        let mut request = self.agent.post(self.address.url()).header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut answer = request.send(body.to_string()).map_err(|e| self.explain(&e))?;
        match answer.status().as_u16() {
            200..=299 => {}
            300..=399 => return Err(self.fault("it answered with a redirect, and none is followed")),
            status => return Err(self.fault(&format!("it answered with status {status}"))),
        }
        answer.body_mut().with_config().limit(limit).read_to_vec().map_err(|e| self.explain(&e))
    }

    fn explain(&self, error: &ureq::Error) -> Error {
        match error {
            ureq::Error::Timeout(_) => self.fault("it did not answer in time"),
            ureq::Error::BodyExceedsLimit(limit) => {
                self.fault(&format!("its answer has more than {limit} bytes"))
            }
            other => {
                let text: String = clean_text(&other.to_string()).text.chars().take(200).collect();
                self.fault(&text)
            }
        }
    }

    fn fault(&self, what: &str) -> Error {
        Error::Remote { host: self.address.host.clone(), fault: what.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_addresses_are_taken() {
        for url in [
            "https://api.example.com/v1",
            "http://localhost:11434/v1",
            "http://127.0.0.1:8080",
            "http://[::1]:8080/v1",
            "http://192.168.1.7/v1",
            "http://gpu:8000/v1/",
            "http://gpu.local/v1",
        ] {
            assert!(Address::parse(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "api.example.com",
            "ftp://example.com",
            "file:///etc/passwd",
            "http://api.example.com/v1",
            "http://8.8.8.8/v1",
            "http://localhost.example.com/v1",
            "https://user:secret@example.com/v1",
            "https://example.com/v1?key=1",
            "https://",
        ] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
        let address = Address::parse("http://localhost:1/v1/").expect("near").ending_in("/chat/completions");
        assert_eq!((address.url(), address.host()), ("http://localhost:1/v1/chat/completions", "localhost"));
        assert_eq!(address.clone().ending_in("/chat/completions"), address);
    }
}
