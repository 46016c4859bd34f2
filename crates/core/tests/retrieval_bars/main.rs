//! Retrieval quality on labelled sets, which are not part of the project: set `STRATA_DATA` to their folder.
//! Without it the tests say so and pass.

#![allow(clippy::print_stdout, reason = "the figures are what these tests are run for")]

mod data;
mod embed;
mod measure;
mod unrelated;

use data::Scope;
use embed::StaticTable;
use measure::{Figures, Ready};
use strata_core::rank::{Floor, Settings};
use unrelated::UNRELATED;

/// The sets and the least hit@10 and MRR@10: by keyword alone, and with the static table.
const BARS: [(&str, [f64; 2], [f64; 2]); 4] = [
    ("locomo-dev", [0.84, 0.62], [0.87, 0.65]),
    ("locomo-facts", [0.77, 0.0], [0.80, 0.0]),
    ("cmrc", [0.90, 0.73], [0.90, 0.73]),
    ("cosqa", [0.82, 0.63], [0.82, 0.63]),
];

fn load(folder: &std::path::Path, name: &str) -> Vec<Scope> {
    let file = folder.join(format!("{name}.json"));
    if file.is_file() { data::locomo(&file) } else { data::jsonl(&folder.join(name)) }
}

#[test]
fn the_bars_are_met_on_every_set_with_one_set_of_weights() {
    let Some(folder) = data::folder() else { return };
    let table = StaticTable::load(&folder);
    let settings = Settings::default();
    for (name, keyword_bar, static_bar) in BARS {
        let scopes = load(&folder, name);
        let mut keyword = Figures::default();
        let legs = [("keyword", None, keyword_bar), ("static", table.as_ref(), static_bar)];
        for (leg, table, bar) in legs {
            if leg == "static" && table.is_none() {
                continue;
            }
            let ready: Vec<Ready<'_>> = scopes.iter().map(|s| Ready::new(s, table)).collect();
            let figures = Figures::of(&ready, &settings);
            println!("{}", figures.row(&format!("{name} {leg}")));
            if leg == "keyword" {
                keyword = figures;
            }
            assert!(figures.hit10 >= bar[0] && figures.mrr10 >= bar[1], "{name} {leg} is below {bar:?}");
            assert!(figures.mrr10 >= keyword.mrr10 - 0.005, "{name}: the static table must not hurt");
        }
    }
}

/// Largest share of unrelated questions that may get any result: by keyword alone, and with the static table.
const MOST_ANSWERED: [f64; 2] = [0.08, 0.05];

/// Most hit@10 that the floor may cost on any set.
const MOST_COST: f64 = 0.01;

#[test]
fn unrelated_questions_return_nothing_at_little_cost() {
    let Some(folder) = data::folder() else { return };
    let table = StaticTable::load(&folder);
    let sets: Vec<(&str, Vec<Scope>)> = BARS.iter().map(|(name, ..)| (*name, load(&folder, name))).collect();
    let open = Settings { floor: Floor::OFF, ..Settings::default() };
    for (leg, table, most) in
        [("keyword", None, MOST_ANSWERED[0]), ("static", table.as_ref(), MOST_ANSWERED[1])]
    {
        if leg == "static" && table.is_none() {
            continue;
        }
        let mut rates = Vec::new();
        for (name, scopes) in &sets {
            let ready: Vec<Ready<'_>> = scopes.iter().map(|s| Ready::new(s, table)).collect();
            let (with, without) = (Figures::of(&ready, &Settings::default()), Figures::of(&ready, &open));
            let cost = without.hit10 - with.hit10;
            println!(
                "{name:13} {leg:8} floor costs {cost:.4} hit@10 ({:.4} to {:.4})",
                without.hit10, with.hit10
            );
            assert!(cost <= MOST_COST, "{name} {leg}: the floor costs {cost}");
            for (other, questions) in unrelated_to(name, &sets) {
                let answered = answered(&ready, &questions, table);
                println!(
                    "{name:13} {leg:8} answers {answered:.4} of {} questions of {other}",
                    questions.len()
                );
                rates.push(answered);
            }
        }
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        println!("{leg}: {mean:.4} of unrelated questions are answered");
        assert!(mean <= most, "{leg}: {mean} of unrelated questions are answered");
    }
}

/// The questions of the sets about something else, and our own.
fn unrelated_to<'a>(name: &str, sets: &'a [(&'a str, Vec<Scope>)]) -> Vec<(&'a str, Vec<&'a str>)> {
    let talk = |name: &str| name.starts_with("locomo");
    let others = sets.iter().filter(|(other, _)| *other != name && !(talk(name) && talk(other)));
    let mut questions: Vec<(&str, Vec<&str>)> = others
        .map(|(other, scopes)| {
            (*other, scopes.iter().flat_map(|s| &s.questions).map(|q| q.text.as_str()).collect())
        })
        .collect();
    questions.push(("our own", UNRELATED.to_vec()));
    questions
}

/// The share of questions that get any result, each asked of one scope in turn.
fn answered(ready: &[Ready<'_>], questions: &[&str], table: Option<&StaticTable>) -> f64 {
    let asked = questions.iter().enumerate();
    let found = asked.filter(|(at, text)| {
        let ranking = ready[at % ready.len()].ask_text(text, table, &Settings::default());
        !ranking.hits.is_empty()
    });
    found.count() as f64 / questions.len() as f64
}
