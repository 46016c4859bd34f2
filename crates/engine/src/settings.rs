//! What a face tells the engine about its surroundings, and the user's configuration file.

pub mod file;
pub mod keys;
pub mod layered;
pub mod project;
pub mod project_keys;
pub mod value;

use std::{collections::BTreeMap, fmt, path::PathBuf};

use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use strata_core::{error::ParseError, graph::constraints::Constraints};
use strata_store::{Server, TlsOptions, ledger::LOCAL};

use self::{
    layered::{AccessLog, Changelog, Governance, Knowledge, Promotion, Routing},
    project::ProjectConfig,
};
use crate::{error::Error, network::Address};

pub use file::{CONFIG_FILE, read_config};

/// Everything the engine needs to know from outside. Made by the face from arguments, environment and
/// `config.toml`; the engine reads none of these itself.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The directory of the store.
    pub home: PathBuf,
    /// The server that holds the store; without one it is files in the home.
    pub store: Option<Server>,
    /// What the environment says of encryption to servers whose address leaves it open.
    pub tls: TlsOptions,
    /// The user's time zone: days in filters and dates in answers are meant in it.
    pub zone: TimeZone,
    /// The folder that callers other than people may read from, beside the home: the project's root, or
    /// the folder the server was started in.
    pub project_root: Option<PathBuf>,
    /// Whether searches go by words alone, whatever the configuration says. What is stored is indexed all the same.
    pub words_only: bool,
    /// The key that the judge is asked with, when the face was told where to find it.
    pub judge_key: Option<Key>,
    /// The database of an older program that imports take when none is named.
    pub older_database: Option<PathBuf>,
    /// The home of layered-memory that imports take when none is named.
    pub older_layered_home: Option<PathBuf>,
    /// The user's configuration.
    pub config: Config,
}

/// A key to a service. It shows itself to nobody who does not ask for it by name.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Checks a key: it goes into a header, so it is one line of plain characters.
    ///
    /// # Errors
    /// It is empty, or has spaces or characters that a header cannot carry. The error does not repeat it.
    pub fn new(text: &str) -> Result<Self, ParseError> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(ParseError::new("key", "(not shown)", "give the key alone, on one line"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The key itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// A server's address as it was written. It may hold a password, so it shows itself to nobody.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct StoreAddress(String);

impl StoreAddress {
    /// What somebody wrote, unchecked.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The server, and `tenant` or the usual one on it. What it does not say of encryption, `tls` may.
    ///
    /// # Errors
    /// It is no server's address. The error does not repeat it.
    pub fn server(&self, tenant: Option<&str>, tls: &TlsOptions) -> Result<Server, Error> {
        Ok(Server::parse_with(&self.0, tenant.unwrap_or(LOCAL), tls)?)
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreAddress(hidden)")
    }
}

impl Settings {
    /// Settings for a home with everything else at its default.
    pub fn for_home(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            store: None,
            tls: TlsOptions::default(),
            zone: TimeZone::UTC,
            project_root: None,
            words_only: false,
            judge_key: None,
            older_database: None,
            older_layered_home: None,
            config: Config::default(),
        }
    }
}

/// `config.toml` of the home. Every key is optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The server that holds the store, as `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full`; without it
    /// the store is in the home. `--store` and `STRATA_STORE` win over it.
    pub store: Option<StoreAddress>,
    /// Whose memory on that server; `local` when absent. `--tenant` wins over it.
    pub tenant: Option<String>,
    /// IANA name of the user's time zone; the system's when absent.
    pub timezone: Option<String>,
    /// Semantic search.
    pub semantic: Semantic,
    /// Recall's defaults.
    pub recall: Recall,
    /// The knowledge graph.
    pub graph: Graph,
    /// Upkeep.
    pub maintain: Maintain,
    /// Where the ontology and its proposals lie.
    pub gate: Gate,
    /// The language model that may be asked for advice.
    pub judge: Judge,
    /// The namespace that calls belong to; `--namespace` and `STRATA_NAMESPACE` win over it.
    pub namespace: Option<String>,
    /// How knowledge is written and indexed.
    #[serde(deserialize_with = "read_elsewhere")]
    pub knowledge: Knowledge,
    /// Where items belong.
    #[serde(deserialize_with = "read_elsewhere")]
    pub routing: Routing,
    /// Words by which knowledge says that something is open.
    #[serde(deserialize_with = "read_elsewhere")]
    pub governance: Governance,
    /// Files in which anything lands.
    #[serde(deserialize_with = "read_elsewhere")]
    pub promotion: Promotion,
    /// The log of changes of knowledge.
    #[serde(deserialize_with = "read_elsewhere")]
    pub changelog: Changelog,
    /// Which knowledge is read.
    #[serde(deserialize_with = "read_elsewhere")]
    pub access_log: AccessLog,
    /// What projects are read, kept and told by: the tables that follow, and a part of `[knowledge]`.
    #[serde(deserialize_with = "read_elsewhere")]
    pub project: ProjectConfig,
    /// The `[runtime]` table; what it says stands in `project`.
    pub(crate) runtime: Elsewhere,
    /// The `[retrieval]` table, likewise.
    pub(crate) retrieval: Elsewhere,
    /// The `[memory]` table, likewise.
    pub(crate) memory: Elsewhere,
    /// The `[privacy]` table, whose settings have one value each.
    pub(crate) privacy: Elsewhere,
    /// The `[memory_retention]` table, likewise.
    pub(crate) memory_retention: Elsewhere,
    /// What of the configuration makes no sense and was passed over, as sentences.
    #[serde(skip)]
    pub notices: Vec<String>,
}

