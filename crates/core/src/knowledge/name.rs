//! Names of domains and namespaces: what may become a file on any system.

use std::fmt;

use unicode_normalization::char::canonical_combining_class;

use crate::{
    composed::{nfc, nfkc},
    redact::is_invisible,
};

/// A name that is one file or folder on Linux, macOS and Windows alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// Why a text cannot be a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing but spaces and what cannot be seen.
    #[error("it is empty")]
    Empty,
    /// Outer spaces, or accents that are not composed, where the name is taken as it stands.
    #[error("it is not written as `{0}`")]
    Written(String),
    /// A slash or backslash.
    #[error("it contains the separator `{0}`")]
    Separator(char),
    /// A control character, or one that changes the direction of the text.
    #[error("it contains a control character")]
    Control,
    /// One of `< > : " | ? *`.
    #[error("it contains `{0}`, which some systems forbid in file names")]
    Forbidden(char),
    /// Nothing but dots, or a dot at the beginning or the end.
    #[error("it begins or ends with a dot")]
    Dot,
    /// A device of Windows, such as `con` or `lpt1`.
    #[error("`{0}` is a device on Windows")]
    Device(String),
    /// Longer than [`Name::MAX_BYTES`].
    #[error("it has {0} bytes, and at most {max} fit", max = Name::MAX_BYTES)]
    TooLong(usize),
    /// A path with more than [`VaultPath::MAX_DEPTH`] parts.
    #[error("it has more than {max} parts", max = VaultPath::MAX_DEPTH)]
    TooDeep,
    /// A file that is no Markdown.
    #[error("it does not end in `.md`")]
    NotMarkdown,
}

impl Name {
    /// The longest name in bytes of UTF-8, so that an extension and a suffix still fit into 255.
    pub const MAX_BYTES: usize = 200;

    /// Reads a name: outer spaces go, accents are composed.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let name = nfc(text.trim()).into_owned();
        if !is_plain(&name) {
            Self::look_at(&name)?;
        }
        if is_device(&name) {
            return Err(NameError::Device(name));
        }
        if name.len() > Self::MAX_BYTES {
            return Err(NameError::TooLong(name.len()));
        }
        Ok(Self(name))
    }

    /// Refuses what is in no name.
    fn look_at(name: &str) -> Result<(), NameError> {
        if name.chars().all(|c| c.is_whitespace() || is_unseen(c)) {
            return Err(NameError::Empty);
        }
        if let Some(found) = name.chars().find(|c| is_separator(*c)) {
            return Err(NameError::Separator(found));
        }
        if name.chars().any(is_control) {
            return Err(NameError::Control);
        }
        if let Some(found) = name.chars().find(|c| ['<', '>', ':', '"', '|', '?', '*'].contains(c)) {
            return Err(NameError::Forbidden(found));
        }
        let are_dots = nfkc(name).chars().all(|c| c == '.' || c.is_whitespace() || is_unseen(c));
        if are_dots || name.starts_with('.') || name.ends_with('.') {
            return Err(NameError::Dot);
        }
        Ok(())
    }

    /// Reads a name that is to be taken as it stands: what [`Name::parse`] would mend is refused.
    pub fn exactly(text: &str) -> Result<Self, NameError> {
        let name = Self::parse(text)?;
        if name.0 == text { Ok(name) } else { Err(NameError::Written(name.0)) }
    }

    /// Reads the name of a domain, which may be given with its `.md`.
    pub fn domain(text: &str) -> Result<Self, NameError> {
        let text = text.trim();
        let stem = text.len().checked_sub(3).and_then(|at| text.split_at_checked(at));
        match stem {
            Some((stem, end)) if end.eq_ignore_ascii_case(".md") => Self::parse(stem),
            _ => Self::parse(text),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form under which two names are the same file to a person: `My Note`, `my-note` and `my_note` are one, and
    /// what cannot be seen tells nothing apart.
    pub fn key(&self) -> String {
        let folded = nfkc(&self.0).to_lowercase();
        let mut key = String::with_capacity(folded.len());
        for c in folded.chars().filter(|c| !is_unseen(*c)) {
            let is_gap = c.is_whitespace() || c == '-' || c == '_';
            if !is_gap {
                key.push(c);
            } else if !key.ends_with('-') {
                key.push('-');
            }
        }
        key
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A file below a namespace of the vault: `infra/proxy.md`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath {
    parts: Vec<Name>,
}

impl VaultPath {
    /// The most parts, the file included.
    pub const MAX_DEPTH: usize = 8;

    /// Reads a relative path with `/` between its parts, each of them a [`Name`], that ends in `.md`.
    pub fn parse(path: &str) -> Result<Self, NameError> {
        let path = path.trim();
        let stem = path.len().checked_sub(3).and_then(|at| path.split_at_checked(at));
        let (stem, _) = stem.filter(|(_, end)| *end == ".md").ok_or(NameError::NotMarkdown)?;
        let parts: Vec<Name> = stem.split('/').map(Name::parse).collect::<Result<_, _>>()?;
        if parts.len() > Self::MAX_DEPTH {
            return Err(NameError::TooDeep);
        }
        Ok(Self { parts })
    }

    /// The file of a domain, directly below the namespace.
    pub fn of_domain(domain: Name) -> Self {
        Self { parts: vec![domain] }
    }

    /// The domain: the file's name without `.md`.
    pub fn domain(&self) -> &str {
        self.parts.last().map_or("", Name::as_str)
    }

    /// The form under which two paths are the same file to a person.
    pub fn key(&self) -> String {
        self.parts.iter().map(Name::key).collect::<Vec<_>>().join("/")
    }
}

/// A file's path, or what a caller gives as one, without its `.md`.
pub fn stem(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}

impl fmt::Display for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if at == 0 { "" } else { "/" })?;
        }
        f.write_str(".md")
    }
}

