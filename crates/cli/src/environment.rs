//! Every environment variable that Strata reads, in one table.

use std::{collections::HashMap, ffi::OsString};

/// One documented variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does, as a sentence for the reference page.
    pub(crate) about: &'static str,
}

/// The directory of the store.
pub(crate) const STRATA_HOME: &str = "STRATA_HOME";
/// The server that holds the store.
pub(crate) const STRATA_STORE: &str = "STRATA_STORE";
/// Whose memory on that server.
pub(crate) const STRATA_TENANT: &str = "STRATA_TENANT";
/// How the connection to that server is encrypted.
pub(crate) const PGSSLMODE: &str = "PGSSLMODE";
/// Whom its certificate must come from.
pub(crate) const PGSSLROOTCERT: &str = "PGSSLROOTCERT";
/// The client's certificate.
pub(crate) const PGSSLCERT: &str = "PGSSLCERT";
/// The key of that.
pub(crate) const PGSSLKEY: &str = "PGSSLKEY";
/// The project that calls belong to.
pub(crate) const STRATA_PROJECT: &str = "STRATA_PROJECT";
/// The namespace that calls belong to.
pub(crate) const STRATA_NAMESPACE: &str = "STRATA_NAMESPACE";
/// The toolsets that `serve` shows.
pub(crate) const STRATA_TOOLSETS: &str = "STRATA_TOOLSETS";
/// The file of the ontology, under the name that p-layer gave the variable.
pub(crate) const P0_ONTOLOGY: &str = "P0_ONTOLOGY";
/// The folder of proposals, likewise.
pub(crate) const P0_PROPOSALS: &str = "P0_PROPOSALS";
/// The directory of the project, set by a client.
pub(crate) const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// The directory of the project, under memory-engine's name.
pub(crate) const MEMORY_ENGINE_PROJECT_ROOT: &str = "MEMORY_ENGINE_PROJECT_ROOT";
/// The database of p-layer.
pub(crate) const P_LAYER_DB: &str = "P_LAYER_DB";
/// The embedder of p-layer.
pub(crate) const P_LAYER_EMBED: &str = "P_LAYER_EMBED";
/// The PostgreSQL store of p-layer.
pub(crate) const P_LAYER_PG_DSN: &str = "P_LAYER_PG_DSN";
/// The folder of p-layer's older library.
pub(crate) const KNOWLEDGE_DB_DIR: &str = "KNOWLEDGE_DB_DIR";
/// The home of layered-memory: an import source, never a home of ours.
pub(crate) const LAYERED_MEMORY_HOME: &str = "LAYERED_MEMORY_HOME";
/// The namespace that calls belong to, under layered-memory's name.
pub(crate) const LAYERED_MEMORY_NAMESPACE: &str = "LAYERED_MEMORY_NAMESPACE";
/// What is logged.
pub(crate) const RUST_LOG: &str = "RUST_LOG";
/// No colour, whatever its value.
pub(crate) const NO_COLOR: &str = "NO_COLOR";
/// Colour even into a pipe.
pub(crate) const CLICOLOR_FORCE: &str = "CLICOLOR_FORCE";
/// The width of output that is not a terminal.
pub(crate) const COLUMNS: &str = "COLUMNS";

