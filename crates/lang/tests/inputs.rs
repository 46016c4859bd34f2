//! No input does harm: whatever the bytes, the chunks are the text, within the limits, in little time.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use strata_lang::{Fallback, Found, Limits, Reading, layers, read};

/// A name for every way of reading.
const NAMES: [&str; 26] = [
    "a.rs", "a.py", "a.js", "a.ts", "a.tsx", "a.go", "A.java", "a.c", "a.cpp", "a.h", "a.rb", "a.php",
    "a.sh", "a.md", "a.json", "a.yaml", "a.toml", "a.xml", "a.log", "a.diff", "a.tap", "a.txt", "a.kt",
    "a.html", "Makefile", "a",
];

fn checked(name: &str, text: &str) -> Reading {
    let limits = Limits::default();
    let reading = read(name, text, &limits, &|| false);
    let mut at = 0;
    for chunk in &reading.chunks {
        assert_eq!(chunk.span.bytes.start, at, "{name}");
        assert!(chunk.span.bytes.end > at && chunk.span.first_line <= chunk.span.last_line, "{name}");
        let limit = match reading.found {
            Found::Symbols(_) | Found::Keys(_) | Found::Lines => limits.code,
            Found::Windows(_) => limits.log,
            _ => limits.prose,
        };
        let piece = &text[chunk.span.bytes.clone()];
        assert!(chunk.tokens <= limit && piece.chars().count().div_ceil(4) <= limit as usize, "{name}");
        at = chunk.span.bytes.end;
    }
    assert_eq!(at, text.len(), "{name}");
    let said = layers::propositions(text, &reading);
    assert!(said.iter().all(|statement| statement.chunk < reading.chunks.len()), "{name}");
    assert!(layers::paragraphs(text, &reading).len() <= reading.chunks.len(), "{name}");
    assert!(layers::summary(name, text, &reading).text.chars().count() <= 800, "{name}");
    reading
}

/// Numbers that look like chance and are the same each time.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % below.max(1)
    }
}

#[test]
fn bytes_of_chance_are_read_as_anything() {
    let mut seeded = Seeded(0x5eed);
    for length in [0, 1, 2, 3, 17, 400, 3000] {
        let bytes: Vec<u8> = (0..length).map(|_| u8::try_from(seeded.next(256)).unwrap_or(0)).collect();
        let text = String::from_utf8_lossy(&bytes);
        for name in NAMES {
            checked(name, &text);
        }
    }
}

#[test]
fn cut_and_spoilt_samples_are_read() {
    let mut seeded = Seeded(0xca5e);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let marks = ["{", "}", "(", "\"", "'", "`", "/*", "#", "\n", "<", "\u{0}", "\u{4e2d}", "end", "=begin\n"];
    for folder in fs::read_dir(data).expect("the samples") {
        for file in fs::read_dir(folder.expect("a folder").path()).expect("a folder") {
            let file = file.expect("a sample").path();
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).expect("a sample");
            for _ in 0..6 {
                let cut = text.floor_char_boundary(seeded.next(text.len()));
                checked(&name, &text[..cut]);
                checked(&name, &text[cut..]);
                let spoilt = format!("{}{}{}", &text[..cut], marks[seeded.next(marks.len())], &text[cut..]);
                checked(&name, &spoilt);
            }
        }
    }
}

