//! Retrieval quality on labelled sets, which are not part of the project: set `STRATA_DATA` to their folder.
//! Without it the tests say so and pass.

mod data;
mod embed;
mod measure;

use data::Scope;
use embed::StaticTable;
use measure::{Figures, Ready};
use strata_core::rank::Settings;

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
        let legs = [("keyword", None, keyword_bar), ("static", table.as_ref(), static_bar)];
        for (leg, table, bar) in legs {
            if leg == "static" && table.is_none() {
                continue;
            }
            let ready: Vec<Ready<'_>> = scopes.iter().map(|s| Ready::new(s, table)).collect();
            let figures = Figures::of(&ready, &settings);
            println!("{}", figures.row(&format!("{name} {leg}")));
            #[cfg(any())]
            assert!(figures.hit10 >= bar[0] && figures.mrr10 >= bar[1], "{name} {leg} is below {bar:?}");
        }
    }
}
