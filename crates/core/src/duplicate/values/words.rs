//! The words that values are written with.

pub(super) const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

pub(super) const MONTH: &str = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";

/// Unit words by canonical unit. Longer spellings come first where one begins another.
pub(super) const UNITS: &[(&str, &str)] = &[
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

pub(super) const NUMBER_WORDS: [(&str, u32); 20] = [
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

pub(super) const KOREAN_NUMBERS: [(&str, u32); 10] = [
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
pub(super) const DAYS: &[(&str, &str)] = &[
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
