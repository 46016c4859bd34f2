//! The ledger: the tables of truth, and the rules that hold between them.
//!
//! Whatever changes truth takes a [`Seq`], and a `Seq` comes only from writing an audit row in the
//! same transaction. So nothing changes unrecorded, and the order of commits is the order of the audit.

pub mod accesses;
pub mod audit;
pub mod branches;
pub mod changes;
pub mod counts;
pub mod covered;
pub mod digests;
pub mod entities;
pub mod episodes;
pub mod evidence;
pub mod filter;
pub mod history;
pub mod jobs;
pub mod l0_entries;
pub mod lookup;
pub mod memories;
pub mod memory_relations;
pub mod mentions;
pub mod meta;
pub mod named;
pub mod projects;
pub mod pulse;
pub mod purge;
pub mod relations;
pub mod reviews;
pub mod rollback;
pub mod rules;
pub mod session;
pub mod snapshots;
pub mod sources;
pub mod states;
pub mod todos;
pub mod transfer;
pub mod usage;
pub mod vault;
pub mod vault_changes;
pub mod verify;

use std::{
    cell::{Cell, OnceCell},
    ops::Deref,
    path::Path,
};

use strata_core::{chain::Head, time::Timestamp};

pub use accesses::{AccessFilter, AccessKind, AccessRow, FileAccesses};
pub use audit::{AuditFilter, AuditTarget, NewAudit, Refusal};
pub use branches::{ArchivedOnBranch, BranchSeen};
pub use changes::{Change, ChangeCursor, ChangePage, Changed};
pub use counts::{MemoryCount, Totals};
pub use digests::{Backlog, DigestLink, RawKind, Undistilled};
pub use entities::{EntityChange, EntityFilter, EntityRow, NewEntity};
pub use episodes::{EpisodeFilter, EpisodeInsert, EpisodeRow, NewEpisode, SessionRow};
pub use evidence::EvidenceRow;
pub use filter::MemoryFilter;
pub use history::History;
pub use jobs::{JobRow, JobState, NewJob, Progress, STOPPED, Worker};
pub use l0_entries::{L0EntryRow, NewL0Entry};
pub use lookup::BandHit;
pub use memories::{MemoryRow, NewMemory};
pub use memory_relations::MemoryRelation;
pub use mentions::{LinkedMemory, Mention};
pub use meta::Birth;
pub use projects::ProjectRow;
pub use pulse::Pulse;
pub use purge::{OpenPurge, Purged, PurgedKind};
pub use relations::{Edge, NewRelation, RelationFilter, RelationRow};
pub use reviews::{NewReview, ReviewDecision, ReviewFilter, ReviewRow, ReviewStatus};
pub use rollback::RolledBack;
pub use rules::{DEFAULT_PRIORITY, RuleAttributes, RuleRow};
pub use snapshots::{LiveRow, NewSnapshot, SnapshotRow, set_hash};
pub use sources::{NewSource, SourceRoot, SourceRow, SourceState};
pub use states::{State, StateRow};
pub use todos::{TodoCount, TodoFilter, TodoOrigin, TodoRow, TodoVersion};
pub use usage::UsageRow;
pub use vault::{
    GenerationRow, LoadedGeneration, NewGeneration, Origin, VaultHead, is_vault_text_id, vault_hash,
};
pub use vault_changes::{VaultChange, VaultChangeFilter, VaultChangeTotal};
pub use verify::{
    AuditReport, CoveredReport, EventFinding, Finding, Link, MemoryFinding, QuestionFinding, RuleFinding,
    TodoFinding,
};

use crate::{
    error::StoreError,
    faults::FaultPlan,
    migrate::{Durability, Migration, Schema},
    place::{Place, Server},
    sql::{Access, Control, Creation, Database, DatabaseOptions, Transaction},
};

/// The tenant of a store that has only one.
pub const LOCAL: &str = "local";

