//! Points in time and half-open ranges of them. Nothing here reads a clock.

use jiff::{ZonedDateTime, civil, tz::TimeZone};

use crate::error::ParseError;

/// Microseconds of an hour.
pub const HOUR: i64 = 3_600_000_000;
/// Microseconds of a day of twenty-four hours.
pub const DAY: i64 = 24 * HOUR;

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Later than every real timestamp; marks "still open".
    pub const MAX: Self = Self(i64::MAX);

    /// The instant, or `None` outside the years -9999 to 9999.
    pub fn to_jiff(self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_microsecond(self.0).ok()
    }

    /// RFC 3339 in UTC, to the second: `2026-03-31T22:00:00Z`. Out-of-range values show as a number.
    pub fn to_rfc3339(self) -> String {
        self.to_jiff()
            .map_or_else(|| format!("{}us", self.0), |t| t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    }

    /// The calendar date in `zone`: `2026-03-31`.
    pub fn to_date(self, zone: &TimeZone) -> String {
        self.to_jiff().map_or_else(
            || format!("{}us", self.0),
            |t| t.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d").to_string(),
        )
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(t: jiff::Timestamp) -> Self {
        Self(t.as_microsecond())
    }
}

/// A half-open range of time: `from <= t < to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// First instant inside.
    pub from: Timestamp,
    /// First instant after.
    pub to: Timestamp,
}

impl TimeRange {
    /// Every instant.
    pub const ALL: Self = Self { from: Timestamp(i64::MIN), to: Timestamp::MAX };

    /// Whether `t` lies inside.
    pub fn contains(&self, t: Timestamp) -> bool {
        self.from <= t && t < self.to
    }
}

/// Reads what people and models write for a point in time and returns the range it denotes:
/// a year, a month or a day in `zone` is the whole of it, an instant is one microsecond long.
///
/// Accepts `2026`, `2026-03`, `2026-03-31`, `2026-03-31 15:00`, RFC 3339 with an offset or `Z`
/// (a `T` or a space between), and a bracketed zone.
pub fn parse_range(text: &str, zone: &TimeZone) -> Result<TimeRange, ParseError> {
    let text = text.trim();
    let wrong =
        || ParseError::new("date", text, "write 2026-03-31, 2026-03, 2026 or 2026-03-31T15:00:00-07:00");
    let instant = |t: jiff::Timestamp| {
        let from = Timestamp::from(t);
        TimeRange { from, to: Timestamp(from.0.saturating_add(1)) }
    };
    if let Ok(zoned) = text.parse::<ZonedDateTime>() {
        return Ok(instant(zoned.timestamp()));
    }
    if let Ok(t) = text.parse::<jiff::Timestamp>() {
        return Ok(instant(t));
    }
    if let Some((from, to)) = civil_days(text) {
        return Ok(TimeRange {
            from: Timestamp(start_of(from, zone).0.min(last().0 - 1)),
            to: to.map_or_else(last, |to| start_of(to, zone)),
        });
    }
    let civil: civil::DateTime = text.parse().map_err(|_| wrong())?;
    Ok(instant(zone.to_timestamp(civil).map_err(|_| wrong())?))
}

/// The first day of a year, month or day and the first day after it; none after the last day of all.
fn civil_days(text: &str) -> Option<(civil::Date, Option<civil::Date>)> {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = parts.iter().all(|p| !p.is_empty() && p.len() <= 4 && p.bytes().all(|b| b.is_ascii_digit()));
    if !digits || parts[0].len() != 4 {
        return None;
    }
    let year = parts[0].parse().ok()?;
    let month = parts.get(1).map_or(Some(1), |p| p.parse().ok())?;
    let day = parts.get(2).map_or(Some(1), |p| p.parse().ok())?;
    let from = civil::Date::new(year, month, day).ok()?;
    let span = match parts.len() {
        1 => jiff::Span::new().years(1),
        2 => jiff::Span::new().months(1),
        3 => jiff::Span::new().days(1),
        _ => return None,
    };
    Some((from, from.checked_add(span).ok()))
}

/// The last instant there is: the last days of the year 9999 end with it.
fn last() -> Timestamp {
    Timestamp::from(jiff::Timestamp::MAX)
}

fn start_of(date: civil::Date, zone: &TimeZone) -> Timestamp {
    zone.to_timestamp(date.to_datetime(civil::Time::midnight())).map_or_else(|_| last(), Timestamp::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse::<jiff::Timestamp>().map(Timestamp::from).unwrap_or_default()
    }

    #[test]
    fn a_day_is_half_open_in_the_users_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(-7));
        let day = parse_range("2026-03-31", &zone).expect("valid date");
        assert!(day.contains(at("2026-03-31T15:00:00-07:00")), "field case 48");
        assert!(day.contains(at("2026-04-01T06:59:59Z")));
        assert!(!day.contains(at("2026-04-01T07:00:00Z")));
        assert!(!day.contains(at("2026-03-31T06:59:59Z")));
    }

    #[test]
    fn the_last_day_of_all_is_a_day() {
        for text in ["9999-12-31", "9999-12", "9999"] {
            for zone in
                [TimeZone::UTC, TimeZone::fixed(jiff::tz::offset(8)), TimeZone::fixed(jiff::tz::offset(-7))]
            {
                let range = parse_range(text, &zone).unwrap_or_else(|e| unreachable!("{text}: {e}"));
                assert!(range.from < range.to && range.to == last(), "{text}: {range:?}");
            }
        }
        assert!(parse_range("9999-12-32", &TimeZone::UTC).is_err());
    }

    #[test]
    fn offsets_are_honoured_and_months_and_years_are_whole() {
        let utc = TimeZone::UTC;
        let a = parse_range("2020-07-23T06:00:00.000Z", &utc).expect("valid");
        let b = parse_range("2020-07-23T08:00:00+02:00", &utc).expect("valid");
        assert_eq!(a, b);
        let month = parse_range("2026-02", &utc).expect("valid");
        assert_eq!(month.to.0 - month.from.0, 28 * 86_400_000_000);
        assert!(parse_range("2026", &utc).expect("valid").contains(at("2026-12-31T23:59:59Z")));
    }

    #[test]
    fn nonsense_is_a_typed_error() {
        for wrong in ["", "soon", "2026-13", "2026-02-30", "99999-01-01", "2026-03-31-01", "-1", "２０２６"]
        {
            assert!(parse_range(wrong, &TimeZone::UTC).is_err(), "{wrong}");
        }
    }
}
