//! Laws of ranking: equal stores rank equally however they were built, filters restrict results only, and
//! every number adds up.

use proptest::prelude::*;
use strata_core::{
    analysis::{QueryContext, analyze_query},
    rank::{
        Corpus, Diversity, Flags, Floor, Fusion, Item, Missed, Part, Ranking, RrfBoosts, Settings,
        TermPostings, rank,
    },
};

const WORDS: [&str; 12] = [
    "cache",
    "redis",
    "latency",
    "deploy",
    "rollback",
    "Ada",
    "Bob",
    "支付",
    "系统",
    "yesterday",
    "why?",
    "getUserName",
];

/// An item by choice of words, group, owner and time.
type Made = (Vec<usize>, Option<u8>, Option<u8>, i64);

fn made() -> impl Strategy<Value = Vec<Made>> {
    let item = (
        prop::collection::vec(0..WORDS.len(), 1..8),
        prop::option::of(0u8..3),
        prop::option::of(0u8..2),
        0i64..1_000_000,
    );
    prop::collection::vec(item, 1..24)
}

const GROUPS: [&str; 3] = ["one", "two", "three"];
const OWNERS: [&str; 2] = ["Ada", "Bob"];

struct Store {
    texts: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

impl Store {
    fn new(made: &[Made]) -> Self {
        let words = |indices: &Vec<usize>| indices.iter().map(|w| WORDS[*w]).collect::<Vec<_>>().join(" ");
        let vector = |indices: &Vec<usize>| {
            let mut v = [0.1f32; 4];
            indices.iter().for_each(|w| v[w % 4] += 1.0);
            let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            v.iter().map(|x| x / length).collect()
        };
        Self {
            texts: made.iter().map(|(w, ..)| words(w)).collect(),
            vectors: made.iter().map(|(w, ..)| vector(w)).collect(),
        }
    }

    fn item(&self, made: &[Made], at: usize) -> Item<'_> {
        Item {
            text: &self.texts[at],
            group: made[at].1.map(|g| GROUPS[usize::from(g)]),
            owner: made[at].2.map(|o| OWNERS[usize::from(o)]),
            at: Some(made[at].3),
            kind: if at.is_multiple_of(2) { Flags::TURN } else { 0 },
            stable: at as u64,
            vector: &self.vectors[at],
            ..Item::default()
        }
    }
}

fn settings() -> Settings {
    Settings { floor: Floor::OFF, now: Some(2_000_000), ..Settings::default() }
}

const VECTOR: [f32; 4] = [0.5, 0.5, 0.5, 0.5];

