//! Markdown files as sections: what the index reads of a file that `strata index` has registered.

use std::path::{Path, PathBuf};

use strata_core::{
    id::{Id, IdKind},
    knowledge::{inject::without_provenance, name::stem},
    markdown::{self, Outline},
    redact::{clean_text, redact},
};
use strata_store::{
    files,
    index::{Section, cut},
    ledger::{SourceRow, vault},
};

use crate::{
    error::Error,
    project::{
        self,
        files::{Reader, is_of_project},
    },
};

/// Files larger than this are not indexed: 4 MiB.
pub const MAX_FILE: u64 = 4 << 20;

/// Reads a file and cuts it at its headings. Sections without text are left out, and secrets and control
/// characters are taken out as from everything that is stored.
pub fn read_sections(path: &Path) -> Result<Vec<Section>, Error> {
    let failed = |source| Error::File { path: path.display().to_string(), source };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > MAX_FILE {
        let field = path.display().to_string();
        return Err(Error::TooLarge { field, size: size as usize, limit: MAX_FILE as usize });
    }
    let bytes = files::read_regular(path, MAX_FILE)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(sections(&redact(&clean_text(&text).text).text))
}

/// Cuts a text at its headings; the title of a section is the line of headings above it.
pub fn sections(text: &str) -> Vec<Section> {
    let found = markdown::sections(text).into_iter().map(|section| Section {
        title: section.heading_path.join(" > "),
        body: text[section.body.clone()].trim().to_owned(),
        ..Section::default()
    });
    found.filter(|s| !s.body.is_empty()).collect()
}

/// Whether a source is a file of the vault, whose text the ledger holds.
pub fn is_of_vault(source: &SourceRow) -> bool {
    source.root.starts_with(vault::ROOT)
}

/// The sections of a source, whose text is given for a file of the vault.
pub fn sections_of(source: &SourceRow, vault_text: Option<&str>) -> Result<Vec<Section>, Error> {
    match vault_text {
        Some(text) => Ok(vault_sections(&source.path, text)),
        None if is_of_vault(source) => Ok(Vec::new()),
        None if is_of_project(source) => {
            let read = Reader::of(&source.root).and_then(|reader| reader.read(source));
            Ok(read.map(|read| read.sections).unwrap_or_default())
        }
        None => read_sections(&path_of(source)),
    }
}

/// Where the file of a source lies, or `vault:NAMESPACE/PATH` for one of the vault.
pub fn path_of(source: &SourceRow) -> PathBuf {
    let root = source.root.strip_prefix(project::files::ROOT).unwrap_or(&source.root);
    Path::new(root).join(&source.path)
}

/// A file of the vault as its `##` sections, titled `domain > heading`; what stands outside of them is titled by the domain
/// alone. Hands may have put secrets into it, so they are taken out here too. Who wrote what is no part of what it says: two
/// sections of one agent would be alike for it.
pub(crate) fn vault_sections(path: &str, text: &str) -> Vec<Section> {
    let stem = stem(path);
    let domain = stem.rsplit('/').next().unwrap_or(stem);
    let clean = clean_text(text).text;
    let clean = redact(&clean).text;
    let outline = Outline::parse(&clean);
    let mut sections = Vec::new();
    let mut apart = |text: &str| {
        let body = without_headings(&without_provenance(text));
        sections.push(Section { title: domain.to_owned(), body, ..Section::default() });
        sections.len() - 1
    };
    apart(outline.preamble());
    let mut end = outline.entries().first().map_or(clean.len(), |first| first.head.start);
    let mut found = Vec::new();
    for (index, entry) in outline.entries().iter().enumerate() {
        let between = apart(&clean[end..entry.head.start]);
        let title = format!("{domain} > {}", entry.title);
        let body = without_provenance(outline.body(index)).trim().to_owned();
        found.push((between, Section { title, body, ..Section::default() }));
        end = entry.body.end;
    }
    apart(clean.get(end..).unwrap_or(""));
    for (shift, (between, section)) in found.into_iter().enumerate() {
        sections.insert(between + shift + 1, section);
    }
    sections.retain(|section| !section.body.is_empty());
    sections
}

/// A text without its lines that are headings of the first level: they name, and say nothing.
fn without_headings(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("# "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The section in which a part (as the index counts them) lies.
pub fn section_of_part(sections: &[Section], part: u32) -> Option<&Section> {
    let mut left = part as usize;
    sections.iter().find(|section| {
        let pieces = cut(&section.body).len();
        let inside = left < pieces;
        left = left.saturating_sub(pieces);
        inside
    })
}

/// The id of a part of an indexed file: it carries the file's number and the part's.
pub fn id(source: i64, part: u32) -> Id {
    Id::from_bits(IdKind::Document, (source.unsigned_abs() << PART_BITS) | u64::from(part.min(PART_MASK)))
}

/// The file's number and the part's of a document id.
pub fn parse_id(id: &Id) -> (i64, u32) {
    let bits = id.bits();
    ((bits >> PART_BITS) as i64, (bits & u64::from(PART_MASK)) as u32)
}

/// Bits of a document id that hold the part.
const PART_BITS: u32 = 14;
/// The highest part that an id can hold.
const PART_MASK: u32 = (1 << PART_BITS) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_become_titles_and_empty_sections_fall_away() {
        let text = "intro\n# A\n\n## B\none\n## B\ntwo\n# C\nthree\n";
        let found: Vec<_> = sections(text).into_iter().map(|s| (s.title, s.body)).collect();
        let expected = [("", "intro"), ("A > B", "one"), ("A > B", "two"), ("C", "three")];
        assert_eq!(found, expected.map(|(k, b)| (k.to_owned(), b.to_owned())));
    }

    #[test]
    fn an_id_leads_back_to_its_section() {
        let text = format!("# A\n{}\n# B\nshort\n", "word ".repeat(800));
        let sections = sections(&text);
        let parts = cut(&sections[0].body).len() as u32;
        assert!(parts > 1);
        assert_eq!(section_of_part(&sections, parts - 1).map(|s| s.title.as_str()), Some("A"));
        assert_eq!(section_of_part(&sections, parts).map(|s| s.title.as_str()), Some("B"));
        assert_eq!(section_of_part(&sections, parts + 1), None);
        assert_eq!(parse_id(&id(712, 9)), (712, 9));
    }
}