/// A hundred thousand brackets: they would be too many for a walk that calls itself.
#[test]
fn deep_nesting_is_not_too_deep() {
    let many = 100_000;
    for name in &NAMES[..16] {
        checked(name, &"[".repeat(many));
    }
    for (open, name) in [
        ("(", "a.rs"),
        ("{\n", "a.cpp"),
        ("- ", "a.yaml"),
        ("- ", "a.md"),
        ("> ", "a.md"),
        ("{\"a\":", "a.json"),
        ("<a>", "a.xml"),
    ] {
        checked(name, &open.repeat(many));
    }
    let closed = format!("x = {}{}\n", "[".repeat(many), "]".repeat(many));
    for name in ["a.rs", "a.py", "a.js", "a.rb", "a.json", "a.toml", "a.yaml"] {
        checked(name, &closed);
    }
    let classes = format!("{}{}", "class A {\n".repeat(4_000), "}\n".repeat(4_000));
    let reading = checked("A.java", &classes);
    assert!(
        matches!(&reading.found, Found::Symbols(all) if all.len() == 4_000 && all[3_999].scope.len() == 16)
    );
    for (open, name) in [("if (a) {\n", "a.js"), ("class A {\n", "A.java"), ("mod a {\n", "a.rs")] {
        assert_eq!(checked(name, &open.repeat(2_000)).found.as_str(), "syntax", "{name}");
    }
}

/// Every language, in its own way of nesting, and closed again: what is refused half-way would prove little.
#[test]
fn ten_thousand_levels_are_read_in_every_language() {
    const LEVELS: usize = 10_000;
    const PATIENCE: Duration = Duration::from_secs(20);
    for (name, begin, open, close) in [
        ("a.rs", "", "mod a {\n", "}\n"),
        ("a.py", "x = ", "f(\n", ")\n"),
        ("a.js", "", "function a() {\n", "}\n"),
        ("a.ts", "", "namespace a {\n", "}\n"),
        ("a.tsx", "const x = ", "<a>\n", "</a>\n"),
        ("a.go", "package a\nvar x = ", "f(func() {\n", "})\n"),
        ("A.java", "", "class A {\n", "}\n"),
        ("a.c", "void f() ", "{\n", "}\n"),
        ("a.cpp", "", "namespace a {\n", "}\n"),
        ("a.rb", "", "module A\n", "end\n"),
        ("a.php", "<?php\n", "if ($a) {\n", "}\n"),
        ("a.sh", "", "if a; then\n", "fi\n"),
        ("a.json", "", "{\"a\":\n", "}\n"),
        ("a.yaml", "a: ", "{a: ", "}"),
        ("a.toml", "a = ", "[\n", "]\n"),
        ("a.md", "", "> ", ""),
        ("b.md", "", "- ", ""),
    ] {
        let value = if name.ends_with(".json") { "1" } else { "" };
        let text = format!("{begin}{}{value}{}\n", open.repeat(LEVELS), close.repeat(LEVELS));
        let began = Instant::now();
        checked(name, &text);
        assert!(began.elapsed() < PATIENCE, "{name}: {:?}", began.elapsed());
    }
}

#[test]
fn a_single_line_of_five_megabytes_is_cut() {
    let letters = "a".repeat(5 << 20);
    assert_eq!(checked("a.js", &letters).fell_back, Some(Fallback::TooLarge));
    assert_eq!(checked("a.json", &letters).fell_back, Some(Fallback::NothingFound));
    let words = "let x = 1; ".repeat((5 << 20) / 11);
    for name in ["a.md", "a.log", "a.yaml"] {
        assert!(checked(name, &words).chunks.len() > 1000, "{name}");
    }
}

#[test]
fn whoever_asks_to_stop_gets_lines() {
    let text = "fn a() {}\n".repeat(20_000);
    let reading = read("a.rs", &text, &Limits::default(), &|| true);
    assert_eq!((reading.found.as_str(), reading.fell_back), ("lines", Some(Fallback::TooSlow)));
    assert_eq!(checked("a.rs", &text).found.as_str(), "syntax");
    let reading = checked("a.kt", "fun a() {}\n");
    assert_eq!((reading.found.as_str(), reading.fell_back), ("lines", Some(Fallback::NoGrammar)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn any_text_of_marks_is_covered(
        name in prop::sample::select(NAMES.to_vec()),
        text in "([a-z]{1,6}|[ \\n\\t]{1,3}|[{}()\\[\\]<>;:,.=#@'\"`/*|&!?\\\\-]|fn |def |class |ok 1 |--- |@@ -1 \\+1 @@|\u{8a18}|\r\n){0,120}",
    ) {
        checked(name, &text);
    }
}
