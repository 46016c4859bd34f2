//! Ruby.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, name},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_ruby::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("class", Kind::Class, name),
        Rule::anywhere("module", Kind::Module, name),
        Rule::anywhere("method", Kind::Function, name),
        Rule::anywhere("singleton_method", Kind::Function, name),
        Rule::outside("assignment", Kind::Constant, constant),
    ],
    wrappers: &[],
    comments: &["comment"],
    attributes: &[],
    bodies: &["body_statement", "array", "hash"],
    inner_doc: None,
};

fn constant<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    Named::new(node.child_by_field_name("left").filter(|left| left.kind() == "constant")?, text)
}
