//! The record of every write and every refused write.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use strata_core::{
    chain::{AuditEntry, Checkpoint, Head, LinkedEntry, Outcome},
    memory::Layer,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    signing::{PublicKey, SecretKey, Signature},
    time::{TimeRange, Timestamp},
};

use super::{LedgerRead, LedgerWrite, Seq, filter::Conditions, memories::scope_from, meta};
use crate::{
    error::StoreError,
    index::Standing,
    params,
    rows::{LIST, padded},
    sql::Row,
};

/// An audit row to be written. Never a body: hashes stand for the text.
#[derive(Debug, Clone)]
pub struct NewAudit<'a> {
    /// Who acted.
    pub principal: &'a Principal,
    /// The face the call came in through.
    pub face: Face,
    /// What was done or attempted.
    pub action: &'a str,
    /// What it was done to; empty if there is no target.
    pub target: &'a str,
    /// The target's layer.
    pub layer: Option<Layer>,
    /// Why. Empty if no reason was given.
    pub reason: &'a str,
    /// Hash of the text before.
    pub before_hash: Option<[u8; 32]>,
    /// Hash of the text after.
    pub after_hash: Option<[u8; 32]>,
}

impl<'a> NewAudit<'a> {
    /// A row about `action` on `target`, without layer, reason and hashes.
    pub fn new(principal: &'a Principal, face: Face, action: &'a str, target: &'a str) -> Self {
        Self { principal, face, action, target, layer: None, reason: "", before_hash: None, after_hash: None }
    }

    fn entry(&self, seq: i64, at: Timestamp, outcome: Outcome) -> AuditEntry {
        AuditEntry {
            seq,
            at,
            principal: self.principal.to_string(),
            on_behalf_of: self.principal.on_behalf_of.clone(),
            face: self.face.as_str().to_owned(),
            action: self.action.to_owned(),
            target: self.target.to_owned(),
            layer: self.layer.map(|layer| layer.as_str().to_owned()),
            outcome,
            reason: self.reason.to_owned(),
            before_hash: self.before_hash,
            after_hash: self.after_hash,
        }
    }
}

/// How often the same thing was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The audit row of the first time.
    pub first_seq: i64,
    /// How many times by now.
    pub count: i64,
    /// The latest time.
    pub last_at: Timestamp,
}

/// Which audit rows to list, newest first.
#[derive(Debug, Clone)]
pub struct AuditFilter {
    /// Only rows about this target.
    pub target: Option<String>,
    /// Only rows by this principal, as text.
    pub principal: Option<String>,
    /// Only rows by principals of this kind.
    pub principal_kind: Option<PrincipalKind>,
    /// Only rows in this layer.
    pub layer: Option<Layer>,
    /// Only rows of this action.
    pub action: Option<String>,
    /// Only rows that ended so.
    pub outcome: Option<Outcome>,
    /// Only rows of this time.
    pub at: TimeRange,
    /// Only rows before this sequence: the next page.
    pub before: Option<i64>,
    /// At most this many.
    pub limit: usize,
}

impl Default for AuditFilter {
    fn default() -> Self {
        Self {
            target: None,
            principal: None,
            principal_kind: None,
            layer: None,
            action: None,
            outcome: None,
            at: TimeRange::ALL,
            before: None,
            limit: 50,
        }
    }
}

/// The texts of principals of one kind: from the first (inclusive) to the last (exclusive).
struct KindRange {
    from: String,
    to: String,
}

impl KindRange {
    fn of(kind: PrincipalKind) -> Self {
        // `;` follows `:` in every collation that sorts ASCII by code.
        Self { from: format!("{}:", kind.as_str()), to: format!("{};", kind.as_str()) }
    }
}

impl AuditFilter {
    fn conditions<'p>(&'p self, tenant: &'p str, kind: Option<&'p KindRange>) -> Conditions<'p> {
        let mut all = Conditions::new("tenant", tenant);
        if let Some(before) = self.before {
            all.and("seq <", before, "");
        }
        all.within("at", &self.at);
        all.any_of("target", self.target.as_deref());
        all.any_of("principal", self.principal.as_deref());
        if let Some(kind) = kind {
            all.and("principal >=", kind.from.as_str(), "");
            all.and("principal <", kind.to.as_str(), "");
        }
        all.any_of("layer", self.layer.map(Layer::as_str));
        all.any_of("action", self.action.as_deref());
        all.any_of("outcome", self.outcome.map(Outcome::as_str));
        all
    }
}

/// What the target of an audit row is, if it is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditTarget {
    /// The number of a memory; none of anything else.
    pub number: Option<i64>,
    /// Where it belongs.
    pub scope: Scope,
}

