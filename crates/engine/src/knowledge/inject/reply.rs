//! What a write answers, in the keys that clients of the older program know.

mod kept;
mod likeness;
mod shown;

use serde::Serialize;
use strata_core::{
    duplicate::Verdict,
    knowledge::inject::{Decided, Handshake, MatchKind, Member},
};

use super::{
    beside::{Annotation, Refusal, Report, Synced},
    nearby::Nearby,
};
use crate::{
    knowledge::{
        room::{self, fitting},
        vault::Place,
    },
    operation::is_default,
    render::rounded,
};

/// What became of a write.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// The decision and its evidence.
    Decided(Box<Told>),
    /// The router refused it.
    Routed(Box<Refusal>),
}

/// A decision as it is told.
#[derive(Debug, Serialize)]
pub struct Told {
    /// False for a refusal.
    pub success: bool,
    /// What was done, or why nothing was.
    pub action: &'static str,
    /// The file, below the namespace.
    pub file: String,
    /// Its name without `.md`.
    pub domain: String,
    /// The section, with its marks.
    pub section: String,
    /// What was done to the file.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What is like the text.
    pub dedup: Dedup,
    /// What the router says.
    #[serde(flatten)]
    pub annotation: Box<Annotation>,
    /// Whether the index of the vault shows what was written.
    pub l0_synced: bool,
    /// What was done to the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l0_sync_report: Option<Report>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "is_default")]
    pub redacted: Vec<&'static str>,
}

/// What differs by the action.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// Something is there now, or was already.
    Kept(Kept),
    /// One text for both is asked for.
    Fusion {
        /// Always true.
        needs_fusion: bool,
        /// The token to send with it.
        expected_hash: String,
        /// Why.
        reason: String,
        /// Both texts.
        fusion: Fusion,
        /// Where the bounds of likeness come from.
        thresholds_source: &'static str,
        /// How to go on.
        hint: &'static str,
    },
    /// One section for a family is asked for.
    Consolidate {
        /// Sections now.
        family_size: usize,
        /// Sections if it were written.
        would_be_family_size: usize,
        /// The sections.
        family: Vec<FamilyMember>,
        /// The text as it was sent.
        new_content: String,
        /// The token to send.
        expected_hash: String,
        /// How to go on.
        hint: &'static str,
    },
    /// The token is of another text.
    Conflict {
        /// What is wrong.
        error: String,
        /// The token as it was sent.
        expected_hash: Option<String>,
        /// The token of what is there; null when nothing is.
        current_hash: Option<String>,
        /// Why.
        reason: String,
        /// How to go on.
        hint: &'static str,
    },
    /// The text for a family is too long.
    TooLong {
        /// What is wrong.
        error: String,
        /// Sections.
        family_size: usize,
        /// Their bytes.
        family_bytes: usize,
        /// Bytes sent.
        submitted_bytes: usize,
        /// The one by the other.
        ratio: f64,
        /// What it must stay below.
        ceiling: f64,
        /// Why.
        reason: String,
        /// How to go on.
        hint: &'static str,
    },
}

/// What is told of a file that holds the text.
#[derive(Debug, Serialize)]
pub struct Kept {
    /// Bytes that are new in the file.
    pub bytes_written: usize,
    /// Its size.
    pub file_size_bytes: usize,
    /// Whether there was none before.
    pub is_new_file: bool,
    /// The line by which an index points at it.
    pub l0_pointer: Option<String>,
    /// What to know, or to do next.
    pub hint: String,
    /// Whether search has it.
    pub vector_sync_ok: bool,
    /// Upkeep that ran behind the write.
    pub auto_maintain: serde_json::Map<String, serde_json::Value>,
    /// The heading was given in other words than the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_diff_hint: Option<String>,
    /// The section still says something that the text says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale_residue_hint: Option<String>,
    /// The file is large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Sections that became one, less that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections_removed: Option<usize>,
    /// Sections that became one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family_size_before: Option<usize>,
    /// How the text was fitted to stand under its heading.
    #[serde(skip_serializing_if = "is_default")]
    pub fitted: Vec<String>,
}