/// A table that is read key by key into another place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Elsewhere;

impl<'de> Deserialize<'de> for Elsewhere {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_elsewhere(deserializer)
    }
}

/// Tables that are read key by key, so that a slip in one costs that one: see [`file`].
fn read_elsewhere<'de, D: Deserializer<'de>, T: Default>(deserializer: D) -> Result<T, D::Error> {
    IgnoredAny::deserialize(deserializer)?;
    Ok(T::default())
}

/// The `[graph]` table.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Graph {
    /// `[graph.relations.NAME]`: types of relation beside the built-in ones, or kinds of your own for those.
    pub relations: BTreeMap<String, RelationKinds>,
}

/// Which kinds of entity a type of relation may join; none is any.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelationKinds {
    /// The kinds it may start from.
    pub from: Vec<String>,
    /// The kinds it may lead to.
    pub to: Vec<String>,
}

impl Graph {
    /// The built-in table of relations with what the file adds.
    ///
    /// # Errors
    /// An argument error that names the table's entry, when a word is not well formed or a built-in
    /// constraint would be loosened.
    pub fn constraints(&self) -> Result<Constraints, Error> {
        let mut table = Constraints::default();
        for (name, kinds) in &self.relations {
            let extended = table.extend(name, &kinds.from, &kinds.to);
            extended.map_err(|e| Error::parse(&format!("graph.relations.{name}"), &e))?;
        }
        Ok(table)
    }
}

/// The `[maintain]` table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Maintain {
    /// Whether a server that has been idle for ten minutes does the upkeep that is due.
    pub idle: bool,
}

impl Default for Maintain {
    fn default() -> Self {
        Self { idle: true }
    }
}

/// The `[judge]` table. Nothing is asked until `provider` is set.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Judge {
    /// Who is asked.
    pub provider: JudgeProvider,
    /// Where: the address up to `/v1`. Plain `http` only to your own network.
    pub url: String,
    /// Which model.
    pub model: String,
    /// Milliseconds that one question may take, 100 to 300000.
    pub timeout_ms: u64,
    /// The environment variable that holds the key. The key itself is in no configuration.
    pub key_env: Option<String>,
    /// The file that holds the key; a relative path begins in the home.
    pub key_file: Option<PathBuf>,
}

impl Default for Judge {
    fn default() -> Self {
        Self {
            provider: JudgeProvider::Off,
            url: String::new(),
            model: String::new(),
            timeout_ms: 20_000,
            key_env: None,
            key_file: None,
        }
    }
}

