//! Real PostgreSQL servers: for the tests, and for a developer who wants one at hand.

mod account;
mod programs;
pub(crate) mod scale;
mod server;

use std::{error::Error, ffi::OsString, path::Path};

use crate::{Outcome, foreign, shell::say};
use programs::Programs;
use server::{Purpose, Server};

/// The administrator's connection to a server without pgvector.
const PLAIN: &str = "STRATA_TEST_POSTGRES";

/// The administrator's connection to a server with pgvector.
const PGVECTOR: &str = "STRATA_TEST_PGVECTOR";

/// Makes a test that finds no server fail instead of being left out.
const REQUIRED: &str = "STRATA_TEST_REQUIRE_POSTGRES";

/// The servers of one run of the tests. They end with it.
pub(crate) struct Servers(Vec<(&'static str, Provided)>);

/// A server of ours, or one that the caller named in the environment.
enum Provided {
    Started(Server),
    Named(OsString),
}

impl Servers {
    /// Starts what the environment does not name, both at once.
    pub(crate) fn start(tools: &Path) -> Result<Self, Box<dyn Error>> {
        let wanted = [(PLAIN, Kind::Plain), (PGVECTOR, Kind::Pgvector)];
        let mut starting = Vec::new();
        for (variable, kind) in wanted {
            let named = std::env::var_os(variable).filter(|url| !url.is_empty());
            starting.push((variable, kind, named.map_or_else(|| kind.begin(tools).map(Err), |n| Ok(Ok(n)))?));
        }
        let mut servers = Vec::new();
        for (variable, kind, server) in starting {
            let provided = match server {
                Ok(url) => Provided::Named(url),
                Err(starting) => {
                    let server = starting.ready().map_err(|e| format!("{}: {e}", kind.name()))?;
                    say(&format!("started {}, {}", server.version(), kind.name()));
                    Provided::Started(server)
                }
            };
            servers.push((variable, provided));
        }
        Ok(Self(servers))
    }

    /// What tells the tests where the servers are.
    pub(crate) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let urls = self.0.iter().map(|(variable, provided)| {
            let url = match provided {
                Provided::Started(server) => server.url().into(),
                Provided::Named(url) => url.clone(),
            };
            (*variable, url)
        });
        urls.chain([(REQUIRED, "1".into())]).collect()
    }
}

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Pgvector,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "PostgreSQL without pgvector",
            Self::Pgvector => "PostgreSQL with pgvector",
        }
    }

    /// Finds or installs the programs and starts a server, without waiting for it.
    fn begin(self, tools: &Path) -> Result<server::Starting, Box<dyn Error>> {
        self.begin_for(tools, Purpose::Tests)
    }

    fn begin_for(self, tools: &Path, purpose: Purpose) -> Result<server::Starting, Box<dyn Error>> {
        let programs = match self {
            Self::Plain => Programs::plain(),
            Self::Pgvector => Programs::pgvector(tools),
        };
        programs.and_then(|p| Server::start(&p, purpose)).map_err(|e| format!("{}: {e}", self.name()).into())
    }
}

/// `postgres [pgvector]`: starts a server, says where it is, and keeps it until interrupted.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let kind = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Kind::Plain,
        ["pgvector"] => Kind::Pgvector,
        _ => return Err("usage: cargo xtask postgres [pgvector]".into()),
    };
    let server = kind.begin(&foreign::directory()?)?.ready()?;
    say(&format!("{}, {}, until interrupted:\n{}", server.version(), kind.name(), server.url()));
    server.wait()
}
