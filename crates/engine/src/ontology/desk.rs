//! Where proposals are worked on: the two places on disk, one lock for both, and what the audit knows of a proposal.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use strata_core::{
    chain::Outcome as Ended,
    memory::Layer,
    policy::Action,
    principal::{Principal, PrincipalKind},
    redact::redact,
    signing::PublicKey,
};
use strata_store::{
    files::{self, FileLock},
    ledger::{AuditFilter, NewAudit},
};

use super::proposal::Proposal;
use crate::{
    authority::{self, PUBLIC_KEY},
    engine::Engine,
    error::Error,
    operation::Call,
};

/// The largest ontology that is read: 64 MiB.
const MAX_ONTOLOGY: u64 = 64 << 20;
/// The largest proposal that is read: 1 MiB.
const MAX_PROPOSAL: u64 = 1 << 20;
/// Most bytes of a proposal's id: with its ending it is a file name everywhere.
const MAX_ID: usize = 120;

/// Names that open a device on Windows, whatever their ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// One caller at the gate.
pub(super) struct Desk<'a> {
    pub(super) engine: &'a Engine,
    pub(super) call: &'a Call<'a>,
    pub(super) ontology: PathBuf,
    pub(super) proposals: PathBuf,
}

/// A proposal as it was read, with the bytes it was read from.
pub(super) struct Opened {
    pub(super) proposal: Proposal,
    pub(super) bytes: Vec<u8>,
    pub(super) path: PathBuf,
}

/// What the audit knows of exactly this proposal.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Its id was proposed last in other words than it has now.
    pub(super) reworded: bool,
    pub(super) applied: bool,
    pub(super) deprecated: bool,
}

impl<'a> Desk<'a> {
    pub(super) fn new(engine: &'a Engine, call: &'a Call<'a>) -> Self {
        let places = &engine.settings().config.gate;
        let at = |told: Option<&PathBuf>, name: &str| {
            engine.home().join(told.cloned().unwrap_or_else(|| PathBuf::from(name)))
        };
        Self {
            engine,
            call,
            ontology: at(places.ontology.as_ref(), "ontology.jsonl"),
            proposals: at(places.proposals.as_ref(), "proposals"),
        }
    }

    /// Keeps other processes of this home away from ontology and proposals until dropped.
    pub(super) fn lock(&self) -> Result<FileLock, Error> {
        self.engine.ledger(self.call)?;
        let locks = self.engine.home().join("locks");
        Ok(FileLock::acquire(&locks, &self.ontology, &self.engine.control(self.call))?)
    }

    /// The text of the ontology; `None` when there is none yet.
    pub(super) fn read_ontology(&self) -> Result<Option<String>, Error> {
        if is_missing(&self.ontology)? {
            return Ok(None);
        }
        let bytes = files::read_regular(&files::canonical(&self.ontology)?, MAX_ONTOLOGY)?;
        let text = String::from_utf8(bytes).map_err(|e| Error::Argument {
            field: None,
            message: format!("`{}` is not UTF-8: {e}", self.ontology.display()),
            hint: "save the file as UTF-8".into(),
        })?;
        Ok(Some(text))
    }

    /// Replaces the ontology if it still reads as `before`.
    pub(super) fn write_ontology(
        &self,
        lock: &FileLock,
        before: Option<&str>,
        after: &str,
    ) -> Result<(), Error> {
        if let Some(folder) = self.ontology.parent() {
            files::make_private_directory(folder)?;
        }
        Ok(files::swap(lock, &self.ontology, before.map(str::as_bytes), after.as_bytes())?)
    }

    /// The file of a proposal.
    pub(super) fn path(&self, id: &str) -> PathBuf {
        self.proposals.join(format!("{id}.json"))
    }

    /// Reads a proposal.
    pub(super) fn open(&self, id: &str) -> Result<Opened, Error> {
        let path = self.path(id);
        if is_missing(&path)? {
            return Err(Error::NotFound {
                what: "proposal",
                id: id.to_owned(),
                hint: format!("proposals lie in {}", self.proposals.display()),
            });
        }
        let opened = self.open_file(path)?;
        if opened.proposal.id == id {
            return Ok(opened);
        }
        Err(damaged(&opened.path, &format!("holds the proposal `{}`", opened.proposal.id)))
    }

    /// Reads a proposal from its file.
    pub(super) fn open_file(&self, path: PathBuf) -> Result<Opened, Error> {
        refuse_link(&path)?;
        let bytes = files::read_regular(&path, MAX_PROPOSAL)?;
        let proposal = serde_json::from_slice(&bytes).map_err(|e| damaged(&path, &e.to_string()))?;
        Ok(Opened { proposal, bytes, path })
    }

    /// Writes a proposal back if its file still holds what was read.
    pub(super) fn save(&self, lock: &FileLock, opened: &Opened) -> Result<(), Error> {
        refuse_link(&opened.path)?;
        Ok(files::swap(lock, &opened.path, Some(&opened.bytes), &opened.proposal.to_bytes()?)?)
    }

    /// Puts a step on record.
    pub(super) fn record(&self, actor: &Principal, action: &str, proposal: &Proposal) -> Result<(), Error> {
        let place = self.place();
        let row = NewAudit {
            layer: Some(Layer::P0),
            reason: &place,
            after_hash: Some(proposal.digest()),
            ..NewAudit::new(actor, self.call.face, action, &proposal.id)
        };
        let control = self.engine.control(self.call);
        self.engine.ledger(self.call)?.write(&control, self.engine.clock().now(), |w| {
            w.record(&row)?;
            authority::seal(w, self.call, actor)
        })?;
        Ok(())
    }

