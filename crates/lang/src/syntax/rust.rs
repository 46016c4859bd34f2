//! Rust.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, name, name_with_body, words},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_rust::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("function_item", Kind::Function, name),
        Rule::anywhere("function_signature_item", Kind::Function, name),
        Rule::anywhere("struct_item", Kind::Struct, name),
        Rule::anywhere("union_item", Kind::Union, name),
        Rule::anywhere("enum_item", Kind::Enum, name),
        Rule::anywhere("trait_item", Kind::Trait, name),
        Rule::anywhere("impl_item", Kind::Impl, implementation),
        Rule::anywhere("mod_item", Kind::Module, name_with_body),
        Rule::outside("const_item", Kind::Constant, name),
        Rule::outside("static_item", Kind::Variable, name),
        Rule::anywhere("type_item", Kind::Type, name),
        Rule::anywhere("macro_definition", Kind::Macro, name),
    ],
    wrappers: &[],
    comments: &["line_comment", "block_comment"],
    attributes: &["attribute_item", "inner_attribute_item"],
    bodies: &["block", "field_declaration_list", "declaration_list", "enum_variant_list", "macro_rule"],
    inner_doc: None,
};

/// `impl Type`, `impl Trait for Type`: generic parameters of the implementation itself are left out.
fn implementation<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let of = node.child_by_field_name("type")?;
    let name = match node.child_by_field_name("trait") {
        Some(implemented) => format!("impl {} for {}", words(implemented, text), words(of, text)),
        None => format!("impl {}", words(of, text)),
    };
    Some(Named { name, at: of, within: None, kind: None })
}
