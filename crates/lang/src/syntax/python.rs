//! Python.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, child, name, source},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("function_definition", Kind::Function, name),
        Rule::anywhere("class_definition", Kind::Class, name),
        Rule::outside("assignment", Kind::Variable, assigned),
        Rule::outside("type_alias_statement", Kind::Type, alias),
    ],
    wrappers: &["decorated_definition", "expression_statement"],
    comments: &["comment"],
    attributes: &["decorator"],
    bodies: &["block", "dictionary", "list", "set"],
    inner_doc: Some(docstring),
};

/// A name that a module gives a value, or a constant of a class; attributes and parts of tuples are none.
fn assigned<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let left = node.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
    let name = source(left, text);
    let is_constant = name.contains(char::is_uppercase) && !name.contains(char::is_lowercase);
    let in_module = node.start_position().column == 0;
    let named = Named::new(left, text).filter(|_| is_constant || in_module)?;
    Some(if is_constant { named.kind(Kind::Constant) } else { named })
}

fn alias<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    Named::new(node.child_by_field_name("left")?, text).map(|named| {
        let name = named.name.split('[').next().unwrap_or("").to_owned();
        Named { name, ..named }
    })
}

fn docstring<'t>(node: Node<'t>, text: &'t str) -> Option<&'t str> {
    let first = node.child_by_field_name("body")?.named_child(0)?;
    let literal = if first.kind() == "expression_statement" { child(first, "string")? } else { first };
    (literal.kind() == "string").then(|| source(literal, text))
}
