//! `changelog.jsonl`: one line per event, oldest first, for whoever follows a file. Derived: removed or damaged, it is
//! made anew by the next change.

use std::{
    fs, io,
    io::{BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use jiff::tz::TimeZone;
use serde::{Deserialize, de::IgnoredAny};
use strata_core::time::{Timestamp, parse_range};
use strata_store::files::{self, FileLock, Scratch, directory_of, make_private_directory};

use super::{Line, MAX_READ, RenderingState, is_enabled, place};
use crate::{engine::Engine, error::Error, operation::Call, paths};

/// Events that are read at a time.
const PAGE: usize = 1000;
/// The longest line: an event's texts are bounded.
const MAX_LINE: u64 = 64 << 10;

/// Brings the rendering up to the ledger. A failure is no failure of the change, which is made; the next one tries again.
pub fn follow(engine: &Engine, call: &Call<'_>) {
    if !is_enabled(engine) {
        return;
    }
    let Some(path) = place(engine) else { return };
    drop(paths::rendering(engine, "changelog.path", &path).and_then(|()| bring_up(engine, call, &path)));
}

fn bring_up(engine: &Engine, call: &Call<'_>, path: &Path) -> Result<(), Error> {
    let control = engine.control(call);
    let lock = FileLock::acquire(&engine.settings().home.join("locks"), path, &control)?;
    let end = match last_event(path)? {
        Some((at, id)) => engine.read(call, |r| r.vault_change_place(at, &id))?,
        None => None,
    };
    let Some(mut end) = end else {
        return if is_ours(engine, path)? {
            make_anew(engine, call, path, lock)
        } else {
            Err(no_changelog(path))
        };
    };
    loop {
        let page = engine.read(call, |r| r.vault_changes_after(end.0, end.1, PAGE))?;
        let Some(last) = page.last() else { return Ok(()) };
        end = (last.seq, last.ordinal);
        let is_last = page.len() < PAGE;
        let mut text = String::new();
        for change in page {
            add(&mut text, &Line::try_from(change)?)?;
        }
        append(path, &text)?;
        if is_last {
            return Ok(());
        }
    }
}

/// Whether a file may be replaced: it is in the usual place, absent or empty, or holds an event in what is read of it,
/// whatever befell the rest.
fn is_ours(engine: &Engine, path: &Path) -> Result<bool, Error> {
    let is_usual = engine.settings().config.changelog.path.is_none();
    if is_usual || matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
    {
        return Ok(true);
    }
    let start = files::read_start(path, MAX_LINE)?;
    let is_event = |line: &[u8]| serde_json::from_slice::<Event>(line).is_ok();
    Ok(start.is_empty() || start.split(|byte| *byte == b'\n').any(is_event) || last_event(path)?.is_some())
}

fn no_changelog(path: &Path) -> Error {
    Error::Conflict {
        message: format!("{} holds something else than a changelog", path.display()),
        hint: "name another file with `changelog.path` in config.toml, or remove it".into(),
    }
}

/// What tells a line of the changelog from others.
#[derive(Deserialize)]
struct Event {
    event_id: String,
    at: String,
}

fn make_anew(engine: &Engine, call: &Call<'_>, path: &Path, _lock: FileLock) -> Result<(), Error> {
    make_private_directory(directory_of(path))?;
    let mut scratch = Scratch::for_file(path)?;
    let mut end = (-1, -1);
    loop {
        let page = engine.read(call, |r| r.vault_changes_after(end.0, end.1, PAGE))?;
        let Some(last) = page.last() else { break };
        end = (last.seq, last.ordinal);
        let mut text = String::new();
        for change in page {
            add(&mut text, &Line::try_from(change)?)?;
        }
        scratch.add(&text)?;
    }
    scratch.put_in_place("")?;
    Ok(())
}

fn add(text: &mut String, line: &Line) -> Result<(), Error> {
    text.push_str(&serde_json::to_string(line).map_err(|error| Error::Internal(error.to_string()))?);
    text.push('\n');
    Ok(())
}

fn append(path: &Path, text: &str) -> Result<(), Error> {
    let written = fs::OpenOptions::new().append(true).open(path);
    written.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes())).map_err(|e| failed(path, e))
}

/// The time and the id of the event in the last line; none when the file is absent, or ends in anything else.
fn last_event(path: &Path) -> Result<Option<(Timestamp, String)>, Error> {
    let Some(tail) = tail(path)? else { return Ok(None) };
    let Some(lines) = tail.strip_suffix('\n') else { return Ok(None) };
    let line = lines.rsplit('\n').next().unwrap_or_default();
    let Ok(event) = serde_json::from_str::<Event>(line) else { return Ok(None) };
    Ok(parse_range(&event.at, &TimeZone::UTC).ok().map(|at| (at.from, event.event_id)))
}

/// The end of a file, at least one whole line of it; none when it is absent or no text.
fn tail(path: &Path) -> Result<Option<String>, Error> {
    if matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let mut file = files::open_regular(path)?;
    let size = file.metadata().map_err(|e| failed(path, e))?.len();
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(size.saturating_sub(MAX_LINE)))
        .and_then(|_| file.take(MAX_LINE).read_to_end(&mut bytes));
    read.map_err(|e| failed(path, e))?;
    let whole =
        bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| if size > MAX_LINE { at + 1 } else { 0 });
    Ok(String::from_utf8(bytes.split_off(whole)).ok())
}

/// What there is to say of the file.
pub(super) fn state(engine: &Engine) -> Result<RenderingState, Error> {
    let absent = RenderingState { max_read_bytes: MAX_READ, ..RenderingState::default() };
    let Some(path) = place(engine) else { return Ok(absent) };
    let shown = RenderingState { path: Some(path.display().to_string()), ..absent };
    let size = match fs::metadata(&path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(shown),
        Err(error) => return Ok(RenderingState { read_error: Some(error.to_string()), ..shown }),
    };
    let present = RenderingState { exists: true, file_size_bytes: size, ..shown };
    if size > MAX_READ {
        let read_error = Some("memory_changelog_too_large".to_owned());
        return Ok(RenderingState { read_truncated: true, read_error, ..present });
    }
    let allowed = paths::rendering(engine, "changelog.path", &path);
    let read = allowed
        .and_then(|()| is_ours(engine, &path))
        .and_then(|ours| if ours { malformed(&path) } else { Err(no_changelog(&path)) });
    match read {
        Ok(malformed_lines) => Ok(RenderingState { malformed_lines, ..present }),
        Err(error) => Ok(RenderingState { read_error: Some(error.to_string()), ..present }),
    }
}

fn malformed(path: &Path) -> Result<usize, Error> {
    let mut lines = BufReader::new(files::open_regular(path)?.take(MAX_READ));
    let (mut line, mut damaged) = (Vec::new(), 0);
    while lines.read_until(b'\n', &mut line).map_err(|error| failed(path, error))? > 0 {
        let text = line.trim_ascii();
        damaged += usize::from(!text.is_empty() && serde_json::from_slice::<IgnoredAny>(text).is_err());
        line.clear();
    }
    Ok(damaged)
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.display().to_string(), source }
}
