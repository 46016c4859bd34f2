//! The views of a process: one per collection, shared by all its threads, brought up to date by whoever
//! comes first.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    error::StoreError,
    params,
    sql::{Param, Transaction},
};

use super::{
    truth::CollectionKey,
    vector_set::VectorSet,
    view::View,
    writer::{CollectionRow, collection_row},
};

/// Views kept at most; the longest unused goes first.
const KEPT: usize = 64;

/// A place in a ledger's history: a sequence and the audit hash there, empty before the first change.
type PlaceInHistory = (i64, Vec<u8>);

type Shelf = Arc<Mutex<Option<Arc<View>>>>;

/// The rows of those of `keys`, all of one tenant, that there are, by namespace and project.
pub(crate) fn collection_rows<'k>(
    tx: &Transaction<'_>,
    keys: &'k [CollectionKey],
) -> Result<HashMap<(&'k str, &'k str), CollectionRow>, StoreError> {
    let Some(tenant) = keys.first().map(|key| key.tenant.as_str()) else { return Ok(HashMap::new()) };
    let mut values = params![tenant].to_vec();
    let sql = for_each_key(keys, &mut values, |(namespace, project)| {
        format!(
            "SELECT id, revision, slots, folded, birth, namespace, project FROM collections
             WHERE tenant = $1 AND namespace = ${namespace} AND project = ${project} AND retired = 0"
        )
    });
    let found = tx.query(&sql, &values, |row| {
        let (namespace, project) = (row.text(5)?, row.text(6)?);
        let key = keys.iter().find(|key| key.namespace == namespace && key.project == project);
        Ok((key, collection_row(row)?))
    })?;
    let named = |(key, row): (Option<&'k CollectionKey>, _)| {
        key.map(|key| ((key.namespace.as_str(), key.project.as_str()), row))
    };
    Ok(found.into_iter().filter_map(named).collect())
}

/// One statement that asks what `part` asks of each of `keys`; `part` is given the places of namespace and project
/// among `values`.
pub(crate) fn for_each_key<'k>(
    keys: &'k [CollectionKey],
    values: &mut Vec<Param<'k>>,
    part: impl Fn((usize, usize)) -> String,
) -> String {
    let parts: Vec<String> = keys
        .iter()
        .map(|key| {
            values.extend_from_slice(params![&key.namespace, &key.project]);
            part((values.len() - 1, values.len()))
        })
        .collect();
    parts.join(" UNION ALL ")
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Views(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    clock: u64,
    shelves: HashMap<CollectionKey, (u64, Shelf)>,
    /// Where each tenant's ledger was when it was last searched.
    places: HashMap<String, PlaceInHistory>,
}

/// What a reader's snapshot can have.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The collection as the snapshot has it.
    Ready(Arc<View>),
    /// There is no such collection.
    Absent,
    /// Another thread's later snapshot has been here; read again.
    Overtaken,
}

impl Views {
    /// The view of `key`, whose row is `row` in the snapshot of `tx`, with the vectors of `set` when one is given.
    pub(crate) fn get(
        &self,
        tx: &Transaction<'_>,
        key: &CollectionKey,
        row: Option<CollectionRow>,
        set: Option<&VectorSet>,
    ) -> Result<Lookup, StoreError> {
        let Some(row) = row else { return Ok(Lookup::Absent) };
        let shelf = self.shelf(key);
        let mut place = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let known = place.take().filter(|view| view.is_of(row.id, row.birth));
        if let Some(view) = known.as_ref().filter(|view| view.revision > row.revision) {
            *place = Some(Arc::clone(view));
            return Ok(Lookup::Overtaken);
        }
        let mut view = known.unwrap_or_else(|| Arc::new(View::empty(&key.tenant, row.id, row.birth)));
        let stale = view.revision < row.revision;
        if stale || set.is_some_and(|set| !view.has_vectors(set)) {
            // Copied only while another thread still ranks with the older state.
            let own = Arc::make_mut(&mut view);
            own.update(tx, row)?;
            if let Some(set) = set {
                own.update_vectors(tx, set)?;
            }
        }
        *place = Some(Arc::clone(&view));
        Ok(Lookup::Ready(view))
    }

    /// Keeps the tenant's views while its ledger, which is at `now`, still has the place where it was last time;
    /// `hash_at` tells the ledger's hash at a sequence.
    pub(crate) fn keep_while(
        &self,
        tenant: &str,
        now: PlaceInHistory,
        hash_at: impl FnOnce(i64) -> Result<Option<Vec<u8>>, StoreError>,
    ) -> Result<(), StoreError> {
        let last = self.kept().places.get(tenant).cloned();
        let continues = match last {
            None => true,
            Some(last) if last == now => return Ok(()),
            Some((seq, hash)) => hash_at(seq)?.unwrap_or_default() == hash,
        };
        let mut kept = self.kept();
        if !continues {
            kept.shelves.retain(|key, _| key.tenant != tenant);
        }
        kept.places.insert(tenant.to_owned(), now);
        Ok(())
    }

    pub(crate) fn clear(&self) {
        self.kept().shelves.clear();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shelf(&self, key: &CollectionKey) -> Shelf {
        let mut kept = self.kept();
        kept.clock += 1;
        let clock = kept.clock;
        if let Some((used, shelf)) = kept.shelves.get_mut(key) {
            *used = clock;
            return Arc::clone(shelf);
        }
        if kept.shelves.len() >= KEPT {
            let oldest = kept.shelves.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| kept.shelves.remove(&oldest));
        }
        let shelf = Shelf::default();
        kept.shelves.insert(key.clone(), (clock, Arc::clone(&shelf)));
        shelf
    }
}
