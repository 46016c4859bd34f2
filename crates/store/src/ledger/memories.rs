//! Memories: what is stored once and never changes, beside the state that does.

use strata_core::{
    id::Id,
    memory::{Kind, Layer},
    scope::Scope,
    time::Timestamp,
};

use super::{EvidenceRow, LedgerRead, LedgerWrite, RuleAttributes, Seq, State};
use crate::{
    error::{Conflict, StoreError},
    params,
    rows::Rows,
    sql::{Param, Row},
};

/// A memory to be stored.
#[derive(Debug, Clone)]
pub struct NewMemory {
    /// Its id, drawn by the caller.
    pub id: Id,
    /// What it is.
    pub kind: Kind,
    /// One line; empty if it has none.
    pub title: String,
    /// The text, verbatim.
    pub body: String,
    /// The body as duplicates are recognised by (`strata_core::duplicate`).
    pub identity: String,
    /// Fingerprints of parts of the body, for near-duplicates; may be empty.
    pub bands: Vec<i64>,
    /// Where it belongs.
    pub scope: Scope,
    /// How it follows branches; empty for the default.
    pub branch_scope: String,
    /// The commit it was made at.
    pub commit: Option<String>,
    /// The part of the project it is about.
    pub module_path: Option<String>,
    /// The id of a memory it belongs under.
    pub parent: Option<String>,
    /// A key of which a scope has one live memory.
    pub topic_key: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it: a principal, as text.
    pub writer: String,
    /// What it came from: a face, a file, an importer.
    pub source: String,
    /// The session it was written in.
    pub session: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// Since when it is true, if that is known.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true, exclusive, if that is known.
    pub valid_to: Option<Timestamp>,
    /// The id of the memory it replaces.
    pub supersedes: Option<Id>,
    /// Why it replaces it.
    pub supersede_reason: String,
    /// A JSON object, as text.
    pub metadata: String,
    /// Sixteen random bytes. They salt the content's hash and are destroyed by a purge.
    pub salt: [u8; 16],
    /// Its first state.
    pub state: State,
    /// What it rests on.
    pub evidence: Vec<EvidenceRow>,
    /// Priority, condition and the like, when it is a rule stored with any.
    pub rule: Option<RuleAttributes>,
}

impl NewMemory {
    /// A fact at the user level with nothing but a body. Its identity is the trimmed body.
    pub fn new(id: Id, body: &str, writer: &str, created_at: Timestamp, salt: [u8; 16]) -> Self {
        Self {
            id,
            kind: Kind::default(),
            title: String::new(),
            body: body.to_owned(),
            identity: body.trim().to_owned(),
            bands: Vec::new(),
            scope: Scope::user(),
            branch_scope: String::new(),
            commit: None,
            module_path: None,
            parent: None,
            topic_key: None,
            tags: Vec::new(),
            writer: writer.to_owned(),
            source: String::new(),
            session: None,
            created_at,
            valid_from: None,
            valid_to: None,
            supersedes: None,
            supersede_reason: String::new(),
            metadata: "{}".to_owned(),
            salt,
            state: State::active(Layer::P5),
            evidence: Vec::new(),
            rule: None,
        }
    }

    /// The salted hash that stands for the memory in the audit.
    pub fn content_hash(&self) -> [u8; 32] {
        self.content_hash_born(&self.state)
    }

    /// The same for a memory whose first state was `born`.
    fn content_hash_born(&self, born: &State) -> [u8; 32] {
        let number = |time: Option<Timestamp>| time.map(|t| t.0.to_string());
        let (from, to, created) =
            (number(self.valid_from), number(self.valid_to), self.created_at.0.to_string());
        let parts = [
            Some(self.kind.as_str()),
            Some(&self.title),
            Some(&self.body),
            Some(&self.scope.namespace),
            Some(self.scope.project.as_deref().unwrap_or("")),
            Some(self.scope.branch.as_deref().unwrap_or("")),
            Some(&self.branch_scope),
            self.topic_key.as_deref(),
            Some(&tags_text(&self.tags)),
            from.as_deref(),
            to.as_deref(),
            self.parent.as_deref(),
            Some(&self.writer),
            Some(&created),
            Some(&self.metadata),
            self.commit.as_deref(),
            self.module_path.as_deref(),
            self.session.as_deref(),
            Some(&self.source),
            self.supersedes.as_ref().map(Id::as_str),
        ];
        content_hash(&self.salt, CONTENT_VERSION, parts, Some(born))
    }
}

