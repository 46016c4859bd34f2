//! What a face tells the engine about its surroundings, and the user's configuration file.

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::error::Error;

/// Everything the engine needs to know from outside. Made by the face from arguments, environment and
/// `config.toml`; the engine reads none of these itself.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The directory of the store.
    pub home: PathBuf,
    /// The user's time zone: days in filters and dates in answers are meant in it.
    pub zone: TimeZone,
    /// The folder that callers other than people may read from, beside the home: the project's root, or
    /// the folder the server was started in.
    pub project_root: Option<PathBuf>,
    /// The user's configuration.
    pub config: Config,
}

impl Settings {
    /// Settings for a home with everything else at its default.
    pub fn for_home(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), zone: TimeZone::UTC, project_root: None, config: Config::default() }
    }
}

/// `config.toml` of the home. Every key is optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// IANA name of the user's time zone; the system's when absent.
    pub timezone: Option<String>,
    /// Semantic search.
    pub semantic: Semantic,
    /// Recall's defaults.
    pub recall: Recall,
}

/// The `[semantic]` table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Semantic {
    /// The embedding model: `static` (in the binary) or `off`.
    pub model: String,
}

impl Default for Semantic {
    fn default() -> Self {
        Self { model: "static".into() }
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
}

/// How words and meaning are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// Normalised per query and weighted: measured best.
    Convex,
    /// By reciprocal ranks: the numbers that p-layer documents.
    Rrf,
}

impl Fusion {
    /// The word in `config.toml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Convex => "convex",
            Self::Rrf => "rrf",
        }
    }
}

impl Default for Recall {
    fn default() -> Self {
        Self { limit: 10, fusion: Fusion::Convex, floor: true }
    }
}

/// The name of the configuration file in the home.
pub const CONFIG_FILE: &str = "config.toml";

/// Reads `config.toml` of a home; a missing file is the defaults, a wrong one an error with its line.
pub fn read_config(home: &Path) -> Result<Config, Error> {
    let path = home.join(CONFIG_FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
            let hint = format!("save {} as UTF-8, or remove it", path.display());
            return Err(Error::argument(CONFIG_FILE, "is not UTF-8 text", hint));
        }
        Err(source) => return Err(Error::File { path: path.display().to_string(), source }),
    };
    toml::from_str(&text).map_err(|e| Error::Argument {
        field: Some(CONFIG_FILE.into()),
        message: e.to_string().trim().to_owned(),
        hint: format!("correct or remove the line in {}", path.display()),
    })
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
    fn a_word_that_means_nothing_is_refused_with_those_that_do() {
        let read = |text: &str| toml::from_str::<Config>(text);
        assert_eq!(read("[recall]\nfusion = \"rrf\"\n").expect("known").recall.fusion, Fusion::Rrf);
        let error = read("[recall]\nfusion = \"rff\"\n").expect_err("unknown").to_string();
        assert!(error.contains("convex") && error.contains("rrf"), "{error}");
    }
}
