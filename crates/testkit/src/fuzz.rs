//! What a fuzzer runs: every parser that meets foreign bytes, and a law that its result must keep.
//!
//! `fuzz/` hands these to libFuzzer; `tests/fuzz_smoke.rs` feeds them seeded inputs in every test run.

use jiff::tz::TimeZone;
use serde_json::Value;
use strata_core::{
    analysis::{self, MAX_QUERY_TERMS, QueryContext},
    budget, duplicate,
    id::Id,
    knowledge::{
        dedup::{self, Known, Mode},
        family,
        meaning::Bands,
        name::{Name, VaultPath},
        pointer,
    },
    markdown::{
        self, Body, Outline,
        edit::{self, Heading, Place},
    },
    redact, route, time,
};
use strata_engine::{
    context::operation::Context,
    import::episodes,
    maintain::transfer,
    memory::{remember::Remember, update::Update},
    operation::Operation,
    recall::operation::Recall,
    render, request,
};
use strata_store::index;

/// Takes any bytes. It panics only when a law is broken.
pub type Target = fn(&[u8]);

/// Every target by name. `fuzz/fuzz_targets` has a file for each.
pub const TARGETS: &[(&str, Target)] = &[
    ("analysis", analysis),
    ("redaction", redaction),
    ("markdown", markdown_sections),
    ("vault", vault_edits),
    ("episodes", episode_lines),
    ("export_file", export_file),
    ("arguments", arguments),
    ("duplicates", duplicates),
    ("words", words),
];

/// The instant that relative times are read from: 2026-06-15T12:00:00Z.
const NOON: time::Timestamp = time::Timestamp(1_781_524_800_000_000);

/// Passages and queries: any text gives terms, and a query no more than its limit.
///
/// # Panics
/// A law is broken.
pub fn analysis(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let passage = analysis::analyze_passage(&text);
    assert_eq!(passage, analysis::analyze_passage(&text), "the same text gives the same passage");
    let context = QueryContext { people: &["Ann", "王小明"], now: Some(NOON), zone: TimeZone::UTC };
    let query = analysis::analyze_query(&text, &context);
    assert!(query.terms.len() <= MAX_QUERY_TERMS, "{} terms", query.terms.len());
    assert!((0.0..=1.0).contains(&query.cjk_share), "{}", query.cjk_share);
}

/// What every stored text goes through: nothing of it is left to do a second time.
///
/// # Panics
/// A law is broken.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let cleaned = redact::clean_text(&text);
    let stripped = redact::strip_injected(&cleaned.text);
    let again = redact::strip_injected(&stripped.text);
    assert!(!again.removed, "a block was left: {:?} of {text:?}", stripped.text);
    let redacted = redact::redact(&stripped.text);
    let again = redact::redact(&redacted.text);
    assert_eq!(again.text, redacted.text, "redacted twice: {text:?}");
}

/// Sections cover the text in order; long ones are cut between characters.
///
/// # Panics
/// A law is broken.
pub fn markdown_sections(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut at = markdown::content_start(&text);
    for section in markdown::sections(&text) {
        assert_eq!(section.heading.start, at, "a gap before a section of {text:?}");
        assert_eq!(section.heading.end, section.body.start);
        at = section.body.end;
        for part in markdown::split_long(&text[section.body.clone()], 40) {
            assert!(text[section.body.clone()].get(part.clone()).is_some(), "{part:?} cuts a character");
        }
    }
    assert_eq!(at, text.len(), "the end of {text:?} is in no section");
    if let Some(front) = markdown::frontmatter(&text) {
        assert!(text.get(front.span.clone()).is_some() && text.get(front.yaml).is_some());
    }
    for piece in index::cut(&text) {
        assert!(text.contains(piece), "a piece that is not in the text");
    }
}