/// The formula of [`content_hash`] that new memories are stored by.
pub(super) const CONTENT_VERSION: i64 = 3;

/// The columns that [`content_hash`] takes, in its order.
pub(super) const CONTENT_COLUMNS: &str = "m.kind, m.title, m.body, m.namespace, m.project, m.branch, m.branch_scope, \
    m.topic_key, m.tags, CAST(m.valid_from AS TEXT), CAST(m.valid_to AS TEXT), m.parent, m.writer, \
    CAST(m.created_at AS TEXT), m.metadata, m.commit_id, m.module_path, m.session, m.source, m.supersedes";

/// How many they are.
pub(super) const CONTENT_PARTS: usize = 20;

/// How many of them version 2 covers.
const SECOND_PARTS: usize = 14;

/// BLAKE3 over the salt and what never changes in a memory, each preceded by its length.
///
/// Version 1 covers kind, title and body. The later ones begin with their name, `v2` or `v3`, and put a byte
/// before each part that says whether there is a value. Version 2 covers [`CONTENT_COLUMNS`] up to the time of
/// writing; version 3 all of them and, of the first state, what the audit has no word for: tier, confidence,
/// importance and pin.
pub(super) fn content_hash(
    salt: &[u8; 16],
    version: i64,
    parts: [Option<&str>; CONTENT_PARTS],
    born: Option<&State>,
) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    };
    add(salt);
    if version < 2 {
        parts.iter().take(3).for_each(|part| add(part.unwrap_or_default().as_bytes()));
        return *hasher.finalize().as_bytes();
    }
    let (name, covered) = if version == 2 { (b"v2", SECOND_PARTS) } else { (b"v3", CONTENT_PARTS) };
    add(name);
    for part in parts.iter().take(covered) {
        add(&[u8::from(part.is_some())]);
        add(part.unwrap_or_default().as_bytes());
    }
    if version > 2 {
        add(&[u8::from(born.is_some())]);
        if let Some(state) = born {
            add(state.tier.as_str().as_bytes());
            add(&state.confidence.to_bits().to_le_bytes());
            add(&state.importance.to_bits().to_le_bytes());
            add(&[u8::from(state.pinned)]);
        }
    }
    *hasher.finalize().as_bytes()
}

/// What a memory says and where it comes from, in the order of the columns from `kind` to `supersedes`.
fn content_values<'p>(new: &'p NewMemory, tags: &'p str) -> [Param<'p>; 19] {
    [
        new.kind.as_str().into(),
        (&new.title).into(),
        (&new.body).into(),
        (&new.scope.namespace).into(),
        new.scope.project.as_deref().unwrap_or("").into(),
        new.scope.branch.as_deref().unwrap_or("").into(),
        (&new.branch_scope).into(),
        new.commit.as_deref().into(),
        new.module_path.as_deref().into(),
        new.parent.as_deref().into(),
        new.topic_key.as_deref().into(),
        tags.into(),
        (&new.writer).into(),
        (&new.source).into(),
        new.session.as_deref().into(),
        new.created_at.into(),
        new.valid_from.into(),
        new.valid_to.into(),
        new.supersedes.as_ref().map(Id::as_str).into(),
    ]
}

/// A state, in the order of the columns from `layer` to `pinned`.
fn state_values(state: &State) -> [Param<'_>; 6] {
    [
        state.layer.as_str().into(),
        state.status.as_str().into(),
        state.tier.as_str().into(),
        state.confidence.into(),
        state.importance.into(),
        state.pinned.into(),
    ]
}

/// Tags as they are stored: a JSON list.
fn tags_text(tags: &[String]) -> String {
    serde_json::Value::from(tags.to_vec()).to_string()
}

