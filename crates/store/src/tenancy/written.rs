//! The statements as they are written in this crate, whether or not a test runs them: each names the tenant of every
//! table it touches, so that each join stays within a tenant.

use std::{fs, path::Path};

use super::{Node, Tokens, is_ours, look};

/// Stands where a text is put together: a list, a column, a condition.
const HOLE: &str = "hole";
/// Stands for conditions that are put in whole.
const CONDITION: &str = "condition";

/// The texts in quotation marks of a Rust source, what is put into them replaced by [`HOLE`] or [`CONDITION`].
fn texts(source: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, here) = rest.split_at(at);
        rest = if here.starts_with("//") {
            here.find('\n').map_or("", |end| &here[end..])
        } else if let Some(character) = ["'\"'", "'\\''", "'\\\"'"].into_iter().find(|c| here.starts_with(c))
        {
            &here[character.len()..]
        } else if let Some(quoted) = here.strip_prefix('"') {
            let marks = before.len() - before.trim_end_matches('#').len();
            let raw = before.trim_end_matches('#').ends_with('r');
            let end = if raw { format!("\"{}", "#".repeat(marks)) } else { "\"".to_owned() };
            let (text, after) = text(quoted, &end, raw);
            texts.push(without_holes(&text));
            after
        } else {
            &here[1..]
        };
    }
    texts
}

/// A text up to its end, and what follows.
fn text<'s>(mut rest: &'s str, end: &str, raw: bool) -> (String, &'s str) {
    let mut text = String::new();
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(end) {
            return (text, after);
        }
        rest = &rest[next.len_utf8()..];
        if next == '\\' && !raw {
            let escaped = rest.chars().next().unwrap_or_default();
            rest = &rest[escaped.len_utf8()..];
            match escaped {
                '\n' => rest = rest.trim_start(),
                escaped => text.push(escaped),
            }
        } else {
            text.push(next);
        }
    }
    (text, "")
}

/// `{COLUMNS}` and `{column}` become a word, `{}` after `WHERE` or `AND` a condition.
fn without_holes(text: &str) -> String {
    let mut pieces = text.split('{');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, after) = piece.split_once('}').unwrap_or(("", piece));
        let whole = out.trim_end().ends_with("WHERE") || out.trim_end().ends_with("AND");
        out.push_str(if name.is_empty() && whole { CONDITION } else { HOLE });
        out.push_str(after);
    }
    out
}

/// A piece of a statement as a statement; `None` for a text that touches no table of ours.
fn as_statement(text: &str) -> Option<String> {
    let mut tokens = Tokens { rest: text };
    let mut nodes = Vec::new();
    // A closing parenthesis too many ends a piece; another begins behind it.
    while !tokens.rest.is_empty() {
        nodes.extend(tokens.group());
    }
    let touches = touches(&nodes);
    let begins = |word: &str| nodes.first().is_some_and(|node| node.is(word));
    let bare = match &nodes[..] {
        [Node::Word(table), Node::Word(alias), Node::Word(next), ..] => {
            is_ours(table) && alias.len() == 1 && ["WHERE", "JOIN"].contains(next)
        }
        _ => false,
    };
    match () {
        () if bare => Some(format!("SELECT 1 FROM {text}")),
        () if touches && begins("FROM") => Some(format!("SELECT 1 {text}")),
        () => touches.then(|| text.to_owned()),
    }
}

/// Whether a table of ours stands where a table stands.
fn touches(nodes: &[Node<'_>]) -> bool {
    let here = nodes.windows(2).any(|two| {
        let place = ["FROM", "JOIN", "INTO", "UPDATE"].into_iter().any(|word| two[0].is(word));
        place && matches!(two[1], Node::Word(table) if is_ours(table))
    });
    here || nodes.iter().any(|node| matches!(node, Node::Group(inner) if touches(inner)))
}

/// What the text lacks, as a statement or a piece of one.
fn missing(text: &str) -> Option<String> {
    let statement = as_statement(text)?;
    if statement.starts_with(super::ANY_TENANT) {
        return None;
    }
    let nodes = Tokens { rest: &statement }.group();
    // Conditions that are put in later may name the tenant of the first table: whether they do is seen when they run.
    let first = super::touched(&nodes).0.first().map_or("", |(_, alias)| alias).to_owned();
    let statement = statement.replace(CONDITION, &format!("{first}.tenant = $1"));
    let nodes = Tokens { rest: &statement }.group();
    // A piece may speak of a table that the whole statement names: one that is not given a name here.
    let (mut used, mut given) = (Vec::new(), Vec::new());
    names(&nodes, &mut used, &mut given);
    used.retain(|name| !given.contains(name));
    look(&nodes, &used)
}

/// The names before a dot, and those given to tables.
fn names<'s>(nodes: &[Node<'s>], used: &mut Vec<&'s str>, given: &mut Vec<&'s str>) {
    given.extend(super::touched(nodes).0.into_iter().map(|(_, alias)| alias));
    for node in nodes {
        match node {
            Node::Word(word) => used.extend(word.split_once('.').map(|(name, _)| name)),
            Node::Group(inner) => names(inner, used, given),
            Node::Mark(_) => {}
        }
    }
}

fn sources(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("the crate's sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.to_string_lossy().contains("tenancy") {
            let source = fs::read_to_string(&path).expect("a source");
            let (code, _) = source.split_once("#[cfg(test)]\nmod tests").unwrap_or((&source, ""));
            found.extend(texts(code));
        }
    }
}

#[test]
fn every_statement_that_is_written_here_stays_within_a_tenant() {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let statements = all.iter().filter(|text| as_statement(text).is_some()).count();
    let joins = all.iter().filter(|text| as_statement(text).is_some() && text.contains("JOIN ")).count();
    assert!(statements > 240 && joins > 25, "{statements} statements, {joins} with joins");
    let wrong: Vec<String> =
        all.iter().filter_map(|text| Some(format!("{} in: {text}", missing(text)?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pieces_and_holes_are_looked_into() {
    let source = r##"
        // "SELECT 1 FROM audit"
        let a = "SELECT {COLUMNS} FROM relations r LEFT JOIN entities s ON s.number = r.source WHERE {}";
        let b = r#"FROM memories e WHERE e.tenant = $1 AND EXISTS (SELECT 1 FROM digests d WHERE d.source = e.number)"#;
        let c = "SELECT 1 FROM memories m WHERE {LIVE}"; let quote = '"';
        let d = "SELECT 1 FROM {table} WHERE id = $2 UNION ALL \
                 SELECT 1 FROM tombstones WHERE id = $2";
        let e = "reviews v WHERE v.status = 'x'";
    "##;
    let wrong: Vec<Option<String>> = texts(source).iter().map(|text| missing(text)).collect();
    assert_eq!(wrong.len(), 5, "{wrong:?}");
    assert!(wrong.iter().all(Option::is_some), "{:?}", texts(source).iter().zip(wrong).collect::<Vec<_>>());
    let right = r#"
        "SELECT {COLUMNS} FROM relations r LEFT JOIN entities s ON s.tenant = r.tenant AND s.number = r.source WHERE {}";
        "m.kind = 'rule' AND NOT EXISTS (SELECT 1 FROM rules u WHERE u.tenant = m.tenant AND u.number = m.number)";
        "reviews v WHERE v.tenant = $1 AND v.status = 'x'"
    "#;
    assert_eq!(texts(right).iter().find_map(|text| missing(text)), None);
}
