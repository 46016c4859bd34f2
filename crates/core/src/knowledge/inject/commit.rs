//! The answer to a handshake: one text under the token of what it replaces.

use super::{
    Action, Body, Decided, File, Handshake, InjectError, Write, about, body_token, conflict, family, signed,
};
use crate::markdown::{
    Outline,
    edit::{delete, rename},
    heading_key,
};

/// Replaces the section, or the family of sections, whose token was given. Any other token is a conflict.
pub(super) fn commit(file: &File<'_>, write: &Write<'_>, body: &Body) -> Result<Decided, InjectError> {
    let current = file.current_token(write);
    let Some(expected) = write.expected_hash else { return Ok(conflict(write, current)) };
    if let Some(index) = file.target.filter(|_| current.as_deref() == Some(expected)) {
        let text = file.outline.replace_body(index, &signed(body.as_str(), write)?)?;
        return Ok(Decided { is_fusion: true, ..file.changed(Action::Replaced, index, text) });
    }
    match family_of(file, expected) {
        Some(family) => consolidate(file, write, body, &family),
        None => Ok(conflict(write, current)),
    }
}

/// The family that the token stands for. A text may give it a new name, but not that of a section that is none of it.
fn family_of(file: &File<'_>, expected: &str) -> Option<Vec<usize>> {
    let is_meant = |family: &Vec<usize>| file.family_token(family) == expected;
    let headings: Vec<&str> = file.outline.entries().iter().map(|entry| entry.heading.as_str()).collect();
    let found = family::groups(&headings).into_iter().find(is_meant)?;
    let is_stranger = file.target.is_some_and(|target| !found.contains(&target));
    (!is_stranger).then_some(found)
}

fn consolidate(
    file: &File<'_>,
    write: &Write<'_>,
    body: &Body,
    members: &[usize],
) -> Result<Decided, InjectError> {
    let heading = write.heading.as_str();
    let family_bytes: usize = members.iter().map(|index| file.outline.body(*index).len()).sum();
    let submitted_bytes = body.as_str().len();
    if !family::is_consolidated(members.len(), family_bytes, submitted_bytes, write.size_ceiling) {
        let family_size = members.len();
        let ceiling = write.size_ceiling;
        let handshake = Handshake::TooLong { family_size, family_bytes, submitted_bytes, ceiling };
        return Ok(Decided { handshake, ..about(Action::ConsolidateRefused, heading) });
    }
    let Some((first, others)) = members.split_first() else { return Ok(conflict(write, None)) };
    let mut text = file.outline.replace_body(*first, &signed(body.as_str(), write)?)?;
    for index in others.iter().rev() {
        text = delete(&text, *index)?;
    }
    if heading_key(file.heading(*first)) != heading_key(heading) {
        text = rename(&text, *first, write.heading)?;
    }
    let after_hash = Some(body_token(Outline::parse(&text).body(*first)));
    Ok(Decided {
        text: Some(text),
        before_hash: Some(file.family_token(members)),
        after_hash,
        family_size_before: Some(members.len()),
        ..about(Action::Consolidated, heading)
    })
}