/// Stable keys and scores, in order.
fn outcome(corpus: &Corpus, ranking: &Ranking) -> Vec<(u64, u32)> {
    let key = |slot: u32| corpus.columns().stable[slot as usize];
    ranking.hits.iter().map(|h| (key(h.place.slot), h.score.to_bits())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_building_does_not_matter(made in made(), query in prop::collection::vec(0..WORDS.len(), 1..5)) {
        let store = Store::new(&made);
        let forward: Vec<Item<'_>> = (0..made.len()).map(|at| store.item(&made, at)).collect();
        let backward: Vec<Item<'_>> = (0..made.len()).rev().map(|at| store.item(&made, at)).collect();
        let text = query.iter().map(|w| WORDS[*w]).collect::<Vec<_>>().join(" ");
        let (one, other) = (Corpus::build(&forward), Corpus::build(&backward));
        for fusion in [
            Fusion::Convex,
            Fusion::Rrf { k: 60.0, boosts: RrfBoosts::default() },
            Fusion::Legacy { k: 60.0 },
        ] {
            let settings = Settings { fusion, collapse: false, ..settings() };
            let a = one.search(&text, Some(&VECTOR), &settings, 10);
            let b = other.search(&text, Some(&VECTOR), &settings, 10);
            prop_assert_eq!(outcome(&one, &a), outcome(&other, &b));
        }
    }

    #[test]
    fn a_score_is_the_sum_of_its_components(made in made(), word in 0..WORDS.len()) {
        let store = Store::new(&made);
        let items: Vec<Item<'_>> = (0..made.len()).map(|at| store.item(&made, at)).collect();
        let corpus = Corpus::build(&items);
        let ranking = corpus.search(WORDS[word], Some(&VECTOR), &settings(), 5);
        prop_assert!(corpus.columns().is_consistent());
        prop_assert!(ranking.hits.windows(2).all(|w| w[0].score >= w[1].score));
        for hit in &ranking.hits {
            prop_assert!((hit.components.sum() - hit.score).abs() < 1e-6);
            prop_assert!(hit.score.is_finite());
        }
    }

    #[test]
    fn a_filter_restricts_results_and_splitting_a_collection_changes_nothing(made in made(), cut in 0usize..24) {
        let store = Store::new(&made);
        // Items without groups: a group never spans collections.
        let items: Vec<Item<'_>> =
            (0..made.len()).map(|at| Item { group: None, owner: None, ..store.item(&made, at) }).collect();
        let cut = cut.min(items.len());
        let query = analyze_query("cache redis 支付 deploy", &QueryContext::default());
        let whole = Corpus::build(&items);
        let halves = [Corpus::build(&items[..cut]), Corpus::build(&items[cut..])];
        let settings = Settings { collapse: false, ..settings() };
        let visible = |slot: u32, corpus: &Corpus| !corpus.columns().stable[slot as usize].is_multiple_of(3);
        let postings = whole.postings(&query);
        let part = Part { columns: whole.columns(), postings: &postings, cosines: None, people: &[] };
        let one = rank(&query, &[part], &|_, slot| visible(slot, &whole), &settings, 10);
        let tables: Vec<Vec<TermPostings>> = halves.iter().map(|h| h.postings(&query)).collect();
        let parts: Vec<Part<'_>> = halves.iter().zip(&tables)
            .map(|(h, postings)| Part { columns: h.columns(), postings, cosines: None, people: &[] }).collect();
        let two = rank(&query, &parts, &|part, slot| visible(slot, &halves[part]), &settings, 10);
        let split: Vec<(u64, u32)> = two.hits.iter()
            .map(|h| (halves[h.place.part].columns().stable[h.place.slot as usize], h.score.to_bits())).collect();
        prop_assert!(one.hits.iter().all(|h| visible(h.place.slot, &whole)));
        prop_assert_eq!(outcome(&whole, &one), split);
    }
}

#[test]
fn rrf_gives_the_documented_numbers() {
    let items = [Item { text: "payment gateway", confidence: 200, at: Some(0), ..Item::default() }];
    let settings = Settings {
        fusion: Fusion::Rrf { k: 60.0, boosts: RrfBoosts::default() },
        now: Some(0),
        ..Settings::default()
    };
    let ranking = Corpus::build(&items).search("payment", None, &settings, 10);
    let hit = &ranking.hits[0];
    assert!((hit.score - 0.016_843).abs() < 5e-7, "{}", hit.score);
    assert!((hit.components.rrf - 1.0 / 61.0).abs() < 1e-7);
    assert!((hit.components.confidence_boost - 0.000_25).abs() < 1e-9);
    assert!((hit.components.recency_boost - 0.000_2).abs() < 1e-9);
    assert_eq!((hit.lexical_rank, hit.dense_rank), (Some(1), None));
}

#[test]
fn near_duplicates_fold_into_the_best_and_signals_part_equals() {
    let text = "Deploys to production need a green pipeline and one approval from the platform team.";
    let items = [
        Item { text, confidence: 40, stable: 1, ..Item::default() },
        Item { text, confidence: 200, stable: 2, ..Item::default() },
        Item { text: "The deploy dashboard moved to the new host.", stable: 3, ..Item::default() },
    ];
    let corpus = Corpus::build(&items);
    let folded = corpus.search("production deploys", None, &settings(), 10);
    assert_eq!(folded.hits[0].place.slot, 1, "the confirmed one stands");
    assert_eq!(folded.hits[0].duplicates.len(), 1);
    let plain = corpus.search("production deploys", None, &Settings { collapse: false, ..settings() }, 10);
    assert_eq!(plain.hits.iter().map(|h| h.place.slot).collect::<Vec<_>>(), [1, 0, 2]);
}

#[test]
fn results_spread_over_sources_and_are_never_fewer() {
    let texts: Vec<String> = (0..12).map(|n| format!("payment rule {n}")).collect();
    let mut items: Vec<Item<'_>> = texts
        .iter()
        .zip(0u64..)
        .map(|(text, stable)| Item { text, stable, source: 0, ..Item::default() })
        .collect();
    let one_source = Corpus::build(&items).search("payment", None, &settings(), 10);
    assert_eq!(one_source.hits.len(), 10);
    assert!(one_source.near_misses.iter().all(|(_, why)| *why == Missed::Limit));
    for item in &mut items[8..] {
        item.source = 1;
        item.confidence = 0;
    }
    let settings = Settings { diversity: Diversity { largest_share: 0.6, least_ratio: 0.5 }, ..settings() };
    let spread = Corpus::build(&items).search("payment", None, &settings, 10);
    assert_eq!(spread.hits.len(), 10);
    let other = spread.hits.iter().filter(|h| h.place.slot >= 8).count();
    assert_eq!(other, 4);
}

#[test]
fn below_the_floor_nothing_is_returned_and_it_is_said_why() {
    let items = [
        Item {
            text: "We list the invoices of every month.",
            vector: &[0.2, 0.0, 0.98, 0.0],
            ..Item::default()
        },
        Item { text: "Ada feeds the cat.", stable: 1, vector: &[0.1, 0.99, 0.0, 0.0], ..Item::default() },
    ];
    let corpus = Corpus::build(&items);
    let query = [1.0, 0.0, 0.0, 0.0];
    let ranking =
        corpus.search("python sort a nested list by several keys", Some(&query), &Settings::default(), 5);
    assert!(ranking.hits.is_empty());
    let (hit, why) = &ranking.near_misses[0];
    assert_eq!((hit.place.slot, *why), (0, Missed::Floor));
    assert!(hit.evidence.coverage > 0.0 && hit.evidence.cosine.is_some());
}

#[test]
fn answers_by_the_person_named_and_the_day_named_come_first() {
    let day = 86_400_000_000;
    let turn = |text, owner, at, stable| Item {
        text,
        owner: Some(owner),
        at: Some(at),
        stable,
        kind: Flags::TURN,
        group: Some("s"),
        is_ordered: true,
        ..Item::default()
    };
    let items = [
        turn("I baked bread with seeds.", "Ada", 0, 0),
        turn("I baked bread with honey.", "Bob", 0, 1),
        turn("I baked bread again.", "Ada", 10 * day, 2),
    ];
    let corpus = Corpus::build(&items);
    let first = |query: &str| corpus.search(query, None, &Settings::default(), 3).hits[0].place.slot;
    assert_eq!(first("What bread did Bob bake?"), 1);
    assert_eq!(first("What bread was baked on January 11, 1970?"), 2);
}

#[test]
fn columns_that_point_nowhere_are_known() {
    let corpus = Corpus::build(&[Item { text: "one", group: Some("g"), ..Item::default() }]);
    assert!(corpus.columns().is_consistent());
    let mut broken = corpus.columns().clone();
    broken.group[0] = 7;
    assert!(!broken.is_consistent());
    let mut short = corpus.columns().clone();
    short.owner.clear();
    assert!(!short.is_consistent());
}

#[test]
fn odd_limits_are_safe() {
    let corpus = Corpus::build(&[Item { text: "payment", ..Item::default() }]);
    assert!(corpus.search("payment", None, &Settings::default(), 0).hits.is_empty());
    assert_eq!(corpus.search("payment", None, &Settings::default(), usize::MAX).hits.len(), 1);
    assert!(corpus.search(&"payment ".repeat(700_000), None, &Settings::default(), 5).hits.len() <= 1);
}

#[test]
fn p_layer_c40_the_recency_window_is_a_straight_line() {
    let now = 40 * 86_400_000_000;
    let ten_days_old = now - 10 * 86_400_000_000;
    let items = [Item { text: "payment gateway", at: Some(ten_days_old), ..Item::default() }];
    for (recency_window_days, boost) in [(7.0, 0.0), (30.0, 0.000_133)] {
        let boosts = RrfBoosts { recency_window_days, ..RrfBoosts::default() };
        let settings =
            Settings { fusion: Fusion::Rrf { k: 60.0, boosts }, now: Some(now), ..Settings::default() };
        let hit = Corpus::build(&items).search("payment", None, &settings, 10).hits[0].clone();
        assert!((hit.components.recency_boost - boost).abs() < 1e-6, "{}", hit.components.recency_boost);
    }
}
