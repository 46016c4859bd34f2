//! Searching: one snapshot, the postings of the query's terms, the cosines, and the ranking.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use strata_core::{
    analysis::Query,
    memory::Layer,
    rank::{self, Hit, Missed, NONE, Place, Settings, TermPostings},
};

use crate::{
    error::StoreError,
    params,
    rows::{LIST, listed, padded},
    sql::{Control, Transaction},
};

use super::{
    Collection, Index,
    bits::Bits,
    damaged,
    filter::Filter,
    labels::{Space, is_word},
    passage::Prepared,
    postings::for_each_posting,
    truth::{CollectionKey, Mark, Section, Source, SourceKind},
    vector_set::{self, VectorSet},
    view::View,
    views::{Lookup, collection_rows},
};

/// Snapshots taken before a search gives up on being overtaken by other threads.
const ATTEMPTS: u32 = 20;

/// The embedded query.
#[derive(Debug, Clone, Copy)]
pub struct QueryVector<'a> {
    /// Key of the model that made it.
    pub model: &'a str,
    /// Its components, of unit length.
    pub values: &'a [f32],
}

/// A search.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The collections to search, all of one tenant. Statistics are summed over exactly these.
    pub collections: &'a [CollectionKey],
    /// The analysed query.
    pub query: &'a Query,
    /// The people the query was read against ([`strata_core::analysis::QueryContext::people`]).
    pub people: &'a [&'a str],
    /// The embedded query; `None` searches by words alone.
    pub vector: Option<QueryVector<'a>>,
    /// What may be returned.
    pub filter: &'a Filter,
    /// Ledger sequence at which to look; `None` is now.
    pub as_of: Option<i64>,
    /// How to rank.
    pub settings: &'a Settings,
    /// How many results.
    pub limit: usize,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What to read in the ledger.
    pub source: Source,
    /// Which part of it.
    pub part: u32,
    /// Index into [`Request::collections`].
    pub collection: usize,
    /// Its text, when no table of truth has it.
    pub text: Option<Section>,
    /// When it happened, microseconds UTC.
    pub at: i64,
    /// Its layer.
    pub layer: Layer,
    /// Its kind.
    pub kind: String,
    /// Who said or wrote it.
    pub owner: String,
    /// Score, components, evidence and ranks.
    pub hit: Hit,
    /// Sources that were collapsed into it.
    pub duplicates: Vec<Source>,
}

/// The outcome of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Best first.
    pub found: Vec<Found>,
    /// The best that were not returned, and why.
    pub near_misses: Vec<(Found, Missed)>,
    /// Passages that may be returned in which a term of the query occurs.
    pub lexical_hits: u32,
    /// Passages that were scored.
    pub scored: u32,
    /// Live passages searched.
    pub passages: u32,
    /// Whether cosines took part.
    pub is_semantic: bool,
    /// How far the index had followed the ledger.
    pub mark: Mark,
    /// Changes that were scored from the ledger's text because the index was behind.
    pub index_behind: usize,
}

impl Index {
    /// Searches. `pending` are changes that the index does not have yet (see
    /// [`super::CaughtUp::pending`]); they take part as if they were indexed.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when the query's vector is of another model than the active set, and
    /// whatever the database reports.
    pub fn search(
        &self,
        control: &Control,
        request: &Request<'_>,
        pending: &[Prepared],
    ) -> Result<Answer, StoreError> {
        for attempt in 0..=ATTEMPTS {
            if attempt == ATTEMPTS {
                // Nobody overtakes so often: the index was removed and made anew, and began its counts again.
                self.views.clear();
            }
            let gathered = self.database.read(control, |tx| self.gather(tx, request, pending));
            let gathered = match gathered {
                Err(StoreError::NotInitialized { .. } | StoreError::Forbidden { .. }) => {
                    Some(Gathered::of_pending(request, pending)?)
                }
                gathered => gathered?,
            };
            if let Some(gathered) = gathered {
                return gathered.rank(self, control, request);
            }
        }
        Err(StoreError::Busy { waited: std::time::Duration::ZERO })
    }

