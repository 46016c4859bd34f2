//! The advisory router: where an item would belong.
//!
//! Deterministic: markers from one table and the structure of the lines, no model. It only annotates; no
//! write changes its way because of it.

mod markers;

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use crate::memory::Kind;
use markers::MARKERS;

/// Where the router says an item belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Route {
    /// The derived table of contents.
    L0Index,
    /// Knowledge files of the vault.
    L1Knowledge,
    /// The todo list.
    Todo,
    /// The agent's skills.
    Skill,
    /// The profile of the user.
    UserProfile,
    /// Another memory that the agent owns.
    AgentOther,
    /// The log of changes to the memory itself.
    MemoryChangelog,
    /// Nothing tells.
    Undecided,
    /// Not worth keeping beyond the session.
    Ephemeral,
}

impl Route {
    /// Every route, in documentation order.
    pub const ALL: [Self; 9] = [
        Self::L0Index,
        Self::L1Knowledge,
        Self::Todo,
        Self::Skill,
        Self::UserProfile,
        Self::AgentOther,
        Self::MemoryChangelog,
        Self::Undecided,
        Self::Ephemeral,
    ];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L0Index => "l0_index",
            Self::L1Knowledge => "l1_knowledge",
            Self::Todo => "todo",
            Self::Skill => "skill",
            Self::UserProfile => "user_profile",
            Self::AgentOther => "agent_other",
            Self::MemoryChangelog => "memory_changelog",
            Self::Undecided => "undecided",
            Self::Ephemeral => "ephemeral",
        }
    }
}

/// Where an item belongs, and the marker or structure that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The route.
    pub route: Route,
    /// What decided, for people: the marker in quotes, or the structure.
    pub reason: String,
}

/// Routes that win a tie, first to last.
const PRECEDENCE: [Route; 8] = [
    Route::Todo,
    Route::Skill,
    Route::UserProfile,
    Route::AgentOther,
    Route::MemoryChangelog,
    Route::Ephemeral,
    Route::L0Index,
    Route::L1Knowledge,
];
/// Two numbered lines, commands or ticks make a procedure.
const STEPS: usize = 2;
/// So many log lines of all lines make a log excerpt, in percent.
const LOG_SHARE: usize = 40;
/// Routes with less than this weight are not suggested.
const LEAST_WEIGHT: u32 = 2;

/// Suggests where `text` belongs; `None` when nothing in it tells. A `kind` that names the place by itself
/// (preference, procedure, skill) counts as evidence.
pub fn suggest(text: &str, kind: Option<&Kind>) -> Option<Suggestion> {
    let shape = Shape::of(text);
    if shape.is_log() {
        return Some(Suggestion { route: Route::Ephemeral, reason: "reads like a log excerpt".to_owned() });
    }
    let mut scores = Scores::default();
    for (route, weight, marker) in markers_in(text) {
        scores.add(route, weight, || format!("marker \"{marker}\""));
    }
    score_structure(&shape, &mut scores);
    match kind.map(Kind::as_str) {
        Some("preference") => scores.add(Route::UserProfile, 2, || "kind preference".to_owned()),
        Some("skill" | "procedure") => scores.add(Route::Skill, 2, || "kind names a procedure".to_owned()),
        _ => {}
    }
    scores.best()
}

fn score_structure(shape: &Shape, scores: &mut Scores) {
    if shape.unticked > 0 {
        scores.add(Route::Todo, 3, || "open checkbox".to_owned());
    }
    let steps = shape.numbered.max(shape.commands);
    if steps >= STEPS {
        scores.add(Route::Skill, 3, || format!("{steps} steps or commands"));
    } else if !scores.has_sequence {
        // "Deploy" or "run" in a sentence is no procedure without steps.
        scores.drop_route(Route::Skill);
    }
}

/// The weights found so far, with the reason of the heaviest evidence for each route.
#[derive(Default)]
struct Scores {
    found: Vec<(Route, u32, u32, String)>,
    /// Whether the text tells an order in words: "first ..., then ...".
    has_sequence: bool,
}

impl Scores {
    fn add(&mut self, route: Route, weight: u32, reason: impl FnOnce() -> String) {
        self.has_sequence |= route == Route::Skill && weight >= 3;
        match self.found.iter_mut().find(|entry| entry.0 == route) {
            Some(entry) => {
                entry.1 += weight;
                if weight > entry.2 {
                    (entry.2, entry.3) = (weight, reason());
                }
            }
            None => self.found.push((route, weight, weight, reason())),
        }
    }

    fn drop_route(&mut self, route: Route) {
        self.found.retain(|entry| entry.0 != route);
    }

