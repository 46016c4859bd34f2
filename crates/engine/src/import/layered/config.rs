//! The `config.yaml` of an older home as lines of `config.toml`. Nothing is written: a person decides what holds here.

use strata_store::files;

use super::{OlderHome, is_file};
use crate::settings::keys::{Given, KEYS};

const NAME: &str = "config.yaml";
/// A larger file is no configuration.
const MAX_FILE: u64 = 1 << 20;

/// What an older configuration says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::import) struct OlderConfig {
    /// Lines for `config.toml`.
    pub(in crate::import) lines: Vec<String>,
    /// Settings that have no twin here, or a value that makes no sense here.
    pub(in crate::import) without: Vec<String>,
}

/// Reads it.
pub(in crate::import) fn read(home: &OlderHome) -> OlderConfig {
    let path = home.file(NAME);
    if !is_file(&path) {
        return OlderConfig::default();
    }
    match files::read_regular(&path, MAX_FILE).map(String::from_utf8) {
        Ok(Ok(text)) => translate(&text),
        _ => OlderConfig { without: vec![format!("{NAME} cannot be read")], ..OlderConfig::default() },
    }
}

fn translate(text: &str) -> OlderConfig {
    let mut config = OlderConfig::default();
    for (name, given) in settings(text) {
        let key = KEYS.iter().find(|key| key.older == Some(name.as_str()));
        match key.and_then(|key| key.line(&given)) {
            Some(line) => config.lines.push(line),
            None => config.without.push(name),
        }
    }
    config
}

/// The settings of a file of tables, values and lists, which is all that program wrote: `routing.enabled` and its
/// value. What nests deeper has a name that no setting has.
pub(in crate::import) fn settings(text: &str) -> Vec<(String, Given)> {
    let mut found: Vec<(String, Given)> = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        let bare = without_comment(line);
        let (indent, content) = (bare.len() - bare.trim_start().len(), bare.trim());
        if content.is_empty() || content == "---" {
            continue;
        }
        if let Some(item) = content.strip_prefix("- ") {
            let name = dotted(&path);
            match found.last_mut() {
                Some((last, Given::List(items))) if *last == name => items.push(plain(item)),
                _ => found.push((name, Given::List(vec![plain(item)]))),
            }
            continue;
        }
        let Some((name, value)) = content.split_once(':') else { continue };
        while path.last().is_some_and(|(depth, _)| *depth >= indent) {
            path.pop();
        }
        path.push((indent, plain(name)));
        match value.trim() {
            "" => {}
            value => found.push((dotted(&path), given(value))),
        }
    }
    found
}

fn dotted(path: &[(usize, String)]) -> String {
    let names: Vec<&str> = path.iter().map(|(_, name)| name.as_str()).collect();
    names.join(".")
}

fn given(value: &str) -> Given {
    match value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => Given::List(inner.split(',').map(plain).filter(|item| !item.is_empty()).collect()),
        None => Given::Text(plain(value)),
    }
}

/// A value without the quotes around it.
fn plain(text: &str) -> String {
    let text = text.trim();
    let quoted = ['"', '\''].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q));
    quoted.unwrap_or(text).to_owned()
}

/// A line up to its comment, which begins at the line's start or behind a space, and in no quotes.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return &line[..at],
            (None, '"' | '\'') if before.is_whitespace() || before == '[' || before == ',' => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        before = c;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_lines_and_the_rest_is_named() {
        let config = translate(
            "# mine\nrouting:\n  enabled: off   # no routes\n  extra_todo_markers:\n    - \"look into: this\"\n    - 待办\n\
             governance:\n  open_markers: [later, 'some day']\nagent_memory:\n  adapter: hermes\nmemory_changelog:\n  \
             retention_days: soon\n",
        );
        assert_eq!(
            config.lines,
            [
                "routing.enabled = false",
                "routing.extra_todo_markers = [\"look into: this\", \"待办\"]",
                "governance.open_markers = [\"later\", \"some day\"]",
            ]
        );
        assert_eq!(config.without, ["agent_memory.adapter", "memory_changelog.retention_days"]);
        for line in &config.lines {
            assert!(line.parse::<toml::Table>().is_ok(), "{line}");
        }
    }

    #[test]
    fn what_is_no_configuration_says_nothing() {
        assert_eq!(translate(""), OlderConfig::default());
        assert_eq!(translate("words\n- a list\n").without, [""; 1]);
    }
}
