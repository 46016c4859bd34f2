//! Another embedding model: its vectors are made beside the old ones, and take over at once.

use crate::maintain_support::{home, support::NOON, support::Session, tell};
use serde_json::{Value, json};
use strata_embed::{EmbedError, Embedder, ModelKey};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};

/// Knows how often three letters occur. A text without any of them has no vector.
struct Letters(ModelKey);

impl Letters {
    fn new(revision: &str) -> Box<Self> {
        Box::new(Self(ModelKey::new("letters", revision, 3).expect("a key")))
    }
}

impl Embedder for Letters {
    fn model(&self) -> &ModelKey {
        &self.0
    }

    fn embed_passage(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        let count = |letter| text.chars().filter(|c| *c == letter).count() as f32;
        let counts = [count('e'), count('r'), count('t')];
        let length = counts.iter().map(|c| c * c).sum::<f32>().sqrt();
        Ok((length > 0.0).then(|| counts.map(|c| c / length).to_vec()))
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        self.embed_passage(text)
    }
}

/// Opens the home of a session anew with another model.
fn with_model(mut s: Session, seed: u64, revision: &str) -> Session {
    s.engine = Engine::with_sources(
        s.home.settings(),
        Box::new(ManualClock::at(strata_core::time::Timestamp(NOON.0 + 60_000_000))),
        Box::new(SeededIds::new(seed)),
    )
    .with_embedder(Letters::new(revision));
    s
}

/// Six facts, of which one is replaced and one forgotten: five stand.
fn furnished() -> Session {
    let s = home(7);
    for n in 0..4 {
        s.remember(&format!("the tower number {n} keeps the bell"));
    }
    let old = s.remember("the ferry leaves at nine");
    s.ok("update", json!({ "id": old, "text": "the ferry leaves at ten" }));
    let gone = s.remember("the orchard is closed");
    s.ok("forget", json!({ "id": gone }));
    s.recall("tower");
    s
}

fn sets(s: &Session) -> Vec<(String, usize, bool)> {
    let sets = s.engine.searcher().index().vector_sets(s.engine.tenant()).expect("listed");
    sets.into_iter().map(|set| (set.model, set.dimension, set.is_active)).collect()
}

fn figures(reply: &Value) -> [u64; 4] {
    ["total", "already", "embedded", "failed"].map(|name| reply[name].as_u64().expect("a number"))
}

#[test]
fn p_layer_c56_another_model_is_embedded_once_and_the_old_vectors_stay() {
    let s = furnished();
    assert_eq!(figures(&s.ok("reembed", json!({}))), [5, 5, 0, 0], "the first model is complete");
    let before = sets(&s);
    let s = with_model(s, 8, "1");

    assert_eq!(s.ok("status", json!({}))["semantic"], "warming");
    assert_eq!(s.recall("ferry").len(), 1, "words find meanwhile");
    let look = s.ok("reembed", json!({ "dry_run": true }));
    assert_eq!((figures(&look), look["dry_run"].as_bool()), ([5, 0, 5, 0], Some(true)));
    assert_eq!(sets(&s), before, "a look writes nothing");

    assert_eq!(
        figures(&s.ok("reembed", json!({}))),
        [5, 0, 5, 0],
        "what was replaced or forgotten is not embedded"
    );
    assert_eq!(s.ok("status", json!({}))["semantic"], "on");
    let after = sets(&s);
    assert_eq!((after.len(), &after[0].0, after[0].2), (2, &before[0].0, false), "the old ones are kept");
    assert_eq!((after[1].1, after[1].2), (3, true));
    assert_eq!(figures(&s.ok("reembed", json!({}))), [5, 5, 0, 0], "a second run does nothing");

    s.remember("the miller rests on Sunday");
    assert_eq!(
        figures(&s.ok("reembed", json!({}))),
        [6, 6, 0, 0],
        "what comes later is embedded as it comes"
    );
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn vectors_made_later_are_those_that_a_new_index_has() {
    let s = furnished();
    for text in ["where does the river turn", "near the mill", "and the tower", "there too"] {
        tell(&s, "talk", text);
    }
    s.recall("river");
    let s = with_model(s, 8, "1");
    s.ok("reembed", json!({}));
    let ask =
        |s: &Session| ["river tower", "the mill", "retreat", "ferry at ten"].map(|query| s.recall(query));
    let made_later = ask(&s);
    s.ok("reindex", json!({}));
    assert_eq!(ask(&s), made_later);
    let s = with_model(s, 9, "2");
    s.ok("reindex", json!({}));
    assert_eq!(s.ok("status", json!({}))["semantic"], "on", "a rebuild goes over to the model in use");
    assert_eq!(ask(&s), made_later);
}

#[test]
fn upkeep_completes_the_vectors_of_a_new_model() {
    let s = with_model(furnished(), 8, "2");
    assert_eq!(s.ok("status", json!({}))["semantic"], "warming");
    s.ok("maintain", json!({ "task": "index" }));
    assert_eq!(s.ok("status", json!({}))["semantic"], "on");
}

#[test]
fn without_a_model_nothing_is_embedded_and_the_reason_is_told() {
    let mut s = Session::with_settings(|settings| settings.config.semantic.model = "off".into());
    s.set_kind(strata_core::principal::PrincipalKind::Human);
    s.remember("the tower keeps the bell");
    let reply = s.ok("reembed", json!({}));
    assert_eq!(figures(&reply), [0, 0, 0, 0]);
    assert!(reply["reason"].as_str().is_some_and(|why| why.contains("switched off")), "{reply}");
}
