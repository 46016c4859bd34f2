//! How a file is to be read.

use crate::{
    Fallback, Language,
    keys::Format as Keys,
    results::{self, Format as Results},
    syntax,
};

/// The ways of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Syntax(Language),
    Headings,
    Keys(Keys),
    Results(Results),
    Windows,
    Hunks,
    Paragraphs,
    Lines(Option<Fallback>),
}

/// Chooses by the language; reports of tests, which have no name of their own, by what they say.
pub(crate) fn reader(path: &str, text: &str, language: Language) -> Reader {
    if let Some(format) = results::sniff(text, language) {
        return Reader::Results(format);
    }
    match language {
        Language::Markdown => Reader::Headings,
        Language::Json => Reader::Keys(Keys::Json),
        Language::Yaml => Reader::Keys(Keys::Yaml),
        Language::Toml => Reader::Keys(Keys::Toml),
        Language::Log => Reader::Windows,
        Language::Diff => Reader::Hunks,
        Language::Text if is_log_name(path) => Reader::Windows,
        Language::Text | Language::ReStructuredText | Language::AsciiDoc | Language::Tex => {
            Reader::Paragraphs
        }
        Language::Unknown if text.starts_with("diff --git ") => Reader::Hunks,
        Language::Unknown if is_log_name(path) => Reader::Windows,
        Language::Unknown => Reader::Paragraphs,
        _ if syntax::knows(language) => Reader::Syntax(language),
        _ => Reader::Lines(language.is_code().then_some(Fallback::NoGrammar)),
    }
}

/// Rotated logs: `server.log.1`, and texts in a folder for logs.
fn is_log_name(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut parts = path.rsplit(['/', '\\']);
    let name = parts.next().unwrap_or("");
    name.contains(".log.") || parts.any(|folder| folder == "logs" || folder == "log")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_of_reading_follows_name_and_text() {
        let by = |path, text| reader(path, text, crate::language::of(path, text));
        assert_eq!(by("a.rs", ""), Reader::Syntax(Language::Rust));
        assert_eq!(by("a.kt", ""), Reader::Lines(Some(Fallback::NoGrammar)));
        assert_eq!(by("a.css", ""), Reader::Lines(None));
        assert_eq!(by("a.log.3", ""), Reader::Windows);
        assert_eq!(by("var/log/messages", ""), Reader::Windows);
        assert_eq!(by("a", "diff --git a/x b/x\n"), Reader::Hunks);
        assert_eq!(by("a.txt", "ok\n"), Reader::Paragraphs);
        assert_eq!(by("a.tap", "1..1\nok 1 - x\n"), Reader::Results(Results::Tap));
    }
}
