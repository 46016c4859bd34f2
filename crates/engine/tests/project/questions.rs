//! Questions made from the documentation of a real repository: is the file found that they were taken from?

use std::path::{Path, PathBuf};

use serde_json::json;
use strata_core::scope::Scope;
use strata_engine::eval::baseline::{Asking, Baseline};
use strata_lang::{Found, Limits, read};

use crate::support::Session;

/// Questions that are asked.
const QUESTIONS: usize = 60;
/// Of those, how many must find their file first.
const FIRST: usize = 45;

/// A sentence of documentation, and the file it stands in.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) path: String,
}

/// Source files below a folder, by path, without tests.
pub(super) fn sources(root: &Path) -> Vec<(String, String)> {
    let mut waiting = vec![root.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                Ok(kind) if kind.is_file() => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    let wanted = |path: &PathBuf| {
        path.extension().is_some_and(|end| ["py", "rs", "go", "ts", "java"].iter().any(|w| end == *w))
    };
    let below = |path: PathBuf| {
        let name = path.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
        let is_hidden = name.starts_with('.') || name.contains("/.") || name.contains("test");
        let text = std::fs::read_to_string(&path).ok().filter(|_| !is_hidden)?;
        Some((name, text))
    };
    files.into_iter().filter(wanted).filter_map(below).collect()
}

/// The first sentence of a documentation of each file that has one of six words and more, spread over all files.
pub(super) fn questions(files: &[(String, String)]) -> Vec<Question> {
    let of_file = |(path, text): &(String, String)| {
        let Found::Symbols(symbols) = read(path, text, &Limits::default(), &|| false).found else {
            return None;
        };
        let docs = symbols.iter().filter_map(|symbol| symbol.doc.as_deref());
        let sentence = docs.map(first_sentence).find(|s| (6..=30).contains(&s.split_whitespace().count()))?;
        Some(Question { text: sentence, path: path.clone() })
    };
    let all: Vec<Question> = files.iter().filter_map(of_file).collect();
    let count = all.len();
    let chosen = |at: usize| at * QUESTIONS / count.max(1) != (at + 1) * QUESTIONS / count.max(1);
    all.into_iter().enumerate().filter(|(at, _)| count <= QUESTIONS || chosen(*at)).map(|(_, q)| q).collect()
}

fn first_sentence(doc: &str) -> String {
    let paragraph: Vec<&str> =
        doc.trim().lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let text = paragraph.join(" ");
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text[..end].to_owned()
}

/// The place of a question's file among the files in order, from 1.
fn rank(found: &[String], path: &str) -> Option<usize> {
    let mut files: Vec<&str> = Vec::new();
    for one in found {
        if !files.contains(&one.as_str()) {
            files.push(one);
        }
    }
    files.iter().position(|one| *one == path).map(|at| at + 1)
}

#[test]
fn questions_from_docstrings_find_their_file() {
    let Some(root) = std::env::var_os("STRATA_EVAL_REPOSITORY").map(PathBuf::from) else {
        println!("skipped: set STRATA_EVAL_REPOSITORY to the folder of a repository");
        return;
    };
    let files = sources(&root);
    let questions = questions(&files);
    assert_eq!(questions.len(), QUESTIONS, "the repository documents too little");
    let chunks: Vec<(String, String)> = files
        .iter()
        .flat_map(|(path, text)| {
            let reading = read(path, text, &Limits::default(), &|| false);
            let cut = |chunk: &strata_lang::Chunk| (path.clone(), text[chunk.span.bytes.clone()].to_owned());
            reading.chunks.iter().map(cut).collect::<Vec<_>>()
        })
        .collect();
    let plain = Baseline::new(chunks.iter().map(|(_, text)| (text.as_str(), "")));
    let session = Session::with_settings(|settings| settings.project_root = Some(root.clone()));
    let session = Session { scope: Scope::project("evaluated"), ..session };
    let indexed = crate::support::with_call(&session, |call| {
        strata_engine::project::files::follow::refresh(&session.engine, call).expect("indexed")
    });
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut took = Vec::new();
    for question in &questions {
        let asked = json!({ "task": question.text, "token_budget": 8000 });
        let begun = std::time::Instant::now();
        let pack = session.ok("retrieve_agent_context", asked);
        took.push(begun.elapsed());
        let passages = pack["knowledge_chunks"].as_array().expect("passages");
        let found: Vec<String> =
            passages.iter().map(|chunk| chunk["source_path"].as_str().expect("a path").to_owned()).collect();
        ours.push(rank(&found, &question.path));
        let places = plain.search(&question.text, Asking::Sanitised, 50);
        let found: Vec<String> = places.into_iter().map(|at| chunks[at].0.clone()).collect();
        theirs.push(rank(&found, &question.path));
    }
    took.sort_unstable();
    let within =
        |ranks: &[Option<usize>], most: usize| ranks.iter().flatten().filter(|rank| **rank <= most).count();
    for ((question, rank), plain) in
        questions.iter().zip(&ours).zip(&theirs).filter(|((_, rank), _)| **rank != Some(1))
    {
        println!("{rank:?} (plain {plain:?}) {} <- {}", question.path, question.text);
    }
    println!(
        "{} files; of {QUESTIONS}: first {} (plain BM25 {}), in five {} ({}); p50 {:?}, p95 {:?}",
        indexed.ingested(),
        within(&ours, 1),
        within(&theirs, 1),
        within(&ours, 5),
        within(&theirs, 5),
        took[QUESTIONS / 2],
        took[QUESTIONS * 95 / 100],
    );
    assert!(within(&ours, 1) >= within(&theirs, 1).max(FIRST));
}
