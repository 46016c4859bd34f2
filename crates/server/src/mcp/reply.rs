//! Replies fitted to what clients show: compact Markdown or JSON, never more than they keep.

use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    redact::{clean_text, redact},
};
use strata_engine::{
    error::Error,
    operation::{Reply, TextForm, Toolset},
    render::{Block, Document, Mark, Record},
};

use crate::pool::Full;

/// The most characters of one result. About 8 000 tokens; clients start to cut or to complain above.
pub(super) const MAX_CHARS: usize = 32_000;

/// Characters kept free for the note about what is missing.
const NOTE_ROOM: usize = 300;

/// Characters for the tags around stored text, and how these begin.
const STORED_ROOM: usize = 100;
const OPENING: &str = "<strata-memory ";
const CLOSING: &str = "</strata-memory>";

/// The form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Markdown,
    Json,
    /// For a seed's tool whose reply is JSON that people read too.
    IndentedJson,
}

impl From<TextForm> for Form {
    fn from(form: TextForm) -> Self {
        match form {
            TextForm::Markdown => Self::Markdown,
            TextForm::Json => Self::IndentedJson,
            TextForm::CompactJson => Self::Json,
        }
    }
}

impl Form {
    /// Reads the `format` argument; absent is `default`. Error: another word.
    pub(super) fn read(argument: Option<Value>, default: Self) -> Result<Self, Error> {
        match argument {
            None | Some(Value::Null) => Ok(default),
            Some(Value::String(word)) => match word.trim().to_ascii_lowercase().as_str() {
                "" => Ok(default),
                "markdown" | "md" | "text" => Ok(Self::Markdown),
                "json" => Ok(Self::Json),
                _ => Err(unknown_form(&word)),
            },
            Some(other) => Err(unknown_form(&other.to_string())),
        }
    }
}

fn unknown_form(given: &str) -> Error {
    let given: String = given.chars().take(40).collect();
    Error::argument("format", format!("`{given}` is not a form of reply"), "use one of markdown, json")
}

/// A reply as text. Error: as JSON it is too long; JSON cannot be cut.
pub(super) fn text(reply: &Reply, form: Form) -> Result<String, Error> {
    match form {
        Form::Markdown => Ok(capped(&reply.document, MAX_CHARS)),
        Form::Json | Form::IndentedJson => {
            let mut text = match form {
                Form::IndentedJson => format!("{:#}", reply.json),
                _ => reply.json.to_string(),
            };
            let mut length = text.chars().count();
            if length > MAX_CHARS && form == Form::IndentedJson {
                text = reply.json.to_string();
                length = text.chars().count();
            }
            if length > MAX_CHARS {
                return Err(Error::argument(
                    "format",
                    format!("the reply has {length} characters as JSON; at most {MAX_CHARS} are sent"),
                    "ask for less (a smaller limit or a narrower filter), or use format markdown",
                ));
            }
            Ok(text)
        }
    }
}

/// Why a call has no reply: the operation failed, or it did not start.
#[derive(Debug)]
pub(super) struct Failure {
    kind: ErrorKind,
    /// The arguments could not be read, so that nothing was tried.
    unread: bool,
    cause: String,
    next: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let unread = matches!(error, Error::Unread(_));
        Self {
            kind: error.kind(),
            unread,
            cause: shortened(&error.to_string()),
            next: shortened(&error.hint()),
        }
    }
}

/// The most characters of a cause or a next step: errors quote what was sent, and that may be anything.
const MAX_SENTENCE: usize = 600;

/// A sentence cut to what a model still reads, without control characters, and without the secrets of what it quotes.
pub(super) fn shortened(sentence: &str) -> String {
    let clean = clean_text(sentence).text;
    let clean = redact(&clean).text;
    match clean.char_indices().nth(MAX_SENTENCE) {
        Some((end, _)) => format!("{}...", &clean[..end]),
        None => clean.into_owned(),
    }
}

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        Self {
            kind: ErrorKind::Busy,
            unread: false,
            cause: "this server is at work on as many calls as it can".into(),
            next: "wait for running calls, then call again".into(),
        }
    }
}

