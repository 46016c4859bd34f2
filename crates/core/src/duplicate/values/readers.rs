//! Reads what a recogniser found into its canonical form.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    compile,
    words::{DAYS, KOREAN_NUMBERS, MONTHS, NUMBER_WORDS, UNITS},
};

/// Fields of the canonical form of a lower-case text, or `None` if it is no value after all.
pub(super) type Reader = fn(&str) -> Option<Vec<String>>;

pub(super) fn read_plain(text: &str) -> Option<Vec<String>> {
    Some(vec![text.trim_end_matches('/').to_owned()])
}

/// `and/or` is prose; `src/main.rs`, `a/b/c` and `origin/main-2` are paths.
pub(super) fn read_relative_path(text: &str) -> Option<Vec<String>> {
    let is_path = text.matches('/').count() > 1 || text.contains(['.', '_', '-']);
    let has_name = text.contains(|c: char| c.is_ascii_alphabetic());
    (is_path && has_name).then(|| vec![text.trim_end_matches('/').to_owned()])
}

/// A hexadecimal id of at least seven digits, as commits are abbreviated.
pub(super) fn read_hex(text: &str) -> Option<Vec<String>> {
    (text.len() >= 7).then(|| vec![text.to_owned()])
}

pub(super) fn read_version(text: &str) -> Option<Vec<String>> {
    Some(vec![text.trim_start_matches('v').to_owned()])
}

pub(super) fn read_numeric_date(text: &str) -> Option<Vec<String>> {
    let parts = digit_groups(text);
    let [year, month, day] = parts.as_slice() else { return None };
    date(Some(year), Some(month), Some(day))
}

pub(super) fn read_cjk_date(text: &str) -> Option<Vec<String>> {
    let (mut year, mut month, mut day) = (None, None, None);
    let groups = digit_groups(text);
    let marks = text.chars().filter(|c| "年년月월日号號일".contains(*c));
    for (group, mark) in groups.iter().zip(marks) {
        match mark {
            '年' | '년' => year = Some(group),
            '月' | '월' => month = Some(group),
            _ => day = Some(group),
        }
    }
    date(year, month, day)
}

pub(super) fn read_written_date(text: &str) -> Option<Vec<String>> {
    let month = MONTHS.iter().position(|m| {
        text.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word.len() >= 3 && word.starts_with(m))
    })?;
    let month = (month + 1).to_string();
    let groups = digit_groups(text);
    let (years, days): (Vec<_>, Vec<_>) = groups.iter().partition(|g| g.len() == 4);
    date(years.first().copied(), Some(&month), days.first().copied())
}

pub(super) fn read_day(text: &str) -> Option<Vec<String>> {
    let name = DAY.iter().find(|(_, words)| words.is_match(text)).map(|(name, _)| *name)?;
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        let month = name.to_owned();
        return date(None, Some(&month), None);
    }
    Some(vec![name.to_owned()])
}

fn date(year: Option<&String>, month: Option<&String>, day: Option<&String>) -> Option<Vec<String>> {
    let part = |text: Option<&String>, limit: u32| match text.map(|t| t.parse::<u32>()) {
        None => Some(String::new()),
        Some(Ok(n)) if (1..=limit).contains(&n) => Some(format!("{n:02}")),
        Some(_) => None,
    };
    Some(vec![part(year, 9999)?, part(month, 12)?, part(day, 31)?])
}

pub(super) fn read_clock(text: &str) -> Option<Vec<String>> {
    let groups = digit_groups(text);
    let hour: u32 = groups.first()?.parse().ok()?;
    let letters: String = text.chars().filter(char::is_ascii_alphabetic).collect();
    let hour = match letters.as_str() {
        "pm" if hour < 12 => hour + 12,
        "am" if hour == 12 => 0,
        _ => hour,
    };
    let minute = groups.get(1).map_or("00", String::as_str);
    let second = groups.get(2).cloned().unwrap_or_default();
    (hour < 25).then(|| vec![format!("{hour:02}"), minute.to_owned(), second])
}

pub(super) fn read_cjk_time(text: &str) -> Option<Vec<String>> {
    let groups = digit_groups(text);
    let hour: u32 = groups.first()?.parse().ok()?;
    let afternoon = ["下午", "晚上", "午後", "오후"].iter().any(|w| text.starts_with(w));
    let hour = if afternoon && hour < 12 { hour + 12 } else { hour };
    let half = text.ends_with(['半', '반']);
    let minute = groups.get(1).map_or(if half { "30" } else { "00" }, String::as_str);
    (hour < 25).then(|| vec![format!("{hour:02}"), format!("{minute:0>2}"), String::new()])
}

