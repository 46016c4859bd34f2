//! Words that recur in a collection (kinds, branches, owners, groups), numbered from 1 in order of
//! appearance; 0 is the empty word.

use std::collections::{BTreeSet, HashMap};

use super::{Collection, damaged};
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
    /// Every space.
    pub(crate) const ALL: [Self; 4] = [Self::Kind, Self::Branch, Self::Owner, Self::Group];
    /// The spaces whose words a view keeps in memory. Groups are only ever compared.
    pub(crate) const NAMED: [Self; 3] = [Self::Kind, Self::Branch, Self::Owner];

    pub(crate) const fn code(self) -> i64 {
        self as i64
    }
}

/// How the word of a label begins that nothing has any more. The number stays: views know words by their place.
const GONE: char = '\u{1}';

/// Whether a stored word is a word, and not what is left of one.
pub(crate) fn is_word(word: &str) -> bool {
    !word.starts_with(GONE)
}

/// Takes away the words of a space whose numbers are not among `used`.
pub(crate) fn forget_unused(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    space: Space,
    used: &BTreeSet<u32>,
) -> Result<(), StoreError> {
    let known = tx.query(
        "SELECT number, word FROM labels WHERE tenant = $1 AND collection = $2 AND space = $3",
        params![of.tenant, of.id, space.code()],
        |row| Ok((row.get::<u32>(0)?, row.get::<String>(1)?)),
    )?;
    for (number, word) in known {
        if is_word(&word) && !used.contains(&number) {
            tx.execute(
                "UPDATE labels SET word = $5 WHERE tenant = $1 AND collection = $2 AND space = $3 AND number = $4",
                params![of.tenant, of.id, space.code(), number, &format!("{GONE}{number}")],
            )?;
        }
    }
    Ok(())
}

/// Tenant, collection, space and word.
type Key = (String, i64, Space, String);

/// Numbers known to a writer. What was learnt in a transaction is kept only once it has committed.
#[derive(Debug, Default)]
pub(crate) struct LabelNumbers {
    known: HashMap<Key, u32>,
    uncommitted: Vec<Key>,
}

impl LabelNumbers {
    /// The number of `word`, given now if it has none.
    pub(crate) fn number(
        &mut self,
        tx: &Transaction<'_>,
        of: Collection<'_>,
        space: Space,
        word: &str,
    ) -> Result<u32, StoreError> {
        if word.is_empty() {
            return Ok(0);
        }
        let key = (of.tenant.to_owned(), of.id, space, word.to_owned());
        if let Some(number) = self.known.get(&key) {
            return Ok(*number);
        }
        let found = tx.query_one(
            "SELECT number FROM labels WHERE tenant = $1 AND collection = $2 AND space = $3 AND word = $4",
            params![of.tenant, of.id, space.code(), word],
            |row| row.get::<u32>(0),
        )?;
        let number = match found {
            Some(number) => number,
            None => Self::add(tx, of, space, word)?,
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

    fn add(tx: &Transaction<'_>, of: Collection<'_>, space: Space, word: &str) -> Result<u32, StoreError> {
        let number = tx.query_one(
            "INSERT INTO labels (tenant, collection, space, number, word)
             SELECT $1, $2, $3, COALESCE(max(number), 0) + 1, $4 FROM labels
             WHERE tenant = $1 AND collection = $2 AND space = $3 RETURNING number",
            params![of.tenant, of.id, space.code(), word],
            |row| row.get(0),
        )?;
        number.ok_or_else(|| damaged("the number of a label"))
    }
}
