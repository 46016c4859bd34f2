//! A change made ready for the index outside every transaction: analysed, cut into parts, embedded.

use strata_core::{
    analysis::{self, Fingerprint},
    memory::Layer,
    rank::Flags,
};

use super::{
    attributes::Attributes,
    postings::{encode_terms, for_each_term},
    truth::{CollectionKey, Mark, Section, Source},
    vector_block::PackedVector,
};

/// A change with its passages.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Where in the stream of changes.
    pub mark: Mark,
    /// What changed. Its passages from before end at `mark.seq`.
    pub source: Source,
    /// What takes their place; `None` when nothing does.
    pub passages: Option<Passages>,
}

/// The passages of one source: what they share, and their parts in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Passages {
    /// Where they are searched.
    pub collection: CollectionKey,
    /// Key of the session, document or multi-part memory; `""` stands alone.
    pub group: String,
    /// Place within the group.
    pub order: i64,
    /// Who said or wrote it; may be empty.
    pub owner: String,
    /// When it happened, microseconds UTC.
    pub at: i64,
    /// Layer.
    pub layer: Layer,
    /// Kind.
    pub kind: String,
    /// Branch, or `""`.
    pub branch: String,
    /// In units of 1/200: 200 is certain.
    pub confidence: u8,
    /// In units of 1/200.
    pub importance: u8,
    /// Key of the model of the parts' vectors, when they have any.
    pub model: Option<String>,
    /// The pieces, in order.
    pub parts: Vec<Part>,
}

/// One piece of a source's text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    pub(crate) terms: Vec<u8>,
    /// Content words.
    pub length: u32,
    /// Low eight bits: [`strata_core::rank::Flags`]; the rest are the caller's marks.
    pub flags: u32,
    /// For telling near-duplicates.
    pub fingerprint: Fingerprint,
    /// Its vector, when the embedder has been asked and has answered.
    pub vector: Option<PackedVector>,
    /// Its text, when no table of truth has it.
    pub text: Option<Section>,
}

impl Part {
    /// The part that `passage` was found to be. `kind` are the marks of its source.
    pub fn new(passage: &analysis::Passage, kind: u8, flags: u32) -> Self {
        let own = Flags::of(passage, kind).0;
        Self {
            terms: encode_terms(passage.terms.iter().map(|(term, count)| (term.as_str(), *count))),
            length: passage.length,
            flags: (flags << 8) | u32::from(own),
            fingerprint: passage.fingerprint,
            ..Self::default()
        }
    }

    /// The terms and their counts.
    pub fn terms(&self) -> Vec<(&str, u32)> {
        let mut terms = Vec::new();
        let whole = for_each_term(&self.terms, |term, count| terms.push((term, count)));
        debug_assert!(whole.is_some(), "a part packs its own terms");
        terms
    }
}

/// Numbers of a passage's words in its collection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordNumbers {
    pub(crate) kind: u32,
    pub(crate) branch: u32,
    pub(crate) owner: u32,
    pub(crate) group: u32,
}

impl Prepared {
    /// The attributes of part `part` of `passages`, whose words have these numbers.
    pub(crate) fn attributes(&self, passages: &Passages, part: usize, words: WordNumbers) -> Attributes {
        Attributes {
            source_kind: self.source.kind.code(),
            source: self.source.number,
            part: u32::try_from(part).unwrap_or(u32::MAX),
            group: words.group,
            order: passages.order,
            owner: words.owner,
            at: passages.at,
            layer: passages.layer as u8,
            kind: words.kind,
            branch: words.branch,
            confidence: passages.confidence,
            importance: passages.importance,
            flags: passages.parts[part].flags,
            length: passages.parts[part].length,
            fingerprint: passages.parts[part].fingerprint,
            from_seq: self.mark.seq,
        }
    }
}
