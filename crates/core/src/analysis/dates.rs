//! Dates in queries: what they name, and how well a moment agrees with them.

use std::{ops::Range, sync::LazyLock};

use jiff::{ToSpan, civil, tz::TimeZone};
use regex::Regex;

use super::time_words::{MONTHS, compile};
use crate::time::{HOUR, TimeRange, Timestamp};

/// The dates that a query names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DateHints {
    /// Years, 1900 to 2099.
    pub years: Vec<i16>,
    /// Months, 1 to 12.
    pub months: Vec<i8>,
    /// Days of the named months, 1 to 31.
    pub days: Vec<i8>,
    /// What relative words (`yesterday`, `last week`, `昨天`) denote, resolved against the given now.
    pub ranges: Vec<TimeRange>,
}

impl DateHints {
    /// Whether the query names no date.
    pub fn is_empty(&self) -> bool {
        self.years.is_empty() && self.months.is_empty() && self.ranges.is_empty()
    }

    /// Whether a day is named, or a span of a few days relative to now.
    pub fn names_a_day(&self) -> bool {
        const FEW_DAYS: i64 = 3 * 24 * HOUR;
        !self.days.is_empty() || self.ranges.iter().any(|r| r.to.0.saturating_sub(r.from.0) <= FEW_DAYS)
    }

    /// Agreement of a local date with the named dates, 0 to 2.5 (guides: same month 1, the month after .4,
    /// a year that differs x .2; a year alone 1 or 0; same day +1.5, up to 2 days after +1, up to 8 +.5).
    pub fn score(&self, date: civil::Date) -> f32 {
        let mut score = 0.0;
        if !self.months.is_empty() {
            let before = if date.month() == 1 { 12 } else { date.month() - 1 };
            let in_month = self.months.contains(&date.month());
            score = if in_month {
                1.0
            } else if self.months.contains(&before) {
                0.4
            } else {
                0.0
            };
            if !self.years.is_empty() && !self.years.contains(&date.year()) {
                score *= 0.2;
            }
            if in_month {
                score += self.day_score(date.day());
            }
        } else if self.years.contains(&date.year()) {
            score = 1.0;
        }
        score
    }

    fn day_score(&self, day: i8) -> f32 {
        let gap = self.days.iter().filter(|d| **d <= day).map(|d| day - d).min();
        match gap {
            Some(0) => 1.5,
            Some(1..=2) => 1.0,
            Some(3..=8) => 0.5,
            _ => 0.0,
        }
    }
}

/// Scores moments against the dates of one query; remembers the last day, so that a run of neighbouring
/// moments costs one zone conversion.
#[derive(Debug)]
pub struct DateScorer<'a> {
    hints: &'a DateHints,
    zone: TimeZone,
    day: Range<i64>,
    score: f32,
}

impl<'a> DateScorer<'a> {
    /// A scorer for dates as they are in `zone`.
    pub fn new(hints: &'a DateHints, zone: &TimeZone) -> Self {
        Self { hints, zone: zone.clone(), day: 0..0, score: 0.0 }
    }

    /// Agreement of a moment (microseconds UTC) with the named dates, 0 to 2.5.
    pub fn score(&mut self, at: i64) -> f32 {
        if self.hints.is_empty() {
            return 0.0;
        }
        if !self.day.contains(&at) {
            self.enter_day(at);
        }
        self.score.max(self.relative(at))
    }

    fn enter_day(&mut self, at: i64) {
        self.day = at..at.saturating_add(1);
        self.score = 0.0;
        let Some(moment) = Timestamp(at).to_jiff() else { return };
        let date = moment.to_zoned_datetime(self.zone.clone()).date();
        self.score = self.hints.score(date);
        if let Some(range) = days(date, date, &self.zone) {
            self.day = range.from.0..range.to.0;
        }
    }

    /// Inside a named range 2.5 when it is one day long, else 1.5; just after it, for as long again, .4.
    fn relative(&self, at: i64) -> f32 {
        let score = |range: &TimeRange| {
            let length = range.to.0.saturating_sub(range.from.0);
            if range.contains(Timestamp(at)) {
                if length <= 26 * HOUR { 2.5 } else { 1.5 }
            } else if at >= range.to.0 && at < range.to.0.saturating_add(length) {
                0.4
            } else {
                0.0
            }
        };
        self.hints.ranges.iter().map(score).fold(0.0, f32::max)
    }
}