    /// What was decided of exactly this proposal, whatever its file says.
    pub(super) fn past(&self, proposal: &Proposal) -> Result<Past, Error> {
        let filter = AuditFilter {
            target: Some(proposal.id.clone()),
            outcome: Some(Ended::Done),
            limit: usize::MAX,
            ..AuditFilter::default()
        };
        let rows =
            self.engine.ledger(self.call)?.read(&self.engine.control(self.call), |r| r.audit(&filter))?;
        let (digest, place) = (Some(proposal.digest()), self.place());
        let done =
            |action: &'static str| rows.iter().map(|row| &row.entry).filter(move |e| e.action == action);
        let this = |action| done(action).find(|e| e.after_hash == digest);
        // Whoever changes the file before it is given up must not find what was signed free again afterwards.
        let signed = this("gate_approve").map(|e| e.seq);
        let given_up = done("gate_deprecate")
            .any(|e| e.after_hash == digest || (e.reason == place && signed.is_some_and(|seq| seq < e.seq)));
        // Newest first: an earlier proposal of the same id is not the one that waits.
        let proposed = done("gate_propose").next();
        Ok(Past {
            reworded: proposed.is_some_and(|e| e.after_hash != digest),
            applied: this("gate_apply").or_else(|| this("gate_retire")).is_some(),
            deprecated: given_up,
        })
    }

    /// The folder of the proposals, as the audit has it: ids are unique in one folder only.
    fn place(&self) -> String {
        redact(&self.proposals.display().to_string()).text.into_owned()
    }

    /// The key of this home's human.
    pub(super) fn key(&self) -> Result<Option<PublicKey>, Error> {
        let control = self.engine.control(self.call);
        let text = self.engine.ledger(self.call)?.read(&control, |r| r.setting(PUBLIC_KEY))?;
        Ok(text.as_deref().and_then(authority::parse_public_key))
    }

    /// Lets through whoever may take `step`, which goes on record as `name`; so does the refusal of all others.
    pub(super) fn authorise(
        &self,
        action: Action,
        (step, name): (&str, &'static str),
        id: &str,
    ) -> Result<Principal, Error> {
        authority::authorise_as(self.engine, self.call, action, name, Layer::P0, id)
            .map_err(|e| e.with_command(format!("strata gate {step} {id}")))
    }

    /// The system, doing for the caller what a human approved.
    pub(super) fn system(&self) -> Principal {
        Principal::new(PrincipalKind::System, "gate").on_behalf_of(self.call.principal)
    }
}

/// Checks an id of a proposal: it is part of a file name, so it must be one that stays where it is put.
pub(super) fn checked(field: &str, id: &str) -> Result<(), Error> {
    let stem = id.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|n| n.chars().count() == 1 && !n.starts_with(char::is_alphabetic))
    };
    let wrong = if id.trim().is_empty() {
        "is empty"
    } else if id.len() > MAX_ID {
        "is too long"
    } else if id.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']) || id.contains("..") {
        "names a path"
    } else if id.chars().any(|c| c.is_control() || strata_core::redact::is_invisible(c)) {
        "has characters that cannot be seen"
    } else if id.starts_with(['.', ' ']) || id.ends_with(['.', ' ']) {
        "begins or ends with a dot or a space"
    } else if DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") {
        "is a name that systems keep for devices"
    } else if strata_core::id::Id::parse(id).is_ok() {
        // The audit would tell its steps as those of a memory.
        "is the id of something else"
    } else {
        return Ok(());
    };
    Err(Error::argument(field, wrong, "use letters, digits, `-` and `_`, at most 120 bytes"))
}

/// Whether nothing is there. A file that cannot be looked at is not missing.
pub(super) fn is_missing(path: &Path) -> Result<bool, Error> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(true),
        Err(source) => Err(Error::File { path: path.display().to_string(), source }),
    }
}

fn refuse_link(path: &Path) -> Result<(), Error> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_symlink() => Err(damaged(path, "is a link")),
        _ => Ok(()),
    }
}

/// The file says something else than was proposed: nobody may sign that in place of it.
pub(super) fn reworded(opened: &Opened) -> Error {
    Error::Conflict {
        message: format!("the proposal '{}' was changed after it was proposed", opened.proposal.id),
        hint: format!(
            "remove `{}` and propose again what shall be approved: `strata gate propose`",
            opened.path.display()
        ),
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::Conflict {
        message: format!("the proposal `{}` cannot be used: {what}", path.display()),
        hint: "correct or remove the file, and propose again".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_could_leave_its_folder_is_none() {
        for id in [
            "",
            " ",
            ".",
            "..",
            "../../x",
            "a/b",
            "a\\b",
            "a:b",
            "a\nb",
            "a\u{0}b",
            "a\u{202e}b",
            "CON",
            "nul.txt",
            "com1",
            "LPT9.x",
            "a.",
            " a",
            "a..b",
            "mem_0123456789",
            &"x".repeat(121),
        ] {
            assert!(checked("id", id).is_err(), "{id:?}");
        }
        for id in ["p-1", "rule.v2", "规则_1", "컨트롤", "console", "common", "com12"] {
            assert!(checked("id", id).is_ok(), "{id:?}");
        }
    }
}