/// Two texts that say much the same.
#[derive(Debug, Serialize)]
pub struct Fusion {
    /// The heading of the old one.
    pub hit_section: String,
    /// Its domain.
    pub hit_domain: String,
    /// How alike they are, 0 to 1: the cosine, or the overlap of words where no cosine is known.
    pub cosine: f64,
    /// The old text, whole.
    pub old_body: String,
    /// The new one, as it was sent.
    pub new_content: String,
    /// The token of the old one.
    pub expected_hash: String,
    /// A text was cut to fit into the reply; the file has it whole.
    #[serde(skip_serializing_if = "is_default")]
    pub is_cut: bool,
}

/// One section of a family.
#[derive(Debug, Serialize)]
pub struct FamilyMember {
    /// Its heading.
    pub heading: String,
    /// Its text.
    pub body: String,
    /// The text was cut to fit into the reply; the file has it whole.
    #[serde(skip_serializing_if = "is_default")]
    pub is_cut: bool,
}

/// What is like the text.
#[derive(Debug, Default, Serialize)]
pub struct Dedup {
    /// Whether anything is.
    pub similar_found: bool,
    /// How much, 0 to 1.
    pub similarity: f64,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_file: Option<String>,
    /// The section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_section: Option<String>,
    /// What was made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<&'static str>,
    /// `exact`, `fuzzy` or `semantic`.
    pub match_kind: Option<&'static str>,
    /// `same`, `near_duplicate`, `changed_value`, `opposed` or `different`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
    /// The cosine of the two texts, where they are near in meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// `wording_and_meaning`, or `wording` where meaning could not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_by: Option<&'static str>,
    /// Why it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning_off: Option<String>,
    /// The values that differ.
    #[serde(skip_serializing_if = "is_default")]
    pub differences: Vec<Differs>,
}

/// A value that differs.
#[derive(Debug, PartialEq, Serialize)]
pub struct Differs {
    /// What it is: `number`, `version`, `date` ...
    pub kind: &'static str,
    /// In the text that was sent.
    pub new: Option<String>,
    /// In the text that is there.
    pub old: Option<String>,
}

/// What is known of a write beside the decision.
pub(super) struct About<'a> {
    pub(super) place: &'a Place,
    pub(super) heading: &'a str,
    pub(super) content: &'a str,
    pub(super) is_new: bool,
    pub(super) old_text: Option<&'a str>,
    pub(super) redacted: &'a [&'static str],
    pub(super) nearby: &'a Nearby,
    /// Whether the least likeness by wording was configured.
    pub(super) words_are_set: bool,
    pub(super) tag: &'a str,
}

/// Characters of JSON that the texts which are there may have in a reply, and the text that was sent: the caller has it.
const OLD_TEXT: usize = room::REPLY / 5 * 3;
const NEW_TEXT: usize = room::REPLY / 5;

impl Response {
    pub(super) fn new(decided: &Decided, about: &About<'_>, annotation: Box<Annotation>) -> Self {
        let file = about.place.path.to_string();
        let dedup = Dedup::new(decided, &file).compared(about.nearby.compared.as_ref());
        let section = match &decided.handshake {
            Handshake::Fusion { hit, .. } => &hit.heading,
            _ => &decided.section,
        };
        Self::Decided(Box::new(Told {
            success: !decided.action.is_refusal(),
            action: decided.action.as_str(),
            file,
            domain: about.place.domain().to_owned(),
            section: format!("## {section}"),
            outcome: Outcome::new(decided, about),
            dedup,
            annotation,
            l0_synced: false,
            l0_sync_report: None,
            redacted: about.redacted.to_vec(),
        }))
    }

    /// Says what became of the indexes; with several writes the report stands once beside them.
    pub(super) fn note_followers(&mut self, synced: &Synced, has_report: bool, is_indexed: bool) {
        if let Self::Decided(told) = self {
            if let Outcome::Kept(kept) = &mut told.outcome {
                kept.vector_sync_ok = is_indexed;
            }
            let is_written = matches!(&told.outcome, Outcome::Kept(kept) if kept.bytes_written > 0);
            told.l0_synced = synced.l0_synced && is_written;
            told.l0_sync_report = has_report.then(|| synced.l0_sync_report.clone());
        }
    }

    /// What was refused, and why.
    pub(super) fn refusal(&self) -> Option<String> {
        match self {
            Self::Decided(told) => match &told.outcome {
                Outcome::Conflict { error, .. } | Outcome::TooLong { error, .. } => Some(error.clone()),
                _ => None,
            },
            Self::Routed(refusal) => Some(refusal.error.to_owned()),
        }
    }
}

