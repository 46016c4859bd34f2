//! The samples of each language: every symbol and every range. The listing beside a sample is what is to be read in it.

use std::{fmt::Write, fs, path::PathBuf};

use strata_lang::{Found, Limits, Reading, Symbol, read};

const LANGUAGES: [&str; 12] =
    ["bash", "c", "cpp", "go", "java", "javascript", "php", "python", "ruby", "rust", "tsx", "typescript"];

fn samples(language: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(language);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder of samples")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension != "symbols"));
    files.sort();
    files
}

fn reading(file: &PathBuf, limits: &Limits) -> (String, Reading) {
    let text = fs::read_to_string(file).expect("a sample");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let reading = read(&name, &text, limits, &|| false);
    (text, reading)
}

/// None when it was not read by its syntax.
fn symbols(reading: &Reading) -> &[Symbol] {
    if let Found::Symbols(symbols) = &reading.found { symbols } else { &[] }
}

/// `lines name-line kind scope > name | signature | documentation`
fn listing(reading: &Reading) -> String {
    let mut listing = String::new();
    for symbol in symbols(reading) {
        let Symbol { name, kind, signature, doc, scope, span, line } = symbol;
        let path: Vec<&str> = scope.iter().map(String::as_str).chain([name.as_str()]).collect();
        let doc = doc.as_deref().unwrap_or("-").replace('\n', "\\n");
        let (first, last) = (span.first_line, span.last_line);
        let (kind, path) = (kind.as_str(), path.join(" > "));
        writeln!(listing, "{first}-{last} {line} {kind} {path} | {signature} | {doc}")
            .expect("a String takes all");
    }
    listing
}

#[test]
fn every_symbol_of_every_sample_is_found_where_it_stands() {
    let mut wrong = String::new();
    for language in LANGUAGES {
        let files = samples(language);
        assert!(
            files.iter().any(|f| f.file_stem().is_some_and(|s| s.eq_ignore_ascii_case("broken"))),
            "{language}"
        );
        for file in files {
            let (_, reading) = reading(&file, &Limits::default());
            let language_read = reading.language.map(strata_lang::Language::as_str);
            assert_eq!(language_read, Some(language), "{}", file.display());
            let expected = fs::read_to_string(file.with_extension("symbols")).unwrap_or_default();
            let found = listing(&reading);
            if found != expected {
                writeln!(wrong, "{}\n{found}", file.display()).expect("a String takes all");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn chunks_are_the_text_and_say_which_symbols_they_have() {
    for limit in [20, 60, 250, 1000] {
        let limits = Limits { code: limit, share: limit / 4, ..Limits::default() };
        for file in LANGUAGES.into_iter().flat_map(samples) {
            let (text, reading) = reading(&file, &limits);
            let whole: String = reading.chunks.iter().map(|chunk| &text[chunk.span.bytes.clone()]).collect();
            assert_eq!(whole, text, "{}", file.display());
            let symbols = symbols(&reading);
            let begun: Vec<usize> = reading.chunks.iter().flat_map(|chunk| chunk.begins.clone()).collect();
            assert_eq!(begun, (0..symbols.len()).collect::<Vec<_>>());
            for chunk in &reading.chunks {
                assert!(chunk.tokens <= limit || !text[chunk.span.bytes.clone()].trim().contains(' '));
                for symbol in &symbols[chunk.begins.clone()] {
                    assert!(chunk.span.bytes.contains(&symbol.span.bytes.start));
                }
                if let Some(within) = chunk.within {
                    let symbol = &symbols[within];
                    assert!(symbol.span.bytes.contains(&chunk.span.bytes.start));
                    assert_eq!(chunk.path.last(), Some(&symbol.name));
                }
            }
        }
    }
}

/// A definition that fits begins a chunk with what belongs to it, and ends in the same.
#[test]
fn a_definition_is_not_parted_from_its_comments_and_attributes() {
    let limits = Limits { code: 200, share: 20, ..Limits::default() };
    for (language, name) in
        [("rust", "Queue"), ("python", "retry"), ("java", "push"), ("php", "push"), ("c", "queue_push")]
    {
        let file = samples(language)
            .into_iter()
            .find(|f| !f.ends_with("broken") && fs::read_to_string(f).is_ok_and(|t| t.len() > 600));
        let (text, reading) = reading(&file.expect("a sample"), &limits);
        let symbol = symbols(&reading).iter().find(|s| s.name == name).expect("the symbol");
        let chunk =
            reading.chunks.iter().find(|c| c.span.bytes.contains(&symbol.span.bytes.start)).expect("a chunk");
        let piece = &text[chunk.span.bytes.clone()];
        assert!(chunk.span.bytes.end >= symbol.span.bytes.end, "{language} {piece}");
    }
}

/// The head of a class that is too large stays with its documentation, a brace on its own line with what it opens.
#[test]
fn a_head_is_not_alone() {
    let method = |name: usize| {
        format!("    def m{name}(self):\n        return [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n\n")
    };
    let text = format!(
        "class A:\n    \"\"\"What it is, in some words.\"\"\"\n\n{}",
        (0..9).map(method).collect::<String>()
    );
    let limits = Limits { code: 120, share: 30, ..Limits::default() };
    let reading = read("a.py", &text, &limits, &|| false);
    assert!(text[reading.chunks[0].span.bytes.clone()].contains("in some words"));
    let body = "    call(one, two, three, four);\n".repeat(30);
    let text = format!("static int\nrun(int a)\n{{\n{body}}}\n");
    let reading = read("a.c", &text, &limits, &|| false);
    assert!(text[reading.chunks[0].span.bytes.clone()].contains("call(one"));
}
