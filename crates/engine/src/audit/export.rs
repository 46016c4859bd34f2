//! The audit as a file: JSON Lines, oldest first, so that each line's hash can be followed from the one before.
//!
//! The first line is `{"type":"strata_audit","version":1,"epoch":E,"head":{"seq":S,"hash":H}}`: the end of the
//! whole chain when the file was written. Then comes one object per line of the audit. A line's hash is that
//! of `strata_core::chain::link` over `previous` and its fields; in an unfiltered file `previous` is the hash
//! of the line above. A reason that the caller may not read is null, and the line's hash cannot be made anew.

use std::{io::Write, path::PathBuf};

use serde_json::json;
use strata_store::{
    error::StoreError,
    files,
    ledger::{AuditFilter, LedgerRead},
};

use super::line::AuditView;
use crate::{
    authority::hexadecimal, engine::Engine, error::Error, maintain::export::refuse_other_file,
    operation::Call, paths,
};

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
    let ledger = engine.existing_ledger()?;
    let lines = ledger.read(&engine.control(call), |r| {
        let mut lines = 0;
        let written = files::write_atomic_from(&path, |out| fill(r, call, filter, out, &mut lines));
        Ok(written.map(|()| lines))
    })??;
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

fn fill(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    filter: &AuditFilter,
    out: &mut dyn Write,
    lines: &mut i64,
) -> Result<(), Error> {
    let (refusals, head) = (r.refusals()?, r.head()?);
    let end = json!({ "seq": head.seq, "hash": hexadecimal(&head.hash) });
    let first = format!("{START},\"version\":1,\"epoch\":{},\"head\":{end}}}\n", json!(r.epoch()?));
    put(out, &first)?;
    r.for_each_audit_of(filter, |row| {
        if call.cancel.is_cancelled() {
            return Err(StoreError::Cancelled);
        }
        *lines += 1;
        if *lines % 1_000 == 0 {
            (call.progress)(lines.unsigned_abs(), 0);
        }
        let view = AuditView::new(r, call, row, &refusals)?;
        let text = serde_json::to_string(&view).map_err(|error| StoreError::Internal(error.to_string()))?;
        put(out, &(text + "\n"))
    })?;
    Ok(())
}

fn put(out: &mut dyn Write, text: &str) -> Result<(), StoreError> {
    out.write_all(text.as_bytes())
        .map_err(|error| StoreError::Internal(format!("the file cannot be written: {error}")))
}
