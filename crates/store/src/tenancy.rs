//! Every statement names the tenant of every table it touches. Builds with debug assertions look at each text before
//! it is first prepared, so that every test of every crate watches over it; a released binary does not.
//!
//! It reads the few forms of SQL that are written here, not SQL: a form it does not know is a finding, too.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashSet},
    io::Write,
    sync::OnceLock,
};

use crate::{error::StoreError, sql::Param};

/// Begins a statement that is meant to reach rows of any tenant: tests that damage a ledger have such.
const ANY_TENANT: &str = "/* any tenant */";

/// The file that every distinct statement is appended to, if `STRATA_STATEMENTS` named one when this was built: see
/// [`note`].
const RECORD: Option<&str> = option_env!("STRATA_STATEMENTS");

/// Fails if `sql` touches a table of ours without naming its tenant. `params` are what it is run with.
pub(crate) fn check(sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
    thread_local! {
        static SEEN: RefCell<HashSet<String>> = RefCell::default();
    }
    note(sql, params);
    if SEEN.with_borrow(|seen| seen.contains(sql)) {
        return Ok(());
    }
    if let Some(missing) = missing(sql) {
        return Err(StoreError::Internal(format!("{missing}, in: {sql}")));
    }
    SEEN.with_borrow_mut(|seen| seen.insert(sql.to_owned()));
    Ok(())
}

/// Appends the statement with the types of its parameters to the file, once per process: one line of types, a tab
/// and the text.
fn note(sql: &str, params: &[Param<'_>]) {
    static NOTED: std::sync::Mutex<BTreeSet<String>> = std::sync::Mutex::new(BTreeSet::new());
    let Some(path) = RECORD else { return };
    let types: Vec<&str> = params
        .iter()
        .map(|param| match param {
            Param::Null => "unknown",
            Param::Integer(_) => "bigint",
            Param::Real(_) => "double precision",
            Param::Text(_) => "text",
            Param::Blob(_) => "bytea",
        })
        .collect();
    let text = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{}\t{text}\n", types.join(","));
    let mut noted = NOTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if noted.insert(line.clone()) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).ok();
    }
}

/// The tables that have a tenant: those of the ledger's and the index's schema.
fn tables() -> &'static BTreeSet<&'static str> {
    static TABLES: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let ledger = crate::ledger::SCHEMA.migrations.iter();
        let texts = ledger.chain(crate::index::MIGRATIONS).map(|migration| migration.sql);
        texts
            .flat_map(|sql| sql.split("CREATE TABLE ").skip(1))
            .filter_map(|rest| rest.split([' ', '(']).next())
            .collect()
    })
}

/// What the statement lacks; `None` if nothing.
fn missing(sql: &str) -> Option<String> {
    if sql.starts_with(ANY_TENANT) {
        return None;
    }
    let mut tokens = Tokens { rest: sql };
    look(&tokens.group(), &[])
}

/// A piece of a statement: a word with its dots, a mark, or what stands in parentheses.
enum Node<'s> {
    Word(&'s str),
    Mark(char),
    Group(Vec<Self>),
}

impl Node<'_> {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(found) if found.eq_ignore_ascii_case(word))
    }
}

struct Tokens<'s> {
    rest: &'s str,
}

impl<'s> Tokens<'s> {
    /// The nodes up to the closing parenthesis or the end.
    fn group(&mut self) -> Vec<Node<'s>> {
        let mut nodes = Vec::new();
        while let Some(first) = self.rest.chars().next() {
            if is_of_word(first) {
                let end = self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len());
                nodes.push(Node::Word(&self.rest[..end]));
                self.rest = &self.rest[end..];
                continue;
            }
            self.rest = &self.rest[first.len_utf8()..];
            match first {
                '(' => nodes.push(Node::Group(self.group())),
                ')' => break,
                '\'' | '"' => {
                    let end = self.rest.find(first).map_or(self.rest.len(), |end| end + 1);
                    self.rest = &self.rest[end..];
                    nodes.push(Node::Mark(first));
                }
                space if space.is_whitespace() => {}
                mark => nodes.push(Node::Mark(mark)),
            }
        }
        nodes
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$')
}