/// The schema's name on a server.
pub const NAMESPACE: &str = "strata_ledger";

/// The file's name inside the home.
pub const FILE_NAME: &str = "ledger.db";

/// Every version of the ledger's schema.
pub const SCHEMA: Schema = Schema {
    name: "ledger",
    application_id: 0x5354_524C,
    durability: Durability::Full,
    migrations: &[
        Migration {
            version: 1,
            name: "initial",
            sql: include_str!("0001_initial.sql"),
            min_reader: 1,
            min_writer: 1,
        },
        // An older binary stores by the first formula, and its rows say so.
        Migration {
            version: 2,
            name: "content_version",
            sql: include_str!("0002_content_version.sql"),
            min_reader: 1,
            min_writer: 1,
        },
        // An older writer would purge a memory without keeping what snapshots lose with it.
        Migration {
            version: 3,
            name: "snapshots",
            sql: include_str!("0003_snapshots.sql"),
            min_reader: 1,
            min_writer: 3,
        },
        // An older writer would purge an event and leave its words in the digests that quote it.
        Migration {
            version: 4,
            name: "digests",
            sql: include_str!("0004_digests.sql"),
            min_reader: 1,
            min_writer: 4,
        },
        // An older writer would neither purge a condition nor carry attributes over to a new version.
        Migration {
            version: 5,
            name: "rules",
            sql: include_str!("0005_rules.sql"),
            min_reader: 1,
            min_writer: 5,
        },
        // An older writer would purge a memory and leave what was noticed in it.
        Migration {
            version: 6,
            name: "graph",
            sql: include_str!("0006_graph.sql"),
            min_reader: 1,
            min_writer: 6,
        },
        // An older writer would store events and questions that nothing covers, and purge without keeping digests.
        Migration {
            version: 7,
            name: "covered_texts",
            sql: include_str!("0007_covered_texts.sql"),
            min_reader: 1,
            min_writer: 7,
        },
        // Indexes, which an older writer keeps without knowing of them.
        Migration {
            version: 8,
            name: "graph_indexes",
            sql: include_str!("0008_graph_indexes.sql"),
            min_reader: 1,
            min_writer: 7,
        },
        // An older writer would purge a text and leave the queries that repeat it.
        Migration {
            version: 9,
            name: "access_and_l0",
            sql: include_str!("0009_access_and_l0.sql"),
            min_reader: 1,
            min_writer: 9,
        },
        // An older writer would purge a text and leave it in the generations.
        Migration {
            version: 10,
            name: "vault",
            sql: include_str!("0010_vault.sql"),
            min_reader: 1,
            min_writer: 10,
        },
        // An older writer could not purge a todo.
        Migration {
            version: 11,
            name: "todos",
            sql: include_str!("0011_todos.sql"),
            min_reader: 1,
            min_writer: 11,
        },
        // An older writer would purge a memory and leave relations that lead nowhere.
        Migration {
            version: 12,
            name: "memory_relations",
            sql: include_str!("0012_memory_relations.sql"),
            min_reader: 1,
            min_writer: 12,
        },
        // What was seen of branches: an older writer neither fills it nor has anything in it to purge.
        Migration {
            version: 13,
            name: "branches",
            sql: include_str!("0013_branches.sql"),
            min_reader: 1,
            min_writer: 12,
        },
    ],
};

/// Marks a state row that is still in force.
pub const OPEN: i64 = i64::MAX;

/// The place of a change in the order of all changes: the number of the audit row that records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(i64);

impl Seq {
    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// A handle to a home's ledger; clones share its connections. Making one touches nothing.
#[derive(Debug, Clone)]
pub struct Ledger {
    database: Database,
}

impl Ledger {
    /// The ledger of `home`, with `faults` scripted for tests.
    pub fn new(home: &Path, faults: FaultPlan) -> Self {
        Self::on(Place::File(home.join(FILE_NAME)), faults)
    }