/// A stored memory with its state: the present one, or that of the asked-for sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    /// Shown as `#n`.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// One line; empty if it has none.
    pub title: String,
    /// The text.
    pub body: String,
    /// The layer it was stored in first.
    pub birth_layer: Layer,
    /// Where it belongs.
    pub scope: Scope,
    /// How it follows branches; empty for the default.
    pub branch_scope: String,
    /// The commit it was made at.
    pub commit: Option<String>,
    /// The part of the project it is about.
    pub module_path: Option<String>,
    /// The id of a memory it belongs under.
    pub parent: Option<String>,
    /// A key of which a scope has one live memory.
    pub topic_key: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it.
    pub writer: String,
    /// What it came from.
    pub source: String,
    /// The session it was written in.
    pub session: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// Since when it is true, if that is known.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true, exclusive, if that is known.
    pub valid_to: Option<Timestamp>,
    /// The id of the memory it was stored to replace.
    pub supersedes: Option<String>,
    /// The id of its successor.
    pub superseded_by: Option<String>,
    /// Why it was replaced.
    pub superseded_reason: Option<String>,
    /// Fingerprint of its identity, keyed with the store's key.
    pub content_key: [u8; 32],
    /// The salted hash that stands for the memory in the audit.
    pub content_hash: [u8; 32],
    /// A JSON object, as text.
    pub metadata: String,
    /// The change that stored it.
    pub seq: i64,
    /// The change that brought its present state.
    pub state_seq: i64,
    /// Its state.
    pub state: State,
}

/// The columns of [`MemoryRow`] up to its state, from a table called `m`.
pub(super) const TEXT_COLUMNS: &str = "m.number, m.id, m.kind, m.title, m.body, m.birth_layer, m.namespace, \
    m.project, m.branch, m.branch_scope, m.commit_id, m.module_path, m.parent, m.topic_key, m.tags, m.writer, \
    m.source, m.session, m.created_at, m.valid_from, m.valid_to, m.supersedes, m.superseded_by, \
    m.superseded_reason, m.content_key, m.content_hash, m.metadata, m.seq";
/// The columns of the present state.
pub(super) const STATE_COLUMNS: &str =
    "m.state_seq, m.status, m.tier, m.layer, m.confidence, m.importance, m.pinned";

impl LedgerRead<'_> {
    pub(super) fn memory_from(&self, row: &Row<'_>) -> Result<MemoryRow, StoreError> {
        Ok(MemoryRow {
            number: row.get(0)?,
            id: row.get(1)?,
            kind: Kind::parse(row.text(2)?)?,
            title: row.get(3)?,
            body: row.get(4)?,
            birth_layer: Layer::parse(row.text(5)?)?,
            scope: scope_from(row, 6)?,
            branch_scope: row.get(9)?,
            commit: row.get(10)?,
            module_path: row.get(11)?,
            parent: row.get(12)?,
            topic_key: row.get(13)?,
            tags: serde_json::from_str(row.text(14)?)
                .map_err(|error| self.corrupt(format!("tags: {error}")))?,
            writer: row.get(15)?,
            source: row.get(16)?,
            session: row.get(17)?,
            created_at: row.get(18)?,
            valid_from: row.get(19)?,
            valid_to: row.get(20)?,
            supersedes: row.get(21)?,
            superseded_by: row.get(22)?,
            superseded_reason: row.get(23)?,
            content_key: self.hash(row.blob(24)?)?,
            content_hash: self.hash(row.blob(25)?)?,
            metadata: row.get(26)?,
            seq: row.get(27)?,
            state_seq: row.get(28)?,
            state: State::from_row(row, 29)?,
        })
    }
}

