//! C.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, name_with_body},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_c::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("function_definition", Kind::Function, declared),
        Rule::outside("declaration", Kind::Variable, declaration),
        Rule::anywhere("struct_specifier", Kind::Struct, name_with_body),
        Rule::anywhere("union_specifier", Kind::Union, name_with_body),
        Rule::anywhere("enum_specifier", Kind::Enum, name_with_body),
        Rule::anywhere("type_definition", Kind::Type, type_definition),
        Rule::anywhere("preproc_def", Kind::Macro, macro_with_value),
        Rule::anywhere("preproc_function_def", Kind::Macro, macro_with_value),
    ],
    wrappers: &[],
    comments: &["comment"],
    attributes: &["attribute_declaration", "attribute_specifier"],
    bodies: BODIES,
    inner_doc: None,
};

pub(super) const BODIES: &[&str] =
    &["compound_statement", "field_declaration_list", "enumerator_list", "initializer_list"];

/// The name in a declarator, however many pointers, arrays and parameters stand around it; and whether it is a function's.
pub(super) fn declarator(node: Node<'_>) -> Option<(Node<'_>, bool)> {
    let mut at = node.child_by_field_name("declarator")?;
    let mut is_function = false;
    // Each step goes into the tree, so it ends; a pointer to a function is a variable.
    loop {
        let next = at.child_by_field_name("declarator");
        let Some(next) = next.or_else(|| inner(at)) else { return Some((at, is_function)) };
        match at.kind() {
            "function_declarator" => is_function = true,
            "pointer_declarator" | "parenthesized_declarator" if is_function => is_function = false,
            _ => {}
        }
        at = next;
    }
}

/// The declarator in parentheses or behind a reference, which has no field.
fn inner(node: Node<'_>) -> Option<Node<'_>> {
    let has =
        ["parenthesized_declarator", "reference_declarator", "attributed_declarator"].contains(&node.kind());
    let count = node.named_child_count();
    if has && count > 0 { node.named_child(0) } else { None }
}

pub(super) fn declared<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    Named::new(declarator(node)?.0, text)
}

/// A prototype, or a variable of the file.
pub(super) fn declaration<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let (name, is_function) = declarator(node)?;
    let named = Named::new(name, text)?;
    Some(if is_function { named.kind(Kind::Function) } else { named })
}

/// `typedef`; one of an unnamed structure is that structure.
pub(super) fn type_definition<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let of = node.child_by_field_name("type")?;
    let kind = match of.kind() {
        "struct_specifier" => Kind::Struct,
        "union_specifier" => Kind::Union,
        "enum_specifier" => Kind::Enum,
        _ => Kind::Type,
    };
    let is_unnamed = of.child_by_field_name("name").is_none();
    declared(node, text).map(|named| named.kind(if is_unnamed { kind } else { Kind::Type }))
}

/// A macro that stands for something; a mark that a header was read does not.
pub(super) fn macro_with_value<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    node.child_by_field_name("value")?;
    Named::new(node.child_by_field_name("name")?, text)
}
