//! The parts of indexed files, asked for by the file's number.

use crate::{
    error::StoreError,
    params,
    sql::{Control, Row},
};

use super::{
    Index,
    truth::{CollectionKey, Section, SourceKind},
    writer::LIVE,
};

const OF_KIND: u32 = SourceKind::Document as u32;

impl Index {
    /// The part of a file, as it is indexed now; `None` when there is none.
    pub fn document_part(
        &self,
        control: &Control,
        tenant: &str,
        source: i64,
        part: u32,
    ) -> Result<Option<Section>, StoreError> {
        self.read_with(control, None, |tx| {
            tx.query_one(
                "SELECT t.title, t.body, t.place FROM passages p
                 JOIN collections c ON c.tenant = p.tenant AND c.id = p.collection AND c.retired = 0
                 JOIN texts t ON t.tenant = p.tenant AND t.collection = p.collection AND t.slot = p.slot
                 WHERE p.tenant = $1 AND p.source_kind = $2 AND p.source = $3 AND p.to_seq = $4 AND p.part = $5
                 LIMIT 1",
                params![tenant, OF_KIND, source, LIVE, part],
                section_of,
            )
        })
    }

    /// The parts of a file that stand at `place`, in order: the pieces of one section.
    pub fn document_pieces(
        &self,
        control: &Control,
        tenant: &str,
        source: i64,
        place: &str,
    ) -> Result<Vec<Section>, StoreError> {
        self.read_with(control, Vec::new(), |tx| {
            tx.query(
                "SELECT t.title, t.body, t.place FROM passages p
                 JOIN collections c ON c.tenant = p.tenant AND c.id = p.collection AND c.retired = 0
                 JOIN texts t ON t.tenant = p.tenant AND t.collection = p.collection AND t.slot = p.slot
                 WHERE p.tenant = $1 AND p.source_kind = $2 AND p.source = $3 AND p.to_seq = $4 AND t.place = $5
                 ORDER BY p.part",
                params![tenant, OF_KIND, source, LIVE, place],
                section_of,
            )
        })
    }

    /// How many parts of files a collection has.
    pub fn count_document_parts(&self, control: &Control, of: &CollectionKey) -> Result<u64, StoreError> {
        self.read_with(control, 0, |tx| {
            let count = tx.query_one(
                "SELECT count(*) FROM passages p
                 JOIN collections c ON c.tenant = p.tenant AND c.id = p.collection
                 WHERE p.tenant = $1 AND p.source_kind = $2 AND p.to_seq = $3
                   AND c.namespace = $4 AND c.project = $5 AND c.retired = 0",
                params![&of.tenant, OF_KIND, LIVE, &of.namespace, &of.project],
                |row| row.get::<i64>(0),
            )?;
            Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
        })
    }
}

fn section_of(row: &Row<'_>) -> Result<Section, StoreError> {
    Ok(Section { title: row.get(0)?, body: row.get(1)?, place: row.get(2)? })
}