/// A head of the chain as it was signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHead {
    /// What was signed.
    pub checkpoint: Checkpoint,
    /// The epoch it was signed in.
    pub epoch: String,
    /// When.
    pub at: Timestamp,
    /// With which key.
    pub public_key: [u8; 32],
    /// The signature.
    pub signature: Signature,
}

const COLUMNS: &str = "seq, at, principal, on_behalf_of, face, action, target, layer, outcome, reason, \
                       before_hash, after_hash, previous, hash";

impl LedgerRead<'_> {
    /// The end of the audit chain.
    pub fn head(&self) -> Result<Head, StoreError> {
        let head = self.transaction.query_one(
            "SELECT seq, at, hash FROM audit WHERE tenant = $1 ORDER BY seq DESC LIMIT 1",
            params![self.tenant],
            |row| Ok(Head { seq: row.get(0)?, at: row.get(1)?, hash: self.hash(row.blob(2)?)? }),
        )?;
        Ok(head.unwrap_or(Head::GENESIS))
    }

    /// The same, with the store's key, which nearly every write needs, looked up along the way.
    pub(super) fn head_and_key(&self) -> Result<Head, StoreError> {
        let found = self.transaction.query_one(
            "SELECT seq, at, hash, (SELECT value FROM meta WHERE tenant = $1 AND key = $2) FROM audit
             WHERE tenant = $1 ORDER BY seq DESC LIMIT 1",
            params![self.tenant, meta::STORE_KEY],
            |row| {
                let head = Head { seq: row.get(0)?, at: row.get(1)?, hash: self.hash(row.blob(2)?)? };
                Ok((head, row.get::<Option<String>>(3)?))
            },
        )?;
        let Some((head, key)) = found else { return Ok(Head::GENESIS) };
        if let Some(key) = key {
            self.keep_store_key(&key)?;
        }
        Ok(head)
    }

    /// Epoch, last sequence and its hash, and the hash at `seq`: what a follower compares, in one question.
    pub fn standing(&self, seq: i64) -> Result<Standing, StoreError> {
        const END: &str = "FROM audit WHERE tenant = $1 ORDER BY seq DESC LIMIT 1";
        let sql = format!(
            "SELECT (SELECT value FROM meta WHERE tenant = $1 AND key = $2), (SELECT seq {END}),
                    (SELECT hash {END}), (SELECT hash FROM audit WHERE tenant = $1 AND seq = $3)"
        );
        let standing = self.transaction.query_one(&sql, params![self.tenant, meta::EPOCH, seq], |row| {
            let Some(epoch) = row.get(0)? else { return Ok(None) };
            let (head, head_hash) = (row.get::<Option<i64>>(1)?, row.get::<Option<Vec<u8>>>(2)?);
            Ok(Some(Standing {
                epoch,
                head: head.unwrap_or(0),
                head_hash: head_hash.unwrap_or_default(),
                hash: row.get(3)?,
            }))
        })?;
        standing.flatten().ok_or_else(|| self.not_initialised())
    }

    /// The last sequence at or before `at`; 0 if there is none.
    pub fn seq_at(&self, at: Timestamp) -> Result<i64, StoreError> {
        let seq = self.transaction.query_one(
            "SELECT seq FROM audit WHERE tenant = $1 AND at <= $2 ORDER BY at DESC LIMIT 1",
            params![self.tenant, at],
            |row| row.get(0),
        )?;
        Ok(seq.unwrap_or(0))
    }

    /// When each of these changes was made; a sequence that names none is left out.
    pub fn instants(&self, seqs: &[i64]) -> Result<HashMap<i64, Timestamp>, StoreError> {
        let mut found = HashMap::with_capacity(seqs.len());
        for chunk in seqs.chunks(LIST) {
            let mut all = Conditions::new("tenant", self.tenant);
            all.any_of("seq", padded(chunk).copied());
            let sql = format!("SELECT seq, at FROM audit WHERE {}", all.sql);
            self.transaction.for_each(&sql, &all.params, |row| {
                found.insert(row.get(0)?, row.get(1)?);
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// The hash of one entry, for comparing a cursor with the chain it was taken from.
    pub fn hash_at(&self, seq: i64) -> Result<Option<[u8; 32]>, StoreError> {
        self.transaction.query_one(
            "SELECT hash FROM audit WHERE tenant = $1 AND seq = $2",
            params![self.tenant, seq],
            |row| self.hash(row.blob(0)?),
        )
    }

    /// Lists audit rows, newest first.
    pub fn audit(&self, filter: &AuditFilter) -> Result<Vec<LinkedEntry>, StoreError> {
        // The second name of a principal's kind, so that the conditions can borrow it.
        let kind = filter.principal_kind.map(KindRange::of);
        let mut all = filter.conditions(self.tenant, kind.as_ref());
        all.sql.push_str(" ORDER BY seq DESC");
        all.limit(filter.limit);
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, |row| self.entry_from(row))
    }

    /// How many rows a filter lets through, whatever its limit.
    pub fn audit_count(&self, filter: &AuditFilter) -> Result<i64, StoreError> {
        let kind = filter.principal_kind.map(KindRange::of);
        let all = filter.conditions(self.tenant, kind.as_ref());
        let sql = format!("SELECT count(*) FROM audit WHERE {}", all.sql);
        Ok(self.transaction.query_one(&sql, &all.params, |row| row.get(0))?.unwrap_or(0))
    }

    /// Streams the rows that a filter lets through, oldest first, whatever its limit.
    pub fn for_each_audit_of(
        &self,
        filter: &AuditFilter,
        mut visit: impl FnMut(LinkedEntry) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let kind = filter.principal_kind.map(KindRange::of);
        let all = filter.conditions(self.tenant, kind.as_ref());
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE {} ORDER BY seq", all.sql);
        self.transaction.for_each(&sql, &all.params, |row| visit(self.entry_from(row)?))
    }

    /// What the targets of audit rows are, those of them that are memories, raw events or todos.
    pub fn audit_targets(&self, targets: &[&str]) -> Result<HashMap<String, AuditTarget>, StoreError> {
        let mut found = HashMap::with_capacity(targets.len());
        for table in ["memories", "episodes", "todos"] {
            let wanted: BTreeSet<&str> =
                targets.iter().copied().filter(|id| !id.is_empty() && !found.contains_key(*id)).collect();
            let wanted: Vec<&str> = wanted.into_iter().collect();
            for chunk in wanted.chunks(LIST) {
                let mut all = Conditions::new("tenant", self.tenant);
                all.any_of("id", padded(chunk).copied());
                let sql =
                    format!("SELECT id, number, namespace, project, branch FROM {table} WHERE {}", all.sql);
                self.transaction.for_each(&sql, &all.params, |row| {
                    let number = if table == "memories" { Some(row.get(1)?) } else { None };
                    found.insert(row.get(0)?, AuditTarget { number, scope: scope_from(row, 2)? });
                    Ok(())
                })?;
            }
        }
        Ok(found)
    }

    /// Every refusal that was counted, by the row of its first time.
    pub fn refusals(&self) -> Result<BTreeMap<i64, Refusal>, StoreError> {
        let rows = self.transaction.query(
            "SELECT first_seq, count, last_at FROM refusals WHERE tenant = $1",
            params![self.tenant],
            refusal_from,
        )?;
        Ok(rows.into_iter().map(|refusal| (refusal.first_seq, refusal)).collect())
    }

    /// Streams the whole chain in order.
    pub fn for_each_audit(
        &self,
        mut visit: impl FnMut(LinkedEntry) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE tenant = $1 ORDER BY seq");
        self.transaction.for_each(&sql, params![self.tenant], |row| visit(self.entry_from(row)?))
    }

    /// How often the refusal first recorded at `first_seq` was repeated.
    pub fn refusal(&self, first_seq: i64) -> Result<Option<Refusal>, StoreError> {
        self.transaction.query_one(
            "SELECT first_seq, count, last_at FROM refusals WHERE tenant = $1 AND first_seq = $2",
            params![self.tenant, first_seq],
            refusal_from,
        )
    }

    /// Every head that was signed, in order.
    pub fn signed_heads(&self) -> Result<Vec<SignedHead>, StoreError> {
        self.transaction.query(
            "SELECT seq, hash, epoch, at, public_key, signature FROM audit_heads WHERE tenant = $1
             ORDER BY seq, at, epoch",
            params![self.tenant],
            |row| {
                let signature =
                    row.blob(5)?.try_into().map_err(|_| self.corrupt("a signature is not 64 bytes"))?;
                Ok(SignedHead {
                    checkpoint: Checkpoint { seq: row.get(0)?, hash: self.hash(row.blob(1)?)? },
                    epoch: row.get(2)?,
                    at: row.get(3)?,
                    public_key: self.hash(row.blob(4)?)?,
                    signature: Signature(signature),
                })
            },
        )
    }

    fn entry_from(&self, row: &Row<'_>) -> Result<LinkedEntry, StoreError> {
        let hash = |index| -> Result<Option<[u8; 32]>, StoreError> {
            row.get::<Option<Vec<u8>>>(index)?.map(|bytes| self.hash(&bytes)).transpose()
        };
        let entry = AuditEntry {
            seq: row.get(0)?,
            at: row.get(1)?,
            principal: row.get(2)?,
            on_behalf_of: row.get(3)?,
            face: row.get(4)?,
            action: row.get(5)?,
            target: row.get(6)?,
            layer: row.get(7)?,
            outcome: Outcome::parse(row.text(8)?)?,
            reason: row.get(9)?,
            before_hash: hash(10)?,
            after_hash: hash(11)?,
        };
        Ok(LinkedEntry { entry, previous: self.hash(row.blob(12)?)?, hash: self.hash(row.blob(13)?)? })
    }
}

impl LedgerWrite<'_> {
    /// Records something done and gives it its place in the order of changes.
    pub fn record(&self, new: &NewAudit<'_>) -> Result<Seq, StoreError> {
        self.append(new, Outcome::Done)
    }

    /// Records a refusal. One that was refused before in the same words is counted on its first row.
    pub fn refuse(&self, new: &NewAudit<'_>) -> Result<Refusal, StoreError> {
        let layer = new.layer.map_or("", Layer::as_str);
        let principal = new.principal.to_string();
        let on_behalf_of = new.principal.on_behalf_of.as_deref().unwrap_or("");
        let fingerprint = self.fingerprint(&[
            &principal,
            on_behalf_of,
            new.face.as_str(),
            new.action,
            new.target,
            layer,
            new.reason,
        ])?;
        let repeated = self.transaction.query_one(
            "UPDATE refusals SET count = count + 1, last_at = $3 WHERE tenant = $1 AND fingerprint = $2
             RETURNING first_seq, count, last_at",
            params![self.tenant, &fingerprint, self.now],
            refusal_from,
        )?;
        if let Some(refusal) = repeated {
            return Ok(refusal);
        }
        let first_seq = self.append(new, Outcome::Refused)?.get();
        self.transaction.post(
            "INSERT INTO refusals (tenant, fingerprint, first_seq, count, last_at) VALUES ($1, $2, $3, 1, $4)",
            params![self.tenant, &fingerprint, first_seq, self.now],
        )?;
        Ok(Refusal { first_seq, count: 1, last_at: self.now })
    }

    /// Signs the present head of the chain with the human's key and keeps the signature.
    pub fn sign_head(&self, key: &SecretKey) -> Result<SignedHead, StoreError> {
        let head = self.head.get();
        let epoch = self.epoch()?;
        let signed = SignedHead {
            checkpoint: Checkpoint { seq: head.seq, hash: head.hash },
            at: self.now,
            public_key: PublicKey::to_bytes(key.public()),
            signature: key.sign_head(head.seq, &head.hash, &epoch),
            epoch,
        };
        self.transaction.post(
            "INSERT INTO audit_heads (tenant, seq, hash, epoch, at, public_key, signature)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (tenant, seq, epoch) DO UPDATE SET hash = excluded.hash, at = excluded.at,
                 public_key = excluded.public_key, signature = excluded.signature",
            params![
                self.tenant,
                head.seq,
                &head.hash,
                &signed.epoch,
                signed.at,
                &signed.public_key,
                &signed.signature.0
            ],
        )?;
        Ok(signed)
    }

    fn append(&self, new: &NewAudit<'_>, outcome: Outcome) -> Result<Seq, StoreError> {
        if self.is_first_entry() && !self.is_born()? {
            return Err(self.not_initialised());
        }
        let head = self.head.get();
        // Two changes never share an instant, so that a time names one state of the ledger.
        let at = Timestamp(self.now.0.max(head.at.0.saturating_add(1)));
        let linked = LinkedEntry::new(&head.hash, new.entry(head.seq + 1, at, outcome));
        self.insert_entry(&linked)?;
        self.head.set(Head { seq: linked.entry.seq, hash: linked.hash, at });
        Ok(Seq(linked.entry.seq))
    }

    fn insert_entry(&self, linked: &LinkedEntry) -> Result<(), StoreError> {
        let entry = &linked.entry;
        self.transaction.post(
            "INSERT INTO audit (tenant, seq, at, principal, on_behalf_of, face, action, target, layer, outcome,
                 reason, before_hash, after_hash, previous, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            params![
                self.tenant,
                entry.seq,
                entry.at,
                &entry.principal,
                entry.on_behalf_of.as_deref(),
                &entry.face,
                &entry.action,
                &entry.target,
                entry.layer.as_deref(),
                entry.outcome.as_str(),
                &entry.reason,
                entry.before_hash.as_ref(),
                entry.after_hash.as_ref(),
                &linked.previous,
                &linked.hash
            ],
        )?;
        Ok(())
    }
}

fn refusal_from(row: &Row<'_>) -> Result<Refusal, StoreError> {
    Ok(Refusal { first_seq: row.get(0)?, count: row.get(1)?, last_at: row.get(2)? })
}
