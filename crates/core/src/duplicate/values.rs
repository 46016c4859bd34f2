//! The values in a text: what two texts of the same wording may differ in.
//!
//! Each value has a kind and a canonical form, so that `3 pm` and `15:00`, `2026-03-05` and
//! `2026年3月5日`, `30 s` and `30 seconds` are one. A part that a form leaves open (the year of
//! `March 5`, the unit of a bare `30`) fits any other.

mod readers;
mod words;

use std::{ops::Range, sync::LazyLock};

use regex::{Regex, RegexBuilder};

use readers::{
    Reader, read_cjk_date, read_cjk_time, read_clock, read_day, read_han_number, read_hex,
    read_korean_number, read_money, read_number, read_numeric_date, read_percent, read_plain,
    read_relative_path, read_version, read_word_number, read_written_date,
};
use words::{DAYS, MONTH, NUMBER_WORDS, UNITS};

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

/// The recognisers, in order of precedence: `{U}` units, `{M}` month names, `{B}` a word border.
const RECOGNISERS: &[(DifferenceKind, &str, Reader)] = &[
    (DifferenceKind::Url, r#"[a-z][a-z0-9+.-]{1,15}://[^ \t\n<>"'`)\]},;，。；、）」』]+"#, read_plain),
    (DifferenceKind::Identifier, r"[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+", read_plain),
    (
        DifferenceKind::Path,
        r"[a-z]:\\[a-z0-9_.\\-]+|(?:~|\.\.?)?/[a-z0-9_.@-]+(?:/[a-z0-9_.@*-]+)*/?",
        read_plain,
    ),
    (DifferenceKind::Address, r"\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d{1,5})?", read_plain),
    (DifferenceKind::Date, r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}", read_numeric_date),
    (DifferenceKind::Path, r"[a-z0-9_.@-]+(?:/[a-z0-9_.@*-]+)+/?", read_relative_path),
    (
        DifferenceKind::Date,
        r"{B}{M}\.?\s+\d{1,2}(?:st|nd|rd|th)?{B}(?:,?\s+\d{4}{B})?|{B}\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?{M}{B}(?:,?\s+\d{4}{B})?|{B}{M}\s+\d{4}{B}",
        read_written_date,
    ),
    (
        DifferenceKind::Date,
        r"(?:\d{4}\s*[年년]\s*)?\d{1,2}\s*[月월](?:\s*\d{1,2}\s*[日号號일])?|\d{4}\s*[年년]|\d{1,2}[号號]",
        read_cjk_date,
    ),
    (DifferenceKind::Date, "{D}", read_day),
    (
        DifferenceKind::Money,
        r"(?:us\$|[$€£¥₩]|(?:usd|eur|rmb){B})\s?\d[0-9,]*(?:\.\d+)?\s?(?:k{B}|m{B}|bn{B}|million|billion|万|億|亿|만|억)?|\d[0-9,]*(?:\.\d+)?\s?(?:万|億|亿|만|억)?\s?(?:(?:usd|eur|dollars?|euros?|yen){B}|元|块钱?|円|원|人民币|美元)",
        read_money,
    ),
    (DifferenceKind::Percent, r"\d+(?:\.\d+)?\s?(?:%|percent{B}|パーセント|퍼센트)|百分之\d+", read_percent),
    (
        DifferenceKind::Version,
        r"{B}v\d+(?:\.\d+)*(?:[-+][0-9a-z.]+)?|{B}\d+\.\d+\.\d+(?:\.\d+)*(?:[-+][0-9a-z.]+)?|{B}\d+\.\d+-(?:rc|alpha|beta|pre)[0-9.]*",
        read_version,
    ),
    (
        DifferenceKind::Time,
        r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s*[ap]\.?m{B})?|{B}\d{1,2}\s*[ap]\.?m{B}",
        read_clock,
    ),
    (DifferenceKind::Number, r"\d[0-9,]*(?:\.\d+)?\s?(?:時間|시간)", read_number),
    (
        DifferenceKind::Time,
        r"(?:(?:上午|下午|晚上|早上|凌晨|午前|午後|오전|오후)\s*)?\d{1,2}\s*[点點時시](?:\s*(?:\d{1,2}\s*[分분]|半|반))?",
        read_cjk_time,
    ),
    (
        DifferenceKind::Address,
        r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9]+(?::\d{1,5})?{B}|{B}localhost:\d+|{B}[a-z0-9]+(?:-[a-z0-9]+)+:\d{2,5}",
        read_plain,
    ),
    (DifferenceKind::Identifier, r"[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]+{B}", read_hex),
    (
        DifferenceKind::Identifier,
        r"[a-z_][a-z0-9]*(?:(?:_|::|->)[a-z0-9_]+)+|--[a-z][a-z0-9-]+|#\d+|{B}[a-z]+(?:-[a-z]+)*-?\d[a-z0-9-]*",
        read_plain,
    ),
    (DifferenceKind::Number, r"(?:[<>≤≥]=?\s?)?[-+]?\d[0-9,]*(?:\.\d+)?(?:\s?{U})?", read_number),
    (DifferenceKind::Number, r"{B}{N}{B}(?:\s{U})?", read_word_number),
    (
        DifferenceKind::Number,
        r"[〇零一二两三四五六七八九十百]+(?:个月|小时|分钟|秒|天|周|次|个|台|人|年|倍|回|件|時間|週間|日間|名|份|条|点)",
        read_han_number,
    ),
    (
        DifferenceKind::Number,
        r"(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열)\s?(?:번|개|명|대|시간|시|달|주|배)",
        read_korean_number,
    ),
];

static PATTERNS: LazyLock<Regex> = LazyLock::new(|| {
    let all: Vec<String> = RECOGNISERS.iter().map(|(_, p, _)| format!("(?:{})", expand(p))).collect();
    compile(&all.join("|"))
});

static READERS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| RECOGNISERS.iter().map(|(_, p, _)| compile(&format!("^(?:{})$", expand(p)))).collect());

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
        .replace(r"\d", "[0-9]")
        .replace(r"\s", r"[ \t\n]")
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