/// The variables a user may set, in documentation order.
pub(crate) const VARIABLES: &[Variable] = &[
    Variable {
        name: STRATA_HOME,
        about: "The directory of the store. `--home` wins over it; the default is `~/.strata`.",
    },
    Variable {
        name: STRATA_STORE,
        about: "The PostgreSQL server that holds the store: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. `--store` wins over \
                it, and it over `store` in `config.toml`; without any the store is in the home.",
    },
    Variable {
        name: STRATA_TENANT,
        about: "Whose memory on that server. `--tenant` wins over it, and it over `tenant` in `config.toml`; the default is \
                `local`.",
    },
    Variable {
        name: PGSSLMODE,
        about: "How the connection to that server is encrypted, when its address does not say: `disable`, `allow`, `prefer`, \
                `require`, `verify-ca` or `verify-full`.",
    },
    Variable {
        name: PGSSLROOTCERT,
        about: "The file of the authorities whom the server's certificate may come from, or `system`, likewise.",
    },
    Variable { name: PGSSLCERT, about: "The file of the client's certificate for that server, likewise." },
    Variable { name: PGSSLKEY, about: "The file of that certificate's key, likewise." },
    Variable {
        name: STRATA_PROJECT,
        about: "The project calls belong to: a directory inside it, or its key. `--project` wins over it; \
                otherwise the project is found from the working directory.",
    },
    Variable {
        name: STRATA_NAMESPACE,
        about: "The namespace calls belong to. `--namespace` wins over it; the default is `shared`.",
    },
    Variable {
        name: STRATA_TOOLSETS,
        about: "The toolsets `strata serve` shows, separated by commas. `--toolsets` wins over it; the default is `core`.",
    },
    Variable {
        name: P0_ONTOLOGY,
        about: "The file of the ontology that `strata gate` works on, under p-layer's name. It wins over `[gate] ontology` in \
                `config.toml`; the default is `ontology.jsonl` in the home.",
    },
    Variable {
        name: P0_PROPOSALS,
        about: "The folder of proposals that `strata gate` works on, under p-layer's name. It wins over `[gate] proposals` in \
                `config.toml`; the default is `proposals` in the home.",
    },
    Variable {
        name: CLAUDE_PROJECT_DIR,
        about: "Set by a client for its servers: the project's directory, used when no project is named.",
    },
    Variable {
        name: RUST_LOG,
        about: "What is logged to standard error, e.g. `info` or `strata_engine=debug`. It wins over `-v`. Whatever it \
                says, what a server's client sends is not logged.",
    },
    Variable {
        name: NO_COLOR,
        about: "When set and not empty, output has no colour. `--color` wins over it.",
    },
    Variable { name: CLICOLOR_FORCE, about: "When set and not `0`, output has colour even into a pipe." },
    Variable { name: COLUMNS, about: "The width in columns to fit output into when it is not a terminal." },
    Variable {
        name: P_LAYER_DB,
        about: "Of p-layer: its database, which `strata import-p-layer` takes when no file is named. A leading `~` is the \
                user's own directory. It does not choose the home; `STRATA_HOME` does.",
    },
    Variable {
        name: KNOWLEDGE_DB_DIR,
        about: "Of p-layer's older library: the folder of a `knowledge.db`, which `strata import-p-layer` takes when neither \
                a file nor `P_LAYER_DB` is named. Without either it is `~/.p_layer/memory.db`.",
    },
    Variable {
        name: P_LAYER_EMBED,
        about: "Of p-layer: `none` and `hash` turn search by meaning off; with `ollama` and any other value it uses the model \
                in the binary, with a notice.",
    },
    Variable {
        name: P_LAYER_PG_DSN,
        about: "Of p-layer: another name of `STRATA_STORE`, which wins over it. A notice says when it chooses the store.",
    },
    Variable { name: "OLLAMA_HOST", about: "Of p-layer: not used; nothing is asked over the network." },
    Variable {
        name: "EMBED_MODEL",
        about: "Of p-layer: not used; `semantic.model` in `config.toml` chooses the model.",
    },
    Variable {
        name: LAYERED_MEMORY_HOME,
        about: "Of layered-memory: its folder, which an import of it takes when none is named; without it that is \
                `~/.layered-memory`. It does not choose the home; `STRATA_HOME` does.",
    },
    Variable {
        name: LAYERED_MEMORY_NAMESPACE,
        about: "Of layered-memory: another name of `STRATA_NAMESPACE`, which wins over it. Letters, digits, `-` and `_`; read in \
                lower case.",
    },
    Variable {
        name: MEMORY_ENGINE_PROJECT_ROOT,
        about: "Of memory-engine: the project's top directory. `--project-root`, `--project` and `STRATA_PROJECT` win over it.",
    },
    Variable {
        name: "MEMORY_ENGINE_OLLAMA_BASE_URL",
        about: "Of memory-engine: not used; nothing is asked over the network.",
    },
    Variable {
        name: "TZ",
        about: "The time zone of days and dates, unless `timezone` is set in `config.toml`.",
    },
];

/// Signs of a program that runs commands for a model. A name that ends in `_` is a prefix.
///
/// A person inside such a program is taken for the agent: the safe side to err on.
pub(crate) const AGENT_SIGNS: &[Variable] = &[
    Variable { name: "CLAUDECODE", about: "Claude Code" },
    Variable { name: "CLAUDE_CODE_", about: "Claude Code" },
    Variable { name: "CURSOR_", about: "Cursor" },
    Variable { name: "CODEX_", about: "Codex" },
    Variable { name: "GEMINI_CLI", about: "Gemini CLI" },
    Variable { name: "OPENCODE", about: "OpenCode" },
    Variable { name: "OPENCODE_", about: "OpenCode" },
    Variable { name: "QWEN_CODE", about: "Qwen Code" },
    Variable { name: "CLINE_", about: "Cline" },
    Variable { name: "GOOSE_", about: "Goose" },
    Variable { name: "AMP_", about: "Amp" },
    Variable { name: "COPILOT_", about: "Copilot" },
    Variable { name: "HERMES_", about: "Hermes" },
    Variable { name: "AI_AGENT", about: "any agent that says so" },
    Variable { name: "AGENT", about: "any agent that says so" },
];

/// The variables of this process, read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment(HashMap<OsString, OsString>);

impl Environment {
    /// Those of the process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// A variable that is set and not empty, as it is.
    pub(crate) fn raw(&self, name: &str) -> Option<&OsString> {
        self.0.get(std::ffi::OsStr::new(name)).filter(|v| !v.is_empty())
    }

    /// A variable that is set and not empty, as text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.raw(name).map(|v| v.to_string_lossy().into_owned())
    }

    /// A variable that is set, as text, empty or not.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        self.0.get(std::ffi::OsStr::new(name)).map(|v| v.to_string_lossy().into_owned())
    }

    /// The agent whose sign is set.
    pub(crate) fn agent(&self) -> Option<&'static str> {
        let set = |sign: &str| {
            if sign.ends_with('_') {
                self.0.keys().any(|k| k.to_string_lossy().starts_with(sign))
            } else {
                self.raw(sign).is_some()
            }
        };
        AGENT_SIGNS.iter().find(|s| set(s.name)).map(|s| s.about)
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.iter().map(|(k, v)| (k.into(), v.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_name_and_by_prefix() {
        assert_eq!(Environment::from([("CLAUDECODE", "1")]).agent(), Some("Claude Code"));
        assert_eq!(Environment::from([("CURSOR_TRACE_ID", "x")]).agent(), Some("Cursor"));
        assert_eq!(Environment::from([("CLAUDECODE", ""), ("HOME", "/x")]).agent(), None);
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        assert_eq!(Environment::from([(STRATA_HOME, "")]).text(STRATA_HOME), None);
    }
}
