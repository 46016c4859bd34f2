//! C++.

use tree_sitter::Node;

use super::{
    Kind, c,
    grammar::{Grammar, Named, Rule, name, name_with_body, source, words},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_cpp::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("function_definition", Kind::Function, function),
        Rule::outside("declaration", Kind::Variable, declaration),
        Rule::outside("field_declaration", Kind::Method, method_declaration),
        Rule::anywhere("class_specifier", Kind::Class, name_with_body),
        Rule::anywhere("struct_specifier", Kind::Struct, name_with_body),
        Rule::anywhere("union_specifier", Kind::Union, name_with_body),
        Rule::anywhere("enum_specifier", Kind::Enum, name_with_body),
        Rule::anywhere("namespace_definition", Kind::Module, name_with_body),
        Rule::anywhere("concept_definition", Kind::Trait, name),
        Rule::anywhere("alias_declaration", Kind::Type, name),
        Rule::anywhere("type_definition", Kind::Type, c::type_definition),
        Rule::anywhere("preproc_def", Kind::Macro, c::macro_with_value),
        Rule::anywhere("preproc_function_def", Kind::Macro, c::macro_with_value),
    ],
    wrappers: &["template_declaration"],
    comments: &["comment"],
    attributes: &["attribute_declaration", "attribute_specifier"],
    bodies: &[
        "compound_statement",
        "field_declaration_list",
        "enumerator_list",
        "initializer_list",
        "declaration_list",
        "field_initializer_list",
    ],
    inner_doc: None,
};

/// A name as in `Queue::push`: the last part, within the parts before.
fn qualified<'t>(at: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let mut at = at;
    let mut scopes = Vec::new();
    while at.kind() == "qualified_identifier" {
        let scope = at.child_by_field_name("scope").map(|scope| words(scope, text));
        // Without its parameters, as the type is called where it is defined.
        scopes.extend(scope.and_then(|scope| scope.split('<').next().map(str::to_owned)));
        at = at.child_by_field_name("name")?;
    }
    Named::new(at, text).map(|named| named.within(scopes.join("::")))
}

fn function<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    qualified(c::declarator(node)?.0, text)
}

fn declaration<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let (name, is_function) = c::declarator(node)?;
    let named = qualified(name, text)?;
    Some(if is_function { named.kind(Kind::Function) } else { named })
}

/// A method that a class declares; its fields are no symbols.
fn method_declaration<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let (name, is_function) = c::declarator(node)?;
    if is_function && !source(name, text).is_empty() { qualified(name, text) } else { None }
}
