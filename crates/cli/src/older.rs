//! What the variables of older programs mean here, for people who have them set.

use std::path::{Path, PathBuf};

use strata_engine::settings::Settings;

use crate::{
    environment::{
        Environment, KNOWLEDGE_DB_DIR, LAYERED_MEMORY_HOME, P_LAYER_DB, P_LAYER_EMBED, P_LAYER_PG_DSN,
        STRATA_STORE,
    },
    place::{below_user_home, user_home},
};

/// Where p-layer keeps its database when nothing else is said, below the user's own directory.
const DEFAULT_DATABASE: &str = ".p_layer/memory.db";
/// Where its older library does, below its own folder.
const OLDER_DATABASE: &str = "knowledge.db";
/// Where layered-memory keeps its files when nothing else is said, below the user's own directory.
const DEFAULT_LAYERED_HOME: &str = ".layered-memory";
/// The name of "no model" in the settings.
const OFF: &str = "off";

/// What those variables ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Older {
    database: Option<PathBuf>,
    layered_home: Option<PathBuf>,
    words_only: bool,
    notices: Vec<String>,
}

impl Older {
    /// Reads the variables.
    pub(crate) fn new(environment: &Environment) -> Self {
        Self::below(environment, user_home().as_deref())
    }

    fn below(environment: &Environment, user_home: Option<&Path>) -> Self {
        let named = |name: &str| {
            environment.raw(name).map(|v| below_user_home(PathBuf::from(v), user_home.map(Path::to_path_buf)))
        };
        let database = named(P_LAYER_DB)
            .or_else(|| named(KNOWLEDGE_DB_DIR).map(|folder| folder.join(OLDER_DATABASE)))
            .or_else(|| user_home.map(|home| home.join(DEFAULT_DATABASE)));
        let mut older = Self { database, ..Self::default() };
        older.layered_home = match named(LAYERED_MEMORY_HOME) {
            Some(home) if !home.is_absolute() => {
                older.notices.push(format!(
                    "{LAYERED_MEMORY_HOME}={} is no absolute path and is passed over; it names what an import reads, never where memory is kept",
                    home.display()
                ));
                None
            }
            named => named.or_else(|| user_home.map(|home| home.join(DEFAULT_LAYERED_HOME))),
        };
        older.embedder(environment);
        if environment.raw(P_LAYER_PG_DSN).is_some() && environment.raw(STRATA_STORE).is_none() {
            older.notices.push(format!(
                "{P_LAYER_PG_DSN} chooses the server that holds the store, unless `--store` does; {STRATA_STORE} says the same"
            ));
        }
        older
    }

    fn embedder(&mut self, environment: &Environment) {
        let Some(value) = environment.text(P_LAYER_EMBED) else { return };
        let said = match value.trim().to_lowercase().as_str() {
            "none" | "" => {
                self.words_only = value.trim().eq_ignore_ascii_case("none");
                return;
            }
            "hash" => {
                self.words_only = true;
                "hashes are no embedding, so search is by words only; `none` says the same without this notice"
            }
            "ollama" => "search by meaning uses the model in the binary; nothing is asked over the network",
            _ => "is none of ollama, hash, none; search by meaning uses the model in the binary",
        };
        self.notices.push(format!("{P_LAYER_EMBED}={value}: {said}"));
    }

    /// Puts what they ask for into the settings.
    pub(crate) fn apply(&self, settings: &mut Settings) {
        settings.older_database.clone_from(&self.database);
        settings.older_layered_home.clone_from(&self.layered_home);
        if self.words_only {
            settings.config.semantic.model = OFF.into();
        }
    }

    /// What a person should know: values that mean something else here, or nothing.
    pub(crate) fn notices(&self) -> &[String] {
        &self.notices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn older<const N: usize>(pairs: [(&str, &str); N]) -> Older {
        Older::below(&Environment::from(pairs), Some(Path::new("/home/ana")))
    }

    #[test]
    fn the_database_is_the_one_that_p_layer_would_open() {
        let database = |older: Older| older.database.expect("a path").display().to_string();
        assert_eq!(database(older([])), "/home/ana/.p_layer/memory.db");
        assert_eq!(database(older([(P_LAYER_DB, "~/x/memory.db")])), "/home/ana/x/memory.db");
        assert_eq!(database(older([(KNOWLEDGE_DB_DIR, "./.knowledge")])), "./.knowledge/knowledge.db");
        let both = older([(P_LAYER_DB, "/a.db"), (KNOWLEDGE_DB_DIR, "/b")]);
        assert_eq!(database(both), "/a.db");
        assert_eq!(Older::below(&Environment::default(), None).database, None);
    }

    #[test]
    fn layered_05_the_older_home_is_what_an_import_reads() {
        let found = |value: &str| older([(LAYERED_MEMORY_HOME, value)]);
        assert_eq!(found("/srv/lm").layered_home.as_deref(), Some(Path::new("/srv/lm")));
        assert_eq!(found("~/lm").layered_home.as_deref(), Some(Path::new("/home/ana/lm")));
        assert_eq!(found("").layered_home.as_deref(), Some(Path::new("/home/ana/.layered-memory")));
        let relative = found("relative");
        assert_eq!((relative.layered_home.clone(), relative.notices.len()), (None, 1));
        assert!(!relative.notices[0].contains('\n'), "{:?}", relative.notices);
    }

    #[test]
    fn every_embedder_has_a_meaning_and_others_a_notice() {
        for (value, words_only, notices) in [
            ("none", true, 0),
            ("None", true, 0),
            ("hash", true, 1),
            ("ollama", false, 1),
            ("opanai", false, 1),
            ("", false, 0),
        ] {
            let older = older([(P_LAYER_EMBED, value)]);
            assert_eq!((older.words_only, older.notices.len()), (words_only, notices), "{value}");
            let mut settings = Settings::for_home("/h");
            older.apply(&mut settings);
            assert_eq!(settings.config.semantic.model == "off", words_only, "{value}");
        }
        assert_eq!(older([(P_LAYER_PG_DSN, "postgres://x")]).notices.len(), 1);
    }
}
