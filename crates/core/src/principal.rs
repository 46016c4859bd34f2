//! Who acts. Decided by the way in, never by a parameter.

use std::fmt;

use crate::{
    error::ParseError,
    redact::{clean_text, is_invisible, redact},
};

/// Characters of a name that are looked at. No secret that is cut here fits into what is kept.
const LOOKED_AT: usize = 1024;

/// The kinds of principal the policy table knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrincipalKind {
    /// Strata's own jobs, and changes a human approved.
    System,
    /// Importers and hooks that bring raw events in.
    Gateway,
    /// Scheduled work.
    Cron,
    /// A model-driven client.
    Agent,
    /// A person at a terminal.
    Human,
    /// A program that stores results without a model.
    Tool,
}

impl PrincipalKind {
    /// All kinds, in table order.
    pub const ALL: [Self; 6] =
        [Self::System, Self::Gateway, Self::Cron, Self::Agent, Self::Human, Self::Tool];

    /// The canonical word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Gateway => "gateway",
            Self::Cron => "cron",
            Self::Agent => "agent",
            Self::Human => "human",
            Self::Tool => "tool",
        }
    }

    /// Parses the exact word; `manual` (p-layer's word for a human) and the plurals are aliases.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let allowed = "use system, gateway, cron, agent, human or tool";
        let singular = text.strip_suffix('s').unwrap_or(text);
        Self::ALL
            .into_iter()
            .find(|k| k.as_str() == text || k.as_str() == singular)
            .or_else(|| (text == "manual").then_some(Self::Human))
            .ok_or_else(|| ParseError::new("principal", text, allowed))
    }
}

/// Who acts: a kind, a name within it, and whom it acts for when that is somebody else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// What the policy looks at.
    pub kind: PrincipalKind,
    /// Free detail: the client's, user's or job's name. Never empty, no control characters, at most 64 characters.
    pub name: String,
    /// The principal (as text) on whose behalf this one acts.
    pub on_behalf_of: Option<String>,
}

impl Principal {
    /// A principal acting for itself. The name is cleaned to be safe in logs and tables.
    pub fn new(kind: PrincipalKind, name: &str) -> Self {
        // A client names itself: its name is text from outside like any other, and it is stored.
        let given: String = name.chars().take(LOOKED_AT).collect();
        let clean = clean_text(&given);
        let clean: String = redact(&clean.text)
            .text
            .chars()
            .filter(|c| !c.is_control() && !c.is_whitespace() && !is_invisible(*c))
            .take(64)
            .collect();
        let name = if clean.is_empty() { "unknown".to_owned() } else { clean };
        Self { kind, name, on_behalf_of: None }
    }

    /// The same principal, acting for `other`.
    pub fn on_behalf_of(mut self, other: &Self) -> Self {
        self.on_behalf_of = Some(other.to_string());
        self
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.name)
    }
}

/// The face a call came in through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Face {
    /// An MCP client.
    Mcp,
    /// The command line.
    Cli,
    /// The HTTP API.
    Http,
    /// A Rust program that embeds the engine, and Strata's own jobs.
    Library,
}

impl Face {
    /// The word written to the audit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Cli => "cli",
            Self::Http => "http",
            Self::Library => "library",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_exactly_with_the_seeds_aliases() {
        assert_eq!(PrincipalKind::parse("manual"), Ok(PrincipalKind::Human));
        assert_eq!(PrincipalKind::parse("tools"), Ok(PrincipalKind::Tool));
        for wrong in ["System", "", " agent", "root", "manuals"] {
            assert!(PrincipalKind::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_cleaned() {
        assert_eq!(
            Principal::new(PrincipalKind::Agent, "clau\u{1b}[31mde code\n").to_string(),
            "agent:claudecode"
        );
        assert_eq!(Principal::new(PrincipalKind::Agent, "  ").to_string(), "agent:unknown");
        assert_eq!(Principal::new(PrincipalKind::Agent, "a\u{200b}b\u{202e}c").to_string(), "agent:abc");
        let token = format!("client ghp_{}", "A1b2C3d4E5f6".repeat(3));
        let named = Principal::new(PrincipalKind::Agent, &token).to_string();
        assert!(!named.contains("A1b2C3") && named.starts_with("agent:client["), "{named}");
    }
}
