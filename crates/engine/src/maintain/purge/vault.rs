//! A file of the vault, or a section of one: it goes from the file and from every earlier version.

use strata_core::{
    id::{Id, IdKind},
    knowledge::{
        changelog::Operation,
        name::{Name, VaultPath},
    },
    markdown::{
        Outline,
        edit::{self, EditError},
    },
    memory::Layer,
    policy::Action,
    principal::Principal,
};
use strata_store::{
    Rewrite,
    ledger::{GenerationRow, NewAudit, OpenPurge, PurgedKind},
};

use super::{
    Request, Response,
    files::{Backups, erase_from_backups, erase_from_index},
    repeated::{self, Said},
    report::Erased,
    target::Target,
    telling::telling_fragments,
};
use crate::{
    authority,
    context::hot::recent,
    documents,
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::{
        l0,
        vault::{self, Change, Edited, Event, Place},
    },
    maintain::purged,
    memory::reference::sees_scope,
    operation::Call,
};

/// Before namespace and path in what names a whole file.
const FILE: &str = "vault:";

/// What is to be erased.
pub(super) struct Wanted {
    place: Place,
    /// The section; `None`: the whole file.
    section: Option<Section>,
}

struct Section {
    title: String,
    body: String,
}

/// What an argument names, if that is a file of the vault (`vault:NAMESPACE/PATH`) or a section of one (the id that a
/// search showed).
pub(super) fn named(engine: &Engine, call: &Call<'_>, text: &str) -> Result<Option<Wanted>, Error> {
    let missing = || Error::NotFound {
        what: "file of the vault",
        id: text.to_owned(),
        hint: "name it as vault:NAMESPACE/PATH, or a section by the id that `recall` shows".into(),
    };
    if let Some(rest) = text.trim().strip_prefix(FILE) {
        let (namespace, path) = rest.split_once('/').ok_or_else(missing)?;
        let namespace = Name::parse(namespace).map_err(|_| missing())?;
        let place = Place::new(namespace, VaultPath::parse(path).map_err(|_| missing())?);
        return Ok(Some(Wanted { place, section: None }));
    }
    let Some(id) = Id::parse(text).ok().filter(|id| id.kind() == IdKind::Document) else { return Ok(None) };
    let (number, part) = documents::parse_id(&id);
    let ledger = engine.existing_ledger()?;
    let (row, text) =
        ledger.read(&engine.control(call), |r| Ok((r.source(number)?, r.vault_head_text(number)?)))?;
    let row = row.filter(documents::is_of_vault).ok_or_else(missing)?;
    let sections = documents::sections_of(&row, text.as_deref())?;
    let found = documents::section_of_part(&sections, part).ok_or_else(missing)?;
    let namespace = Name::parse(&row.namespace).map_err(|_| missing())?;
    let place = Place::new(namespace, VaultPath::parse(&row.path).map_err(|_| missing())?);
    let section = Section { title: found.title.clone(), body: found.body.clone() };
    Ok(Some(Wanted { place, section: Some(section) }))
}

/// Erases it and looks for what is left.
pub(super) fn erase(
    engine: &Engine,
    call: &Call<'_>,
    wanted: &Wanted,
    request: &Request,
) -> Result<Response, Error> {
    let name = format!("{FILE}{}/{}", wanted.place.namespace, wanted.place.path);
    let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
    let actor = authority::authorise(engine, call, Action::Purge, Layer::P5, &name)?;
    vault::look(engine, call, &wanted.place.namespace)?;
    let (number, held) = holding(engine, call, wanted)?;
    take_out(engine, call, wanted)?;
    let target = |id: &str| Target {
        id: id.to_owned(),
        kind: PurgedKind::VaultText,
        number,
        layer: Layer::P5,
        hash: None,
        texts: Vec::new(),
        bodies: 0,
        other_versions: Vec::new(),
        already: false,
    };
    let first = held.first().and_then(|row| row.id.clone()).ok_or_else(|| Error::NotFound {
        what: "text in the vault",
        id: name.clone(),
        hint: "it is in no version of the file any longer".into(),
    })?;
    let ids: Vec<String> = held.into_iter().filter_map(|row| row.id).collect();
    let (texts, bodies) = match &wanted.section {
        Some(section) => (vec![section.body.clone(), section.title.clone()], 1),
        None => {
            let texts = texts_of(engine, call, number)?;
            (texts.clone(), texts.len())
        }
    };
    let said = Said::new(texts.get(..bodies).unwrap_or_default());
    let whole = wanted.section.is_none().then_some(&wanted.place);
    let repeated = repeated::take_out(engine, call, &said, whole)?;
    let open = OpenPurge {
        kind: PurgedKind::VaultText,
        id: first.clone(),
        backups: request.backups.unwrap_or(false),
    };
    erase_rows(engine, call, &actor, (&name, &reason), &open, &ids)?;
    let fragments =
        telling_fragments(engine, call, &Target { texts, bodies, ..target(&first) }, &repeated.kept)?;
    let targets: Vec<Target> = ids.iter().map(|id| target(id)).collect();
    let erased =
        Erased { repeated: repeated.gone, ..finish(engine, call, &actor, (&targets, &said), &open)? };
    Response::proved(engine, call, (&name, "vault_text", number), erased, &fragments)
}

