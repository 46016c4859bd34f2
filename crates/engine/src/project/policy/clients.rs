//! The files of clients that the policy may be put into, and the one way to change them.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::Deserialize;
use strata_store::files::{FileLock, read_regular, swap};

use super::{
    block::{Block, CLIENT, PAGE},
    generate, text,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    project::layout::{GENERATED, folder},
};

/// A larger file is not edited: 4 MiB.
const MAX_FILE: u64 = 4 << 20;
/// What Cursor's file begins with: it is read with every request.
const CURSOR_HEAD: &str = "---\ndescription: How this project's memory is used\nalwaysApply: true\n---\n\n";

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// `CLAUDE.md`
    ClaudeCode,
    /// `.cursor/rules/agent-memory-policy.mdc`
    Cursor,
    /// `AGENTS.md`, which Codex and many others read
    AgentsMd,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Cursor, Self::AgentsMd];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::AgentsMd => "agents-md",
        }
    }

    /// The folders above its file, from the project's top, and the file.
    pub(super) const fn place(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::ClaudeCode => (&[], "CLAUDE.md"),
            Self::Cursor => (&[".cursor", ".cursor/rules"], "agent-memory-policy.mdc"),
            Self::AgentsMd => (&[], "AGENTS.md"),
        }
    }

    /// Its file.
    pub(super) fn path(self, root: &Path) -> PathBuf {
        let (folders, name) = self.place();
        folders.last().map_or_else(|| root.to_owned(), |folder| root.join(folder)).join(name)
    }

    /// What stands in it.
    pub(super) fn block(self, engine: &Engine, root: &Path) -> Block {
        let runtime = &engine.settings().config.project.runtime;
        let page = folder(root).join(GENERATED).join(super::FILE);
        let (markers, body, head) = match self {
            Self::ClaudeCode | Self::AgentsMd => {
                (CLIENT, text::short(runtime, &page.display().to_string()), "")
            }
            Self::Cursor => (PAGE, text::page(runtime), CURSOR_HEAD),
        };
        Block { markers, body, head, told: generate::told(engine) }
    }
}

/// What becomes of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It stays.
    Nothing,
    /// It says this.
    To(String),
    /// It goes.
    Away,
}

/// A file's text; `None` where there is none. A link is refused: it may lead out of the project.
///
/// # Errors
/// A link, a directory, a file that is no text or too large.
pub(super) fn read(path: &Path) -> Result<Option<String>, Error> {
    let unusable = |what: &str| Error::Conflict {
        message: format!("`{}` {what}", path.display()),
        hint: "nothing was written; edit the file by hand, or put a plain file there".into(),
    };
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::File { path: path.display().to_string(), source }),
        Ok(found) if found.is_symlink() => return Err(unusable("is a link")),
        Ok(found) if !found.is_file() => return Err(unusable("is no file")),
        Ok(_) => {}
    }
    let bytes = read_regular(path, MAX_FILE)?;
    String::from_utf8(bytes).map(Some).map_err(|_| unusable("is not UTF-8 text"))
}

/// Changes a file, in turn with others who do. Tells whether it changed.
///
/// # Errors
/// As those of reading it; that somebody else changed it meanwhile.
pub(super) fn edit(
    engine: &Engine,
    call: &Call<'_>,
    path: &Path,
    change: impl FnOnce(Option<&str>) -> Change,
) -> Result<bool, Error> {
    // A link is told from a file before anything is waited for.
    read(path)?;
    let lock = FileLock::acquire(&engine.home().join("locks"), path, &engine.control(call))?;
    let before = read(path)?;
    let after = match change(before.as_deref()) {
        Change::Nothing => return Ok(false),
        Change::To(after) if before.as_deref() == Some(after.as_str()) => return Ok(false),
        Change::To(after) => after,
        Change::Away => {
            std::fs::remove_file(path)
                .map_err(|source| Error::File { path: path.display().to_string(), source })?;
            return Ok(true);
        }
    };
    swap(&lock, path, before.as_deref().map(str::as_bytes), after.as_bytes())?;
    Ok(true)
}
