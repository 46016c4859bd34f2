//! Java.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, child, name, source},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_java::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("class_declaration", Kind::Class, name),
        Rule::anywhere("record_declaration", Kind::Class, name),
        Rule::anywhere("interface_declaration", Kind::Interface, name),
        Rule::anywhere("annotation_type_declaration", Kind::Interface, name),
        Rule::anywhere("enum_declaration", Kind::Enum, name),
        Rule::anywhere("method_declaration", Kind::Method, name),
        Rule::anywhere("constructor_declaration", Kind::Method, name),
        Rule::anywhere("compact_constructor_declaration", Kind::Method, name),
        Rule::outside("field_declaration", Kind::Constant, constant),
        Rule::outside("constant_declaration", Kind::Constant, declared),
    ],
    wrappers: &[],
    comments: &["line_comment", "block_comment"],
    attributes: &["annotation", "marker_annotation"],
    bodies: &["block", "class_body", "interface_body", "enum_body", "constructor_body", "array_initializer"],
    inner_doc: None,
};

/// A field that is `static final`.
fn constant<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let modifiers = source(child(node, "modifiers")?, text);
    let has = |word| modifiers.split_whitespace().any(|modifier| modifier == word);
    if has("static") && has("final") { declared(node, text) } else { None }
}

fn declared<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    name(node.child_by_field_name("declarator")?, text)
}
