//! One write: what the caller sent is checked, then decided and made under the file's lock.

use strata_core::{
    knowledge::{
        changelog::Operation,
        dedup::Mode,
        inject::{Decided, InjectError, Provenance, Write, decide},
        meaning::Meaning,
        name::Name,
    },
    markdown::edit::{EditError, Heading},
    policy::Action,
};

use super::{
    beside::{self, Found, Ruling},
    nearby::Nearby,
    reply::{About, Response},
};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::{
        files,
        vault::{self, Change, Edited, Event, Place, Seen, Written},
    },
    operation::Call,
    render::{rounded, shortened},
};

/// What a caller asks for.
pub(super) struct Asked<'a> {
    pub(super) domain: &'a str,
    pub(super) section: &'a str,
    pub(super) content: &'a str,
    pub(super) mode: Option<&'a str>,
    pub(super) agent_id: Option<&'a str>,
    pub(super) fuse: bool,
    pub(super) expected_hash: Option<&'a str>,
    pub(super) routing_override: Option<&'a str>,
    pub(super) tool: &'a str,
}

/// What became of it. `written` is absent when the router refused it.
pub(super) struct Done {
    pub(super) response: Response,
    pub(super) written: Option<Written>,
}

/// Decides a write and makes it. The indexes and the changelog are still to follow: [`follow`].
pub(super) fn write(engine: &Engine, call: &Call<'_>, asked: &Asked<'_>) -> Result<Done, Error> {
    let seen = vault::look_around(engine, call)?;
    let place = place_of(&seen, call, asked.domain)?;
    let checked = Checked::new(engine, asked, place.domain())?;
    let annotation = match beside::route(engine, asked, &checked)? {
        Ruling::Write(annotation) => annotation,
        Ruling::Refuse(refusal) => {
            return Ok(Done { response: Response::Routed(refusal), written: None });
        }
    };
    let files = files::readable_of(engine, call, vault::visible(&seen))?;
    let elsewhere = beside::elsewhere(&files, &place, &checked);
    let nearby = Nearby::of(engine, call, &files, &place, &checked)?;
    let near = nearby.near();
    let target = files.iter().find(|file| place.is_of(&file.head)).map(|file| &file.file);
    let parsed = target.map(|file| (file.text(), file.shape()));
    let write = Write { parsed, ..checked.write(engine, nearby.meaning(&near)) };
    let (decided, old_text, written) = make(engine, call, &place, asked, &write, elsewhere.as_ref())?;
    let about = About {
        place: &written.place,
        heading: checked.heading.as_str(),
        content: &checked.content,
        is_new: written.before.is_none(),
        old_text: old_text.as_deref(),
        redacted: &checked.redacted,
        nearby: &nearby,
        words_are_set: write.least_alike.is_some(),
        tag: beside::tag(engine),
    };
    let response = Response::new(&decided, &about, annotation);
    Ok(Done { response, written: Some(written) })
}

/// Lets everything follow the writes that were made, and tells of the index of the vault.
///
/// # Errors
/// The disk does not say that the files are safe.
pub(super) fn follow(
    engine: &Engine,
    call: &Call<'_>,
    written: &mut [Written],
) -> Result<beside::Synced, Error> {
    vault::follow(engine, call, written, |written| beside::sync(engine, call, written))
}

/// Where the text goes. A domain is a name; a path names a file in a folder that is there already, and makes none.
fn place_of(seen: &[(Name, Seen)], call: &Call<'_>, domain: &str) -> Result<Place, Error> {
    let unusable = match Name::domain(domain) {
        Ok(name) => return vault::locate_among(seen, call, "domain", name.as_str()),
        Err(error) => error,
    };
    if domain.contains('/')
        && let Ok(place) = vault::locate_among(seen, call, "domain", domain)
        && place.exists
    {
        return Ok(place);
    }
    let hint = match domain.contains('/') {
        true => {
            "use letters, digits, `-` and `_`; a file in a folder is written once `create_knowledge_file` made it"
        }
        false => "use letters, digits, `-` and `_`",
    };
    Err(Error::argument("domain", format!("cannot be a file's name: {unusable}"), hint))
}

/// What was sent, let through the gate.
pub(super) struct Checked<'a> {
    pub(super) domain: String,
    pub(super) heading: Heading,
    pub(super) content: String,
    pub(super) mode: Mode,
    pub(super) fuse: bool,
    expected_hash: Option<&'a str>,
    provenance: Option<Provenance>,
    /// Families of secrets that were blacked out.
    redacted: Vec<&'static str>,
}

