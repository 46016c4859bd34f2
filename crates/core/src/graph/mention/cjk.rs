//! Chinese, Japanese and Korean names, told by the role or product word that follows them.

mod words;

use self::words::{
    HAN_BREAKS, HAN_GENERIC, HAN_ROLES, HAN_STOPS, HAN_THINGS, HANGUL_GENERIC, HANGUL_ROLES, HANGUL_SURNAMES,
    HANGUL_THINGS, HONORIFICS, JAPANESE_THINGS, SURNAMES, TWO_SURNAMES,
};
use super::Names;
use crate::graph::label::{Class, PARTICLES, class};

pub(super) fn scan(line: &str, names: &mut Names) {
    if !line.chars().any(|c| matches!(class(c), Class::Han | Class::Katakana | Class::Hangul)) {
        return;
    }
    chinese_people(line, names);
    chinese_things(line, names);
    japanese(line, names);
    korean(line, names);
}

/// `张伟工程师`, `王经理`: a surname, at most two characters, a role.
fn chinese_people(line: &str, names: &mut Names) {
    for role in HAN_ROLES {
        for (at, _) in line.match_indices(role) {
            let before = tail(&line[..at], 4, |c| class(c) == Class::Han);
            let Some(name) = chinese_name(before) else { continue };
            if name.chars().count() == 1 {
                names.add(&format!("{name}{role}"), "person", 0.85);
            } else {
                names.add(name, "person", 0.9);
            }
        }
    }
}

/// The shortest ending that is a name: what stands before it may be any word.
fn chinese_name(before: &str) -> Option<&str> {
    let starts: Vec<usize> = before.char_indices().map(|(at, _)| at).rev().collect();
    let is_surname = |rest: &str| {
        TWO_SURNAMES.iter().any(|s| rest.starts_with(s) && rest.len() > s.len())
            || rest.chars().next().is_some_and(|c| SURNAMES.contains(c))
    };
    // Two characters before three, three before one: `王小明`, `张伟`, `李`.
    let long =
        |length: usize| starts.get(length - 1).map(|at| &before[*at..]).filter(|rest| is_surname(rest));
    let clean = |rest: &&str| !HAN_BREAKS.iter().any(|word| rest.contains(word)) && !rest.contains(HAN_STOPS);
    long(3).filter(clean).or_else(|| long(2).filter(clean)).or_else(|| long(4).filter(clean)).or_else(|| {
        let only = long(1)?;
        let free = before.chars().nth_back(1).is_none_or(|c| HAN_STOPS.contains(&c));
        free.then_some(only)
    })
}

/// `支付网关`, `订单系统`: two to four characters before the word for the thing.
fn chinese_things(line: &str, names: &mut Names) {
    let mut taken = 0;
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for thing in HAN_THINGS {
        ends.extend(line.match_indices(thing).map(|(at, found)| (at, at + found.len())));
    }
    ends.sort_unstable();
    for (at, end) in ends {
        if at < taken {
            continue;
        }
        // `支付服务系统`: the last word for a thing is the one that counts.
        let goes_on = HAN_THINGS.iter().any(|thing| line[end..].starts_with(thing));
        let before = own_part(tail(&line[..at], 6, |c| class(c) == Class::Han));
        let length = before.chars().count();
        if goes_on || !(2..=4).contains(&length) || HAN_GENERIC.iter().any(|word| before.contains(word)) {
            continue;
        }
        taken = end;
        names.add(&line[at - before.len()..end], "service", 0.8);
    }
}

/// What is left of a run of characters behind its last word that cannot be part of a name.
fn own_part(run: &str) -> &str {
    let after_stop =
        run.rfind(HAN_STOPS).map_or(0, |at| at + run[at..].chars().next().map_or(0, char::len_utf8));
    let after_word =
        HAN_BREAKS.iter().filter_map(|word| run.rfind(word).map(|at| at + word.len())).max().unwrap_or(0);
    let own = &run[after_stop.max(after_word)..];
    // `use` by itself, not the beginning of `user`.
    own.strip_prefix('用').filter(|_| !own.starts_with("用户")).unwrap_or(own)
}