pub(super) fn read_money(text: &str) -> Option<Vec<String>> {
    let currency = [
        ("usd", &["$", "usd", "dollar", "美元"][..]),
        ("eur", &["€", "eur"]),
        ("gbp", &["£"]),
        ("krw", &["₩", "원"]),
        ("jpy", &["円", "yen"]),
        ("cny", &["¥", "rmb", "元", "块", "人民币"]),
    ]
    .iter()
    .find(|(_, marks)| marks.iter().any(|mark| text.contains(mark)))
    .map_or("", |(name, _)| name);
    let scale = [("万", "e4"), ("만", "e4"), ("亿", "e8"), ("億", "e8"), ("억", "e8")]
        .iter()
        .find(|(mark, _)| text.contains(mark))
        .map_or("", |(_, scale)| scale);
    let thousand = text.trim_end_matches(char::is_whitespace).ends_with('k');
    let scale = if thousand { "e3" } else { scale };
    Some(vec![format!("{}{scale}", plain_number(text)?), currency.to_owned()])
}

pub(super) fn read_percent(text: &str) -> Option<Vec<String>> {
    plain_number(text).map(|n| vec![n])
}

pub(super) fn read_number(text: &str) -> Option<Vec<String>> {
    let (bound, text) = match text.chars().next() {
        Some('<' | '≤') => ("below", text.trim_start_matches(['<', '≤', '=', ' '])),
        Some('>' | '≥') => ("above", text.trim_start_matches(['>', '≥', '=', ' '])),
        _ => ("", text),
    };
    let number = plain_number(text)?;
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+'));
    let sign = if text.starts_with('-') { "-" } else { "" };
    Some(vec![format!("{sign}{number}"), unit(rest.trim()), bound.to_owned()])
}

pub(super) fn read_word_number(text: &str) -> Option<Vec<String>> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (_, number) = NUMBER_WORDS.iter().find(|(name, _)| *name == word)?;
    let unit = if word == "twice" { "times".to_owned() } else { unit(rest.trim()) };
    Some(vec![number.to_string(), unit, String::new()])
}

/// `一个` and `一人` are articles more often than numbers, so a bare 一 before them is left alone.
pub(super) fn read_han_number(text: &str) -> Option<Vec<String>> {
    let end = text.find(|c| !"〇零一二两三四五六七八九十百".contains(c))?;
    let (digits, rest) = text.split_at(end);
    if digits == "一" && matches!(rest, "个" | "人" | "点" | "次" | "条" | "件") {
        return None;
    }
    Some(vec![han_number(digits).to_string(), unit(rest), String::new()])
}

fn han_number(digits: &str) -> u64 {
    let (mut total, mut current) = (0_u64, 0_u64);
    for c in digits.chars() {
        match c {
            '十' => total += std::mem::take(&mut current).max(1) * 10,
            '百' => total += std::mem::take(&mut current).max(1) * 100,
            '两' => current = 2,
            _ => {
                let digit = "零一二三四五六七八九".chars().position(|d| d == c).unwrap_or(0);
                current = current.saturating_mul(10).saturating_add(digit as u64);
            }
        }
        total = total.min(u64::from(u32::MAX));
        current = current.min(u64::from(u32::MAX));
    }
    total + current
}

pub(super) fn read_korean_number(text: &str) -> Option<Vec<String>> {
    let (word, number) = KOREAN_NUMBERS.iter().find(|(word, _)| text.starts_with(word))?;
    let rest = text.get(word.len()..)?.trim();
    Some(vec![number.to_string(), unit(rest), String::new()])
}

fn unit(text: &str) -> String {
    UNIT.iter().find(|(_, spelling)| spelling.is_match(text)).map_or("", |(name, _)| name).to_owned()
}

/// The first number of `text` without thousands separators and trailing zeros after the point.
fn plain_number(text: &str) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let body: String = text
        .get(start..)?
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '.'))
        .filter(|c| *c != ',')
        .collect();
    let body = if body.contains('.') { body.trim_end_matches('0').trim_end_matches('.') } else { &body };
    Some(body.to_owned())
}

fn digit_groups(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|g| !g.is_empty()).map(str::to_owned).collect()
}

static UNIT: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    UNITS.iter().map(|(name, spellings)| (*name, compile(&format!("^(?:{spellings})$")))).collect()
});

static DAY: LazyLock<Vec<(&str, Regex)>> =
    LazyLock::new(|| DAYS.iter().map(|(name, words)| (*name, compile(&format!("^(?:{words})$")))).collect());
