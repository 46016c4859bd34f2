//! A language model as an adviser: whether two texts contradict, and what a group of texts says in short.
//!
//! Never needed and off until configured. No judge means no verdict, and a verdict changes nothing: it is a note to a
//! review or the draft of a digest. Only an [`Outgoing`] text reaches a judge, and it is blacked out when it is made;
//! what comes back is parsed strictly, bounded and blacked out as well.

mod openai;
mod reply;
mod scripted;

use std::fmt;

use serde::{Deserialize, Serialize};
use strata_core::redact::{clean_text, redact, strip_injected};

pub use self::{openai::OpenAiCompatible, scripted::Scripted};
use crate::{error::Error, settings};

/// Most characters of one text that is sent.
pub const MAX_TEXT: usize = 4_000;
/// Most texts of one group that are sent.
pub const MAX_GROUP: usize = 64;
/// Most characters of a group that are sent.
pub const MAX_GROUP_TEXT: usize = 24_000;
/// Most characters of what is written about a group: of a judge's digest, and of the memory made of it.
pub const MAX_DIGEST: usize = 2_000;
/// Most characters of a reason.
pub const MAX_REASON: usize = 500;
/// Below this confidence a verdict is [`Relation::Unsure`].
pub const LEAST_CONFIDENCE: f64 = 0.5;

/// Something that gives verdicts and digests.
pub trait Judge: Send + Sync + fmt::Debug {
    /// Who it is, for the record: provider and model.
    fn name(&self) -> String;

    /// How two texts stand to each other.
    ///
    /// # Errors
    /// `Remote` when no verdict could be had; nothing may then be concluded.
    fn compare(&self, a: &Outgoing, b: &Outgoing) -> Result<Verdict, Error>;

    /// What a group of texts says, in at most [`MAX_DIGEST`] characters.
    ///
    /// # Errors
    /// As for [`Judge::compare`].
    fn summarise(&self, texts: &[Outgoing]) -> Result<String, Error>;
}

/// How two texts stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// They say the same.
    Same,
    /// They cannot both hold.
    Contradicts,
    /// Both can hold.
    Compatible,
    /// It cannot be told.
    Unsure,
}

impl Relation {
    /// The word in notes and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Contradicts => "contradicts",
            Self::Compatible => "compatible",
            Self::Unsure => "unsure",
        }
    }
}

/// What a judge says of two texts. It decides nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// How they stand to each other.
    pub relation: Relation,
    /// Why, in a sentence; data from outside, at most [`MAX_REASON`] characters.
    pub reason: String,
    /// How sure the judge says it is, 0 to 1.
    pub confidence: f64,
}

/// A text that may leave the machine: without secrets, without what Strata itself had injected, and bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing(String);

impl Outgoing {
    /// Makes a text ready to leave.
    pub fn new(text: &str) -> Self {
        Self(tidy(text, MAX_TEXT))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text as it may cross the gate in either direction. It is blacked out before it is cut: half a secret is none
/// that can be recognised.
fn tidy(text: &str, characters: usize) -> String {
    let kept = strip_injected(text);
    let clean = clean_text(&kept.text);
    redact(&clean.text).text.trim().chars().take(characters).collect()
}

/// What `judge` says of two texts, bounded.
pub fn verdict_of(judge: &dyn Judge, a: &str, b: &str) -> Result<Verdict, Error> {
    let verdict = judge.compare(&Outgoing::new(a), &Outgoing::new(b))?;
    let confidence = if verdict.confidence.is_finite() { verdict.confidence.clamp(0.0, 1.0) } else { 0.0 };
    let relation = if confidence < LEAST_CONFIDENCE { Relation::Unsure } else { verdict.relation };
    Ok(Verdict { relation, reason: tidy(&verdict.reason, MAX_REASON), confidence })
}

/// What a group of texts says, in short. Texts beyond the bounds are left out from the end.
///
/// # Errors
/// `Remote` when the judge gave none, or an empty one.
pub fn digest_of(judge: &dyn Judge, texts: &[&str]) -> Result<String, Error> {
    let mut room = MAX_GROUP_TEXT;
    let mut group = Vec::new();
    for text in texts.iter().take(MAX_GROUP) {
        let text = Outgoing(tidy(text, MAX_TEXT.min(room)));
        room -= text.0.chars().count().min(room);
        if !text.0.is_empty() {
            group.push(text);
        }
    }
    if group.is_empty() {
        return Err(Error::argument(
            "texts",
            "nothing is left to summarise",
            "give texts that are not empty",
        ));
    }
    let digest = tidy(&judge.summarise(&group)?, MAX_DIGEST);
    if digest.is_empty() {
        return Err(Error::Remote { host: judge.name(), fault: "its digest is empty".into() });
    }
    Ok(digest)
}

/// The judge that the settings ask for; opens no socket.
pub(crate) fn configured(settings: &settings::Settings) -> Result<Option<Box<dyn Judge>>, Error> {
    match settings.config.judge.provider {
        settings::JudgeProvider::Off => Ok(None),
        settings::JudgeProvider::OpenaiCompatible => Ok(Some(Box::new(OpenAiCompatible::new(settings)?))),
    }
}

/// `off`, or which model would be asked and where, for people. Asks nobody.
pub fn describe(config: &settings::Judge) -> String {
    match config.provider {
        settings::JudgeProvider::Off => "off".into(),
        settings::JudgeProvider::OpenaiCompatible => {
            let host = crate::network::Address::parse(&config.url);
            let host = host.map_or_else(|_| "an unusable address".to_owned(), |a| a.host().to_owned());
            format!("{} at {host}", config.model)
        }
    }
}
