//! Keeping the vault small and whole: which versions are kept, and files that are made of their rows.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use strata_core::{
    knowledge::name::{Name, VaultPath},
    memory::Layer,
    time::{DAY, HOUR, Timestamp},
};
use strata_store::{
    files,
    ledger::{GenerationRow, NewAudit, VaultHead},
    vault::Reading,
};

use super::Place;
use crate::{engine::Engine, error::Error, operation::Call};

/// The newest generations of a file, which are kept whatever their age.
const NEWEST: usize = 20;
/// For so long one generation of each day is kept.
const DAILY: i64 = 30 * DAY;

/// Takes the text of old generations that nothing needs; returns how many. Their hashes stay.
///
/// # Errors
/// Those of the store.
pub(crate) fn thin(engine: &Engine, call: &Call<'_>) -> Result<usize, Error> {
    let ledger = engine.existing_ledger()?;
    let control = engine.control(call);
    let now = engine.clock().now();
    let (heads, snapshots) = ledger.read(&control, |r| Ok((r.vault_heads(None)?, r.snapshots()?)))?;
    let pinned: Vec<Timestamp> = snapshots.iter().map(|snapshot| snapshot.at).collect();
    let mut thinned = 0;
    for head in heads {
        let rows = ledger.read(&control, |r| r.vault_generations(head.number))?;
        let kept = kept(&rows, &pinned, now);
        let old: Vec<i64> = rows
            .iter()
            .filter(|row| row.has_content && !kept.contains(&row.generation))
            .map(|row| row.generation)
            .collect();
        if old.is_empty() {
            continue;
        }
        thinned += old.len();
        let target = format!("vault:{}/{}", head.namespace, head.path);
        let reason = format!("{} old generations", old.len());
        let row = NewAudit {
            layer: Some(Layer::P5),
            reason: &reason,
            ..NewAudit::new(call.principal, call.face, "vault_thin", &target)
        };
        ledger.write(&control, now, |w| {
            w.record(&row)?;
            w.thin_generations(head.number, &old)
        })?;
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    Ok(thinned)
}

/// A temporary file is taken for abandoned after an hour; no write of a file takes longer.
pub(crate) const ABANDONED: i64 = HOUR;

/// What writes left in the vault whose processes died, though they never came to the rename.
pub(crate) fn abandoned(engine: &Engine) -> Vec<PathBuf> {
    let before = Timestamp(engine.clock().now().0.saturating_sub(ABANDONED));
    files::abandoned(&engine.home().join("vault"), true, Some(before))
}

/// Removes it; returns how many files there were.
///
/// # Errors
/// Those of the disk.
pub(crate) fn clear_abandoned(engine: &Engine) -> Result<usize, Error> {
    let left = abandoned(engine);
    for path in &left {
        match std::fs::remove_file(path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::File { path: path.display().to_string(), source });
            }
            _ => {}
        }
    }
    Ok(left.len())
}

/// The generations of a file to keep, of `rows` from the newest on: the newest, one of each day of the last month, and
/// what held when one of `pinned` was taken.
fn kept(rows: &[GenerationRow], pinned: &[Timestamp], now: Timestamp) -> BTreeSet<i64> {
    let mut kept: BTreeSet<i64> = rows.iter().take(NEWEST).map(|row| row.generation).collect();
    let mut days: BTreeMap<i64, i64> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.is_failed && now.0.saturating_sub(row.at.0) <= DAILY) {
        days.entry(row.at.0.div_euclid(DAY)).or_insert(row.generation);
    }
    kept.extend(days.into_values());
    for at in pinned {
        kept.extend(rows.iter().find(|row| !row.is_failed && row.at <= *at).map(|row| row.generation));
    }
    kept
}

/// Makes the files that are not on disk though the ledger has them: after a load, or a move from a server. A file that is
/// there stays as it is; what it says is an edit by hand. Returns which were made, by their place in the home.
///
/// # Errors
/// Those of the disk.
pub(crate) fn materialise(engine: &Engine, call: &Call<'_>) -> Result<Vec<String>, Error> {
    let Some(disk) = engine.vault().disk() else { return Ok(Vec::new()) };
    let ledger = engine.existing_ledger()?;
    let control = engine.control(call);
    let heads = ledger.read(&control, |r| r.vault_heads(None))?;
    let missing: Vec<(Place, VaultHead)> = heads
        .into_iter()
        .filter(VaultHead::is_present)
        .filter_map(|head| {
            let place = Place::new(Name::parse(&head.namespace).ok()?, VaultPath::parse(&head.path).ok()?);
            Some((place, head))
        })
        .filter(|(place, _)| {
            !matches!(disk.read(&place.namespace, &place.path), Ok(Reading::Text(_) | Reading::Unreadable(_)))
        })
        .collect();
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    super::held::make_vault(disk)?;
    // All are announced before the first is made: until it is made, none of them was deleted.
    for (place, head) in &missing {
        let file = disk.open(&place.namespace, &place.path, &control)?;
        file.announce(head.generation)?;
    }
    let mut made = Vec::new();
    for (place, head) in &missing {
        let mut file = disk.open(&place.namespace, &place.path, &control)?;
        let text = ledger.read(&control, |r| r.vault_text(head.number, head.generation))?;
        if let (None, Some(text)) = (file.text(), text) {
            file.replace(&text)?;
            made.push(format!("vault/knowledge/{}/{}", place.namespace, place.path));
        }
        file.conclude()?;
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use strata_store::ledger::Origin;

    use super::*;

    fn row(generation: i64, at: i64) -> GenerationRow {
        GenerationRow {
            number: 1,
            generation,
            id: None,
            seq: generation,
            at: Timestamp(at),
            origin: Origin::Tool,
            is_failed: false,
            writer: String::new(),
            size: 0,
            hash: None,
            salt: None,
            has_content: true,
        }
    }

    #[test]
    fn the_newest_one_a_day_and_what_is_pinned_are_kept() {
        // Four a day for fifty days; the newest is 200.
        let rows: Vec<GenerationRow> = (1..=200).rev().map(|n| row(n, n * DAY / 4)).collect();
        let now = Timestamp(50 * DAY + DAY / 8);
        let all = kept(&rows, &[], now);
        assert!((181..=200).all(|n| all.contains(&n)));
        assert_eq!(all.iter().filter(|n| **n <= 180).count(), 25, "{all:?}");
        assert!(!all.contains(&40));
        let pinned = kept(&rows, &[Timestamp(10 * DAY + 1), Timestamp(0)], now);
        assert_eq!(pinned.difference(&all).copied().collect::<Vec<_>>(), [40]);
    }

    #[test]
    fn a_generation_that_failed_is_never_what_held() {
        let failed = GenerationRow { is_failed: true, ..row(2, 2) };
        let mut rows: Vec<GenerationRow> = (3..=30).rev().map(|n| row(n, 40 * DAY + n)).collect();
        rows.extend([failed, row(1, 1)]);
        let kept = kept(&rows, &[Timestamp(5)], Timestamp(80 * DAY));
        assert!(kept.contains(&1) && !kept.contains(&2));
    }
}
