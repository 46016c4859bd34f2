//! The values in a text: what two texts of the same wording may differ in.
//!
//! Each value has a kind and a canonical form, so that `3 pm` and `15:00`, `2026-03-05` and
//! `2026年3月5日`, `30 s` and `30 seconds` are one. A part that a form leaves open (the year of
//! `March 5`, the unit of a bare `30`) fits any other.

use std::{ops::Range, sync::LazyLock};

use regex::{Regex, RegexBuilder};

use super::DifferenceKind;

/// One value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: DifferenceKind,
    /// Fields of the canonical form; an empty field is open.
    pub(super) fields: Vec<String>,
    /// As written.
    pub(super) shown: String,
    pub(super) span: Range<usize>,
}

impl Value {
    /// Whether both can mean the same: no field that both fill differs, and they share a filled one.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let mut shared = false;
        for (a, b) in self.fields.iter().zip(&other.fields) {
            if a.is_empty() || b.is_empty() {
                continue;
            }
            if a != b {
                return false;
            }
            shared = true;
        }
        shared && self.kind == other.kind && self.fields.len() == other.fields.len()
    }
}

/// All values of `text`, in order, not overlapping. `text` should be in NFKC.
pub(super) fn values(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut from = 0;
    let lower = text.to_ascii_lowercase();
    while let Some(hit) = PATTERNS.find_at(&lower, from) {
        from = hit.end();
        if let Some(value) = read(text, hit.range()) {
            found.push(value);
        }
    }
    found
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const MONTH: &str = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";

/// Unit words by canonical unit. Longer spellings come first where one begins another.
const UNITS: &[(&str, &str)] = &[
    ("ms", "milliseconds?|msecs?|ms|毫秒|ミリ秒|밀리초"),
    ("us", "microseconds?|μs|us"),
    ("s", "seconds?|secs?|s|秒钟|秒間|秒|초"),
    ("min", "minutes?|mins?|分钟|分間|分鐘|分|분"),
    ("h", "hours?|hrs?|h|小时|小時|時間|시간"),
    ("mon", "months?|个月|個月|ヶ月|か月|カ月|개월|달"),
    ("d", "days?|天|日間|일간"),
    ("w", "weeks?|周|週間|주간?"),
    ("y", "years?|年間|년간?"),
    ("kb", "kib|kb"),
    ("mb", "mib|mb"),
    ("gb", "gib|gb"),
    ("tb", "tib|tb"),
    ("byte", "bytes?"),
    ("times", "times|次|回|번|遍"),
    ("x", "x|倍|배"),
    ("person", "people|persons?|developers?|users?|人|名|명"),
    ("px", "px"),
    ("rps", "rps|qps"),
    ("k", "k|千"),
    ("m", "m|million"),
    ("piece", "个|個|开|台|件|条|份|개|대"),
    ("km", "km"),
    ("kg", "kg"),
];

const NUMBER_WORDS: [(&str, u32); 20] = [
    ("twice", 2),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
    ("hundred", 100),
];

const KOREAN_NUMBERS: [(&str, u32); 10] = [
    ("한", 1),
    ("두", 2),
    ("세", 3),
    ("네", 4),
    ("다섯", 5),
    ("여섯", 6),
    ("일곱", 7),
    ("여덟", 8),
    ("아홉", 9),
    ("열", 10),
];

/// Words that are a date by themselves, with their canonical form.
const DAYS: &[(&str, &str)] = &[
    ("mon", "mondays?|(?:星期|礼拜|周|週)一|月曜日?|월요일"),
    ("tue", "tuesdays?|(?:星期|礼拜|周|週)二|火曜日?|화요일"),
    ("wed", "wednesdays?|(?:星期|礼拜|周|週)三|水曜日?|수요일"),
    ("thu", "thursdays?|(?:星期|礼拜|周|週)四|木曜日?|목요일"),
    ("fri", "fridays?|(?:星期|礼拜|周|週)五|金曜日?|금요일"),
    ("sat", "saturdays?|(?:星期|礼拜|周|週)六|土曜日?|토요일"),
    ("sun", "sundays?|(?:星期|礼拜|周|週)[日天]|日曜日?|일요일"),
    ("today", "today|今天|今日|오늘"),
    ("tomorrow", "tomorrow|明天|明日|내일"),
    ("yesterday", "yesterday|昨天|昨日|어제"),
    ("01", "january"),
    ("02", "february"),
    ("04", "april"),
    ("06", "june"),
    ("07", "july"),
    ("08", "august"),
    ("09", "september"),
    ("10", "october"),
    ("11", "november"),
    ("12", "december"),
];

type Reader = fn(&str) -> Option<Vec<String>>;

/// The recognisers, in order of precedence: `{U}` units, `{M}` month names, `{B}` a word border.
const RECOGNISERS: &[(DifferenceKind, &str, Reader)] = &[
    (DifferenceKind::Url, r#"[a-z][a-z0-9+.-]{1,15}://[^ \t\n<>"'`)\]},;，。；、）」』]+"#, read_plain),
    (DifferenceKind::Identifier, r"[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+", read_plain),
    (
        DifferenceKind::Path,
        r"[a-z]:\\[a-z0-9_.\\-]+|(?:~|\.\.?)?/[a-z0-9_.@-]+(?:/[a-z0-9_.@*-]+)*/?",
        read_plain,
    ),
    (DifferenceKind::Address, r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:[:/][0-9]{1,5})?", read_plain),
    (DifferenceKind::Date, r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}", read_numeric_date),
    (DifferenceKind::Path, r"[a-z0-9_.@-]+(?:/[a-z0-9_.@*-]+)+/?", read_relative_path),
    (
        DifferenceKind::Date,
        r"{B}{M}\.?[ \t\n]+[0-9]{1,2}(?:st|nd|rd|th)?{B}(?:,?[ \t\n]+[0-9]{4}{B})?|{B}[0-9]{1,2}(?:st|nd|rd|th)?[ \t\n]+(?:of[ \t\n]+)?{M}{B}(?:,?[ \t\n]+[0-9]{4}{B})?|{B}{M}[ \t\n]+[0-9]{4}{B}",
        read_written_date,
    ),
    (
        DifferenceKind::Date,
        r"(?:[0-9]{4}[ \t\n]*[年년][ \t\n]*)?[0-9]{1,2}[ \t\n]*[月월](?:[ \t\n]*[0-9]{1,2}[ \t\n]*[日号號일])?|[0-9]{4}[ \t\n]*[年년]|[0-9]{1,2}[号號]",
        read_cjk_date,
    ),
    (DifferenceKind::Date, "{D}", read_day),
    (
        DifferenceKind::Money,
        r"(?:us\$|[$€£¥₩]|(?:usd|eur|rmb){B})[ \t\n]?[0-9][0-9,]*(?:\.[0-9]+)?[ \t\n]?(?:k{B}|m{B}|bn{B}|million|billion|万|億|亿|만|억)?|[0-9][0-9,]*(?:\.[0-9]+)?[ \t\n]?(?:万|億|亿|만|억)?[ \t\n]?(?:(?:usd|eur|dollars?|euros?|yen){B}|元|块钱?|円|원|人民币|美元)",
        read_money,
    ),
    (
        DifferenceKind::Percent,
        r"[0-9]+(?:\.[0-9]+)?[ \t\n]?(?:%|percent{B}|パーセント|퍼센트)|百分之[0-9]+",
        read_percent,
    ),
    (
        DifferenceKind::Version,
        r"{B}v[0-9]+(?:\.[0-9]+)*(?:[-+][0-9a-z.]+)?|{B}[0-9]+\.[0-9]+\.[0-9]+(?:\.[0-9]+)*(?:[-+][0-9a-z.]+)?|{B}[0-9]+\.[0-9]+-(?:rc|alpha|beta|pre)[0-9.]*",
        read_version,
    ),
    (
        DifferenceKind::Time,
        r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:[ \t\n]*[ap]\.?m{B})?|{B}[0-9]{1,2}[ \t\n]*[ap]\.?m{B}",
        read_clock,
    ),
    (DifferenceKind::Number, r"[0-9][0-9,]*(?:\.[0-9]+)?[ \t\n]?(?:時間|시간)", read_number),
    (
        DifferenceKind::Time,
        r"(?:(?:上午|下午|晚上|早上|凌晨|午前|午後|오전|오후)[ \t\n]*)?[0-9]{1,2}[ \t\n]*[点點時시](?:[ \t\n]*(?:[0-9]{1,2}[ \t\n]*[分분]|半|반))?",
        read_cjk_time,
    ),
    (
        DifferenceKind::Address,
        r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9]+(?::[0-9]{1,5})?{B}|{B}localhost:[0-9]+|{B}[a-z0-9]+(?:-[a-z0-9]+)+:[0-9]{2,5}",
        read_plain,
    ),
    (DifferenceKind::Identifier, r"[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]+{B}", read_hex),
    (
        DifferenceKind::Identifier,
        r"[a-z_][a-z0-9]*(?:(?:_|::|->)[a-z0-9_]+)+|--[a-z][a-z0-9-]+|#[0-9]+|{B}[a-z]+(?:-[a-z]+)*-?[0-9][a-z0-9-]*",
        read_plain,
    ),
    (
        DifferenceKind::Number,
        r"(?:[<>≤≥]=?[ \t\n]?)?[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:[ \t\n]?{U})?",
        read_number,
    ),
    (DifferenceKind::Number, r"{B}{N}{B}(?:[ \t\n]{U})?", read_word_number),
    (
        DifferenceKind::Number,
        r"[〇零一二两三四五六七八九十百]+(?:个月|小时|分钟|秒|天|周|次|个|台|人|年|倍|回|件|時間|週間|日間|名|份|条|点)",
        read_han_number,
    ),
    (
        DifferenceKind::Number,
        r"(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열)[ \t\n]?(?:번|개|명|대|시간|시|달|주|배)",
        read_korean_number,
    ),
];

