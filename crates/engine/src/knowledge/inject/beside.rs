//! What others have to do with a write: the router, the index of the vault, and the other files.

use strata_core::knowledge::{
    dedup::Mode,
    inject::{Elsewhere, stands_in},
};

use super::write::{Asked, Checked};
pub(super) use crate::knowledge::{
    l0::{Report, Synced},
    routing::{Annotation, Refusal, Ruling},
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        files::Readable,
        l0,
        routing::{self, Override},
        vault::{Place, Written},
    },
    operation::Call,
};

/// What the router says of the write.
///
/// # Errors
/// An override that there is not.
pub(super) fn route(engine: &Engine, asked: &Asked<'_>, checked: &Checked<'_>) -> Result<Ruling, Error> {
    let said = Override::parse(asked.routing_override)?;
    let item = routing::Asked {
        content: &checked.content,
        domain: Some(&checked.domain),
        section: Some(checked.heading.as_str()),
        supported: &[],
    };
    let mut ruling = routing::decide(engine, &item, said);
    let routed = match &mut ruling {
        Ruling::Write(annotation) => annotation.routing.as_mut(),
        Ruling::Refuse(refusal) => Some(&mut refusal.routing),
    };
    if let Some(routed) = routed {
        routed.signals.truncate(MOST_SIGNALS);
    }
    Ok(ruling)
}

/// Signals that are told beside a write: a long text has hundreds, and `classify_memory_item` tells them all.
const MOST_SIGNALS: usize = 12;

/// Brings the index up to date with these writes, once.
pub(super) fn sync(engine: &Engine, call: &Call<'_>, written: &[Written]) -> Synced {
    l0::sync_after_all(engine, call, written)
}

/// From how many sections on headings that differ in a date or version only are to be made one.
pub(super) fn min_family(engine: &Engine) -> Option<usize> {
    let rule = &engine.settings().config.knowledge.consolidate;
    rule.enabled.then_some(rule.min_family)
}

/// What a line of the index begins with.
pub(super) fn tag(engine: &Engine) -> &str {
    &engine.settings().config.knowledge.l0.tag
}

/// A section of another file that has the whole text.
pub(super) struct Found {
    file: String,
    heading: String,
}

impl Found {
    pub(super) fn place(&self) -> Elsewhere<'_> {
        Elsewhere { file: &self.file, heading: &self.heading }
    }
}

/// Looks for the text in the other files that the caller sees. Who says append wants it in this one in any case.
pub(super) fn elsewhere(files: &[Readable], place: &Place, checked: &Checked<'_>) -> Option<Found> {
    if checked.fuse || checked.mode == Mode::Append {
        return None;
    }
    let first = checked.content.trim().lines().next().map(str::trim);
    for Readable { head, file } in files {
        if head.namespace == place.namespace && head.path == place.path {
            continue;
        }
        // A look at the lines of the whole file spares one at every section of most files.
        if !first.is_some_and(|line| file.may_have_line(line)) {
            continue;
        }
        let has = |index: &usize| stands_in(file.body(*index), &checked.content);
        if let Some(index) = (0..file.entries().len()).find(has) {
            let heading = file.entries()[index].heading.clone();
            return Some(Found { file: head.path.to_string(), heading });
        }
    }
    None
}
