//! Time expressions in passages and questions about time in queries.

use std::sync::LazyLock;

use regex::Regex;

/// English month names in order; the first three letters are their abbreviations.
pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether normalised text names a point or span of time, in English, Chinese, Japanese or Korean.
pub(super) fn has_time_expression(text: &str) -> bool {
    ENGLISH_TIME.is_match(text) || (!text.is_ascii() && CJK_TIME.is_match(text))
}

/// Whether a normalised query asks when something was, or how long.
pub(super) fn asks_when(text: &str) -> bool {
    ENGLISH_WHEN.is_match(text) || (!text.is_ascii() && CJK_WHEN.is_match(text))
}

pub(super) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that the tests compile")
}

static ENGLISH_TIME: LazyLock<Regex> = LazyLock::new(|| {
    let season = "summer|winter|spring|fall|autumn";
    let past =
        format!("last (?:week|month|year|night|weekend|{season}|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)");
    let coming = "next (?:week|month|year|weekend|summer)";
    let current = "this (?:week|month|year|weekend|morning|summer)";
    let weekday = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
    let span = "(?:few|[0-9]+|two|three|four|five|six|seven|eight|nine|ten) (?:days|weeks|months|years)";
    let single = "yesterday|today|tonight|tomorrow|ago|recently|just|since|weekend|(?:19|20)[0-9][0-9]";
    let months = MONTHS.join("|");
    compile(&format!(r"(?i-u)\b(?:{single}|{past}|{coming}|{current}|{weekday}|{months}|{span})\b"))
});

static CJK_TIME: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        "昨天|今天|明天|前天|[后後]天|昨晚|今晚|去年|今年|明年|前年|[上下这這本][个個]?(?:周|週|星期|月)|今[周週]|",
        "(?:星期|[周週礼禮]拜?)[一二三四五六日天]|[天日周週月年]前|小时前|小時前|最近|刚才|剛才|",
        "[0-9一二三四五六七八九十〇]+ ?[年月日号號]|世纪|世紀|年代|",
        "昨日|今日|明日|一昨日|先[週月日]|来[週月年]|今[週月]|昨年|[月火水木金土日]曜|",
        "어제|오늘|내일|그저께|모레|지난 ?[주달해]|다음 ?[주달해]|이번 ?[주달]|작년|올해|내년|[월화수목금토일]요일|",
        "[0-9]+ ?[년월일]|[일주달년] ?전|최근|방금|세기",
    ))
});

static ENGLISH_WHEN: LazyLock<Regex> = LazyLock::new(|| {
    let opening = r#"(?:^[ '"(]*|[,;:.!?] *|\b(?:and|so|but|since) )when\b"#;
    let asking = r"\bwhen (?:did|do|does|was|were|is|are|will|has|have|had|should|can)\b";
    let other = r"\b(?:how long|what (?:date|day|month|year|time)|which (?:month|year|day))\b";
    compile(&format!("(?i-u){opening}|{asking}|{other}"))
});

static CJK_WHEN: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        "什么时[候间]|什麼時[候間]|何[时時年月日]|哪一?[年天月日]|哪个月|哪個月|几[年月号日点]|幾[年月號日點]|多久|多长时间|多長時間|",
        "いつ|どのくらい|どれくらい|언제|몇 ?[년월일시]|며칠|얼마나 오래",
    ))
});
