//! The lexical components against the formulas, computed here a second time from given tokens.

use strata_core::rank::{Corpus, Flags, Floor, Item, Settings, Weights};

/// Turns with the tokens that the reference tokenizer gives for them.
const TURNS: [(&str, &str, &str, &[&str]); 6] = [
    ("s1", "Ada", "The garden needs water and seeds", &["garden", "need", "water", "seed"]),
    ("s1", "Bob", "Water the garden at dawn", &["water", "garden", "dawn"]),
    ("s1", "Ada", "Seeds arrived with the truck", &["seed", "arriv", "truck"]),
    ("s2", "Bob", "The truck broke near the river", &["truck", "break", "near", "river"]),
    (
        "s2",
        "Ada",
        "River water flooded the road and the garden",
        &["river", "water", "flood", "road", "garden"],
    ),
    ("s2", "Bob", "Roads dried", &["road", "dri"]),
];
const QUERY: [&str; 3] = ["garden", "water", "truck"];

fn idf(n: f64, df: f64) -> f64 {
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
}

fn count(tokens: &[&str], word: &str) -> f64 {
    tokens.iter().filter(|t| **t == word).count() as f64
}

/// BM25 with k1 .9, b .3 and the one-sided norm.
fn bm25(turn: usize) -> f64 {
    let average = TURNS.iter().map(|t| t.3.len()).sum::<usize>() as f64 / 6.0;
    let norm = 0.9 * (1.0 - 0.3 + 0.3 * (TURNS[turn].3.len() as f64 / average).max(1.0));
    let term = |word: &&str| {
        let df = TURNS.iter().filter(|t| count(t.3, word) > 0.0).count() as f64;
        let tf = count(TURNS[turn].3, word);
        idf(6.0, df) * tf * 1.9 / (tf + norm)
    };
    QUERY.iter().map(term).sum()
}

/// BM25 of a session as one text, with k1 1.2 and b .5.
fn session_bm25(session: &str) -> f64 {
    let text = |s: &str| TURNS.iter().filter(|t| t.0 == s).flat_map(|t| t.3).copied().collect::<Vec<_>>();
    let all = [text("s1"), text("s2")];
    let average = (all[0].len() + all[1].len()) as f64 / 2.0;
    let own = text(session);
    let norm = 1.2 * (1.0 - 0.5 + 0.5 * own.len() as f64 / average);
    let term = |word: &&str| {
        let df = all.iter().filter(|s| count(s, word) > 0.0).count() as f64;
        let tf = count(&own, word);
        idf(2.0, df) * tf * 2.2 / (tf + norm)
    };
    QUERY.iter().map(term).sum()
}

#[test]
fn the_lexical_components_equal_the_formulas() {
    let items: Vec<Item<'_>> = (0u64..)
        .zip(TURNS)
        .map(|(stable, (group, owner, text, _))| Item {
            text,
            group: Some(group),
            is_ordered: true,
            owner: Some(owner),
            kind: Flags::TURN,
            stable,
            ..Item::default()
        })
        .collect();
    let corpus = Corpus::build(&items);
    for (turn, tokens) in TURNS.iter().map(|t| t.3).enumerate() {
        assert_eq!(corpus.columns().length[turn] as usize, tokens.len(), "tokens of turn {turn}");
    }
    let settings = Settings { floor: Floor::OFF, ..Settings::default() };
    let ranking = corpus.search("Is the garden water on the truck?", None, &settings, 10);
    assert_eq!(ranking.hits.len(), 6);
    let w = Weights::default();
    let best = (0..6).map(bm25).fold(0.0, f64::max);
    let best_session = session_bm25("s1").max(session_bm25("s2"));
    for hit in &ranking.hits {
        let turn = hit.place.slot as usize;
        let b = |at: Option<usize>| {
            let same = at.filter(|at| TURNS.get(*at).is_some_and(|t| t.0 == TURNS[turn].0));
            same.map_or(0.0, |at| bm25(at) / best)
        };
        let close = |name: &str, found: f32, weight: f32, value: f64| {
            assert!(
                (f64::from(found) - f64::from(weight) * value).abs() < 1e-5,
                "{name} of turn {turn}: {found}"
            );
        };
        close("bm25", hit.bm25, 1.0, bm25(turn));
        close("lexical", hit.components.lexical, w.lexical_alone, b(Some(turn)));
        let neighbours = f64::from(w.previous) * b(turn.checked_sub(1))
            + f64::from(w.second_previous) * b(turn.checked_sub(2))
            + f64::from(w.next) * b(Some(turn + 1));
        close("neighbours", hit.components.neighbours, 1.0, neighbours);
        let members = (0..6).filter(|at| TURNS[*at].0 == TURNS[turn].0);
        close(
            "group best",
            hit.components.group_best,
            w.group_best,
            members.map(bm25).fold(0.0, f64::max) / best,
        );
        let session = session_bm25(TURNS[turn].0) / best_session;
        close("group lexical", hit.components.group_lexical, w.group_lexical, session);
    }
}
