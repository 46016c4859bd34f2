//! TypeScript, and TSX.

use super::{
    Kind,
    grammar::{Grammar, Rule, name, name_with_body},
    javascript::{BODIES, assigned_function, callable_field, variable},
};

pub(super) const GRAMMAR: Grammar =
    Grammar { language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), ..TSX };

pub(super) const TSX: Grammar = Grammar {
    language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    rules: &[
        Rule::anywhere("function_declaration", Kind::Function, name),
        Rule::anywhere("generator_function_declaration", Kind::Function, name),
        Rule::anywhere("function_signature", Kind::Function, name),
        Rule::anywhere("class_declaration", Kind::Class, name),
        Rule::anywhere("abstract_class_declaration", Kind::Class, name),
        Rule::anywhere("interface_declaration", Kind::Interface, name),
        Rule::anywhere("enum_declaration", Kind::Enum, name),
        Rule::anywhere("type_alias_declaration", Kind::Type, name),
        Rule::anywhere("internal_module", Kind::Module, name_with_body),
        Rule::anywhere("module", Kind::Module, name_with_body),
        Rule::anywhere("method_definition", Kind::Method, name),
        Rule::anywhere("method_signature", Kind::Method, name),
        Rule::anywhere("abstract_method_signature", Kind::Method, name),
        Rule::anywhere("public_field_definition", Kind::Method, callable_field),
        Rule::outside("variable_declarator", Kind::Variable, variable),
        Rule::outside("assignment_expression", Kind::Function, assigned_function),
    ],
    wrappers: &[
        "export_statement",
        "ambient_declaration",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
    ],
    comments: &["comment"],
    attributes: &["decorator"],
    bodies: BODIES,
    inner_doc: None,
};
