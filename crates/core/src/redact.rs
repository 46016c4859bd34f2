//! Secret detection and redaction, and the cleaning that every stored text goes through.
//!
//! Detection runs in one pass: an Aho-Corasick automaton finds the places where a secret can begin
//! (token prefixes, key words such as `password`, `://`, PEM headers), and a small rule looks at each
//! place. Every rule does a bounded amount of work, or work that is bounded by what it consumes, so the
//! whole is linear in the length of the text. A key word alone is never a secret: its value is judged by
//! `judge`, which keeps code references, placeholders, types and prose.

mod anchors;
mod clean;
mod columns;
mod credentials;
mod family;
mod judge;
mod keyword;
mod pem;
mod separator;
mod shape;
mod tokens;
mod value;
mod vocabulary;

use std::borrow::Cow;

pub use clean::{Cleaned, Stripped, clean_text, is_invisible, strip_injected};
pub use family::Family;

/// A text without its secrets, and what was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction<'t> {
    /// The text with every secret replaced by its placeholder; borrowed when nothing was found.
    pub text: Cow<'t, str>,
    /// What was found, in the order of the text, never overlapping.
    pub findings: Vec<Finding>,
}

impl Redaction<'_> {
    /// Whether anything was replaced.
    pub fn is_redacted(&self) -> bool {
        !self.findings.is_empty()
    }
}

/// One secret: where it stood and what stands there now. It never carries the secret itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// What sort of secret it is.
    pub family: Family,
    /// Byte offset of its first byte in the input.
    pub start: usize,
    /// Byte offset just past its last byte in the input.
    pub end: usize,
    /// The text that replaces it, e.g. `[REDACTED_AWS_KEY]`.
    pub placeholder: &'static str,
}

/// A secret as a rule reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    family: Family,
    start: usize,
    end: usize,
}

/// How often the output is looked at again. A placeholder can bring two pieces of text nearer to each
/// other; one more look settles that, the rest is reserve.
const MAX_PASSES: usize = 6;

/// Replaces every secret in `text` by a typed placeholder and keeps everything else, key names included.
///
/// Linear in the length of the text, safe on any input, and idempotent: redacting the result finds nothing.
///
/// ```
/// use strata_core::redact::redact;
/// let kept = redact("the staging password is hunter2, port 5432");
/// assert_eq!(kept.text, "the staging password is [REDACTED], port 5432");
/// ```
pub fn redact(text: &str) -> Redaction<'_> {
    let mut spans = detect(text);
    if spans.is_empty() {
        return Redaction { text: Cow::Borrowed(text), findings: Vec::new() };
    }
    let mut output = apply(text, &spans);
    for _ in 0..MAX_PASSES {
        let more = detect(&output);
        if more.is_empty() {
            break;
        }
        let mapped = to_input_offsets(&more, &spans);
        spans = merge(spans, mapped);
        output = apply(text, &spans);
    }
    let findings = spans.iter().map(Finding::from).collect();
    Redaction { text: Cow::Owned(output), findings }
}

impl From<&Span> for Finding {
    fn from(span: &Span) -> Self {
        let Span { family, start, end } = *span;
        Self { family, start, end, placeholder: family.placeholder() }
    }
}

/// Every secret of one pass, ordered and not overlapping.
fn detect(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut claimed = 0;
    let mut jwt_skip = 0;
    for anchor in anchors::find(text) {
        if anchor.start < claimed {
            continue;
        }
        let span = anchors::look(text, anchor, &mut jwt_skip).filter(|span| span.start >= claimed);
        if let Some(span) = span {
            let pair = Some(span).filter(|span| span.family == Family::AwsKey);
            let beside = pair.and_then(|id| tokens::aws_secret_beside(text, id.end));
            spans.push(span);
            spans.extend(beside);
            claimed = beside.map_or(span.end, |secret| secret.end);
        }
    }
    let mut more = tokens::discord(text);
    more.extend(columns::find(text));
    if more.is_empty() { spans } else { merge(spans, more) }
}

fn apply(text: &str, spans: &[Span]) -> String {
    let mut output = String::with_capacity(text.len());
    let mut copied = 0;
    for span in spans {
        output.push_str(&text[copied..span.start]);
        output.push_str(span.family.placeholder());
        copied = span.end;
    }
    output.push_str(&text[copied..]);
    output
}

/// Translates spans found in the output of `applied` back to offsets in its input. A position inside a
/// placeholder becomes the edge of what the placeholder replaced.
fn to_input_offsets(found: &[Span], applied: &[Span]) -> Vec<Span> {
    let mut edges = Vec::with_capacity(applied.len());
    let (mut input, mut output) = (0, 0);
    for span in applied {
        output += span.start - input;
        let end = output + span.family.placeholder().len();
        edges.push((output, end, span.start, span.end));
        (input, output) = (span.end, end);
    }
    let translate = |position: usize, is_end: bool| {
        let next = edges.partition_point(|&(start, ..)| start < position);
        match next.checked_sub(1).map(|i| edges[i]) {
            None => position,
            Some((_, end, from, to)) if position < end => {
                if is_end {
                    to
                } else {
                    from
                }
            }
            Some((_, end, _, to)) => to + (position - end),
        }
    };
    found
        .iter()
        .map(|s| Span { family: s.family, start: translate(s.start, false), end: translate(s.end, true) })
        .collect()
}

/// Joins two lists; where spans overlap, the union stands under the longer one's family.
fn merge(mut spans: Vec<Span>, more: Vec<Span>) -> Vec<Span> {
    spans.extend(more);
    spans.sort_unstable_by_key(|s| (s.start, std::cmp::Reverse(s.end)));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                if span.end - span.start > last.end - last.start {
                    last.family = span.family;
                }
                last.end = last.end.max(span.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}
