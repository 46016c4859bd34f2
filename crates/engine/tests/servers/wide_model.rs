//! A model whose vectors are longer than a server's own index of vectors takes.

use crate::support::{NOON, Session};
use serde_json::json;
use strata_core::{
    principal::{Principal, PrincipalKind},
    scope::Scope,
};
use strata_embed::{EmbedError, Embedder, ModelKey};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};
use strata_testkit::{home::TestHome, store::TestStore};

/// Components of a vector: as many as the large models on the market have.
const WIDE: usize = 3_072;
/// More passages than one block of the index holds.
const PASSAGES: usize = 1_100;

/// A component for each word, by its letters; words that mean the same share one.
struct Wide(ModelKey);

impl Embedder for Wide {
    fn model(&self) -> &ModelKey {
        &self.0
    }

    fn embed_passage(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        let mut vector = vec![0.0_f32; WIDE];
        for word in text.split_whitespace() {
            let word = if word == "automobile" { "car" } else { word };
            let place = word.bytes().fold(7_usize, |sum, byte| (sum * 31 + usize::from(byte)) % WIDE);
            vector[place] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= length.max(1.0));
        Ok((length > 0.0).then_some(vector))
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        self.embed_passage(text)
    }
}

#[test]
fn field_case_62_a_model_of_3072_dimensions_is_indexed_and_searched_on_every_store() {
    let mut ranks = Vec::new();
    for store in [TestStore::Sqlite, TestStore::Postgres, TestStore::Pgvector] {
        if !store.is_there() {
            continue;
        }
        let home = TestHome::on(store).existing();
        let engine = Engine::with_sources(
            home.settings(),
            Box::new(ManualClock::at(NOON)),
            Box::new(SeededIds::new(71)),
        )
        .with_embedder(Box::new(Wide(ModelKey::new("wide", "1", WIDE).expect("a key"))));
        let principal = Principal::new(PrincipalKind::Human, "test");
        let s = Session { engine, principal, scope: Scope::user(), secret: None, home };
        let line =
            |n: usize| format!("{}\n", json!({ "id": n, "text": format!("shelf {n} holds jar {}", n * 7) }));
        let lines: String = (0..PASSAGES).map(line).collect();
        let path = s.home.file("shelves.jsonl", lines).display().to_string();
        s.ok("import", json!({ "path": path }));
        let id = s.remember("my automobile waits outside");
        assert_eq!(s.ok("reembed", json!({}))["total"], PASSAGES + 1);
        assert_eq!(s.ok("status", json!({}))["semantic"], "on");
        let sets = s.engine.searcher().index().vector_sets(s.engine.tenant()).expect("listed");
        assert_eq!((sets.len(), sets[0].dimension, sets[0].is_active), (1, WIDE, true));
        assert_eq!(s.recall("car waits outside").first(), Some(&id), "{store:?}");
        let report = s.ok("doctor", json!({ "full": true }));
        assert_eq!(report["healthy"], true, "{report:#}");
        let scores = |query: &str| {
            s.ok("recall", json!({ "query": query, "explain": true, "limit": 5 }))["hits"].clone()
        };
        let texts = ["shelf 900 holds jar", "car outside"].map(|query| {
            let hits = scores(query);
            hits.as_array().expect("hits").iter().map(|hit| hit["text"].clone()).collect::<Vec<_>>()
        });
        assert!(!texts[0].is_empty() && !texts[1].is_empty(), "{texts:?}");
        ranks.push(texts);
    }
    assert!(ranks.windows(2).all(|pair| pair[0] == pair[1]), "the same ranks: {ranks:#?}");
}