impl Outcome {
    fn new(decided: &Decided, about: &About<'_>) -> Self {
        match &decided.handshake {
            Handshake::None => Self::Kept(Kept::new(decided, about)),
            Handshake::Fusion { hit, expected_hash } => Self::fusion(decided, about, hit, expected_hash),
            Handshake::Consolidate { family, expected_hash } => Self::Consolidate {
                family_size: family.len(),
                would_be_family_size: family.len() + 1,
                family: family
                    .iter()
                    .map(|member| FamilyMember::new(member, OLD_TEXT / family.len()))
                    .collect(),
                new_content: fitting(about.content, NEW_TEXT).to_owned(),
                expected_hash: expected_hash.clone(),
                hint: "nothing is written yet: send one text for the family with `fuse` true and this `expected_hash`, under the heading it shall have; `mode` append keeps a section of its own",
            },
            Handshake::Conflict { expected_hash, current_hash } => {
                Self::conflict(expected_hash.as_ref(), current_hash.as_ref())
            }
            Handshake::TooLong { family_size, family_bytes, submitted_bytes, ceiling } => {
                Self::too_long(*family_size, *family_bytes, *submitted_bytes, *ceiling)
            }
        }
    }

    fn fusion(decided: &Decided, about: &About<'_>, hit: &Member, expected_hash: &str) -> Self {
        let likest = decided.likest.as_ref();
        let reason = match likest.map(|like| like.verdict) {
            Some(Verdict::ChangedValue) => "the section says the same with another value, and more",
            Some(Verdict::Opposed) => "the section says the opposite",
            Some(Verdict::Different) => "the section is near in meaning",
            _ => "the section says nearly the same",
        };
        Self::Fusion {
            needs_fusion: true,
            expected_hash: expected_hash.to_owned(),
            reason: reason.to_owned(),
            fusion: Fusion {
                hit_section: hit.heading.clone(),
                hit_domain: about.place.domain().to_owned(),
                cosine: likest.map_or(0.0, |like| rounded(like.cosine.unwrap_or(like.similarity), 4)),
                old_body: fitting(&hit.body, OLD_TEXT).to_owned(),
                new_content: fitting(about.content, NEW_TEXT).to_owned(),
                expected_hash: expected_hash.to_owned(),
                is_cut: fitting(&hit.body, OLD_TEXT) != hit.body
                    || fitting(about.content, NEW_TEXT) != about.content,
            },
            thresholds_source: match likest.map(|like| like.kind) {
                Some(MatchKind::Semantic) => about.nearby.in_force.source,
                _ if about.words_are_set => "config_override",
                _ => "default",
            },
            hint: "nothing is written yet: send one text for both to this section with `fuse` true and this `expected_hash`; `mode` append writes it beside",
        }
    }

    fn conflict(expected_hash: Option<&String>, current_hash: Option<&String>) -> Self {
        let reason = match (expected_hash, current_hash) {
            (None, _) => "`fuse` needs `expected_hash`: the token of the text that it replaces",
            (Some(_), None) => "the section is not there",
            (Some(given), Some(current)) if given == current => {
                "the token stands for a family of sections: send one text for it with `fuse`"
            }
            (Some(_), Some(_)) => "the section is not what the token stands for: somebody wrote it meanwhile",
        };
        Self::Conflict {
            error: format!("nothing was written: {reason}"),
            expected_hash: expected_hash.map(|token| room::echo(token)),
            current_hash: current_hash.cloned(),
            reason: reason.to_owned(),
            hint: "read it again with `get_section`, or send the text without `fuse` to get its token",
        }
    }

    fn too_long(family_size: usize, family_bytes: usize, submitted_bytes: usize, ceiling: f64) -> Self {
        let ratio = submitted_bytes as f64 / family_bytes.max(1) as f64;
        let reason = format!(
            "{submitted_bytes} bytes for {family_size} sections of {family_bytes}: one text for a family is shorter than {} %",
            rounded(ceiling * 100.0, 4)
        );
        Self::TooLong {
            error: format!("nothing was written: {reason}"),
            family_size,
            family_bytes,
            submitted_bytes,
            ratio: rounded(ratio, 4),
            ceiling,
            reason,
            hint: "say once what the sections have in common",
        }
    }
}

impl FamilyMember {
    fn new(member: &Member, room: usize) -> Self {
        let body = fitting(&member.body, room);
        Self { heading: member.heading.clone(), body: body.to_owned(), is_cut: body != member.body }
    }
}
