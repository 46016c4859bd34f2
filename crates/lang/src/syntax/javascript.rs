//! JavaScript, with JSX.

use tree_sitter::Node;

use super::{
    Kind,
    grammar::{Grammar, Named, Rule, name, source},
};

pub(super) const GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_javascript::LANGUAGE.into(),
    rules: &[
        Rule::anywhere("function_declaration", Kind::Function, name),
        Rule::anywhere("generator_function_declaration", Kind::Function, name),
        Rule::anywhere("class_declaration", Kind::Class, name),
        Rule::anywhere("method_definition", Kind::Method, name),
        Rule::anywhere("field_definition", Kind::Method, callable_field),
        Rule::outside("variable_declarator", Kind::Variable, variable),
        Rule::outside("assignment_expression", Kind::Function, assigned_function),
    ],
    wrappers: WRAPPERS,
    comments: &["comment"],
    attributes: &["decorator"],
    bodies: BODIES,
    inner_doc: None,
};

pub(super) const WRAPPERS: &[&str] =
    &["export_statement", "lexical_declaration", "variable_declaration", "expression_statement"];
pub(super) const BODIES: &[&str] = &["statement_block", "class_body", "object", "array"];

/// A variable of a module: a function, a class, a constant, or what it is.
pub(super) fn variable<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let name = node.child_by_field_name("name").filter(|name| name.kind() == "identifier")?;
    let declaration = node.parent()?;
    let kind = match node.child_by_field_name("value").map_or("", |value| value.kind()) {
        "arrow_function" | "function_expression" | "generator_function" => Kind::Function,
        "class" => Kind::Class,
        _ if source(declaration, text).starts_with("const") => Kind::Constant,
        _ => Kind::Variable,
    };
    Named::new(name, text).map(|named| named.kind(kind))
}

/// `exports.name = function`, `Type.prototype.name = () => {}`.
pub(super) fn assigned_function<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let value = node.child_by_field_name("right")?;
    if !["arrow_function", "function_expression", "generator_function"].contains(&value.kind()) {
        return None;
    }
    let left = node.child_by_field_name("left").filter(|left| left.kind() == "member_expression")?;
    let named = Named::new(left.child_by_field_name("property")?, text)?;
    let object = source(left.child_by_field_name("object")?, text);
    match object.strip_suffix(".prototype") {
        Some(of) => Some(named.within(of.to_owned())),
        None => Some(named),
    }
}

/// A field of a class that holds a function.
pub(super) fn callable_field<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    let value = node.child_by_field_name("value")?;
    let name = node.child_by_field_name("property").or_else(|| node.child_by_field_name("name"))?;
    let is_function = ["arrow_function", "function_expression"].contains(&value.kind());
    Named::new(name, text).filter(|_| is_function)
}
