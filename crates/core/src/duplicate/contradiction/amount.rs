//! Whether two values can both hold.

use super::{
    super::{DifferenceKind, values::Value},
    Axis,
    lexicon::Sense,
    statement::Statement,
};

/// The axis on which two values of the same subject exclude each other, or `None` if both can hold.
pub(super) fn conflict(a: (&Statement, &Value), b: (&Statement, &Value)) -> Option<Axis> {
    let ((in_a, x), (in_b, y)) = (a, b);
    if x.fits(y) || contains(x, y) || contains(y, x) {
        return None;
    }
    use DifferenceKind::{Address, Date, Identifier, Money, Number, Path, Percent, Time, Url, Version};
    match (x.kind, y.kind) {
        (Number, Number) => numbers(in_a, x, in_b, y),
        (Money, Money) | (Percent, Percent) => Some(Axis::Number),
        (Version | Number, Version) | (Version, Number) => Some(Axis::Version),
        (Date, Date) | (Time, Time) => Some(Axis::Date),
        (Address, Address) | (Url, Url) | (Path, Path) | (Identifier, Identifier) => Some(Axis::Choice),
        (Address | Path, Path | Address) => Some(Axis::Choice),
        _ => None,
    }
}

/// `3` holds `3.11`, `1.2` holds `1.2.7`.
fn contains(whole: &Value, part: &Value) -> bool {
    let numeric = |v: &Value| matches!(v.kind, DifferenceKind::Number | DifferenceKind::Version);
    let unit = |v: &Value| v.fields.get(1).is_none_or(String::is_empty);
    let (Some(a), Some(b)) = (whole.fields.first(), part.fields.first()) else { return false };
    numeric(whole) && numeric(part) && unit(whole) && unit(part) && b.starts_with(&format!("{a}."))
}

fn numbers(in_a: &Statement, a: &Value, in_b: &Statement, b: &Value) -> Option<Axis> {
    let (x, y) = (measure(a)?, measure(b)?);
    if x.dimension != y.dimension && x.dimension.is_some() && y.dimension.is_some() {
        return None;
    }
    if equal(&x, &y) {
        return None;
    }
    // A bound and a number within it do not exclude each other; two bounds of one sort do.
    let within = match (bound(in_a), bound(in_b)) {
        (Some(Sense::Upper), Some(Sense::Lower)) => y.amount <= x.amount,
        (Some(Sense::Lower), Some(Sense::Upper)) => x.amount <= y.amount,
        (Some(Sense::Upper), None) => y.amount <= x.amount,
        (Some(Sense::Lower), None) => y.amount >= x.amount,
        (None, Some(Sense::Upper)) => x.amount <= y.amount,
        (None, Some(Sense::Lower)) => x.amount >= y.amount,
        _ => false,
    };
    if within {
        return None;
    }
    let is_year = |m: &Measure| m.dimension.is_none() && (1990.0..2100.0).contains(&m.amount);
    let fraction = |v: &Value| v.fields.first().is_some_and(|n| n.contains('.'));
    Some(if is_year(&x) && is_year(&y) {
        Axis::Date
    } else if x.dimension.is_none() && fraction(a) && fraction(b) {
        Axis::Version
    } else {
        Axis::Number
    })
}

fn bound(statement: &Statement) -> Option<Sense> {
    match (statement.has(Sense::Upper), statement.has(Sense::Lower)) {
        (true, false) => Some(Sense::Upper),
        (false, true) => Some(Sense::Lower),
        _ => None,
    }
}

/// A number in the base unit of its dimension.
struct Measure {
    amount: f64,
    /// The same in the other reading of the unit: a kilobyte is 1000 or 1024 bytes.
    other: f64,
    dimension: Option<String>,
}

fn measure(value: &Value) -> Option<Measure> {
    let number: f64 = value.fields.first()?.parse().ok()?;
    let unit = value.fields.get(1).map_or("", String::as_str);
    let (factor, other, dimension) = match unit {
        "us" => (1e-6, 1e-6, "time"),
        "ms" => (1e-3, 1e-3, "time"),
        "s" => (1.0, 1.0, "time"),
        "min" => (60.0, 60.0, "time"),
        "h" => (3600.0, 3600.0, "time"),
        "d" => (86_400.0, 86_400.0, "time"),
        "w" => (604_800.0, 604_800.0, "time"),
        // Months and years are not of one length; twelve of the one are one of the other.
        "mon" => (2_629_800.0, 2_592_000.0, "time"),
        "y" => (31_557_600.0, 31_536_000.0, "time"),
        "byte" => (1.0, 1.0, "bytes"),
        "kb" => (1024.0, 1e3, "bytes"),
        "mb" => (1024.0 * 1024.0, 1e6, "bytes"),
        "gb" => (1024.0 * 1024.0 * 1024.0, 1e9, "bytes"),
        "tb" => (1024.0 * 1024.0 * 1024.0 * 1024.0, 1e12, "bytes"),
        "k" => (1e3, 1e3, ""),
        "m" => (1e6, 1e6, ""),
        other => (1.0, 1.0, other),
    };
    let dimension = (!dimension.is_empty()).then(|| dimension.to_owned());
    Some(Measure { amount: number * factor, other: number * other, dimension })
}

fn equal(a: &Measure, b: &Measure) -> bool {
    let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1.0);
    close(a.amount, b.amount) || close(a.other, b.other)
}