/// Who is asked for advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeProvider {
    /// Nobody.
    Off,
    /// A server that speaks the chat-completions interface.
    OpenaiCompatible,
}

impl Config {
    /// Values that the types let through and that make no sense, as (key, what is wrong, what to write).
    fn faults(&self) -> Option<(&'static str, String, &'static str)> {
        let is_blank = self.namespace.as_ref().is_some_and(|name| name.trim().is_empty());
        let blank = is_blank.then(|| ("namespace", "is empty".into(), "name one, or leave the line out"));
        let of_tables =
            || self.judge.faults().or_else(|| self.recall.faults()).or_else(|| self.semantic.faults());
        blank.or_else(of_tables)
    }
}

impl Judge {
    fn faults(&self) -> Option<(&'static str, String, &'static str)> {
        if self.provider == JudgeProvider::Off {
            return None;
        }
        if let Err(e) = Address::parse(&self.url) {
            return Some(("judge.url", e.to_string(), "write the address up to `/v1`"));
        }
        if self.model.trim().is_empty() {
            return Some(("judge.model", "is empty".into(), "name the model"));
        }
        let fits = (100..=300_000).contains(&self.timeout_ms);
        (!fits).then(|| ("judge.timeout_ms", format!("is {}", self.timeout_ms), "write 100 to 300000"))
    }
}

/// The `[gate]` table. A relative path begins in the home.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gate {
    /// The file of entries; `ontology.jsonl` in the home when absent.
    pub ontology: Option<PathBuf>,
    /// The folder of proposals; `proposals` in the home when absent.
    pub proposals: Option<PathBuf>,
}

/// The `[semantic]` table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Semantic {
    /// The embedding model: `static` (in the binary) or `off`.
    pub model: String,
    /// Whether searches go by meaning too. What is stored is indexed all the same.
    pub enabled: bool,
    /// Who makes the vectors of questions: `static` or `none`, which is the same as not `enabled`.
    pub provider: String,
}

/// The embedding model in the binary.
pub(crate) const STATIC: &str = "static";
/// Nobody makes vectors of questions.
pub(crate) const NOBODY: &str = "none";
/// No embedding model.
pub(crate) const OFF: &str = "off";

impl Semantic {
    /// Whether searches go by words alone though there may be vectors.
    pub fn is_words_only(&self) -> bool {
        !self.enabled || self.provider == NOBODY
    }

    fn faults(&self) -> Option<(&'static str, String, &'static str)> {
        let fault = |key, what: &str, value: &str, hint| {
            (key, format!("there is no {what} `{}`", crate::render::shortened(value, 60)), hint)
        };
        if ![STATIC, OFF].contains(&self.model.as_str()) {
            return Some(fault("semantic.model", "model", &self.model, "write `static` or `off`"));
        }
        let known = [STATIC, NOBODY].contains(&self.provider.as_str());
        (!known).then(|| fault("semantic.provider", "provider", &self.provider, "write `static` or `none`"))
    }
}

impl Default for Semantic {
    fn default() -> Self {
        Self { model: STATIC.into(), enabled: true, provider: STATIC.into() }
    }
}

/// The `[recall]` table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recall {
    /// Results when the caller names no limit.
    pub limit: u32,
    /// How words and meaning are put together.
    pub fusion: Fusion,
    /// Whether questions without an answer return nothing.
    pub floor: bool,
    /// With `rrf`: what full distance from `confidence_center` adds to a score, 0 to 1.
    pub confidence_gain: f32,
    /// With `rrf`: the confidence that neither adds nor takes away, 0 to 1.
    pub confidence_center: f32,
    /// With `rrf`: what being new adds to a score, 0 to 1.
    pub recency_gain: f32,
    /// With `rrf`: days in which that falls to nothing; 0 turns it off.
    pub recency_window_days: f32,
}

impl Recall {
    fn faults(&self) -> Option<(&'static str, String, &'static str)> {
        let shares = [
            ("recall.confidence_gain", self.confidence_gain),
            ("recall.confidence_center", self.confidence_center),
            ("recall.recency_gain", self.recency_gain),
        ];
        if let Some((key, value)) = shares.into_iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
            return Some((key, format!("is {value}"), "write a number from 0 to 1"));
        }
        let days = self.recency_window_days;
        (!(0.0..=36_500.0).contains(&days))
            .then(|| ("recall.recency_window_days", format!("is {days}"), "write days, 0 to 36500"))
    }
}