/// A file of the vault, a heading and a text, each on its side of a `\0`: an edit touches its section alone.
///
/// # Panics
/// A law is broken.
pub fn vault_edits(data: &[u8]) {
    let whole = String::from_utf8_lossy(data);
    let mut fields = whole.splitn(3, '\0');
    let (file, heading, content) =
        (fields.next().unwrap_or(""), fields.next().unwrap_or("A"), fields.next().unwrap_or("x"));
    names(heading);
    let outline = Outline::parse(file);
    let Ok(heading) = Heading::parse(heading) else { return };
    let Ok(body) = Body::fit(content, heading.as_str()) else { return };
    assert!(Outline::parse(body.as_str()).entries().is_empty(), "{:?} opens a section", body.as_str());
    for (index, entry) in outline.entries().iter().enumerate() {
        if let Ok(edited) = edit::replace_body(file, index, &body) {
            assert!(
                edited.starts_with(&file[..entry.body.start]) && edited.ends_with(&file[entry.body.end..])
            );
            assert_eq!(Outline::parse(&edited).entries().len(), outline.entries().len());
        }
        if let Ok(edited) = edit::move_within(file, index, Place::Last) {
            assert_eq!(Outline::parse(&edited).entries().len(), outline.entries().len());
        }
    }
    let known = outline.entries().iter().enumerate().take(4);
    let known: Vec<_> = known.map(|(i, e)| Known { heading: &e.heading, body: outline.body(i) }).collect();
    let readings = duplicate::Readings::default();
    for mode in [Mode::Upsert, Mode::Append, Mode::Merge] {
        let rest = (&[][..], &Bands::default());
        let found = dedup::resolve(mode, heading.as_str(), body.as_str(), &known, rest, &readings);
        assert!(found.likest.is_none_or(|like| like.index < known.len()));
    }
    if let Ok(edited) = edit::insert(file, Place::Last, &heading, &body) {
        assert!(edited.starts_with(file));
    }
}

/// Conversations: every line is taken or named.
///
/// # Panics
/// A law is broken.
pub fn episode_lines(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines = text.split('\n').count();
    let (good, bad) = episodes::parse(&text, &TimeZone::UTC);
    assert!(good.iter().all(|(line, episode)| (1..=lines).contains(line) && !episode.text.is_empty()));
    assert!(bad.iter().all(|b| (1..=lines).contains(&b.line) && !b.reason.is_empty()));
}

/// Names, and what is made of headings.
fn names(text: &str) {
    if let Ok(name) = Name::domain(text) {
        assert_eq!(Name::parse(name.as_str()).as_ref(), Ok(&name));
        assert_eq!(VaultPath::parse(&format!("{name}.md")), Ok(VaultPath::of_domain(name)));
    }
    let skeleton = family::skeleton(text);
    assert!(family::skeleton(&skeleton).len() <= skeleton.len());
    assert!(pointer::summary(text).chars().filter(|c| *c == '\n').count() == 0);
}

/// Exports: what can be read is written again as something that reads the same.
///
/// # Panics
/// A law is broken.
pub fn export_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(file) = transfer::parse(&text) else { return };
    for (_, line) in file.lines {
        let written = line.to_text().expect("what was read can be written");
        let again: transfer::Line = serde_json::from_str(&written).expect("what was written can be read");
        assert_eq!(again.to_text().expect("and written again"), written);
    }
}

/// Arguments of tools, as clients send them: a request, or an error that says what to do.
///
/// # Panics
/// A law is broken.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let value = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_ref()));
    read::<Recall>(&value);
    read::<Remember>(&value);
    read::<Update>(&value);
    read::<Context>(&value);
}

fn read<O: Operation>(value: &Value) {
    if let Err(error) = request::read::<O::Request>(value.clone(), O::ALIASES) {
        assert!(!error.hint().is_empty(), "{error} has no hint");
    }
}

/// Two texts, cut at the middle of the input: a likeness between 0 and 1, and keys to find it by.
///
/// # Panics
/// A law is broken.
pub fn duplicates(data: &[u8]) {
    let (a, b) = data.split_at(data.len() / 2);
    let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
    let compared = duplicate::compare(&a, &b);
    assert!((0.0..=1.0).contains(&compared.similarity), "{}", compared.similarity);
    assert!((0.0..=1.0).contains(&compared.frame_similarity), "{}", compared.frame_similarity);
    assert!(duplicate::bands(&a).len() <= 16);
    let identity = duplicate::identity(&a);
    assert_eq!(duplicate::identity(&identity), identity);
}

/// Small words: ids, dates, routes, token estimates, and text that goes into an answer.
///
/// # Panics
/// A law is broken.
pub fn words(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(id) = Id::parse(&text) {
        assert_eq!(Id::parse(id.as_str()).as_ref(), Ok(&id));
    }
    if let Ok(range) = time::parse_range(&text, &TimeZone::UTC) {
        assert!(range.from <= range.to, "{text:?} ends before it begins");
    }
    if let Some(suggestion) = route::suggest(&text, None) {
        assert!(!suggestion.reason.is_empty());
    }
    assert!(budget::estimate_tokens(&text) as usize <= 4 * text.len().max(1));
    let neutral = render::neutral(&text);
    assert!(!neutral.to_ascii_lowercase().contains("strata-memory"), "{text:?} leaves its delimiter");
}