/// `田中さん`, `バックアップサーバー`, `決済サービス`.
fn japanese(line: &str, names: &mut Names) {
    for honorific in HONORIFICS {
        for (at, _) in line.match_indices(honorific) {
            let han = tail(&line[..at], 4, |c| class(c) == Class::Han);
            let kana = tail(&line[..at], 8, |c| class(c) == Class::Katakana);
            let name = if han.is_empty() { kana } else { han };
            if name.chars().count() >= 2 && !HAN_GENERIC.contains(&name) {
                names.add(name, "person", 0.9);
            }
        }
    }
    for thing in JAPANESE_THINGS {
        for (at, found) in line.match_indices(thing) {
            let free = line[at + found.len()..].chars().next().is_none_or(|c| class(c) != Class::Katakana);
            let han = own_part(tail(&line[..at], 4, |c| class(c) == Class::Han));
            let kana = tail(&line[..at], 12, |c| class(c) == Class::Katakana);
            let before = if han.is_empty() { kana } else { han };
            if free && before.chars().count() >= 2 && !HAN_GENERIC.contains(&before) {
                names.add(&line[at - before.len()..at + found.len()], "service", 0.8);
            }
        }
    }
}

/// `김민수 팀장`, `결제 서비스`, `주문서버`.
fn korean(line: &str, names: &mut Names) {
    let words: Vec<&str> =
        line.split(|c: char| class(c) != Class::Hangul && class(c) != Class::Word).collect();
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    for (at, word) in words.iter().enumerate() {
        let bare = without_particle(word);
        let before = at.checked_sub(1).map(|b| words[b]).filter(|b| stands_before(line, b, word));
        if let Some(person) = HANGUL_ROLES.iter().find_map(|role| korean_person(bare, before, role)) {
            names.add(person, "person", 0.85);
        }
        for thing in HANGUL_THINGS {
            let Some(own) = bare.strip_suffix(thing) else { continue };
            if own.is_empty() {
                let Some(before) = before.filter(|b| is_modifier(b)) else { continue };
                names.add(&format!("{before} {thing}"), "service", 0.8);
            } else if own.chars().count() >= 2 && !HANGUL_GENERIC.contains(&own) && all_hangul(own) {
                names.add(bare, "service", 0.8);
            }
            break;
        }
    }
}

fn korean_person<'a>(bare: &'a str, before: Option<&'a str>, role: &str) -> Option<&'a str> {
    let own = bare.strip_suffix(role)?;
    let name = if own.is_empty() { before? } else { own };
    let length = name.chars().count();
    let is_name = (2..=4).contains(&length)
        && all_hangul(name)
        && name.chars().next().is_some_and(|c| HANGUL_SURNAMES.contains(c))
        && !HANGUL_GENERIC.contains(&name);
    // Two syllables alone may be any word.
    (is_name && length == 3).then_some(name)
}

fn all_hangul(word: &str) -> bool {
    word.chars().all(|c| class(c) == Class::Hangul)
}

/// Whether a word can be the first part of a name of two words: a bare noun.
fn is_modifier(word: &str) -> bool {
    const ENDINGS: &[char] = &[
        '은', '는', '이', '가', '을', '를', '의', '에', '서', '도', '한', '된', '할', '인', '적', '고', '며',
        '면', '로', '와', '과', '운', '던', '들', '든', '른', '게', '큰', '라', '린', '진', '난', '간',
    ];
    let length = word.chars().count();
    (2..=6).contains(&length)
        && all_hangul(word)
        && !word.ends_with(ENDINGS)
        && !HANGUL_GENERIC.contains(&word)
}

/// Whether one word stands right before another, one space between them.
fn stands_before(line: &str, before: &str, word: &str) -> bool {
    line.contains(&format!("{before} {word}"))
}

fn without_particle(word: &str) -> &str {
    let fits = |particle: &&&str| word.strip_suffix(**particle).is_some_and(|rest| rest.chars().count() >= 2);
    let longest = PARTICLES.iter().filter(fits).max_by_key(|particle| particle.len());
    longest.and_then(|particle| word.strip_suffix(*particle)).unwrap_or(word)
}

/// The last characters of a text that belong together, at most `most`.
fn tail(text: &str, most: usize, belongs: impl Fn(char) -> bool) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take(most)
        .take_while(|(_, c)| belongs(*c))
        .last()
        .map_or(text.len(), |(at, _)| at);
    &text[start..]
}
