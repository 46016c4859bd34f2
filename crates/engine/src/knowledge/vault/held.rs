//! A file that this call alone may write, brought to where ledger and disk agree.

use strata_core::{
    knowledge::{changelog::Operation, digest::body_token},
    memory::Layer,
    principal::{Principal, PrincipalKind},
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    files::{directory_of, make_private_directory},
    ledger::{Ledger, LedgerWrite, NewAudit, NewGeneration, Origin, VaultChange, VaultHead},
    sql::Control,
    vault::{Listing, OpenFile, Vault},
};

use super::{Change, Event, Place};
use crate::{engine::Engine, error::Error, operation::Call};

/// What the changelog calls the tool of an edit by hand.
const EDITOR: &str = "editor";

/// See the module.
pub(super) struct Held {
    pub(super) place: Place,
    /// The file, locked; none on a server.
    pub(super) file: Option<OpenFile>,
    pub(super) head: Option<VaultHead>,
    pub(super) text: Option<String>,
    /// The number that its next generation gets, of a file on the disk.
    pub(super) next: i64,
}

impl Held {
    /// Takes the right to write a file. What others did to it meanwhile is put on record first.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub(super) fn take(engine: &Engine, call: &Call<'_>, place: &Place) -> Result<Self, Error> {
        let ledger = engine.ledger(call)?;
        let control = engine.control(call);
        let Some(disk) = engine.vault().disk() else {
            let (head, text) = ledger.read(&control, |r| {
                let head = r.vault_head(place.namespace.as_str(), &place.path.to_string())?;
                let text = match &head {
                    Some(head) => r.vault_text(head.number, head.generation)?,
                    None => None,
                };
                Ok((head, text))
            })?;
            return Ok(Self { place: place.clone(), file: None, head, text, next: 0 });
        };
        make_vault(disk)?;
        let mut file = disk.open(&place.namespace, &place.path, &control)?;
        let (head, next) = settle(engine, call, disk, place, &mut file)?;
        let text = file.text().map(str::to_owned);
        Ok(Self { place: place.clone(), file: Some(file), head, text, next })
    }

    /// The number of its generation that holds; `None` when no such file was ever known.
    pub(super) fn generation(&self) -> Option<i64> {
        self.head.as_ref().map(|head| head.generation)
    }
}

/// Above its folders the vault is there, or nobody could tell a new vault from one that is out of reach.
pub(super) fn make_vault(disk: &Vault) -> Result<(), Error> {
    Ok(make_private_directory(directory_of(disk.root()))?)
}

/// Brings a locked file and its rows together: completes a write that was cut short, or keeps what hands did. Gives its head and
/// the number of its next generation.
fn settle(
    engine: &Engine,
    call: &Call<'_>,
    disk: &Vault,
    place: &Place,
    file: &mut OpenFile,
) -> Result<(Option<VaultHead>, i64), Error> {
    let ledger = engine.ledger(call)?;
    let control = engine.control(call);
    let read = || {
        ledger.read(&control, |r| {
            let head = r.vault_head(place.namespace.as_str(), &place.path.to_string())?;
            let next = r.next_generation(head.as_ref().map(|head| head.number))?;
            Ok((head, next))
        })
    };
    let (head, next) = read()?;
    let announced = file.announced()?;
    let holds = head.as_ref().map_or(file.text().is_none(), |head| head.holds(file.text()));
    if holds {
        if file.text().is_none() {
            // A new file in a folder that lost the others would make it look like one from which they were deleted.
            refuse_emptied(ledger, &control, disk, place)?;
        }
        if announced.is_some() {
            file.conclude()?;
        }
        return Ok((head, next));
    }
    let before = match &head {
        Some(head) => ledger.read(&control, |r| r.vault_generation_before(head.number, head.generation))?,
        None => None,
    };
    let unfinished = head.as_ref().filter(|head| announced == Some(head.generation));
    // A file that is to be made anew from its rows has earlier generations, and is not there.
    let is_as_before = before.as_ref().is_some_and(|before| before.holds(file.text()));
    if let Some(head) = unfinished
        && (is_as_before || file.text().is_none())
    {
        complete(engine, call, head, file)?;
        return Ok((Some(head.clone()), next));
    }
    if file.text().is_none() {
        refuse_emptied(ledger, &control, disk, place)?;
    }
    adopt(engine, call, disk, place, file, unfinished.map(|head| head.generation))?;
    file.conclude()?;
    Ok(read()?)
}

/// Does what a write that was cut short between ledger and file had left to do.
fn complete(engine: &Engine, call: &Call<'_>, head: &VaultHead, file: &mut OpenFile) -> Result<(), Error> {
    let ledger = engine.ledger(call)?;
    match ledger.read(&engine.control(call), |r| r.vault_text(head.number, head.generation))? {
        Some(text) => file.replace(&text)?,
        None => file.remove()?,
    }
    file.conclude()?;
    Ok(())
}