impl Failure {
    /// What sort of failure it is.
    pub(super) const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The same with its next step in other words.
    pub(super) fn advising(mut self, words: impl FnOnce(&str) -> String) -> Self {
        self.next = words(&self.next);
        self
    }

    /// Code, cause and next step, all in the first block because some clients show nothing else.
    pub(super) fn text(&self, form: Form) -> String {
        let Self { kind, cause, next, .. } = self;
        let code = kind.code();
        match form {
            Form::Markdown => format!("error: {code}\ncause: {cause}\nnext: {next}"),
            Form::Json | Form::IndentedJson => {
                json!({ "error": { "code": code, "cause": cause, "next": next } }).to_string()
            }
        }
    }

    /// What the client is told, as a failed call (`Err`) or, where its toolset has that custom, as an answer (`Ok`)
    /// that says that it did not succeed.
    pub(super) fn told(&self, toolset: Toolset, form: Form) -> Result<String, String> {
        if form == Form::Markdown || !toolset.answers_failures() {
            return Err(self.text(form));
        }
        let Self { kind, unread, cause, next } = self;
        let answer = json!({ "success": false, "error": cause, "kind": kind.code(), "hint": next });
        let is_fault = *unread || matches!(kind, ErrorKind::Internal);
        if is_fault { Err(answer.to_string()) } else { Ok(answer.to_string()) }
    }
}

/// Text of at most [`MAX_CHARS`] characters, cut between lines unless they are long, for documents that are no reply.
pub(super) fn capped_text(text: String) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    let end = text.char_indices().nth(MAX_CHARS - NOTE_ROOM).map_or(text.len(), |(at, _)| at);
    let most = &text[..end];
    let lines = most.rfind('\n').unwrap_or(0);
    // A line that takes most of the room is cut itself.
    let kept = if lines > most.len() / 2 { &most[..lines] } else { most };
    // What is cut within stored text still ends where that ends.
    let is_open = kept.matches(OPENING).count() > kept.matches(CLOSING).count();
    let closed = if is_open { format!("{kept}\n{CLOSING}") } else { kept.to_owned() };
    format!("{closed}\n\n{} The text was cut at {MAX_CHARS} characters.", Mark::Warning.sign())
}

/// Markdown of at most `limit` characters, cut between blocks, records, rows or lines.
fn capped(document: &Document, limit: usize) -> String {
    let whole = document.to_markdown();
    if whole.chars().count() <= limit {
        return whole;
    }
    let mut room = limit.saturating_sub(NOTE_ROOM);
    let mut kept = Document::new();
    let mut left_out = 0;
    for (at, block) in document.blocks.iter().enumerate() {
        let (part, missing) = fit(block, room);
        room = room.saturating_sub(part.as_ref().map_or(0, size));
        kept.blocks.extend(part);
        if missing > 0 {
            left_out = missing + document.blocks[at + 1..].iter().map(items).sum::<usize>();
            break;
        }
    }
    let note = format!(
        "The reply was cut at {limit} characters: {left_out} more not shown. \
         Ask for less (a smaller limit or budget, a narrower filter), or for one thing by its id."
    );
    kept.note(Mark::Warning, note).to_markdown()
}

/// As much of a block as fits, and how many of its items do not.
fn fit(block: &Block, room: usize) -> (Option<Block>, usize) {
    if size(block) <= room {
        return (Some(block.clone()), 0);
    }
    match block {
        Block::Records { trust, records } => {
            let (kept, missing) = fit_records(records, room);
            (kept.map(|records| Block::Records { trust: *trust, records }), missing)
        }
        Block::Table { columns, rows } => {
            let cell = |c: &String| c.chars().count() + c.matches('|').count() + 4;
            let kept = prefix(rows, room, |row| row.iter().map(cell).sum());
            let missing = rows.len() - kept.len();
            (some(kept).map(|rows| Block::Table { columns: columns.clone(), rows }), missing)
        }
        Block::Pairs(pairs) => {
            let kept = prefix(pairs, room, |(k, v)| k.chars().count() + v.chars().count() + 5);
            let missing = pairs.len() - kept.len();
            (some(kept).map(Block::Pairs), missing)
        }
        Block::Stored(block) => {
            let (kept, missing) = fit(block, room.saturating_sub(STORED_ROOM));
            (kept.map(|kept| Block::Stored(Box::new(kept))), missing)
        }
        Block::Code { language, text } => (Some(Block::Code { language, text: cut(text, room) }), 1),
        Block::Paragraph(text) => (Some(Block::Paragraph(cut(text, room))), 1),
        Block::Heading(_) | Block::Note(..) => (None, 1),
    }
}

