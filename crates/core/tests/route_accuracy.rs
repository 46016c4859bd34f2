//! Measures the router on labelled examples and prints every wrong one.

use std::collections::BTreeMap;

use serde_json::Value;
use strata_core::memory::Kind;
use strata_core::route::{Item, Route, SignalKind, built_in, suggest};

const LABELLED: &str = include_str!("../testdata/route/labelled.jsonl");
/// Of every language at least thirty examples for each route, written for this project.
const LANGUAGES: [(&str, &str); 4] = [
    ("english", include_str!("../testdata/route/english.jsonl")),
    ("chinese", include_str!("../testdata/route/chinese.jsonl")),
    ("japanese", include_str!("../testdata/route/japanese.jsonl")),
    ("korean", include_str!("../testdata/route/korean.jsonl")),
];
/// Eight more for each route and language, written without a look at the markers once the rules were made.
const HELD_OUT: &str = include_str!("../testdata/route/held_out.jsonl");
/// The routes of the examples; the router decides for no other.
const ROUTES: [Route; 7] = [
    Route::Todo,
    Route::Skill,
    Route::UserProfile,
    Route::AgentOther,
    Route::Ephemeral,
    Route::L1Knowledge,
    Route::Undecided,
];

/// How often each label got each route, and what went wrong.
#[derive(Default)]
struct Confusion {
    counts: [[usize; ROUTES.len()]; ROUTES.len()],
    wrong: Vec<String>,
}

impl Confusion {
    fn of(rows: &str) -> Self {
        let mut confusion = Self::default();
        for line in rows.lines() {
            let row: Value = serde_json::from_str(line).expect("corpus lines are JSON");
            let content = row["text"].as_str().expect("a text");
            let label = row["route"].as_str().and_then(Route::parse).expect("a known route");
            let found = built_in().classify(&Item { content, ..Item::default() });
            if found.route != label {
                let (label, given) = (label.as_str(), found.route.as_str());
                confusion.wrong.push(format!("WRONG {label} -> {given} ({}): {content:?}", found.reason));
            }
            let place =
                |route: Route| ROUTES.iter().position(|r| *r == route).expect("a route it decides for");
            confusion.counts[place(label)][place(found.route)] += 1;
        }
        confusion
    }

    fn count(&self, label: usize) -> usize {
        self.counts[label].iter().sum()
    }

    /// Of the examples that should get the route, how many do; of those that do, how many should. Percent.
    fn recall_and_precision(&self, route: usize) -> (usize, usize) {
        let right = self.counts[route][route];
        let given: usize = self.counts.iter().map(|row| row[route]).sum();
        (right * 100 / self.count(route).max(1), right * 100 / given.max(1))
    }

    /// Of the examples that got a route, the percentage that should have another one.
    fn misled(&self) -> usize {
        let undecided = ROUTES.len() - 1;
        let routed: usize = self.counts.iter().map(|row| row[..undecided].iter().sum::<usize>()).sum();
        let right: usize = (0..undecided).map(|route| self.counts[route][route]).sum();
        (routed - right) * 100 / routed.max(1)
    }

    fn accuracy(&self) -> usize {
        let right: usize = (0..ROUTES.len()).map(|route| self.counts[route][route]).sum();
        let total: usize = (0..ROUTES.len()).map(|route| self.count(route)).sum();
        right * 100 / total.max(1)
    }

    /// The wrong ones, and the counts as a table.
    fn report(&self, language: &str) -> String {
        let mut lines = self.wrong.clone();
        lines.push(format!(
            "{language}: {} % right; rows are labels, columns what the router gave",
            self.accuracy()
        ));
        for (label, row) in self.counts.iter().enumerate() {
            let (recall, precision) = self.recall_and_precision(label);
            let name = ROUTES[label].as_str();
            lines.push(format!("  {name:<13} {row:>3?}  recall {recall} %, precision {precision} %"));
        }
        lines.join("\n")
    }
}

