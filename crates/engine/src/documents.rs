//! Markdown files as sections: what `strata index` registers and the index reads.

use std::{collections::HashMap, path::Path};

use strata_core::markdown;

use crate::error::Error;

/// Files larger than this are not indexed: 4 MiB.
pub const MAX_FILE: u64 = 4 << 20;

/// One section of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Names the section within its file: the headings above it, and a number where they repeat.
    pub key: String,
    /// The headings above it, outermost first, as one line.
    pub title: String,
    /// Its text without the heading.
    pub body: String,
    /// Its place in the file.
    pub order: i64,
}

/// Reads a file and cuts it at its headings. Sections without text are left out.
pub fn read_sections(path: &Path) -> Result<Vec<Section>, Error> {
    let failed = |source| Error::File { path: path.display().to_string(), source };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > MAX_FILE {
        return Err(Error::TooLarge { field: path.display().to_string(), size: size as usize, limit: MAX_FILE as usize });
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    Ok(sections(&String::from_utf8_lossy(&bytes)))
}

/// Cuts a text at its headings.
pub fn sections(text: &str) -> Vec<Section> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut out = Vec::new();
    for (order, section) in markdown::sections(text).into_iter().enumerate() {
        let body = text[section.body.clone()].trim();
        let title = section.heading_path.join(" > ");
        let count = seen.entry(title.clone()).or_default();
        *count += 1;
        let key = if *count == 1 { title.clone() } else { format!("{title} ({count})") };
        if !body.is_empty() {
            out.push(Section { key, title, body: body.to_owned(), order: order as i64 });
        }
    }
    out
}

/// A section's path as the ledger keeps it: the file's path, `#` and the section's key. A `#` of the file's
/// own is written `%23`.
pub fn join_path(file: &str, key: &str) -> String {
    format!("{}#{key}", file.replace('%', "%25").replace('#', "%23"))
}

/// The file's path and the section's key.
pub fn split_path(path: &str) -> (String, &str) {
    let (file, key) = path.split_once('#').unwrap_or((path, ""));
    (file.replace("%23", "#").replace("%25", "%"), key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_headings_keep_apart_and_empty_ones_fall_away() {
        let text = "intro\n# A\n\n## B\none\n## B\ntwo\n# C\nthree\n";
        let found: Vec<_> = sections(text).into_iter().map(|s| (s.key, s.body)).collect();
        let expected = [("", "intro"), ("A > B", "one"), ("A > B (2)", "two"), ("C", "three")];
        assert_eq!(found, expected.map(|(k, b)| (k.to_owned(), b.to_owned())));
    }

    #[test]
    fn paths_with_signs_come_back() {
        for file in ["a.md", "c#/100%.md", "%23.md"] {
            assert_eq!(split_path(&join_path(file, "A > #1")), (file.to_owned(), "A > #1"));
        }
    }
}
