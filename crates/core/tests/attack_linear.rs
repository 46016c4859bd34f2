//! Texts made to be slow: every reader of stored text keeps to time in proportion to its length.

use std::time::{Duration, Instant};

use strata_core::{
    analysis, budget, duplicate, markdown,
    redact::{clean_text, redact, strip_injected},
    route,
};

/// A reader of text, by name.
type Reader = (&'static str, fn(&str));

const READERS: [Reader; 9] = [
    ("redact", |t| drop(redact(t))),
    ("clean_text", |t| drop(clean_text(t))),
    ("strip_injected", |t| drop(strip_injected(t))),
    ("identity", |t| drop(duplicate::identity(t))),
    ("bands", |t| drop(duplicate::bands(t))),
    ("route", |t| drop(route::suggest(t, None))),
    ("analyze_passage", |t| drop(analysis::analyze_passage(t))),
    ("markdown sections", |t| drop(markdown::sections(t))),
    ("estimate_tokens", |t| {
        budget::estimate_tokens(t);
    }),
];

const PIECES: [&str; 22] = [
    "\u{301}",
    "👩\u{200d}",
    "http://a:b@c ",
    "password=",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "eyJ.",
    "<strata-memory",
    "<strata-memory>",
    "</strata-memory>",
    "ab12",
    "/",
    "\"",
    "aB",
    "#\n",
    "[",
    "`",
    "> ",
    "- \n",
    "語",
    "Authorization: ",
    "\u{1b}]",
    "*_",
];

#[test]
fn time_grows_with_length_and_not_with_its_square() {
    let only = std::env::var("ATTACK_READER").ok();
    let mut slow = Vec::new();
    for (name, read) in READERS {
        if only.as_deref().is_some_and(|o| o != name) {
            continue;
        }
        for piece in PIECES {
            let time = |bytes: usize| {
                let text = piece.repeat(bytes / piece.len());
                let started = Instant::now();
                read(&text);
                started.elapsed()
            };
            let (short, long) = (time(16 << 10), time(128 << 10));
            println!("{name} {piece:?} {short:?} {long:?}");
            if long > Duration::from_millis(50) && long > short * 24 {
                slow.push(format!("{name} of {piece:?}: {short:?}, eight times as much {long:?}"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
