//! The answer for people.

use super::{Outcome, Response};
use crate::render::{Block, Document, Mark, Record, Render, Trust};

impl Render for Response {
    fn render(&self) -> Document {
        let told = match self {
            Self::Decided(told) => told,
            Self::Routed(refusal) => {
                let document = Document::new().note(Mark::Bad, refusal.message.clone());
                return document.note(Mark::Info, refusal.hint.clone());
            }
        };
        let place = format!("{} {}", told.file, told.section);
        let action = told.action.replace('_', " ");
        let document = Document::new();
        match &told.outcome {
            Outcome::Kept(kept) => {
                let mark = if kept.bytes_written > 0 { Mark::Good } else { Mark::Info };
                let mut document = document.note(mark, format!("{action}: {place}"));
                let notes = kept.fitted.iter().chain(&kept.title_diff_hint).map(|note| (Mark::Info, note));
                let alarms =
                    kept.stale_residue_hint.iter().chain(&kept.warning).map(|note| (Mark::Warning, note));
                let hint = (kept.bytes_written == 0).then_some((Mark::Info, &kept.hint));
                for (mark, note) in notes.chain(alarms).chain(hint) {
                    document = document.note(mark, note.clone());
                }
                match told.l0_sync_report.as_ref().and_then(|report| report.error.as_ref()) {
                    Some(error) => document.note(
                        Mark::Warning,
                        format!("the index of knowledge was not brought up to date: {error}"),
                    ),
                    None => document,
                }
            }
            Outcome::Fusion { expected_hash, reason, fusion, hint, .. } => {
                let record = record(expected_hash, &fusion.hit_section, &fusion.old_body);
                asked(document, vec![record], format!("{action}: {place}: {reason}"), hint)
            }
            Outcome::Consolidate { expected_hash, family, hint, .. } => {
                let records = family
                    .iter()
                    .map(|member| record(expected_hash, &member.heading, &member.body))
                    .collect();
                asked(document, records, format!("{action}: {place}"), hint)
            }
            Outcome::Conflict { error, hint, .. } | Outcome::TooLong { error, hint, .. } => {
                document.note(Mark::Bad, format!("{place}: {error}")).note(Mark::Info, *hint)
            }
        }
    }

    fn is_alarming(&self) -> bool {
        self.refusal().is_some()
    }
}

fn record(token: &str, heading: &str, body: &str) -> Record {
    let attributes = vec!["there now".to_owned()];
    Record { id: token.to_owned(), attributes, title: Some(heading.to_owned()), text: body.to_owned() }
}

fn asked(document: Document, records: Vec<Record>, why: String, hint: &str) -> Document {
    let shown = Block::Records { trust: Trust::Data, records };
    document.note(Mark::Warning, why).with(shown).note(Mark::Info, hint)
}