/// What a statement begins with, or goes on with after `WITH`.
const VERBS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/// Looks at a statement, a subselect, or what else stands in parentheses. `outer` are the names of the tables around it.
fn look(nodes: &[Node<'_>], outer: &[&str]) -> Option<String> {
    let verb = nodes.iter().position(|node| VERBS.into_iter().any(|verb| node.is(verb)));
    let (before, statement) = nodes.split_at(verb.unwrap_or(nodes.len()));
    let within = before.iter().find_map(|node| match node {
        Node::Group(inner) => look(inner, outer),
        _ => None,
    });
    if within.is_some() || statement.is_empty() {
        return within;
    }
    if statement.first().is_some_and(|node| node.is("INSERT"))
        && let Some(found) = look_at_insert(statement)
    {
        return Some(found);
    }
    statement.split(|node| node.is("UNION")).find_map(|arm| look_at_arm(arm, outer))
}

/// Whether the columns and the conflict target of an insert name the tenant.
fn look_at_insert(nodes: &[Node<'_>]) -> Option<String> {
    let names_tenant = |node: Option<&Node<'_>>| match node {
        Some(Node::Group(columns)) => columns.iter().any(|column| column.is("tenant")),
        _ => false,
    };
    let Some(Node::Word(table)) = nodes.get(2) else { return Some("an insert into nothing".to_owned()) };
    if !is_ours(table) {
        return None;
    }
    if !names_tenant(nodes.get(3)) {
        return Some(format!("the columns of `{table}` lack the tenant"));
    }
    let conflict = nodes.windows(3).find(|three| three[0].is("ON") && three[1].is("CONFLICT"));
    match conflict {
        Some(three) if matches!(three[2], Node::Group(_)) && !names_tenant(Some(&three[2])) => {
            Some(format!("the conflict target of `{table}` lacks the tenant"))
        }
        _ => None,
    }
}

/// Looks at one select, or at an update or delete.
fn look_at_arm(nodes: &[Node<'_>], outer: &[&str]) -> Option<String> {
    let (ours, derived) = touched(nodes);
    // A name that is given again here means the table here.
    let mut named: Vec<&str> =
        outer.iter().copied().filter(|name| !ours.iter().any(|(_, alias)| alias == name)).collect();
    named.extend(derived);
    let pairs = equalities(nodes);
    let single = ours.len() == 1;
    loop {
        let before = named.len();
        for (_, alias) in &ours {
            let mine = |side: &str| {
                side.strip_suffix(".tenant").is_some_and(|of| of == *alias) || (single && side == "tenant")
            };
            let known = |side: &str| {
                side.starts_with('$') || side.strip_suffix(".tenant").is_some_and(|of| named.contains(&of))
            };
            let holds = pairs.iter().any(|(a, b)| (mine(a) && known(b)) || (mine(b) && known(a)));
            if holds && !named.contains(alias) {
                named.push(alias);
            }
        }
        if named.len() == before {
            break;
        }
    }
    if let Some((table, alias)) = ours.iter().find(|(_, alias)| !named.contains(alias)) {
        return Some(format!("the tenant of `{table}` ({alias}) is not named"));
    }
    if !ours.is_empty() && nodes.iter().any(|node| node.is("OR")) {
        return Some("an OR outside parentheses undoes the tenant".to_owned());
    }
    nodes.iter().find_map(|node| match node {
        Node::Group(inner) => look(inner, &named),
        _ => None,
    })
}

/// What ends the list of tables after `FROM`.
const ENDS_LIST: [&str; 8] = ["WHERE", "SET", "ORDER", "GROUP", "LIMIT", "RETURNING", "SELECT", "HAVING"];

/// The tables of ours with what they are called here, and what subselects in `FROM` are called.
fn touched<'s>(nodes: &[Node<'s>]) -> (Vec<(&'s str, &'s str)>, Vec<&'s str>) {
    const NO_NAME: [&str; 16] = [
        "WHERE",
        "SET",
        "JOIN",
        "LEFT",
        "INNER",
        "CROSS",
        "ON",
        "ORDER",
        "GROUP",
        "LIMIT",
        "RETURNING",
        "SELECT",
        "VALUES",
        "USING",
        "HAVING",
        "OFFSET",
    ];
    let (mut ours, mut derived) = (Vec::new(), Vec::new());
    let mut in_list = false;
    for (at, node) in nodes.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| nodes.get(before));
        let from = node.is("FROM") && !before.is_some_and(|node| node.is("DISTINCT"));
        in_list = from || (in_list && !ENDS_LIST.iter().any(|end| node.is(end)));
        let names = from
            || node.is("JOIN")
            || (node.is("UPDATE") && !before.is_some_and(|node| node.is("DO")))
            || (in_list && (matches!(node, Node::Mark(',')) || node.is("USING")));
        if !names {
            continue;
        }
        let mut after = nodes.iter().skip(at + 2).filter(|node| !node.is("AS"));
        let alias = match after.next() {
            Some(Node::Word(word)) if !NO_NAME.iter().any(|no| no.eq_ignore_ascii_case(word)) => Some(*word),
            _ => None,
        };
        match nodes.get(at + 1) {
            Some(Node::Word(table)) if is_ours(table) => ours.push((*table, alias.unwrap_or(table))),
            Some(Node::Group(_)) => derived.extend(alias),
            _ => {}
        }
    }
    (ours, derived)
}

