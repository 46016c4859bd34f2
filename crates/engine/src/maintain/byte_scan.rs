//! Looking for a purged text in the bytes of every file of a home.

use std::{
    collections::BTreeSet,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use regex::bytes::Regex;

use crate::error::Error;

/// Bytes of a fragment: long enough that no other text has it by chance.
const WINDOW: usize = 32;
/// Fragments taken from one text.
const WINDOWS: usize = 12;
/// Shortest text or word that is looked for; shorter ones are everywhere.
const SHORTEST: usize = 8;
/// Words taken from one text, as the index stores words by themselves.
const WORDS: usize = 8;
/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Pieces of a text that tell it from others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fragments(BTreeSet<String>);

impl Fragments {
    /// Pieces of some texts: stretches from beginning to end, and the longest words.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut pieces = BTreeSet::new();
        for text in texts {
            let text = text.trim();
            pieces.extend(windows(text));
            pieces.extend(words(text));
        }
        Self(pieces)
    }

    /// Lets go of what another text has too: finding it would prove nothing.
    pub fn forget_those_in(&mut self, other: &str) {
        if self.0.is_empty() {
            return;
        }
        let lower = other.to_lowercase();
        self.0.retain(|piece| !other.contains(piece.as_str()) && !lower.contains(&piece.to_lowercase()));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none, so that nothing can be proved.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn pattern(&self) -> Result<Option<Regex>, Error> {
        if self.0.is_empty() {
            return Ok(None);
        }
        // JSON files hold the text with its escapes.
        let mut forms: BTreeSet<String> = self.0.iter().map(|piece| regex::escape(piece)).collect();
        for piece in &self.0 {
            let quoted = serde_json::Value::from(piece.as_str()).to_string();
            forms.insert(regex::escape(&quoted[1..quoted.len() - 1]));
        }
        let pattern = forms.into_iter().collect::<Vec<_>>().join("|");
        let pattern = Regex::new(&format!("(?i-u:{})", bytewise(&pattern)))
            .map_err(|e| Error::Internal(e.to_string()))?;
        Ok(Some(pattern))
    }

    /// Whether some bytes hold a piece. None when there are no pieces to look for.
    ///
    /// # Errors
    /// Internal: the pieces make no pattern.
    pub fn finder(&self) -> Result<Option<impl Fn(&[u8]) -> bool>, Error> {
        Ok(self.pattern()?.map(|pattern| move |bytes: &[u8]| pattern.is_match(bytes)))
    }

    fn longest(&self) -> usize {
        self.0.iter().map(|piece| piece.len() * 2).max().unwrap_or(0)
    }
}

/// The pattern with every byte outside ASCII written as a byte, so that matching needs no UTF-8.
fn bytewise(pattern: &str) -> String {
    pattern
        .bytes()
        .map(|byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("\\x{byte:02x}") })
        .collect()
}

fn windows(text: &str) -> Vec<String> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    if text.len() <= WINDOW {
        return vec![text.to_owned()];
    }
    let last = text.len() - WINDOW;
    let count = WINDOWS.min(last + 1);
    let starts = (0..count).map(|n| last * n / (count - 1).max(1));
    starts
        .map(|start| {
            let from = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let to =
                (start + WINDOW..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text[from..to].to_owned()
        })
        .collect()
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= SHORTEST).collect();
    words.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    words.dedup();
    words.into_iter().take(WORDS).map(str::to_owned).collect()
}

/// What a scan found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Files read.
    pub files: usize,
    /// Files that still hold a piece.
    pub holding: Vec<PathBuf>,
    /// Files that could not be read, so that nothing is known of them.
    pub unreadable: Vec<PathBuf>,
}

/// Looks for the fragments in every file below a directory.
pub fn scan(directory: &Path, fragments: &Fragments) -> Result<Scan, Error> {
    let mut found = Scan::default();
    let Some(pattern) = fragments.pattern()? else { return Ok(found) };
    let overlap = fragments.longest();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(place) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&place) else {
            found.unreadable.push(place);
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                Ok(kind) if kind.is_file() => {
                    found.files += 1;
                    match holds(&path, &pattern, overlap) {
                        Ok(false) => {}
                        Ok(true) => found.holding.push(path),
                        // A log that was emptied and removed meanwhile holds nothing.
                        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                        Err(_) => found.unreadable.push(path),
                    }
                }
                Ok(_) => {}
                Err(_) => found.unreadable.push(path),
            }
        }
    }
    found.holding.sort();
    found.unreadable.sort();
    Ok(found)
}

fn holds(path: &Path, pattern: &Regex, overlap: usize) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let mut buffer = Vec::with_capacity(CHUNK + overlap);
    loop {
        let kept = buffer.len().min(overlap);
        buffer.drain(..buffer.len() - kept);
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut buffer)?;
        if read == 0 {
            return Ok(false);
        }
        if pattern.is_match(&buffer) {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_store::files::write_atomic;

    use super::*;

    #[test]
    fn a_text_is_found_wherever_a_piece_of_it_lies() {
        let home = tempfile::tempdir().expect("temporary directory");
        let text = "Der Schlüssel liegt unter der grünen Matte, 設備番号は七七四二です, and \"nobody\" must know it.";
        let fragments = Fragments::of([text]);
        assert!(fragments.len() > 8);
        let end = &text.as_bytes()[text.len() - 40..];
        let long = [vec![b'x'; CHUNK - 20], end.to_vec(), vec![b'y'; 10]].concat();
        let quoted = serde_json::json!({ "text": text }).to_string();
        std::fs::create_dir(home.path().join("deep")).expect("made");
        for (name, content) in [
            ("deep/across-chunks", long.as_slice()),
            ("quoted.json", quoted.as_bytes()),
            ("index-terms", b"\0\x01schl\xc3\xbcssel\0"),
            ("other", b"nothing of the sort"),
        ] {
            write_atomic(&home.path().join(name), content).expect("written");
        }
        let found = scan(home.path(), &fragments).expect("scanned");
        let names: Vec<_> = found.holding.iter().filter_map(|p| p.file_name()?.to_str()).collect();
        assert_eq!((names, found.files), (vec!["across-chunks", "index-terms", "quoted.json"], 4));
    }

    #[test]
    fn what_others_say_too_proves_nothing() {
        let mut fragments = Fragments::of(["the port is 5433 now"]);
        fragments.forget_those_in("we know: The Port is 5433 now.");
        assert!(fragments.is_empty());
        assert!(Fragments::of(["short", ""]).is_empty());
    }
}
