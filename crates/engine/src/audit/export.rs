//! The audit as a file: JSON Lines, oldest first, so that each line's hash can be followed from the one before.
//!
//! The first line is `{"type":"strata_audit","version":1,"epoch":E,"head":{"seq":S,"hash":H}}`: the end of the
//! whole chain when the file was written. Then comes one object per line of the audit. A line's hash is that
//! of `strata_core::chain::link` over `previous` and its fields; in an unfiltered file `previous` is the hash
//! of the line above. A reason that the caller may not read is null, and the line's hash cannot be made anew.

use std::path::PathBuf;

use serde_json::json;
use strata_core::chain::LinkedEntry;
use strata_store::{
    error::StoreError,
    files::Scratch,
    ledger::{AuditFilter, LedgerRead},
};

use super::line::AuditView;
use crate::{
    authority::hexadecimal, engine::Engine, error::Error, maintain::export::refuse_other_file,
    operation::Call, paths,
};

/// Lines whose targets are looked up together.
const PAGE: usize = 1_000;

/// How a file of this sort begins.
const START: &str = "{\"type\":\"strata_audit\"";

/// Writes every line that `filter` lets through; returns the file and how many lines.
pub(super) fn write(
    engine: &Engine,
    call: &Call<'_>,
    output: &str,
    filter: &AuditFilter,
) -> Result<(String, i64), Error> {
    let path = target(engine, call, output)?;
    let mut content = Scratch::for_file(&path)?;
    let ledger = engine.existing_ledger()?;
    let (first, lines) =
        ledger.read(&engine.control(call), |r| Ok((first_line(r)?, fill(r, call, filter, &mut content)?)))?;
    content.put_in_place(&first)?;
    Ok((path.display().to_string(), lines))
}

fn target(engine: &Engine, call: &Call<'_>, given: &str) -> Result<PathBuf, Error> {
    if given.trim().is_empty() || given == "-" {
        return Err(Error::argument("output", "must name a file", "give a path such as audit.jsonl"));
    }
    let path = paths::writable(engine, call, "output", given)?;
    refuse_other_file("output", &path, |start| start.starts_with(START))?;
    Ok(path)
}

fn first_line(r: &LedgerRead<'_>) -> Result<String, StoreError> {
    let head = r.head()?;
    let end = json!({ "seq": head.seq, "hash": hexadecimal(&head.hash) });
    Ok(format!("{START},\"version\":1,\"epoch\":{},\"head\":{end}}}\n", json!(r.epoch()?)))
}

/// Adds every line that `filter` lets through; returns how many.
fn fill(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    filter: &AuditFilter,
    content: &mut Scratch,
) -> Result<i64, StoreError> {
    let refusals = r.refusals()?;
    let mut lines: i64 = 0;
    let mut page = Vec::with_capacity(PAGE);
    let mut add = |page: Vec<LinkedEntry>| {
        for view in AuditView::of(r, call, page, &refusals)? {
            let text =
                serde_json::to_string(&view).map_err(|error| StoreError::Internal(error.to_string()))?;
            content.add(&(text + "\n"))?;
        }
        Ok(())
    };
    r.for_each_audit_of(filter, |row| {
        if call.cancel.is_cancelled() {
            return Err(StoreError::Cancelled);
        }
        lines += 1;
        page.push(row);
        if page.len() < PAGE {
            return Ok(());
        }
        (call.progress)(lines.unsigned_abs(), 0);
        add(std::mem::take(&mut page))
    })?;
    add(page)?;
    Ok(lines)
}