/// Whether a name has nothing but ASCII letters, digits, hyphens and underscores, as most have.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.bytes().all(is_plain)
}

/// What leads into a folder, on some system or to the eye.
fn is_separator(c: char) -> bool {
    ['/', '\\', '\u{2044}', '\u{2215}', '\u{29f5}', '\u{29f8}', '\u{ff0f}', '\u{ff3c}', '\u{fe68}']
        .contains(&c)
}

/// What leaves no trace of its own: joiners, fillers, variation selectors, tags. Accents are seen.
fn is_unseen(c: char) -> bool {
    is_invisible(c) && canonical_combining_class(c) == 0
}

/// Control characters, code points that are no characters, line separators, and marks that turn the direction of the text or cannot be seen at the start.
fn is_control(c: char) -> bool {
    let is_no_character = u32::from(c) & 0xfffe == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}');
    c.is_control()
        || is_no_character
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Bytes of `conout$`.
const LONGEST_DEVICE: usize = 7;

/// Names that Windows keeps for devices, whatever follows a dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    if stem.len() > LONGEST_DEVICE {
        return false;
    }
    let stem = stem.to_lowercase();
    let numbered = |prefix: &str| {
        let mut rest = stem.strip_prefix(prefix).unwrap_or("").chars();
        matches!(rest.next(), Some('0'..='9' | '¹' | '²' | '³')) && rest.next().is_none()
    };
    ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(&stem.as_str())
        || numbered("com")
        || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_file_everywhere_are_refused() {
        let error = |text: &str| Name::parse(text).expect_err(text);
        assert_eq!(error("../x"), NameError::Separator('/'));
        assert_eq!(error("a\\b"), NameError::Separator('\\'));
        assert_eq!(error("/etc/x"), NameError::Separator('/'));
        for text in ["  ", "\u{200b}", "\u{ad}\u{2060} ", "\u{e0041}"] {
            assert_eq!(error(text), NameError::Empty, "{text:?}");
        }
        assert_eq!(error("a／b"), NameError::Separator('／'));
        assert_eq!(error("a⧵b"), NameError::Separator('⧵'));
        assert_eq!(error(&"x".repeat(300)), NameError::TooLong(300));
        assert_eq!(error(&"长".repeat(67)), NameError::TooLong(201));
        for text in ["a\nb", "a\u{0}", "a\u{7f}b", "a\u{202e}b", "\u{feff}a", "a\u{ffff}", "\u{10fffe}"] {
            assert_eq!(error(text), NameError::Control, "{text:?}");
        }
        for text in [".", "..", "....", ".hidden", "end.", "．", "‥", "… ．", ".\u{200b}."] {
            assert_eq!(error(text), NameError::Dot, "{text:?}");
        }
        for text in ["con", "NUL", "Com1", "lpt9.notes", "aux .x", "COM²"] {
            assert!(matches!(error(text), NameError::Device(_)), "{text:?}");
        }
        assert_eq!(error("a:b"), NameError::Forbidden(':'));
        assert_eq!(error("what?"), NameError::Forbidden('?'));
    }

    #[test]
    fn ordinary_names_of_every_script_are_taken() {
        for text in [
            "infrastructure",
            "数据库",
            "設計メモ",
            "배포 절차",
            "v1.2 notes",
            "com10",
            "console",
            "a—b",
            "等等…",
            "👨\u{200d}👩",
        ] {
            assert_eq!(Name::parse(text).map(|n| n.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Name::parse("  a b ").map(|n| n.to_string()), Ok("a b".to_owned()));
        assert_eq!(Name::parse("e\u{301}").map(|n| n.to_string()), Ok("é".to_owned()));
        assert_eq!(Name::domain("infra.MD").map(|n| n.to_string()), Ok("infra".to_owned()));
        assert_eq!(Name::domain("日本").map(|n| n.to_string()), Ok("日本".to_owned()));
        assert_eq!(Name::domain(".md"), Err(NameError::Empty));
        assert_eq!(Name::exactly("alice").map(|n| n.to_string()), Ok("alice".to_owned()));
        assert_eq!(Name::exactly("alice "), Err(NameError::Written("alice".to_owned())));
    }

    #[test]
    fn twins_have_one_key() {
        let key = |text: &str| Name::parse(text).expect("a name").key();
        assert_eq!(key("My Note"), key("my-note"));
        assert_eq!(key("my  __note"), key("My-Note"));
        assert_eq!(key("ＡＢ"), key("ab"));
        assert_ne!(key("mynote"), key("my-note"));
        assert_eq!(key("pool\u{200b}"), key("po\u{ad}ol"));
        assert_eq!(key("❤\u{fe0f}"), key("❤"));
        assert_ne!(key("x\u{302}"), key("x"));
    }

    #[test]
    fn paths_stay_below_their_namespace() {
        let path = VaultPath::parse("infra/proxy.md").expect("a path");
        assert_eq!((path.to_string().as_str(), path.domain()), ("infra/proxy.md", "proxy"));
        assert_eq!(path.key(), VaultPath::parse("Infra/PROXY.md").expect("a path").key());
        for text in ["../x.md", "/x.md", "a//b.md", "a/../b.md", ".md", "a/.md", "./x.md", "C:/x.md"] {
            assert!(VaultPath::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(VaultPath::parse("x.txt"), Err(NameError::NotMarkdown));
        assert_eq!(VaultPath::parse("长"), Err(NameError::NotMarkdown));
        assert_eq!(VaultPath::parse("a/b/c/d/e/f/g/h/i.md"), Err(NameError::TooDeep));
        let domain = Name::domain("x").expect("a name");
        assert_eq!(VaultPath::of_domain(domain).to_string(), "x.md");
    }
}