static PATTERNS: LazyLock<Regex> = LazyLock::new(|| {
    let all: Vec<String> = RECOGNISERS.iter().map(|(_, p, _)| format!("(?:{})", expand(p))).collect();
    compile(&all.join("|"))
});

static READERS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| RECOGNISERS.iter().map(|(_, p, _)| compile(&format!("^(?:{})$", expand(p)))).collect());

static UNIT: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    UNITS.iter().map(|(name, spellings)| (*name, compile(&format!("^(?:{spellings})$")))).collect()
});

static DAY: LazyLock<Vec<(&str, Regex)>> =
    LazyLock::new(|| DAYS.iter().map(|(name, words)| (*name, compile(&format!("^(?:{words})$")))).collect());

fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .dfa_size_limit(16 << 20)
        .build()
        .expect("the recognisers are constants, compiled in tests")
}

/// Word borders are ASCII ones: a digit that touches a Chinese character does begin a number. Digits
/// and spaces are ASCII as well, after NFKC; the automaton stays small.
fn expand(pattern: &str) -> String {
    let words: Vec<&str> = NUMBER_WORDS.iter().map(|(word, _)| *word).collect();
    pattern
        .replace("{D}", &joined(DAYS))
        .replace("{U}", &joined(UNITS))
        .replace("{N}", &format!("(?:{})", words.join("|")))
        .replace("{M}", MONTH)
        .replace("{B}", r"(?-u:\b)")
}

