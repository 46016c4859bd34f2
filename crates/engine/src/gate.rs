//! The write gate: the one function every stored text passes, and the one that decides who may write.

use std::collections::BTreeMap;

use strata_core::redact::{clean_text, is_invisible, redact, strip_injected};

use crate::error::Error;

/// The largest body of a memory or episode, in bytes.
pub const MAX_BODY: usize = 1 << 20;
/// The largest of any other text field, in bytes.
pub const MAX_FIELD: usize = 4096;
/// The largest number of entries in a list or map.
pub const MAX_ENTRIES: usize = 64;

/// Collects what the gate changed while it lets the fields of one write through.
#[derive(Debug, Default)]
pub struct Gate {
    /// Families of secrets that were blacked out, each once, in order of first sight.
    pub redacted: Vec<&'static str>,
    /// Whether a block that Strata itself had injected was taken out.
    pub stripped: bool,
}

impl Gate {
    /// Lets a body through.
    ///
    /// # Errors
    /// `TooLarge` above [`MAX_BODY`]; an argument error when nothing remains to store.
    pub fn body(&mut self, field: &str, text: &str) -> Result<String, Error> {
        self.text(field, text, MAX_BODY)
    }

    /// Lets a text of at most `limit` bytes through that is kept in a file.
    ///
    /// # Errors
    /// As for [`Gate::body`], with that limit.
    pub fn text(&mut self, field: &str, text: &str, limit: usize) -> Result<String, Error> {
        let body = self.pass(field, text, limit)?;
        if is_blank(&body) {
            let message = if self.stripped {
                "holds only text that Strata itself had delivered"
            } else {
                "must not be empty"
            };
            return Err(Error::argument(field, message, "send the text to keep, in your own words"));
        }
        Ok(body)
    }

    /// Lets an optional short text through; blank is absent.
    pub fn field(&mut self, field: &str, text: Option<&str>) -> Result<Option<String>, Error> {
        let Some(text) = text else { return Ok(None) };
        let passed = self.pass(field, text, MAX_FIELD)?;
        let passed = passed.trim();
        Ok((!is_blank(passed)).then(|| passed.to_owned()))
    }

    /// Lets a list of short texts through, blanks and repetitions dropped.
    pub fn list(&mut self, field: &str, texts: &[String]) -> Result<Vec<String>, Error> {
        let mut passed = Vec::new();
        for text in texts.iter().take(limit_entries(field, texts.len())?) {
            passed.extend(self.field(field, Some(text))?.filter(|t| !passed.contains(t)));
        }
        Ok(passed)
    }

    /// Lets a map of short texts through, keys too.
    pub fn map(
        &mut self,
        field: &str,
        map: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, Error> {
        limit_entries(field, map.len())?;
        let mut passed = BTreeMap::new();
        for (key, value) in map {
            let Some(key) = self.field(field, Some(key))? else { continue };
            // A secret may be told by its key alone, so the value is judged behind it.
            let prefix = format!("{key}: ");
            let pair = self.pass(field, &format!("{prefix}{value}"), MAX_FIELD)?;
            let value = match pair.strip_prefix(&prefix) {
                Some(value) => value.to_owned(),
                None => self.pass(field, value, MAX_FIELD)?,
            };
            passed.insert(key, value);
        }
        Ok(passed)
    }

    fn pass(&mut self, field: &str, text: &str, limit: usize) -> Result<String, Error> {
        if text.len() > limit {
            return Err(Error::TooLarge { field: field.to_owned(), size: text.len(), limit });
        }
        let kept = strip_injected(text);
        self.stripped |= kept.removed;
        let clean = clean_text(&kept.text);
        let redaction = redact(&clean.text);
        let families = redaction.findings.iter().map(|finding| finding.family.as_str());
        add_families(&mut self.redacted, families);
        Ok(redaction.text.into_owned())
    }
}

/// Adds families of secrets to those that are known, each once.
pub(crate) fn add_families(known: &mut Vec<&'static str>, more: impl IntoIterator<Item = &'static str>) {
    for family in more {
        if !known.contains(&family) {
            known.push(family);
        }
    }
}

/// Whether a reader sees nothing: a file that holds a byte order mark alone is an empty one.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

fn limit_entries(field: &str, given: usize) -> Result<usize, Error> {
    if given > MAX_ENTRIES {
        let message = format!("has {given} entries; at most {MAX_ENTRIES} are stored");
        return Err(Error::argument(field, message, "keep the most telling ones"));
    }
    Ok(given)
}
