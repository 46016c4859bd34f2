//! Running a set and what is counted.

use strata_core::rank::{Corpus, Item, Ranking, Settings};

use super::{
    data::{Doc, Scope},
    embed::StaticTable,
};

/// A scope ready to be searched.
pub(crate) struct Ready<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) corpus: Corpus,
    vectors: Vec<Option<Vec<f32>>>,
}

impl<'a> Ready<'a> {
    /// Indexes a scope; with a table, its documents and questions are embedded.
    pub(crate) fn new(scope: &'a Scope, table: Option<&StaticTable>) -> Self {
        let embedded: Vec<Vec<f32>> =
            scope.docs.iter().map(|d| table.map(|t| t.embed(&d.embedded)).unwrap_or_default()).collect();
        Self::with_vectors(scope, table, &embedded)
    }

    pub(crate) fn with_vectors(scope: &'a Scope, table: Option<&StaticTable>, embedded: &[Vec<f32>]) -> Self {
        let items: Vec<Item<'_>> =
            (0u64..).zip(scope.docs.iter().zip(embedded)).map(|(at, (doc, v))| item(doc, v, at)).collect();
        let vectors = scope.questions.iter().map(|q| table.map(|t| t.embed(&q.text))).collect();
        Self { scope, corpus: Corpus::build(&items), vectors }
    }

    /// Ranks any text.
    pub(crate) fn ask_text(&self, text: &str, table: Option<&StaticTable>, settings: &Settings) -> Ranking {
        self.corpus.search(text, table.map(|t| t.embed(text)).as_deref(), settings, 10)
    }

    /// Ranks one of the scope's own questions.
    pub(crate) fn ask(&self, question: usize, settings: &Settings, limit: usize) -> Ranking {
        let vector = self.vectors[question].as_deref();
        self.corpus.search(&self.scope.questions[question].text, vector, settings, limit)
    }
}

fn item<'a>(doc: &'a Doc, vector: &'a [f32], at: u64) -> Item<'a> {
    Item {
        text: &doc.text,
        group: doc.group.as_deref(),
        is_ordered: doc.is_ordered,
        owner: doc.owner.as_deref(),
        at: doc.at,
        kind: doc.kind,
        stable: at,
        vector,
        ..Item::default()
    }
}

/// Means over the questions of a set.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) hit5: f64,
    pub(crate) hit10: f64,
    pub(crate) hit20: f64,
    pub(crate) recall10: f64,
    pub(crate) mrr10: f64,
    pub(crate) ndcg10: f64,
    pub(crate) questions: f64,
}

impl Figures {
    /// Asks every question of every scope.
    pub(crate) fn of(scopes: &[Ready<'_>], settings: &Settings) -> Self {
        let mut sum = Self::default();
        for ready in scopes {
            for (at, question) in ready.scope.questions.iter().enumerate() {
                let ranking = ready.ask(at, settings, 20);
                let ranked: Vec<usize> = ranking.hits.iter().map(|h| h.place.slot as usize).collect();
                sum.add(&ranked, &question.relevant);
            }
        }
        let n = sum.questions.max(1.0);
        Self {
            hit5: sum.hit5 / n,
            hit10: sum.hit10 / n,
            hit20: sum.hit20 / n,
            recall10: sum.recall10 / n,
            mrr10: sum.mrr10 / n,
            ndcg10: sum.ndcg10 / n,
            questions: n,
        }
    }

    fn add(&mut self, ranked: &[usize], relevant: &[usize]) {
        self.questions += 1.0;
        let found: Vec<usize> = (0..ranked.len()).filter(|at| relevant.contains(&ranked[*at])).collect();
        let Some(first) = found.first() else { return };
        let within = |k: usize| if *first < k { 1.0 } else { 0.0 };
        self.hit5 += within(5);
        self.hit10 += within(10);
        self.hit20 += within(20);
        let ten = found.iter().filter(|at| **at < 10);
        self.recall10 += ten.clone().count() as f64 / relevant.len() as f64;
        self.mrr10 += within(10) / (*first as f64 + 1.0);
        let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
        let ideal: f64 = (0..relevant.len().min(10)).map(gain).sum();
        self.ndcg10 += ten.map(|at| gain(*at)).sum::<f64>() / ideal;
    }

    /// One row of the table.
    pub(crate) fn row(&self, name: &str) -> String {
        format!(
            "{name:28} n {:4} hit@5 {:.4} hit@10 {:.4} hit@20 {:.4} recall@10 {:.4} MRR@10 {:.4} nDCG@10 {:.4}",
            self.questions, self.hit5, self.hit10, self.hit20, self.recall10, self.mrr10, self.ndcg10
        )
    }
}