/// Finds the dates named in normalised text. Relative words need `now`; without it they are passed over.
pub(super) fn find_dates(text: &str, now: Option<Timestamp>, zone: &TimeZone) -> DateHints {
    let text = text.to_lowercase();
    let mut hints = DateHints::default();
    english_months(&text, &mut hints);
    numeric_dates(&text, &mut hints);
    for year in YEAR.captures_iter(&text) {
        add(&mut hints.years, year[1].parse().ok());
    }
    if let Some(today) = now.and_then(Timestamp::to_jiff).map(|t| t.to_zoned_datetime(zone.clone()).date()) {
        hints.ranges = relative_ranges(&text, today, zone);
    }
    hints
}

fn add<T: PartialEq>(list: &mut Vec<T>, value: Option<T>) {
    if let Some(value) = value
        && !list.contains(&value)
    {
        list.push(value);
    }
}

static YEAR: LazyLock<Regex> = LazyLock::new(|| compile(r"(?-u)\b((?:19|20)[0-9][0-9])\b"));

static ENGLISH_DATE: LazyLock<Regex> = LazyLock::new(|| {
    let full = MONTHS.join("|");
    let short = "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec";
    let day = "([0-9]{1,2})(?:st|nd|rd|th)?";
    compile(&format!(
        r"(?-u)\b(?:{day} (?:of )?)?(?:({full})|({short})\b\.?)(?:,? (?:the )?{day}\b)?(?:,? ((?:19|20)[0-9][0-9]))?"
    ))
});

/// Before or after `may`, what makes it the month rather than the verb.
static MAY_IS_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?-u)\b(?:in|on|of|during|since|until|by|last|this|next|early|late|mid|[0-9]{1,2}(?:st|nd|rd|th)?)[ -]may\b|\bmay,? (?:[0-9]{1,2}(?:st|nd|rd|th)?\b|20[0-9][0-9])",
    )
});

fn english_months(text: &str, hints: &mut DateHints) {
    for found in ENGLISH_DATE.captures_iter(text) {
        let name = found.get(2).or_else(|| found.get(3)).map_or("", |m| m.as_str());
        let dated = found.get(1).is_some() || found.get(4).is_some() || found.get(5).is_some();
        let certain = match name {
            "may" => MAY_IS_MONTH.is_match(text),
            _ => found.get(2).is_some() || dated,
        };
        let ends_word =
            found.get(0).is_some_and(|m| !text[m.end()..].starts_with(|c: char| c.is_ascii_alphanumeric()));
        let Some(month) = MONTHS.iter().position(|m| m.starts_with(&name[..name.len().min(3)])) else {
            continue;
        };
        if certain && ends_word {
            add(&mut hints.months, i8::try_from(month + 1).ok());
            for group in [1, 4] {
                add(&mut hints.days, found.get(group).and_then(|d| d.as_str().parse().ok()));
            }
        }
    }
}

static ISO_DATE: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?-u)\b((?:19|20)[0-9][0-9])[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?(?:\b|t)"));

static CJK_DATE: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?:((?:19|20)[0-9][0-9]) ?[年년] ?)?(?:(1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]) ?[月월] ?)",
        r"(?:([0-9]{1,2}) ?[日号號일])?|((?:19|20)[0-9][0-9]) ?[年년]",
    ))
});

fn numeric_dates(text: &str, hints: &mut DateHints) {
    let mut take = |year: Option<&str>, month: Option<&str>, day: Option<&str>| {
        add(&mut hints.years, year.and_then(|y| y.parse().ok()));
        add(&mut hints.months, month.and_then(month_number));
        add(&mut hints.days, day.and_then(|d| d.parse().ok()).filter(|d| (1..=31).contains(d)));
    };
    for found in ISO_DATE.captures_iter(text) {
        let part = |group: usize| found.get(group).map(|m| m.as_str());
        if part(2).and_then(month_number).is_some() {
            take(part(1), part(2), part(3));
        }
    }
    if !text.is_ascii() {
        for found in CJK_DATE.captures_iter(text) {
            let part = |group: usize| found.get(group).map(|m| m.as_str());
            take(part(1).or(part(4)), part(2), part(3));
        }
    }
}

fn month_number(text: &str) -> Option<i8> {
    const NUMERALS: [&str; 12] = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
    let number = match NUMERALS.iter().position(|n| *n == text) {
        Some(index) => i8::try_from(index + 1).ok(),
        None => text.parse().ok(),
    };
    number.filter(|n| (1..=12).contains(n))
}

/// A span of days before or around today.
#[derive(Clone, Copy)]
enum Span {
    Day(i32),
    Week(i32),
    Month(i32),
    Year(i32),
}