    fn best(self) -> Option<Suggestion> {
        let rank = |route: Route| PRECEDENCE.iter().position(|r| *r == route).unwrap_or(PRECEDENCE.len());
        let candidates = self.found.into_iter().filter(|entry| entry.1 >= LEAST_WEIGHT);
        let best = candidates.max_by_key(|entry| (entry.1, std::cmp::Reverse(rank(entry.0))))?;
        Some(Suggestion { route: best.0, reason: best.3 })
    }
}

static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(MARKERS.iter().map(|m| m.text))
        .expect("a few hundred short literals fit the automaton")
});

/// The distinct markers in the text. An ASCII marker must stand as words of its own; one in capitals only
/// counts in capitals.
fn markers_in(text: &str) -> Vec<(Route, u32, &'static str)> {
    let mut seen = vec![false; MARKERS.len()];
    let mut found = Vec::new();
    for hit in AUTOMATON.find_iter(text) {
        let row = hit.pattern().as_usize();
        let marker = &MARKERS[row];
        let written = &text[hit.start()..hit.end()];
        let is_capital =
            marker.text.bytes().any(|b| b.is_ascii_uppercase()) && marker.text.to_uppercase() == marker.text;
        let fits = !marker.text.is_ascii() || is_word(text, hit.start(), hit.end());
        if fits && !seen[row] && (!is_capital || written == marker.text) {
            seen[row] = true;
            found.push((marker.route, marker.weight, marker.text));
        }
    }
    found
}

fn is_word(text: &str, start: usize, end: usize) -> bool {
    let part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    !part(before) && !part(text.as_bytes().get(end))
}

/// How the lines of a text are built.
#[derive(Default)]
struct Shape {
    lines: usize,
    numbered: usize,
    unticked: usize,
    commands: usize,
    log: usize,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            shape.lines += 1;
            shape.numbered += usize::from(is_numbered(line));
            shape.unticked += usize::from(is_unticked(line));
            shape.commands += usize::from(is_command(line));
            shape.log += usize::from(is_log_line(line));
        }
        shape
    }

    fn is_log(&self) -> bool {
        self.log >= 2 && self.log * 100 >= self.lines * LOG_SHARE
    }
}

/// `1.`, `2)`, `3、`, `第1步`, `Step 1`.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(['#', '*', ' ']);
    let step = rest.strip_prefix('第').map(|r| (r, "步")).or_else(|| {
        let word = rest.get(..5).filter(|word| word.eq_ignore_ascii_case("step "));
        word.map(|word| (&rest[word.len()..], ""))
    });
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some((tail, unit)) = step {
        let after =
            tail.trim_start_matches(|c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c));
        return after.len() < tail.len() && after.starts_with(unit);
    }
    let count = digits(rest);
    (1..=2).contains(&count)
        && (rest[count..].starts_with(". ") || rest[count..].starts_with([')', '、', '）']))
}

fn is_unticked(line: &str) -> bool {
    let rest = line.trim_start_matches(['-', '*', '+', ' ']);
    rest.len() < line.len() && (rest.starts_with("[ ]") || rest.starts_with("[]"))
}

fn is_command(line: &str) -> bool {
    let rest = line.trim_start_matches(['$', '>', '`', ' ']);
    let rest = rest.strip_prefix("sudo ").unwrap_or(rest);
    let prompted = line.starts_with("$ ");
    prompted
        || markers::COMMANDS.iter().any(|name| rest.strip_prefix(name).is_some_and(|r| r.starts_with(' ')))
}

/// A date and time, a time with seconds, or a level word in front, a stack frame.
fn is_log_line(line: &str) -> bool {
    let bytes = line.as_bytes();
    let pattern = |at: usize, shape: &[u8]| {
        bytes.len() >= at + shape.len()
            && shape
                .iter()
                .zip(&bytes[at..])
                .all(|(s, b)| if *s == b'0' { b.is_ascii_digit() } else { s == b })
    };
    let open = usize::from(line.starts_with('['));
    let stamped =
        pattern(open, b"00:00:00") || (pattern(open, b"0000-00-00") && pattern(open + 11, b"00:00"));
    let level = ["DEBUG", "INFO", "WARN", "WARNING", "ERROR", "TRACE", "FATAL"].iter().any(|level| {
        line[open..].strip_prefix(level).is_some_and(|rest| rest.starts_with([':', ']', ' ', '|']))
    });
    let frame = line.starts_with("Traceback")
        || (line.starts_with("File \"") && line.contains(", line "))
        || line.starts_with("at ") && line.ends_with(')');
    stamped || level || frame
}
