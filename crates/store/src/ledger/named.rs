//! Which entities a text names. What is read grows with the text, not with how many entities begin alike.
//!
//! Of the places of a text where a name may begin only those count whose first characters some label begins with. At
//! each of them the labels are searched as one searches a dictionary: the last label that does not sort behind the
//! text from that place on either is how the text goes on, or tells how far any label can agree with it.

use std::collections::{BTreeSet, HashMap};

use strata_core::{
    graph::label::{self, Place},
    scope::Scope,
};

use super::{
    EntityRow, LedgerRead,
    entities::{COLUMNS, entity_from},
    filter::Conditions,
};
use crate::{
    error::StoreError,
    rows::{LIST, padded, tabled},
    sql::Row,
};

/// Most places of one text that are looked up.
const MAX_PLACES: usize = 2_000;

impl LedgerRead<'_> {
    /// The entities seen from `scope` whose labels stand in `text`, which is as [`label::key`] gives it, and those with
    /// one of the label keys `also`; by number.
    pub fn entities_named(
        &self,
        scope: &Scope,
        text: &str,
        also: &[String],
    ) -> Result<Vec<EntityRow>, StoreError> {
        let mut keys = self.labels_in(text)?;
        keys.extend(also.iter().cloned());
        let keys: Vec<String> = keys.into_iter().collect();
        let mut rows = Vec::new();
        for chunk in keys.chunks(LIST) {
            let mut all = Conditions::new("e.tenant", self.tenant);
            all.any_of("e.label_key", padded(chunk).map(String::as_str));
            all.visible_from("e.", scope);
            let sql = format!("SELECT {COLUMNS} FROM entities e WHERE {}", all.sql);
            rows.extend(self.transaction.query(&sql, &all.params, entity_from)?);
        }
        rows.sort_unstable_by_key(|row: &EntityRow| row.number);
        Ok(rows)
    }

    /// The label keys, of any scope, that stand in a text.
    fn labels_in(&self, text: &str) -> Result<BTreeSet<String>, StoreError> {
        let places = label::places(text);
        let heads = self.heads_in_use(&label::heads(&places))?;
        let begins = |place: &Place<'_>| place.heads().any(|head| heads.contains(head));
        let mut open: Vec<(Place<'_>, &str)> = places
            .into_iter()
            .filter(begins)
            .filter_map(|place| place.longest(usize::MAX).map(|name| (place, name)))
            .take(MAX_PLACES)
            .collect();
        let mut found = BTreeSet::new();
        while !open.is_empty() {
            let last = self.last_labels(&open)?;
            open.retain_mut(|(place, name)| {
                let Some(key) = last.get(*name) else { return false };
                let agree = agreement(name, key);
                let is_name = agree == key.len() && place.longest(agree) == Some(key.as_str());
                if is_name {
                    found.insert(key.clone());
                }
                let next = place.longest(if is_name { agree - 1 } else { agree });
                next.is_some_and(|shorter| {
                    *name = shorter;
                    true
                })
            });
        }
        Ok(found)
    }

    /// Those of the beginnings that some label has.
    fn heads_in_use(&self, heads: &[&str]) -> Result<BTreeSet<String>, StoreError> {
        let mut used = BTreeSet::new();
        let condition = "EXISTS (SELECT 1 FROM entities e WHERE e.tenant = $1 AND e.label_head = w.text)";
        self.for_each_word(heads, &format!("w.text FROM words w WHERE {condition}"), |row| {
            used.insert(row.get(0)?);
            Ok(())
        })?;
        Ok(used)
    }

    /// For each of the names the last label key that does not sort behind it.
    fn last_labels(&self, open: &[(Place<'_>, &str)]) -> Result<HashMap<String, String>, StoreError> {
        let names: Vec<&str> =
            open.iter().map(|(_, name)| *name).collect::<BTreeSet<_>>().into_iter().collect();
        let mut last = HashMap::new();
        let label = "SELECT e.label_key FROM entities e WHERE e.tenant = $1 AND e.label_key <= w.text
                     ORDER BY e.label_key DESC LIMIT 1";
        self.for_each_word(&names, &format!("w.text, ({label}) FROM words w"), |row| {
            if let Some(key) = row.get(1)? {
                last.insert(row.get(0)?, key);
            }
            Ok(())
        })?;
        Ok(last)
    }

    /// Runs `SELECT <question>`, in which `words` is a table of these texts.
    fn for_each_word(
        &self,
        words: &[&str],
        question: &str,
        mut visit: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for chunk in words.chunks(LIST) {
            let mut params = vec![self.tenant.into()];
            let table = tabled(&mut params, padded(chunk).copied());
            let sql = format!("WITH words (text) AS ({table}) SELECT {question}");
            self.transaction.for_each(&sql, &params, &mut visit)?;
        }
        Ok(())
    }
}

/// How many bytes two texts have in common from the start.
fn agreement(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