/// One alternation of all spellings, with borders around those in Latin letters. Splitting at `|`
/// cuts groups apart, and joining the pieces in order restores them.
fn joined(table: &[(&str, &str)]) -> String {
    let all: Vec<&str> = table.iter().flat_map(|(_, words)| words.split('|')).collect();
    let (latin, other): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|w| w.starts_with(|c: char| c.is_ascii_alphabetic() || c == 'μ'));
    format!("(?:(?:{}){{B}}|{})", latin.join("|"), other.join("|"))
}

fn read(text: &str, span: Range<usize>) -> Option<Value> {
    let shown = text.get(span.clone())?;
    let sentence_end = |c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?');
    let (shown, span) = match shown.trim_end_matches(sentence_end) {
        "" => (shown, span),
        trimmed => (trimmed, span.start..span.start + trimmed.len()),
    };
    let joined = text.get(..span.start)?.ends_with(char::is_alphanumeric);
    let sign = usize::from(joined && shown.starts_with(['-', '+']));
    let (shown, span) = (shown.get(sign..)?, span.start + sign..span.end);
    let lower = shown.to_lowercase();
    let candidates = RECOGNISERS.iter().zip(READERS.iter()).filter(|(_, whole)| whole.is_match(&lower));
    for ((kind, _, reader), _) in candidates {
        if let Some(fields) = reader(&lower) {
            return Some(Value { kind: *kind, fields, shown: shown.to_owned(), span });
        }
    }
    None
}