    /// The ledger on `server`, with `faults` scripted for tests.
    pub fn on_server(server: Server, faults: FaultPlan) -> Self {
        Self::on(Place::Server { server, namespace: NAMESPACE.to_owned() }, faults)
    }

    fn on(place: Place, faults: FaultPlan) -> Self {
        Self::at(DatabaseOptions { place, schema: SCHEMA, creation: Creation::OnRequest, faults })
    }

    /// The ledger described by `options`.
    pub fn at(options: DatabaseOptions) -> Self {
        Self { database: Database::new(options) }
    }

    /// Whose memory it is.
    pub fn tenant(&self) -> &str {
        self.database.tenant()
    }

    /// The database below, for upkeep and copies.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Whether the ledger exists and may be written.
    pub fn access(&self, control: &Control) -> Result<Access, StoreError> {
        self.database.access(control)
    }

    /// Makes the ledger, unless it exists ([`Database::exists`] tells at the cost of one look). Of several processes that try at once the first one's
    /// `birth` counts. Returns whether this call made it.
    pub fn initialise(&self, control: &Control, birth: &Birth) -> Result<bool, StoreError> {
        let seed = |transaction: &Transaction<'_>| meta::record_birth(transaction, self.tenant(), birth);
        if self.database.create_with(control, &seed)? {
            return Ok(true);
        }
        // What a copy that was cut off left behind: tables, and nothing in them.
        if self.read(control, |read| read.is_born())? {
            return Ok(false);
        }
        self.database.write(control, |transaction| {
            let read = LedgerRead { transaction, tenant: self.tenant(), store_key: OnceCell::new() };
            let born = read.is_born()?;
            if !born {
                seed(transaction)?;
            }
            Ok(!born)
        })
    }

    /// Runs `job` in one write transaction. `now` dates its audit rows, never earlier than the last.
    ///
    /// A ledger that was not initialised is [`StoreError::NotInitialized`]. See [`Database::write`]
    /// for waiting and repetition.
    pub fn write<T>(
        &self,
        control: &Control,
        now: Timestamp,
        mut job: impl FnMut(&LedgerWrite<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.database.write(control, |transaction| {
            let read = LedgerRead { transaction, tenant: self.tenant(), store_key: OnceCell::new() };
            let head = read.head_and_key()?;
            job(&LedgerWrite { read, now, before: head.seq, head: Cell::new(head) })
        })
    }

    /// Runs `job` against one snapshot.
    pub fn read<T>(
        &self,
        control: &Control,
        job: impl FnOnce(&LedgerRead<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.database.read(control, |transaction| {
            job(&LedgerRead { transaction, tenant: self.tenant(), store_key: OnceCell::new() })
        })
    }
}

/// The ledger as one snapshot shows it.
pub struct LedgerRead<'t> {
    transaction: &'t Transaction<'t>,
    tenant: &'t str,
    /// Once it was asked for; it never changes.
    store_key: OnceCell<[u8; 32]>,
}

/// The ledger inside a write transaction. Everything a read offers is offered here too.
pub struct LedgerWrite<'t> {
    read: LedgerRead<'t>,
    now: Timestamp,
    /// The last sequence before this transaction.
    before: i64,
    head: Cell<Head>,
}

impl LedgerWrite<'_> {
    /// The instant the caller gave.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The number of a sequence, which must have been given in this transaction.
    fn place(&self, seq: Seq) -> Result<i64, StoreError> {
        if (self.before + 1..=self.head.get().seq).contains(&seq.0) {
            return Ok(seq.0);
        }
        Err(StoreError::Internal(format!("sequence {} belongs to another transaction", seq.0)))
    }
}

impl<'t> Deref for LedgerWrite<'t> {
    type Target = LedgerRead<'t>;

    fn deref(&self) -> &LedgerRead<'t> {
        &self.read
    }
}

impl LedgerRead<'_> {
    /// Whose memory it is.
    pub fn tenant(&self) -> &str {
        self.tenant
    }
}