    /// The owners known in `collections`, sorted, for [`strata_core::analysis::QueryContext::people`].
    pub fn people(
        &self,
        control: &Control,
        collections: &[CollectionKey],
    ) -> Result<Vec<String>, StoreError> {
        let mut people: Vec<String> = self.read_with(control, Vec::new(), |tx| {
            let mut people = Vec::new();
            let Some(tenant) = collections.first().map(|key| key.tenant.as_str()) else { return Ok(people) };
            let mut values = params![tenant, Space::Owner.code()].to_vec();
            let part = |(namespace, project)| {
                format!(
                    "SELECT l.word FROM labels l JOIN collections c ON c.tenant = l.tenant AND c.id = l.collection
                     WHERE l.tenant = $1 AND l.space = $2 AND c.retired = 0
                       AND c.namespace = ${namespace} AND c.project = ${project}"
                )
            };
            let sql = super::views::for_each_key(collections, &mut values, part);
            tx.for_each(&sql, &values, |row| {
                people.push(row.get(0)?);
                Ok(())
            })?;
            Ok(people)
        })?;
        people.retain(|word| is_word(word));
        people.sort_unstable();
        people.dedup();
        Ok(people)
    }

    /// Everything that must be read inside the snapshot; `None` when a view was overtaken.
    fn gather(
        &self,
        tx: &Transaction<'_>,
        request: &Request<'_>,
        pending: &[Prepared],
    ) -> Result<Option<Gathered>, StoreError> {
        let tenant = request.collections.first().map_or("", |key| key.tenant.as_str());
        let (mark, active) = vector_set::mark_and_active(tx, tenant)?;
        let set = match request.vector {
            None => None,
            Some(vector) => of_model(active, vector)?,
        };
        let rows = collection_rows(tx, request.collections)?;
        let ahead = &pending[pending.partition_point(|change| change.mark <= mark)..];
        let mut gathered =
            Gathered { views: Vec::new(), postings: Vec::new(), mark, index_behind: ahead.len() };
        for key in request.collections {
            let row = rows.get(&(key.namespace.as_str(), key.project.as_str())).copied();
            let mut view = match self.views.get(tx, key, row, set.as_ref())? {
                Lookup::Ready(view) => view,
                Lookup::Absent => Arc::new(View::empty("", 0, 0)),
                Lookup::Overtaken => return Ok(None),
            };
            if !ahead.is_empty() {
                let groups = |word: &str| group_number(tx, view.collection(), word);
                view = Arc::new(super::catch_up::with_pending(&view, key, ahead, &groups)?);
            }
            let terms: Vec<&str> = request.query.terms.iter().map(|term| term.text.as_str()).collect();
            gathered.postings.push(packed_postings(tx, &view, &terms)?);
            gathered.views.push(view);
        }
        Ok(Some(gathered))
    }
}

/// The active set, if it is the one the query's vector belongs to.
fn of_model(active: Option<VectorSet>, vector: QueryVector<'_>) -> Result<Option<VectorSet>, StoreError> {
    let Some(set) = active else { return Ok(None) };
    if set.model != vector.model || set.dimension != vector.values.len() {
        return Err(StoreError::Invalid(format!(
            "the query was embedded by `{}` ({} components), the index by `{}` ({})",
            vector.model,
            vector.values.len(),
            set.model,
            set.dimension
        )));
    }
    Ok(Some(set))
}

fn group_number(tx: &Transaction<'_>, of: Collection<'_>, word: &str) -> Result<Option<u32>, StoreError> {
    tx.query_one(
        "SELECT number FROM labels WHERE tenant = $1 AND collection = $2 AND space = $3 AND word = $4",
        params![of.tenant, of.id, Space::Group.code(), word],
        |row| row.get(0),
    )
}

