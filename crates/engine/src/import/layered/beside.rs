//! What lies beside the knowledge of an older home and is not taken over: it is counted, so that nobody is surprised.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use serde::Serialize;
use strata_store::foreign::{self, Cell};

use super::{OlderHome, is_file, reviews};
use crate::{engine::Engine, error::Error, operation::Call, render::shortened};

/// Something that is not taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// What it is.
    pub what: &'static str,
    /// How many there are; of the rows that can be counted.
    pub count: u64,
    /// Why it stays, and what to do about it.
    pub why: String,
}

/// Counts it. A database that cannot be read is told, not an error: the knowledge comes in all the same.
pub(in crate::import) fn losses(
    engine: &Engine,
    call: &Call<'_>,
    home: &OlderHome,
) -> Result<Vec<Loss>, Error> {
    let mut losses = Vec::new();
    losses.extend(changelog(&home.file("data/memory_changelog.jsonl")));
    losses.extend(decided(engine, call, &home.file(reviews::FILE)));
    for (file, table, what, why) in [
        ("data/access_log.db", "access_log", "uses of files", "the log of uses begins anew"),
        ("data/vectors.db", "vectors", "embeddings", "Strata makes its own of the files"),
    ] {
        let path = home.file(file);
        if !is_file(&path) {
            continue;
        }
        let rows = foreign::read(&path, &engine.control(call), |reader| reader.count(table));
        losses.extend(match rows {
            Ok(0) => None,
            Ok(count) => Some(Loss { what, count, why: why.to_owned() }),
            Err(error) => Some(Loss { what, count: 0, why: format!("{file} cannot be read: {error}") }),
        });
    }
    Ok(losses)
}

fn changelog(path: &Path) -> Option<Loss> {
    let what = "lines of the changelog";
    let (mut lines, mut bad) = (0, 0);
    for line in BufReader::new(File::open(path).ok()?).split(b'\n') {
        let Ok(line) = line else { break };
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&line) {
            Ok(_) => lines += 1,
            Err(_) => bad += 1,
        }
    }
    if lines + bad == 0 {
        return None;
    }
    let mut why = "the changelog here begins with this import; keep the old file".to_owned();
    if bad > 0 {
        why.push_str(&format!("; {bad} of them cannot be read"));
    }
    Some(Loss { what, count: lines + bad, why })
}

/// The decided ones of the queue of reviews, by status. What waits is taken over, and a queue that cannot be read is told
/// there.
fn decided(engine: &Engine, call: &Call<'_>, path: &Path) -> Vec<Loss> {
    if !is_file(path) {
        return Vec::new();
    }
    let counted = foreign::read(path, &engine.control(call), |reader| {
        let mut by_status: BTreeMap<String, u64> = BTreeMap::new();
        reader.for_each(reviews::TABLE, &["status"], None, |row| {
            let status = match row.cells.first() {
                Some(Cell::Text(word)) if !word.trim().is_empty() => shortened(word.trim(), 40),
                Some(Cell::Null | Cell::Text(_)) | None => reviews::PENDING.to_owned(),
                Some(_) => "of no status".to_owned(),
            };
            let is_decided = status != reviews::PENDING;
            *by_status.entry(status).or_default() += u64::from(is_decided);
            Ok(())
        })?;
        Ok(by_status)
    });
    let loss = |(status, count): (String, u64)| {
        let why = format!("{status}: decided, so there is nothing to ask");
        (count > 0).then_some(Loss { what: "reviews", count, why })
    };
    counted.unwrap_or_default().into_iter().filter_map(loss).collect()
}
