//! Many rows of one table with few statements: a server answers each statement with a round trip, and SQLite
//! starts its virtual machine for each.

use crate::{
    error::StoreError,
    sql::{Param, Transaction},
};

/// Rows to a statement, largest first. Few sizes, so that every text stays among the prepared ones; the largest
/// keeps far below the 32 766 parameters that SQLite takes.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// How rows of one sort are inserted.
///
/// Where the conflict clause changes the row that is there, no two of the rows may have the same key: PostgreSQL
/// refuses to change a row twice in one statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    insert: &'static str,
    columns: usize,
    conflict: &'static str,
}

impl Rows {
    /// `insert` is the statement up to `VALUES`, and `columns` how many it names.
    pub(crate) const fn new(insert: &'static str, columns: usize) -> Self {
        Self { insert, columns, conflict: "" }
    }

    /// With what is to be done about a row that is there already: `ON CONFLICT ...`.
    pub(crate) const fn or(self, conflict: &'static str) -> Self {
        Self { conflict, ..self }
    }

    /// Inserts rows, whose values follow one another.
    pub(crate) fn write(
        &self,
        transaction: &Transaction<'_>,
        values: &[Param<'_>],
    ) -> Result<(), StoreError> {
        debug_assert_eq!(values.len() % self.columns, 0, "whole rows of: {}", self.insert);
        let mut rest = values;
        for size in SIZES {
            let taken = size * self.columns;
            if rest.len() < taken {
                continue;
            }
            let sql = self.text(size);
            while let Some((rows, others)) = rest.split_at_checked(taken) {
                transaction.post(&sql, rows)?;
                rest = others;
            }
        }
        Ok(())
    }

    fn text(&self, rows: usize) -> String {
        let mut sql = String::with_capacity(self.insert.len() + rows * self.columns * 6 + 64);
        sql.push_str(self.insert);
        sql.push_str(" VALUES ");
        for place in 0..rows * self.columns {
            sql.push_str(match (place, place % self.columns) {
                (0, _) => "(",
                (_, 0) => "), (",
                _ => ", ",
            });
            sql.push('$');
            sql.push_str(&(place + 1).to_string());
        }
        sql.push(')');
        if !self.conflict.is_empty() {
            sql.push(' ');
            sql.push_str(self.conflict);
        }
        sql
    }
}

/// Values asked for in one statement: the longest list that [`padded`] is given.
pub(crate) const LIST: usize = 200;

/// The values of a list, the last one repeated up to a few fixed lengths, so that few statements are prepared.
pub(crate) fn padded<T>(values: &[T]) -> impl Iterator<Item = &T> {
    let length = values.len().next_power_of_two().min(LIST).max(values.len());
    values.iter().chain(std::iter::repeat_n(values.last(), length - values.len()).flatten())
}

/// Adds `values` to the parameters and returns their places, for `IN (...)`. An empty list must not be asked for:
/// PostgreSQL has no `IN ()`.
pub(crate) fn listed<'p, V: Into<Param<'p>>>(
    params: &mut Vec<Param<'p>>,
    values: impl IntoIterator<Item = V>,
) -> String {
    let mut places = String::new();
    for value in values {
        params.push(value.into());
        if !places.is_empty() {
            places.push_str(", ");
        }
        places.push('$');
        places.push_str(&params.len().to_string());
    }
    places
}

/// Adds `values` to the parameters and returns them as a table of one column, for `WITH name (column) AS (...)`.
pub(crate) fn tabled<'p, V: Into<Param<'p>>>(
    params: &mut Vec<Param<'p>>,
    values: impl IntoIterator<Item = V>,
) -> String {
    format!("VALUES ({})", listed(params, values).replace(", ", "), ("))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_numbers_its_values_in_order() {
        let rows = Rows::new("INSERT INTO t (a, b)", 2).or("ON CONFLICT DO NOTHING");
        assert_eq!(rows.text(1), "INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT DO NOTHING");
        assert_eq!(
            rows.text(3),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4), ($5, $6) ON CONFLICT DO NOTHING"
        );
    }
}