/// The file's number and its versions that hold the text.
fn holding(engine: &Engine, call: &Call<'_>, wanted: &Wanted) -> Result<(i64, Vec<GenerationRow>), Error> {
    let place = &wanted.place;
    let scope = strata_core::scope::Scope {
        namespace: place.namespace.to_string(),
        ..strata_core::scope::Scope::user()
    };
    if !sees_scope(call, &scope) {
        return Err(place.no_file());
    }
    let ledger = engine.existing_ledger()?;
    let found = ledger.read(&engine.control(call), |r| {
        let Some(head) = r.vault_head(place.namespace.as_str(), &place.path.to_string())? else {
            return Ok(None);
        };
        let mut held = Vec::new();
        for row in r.vault_generations(head.number)?.into_iter().filter(|row| row.id.is_some()) {
            let text = r.vault_text(head.number, row.generation)?;
            let holds = match (&wanted.section, text) {
                // What was thinned out is to be unmatchable, too.
                (None, _) | (_, None) => true,
                (Some(section), Some(text)) => text.contains(section.body.trim()),
            };
            held.extend(holds.then_some(row));
        }
        Ok(Some((head.number, held)))
    })?;
    found.ok_or_else(|| place.no_file())
}

/// Every text of a file.
fn texts_of(engine: &Engine, call: &Call<'_>, number: i64) -> Result<Vec<String>, Error> {
    let ledger = engine.existing_ledger()?;
    Ok(ledger.read(&engine.control(call), |r| {
        let mut texts = Vec::new();
        for row in r.vault_generations(number)? {
            texts.extend(r.vault_text(number, row.generation)?);
        }
        Ok(texts)
    })?)
}

/// Makes a version of the file that does not hold it, if the present one does.
fn take_out(engine: &Engine, call: &Call<'_>, wanted: &Wanted) -> Result<(), Error> {
    let change = Change { action: Action::Forget, ..Change::new("purge") };
    let event = |operation| Event::new(operation, "a text was erased for good");
    let taken = vault::edit(engine, call, &wanted.place, &change, &mut |text| {
        let Some(text) = text else { return Ok(Edited::Keep) };
        let Some(section) = &wanted.section else {
            return Ok(Edited::Delete(event(Operation::DomainDeleted)));
        };
        match without(text, section.body.trim()) {
            Ok(Some(rest)) => Ok(Edited::Write(rest, event(Operation::SectionDeleted))),
            Ok(None) => Ok(Edited::Keep),
            Err(error) => Err(Error::argument(
                "id",
                error.to_string(),
                "take the text out of the file, then purge again",
            )),
        }
    });
    taken.map(drop)
}

/// A text without the section of this body, or without the body where that stands outside of the sections; `None`
/// if it is not there.
///
/// # Errors
/// The section cannot be taken out of the text.
pub(super) fn without(text: &str, body: &str) -> Result<Option<String>, EditError> {
    let outline = Outline::parse(text);
    let index = (0..outline.entries().len()).find(|index| outline.body(*index).trim() == body);
    match index {
        Some(index) => edit::delete(text, index).map(Some),
        None if text.contains(body) => Ok(Some(text.replacen(body, "", 1))),
        None => Ok(None),
    }
}

fn erase_rows(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (name, reason): (&str, &str),
    open: &OpenPurge,
    ids: &[String],
) -> Result<(), Error> {
    let row = NewAudit {
        layer: Some(Layer::P5),
        reason,
        ..NewAudit::new(actor, call.face, Action::Purge.as_str(), name)
    };
    engine.accesses().forget_queries();
    engine.existing_ledger()?.write(&engine.control(call), engine.clock().now(), |w| {
        w.open_purge(open)?;
        let seq = w.record(&row)?;
        for id in ids {
            w.purge(PurgedKind::VaultText, id, seq)?;
        }
        authority::seal(w, call, actor)
    })?;
    Ok(())
}

/// Removes from all files what the ledger has given up.
fn finish(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (targets, said): (&[Target], &Said),
    open: &OpenPurge,
) -> Result<Erased, Error> {
    let control = engine.control(call);
    let mut erased = Erased::default();
    l0::sync_everything(engine, call)?;
    recent::forget(engine.home())?;
    for target in targets {
        purged::add(engine.home(), &control, target.kind, &target.id, engine.clock().now())?;
    }
    let ledger = engine.existing_ledger()?;
    if let Some(first) = targets.first() {
        let indexes = erase_from_index(engine, call, first)?;
        erased.indexes = indexes.removed;
        erased.left = indexes.left;
    }
    erased.left.extend(ledger.database().rewrite(&control, Rewrite::Everything)?);
    for target in targets.iter().filter(|_| open.backups) {
        let Backups { rewritten, damaged } = erase_from_backups(engine, call, actor, target, said)?;
        erased.backups = erased.backups.max(rewritten);
        erased.damaged = damaged;
    }
    ledger.write(&control, engine.clock().now(), |w| w.close_purge(&open.id))?;
    Ok(erased)
}