/// Whether it is one of our tables, with or without its schema.
fn is_ours(table: &str) -> bool {
    tables().contains(table.rsplit('.').next().unwrap_or(table))
}

/// The sides of equalities that are outside parentheses.
fn equalities<'s>(nodes: &[Node<'s>]) -> Vec<(&'s str, &'s str)> {
    let equality = |three: &[Node<'s>]| match three {
        [Node::Word(a), Node::Mark('='), Node::Word(b)] => Some((*a, *b)),
        _ => None,
    };
    nodes.windows(3).filter_map(equality).collect()
}

#[cfg(test)]
mod written;

#[cfg(test)]
mod tests {
    use super::{missing, tables};

    #[test]
    fn the_tables_are_those_of_both_schemas() {
        for table in ["meta", "memories", "relations", "tenants", "postings"] {
            assert!(tables().contains(table), "{table}");
        }
        assert_eq!(tables().len(), 33 + 13);
    }

    #[test]
    fn statements_that_name_every_tenant_pass() {
        for sql in [
            "SELECT 1",
            "SELECT version FROM schema_migrations",
            "SELECT count(*) FROM memories WHERE tenant = $1",
            "SELECT m.id FROM memories m JOIN audit a ON a.tenant = m.tenant AND a.seq = m.seq WHERE m.tenant = $1",
            "SELECT a.id FROM audit a LEFT JOIN memories m ON m.tenant = a.tenant WHERE $1 = a.tenant",
            "SELECT e.number FROM episodes e WHERE e.tenant = $1 AND NOT EXISTS
                 (SELECT 1 FROM digests d WHERE d.tenant = e.tenant AND (d.kind = 'x' OR d.source = e.number))",
            "SELECT 1 FROM memories WHERE tenant = $1 UNION ALL SELECT 1 FROM tombstones WHERE tenant = $1 LIMIT 1",
            "INSERT INTO settings (tenant, key, value) VALUES ($1, $2, $3)
                 ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value",
            "INSERT INTO usage (tenant, number) SELECT tenant, number FROM memories WHERE tenant = $1 AND number = $2",
            "UPDATE memories SET status = s.status FROM memory_states s
                 WHERE memories.tenant = $1 AND s.tenant = memories.tenant AND s.number = memories.number",
            "DELETE FROM tails WHERE tenant = $1 AND slot IN (SELECT slot FROM tails WHERE tenant = $1 LIMIT $2)",
            "/* any tenant */ DELETE FROM audit",
        ] {
            assert_eq!(missing(sql), None, "{sql}");
        }
    }

    #[test]
    fn statements_that_leave_a_tenant_out_are_found() {
        for sql in [
            "SELECT count(*) FROM memories",
            "SELECT m.id FROM memories m JOIN audit a ON a.seq = m.seq WHERE m.tenant = $1",
            "SELECT m.id FROM memories m JOIN audit a ON a.tenant = m.tenant",
            "SELECT m.id FROM memories m JOIN audit a ON a.seq = m.seq WHERE tenant = $1",
            "SELECT e.number FROM episodes e WHERE e.tenant = $1 AND NOT EXISTS
                 (SELECT 1 FROM digests d WHERE d.source = e.number)",
            "SELECT 1 FROM memories WHERE tenant = $1 UNION ALL SELECT 1 FROM tombstones WHERE id = $2",
            "SELECT 1 FROM memories WHERE tenant = $1 OR id = $2",
            "SELECT 1 FROM memories WHERE id = $2 AND (tenant = $1 OR id = $3)",
            "INSERT INTO settings VALUES ($1, $2, $3)",
            "INSERT INTO settings (key, value) VALUES ($2, $3)",
            "INSERT INTO settings (tenant, key, value) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING",
            "INSERT INTO usage (tenant, number) SELECT tenant, number FROM memories WHERE number = $2",
            "UPDATE memories SET tier = 'hot' WHERE number = $1",
            "UPDATE memories SET status = s.status FROM memory_states s
                 WHERE memories.tenant = $1 AND s.number = memories.number",
            "DELETE FROM tails WHERE tenant = $1 AND slot IN (SELECT slot FROM tails LIMIT $2)",
            "SELECT 1 FROM memories m, audit a WHERE m.tenant = $1 AND a.seq = m.seq",
            "DELETE FROM tails USING passages p WHERE tails.tenant = $1 AND p.slot = tails.slot",
            "WITH own AS (SELECT number FROM memories WHERE tenant = $1) SELECT 1 FROM audit",
            "WITH own AS (SELECT number FROM memories) SELECT 1 FROM audit WHERE tenant = $1",
            "SELECT 1 FROM strata_ledger.audit",
        ] {
            assert!(missing(sql).is_some(), "{sql}");
        }
    }
}
