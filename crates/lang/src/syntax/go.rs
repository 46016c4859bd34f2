//! Go.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, name, source},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_go::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("function_declaration", Kind::Function, name),
        Rule::anywhere("method_declaration", Kind::Method, method),
        Rule::anywhere("type_spec", Kind::Type, declared_type),
        Rule::anywhere("type_alias", Kind::Type, name),
        Rule::anywhere("method_elem", Kind::Method, name),
        Rule::outside("const_spec", Kind::Constant, name),
        Rule::outside("var_spec", Kind::Variable, name),
    ],
    wrappers: &["type_declaration", "const_declaration", "var_declaration", "var_spec_list"],
    comments: &["comment"],
    attributes: &[],
    bodies: &["block", "field_declaration_list", "method_elem", "literal_value"],
    inner_doc: None,
};

/// A method, within the type of its receiver.
fn method<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let receiver = source(node.child_by_field_name("receiver")?, text);
    let of = receiver.trim_matches(['(', ')', ' ']).rsplit([' ', '*']).find(|word| !word.is_empty());
    let of = of.unwrap_or("").split('[').next().unwrap_or("");
    name(node, text).map(|named| named.within(of.to_owned()))
}

fn declared_type<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let kind = match node.child_by_field_name("type").map_or("", |of| of.kind()) {
        "struct_type" => Kind::Struct,
        "interface_type" => Kind::Interface,
        _ => Kind::Type,
    };
    name(node, text).map(|named| named.kind(kind))
}