/// Keeps what somebody did to a file without us as a generation. `lost` is one of ours that was announced and that the
/// file never came to hold.
fn adopt(
    engine: &Engine,
    call: &Call<'_>,
    disk: &Vault,
    place: &Place,
    file: &OpenFile,
    lost: Option<i64>,
) -> Result<(), Error> {
    let found = Found::new(engine, call, disk, place, file.text())?;
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        if let Some(lost) = lost {
            found.give_up(w, call, lost)?;
        }
        found.store(w, call)
    })?;
    Ok(())
}

/// What somebody did to a file without us.
struct Found<'a> {
    place: &'a Place,
    /// The text that it holds; none when it is gone.
    text: Option<&'a str>,
    salt: [u8; 16],
    /// When it was saved, as far as the disk says.
    saved: Option<Timestamp>,
    operation: Operation,
    summary: &'static str,
    /// The line of the changelog.
    change: VaultChange,
    /// In whose name it goes on record.
    writer: Principal,
}

impl<'a> Found<'a> {
    fn new(
        engine: &Engine,
        call: &Call<'_>,
        disk: &Vault,
        place: &'a Place,
        text: Option<&'a str>,
    ) -> Result<Self, Error> {
        let path = place.path.to_string();
        let before = engine.ledger(call)?.read(&engine.control(call), |r| {
            match r.vault_head(place.namespace.as_str(), &path)?.filter(VaultHead::is_present) {
                Some(head) => r.vault_text(head.number, head.generation),
                None => Ok(None),
            }
        })?;
        let (operation, summary) = match (&before, text) {
            (None, _) => (Operation::DomainCreated, "a file was found"),
            (Some(_), Some(_)) => (Operation::DomainUpdated, "the file was edited by hand"),
            (Some(_), None) => (Operation::DomainDeleted, "the file was deleted by hand"),
        };
        let event = Event::new(operation, summary)
            .tokens(before.as_deref().map(body_token), text.map(body_token))
            .with("file", path)
            .with("origin", Origin::Hand.as_str())
            .with("file_size_bytes", text.map_or(0, str::len));
        Ok(Self {
            place,
            text,
            salt: engine.ids().salt(),
            saved: disk.stamp(&place.namespace, &place.path).map(|(_, modified)| modified),
            operation,
            summary,
            change: event.row(engine, &Change::new(EDITOR), place)?,
            writer: Principal::new(PrincipalKind::System, "vault"),
        })
    }

    fn head(&self, w: &LedgerWrite<'_>) -> Result<Option<VaultHead>, StoreError> {
        w.vault_head(self.place.namespace.as_str(), &self.place.path.to_string())
    }

    /// Marks a generation that the file never came to hold.
    fn give_up(&self, w: &LedgerWrite<'_>, call: &Call<'_>, lost: i64) -> Result<(), StoreError> {
        let Some(head) = self.head(w)? else { return Ok(()) };
        let target = self.place.target();
        let row = NewAudit {
            layer: Some(Layer::P5),
            reason: "the file was changed by somebody else before it was written",
            before_hash: head.hash,
            ..NewAudit::new(&self.writer, call.face, "vault_failed", &target)
        };
        let seq = w.record(&row)?;
        w.fail_generation(head.number, lost, seq)
    }

    /// Stores it as the generation that holds, with its audit row and its line of the changelog.
    fn store(&self, w: &LedgerWrite<'_>, call: &Call<'_>) -> Result<(), StoreError> {
        let head = self.head(w)?;
        let name = self.writer.to_string();
        let new = NewGeneration {
            namespace: self.place.namespace.as_str(),
            path: &self.place.path,
            from: head.as_ref().map(|head| head.generation),
            origin: Origin::Hand,
            writer: &name,
            text: self.text,
            salt: self.salt,
            mtime: self.saved.unwrap_or_else(|| w.now()),
        };
        let target = self.place.target();
        let row = NewAudit {
            layer: Some(Layer::P5),
            reason: self.summary,
            before_hash: head.and_then(|head| head.hash),
            after_hash: new.hash(),
            ..NewAudit::new(&self.writer, call.face, self.operation.as_str(), &target)
        };
        let seq = w.record(&row)?;
        let (number, _) = w.insert_generation(&new, seq)?;
        w.record_vault_change(&VaultChange { number: Some(number), ..self.change.clone() }, 0, seq)
    }
}

/// A folder that is away, or has lost every file at once, is a drive that is not mounted rather than so many deletions.
fn refuse_emptied(ledger: &Ledger, control: &Control, disk: &Vault, place: &Place) -> Result<(), Error> {
    let heads = ledger.read(control, |r| r.vault_heads(Some(place.namespace.as_str())))?;
    let known = heads.iter().filter(|head| head.is_present()).count();
    let message = match disk.list(&place.namespace) {
        Listing::Listed(found, _) if found.is_empty() && known > 1 => {
            emptied(place.namespace.as_str(), known)
        }
        Listing::Unavailable(reason) if known > 0 => reason,
        _ => return Ok(()),
    };
    Err(Error::Conflict {
        message,
        hint: "mount or restore the folder, then try again; to begin anew put any one of the files back"
            .into(),
    })
}

/// What is said of a folder that has lost every file.
pub(super) fn emptied(namespace: &str, known: usize) -> String {
    format!("the folder of `{namespace}` is empty, though {known} files are known in it")
}
