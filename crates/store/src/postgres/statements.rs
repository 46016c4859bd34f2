//! The statements that a connection has prepared, found again by their text and by the types of their parameters.

use std::collections::HashMap;

use tokio_postgres::{Statement, types::Type};

use crate::sql::Param;

/// Statements kept per connection; beyond that the one unused for longest goes.
const KEPT: usize = 256;

/// See the module.
#[derive(Default)]
pub(super) struct Statements {
    by_text: HashMap<String, Vec<Kept>>,
    count: usize,
    clock: u64,
}

struct Kept {
    statement: Statement,
    used: u64,
}

impl Statements {
    /// What the parameters are to the server. It finds out by itself what a NULL stands for.
    pub(super) fn types(params: &[Param<'_>]) -> Vec<Type> {
        let own = |param: &Param<'_>| match param {
            Param::Null => Type::UNKNOWN,
            Param::Integer(_) => Type::INT8,
            Param::Real(_) => Type::FLOAT8,
            Param::Text(_) => Type::TEXT,
            Param::Blob(_) => Type::BYTEA,
        };
        params.iter().map(own).collect()
    }

    /// The kept statement for `sql` that takes `params`.
    pub(super) fn find(&mut self, sql: &str, params: &[Param<'_>]) -> Option<Statement> {
        self.clock += 1;
        let kept = self.by_text.get_mut(sql)?.iter_mut().find(|kept| takes(&kept.statement, params))?;
        kept.used = self.clock;
        Some(kept.statement.clone())
    }

    /// Keeps a statement.
    pub(super) fn keep(&mut self, sql: &str, statement: &Statement) {
        if self.count >= KEPT {
            self.forget_one();
        }
        let kept = Kept { statement: statement.clone(), used: self.clock };
        self.by_text.entry(sql.to_owned()).or_default().push(kept);
        self.count += 1;
    }

    fn forget_one(&mut self) {
        let oldest = self
            .by_text
            .iter()
            .flat_map(|(sql, kept)| kept.iter().enumerate().map(move |(place, one)| (one.used, sql, place)))
            .min();
        let Some((_, sql, place)) = oldest else { return };
        let sql = sql.clone();
        if let Some(kept) = self.by_text.get_mut(&sql) {
            drop(kept.swap_remove(place));
            self.count -= 1;
            if kept.is_empty() {
                drop(self.by_text.remove(&sql));
            }
        }
    }
}

/// Whether each parameter can be sent as what the statement expects in its place.
fn takes(statement: &Statement, params: &[Param<'_>]) -> bool {
    let expected = statement.params();
    params.len() >= expected.len()
        && expected.iter().zip(params).all(|(expected, param)| match param {
            Param::Null => true,
            Param::Integer(_) => *expected == Type::INT8,
            Param::Real(_) => *expected == Type::FLOAT8,
            Param::Text(_) => *expected == Type::TEXT,
            Param::Blob(_) => *expected == Type::BYTEA,
        })
}