/// Relative words and the span they name, longest first; what is found is blanked, so that a shorter word
/// inside it is not found again.
const RELATIVE: &[(&[&str], Span)] = &[
    (&["day before yesterday", "前天", "一昨日", "おととい", "그저께"], Span::Day(-2)),
    (&["yesterday", "last night", "昨天", "昨晚", "昨日", "きのう", "어제"], Span::Day(-1)),
    (&["today", "tonight", "this morning", "今天", "今晚", "今日", "오늘"], Span::Day(0)),
    (
        &[
            "last week",
            "past week",
            "上个星期",
            "上個星期",
            "上星期",
            "上周",
            "上週",
            "先週",
            "지난주",
            "지난 주",
        ],
        Span::Week(-1),
    ),
    (&["this week", "这周", "這週", "本周", "本週", "这个星期", "今週", "이번 주", "이번주"], Span::Week(0)),
    (&["last month", "past month", "上个月", "上個月", "上月", "先月", "지난달", "지난 달"], Span::Month(-1)),
    (&["this month", "这个月", "這個月", "本月", "今月", "이번 달", "이번달"], Span::Month(0)),
    (&["last year", "past year", "去年", "昨年", "작년", "지난해"], Span::Year(-1)),
    (&["this year", "今年", "올해"], Span::Year(0)),
];

static AGO: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?:([0-9]{1,3})|\b(an?|one|two|three|four|five|six|seven|eight|nine|ten)) (days?|weeks?|months?|years?) ago|",
        r"([0-9]{1,3}) ?(天|日|周|週|个星期|週間|个月|個月|か月|ヶ月|年|일|주|개월|달|년) ?[前전]",
    ))
});

fn relative_ranges(text: &str, today: civil::Date, zone: &TimeZone) -> Vec<TimeRange> {
    let mut left = text.to_owned();
    let mut ranges = Vec::new();
    for (words, span) in RELATIVE {
        for word in *words {
            if left.contains(word) {
                left = left.replace(word, " ");
                ranges.extend(resolve(*span, today, zone));
            }
        }
    }
    for found in AGO.captures_iter(&left) {
        let part = |group: usize| found.get(group).map(|m| m.as_str());
        let amount = part(1).or(part(4)).map_or_else(|| part(2).and_then(number_word), |n| n.parse().ok());
        let unit = part(3).or(part(5)).unwrap_or_default();
        ranges.extend(amount.and_then(|n| resolve(span_of(unit, -n), today, zone)));
    }
    ranges
}

fn number_word(word: &str) -> Option<i32> {
    const WORDS: [&str; 11] =
        ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let index = WORDS.iter().position(|w| *w == word || (*w == "a" && word == "an"))?;
    i32::try_from(index.max(1)).ok()
}

fn span_of(unit: &str, amount: i32) -> Span {
    match unit.chars().next() {
        Some('w' | '周' | '週' | '주') => Span::Week(amount),
        Some('y' | '年' | '년') => Span::Year(amount),
        Some('m' | '개' | '달' | 'か' | 'ヶ') => Span::Month(amount),
        Some('个' | '個') if unit.ends_with("星期") => Span::Week(amount),
        Some('个' | '個') => Span::Month(amount),
        _ => Span::Day(amount),
    }
}

fn resolve(span: Span, today: civil::Date, zone: &TimeZone) -> Option<TimeRange> {
    let (first, last) = match span {
        Span::Day(n) => {
            let day = today.checked_add(n.days()).ok()?;
            (day, day)
        }
        Span::Week(n) => {
            let monday = today.checked_sub(i32::from(today.weekday().to_monday_zero_offset()).days()).ok()?;
            let from = monday.checked_add(n.weeks()).ok()?;
            (from, from.checked_add(6.days()).ok()?)
        }
        Span::Month(n) => {
            let from = today.first_of_month().checked_add(n.months()).ok()?;
            (from, from.last_of_month())
        }
        Span::Year(n) => {
            let from = today.first_of_year().checked_add(n.years()).ok()?;
            (from, from.last_of_year())
        }
    };
    days(first, last, zone)
}

/// From the start of `first` to the end of `last`, in `zone`.
fn days(first: civil::Date, last: civil::Date, zone: &TimeZone) -> Option<TimeRange> {
    let start = |date: civil::Date| zone.to_timestamp(date.to_datetime(civil::Time::midnight())).ok();
    Some(TimeRange { from: start(first)?.into(), to: start(last.tomorrow().ok()?)?.into() })
}
