//! Made-up conversation turns, the same everywhere.

/// Turns of one session.
const SESSION: usize = 40;
/// Words of the invented vocabulary.
const VOCABULARY: usize = 20_000;

/// `count` events in the layout of `strata import`.
pub(super) fn events(count: usize) -> String {
    events_from(0, count)
}

/// The same from the `first`-th sentence on, with ids and sessions of their own.
pub(crate) fn events_from(first: usize, count: usize) -> String {
    let mut lines = String::new();
    for n in first..first + count {
        let event = serde_json::json!({
            "id": format!("turn-{n}"),
            "session": format!("session-{}", n / SESSION),
            "at": format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + n / 1_440 % 28, n / 60 % 24, n % 60),
            "speaker": if n % 2 == 0 { "Ada" } else { "Bo" },
            "text": sentence(n),
        });
        lines.push_str(&event.to_string());
        lines.push('\n');
    }
    lines
}

/// The `n`-th sentence: 24 words, common ones more often than rare ones.
pub(crate) fn sentence(n: usize) -> String {
    let mut state = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut words = Vec::with_capacity(24);
    for _ in 0..24 {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let share = (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f64 / f64::from(1 << 24);
        words.push(word((VOCABULARY as f64).powf(share) as usize));
    }
    words.join(" ")
}

fn word(rank: usize) -> String {
    const ONSETS: [&str; 14] = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"];
    const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
    let mut rest = rank + 70;
    let mut out = String::new();
    while rest > 0 {
        out.push_str(ONSETS[rest % 70 / 5]);
        out.push_str(VOWELS[rest % 5]);
        rest /= 70;
    }
    out
}