fn read_plain(text: &str) -> Option<Vec<String>> {
    Some(vec![text.trim_end_matches('/').to_owned()])
}

/// `and/or` is prose; `src/main.rs`, `a/b/c` and `origin/main-2` are paths.
fn read_relative_path(text: &str) -> Option<Vec<String>> {
    let is_path = text.matches('/').count() > 1 || text.contains(['.', '_', '-']);
    let has_name = text.contains(|c: char| c.is_ascii_alphabetic());
    (is_path && has_name).then(|| vec![text.trim_end_matches('/').to_owned()])
}

/// A hexadecimal id of at least seven digits, as commits are abbreviated.
fn read_hex(text: &str) -> Option<Vec<String>> {
    (text.len() >= 7).then(|| vec![text.to_owned()])
}

fn read_version(text: &str) -> Option<Vec<String>> {
    Some(vec![text.trim_start_matches('v').to_owned()])
}

fn read_numeric_date(text: &str) -> Option<Vec<String>> {
    let parts = digit_groups(text);
    let [year, month, day] = parts.as_slice() else { return None };
    date(Some(year), Some(month), Some(day))
}

fn read_cjk_date(text: &str) -> Option<Vec<String>> {
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

fn read_written_date(text: &str) -> Option<Vec<String>> {
    let month = MONTHS.iter().position(|m| {
        text.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word.len() >= 3 && word.starts_with(m))
    })?;
    let month = (month + 1).to_string();
    let groups = digit_groups(text);
    let (years, days): (Vec<_>, Vec<_>) = groups.iter().partition(|g| g.len() == 4);
    date(years.first().copied(), Some(&month), days.first().copied())
}

