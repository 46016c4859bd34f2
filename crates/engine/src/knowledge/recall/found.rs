//! Which files match, by mode.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use strata_core::{
    knowledge::ranking::{Keyword, Searchable, fuzzy_score, keyword_score},
    markdown::Entry,
};
use strata_embed::Semantic;
use strata_store::index::{Section, Source, SourceKind};

use super::Mode;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{files::Readable, vault::ParsedFile},
    operation::Call,
    recall::{
        item::{DocumentPart, Item},
        search::{Floor, Hit, Query, search},
    },
    settings::Fusion,
};

/// Sections that are looked at for each file that is asked for.
const SECTIONS_A_FILE: usize = 4;
/// The fewest and the most of them.
const SECTIONS: (usize, usize) = (20, 120);

/// How often is looked again for files that a long one left no place.
const FURTHER: usize = 3;

/// The share of a file's best cosine from which on its other sections match, too.
const ALSO_NEAR: f64 = 0.75;

/// A section that the one search found.
pub(crate) struct Passage {
    pub(crate) part: DocumentPart,
    pub(crate) score: f64,
    /// Whether it has a word of the query.
    has_words: bool,
}

/// A file that matches.
pub(super) struct Match {
    /// Its place among the files.
    pub(super) file: usize,
    pub(super) score: f64,
    /// Its matching sections, the best first; `None`: those that hold the keyword.
    pub(super) parts: Option<Vec<usize>>,
}

/// The files that the documented scores let through, best first; equals by path.
pub(super) fn by_words(files: &[Readable], keyword: &Keyword, mode: Mode) -> Vec<Match> {
    let score: fn(&Keyword, &str, &Searchable) -> Option<f64> =
        if mode == Mode::Fuzzy { fuzzy_score } else { keyword_score };
    let scored = files.iter().enumerate().filter_map(|(at, Readable { head, file })| {
        let score = score(keyword, &head.path.to_string(), file.searchable())?;
        Some(Match { file: at, score, parts: None })
    });
    best_first(scored.collect(), files)
}