/// The packed lists of each of `terms` in the segments of `view`, in slot order.
fn packed_postings(
    tx: &Transaction<'_>,
    view: &View,
    terms: &[&str],
) -> Result<Vec<Vec<Vec<u8>>>, StoreError> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, term) in terms.iter().enumerate() {
        places.entry(term).or_default().push(place);
    }
    let distinct: Vec<&str> = places.keys().copied().collect();
    let order: HashMap<i64, usize> = view.segments.iter().map(|segment| segment.id).zip(0..).collect();
    let segments: Vec<i64> = view.segments.iter().map(|segment| segment.id).collect();
    let mut found = vec![Vec::new(); terms.len()];
    let of = view.collection();
    for (segments, terms) in segments.chunks(LIST).flat_map(|s| distinct.chunks(LIST).map(move |t| (s, t))) {
        let mut values = params![of.tenant, of.id].to_vec();
        let segments = listed(&mut values, padded(segments).copied());
        let listed_terms = listed(&mut values, padded(terms).copied());
        let sql = format!(
            "SELECT segment, term, data FROM postings
             WHERE tenant = $1 AND collection = $2 AND segment IN ({segments}) AND term IN ({listed_terms})"
        );
        tx.for_each(&sql, &values, |row| {
            let (segment, data) = (row.get::<i64>(0)?, row.get::<Vec<u8>>(2)?);
            let rank = order.get(&segment).copied().unwrap_or_default();
            if let Some((last, others)) = places.get(row.text(1)?).and_then(|places| places.split_last()) {
                others.iter().for_each(|place| found[*place].push((rank, data.clone())));
                found[*last].push((rank, data));
            }
            Ok(())
        })?;
    }
    let in_order = |mut lists: Vec<(usize, Vec<u8>)>| {
        lists.sort_unstable_by_key(|(rank, _)| *rank);
        lists.into_iter().map(|(_, data)| data).collect()
    };
    Ok(found.into_iter().map(in_order).collect())
}

/// What a search read, to be ranked without the database.
struct Gathered {
    views: Vec<Arc<View>>,
    /// By collection, term and segment.
    postings: Vec<Vec<Vec<Vec<u8>>>>,
    mark: Mark,
    index_behind: usize,
}

impl Gathered {
    /// The pending changes alone, where no index exists.
    fn of_pending(request: &Request<'_>, pending: &[Prepared]) -> Result<Self, StoreError> {
        let none = |_: &str| Ok(None);
        let view =
            |key| super::catch_up::with_pending(&View::empty("", 0, 0), key, pending, &none).map(Arc::new);
        let views: Vec<_> = request.collections.iter().map(view).collect::<Result<_, _>>()?;
        let terms = vec![Vec::new(); request.query.terms.len()];
        let postings = vec![terms; views.len()];
        Ok(Self { views, postings, mark: Mark::default(), index_behind: pending.len() })
    }

    fn rank(self, index: &Index, control: &Control, request: &Request<'_>) -> Result<Answer, StoreError> {
        let seen: Vec<_> = self.views.iter().map(|view| view.seen(request.as_of)).collect();
        let passing: Vec<_> =
            self.views.iter().zip(&seen).map(|(view, seen)| request.filter.passing(view, seen)).collect();
        let mut postings = Vec::with_capacity(self.views.len());
        let mut cosines = Vec::with_capacity(self.views.len());
        let mut people = Vec::with_capacity(self.views.len());
        let numbers = (0..).zip(request.people).map(|(number, person)| (*person, number)).collect();
        for ((view, packed), seen) in self.views.iter().zip(&self.postings).zip(&seen) {
            let terms = request.query.terms.iter().zip(packed);
            let lists = terms.map(|(term, packed)| term_postings(view, seen.alive(), &term.text, packed));
            postings.push(lists.collect::<Result<Vec<_>, _>>()?);
            cosines.push(match request.vector {
                Some(vector) => view.cosines(vector.values, seen.alive())?,
                None => None,
            });
            people.push(people_of(view, &numbers));
        }
        let parts: Vec<_> = (0..seen.len())
            .map(|at| rank::Part {
                columns: seen[at].columns(),
                postings: &postings[at],
                cosines: cosines[at].as_deref(),
                people: &people[at],
            })
            .collect();
        let visible = |part: usize, slot: u32| {
            passing[part].as_ref().unwrap_or_else(|| seen[part].alive()).contains(slot)
        };
        let ranking = rank::rank(request.query, &parts, &visible, request.settings, request.limit);
        let mut answer = Answer {
            lexical_hits: ranking.lexical_hits,
            scored: ranking.scored,
            passages: ranking.passages,
            is_semantic: cosines.iter().any(Option::is_some),
            mark: self.mark,
            index_behind: self.index_behind,
            ..Answer::default()
        };
        let time = |hit: &Hit| seen[hit.place.part].columns().at[hit.place.slot as usize];
        for hit in ranking.hits {
            let at = time(&hit);
            answer.found.push(self.found(hit, at)?);
        }
        for (hit, missed) in ranking.near_misses {
            let at = time(&hit);
            answer.near_misses.push((self.found(hit, at)?, missed));
        }
        self.add_texts(index, control, &mut answer.found)?;
        Ok(answer)
    }