fn read_day(text: &str) -> Option<Vec<String>> {
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

fn read_clock(text: &str) -> Option<Vec<String>> {
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

fn read_cjk_time(text: &str) -> Option<Vec<String>> {
    let groups = digit_groups(text);
    let hour: u32 = groups.first()?.parse().ok()?;
    let afternoon = ["下午", "晚上", "午後", "오후"].iter().any(|w| text.starts_with(w));
    let hour = if afternoon && hour < 12 { hour + 12 } else { hour };
    let half = text.ends_with(['半', '반']);
    let minute = groups.get(1).map_or(if half { "30" } else { "00" }, String::as_str);
    (hour < 25).then(|| vec![format!("{hour:02}"), format!("{minute:0>2}"), String::new()])
}

fn read_money(text: &str) -> Option<Vec<String>> {
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

fn read_percent(text: &str) -> Option<Vec<String>> {
    plain_number(text).map(|n| vec![n])
}

fn read_number(text: &str) -> Option<Vec<String>> {
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

fn read_word_number(text: &str) -> Option<Vec<String>> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (_, number) = NUMBER_WORDS.iter().find(|(name, _)| *name == word)?;
    let unit = if word == "twice" { "times".to_owned() } else { unit(rest.trim()) };
    Some(vec![number.to_string(), unit, String::new()])
}

/// `一个` and `一人` are articles more often than numbers, so a bare 一 before them is left alone.
fn read_han_number(text: &str) -> Option<Vec<String>> {
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

fn read_korean_number(text: &str) -> Option<Vec<String>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Vec<(DifferenceKind, String)> {
        values(text).into_iter().map(|v| (v.kind, v.fields.join("|"))).collect()
    }

    #[test]
    fn the_usual_values_are_recognised() {
        use DifferenceKind::*;
        let cases: &[(&str, DifferenceKind, &str)] = &[
            ("listens on port 5432.", Number, "5432||"),
            ("端口5432", Number, "5432||"),
            ("wait 30 seconds", Number, "30|s|"),
            ("wait 30s", Number, "30|s|"),
            ("等30秒", Number, "30|s|"),
            ("三次", Number, "3|times|"),
            ("세 번", Number, "3|times|"),
            ("three times", Number, "3|times|"),
            ("2時間", Number, "2|h|"),
            ("Python 3.11", Number, "3.11||"),
            ("1,000 users", Number, "1000|person|"),
            ("< 100 ms", Number, "100|ms|below"),
            (">=3", Number, "3||above"),
            ("-5", Number, "-5||"),
            ("v1.2.3-rc.1", Version, "1.2.3-rc.1"),
            ("0.43.0", Version, "0.43.0"),
            ("on 2026-03-05", Date, "2026|03|05"),
            ("on March 5th, 2026", Date, "2026|03|05"),
            ("5 March", Date, "|03|05"),
            ("2026年3月5日", Date, "2026|03|05"),
            ("3월 5일", Date, "|03|05"),
            ("every Friday", Date, "fri"),
            ("周五", Date, "fri"),
            ("金曜日", Date, "fri"),
            ("금요일", Date, "fri"),
            ("in July", Date, "|07|"),
            ("at 3 pm", Time, "15|00|"),
            ("15:00", Time, "15|00|"),
            ("下午3点半", Time, "15|30|"),
            ("오후 3시", Time, "15|00|"),
            ("10.0.0.12", Address, "10.0.0.12"),
            ("db.example.com:5432", Address, "db.example.com:5432"),
            ("https://a.example/x?y=1.", Url, "https://a.example/x?y=1"),
            ("/etc/hosts", Path, "/etc/hosts"),
            ("src/main.rs", Path, "src/main.rs"),
            ("$1,200", Money, "1200|usd"),
            ("300元", Money, "300|cny"),
            ("5万円", Money, "5e4|jpy"),
            ("12.50%", Percent, "12.5"),
            ("JIRA-123", Identifier, "jira-123"),
            ("max_retries", Identifier, "max_retries"),
            ("commit 3fa9c1d", Identifier, "3fa9c1d"),
            ("mara@example.org", Identifier, "mara@example.org"),
        ];
        for (text, kind, form) in cases {
            assert_eq!(canonical(text), vec![(*kind, (*form).to_owned())], "{text}");
        }
    }

    #[test]
    fn prose_has_no_values() {
        for text in
            ["read and/or write", "an apple a day", "一个想法", "e.g. this", "may I", "the defaced wall"]
        {
            assert_eq!(canonical(text), vec![], "{text}");
        }
    }

    #[test]
    fn an_open_field_fits() {
        let first = |text: &str| values(text).remove(0);
        assert!(first("March 5").fits(&first("2026-03-05")));
        assert!(!first("March 6").fits(&first("2026-03-05")));
        assert!(first("30").fits(&first("30 s")));
        assert!(!first("30 min").fits(&first("30 s")));
        assert!(!first("July").fits(&first("2026年8月")));
    }
}