impl<'a> Checked<'a> {
    fn new(engine: &Engine, asked: &Asked<'a>, domain: &str) -> Result<Self, Error> {
        let word = asked.mode.map(str::trim).filter(|word| !word.is_empty()).unwrap_or("upsert");
        let mode = Mode::parse(word).ok_or_else(|| {
            let message = format!("there is no mode `{}`", shortened(word, 40));
            Error::argument("mode", message, "use upsert, append or merge")
        })?;
        let mut gate = Gate::default();
        let section = gate.field("section", Some(asked.section))?.unwrap_or_default();
        // A line break in the argument is no heading, also where the gate takes it off the end.
        let heading = Heading::parse(asked.section)
            .and_then(|_| Heading::parse(&section))
            .map_err(|error| Error::argument("section", error.to_string(), "send one line of text"))?;
        let content = gate.body("content", asked.content)?;
        let agent = gate.field("agent_id", asked.agent_id)?;
        let now = engine.clock().now().to_rfc3339();
        let expected_hash = asked.expected_hash.map(str::trim).filter(|token| !token.is_empty());
        Ok(Self {
            domain: domain.to_owned(),
            heading,
            content,
            mode,
            fuse: asked.fuse,
            expected_hash,
            provenance: agent.and_then(|agent| Provenance::new(&agent, &now)),
            redacted: gate.redacted,
        })
    }

    /// What is to be decided, by the settings of this home, beside sections near in `meaning`.
    fn write<'w>(&'w self, engine: &'w Engine, meaning: Meaning<'w>) -> Write<'w> {
        let knowledge = &engine.settings().config.knowledge;
        Write {
            domain: &self.domain,
            heading: &self.heading,
            content: &self.content,
            mode: self.mode,
            fuse: self.fuse,
            expected_hash: self.expected_hash,
            provenance: self.provenance.as_ref(),
            min_family: beside::min_family(engine),
            size_ceiling: knowledge.consolidate.size_ceiling,
            least_alike: knowledge.dedup_threshold,
            meaning,
            readings: engine.readings(),
            parsed: None,
        }
    }
}

/// Decides and stores under the lock: the decision, the text before, and what became of the file.
fn make(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    asked: &Asked<'_>,
    write: &Write<'_>,
    elsewhere: Option<&Found>,
) -> Result<(Decided, Option<String>, Written), Error> {
    let action = if place.exists { Action::Update } else { Action::Remember };
    let agent_id = asked.agent_id.map(str::trim).filter(|agent| !agent.is_empty());
    let change = Change { action, agent_id, ..Change::new(asked.tool) };
    let mut made = None;
    let written = vault::edit_alone(engine, call, place, &change, &mut |text| {
        let decided =
            decide(text, write, elsewhere.map(Found::place).as_ref()).map_err(|error| refused(&error))?;
        let operation = Operation::of_write(decided.action.as_str(), decided.is_fusion);
        let edited = match (&decided.text, operation) {
            (Some(new), Some(operation)) => {
                Edited::Write(new.clone(), event(operation, &decided, place, write, text.unwrap_or_default()))
            }
            _ => Edited::Keep,
        };
        made = Some((decided, text.map(str::to_owned)));
        Ok(edited)
    })?;
    let (decided, old_text) =
        made.ok_or_else(|| Error::Internal("an edit was made without a decision".into()))?;
    Ok((decided, old_text, written))
}

/// What the changelog says of the write.
fn event(operation: Operation, decided: &Decided, place: &Place, write: &Write<'_>, old: &str) -> Event {
    let new = decided.text.as_deref().unwrap_or_default();
    let action = decided.action.as_str();
    let likest = decided.likest.as_ref();
    let summary = format!("{} › {}: {}", place.domain(), decided.section, action.replace('_', " "));
    let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    Event::new(operation, summary)
        .section(&decided.section)
        .because(format!("a caller wrote in mode {}", write.mode.as_str()))
        .tokens(decided.before_hash.clone(), decided.after_hash.clone())
        .with("write_action", action)
        .with("mode", write.mode.as_str())
        .with("file", place.path.to_string())
        .with("bytes_written", size(added_bytes(old, new)))
        .with("file_size_bytes", size(new.len()))
        .with("match_kind", likest.map(|like| like.kind.as_str()))
        .with("similarity", likest.map_or(0.0, |like| rounded(like.similarity, 4)))
        .with("family_size_before", decided.family_size_before.map(size))
        .with("sections_removed", decided.family_size_before.map(|members| size(members.saturating_sub(1))))
}

/// The bytes of `new` between what it has in common with `old` at both ends.
pub(super) fn added_bytes(old: &str, new: &str) -> usize {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let after =
        old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(|(a, b)| a == b).count();
    new.len() - before - after
}

fn refused(error: &InjectError) -> Error {
    match error {
        InjectError::Empty => {
            Error::argument("content", error.to_string(), "send the text that stands under the heading")
        }
        InjectError::Open(_) => {
            Error::argument("content", error.to_string(), "close every comment, tag and code fence")
        }
        InjectError::Edit(EditError::Structure(_)) => Error::Conflict {
            message: error.to_string(),
            hint: "close what is left open in the file with an editor or `update_knowledge_file`".into(),
        },
        InjectError::Edit(EditError::NoSection(_)) => Error::Internal(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::added_bytes;

    #[test]
    fn what_was_added_lies_between_the_common_ends() {
        assert_eq!(added_bytes("", "# d\n"), 4);
        assert_eq!(added_bytes("a\nc\n", "a\nb\nc\n"), 2);
        assert_eq!(added_bytes("aa", "aaa"), 1);
        assert_eq!(added_bytes("abc", "c"), 0);
        assert_eq!(added_bytes("same", "same"), 0);
    }
}