/// Whole records; only when not even the first fits, a part of it.
fn fit_records(records: &[Record], room: usize) -> (Option<Vec<Record>>, usize) {
    let kept = prefix(records, room, record_size);
    match (kept.is_empty(), records.first()) {
        (true, Some(first)) if room > 1000 => {
            let overhead = record_size(first) - first.text.chars().count();
            // Indentation costs two characters per line; short lines must not defeat the limit.
            let text = cut(&first.text, room.saturating_sub(overhead) / 3);
            (Some(vec![Record { text, ..first.clone() }]), records.len())
        }
        _ => {
            let missing = records.len() - kept.len();
            (some(kept), missing)
        }
    }
}

fn some<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}

fn prefix<T: Clone>(items: &[T], room: usize, size: impl Fn(&T) -> usize) -> Vec<T> {
    let mut left = room.saturating_sub(100);
    items
        .iter()
        .take_while(|item| {
            let fits = size(item) <= left;
            left = left.saturating_sub(size(item));
            fits
        })
        .cloned()
        .collect()
}

fn record_size(record: &Record) -> usize {
    strata_engine::render::record_text(record).chars().count() + 1
}

fn cut(text: &str, room: usize) -> String {
    let total = text.chars().count();
    let kept: String = text.chars().take(room.saturating_sub(60)).collect();
    let missing = total - kept.chars().count();
    format!("{kept}\n[{missing} more characters not shown]")
}

/// Characters of a block as Markdown, with the empty line before it.
fn size(block: &Block) -> usize {
    Document { blocks: vec![block.clone()] }.to_markdown().chars().count() + 2
}