/// The bars are below what was measured when the examples were written (docs/adr/0025); the same author wrote examples and
/// markers, so that they say whether the rules hold, not how they do on foreign text.
#[test]
fn every_language_is_routed() {
    for (language, rows) in LANGUAGES {
        let confusion = Confusion::of(rows);
        println!("{}", confusion.report(language));
        for (label, route) in ROUTES.iter().enumerate() {
            assert!(
                confusion.count(label) >= 30,
                "{language} has {} of {}",
                confusion.count(label),
                route.as_str()
            );
            let (recall, precision) = confusion.recall_and_precision(label);
            assert!(recall >= 80 && precision >= 80, "{language} {}: {recall}, {precision}", route.as_str());
        }
        assert!(confusion.accuracy() >= 90, "{language}: {} %", confusion.accuracy());
    }
}

/// A router of words misses what is said in other words. What it must not do is send a text to a wrong place.
#[test]
fn what_was_held_out_is_seldom_misled() {
    let confusion = Confusion::of(HELD_OUT);
    println!("{}", confusion.report("held out"));
    println!("  {} % of those that got a route got a wrong one", confusion.misled());
    assert!(confusion.misled() <= 5, "{} % misled", confusion.misled());
    assert!(confusion.accuracy() >= 55, "{} % right", confusion.accuracy());
}

#[test]
fn every_decision_explains_itself() {
    for line in LANGUAGES.iter().flat_map(|(_, rows)| rows.lines()) {
        let row: Value = serde_json::from_str(line).expect("corpus lines are JSON");
        let content = row["text"].as_str().expect("a text");
        let found = built_in().classify(&Item { content, ..Item::default() });
        assert!(!found.reason.is_empty());
        assert!((0.0..=1.0).contains(&found.score));
        assert_eq!(
            found,
            built_in().classify(&Item { content, ..Item::default() }),
            "the same text, the same decision"
        );
        for signal in found.signals.iter().filter(|s| s.kind == SignalKind::Marker) {
            let written = &content[signal.span.clone().expect("a marker stands somewhere")];
            assert_eq!(written.to_lowercase().replace('’', "'"), signal.name.to_lowercase(), "{content}");
            assert!(signal.line >= 1);
        }
    }
}

#[test]
fn labelled_examples_are_routed() {
    let mut routes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in LABELLED.lines() {
        let row: Value = serde_json::from_str(line).expect("corpus lines are JSON");
        let (label, text) =
            (row["route"].as_str().unwrap_or_default(), row["text"].as_str().unwrap_or_default());
        let suggestion = suggest(text, None);
        let given = suggestion.as_ref().map_or("none", |s| s.route.as_str());
        let count = routes.entry(label.to_owned()).or_default();
        count.0 += 1;
        if given == label {
            count.1 += 1;
        } else {
            println!("WRONG {label} -> {given} {:?}: {text:?}", suggestion.map(|s| s.reason));
        }
    }
    let (total, right) = routes.values().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    for (route, (total, right)) in &routes {
        println!("{route:<14} {right}/{total}");
    }
    println!("accuracy {right}/{total}");
    for route in ["todo", "ephemeral", "user_profile", "skill"] {
        assert!(routes[route].0 >= 15, "{route}");
    }
    assert!(right * 100 >= total * 90, "{right} of {total} right");
}

#[test]
fn a_reason_names_the_marker_and_the_kind_counts() {
    let todo = suggest("TODO write it down", None).expect("a marker");
    assert_eq!((todo.route, todo.reason.as_str()), (Route::Todo, "marker \"TODO\""));
    let preference = Kind::parse("preference").expect("a known kind");
    let profile = suggest("short answers, no lists", Some(&preference)).expect("the kind tells");
    assert_eq!((profile.route, profile.reason.as_str()), (Route::UserProfile, "kind preference"));
    assert_eq!(suggest("", None), None);
}

#[test]
fn odd_input_is_no_trouble() {
    for text in ["第", "第步", "step ", "[", "0", "- [", "$", "\u{0}", "é第1步", "step é"] {
        let _unused: Option<_> = suggest(text, None);
    }
    assert_eq!(Route::ALL.len(), 9);
}
