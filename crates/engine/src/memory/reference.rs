//! Naming a memory: by id, by the start of its id (reads only), or by number.

use strata_core::{
    id::{Id, IdKind, PartialId},
    principal::PrincipalKind,
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryRow},
};

use crate::{error::Error, operation::Call};

/// Versions that are followed to one that the caller sees.
const MAX_VERSIONS: usize = 64;

/// What a caller wrote for a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// The whole id.
    Id(Id),
    /// The start of an id.
    Prefix(PartialId),
    /// The number that is shown as `#n`.
    Number(i64),
}

impl Reference {
    /// Reads a reference for a read: prefixes of six and more characters are fine.
    pub fn read(field: &str, text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let digits = text.strip_prefix('#').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            let number = digits.parse().map_err(|_| not_found(text))?;
            return Ok(Self::Number(number));
        }
        let partial = PartialId::parse(text).map_err(|e| Error::parse(field, &e))?;
        if partial.kind != IdKind::Memory {
            let hint = "memories have ids like mem_0123456789";
            return Err(Error::argument(field, format!("`{}` is not a memory", partial.text), hint));
        }
        Ok(Id::parse(text).map_or(Self::Prefix(partial), Self::Id))
    }

    /// Reads a reference for a change: it must name one memory for certain.
    pub fn exact(field: &str, text: &str) -> Result<Self, Error> {
        match Self::read(field, text)? {
            Self::Prefix(_) => Err(Error::argument(
                field,
                "a change needs the whole id",
                "give all ten characters after `mem_`, or #number",
            )),
            reference => Ok(reference),
        }
    }

    /// Looks it up; what the caller may not see does not exist for it.
    pub fn find(&self, ledger: &LedgerRead<'_>, call: &Call<'_>) -> Result<Found, StoreError> {
        let row = match self {
            Self::Id(id) => ledger.memory(id.as_str())?,
            Self::Number(number) => ledger.memory_by_number(*number)?,
            Self::Prefix(prefix) => match ledger.memory_by_prefix(prefix, reader(call)) {
                Err(StoreError::NotFound { .. }) => None,
                other => Some(other?),
            },
        };
        let row = match row {
            Some(row) if !sees_scope(call, &row.scope) && !has_come_here(ledger, call, &row)? => None,
            row => row,
        };
        Ok(Found(row, self.to_string()))
    }
}

/// Whether an earlier version, on a branch that the caller does not see, became one that it does: with the branch's merge.
fn has_come_here(ledger: &LedgerRead<'_>, call: &Call<'_>, row: &MemoryRow) -> Result<bool, StoreError> {
    if !sees_scope(call, &row.scope.whole_project()) {
        return Ok(false);
    }
    let mut next = row.superseded_by.clone();
    for _ in 0..MAX_VERSIONS {
        let Some(later) = next.map(|id| ledger.memory(&id)).transpose()?.flatten() else { return Ok(false) };
        if sees_scope(call, &later.scope) {
            return Ok(true);
        }
        next = later.superseded_by;
    }
    Ok(false)
}

/// A look-up's outcome, until the caller insists.
pub struct Found(Option<MemoryRow>, String);

impl Found {
    /// The memory, or `NotFound`.
    pub fn existing(self) -> Result<MemoryRow, Error> {
        self.0.ok_or_else(|| not_found(&self.1))
    }
}

/// Whether the caller sees what lies in `scope`.
pub fn sees_scope(call: &Call<'_>, scope: &Scope) -> bool {
    reader(call).is_none_or(|reader| reader.sees(scope))
}

/// From where the caller looks: people see all of their home, which is `None`, others what their scope sees.
pub fn reader<'c>(call: &Call<'c>) -> Option<&'c Scope> {
    match call.principal.kind {
        PrincipalKind::Human | PrincipalKind::System => None,
        _ => Some(call.scope),
    }
}

fn not_found(id: &str) -> Error {
    Error::NotFound {
        what: "memory",
        id: id.to_owned(),
        hint: "use an id from `recall`; ids look like mem_0123456789 or #12".into(),
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Prefix(prefix) => f.write_str(&prefix.text),
            Self::Number(number) => write!(f, "#{number}"),
        }
    }
}
