//! The directory: configuration, permissions, file system, space.

use std::path::PathBuf;

use strata_store::{ledger::FILE_NAME, place};

use super::Examination;
use crate::{
    judge,
    settings::{CONFIG_FILE, read_config},
};

/// Free space below which the next writes may fail, and below which it is time to make room: 32 and 256 MiB.
const SCARCE: [u64; 2] = [32 << 20, 256 << 20];

impl Examination<'_> {
    pub(super) fn configuration(&mut self) {
        match read_config(self.engine.home()) {
            Ok(config) => {
                let mended = || format!("correct {}", self.engine.home().join(CONFIG_FILE).display());
                let elsewhere = self.engine.settings().config.notices.clone();
                let elsewhere: Vec<String> =
                    elsewhere.into_iter().filter(|notice| !config.notices.contains(notice)).collect();
                if config.notices.is_empty() && elsewhere.is_empty() {
                    self.ok("configuration", format!("{CONFIG_FILE} can be read, or is not there"));
                }
                for notice in config.notices {
                    self.bad("configuration", notice, mended());
                }
                for notice in elsewhere {
                    self.warn("configuration", notice, "correct the variable or the project's file");
                }
            }
            Err(error) => self.bad("configuration", error.to_string(), error.hint()),
        }
    }

    pub(super) fn semantic(&mut self) {
        use strata_embed::Semantic;
        match self.engine.searcher().semantic() {
            Semantic::Off { reason } => {
                let hint =
                    "words are searched all the same; `semantic.model` in config.toml chooses the model";
                self.warn("semantic search", format!("off: {reason}"), hint);
            }
            state => {
                let model = self.engine.searcher().model().unwrap_or_default().to_owned();
                self.ok("semantic search", format!("{state}, with {model}"));
            }
        }
    }

    /// Whether a judge is configured and could be made. It is not asked: a check must work offline, and costs nothing.
    pub(super) fn judge(&mut self) {
        let described = judge::describe(&self.engine.settings().config.judge);
        match self.engine.judge() {
            Ok(None) => self.ok("judge", "off: nothing leaves this machine"),
            Ok(Some(_)) => self.ok("judge", format!("{described}; not asked")),
            Err(error) => self.bad("judge", error.to_string(), error.hint()),
        }
    }

    pub(super) fn place(&mut self) {
        let home = self.engine.home().to_owned();
        let Some(existing) = home.ancestors().find(|folder| folder.exists()).map(PathBuf::from) else {
            return self.bad("home", "no part of its path exists", "choose another home with --home");
        };
        if let Err(error) = place::check_filesystem(&existing) {
            self.bad("file system", error.to_string(), error.hint());
        }
        match place::free_space(&existing) {
            Some(free) if free < SCARCE[0] => {
                self.bad(
                    "disk",
                    format!("{} MiB are free", free >> 20),
                    "free some space before the next write fails",
                );
            }
            Some(free) if free < SCARCE[1] => {
                self.warn("disk", format!("{} MiB are free", free >> 20), "free some space soon");
            }
            Some(free) => self.ok("disk", format!("{} MiB are free", free >> 20)),
            None => {}
        }
        if home.exists() {
            self.permissions();
        }
    }

    fn permissions(&mut self) {
        let home = self.engine.home();
        let own = self.engine.searcher().index().file_path();
        let files = [Some(home.to_owned()), Some(home.join(FILE_NAME)), own.map(PathBuf::from)];
        let open: Vec<String> = files
            .iter()
            .flatten()
            .filter(|path| place::is_open_to_others(path))
            .map(|path| path.display().to_string())
            .collect();
        if open.is_empty() {
            return self.ok("permissions", "only you can read the home");
        }
        // Nobody reaches a file inside a closed directory.
        let matters = place::is_open_to_others(home);
        let hint = format!("chmod -R go= {}", home.display());
        if matters {
            self.warn("permissions", format!("others may open {}", open.join(", ")), hint);
        } else {
            self.ok("permissions", "only you can enter the home");
        }
    }
}