/// The files that the one search finds, best first; equals by path.
pub(super) fn by_search(
    engine: &Engine,
    call: &Call<'_>,
    files: &[Readable],
    (text, keyword): (&str, &Keyword),
    mode: Mode,
    top: usize,
) -> Result<Vec<Match>, Error> {
    let limit = (top * SECTIONS_A_FILE).clamp(SECTIONS.0, SECTIONS.1);
    let mut hits = match mode {
        Mode::Semantic => by_meaning(engine, call, files, text, limit)?,
        _ => passages(engine, call, files, text, mode, limit)?,
    };
    if is_full(&hits, limit) {
        among_others(engine, call, files, (text, mode), (limit, top), &mut hits)?;
    }
    let places: HashMap<i64, usize> =
        files.iter().enumerate().map(|(at, file)| (file.head.number, at)).collect();
    let mut by_file: HashMap<usize, Vec<Passage>> = HashMap::new();
    for hit in hits {
        if let Some(file) = places.get(&hit.part.file.number) {
            by_file.entry(*file).or_default().push(hit);
        }
    }
    let matches = by_file.into_iter().map(|(file, hits)| {
        let score = hits.first().map_or(0.0, |best| best.score);
        let mut parts: Vec<usize> = Vec::new();
        for hit in that_match(hits, mode) {
            for part in parts_of(&files[file].file, &hit.part.section, keyword) {
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        Match { file, score, parts: Some(parts) }
    });
    Ok(best_first(matches.collect(), files))
}

/// Whether a search may have found more than it had places for: some of those found are not shown.
fn is_full(hits: &[Passage], limit: usize) -> bool {
    hits.len() * 2 >= limit
}

/// A file with many passages may take all places of a search. Looks again among the other files until there are as many as
/// are wanted. What is found later stands behind what was found before.
fn among_others(
    engine: &Engine,
    call: &Call<'_>,
    files: &[Readable],
    (text, mode): (&str, Mode),
    (limit, top): (usize, usize),
    hits: &mut Vec<Passage>,
) -> Result<(), Error> {
    let mut known: HashSet<i64> = hits.iter().map(|hit| hit.part.file.number).collect();
    for _ in 0..FURTHER {
        let others: Vec<Readable> =
            files.iter().filter(|file| !known.contains(&file.head.number)).cloned().collect();
        if known.len() >= top || others.is_empty() {
            break;
        }
        let mut found = passages(engine, call, &others, text, mode, limit)?;
        let (Some(last), Some(best)) = (hits.last(), found.first()) else { break };
        let share = (last.score / best.score).min(1.0);
        let is_last = !is_full(&found, limit);
        known.extend(found.iter().map(|hit| hit.part.file.number));
        found.iter_mut().for_each(|hit| hit.score *= share);
        hits.extend(found);
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Of the sections found in one file, the best first, those that match by themselves: a search finds others through
/// what stands beside them.
fn that_match(mut hits: Vec<Passage>, mode: Mode) -> Vec<Passage> {
    let best = hits.first().map_or(0.0, |best| best.score);
    if mode == Mode::Semantic {
        hits.retain(|hit| hit.score >= ALSO_NEAR * best);
    } else if hits.iter().any(|hit| hit.has_words) {
        hits.retain(|hit| hit.has_words);
    } else {
        hits.truncate(1);
    }
    hits
}

/// The passages of the files that are nearest in meaning, with their cosines, best first.
///
/// # Errors
/// A conflict when there is no search by meaning.
pub(crate) fn by_meaning(
    engine: &Engine,
    call: &Call<'_>,
    files: &[Readable],
    text: &str,
    limit: usize,
) -> Result<Vec<Passage>, Error> {
    let semantic = engine.searcher().semantic();
    if semantic != Semantic::On {
        return Err(Error::Conflict {
            message: format!("there is no search by meaning: {semantic}"),
            hint: "search with `search_mode` bm25 or keyword".into(),
        });
    }
    let found = passages(engine, call, files, text, Mode::Semantic, limit)?;
    if let (true, Some(error)) = (found.is_empty(), engine.searcher().failure()) {
        return Err(error.into());
    }
    Ok(found)
}

/// The passages that the one search finds in the files, scored as the mode has it, best first.
fn passages(
    engine: &Engine,
    call: &Call<'_>,
    files: &[Readable],
    text: &str,
    mode: Mode,
    limit: usize,
) -> Result<Vec<Passage>, Error> {
    let is_hybrid = mode == Mode::Hybrid;
    let source = |file: &Readable| Source { kind: SourceKind::Document, number: file.head.number };
    let query = Query {
        sources: vec![SourceKind::Document],
        only: Some(files.iter().map(source).collect()),
        fusion: Some(if is_hybrid { Fusion::Rrf } else { Fusion::Convex }),
        floor: if is_hybrid { Floor::Answer } else { Floor::Off },
        words_only: mode == Mode::Bm25,
        ..Query::new(text, call.scope, limit)
    };
    let outcome = search(engine, call, &query)?;
    let mut found: Vec<Passage> = outcome
        .hits
        .into_iter()
        .filter_map(|hit| {
            let score = score_of(&hit, mode).filter(|score| *score > 0.0)?;
            let has_words = hit.found.hit.evidence.matched > 0;
            let Item::Document(part) = hit.item else { return None };
            Some(Passage { part: *part, score, has_words })
        })
        .collect();
    // The sort is stable: equals stay in the order of the search.
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(found)
}

fn score_of(hit: &Hit, mode: Mode) -> Option<f64> {
    match mode {
        Mode::Bm25 => Some(f64::from(hit.found.hit.bm25)),
        Mode::Semantic => hit.found.hit.evidence.cosine.map(f64::from),
        _ => hit.rerank.map(|rerank| rerank.score),
    }
}

/// The sections of the file in which a passage lies, those first that hold a word of what is looked for.
fn parts_of(file: &ParsedFile, passage: &Section, keyword: &Keyword) -> Vec<usize> {
    let searchable = file.searchable();
    // A text that was blacked out in the index is not found in the file.
    let within = match place_of(file, passage) {
        Some(place) => searchable.within(&place),
        None => searchable.matching(keyword),
    };
    let holding: Vec<usize> =
        within.iter().copied().filter(|part| searchable.holds_a_word(*part, keyword)).collect();
    if holding.is_empty() { within.into_iter().take(1).collect() } else { holding }
}

/// Where a passage stands in the file: below its own heading, because another section may say the same.
fn place_of(file: &ParsedFile, passage: &Section) -> Option<Range<usize>> {
    let body = passage.body.trim();
    let heading = passage.title.split_once(" > ").map(|(_, heading)| heading);
    let below = |entry: &Entry| Some(entry.body.start + file.text().get(entry.body.clone())?.find(body)?);
    let entries = file.entries().iter().filter(|entry| Some(entry.title.as_str()) == heading);
    let at = entries.filter_map(below).next().or_else(|| file.text().find(body))?;
    (!body.is_empty()).then(|| at..at + body.len())
}

fn best_first(mut matches: Vec<Match>, files: &[Readable]) -> Vec<Match> {
    let path = |found: &Match| &files[found.file].head.path;
    matches.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| path(a).cmp(path(b))));
    matches
}