/// How words and meaning are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// Normalised per query and weighted: measured best.
    Convex,
    /// By reciprocal ranks with small boosts: the numbers that p-layer documents.
    Rrf,
    /// By reciprocal ranks times confidence times freshness: p-layer's older order.
    Legacy,
}

impl Fusion {
    /// The word in `config.toml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Convex => "convex",
            Self::Rrf => "rrf",
            Self::Legacy => "legacy",
        }
    }
}

impl Default for Recall {
    fn default() -> Self {
        Self {
            limit: 10,
            fusion: Fusion::Convex,
            floor: true,
            confidence_gain: 0.0005,
            confidence_center: 0.5,
            recency_gain: 0.0002,
            recency_window_days: 30.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_key_is_named_with_its_line() {
        let home = tempfile::tempdir().expect("temporary directory");
        assert_eq!(read_config(home.path()).expect("defaults"), Config::default());
        #[expect(clippy::disallowed_methods, reason = "a test fixture needs no atomic write")]
        std::fs::write(home.path().join(CONFIG_FILE), "[recall]\nlimt = 3\n").expect("fixture");
        let error = read_config(home.path()).expect_err("unknown key");
        assert!(error.to_string().contains("limt"), "{error}");
    }

    #[test]
    fn relations_come_in_by_the_file_and_loosen_nothing() {
        let read = |text: &str| toml::from_str::<Config>(text).expect("well formed").graph.constraints();
        let table =
            read("[graph.relations.runs_on]\nfrom = [\"service\"]\nto = [\"host\"]\n").expect("a new type");
        assert!(table.rule("runs_on").is_some_and(|rule| rule.to.admits("host") && !rule.to.admits("tool")));
        let error =
            read("[graph.relations.caused]\nfrom = [\"tool\"]\n").expect_err("the table keeps tools out");
        assert!(error.to_string().contains("graph.relations.caused"), "{error}");
    }

    #[test]
    fn values_without_a_meaning_are_refused_with_their_key() {
        for (text, key) in [
            ("[judge]\nprovider = \"openai_compatible\"\nmodel = \"m\"\n", "judge.url"),
            ("[judge]\nprovider = \"openai_compatible\"\nurl = \"http://localhost/v1\"\n", "judge.model"),
            (
                "[judge]\nprovider = \"openai_compatible\"\nurl = \"http://localhost/v1\"\nmodel = \"m\"\ntimeout_ms = 1\n",
                "judge.timeout_ms",
            ),
            ("[semantic]\nmodel = \"no-such-model\"\n", "semantic.model"),
            ("[semantic]\nmodel = \"\"\n", "semantic.model"),
            ("[recall]\nconfidence_gain = nan\n", "recall.confidence_gain"),
            ("[recall]\nrecency_gain = -0.1\n", "recall.recency_gain"),
            ("[recall]\nrecency_window_days = inf\n", "recall.recency_window_days"),
        ] {
            let config: Config = toml::from_str(text).expect("well formed");
            assert_eq!(config.faults().map(|f| f.0), Some(key), "{text}");
        }
        assert_eq!(Config::default().faults(), None);
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::new("sk-quokka").expect("a key");
        assert_eq!(format!("{key:?}"), "Key(hidden)");
        for wrong in ["", "two words", "line\nbreak", "ключ"] {
            let error = Key::new(wrong).expect_err("no key").to_string();
            assert!(wrong.is_empty() || !error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_word_that_means_nothing_is_refused_with_those_that_do() {
        let read = |text: &str| toml::from_str::<Config>(text);
        assert_eq!(read("[recall]\nfusion = \"rrf\"\n").expect("known").recall.fusion, Fusion::Rrf);
        let error = read("[recall]\nfusion = \"rff\"\n").expect_err("unknown").to_string();
        assert!(error.contains("convex") && error.contains("rrf"), "{error}");
    }
}
