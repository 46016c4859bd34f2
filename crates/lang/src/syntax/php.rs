//! PHP, with the HTML around it.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, child, name},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_php::LANGUAGE_PHP.into(),
    rules: &[
        Rule { node: "namespace_definition", kind: Kind::Module, name, nested: false, rest: true },
        Rule::anywhere("class_declaration", Kind::Class, name),
        Rule::anywhere("interface_declaration", Kind::Interface, name),
        Rule::anywhere("trait_declaration", Kind::Trait, name),
        Rule::anywhere("enum_declaration", Kind::Enum, name),
        Rule::anywhere("function_definition", Kind::Function, name),
        Rule::anywhere("method_declaration", Kind::Method, name),
        Rule::outside("const_declaration", Kind::Constant, constant),
    ],
    wrappers: &[],
    comments: &["comment"],
    attributes: &["attribute_list"],
    bodies: &["compound_statement", "declaration_list", "enum_declaration_list"],
    inner_doc: None,
};

fn constant<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    Named::new(child(child(node, "const_element")?, "name")?, text)
}
