//! When two labels name one thing, and whether a text names it.

use unicode_normalization::UnicodeNormalization;

/// The longest label, in characters.
pub const MAX_LABEL: usize = 200;

/// What labels are compared by: NFKC, case folded, white space as one space, invisible characters gone.
pub fn key(label: &str) -> String {
    let mut key = String::with_capacity(label.len());
    for c in label.nfkc().flat_map(char::to_lowercase) {
        match c {
            c if c.is_whitespace() => {
                if !key.is_empty() && !key.ends_with(' ') {
                    key.push(' ');
                }
            }
            'ß' => key.push_str("ss"),
            'ς' => key.push('σ'),
            // What the lower case of a dotted capital I leaves behind.
            '\u{0307}' if key.ends_with('i') => {}
            c if is_invisible(c) => {}
            c => key.push(c),
        }
    }
    key.truncate(key.trim_end().len());
    key
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
        || c.is_control()
}

/// How a character joins with its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Letters and digits that form words between spaces.
    Word,
    /// Chinese characters.
    Han,
    /// Katakana and its length mark.
    Katakana,
    /// Hiragana.
    Hiragana,
    /// Hangul.
    Hangul,
    /// Everything else.
    Other,
}

pub(super) fn class(c: char) -> Class {
    match u32::from(c) {
        0x3041..=0x3096 | 0x309D..=0x309F => Class::Hiragana,
        0x30A1..=0x30FA | 0x30FC..=0x30FF => Class::Katakana,
        0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => {
            Class::Han
        }
        0x1100..=0x11FF | 0x3131..=0x318E | 0xAC00..=0xD7A3 => Class::Hangul,
        _ if c.is_alphanumeric() || c == '_' => Class::Word,
        _ => Class::Other,
    }
}

/// How many characters of a label its entities are looked up by.
const HEAD: usize = 3;
/// The same for scripts whose characters say more.
const CJK_HEAD: usize = 2;

/// The beginning of a label's key, by which entities are found that a text may name.
pub fn head(key: &str) -> String {
    key.chars().take(head_length(key)).collect()
}

fn head_length(key: &str) -> usize {
    match key.chars().next().map(class) {
        Some(Class::Word | Class::Other) | None => HEAD,
        Some(_) => CJK_HEAD,
    }
}

/// Most beginnings that one text is looked up by.
const MAX_HEADS: usize = 400;

/// The beginnings of all labels that may stand at these places, sorted.
pub fn heads<'t>(places: &[Place<'t>]) -> Vec<&'t str> {
    let mut heads = std::collections::BTreeSet::new();
    for place in places {
        heads.extend(place.heads());
        if heads.len() >= MAX_HEADS {
            break;
        }
    }
    heads.into_iter().collect()
}

/// Most characters that a label's key may have to be noticed in a text: normalisation makes a label of
/// [`MAX_LABEL`] characters longer only where ligatures stand in it.
const REACH: usize = 2 * MAX_LABEL;

/// A place in a text where a name may begin.
#[derive(Debug, Clone, Copy)]
pub struct Place<'t> {
    text: &'t str,
    start: usize,
    /// No name that begins here ends behind this.
    reach: usize,
}

/// The places where a name may begin, in order; the text is as [`key`] gives it.
pub fn places(text: &str) -> Vec<Place<'_>> {
    let mut before = Class::Other;
    let mut places = Vec::new();
    for (start, c) in text.char_indices() {
        let now = class(c);
        if begins(now, before, c) {
            let reach = text[start..].char_indices().nth(REACH).map_or(text.len(), |(at, _)| start + at);
            places.push(Place { text, start, reach });
        }
        before = now;
    }
    places
}

/// Whether a name may begin with a character behind one of class `before`.
fn begins(now: Class, before: Class, c: char) -> bool {
    match now {
        Class::Word => before != Class::Word,
        Class::Other => !c.is_whitespace() && before != Class::Word,
        _ => true,
    }
}

impl<'t> Place<'t> {
    /// The beginnings, as [`head`] gives them, of the labels that may stand here.
    pub fn heads(&self) -> impl Iterator<Item = &'t str> {
        let rest = &self.text[self.start..];
        let end = move |length: usize| rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        (2..=head_length(rest)).map(move |length| &rest[..end(length)])
    }

    /// The longest text of at most `most` bytes that would be a name if it were a label.
    pub fn longest(&self, most: usize) -> Option<&'t str> {
        let end = self.reach.min(self.start.saturating_add(most));
        let rest = self.text[self.start..self.reach].char_indices().rev();
        let ends = rest.map(|(at, c)| self.start + at + c.len_utf8()).skip_while(|at| *at > end);
        ends.map(|end| self.start..end)
            .find(|range| {
                let name = &self.text[range.clone()];
                !name.ends_with(' ') && stands_alone(self.text, range) && is_telling(name)
            })
            .map(|range| &self.text[range])
    }
}

