//! Text that does not follow its grammar.

use tree_sitter::{Node, Tree};

use crate::lines::Lines;

/// Where to take the text up again, behind `from`: at the line that begins the next definition which a fault swallowed.
///
/// A parser that meets an open bracket may read all that follows as one fault. A definition outside of others begins in the
/// first column, with a word or a mark before one; so the first such line behind the beginning of the fault is taken.
pub(super) fn resume(tree: &Tree, lines: &Lines<'_>, from: usize) -> Option<usize> {
    let root = tree.root_node();
    if !root.has_error() {
        return None;
    }
    if root.is_error() {
        let fault = first_token(root).unwrap_or(root);
        return next(lines, fault.start_position().row, lines.count()).filter(|next| *next > from);
    }
    let mut cursor = root.walk();
    let faults = root.children(&mut cursor).filter(Node::is_error);
    let swallowed = |fault: Node<'_>| {
        next(lines, fault.start_position().row, fault.end_position().row + 1).filter(|next| *next > from)
    };
    faults.into_iter().find_map(swallowed)
}

/// The first part of a fault that is not a whole construct.
fn first_token(fault: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = fault.walk();
    fault.children(&mut cursor).find(|child| !child.is_named() || child.is_error())
}

/// The first line behind `row`, and before `end`, that looks like a definition.
fn next(lines: &Lines<'_>, row: usize, end: usize) -> Option<usize> {
    let begins = |line: &str| {
        let first = line.chars().next();
        first.is_some_and(|c| c.is_alphabetic() || c == '_' || c == '@') || line.starts_with("#[")
    };
    // `end` and `else` close or go on.
    let closes = |line: &str| {
        let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        ["end", "else", "elif", "fi", "done", "esac", "except", "finally", "rescue", "catch"].contains(&word)
    };
    let row = (row + 1..end.min(lines.count())).find(|row| {
        let line = lines.line(*row);
        begins(line) && !closes(line)
    })?;
    Some(lines.start(row))
}