    fn found(&self, hit: Hit, at: i64) -> Result<Found, StoreError> {
        let view = &self.views[hit.place.part];
        let row = &view.rows[hit.place.slot as usize];
        Ok(Found {
            source: self.source(hit.place)?,
            part: row.part,
            collection: hit.place.part,
            text: view.texts.get(&hit.place.slot).cloned(),
            at,
            layer: *Layer::ALL.get(usize::from(row.layer)).ok_or_else(|| damaged("a passage's layer"))?,
            kind: view.word(Space::Kind, row.kind).to_owned(),
            owner: view.word(Space::Owner, row.owner).to_owned(),
            duplicates: hit.duplicates.iter().map(|place| self.source(*place)).collect::<Result<_, _>>()?,
            hit,
        })
    }

    fn source(&self, place: Place) -> Result<Source, StoreError> {
        let row = &self.views[place.part].rows[place.slot as usize];
        row.source().ok_or_else(|| damaged("a passage's source"))
    }

    /// Texts are immutable, so a later snapshot has them too, unless they were purged meanwhile.
    fn add_texts(&self, index: &Index, control: &Control, found: &mut [Found]) -> Result<(), StoreError> {
        if !found.iter().any(|found| found.source.kind == SourceKind::Document) {
            return Ok(());
        }
        let mut wanted: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for found in found.iter().filter(|found| found.text.is_none()) {
            wanted.entry(found.collection).or_default().push(found.hit.place.slot);
        }
        let texts = index.read_with(control, HashMap::new(), |tx| {
            let mut texts = HashMap::new();
            for (part, slots) in &wanted {
                let of = self.views[*part].collection();
                for slots in slots.chunks(LIST) {
                    texts_at(tx, of, slots, |slot, text| drop(texts.insert((*part, slot), text)))?;
                }
            }
            Ok(texts)
        })?;
        for found in found.iter_mut().filter(|found| found.text.is_none()) {
            found.text = texts.get(&(found.collection, found.hit.place.slot)).cloned();
        }
        Ok(())
    }
}

/// The texts at these slots of a collection, as far as they are there.
fn texts_at(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    slots: &[u32],
    mut told: impl FnMut(u32, Section),
) -> Result<(), StoreError> {
    let mut values = params![of.tenant, of.id].to_vec();
    let list = listed(&mut values, padded(slots).copied());
    let sql = format!(
        "SELECT slot, title, body, place FROM texts WHERE tenant = $1 AND collection = $2 AND slot IN ({list})"
    );
    let rows = tx.query(&sql, &values, |row| {
        Ok((row.get::<u32>(0)?, Section { title: row.get(1)?, body: row.get(2)?, place: row.get(3)? }))
    })?;
    rows.into_iter().for_each(|(slot, text)| told(slot, text));
    Ok(())
}

/// The postings of one term in the living: folded ones, then the tail's.
fn term_postings(
    view: &View,
    alive: &Bits,
    term: &str,
    packed: &[Vec<u8>],
) -> Result<TermPostings, StoreError> {
    let mut out = TermPostings::default();
    let mut add = |posting: super::postings::Posting| {
        if alive.contains(posting.slot) {
            out.slots.push(posting.slot);
            out.frequencies.push(posting.count);
        }
    };
    for list in packed {
        for_each_posting(list, &mut add).ok_or_else(|| damaged("a list of postings"))?;
    }
    view.tail.get(term).into_iter().flatten().copied().for_each(&mut add);
    Ok(out)
}

/// For each owner of the collection, the number of the person of that name, or [`NONE`].
fn people_of(view: &View, numbers: &HashMap<&str, u32>) -> Vec<u32> {
    let owners = view.words(Space::Owner).iter();
    owners.map(|owner| numbers.get(owner.as_str()).copied().unwrap_or(NONE)).collect()
}