impl LedgerWrite<'_> {
    /// Stores a memory and returns its number.
    ///
    /// With `supersedes`, the predecessor ends in the same change. Conflicts: the predecessor has a
    /// successor already; another live memory of the scope holds the topic or the content.
    pub fn insert_memory(&self, new: &NewMemory, seq: Seq) -> Result<i64, StoreError> {
        new.state.check()?;
        self.refuse_used_id("memories", new.id.as_str())?;
        if let Some(old) = &new.supersedes {
            let old = self.memory(old.as_str())?.ok_or_else(|| missing(old.as_str()))?;
            self.refuse_second_successor(&old)?;
            self.retire(&old, new.id.as_str(), &new.supersede_reason, seq)?;
        }
        let content_key = *blake3::keyed_hash(&self.store_key()?, new.identity.as_bytes()).as_bytes();
        if new.state.status.is_live() {
            self.refuse_taken(&new.scope, new.topic_key.as_deref(), &content_key)?;
        }
        let number = self.next_number("memories", "memory")?;
        self.insert_row(number, new, &new.state, &content_key, seq)?;
        self.open_state(number, &new.state, self.place(seq)?)?;
        self.insert_tags(number, &new.tags)?;
        self.insert_bands(number, &new.bands)?;
        for evidence in &new.evidence {
            self.add_evidence(number, evidence)?;
        }
        if let Some(rule) = &new.rule {
            self.open_rule(number, rule, self.place(seq)?)?;
        }
        Ok(number)
    }

    /// Inserts the row of a memory whose present state is that of `new`, and whose first one was `born`.
    pub(super) fn insert_row(
        &self,
        number: i64,
        new: &NewMemory,
        born: &State,
        content_key: &[u8; 32],
        seq: Seq,
    ) -> Result<(), StoreError> {
        let tags = tags_text(&new.tags);
        let hash = new.content_hash_born(born);
        let mut values = vec![self.tenant.into(), number.into(), new.id.as_str().into()];
        values.extend(content_values(new, &tags));
        values.extend_from_slice(params![content_key, &new.salt, &hash, &new.metadata, self.place(seq)?]);
        values.extend(state_values(&new.state));
        values.push(CONTENT_VERSION.into());
        self.transaction.post(
            "INSERT INTO memories (tenant, number, id,
                 kind, title, body, namespace, project, branch, branch_scope, commit_id, module_path, parent,
                 topic_key, tags, writer, source, session, created_at, valid_from, valid_to, supersedes,
                 content_key, salt, content_hash, metadata, seq,
                 layer, status, tier, confidence, importance, pinned,
                 content_version, state_seq, birth_layer)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
                 $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $27, $28)",
            &values,
        )?;
        Ok(())
    }

    pub(super) fn insert_tags(&self, number: i64, tags: &[String]) -> Result<(), StoreError> {
        const TAGS: Rows =
            Rows::new("INSERT INTO memory_tags (tenant, tag, number)", 3).or("ON CONFLICT DO NOTHING");
        let values: Vec<Param<'_>> =
            tags.iter().flat_map(|tag| [self.tenant.into(), tag.into(), number.into()]).collect();
        TAGS.write(self.transaction, &values)
    }

    pub(super) fn insert_bands(&self, number: i64, bands: &[i64]) -> Result<(), StoreError> {
        const BANDS: Rows =
            Rows::new("INSERT INTO bands (tenant, band, number)", 3).or("ON CONFLICT DO NOTHING");
        let values: Vec<Param<'_>> =
            bands.iter().flat_map(|band| [self.tenant.into(), (*band).into(), number.into()]).collect();
        BANDS.write(self.transaction, &values)
    }

    /// Fails if another live memory of the scope holds the topic or the content.
    pub(super) fn refuse_taken(
        &self,
        scope: &Scope,
        topic: Option<&str>,
        content_key: &[u8; 32],
    ) -> Result<(), StoreError> {
        if let Some(topic) = topic
            && let Some(by) = self.live_by_topic(scope, topic)?
        {
            return Err(Conflict::TopicTaken { topic: topic.to_owned(), by: by.id }.into());
        }
        match self.live_by_content(scope, content_key)? {
            Some(by) => Err(Conflict::ContentTaken { by: by.id }.into()),
            None => Ok(()),
        }
    }

    /// The next free number of a table; numbers of purged rows are not given again.
    pub(super) fn next_number(&self, table: &'static str, kind: &'static str) -> Result<i64, StoreError> {
        let sql = format!(
            "SELECT COALESCE(max(number), 0) FROM {table} WHERE tenant = $1 UNION ALL
             SELECT COALESCE(max(number), 0) FROM tombstones WHERE tenant = $1 AND kind = $2"
        );
        let given = self.transaction.query(&sql, params![self.tenant, kind], |row| row.get::<i64>(0))?;
        Ok(given.into_iter().max().unwrap_or(0) + 1)
    }
}

/// Reads namespace, project and branch from `first` on.
pub(super) fn scope_from(row: &Row<'_>, first: usize) -> Result<Scope, StoreError> {
    let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Ok(Scope {
        namespace: row.get(first)?,
        project: named(row.text(first + 1)?),
        branch: named(row.text(first + 2)?),
        ancestors: Vec::new(),
    })
}

pub(super) fn missing(key: &str) -> StoreError {
    StoreError::NotFound { what: "memory", key: key.to_owned() }
}
