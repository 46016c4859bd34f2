//! Bash and its kin.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, child, name, source},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_bash::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("function_definition", Kind::Function, name),
        Rule::outside("declaration_command", Kind::Constant, read_only),
    ],
    wrappers: &[],
    comments: &["comment"],
    attributes: &[],
    bodies: &["compound_statement"],
    inner_doc: None,
};

/// `readonly NAME=...`, `declare -r NAME=...`.
fn read_only<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let mut words = source(node, text).split_whitespace();
    let is_read_only = match words.next() {
        Some("readonly") => true,
        Some("declare" | "typeset") => {
            words.next().is_some_and(|option| option.starts_with('-') && option.contains('r'))
        }
        _ => false,
    };
    let assignment = child(node, "variable_assignment").filter(|_| is_read_only)?;
    Named::new(assignment.child_by_field_name("name")?, text)
}