fn items(block: &Block) -> usize {
    match block {
        Block::Records { records, .. } => records.len(),
        Block::Table { rows, .. } => rows.len(),
        Block::Pairs(pairs) => pairs.len(),
        Block::Stored(block) => items(block),
        Block::Heading(_) | Block::Paragraph(_) | Block::Code { .. } | Block::Note(..) => 1,
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::render::Trust;

    use super::*;

    fn record(id: usize, text: String) -> Record {
        Record { id: format!("mem_{id:010}"), attributes: vec!["P5".into()], title: None, text }
    }

    fn records(n: usize, text: &str) -> Document {
        let records = (0..n).map(|i| record(i, text.to_owned())).collect();
        Document::new().text("Found:").with(Block::Records { trust: Trust::Data, records })
    }

    fn check(document: &Document) -> String {
        let text = capped(document, MAX_CHARS);
        assert!(text.chars().count() <= MAX_CHARS, "{}", text.chars().count());
        text
    }

    #[test]
    fn what_an_error_quotes_has_no_secrets() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let failure = Failure::from(Error::argument("id", format!("`{token}` is not an id"), "send an id"));
        let text = failure.text(Form::Markdown);
        assert!(text.contains("is not an id") && !text.contains(&token), "{text}");
    }

    #[test]
    fn what_fits_is_untouched() {
        let document = records(3, "short");
        assert_eq!(check(&document), document.to_markdown());
    }

    #[test]
    fn long_lists_are_cut_between_records_and_say_how_many_are_missing() {
        let text = check(&records(1000, &"记忆 ".repeat(50)));
        let shown = text.matches("- mem_").count();
        assert!(shown > 100, "{shown}");
        assert!(text.contains(&format!("{} more not shown", 1000 - shown)), "{}", &text[text.len() - 400..]);
        assert_eq!(text.matches("</strata-memory>").count(), 1);
    }

    #[test]
    fn every_kind_of_giant_block_stays_under_the_limit() {
        check(&records(1, &"x".repeat(1_000_000)));
        check(&records(1, &"x\n".repeat(200_000)));
        check(&Document::new().text("y".repeat(100_000)));
        check(&Document::new().with(Block::Code { language: "", text: "z".repeat(100_000) }));
        let row = || vec!["cell|".repeat(20), "b".into()];
        check(&Document::new().with(Block::Table {
            columns: vec!["a".into(), "b".into()],
            rows: (0..5000).map(|_| row()).collect(),
        }));
        let text = check(&Document::new().with_stored_table(&["a", "b"], (0..5000).map(|_| row()).collect()));
        assert_eq!(text.matches("</strata-memory>").count(), 1, "it is closed");
        check(&Document::new().with(Block::Pairs((0..9000).map(|i| (i.to_string(), "v".into())).collect())));
        let mut many = Document::new();
        for i in 0..9000 {
            many = many.note(Mark::Info, format!("note {i}"));
        }
        check(&many);
    }

    #[test]
    fn indented_json_goes_without_its_line_breaks_before_it_is_refused() {
        let reply = |length: usize| Reply {
            json: json!({ "list": vec![1; length] }),
            document: Document::new(),
            is_alarming: false,
        };
        assert!(text(&reply(9), Form::IndentedJson).is_ok_and(|said| said.contains("\n  \"list\"")));
        let long = text(&reply(MAX_CHARS / 2 - 20), Form::IndentedJson).expect("it is sent");
        assert!(!long.contains('\n') && long.len() <= MAX_CHARS);
        assert!(text(&reply(MAX_CHARS / 2), Form::IndentedJson).is_err());
    }

    #[test]
    fn long_documents_are_cut_between_lines() {
        assert_eq!(capped_text("short".into()), "short");
        let text = capped_text("a line\n".repeat(20_000));
        assert!(text.chars().count() <= MAX_CHARS && text.ends_with("characters."), "{}", text.len());
        let stored = strata_engine::render::fenced(Trust::Data, &"a line\n".repeat(20_000));
        let text = capped_text(format!("# Ours\n\n{stored}\n"));
        assert!(text.chars().count() <= MAX_CHARS, "{}", text.len());
        assert_eq!((text.matches(OPENING).count(), text.matches(CLOSING).count()), (1, 1));
    }

    #[test]
    fn json_is_whole_or_refused() {
        let reply = |json: Value| Reply { json, document: Document::new(), is_alarming: false };
        assert_eq!(text(&reply(json!({"a": 1})), Form::Json).expect("short"), r#"{"a":1}"#);
        let error = text(&reply(json!("x".repeat(40_000))), Form::Json).expect_err("too long");
        assert!(error.hint().contains("less"), "{}", error.hint());
    }

    #[test]
    fn the_form_is_read_leniently_and_judged_strictly() {
        for (given, form) in
            [(None, Form::Markdown), (Some(json!("")), Form::Markdown), (Some(json!("JSON")), Form::Json)]
        {
            assert_eq!(Form::read(given, Form::Markdown).expect("known"), form);
        }
        assert!(
            Form::read(Some(json!("xml")), Form::Markdown)
                .expect_err("unknown")
                .to_string()
                .contains("format")
        );
        assert!(Form::read(Some(json!(1)), Form::Markdown).is_err());
    }

    #[test]
    fn a_layered_client_reads_a_failure_as_an_answer_unless_its_arguments_were_not_read() {
        let conflict = || Error::Conflict { message: "changed".into(), hint: "read it again".into() };
        let told = |error: Error, toolset| Failure::from(error).told(toolset, Form::IndentedJson);
        let answer = told(conflict(), Toolset::Layered).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let expected =
            json!({ "success": false, "error": "changed", "kind": "conflict", "hint": "read it again" });
        assert_eq!(answer, expected);
        assert!(told(Error::Unread(Box::new(conflict())), Toolset::Layered).is_err());
        assert!(told(conflict(), Toolset::Core).is_err());
    }

    #[test]
    fn errors_name_code_cause_and_next_step() {
        let text = Failure::from(Error::Deadline).text(Form::Markdown);
        assert!(text.starts_with("error: deadline\ncause: "), "{text}");
        assert!(text.contains("\nnext: "), "{text}");
        let json: Value = serde_json::from_str(&Failure::from(Full).text(Form::Json)).expect("JSON");
        assert_eq!(json["error"]["code"], "busy");
    }
}
