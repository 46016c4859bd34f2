//! Cells of a foreign table as what they should hold. What does not fit is said in a phrase, not guessed.

use jiff::tz::TimeZone;
use strata_core::time::{Timestamp, parse_range};
use strata_store::foreign::{Cell, ForeignRow};

use super::episodes::seconds;

/// The cells of one row under the names of its columns.
pub(super) struct Fields<'r> {
    pub(super) names: &'static [&'static str],
    pub(super) row: &'r ForeignRow,
}

/// A date that was there and could not be read, with what to say about it.
pub(super) struct Undated(pub(super) String);

impl Fields<'_> {
    fn cell(&self, name: &str) -> &Cell {
        let index = self.names.iter().position(|n| *n == name);
        index.and_then(|i| self.row.cells.get(i)).unwrap_or(&Cell::Null)
    }

    /// The row's own id.
    pub(super) fn id(&self) -> Result<i64, String> {
        self.integer("id")?.ok_or_else(|| "it has no id".to_owned())
    }

    /// Text, or a number as text. Blank is absent.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, String> {
        let text = match self.cell(name) {
            Cell::Null => return Ok(None),
            Cell::Text(text) => text.clone(),
            Cell::Integer(n) => n.to_string(),
            Cell::Real(n) => n.to_string(),
            Cell::NotUtf8 => return Err(format!("`{name}` is not UTF-8")),
            Cell::Bytes(n) => return Err(format!("`{name}` holds {n} bytes instead of text")),
            Cell::TooLong(n) => return Err(format!("`{name}` has {n} bytes, which is too long")),
        };
        Ok((!text.trim().is_empty()).then_some(text))
    }

    /// Text that a row cannot do without.
    pub(super) fn needed(&self, name: &str) -> Result<String, String> {
        self.text(name)?.ok_or_else(|| format!("`{name}` is empty"))
    }

    /// A whole number, also one written as text.
    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, String> {
        let Some(number) = self.real(name)? else { return Ok(None) };
        match self.cell(name) {
            Cell::Integer(n) => Ok(Some(*n)),
            _ if number.fract() == 0.0 && number.abs() < 9e15 => Ok(Some(number as i64)),
            _ => Err(format!("`{name}` is {number}, not a whole number")),
        }
    }

    /// A number, also one written as text.
    pub(super) fn real(&self, name: &str) -> Result<Option<f64>, String> {
        match self.cell(name) {
            Cell::Integer(n) => Ok(Some(*n as f64)),
            Cell::Real(n) => Ok(Some(*n)),
            _ => match self.text(name)? {
                None => Ok(None),
                Some(text) => text.trim().parse().map(Some).map_err(|_| format!("`{name}` is not a number")),
            },
        }
    }

    /// The date as it is written, for telling rows apart; empty when there is none.
    pub(super) fn date_as_written(&self, name: &str) -> String {
        match self.cell(name) {
            Cell::Text(text) => text.trim().to_owned(),
            Cell::Integer(n) => n.to_string(),
            Cell::Real(n) => n.to_string(),
            _ => String::new(),
        }
    }

    /// A point in time: a date in any usual form, UTC unless it says otherwise, or seconds since 1970.
    pub(super) fn date(&self, name: &str) -> Result<Timestamp, Undated> {
        let undated = |what: &str| Undated(format!("`{name}` {what}; the row is dated at its import"));
        match self.cell(name) {
            Cell::Integer(n) => seconds(*n as f64).map_err(|_| undated("is no point in time")),
            Cell::Real(n) => seconds(*n).map_err(|_| undated("is no point in time")),
            Cell::Text(text) if !text.trim().is_empty() => {
                point_in_time(text).ok_or_else(|| undated("is no date"))
            }
            _ => Err(undated("is missing")),
        }
    }
}

/// Reads a date leniently.
pub(super) fn point_in_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let read = |text: &str| parse_range(text, &TimeZone::UTC).ok().map(|range| range.from);
    let dashed = || read(&text.replace('/', "-"));
    let counted = || text.parse().ok().filter(|n: &f64| n.abs() > 1e6).and_then(|n| seconds(n).ok());
    read(text).or_else(dashed).or_else(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(cells: Vec<Cell>) -> ForeignRow {
        ForeignRow { place: 1, cells }
    }

    #[test]
    fn dates_are_read_in_the_usual_forms() {
        let expected = Timestamp(1_774_915_200_000_000);
        for text in [
            "2026-03-31",
            "2026-03-31T00:00:00.000000Z",
            "2026-03-31 00:00:00",
            "2026-03-31T09:00:00+09:00",
            "2026/03/31",
            " 2026-03-31T00:00:00Z ",
            "1774915200",
            "1774915200.0",
        ] {
            assert_eq!(point_in_time(text), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "0000-00-00 00:00:00", "어제", "12"] {
            assert_eq!(point_in_time(text), None, "{text}");
        }
    }

    #[test]
    fn cells_of_the_wrong_type_are_read_or_named() {
        const NAMES: &[&str] = &["id", "text", "bad", "when", "bytes"];
        let row = fields(vec![
            Cell::Text(" 7 ".into()),
            Cell::Integer(42),
            Cell::NotUtf8,
            Cell::Text("soon".into()),
            Cell::Bytes(3),
        ]);
        let fields = Fields { names: NAMES, row: &row };
        assert_eq!(fields.id(), Ok(7));
        assert_eq!(fields.text("text"), Ok(Some("42".into())));
        assert_eq!(fields.text("absent"), Ok(None));
        for (name, said) in [("bad", "not UTF-8"), ("bytes", "3 bytes")] {
            assert!(fields.text(name).expect_err("wrong").contains(said), "{name}");
        }
        assert!(fields.integer("when").expect_err("wrong").contains("not a number"));
        assert!(fields.date("when").err().is_some_and(|u| u.0.contains("no date")));
    }
}
