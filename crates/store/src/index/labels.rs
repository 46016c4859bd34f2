//! Words that recur in a collection (kinds, branches, owners, groups), numbered from 1 in order of
//! appearance; 0 is the empty word.

use std::collections::HashMap;

use crate::{error::StoreError, params, sql::Transaction};

/// The sorts of word that are numbered apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Kind = 0,
    Branch = 1,
    Owner = 2,
    Group = 3,
}

impl Space {
    /// The spaces whose words a view keeps in memory. Groups are only ever compared.
    pub(crate) const NAMED: [Self; 3] = [Self::Kind, Self::Branch, Self::Owner];

    pub(crate) const fn code(self) -> i64 {
        self as i64
    }
}

/// Numbers known to a writer. What was learnt in a transaction is kept only once it has committed.
#[derive(Debug, Default)]
pub(crate) struct LabelNumbers {
    known: HashMap<(i64, Space, String), u32>,
    uncommitted: Vec<(i64, Space, String)>,
}

impl LabelNumbers {
    /// The number of `word`, given now if it has none.
    pub(crate) fn number(
        &mut self,
        tx: &Transaction<'_>,
        collection: i64,
        space: Space,
        word: &str,
    ) -> Result<u32, StoreError> {
        if word.is_empty() {
            return Ok(0);
        }
        let key = (collection, space, word.to_owned());
        if let Some(number) = self.known.get(&key) {
            return Ok(*number);
        }
        let found = tx.query_one(
            "SELECT number FROM labels WHERE collection = $1 AND space = $2 AND word = $3",
            params![collection, space.code(), word],
            |row| row.get::<u32>(0),
        )?;
        let number = match found {
            Some(number) => number,
            None => Self::add(tx, collection, space, word)?,
        };
        self.uncommitted.push(key.clone());
        self.known.insert(key, number);
        Ok(number)
    }

    /// The transaction committed.
    pub(crate) fn keep(&mut self) {
        self.uncommitted.clear();
    }

    /// The transaction did not commit, or is about to be tried again.
    pub(crate) fn forget_uncommitted(&mut self) {
        for key in self.uncommitted.drain(..) {
            self.known.remove(&key);
        }
    }

    fn add(tx: &Transaction<'_>, collection: i64, space: Space, word: &str) -> Result<u32, StoreError> {
        let last = tx.query_one(
            "SELECT coalesce(max(number), 0) FROM labels WHERE collection = $1 AND space = $2",
            params![collection, space.code()],
            |row| row.get::<u32>(0),
        )?;
        let number = last.unwrap_or(0) + 1;
        tx.execute(
            "INSERT INTO labels (collection, space, number, word) VALUES ($1, $2, $3, $4)",
            params![collection, space.code(), number, word],
        )?;
        Ok(number)
    }
}