/// Where the text names the label, both as [`key`] gives them: byte ranges in the text, in order.
pub fn occurrences(text: &str, label: &str) -> Vec<std::ops::Range<usize>> {
    if !is_telling(label) {
        return Vec::new();
    }
    text.match_indices(label)
        .map(|(at, found)| at..at + found.len())
        .filter(|range| stands_alone(text, range))
        .collect()
}

/// Whether a label is long enough to be told from an ordinary word.
fn is_telling(label: &str) -> bool {
    let letters = label.chars().filter(|c| class(*c) != Class::Other).count();
    let is_word = label.chars().all(|c| matches!(class(c), Class::Word | Class::Other));
    letters >= if is_word { HEAD } else { CJK_HEAD }
}

/// Whether what stands there is a name of its own and not a piece of a longer one.
fn stands_alone(text: &str, range: &std::ops::Range<usize>) -> bool {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let named = &text[range.clone()];
    let first = named.chars().next().map_or(Class::Other, class);
    let last = named.chars().next_back().map_or(Class::Other, class);
    let free_before = match before.chars().next_back() {
        None => true,
        Some(c) if c.is_whitespace() => true,
        Some('.' | '/' | '@' | '\\') => !before.chars().nth_back(1).is_some_and(char::is_alphanumeric),
        Some(c) => first == Class::Han || class(c) != first,
    };
    let free_after = match after.chars().next() {
        None => true,
        Some(c) if c.is_whitespace() => true,
        Some('.' | '/' | '@' | '\\') => !after.chars().nth(1).is_some_and(|next| class(next) == Class::Word),
        Some(c) if last == Class::Hangul && class(c) == Class::Hangul => begins_with_particle(after),
        Some(c) => last == Class::Han || class(c) != last,
    };
    free_before && free_after
}

/// Korean endings that attach to a name.
pub(super) const PARTICLES: [&str; 36] = [
    "으로부터",
    "이라는",
    "에서는",
    "에서",
    "에게",
    "께서",
    "부터",
    "까지",
    "처럼",
    "보다",
    "라는",
    "으로",
    "이나",
    "이랑",
    "에는",
    "와는",
    "과는",
    "로는",
    "입니다",
    "이다",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "에",
    "의",
    "와",
    "과",
    "로",
    "도",
    "만",
    "나",
    "랑",
    "님",
];

fn begins_with_particle(text: &str) -> bool {
    let ends = |rest: &str| rest.chars().next().is_none_or(|c| class(c) != Class::Hangul);
    PARTICLES.iter().any(|particle| text.strip_prefix(particle).is_some_and(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_width_and_spaces_do_not_matter() {
        assert_eq!(key("  Payment\u{3000}Service "), "payment service");
        assert_eq!(key("ＲＥＤＩＳ"), "redis");
        assert_eq!(key("Straße"), key("STRASSE"));
        assert_eq!(key("ΟΔΟΣ"), key("οδος"));
        assert_eq!(key("İzmir"), "izmir");
        assert_ne!(key("100%"), key("100"));
    }

    #[test]
    fn names_are_found_where_they_stand_alone() {
        let named = |text: &str, label: &str| !occurrences(&key(text), &key(label)).is_empty();
        assert!(named("Redis is slow.", "redis"));
        assert!(named("the redis-backed cache", "Redis"));
        assert!(named("we use @scope/name and C++ here", "@scope/name"));
        assert!(named("we use @scope/name and net++ here", "net++"));
        assert!(named("redis를 다시 시작했다", "redis"));
        assert!(named("결제서비스가 느리다", "결제서비스"));
        assert!(named("我们重启了支付网关。", "支付网关"));
        assert!(!named("see redis.conf", "redis"));
        assert!(!named("credistribution", "redis"));
        assert!(!named("결제서비스팀장", "결제서비스"));
        assert!(!named("I fixed it", "I"), "one letter tells nothing");
    }

    #[test]
    fn the_longest_name_at_a_place_ends_where_a_name_may() {
        let text = key("Order-Service 12 of 결제서비스는");
        let places = places(&text);
        let longest = |at: usize, most: usize| places[at].longest(most);
        assert_eq!(longest(0, 400), Some(text.as_str()));
        assert_eq!(longest(0, 15), Some("order-service"));
        assert_eq!((longest(0, 12), longest(0, 4)), (Some("order-"), None));
        let last = places.iter().find(|place| place.heads().any(|head| head == "결제")).expect("there");
        assert_eq!(last.longest("결제서비스".len()), Some("결제서비스"));
        assert_eq!(last.longest("결제서비".len()), None, "a piece of a longer one");
    }

    #[test]
    fn every_label_that_is_found_has_its_head_in_the_text() {
        for (text, label) in [
            ("Redis is slow", "redis"),
            ("我们重启了支付网关", "支付网关"),
            ("the go-live", "go-live"),
            ("결제서비스가", "결제서비스"),
            ("Use @scope/name now", "@scope/name"),
        ] {
            let (text, label) = (key(text), key(label));
            let places = places(&text);
            assert!(heads(&places).contains(&head(&label).as_str()), "{label}");
            assert!(places.iter().any(|place| place.longest(label.len()) == Some(&label)), "{label}");
        }
    }
}
