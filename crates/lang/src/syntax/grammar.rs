//! What a language has to say about itself.

use tree_sitter::Node;

use super::Kind;

/// A language as data.
pub(super) struct Grammar {
    pub(super) language: fn() -> tree_sitter::Language,
    /// Which nodes define something.
    pub(super) rules: &'static [Rule],
    /// Nodes around a definition that belong to it: `export`, `template`, decorators.
    pub(super) wrappers: &'static [&'static str],
    /// Nodes of comments.
    pub(super) comments: &'static [&'static str],
    /// Nodes before a definition, or inside it, that are no part of its signature.
    pub(super) attributes: &'static [&'static str],
    /// Nodes at which a signature ends, besides what stands in the field `body`.
    pub(super) bodies: &'static [&'static str],
    /// The documentation that stands in the body.
    pub(super) inner_doc: Option<for<'t> fn(Node<'t>, &'t str) -> Option<&'t str>>,
}

/// A node that defines something.
pub(super) struct Rule {
    pub(super) node: &'static str,
    pub(super) kind: Kind,
    /// Finds its name, or finds that it is none of interest.
    pub(super) name: for<'t> fn(Node<'t>, &'t str) -> Option<Named<'t>>,
    /// Whether it counts also inside a function.
    pub(super) nested: bool,
    /// Whether it encloses all that follows beside it.
    pub(super) rest: bool,
}

impl Rule {
    /// What counts wherever it stands.
    pub(super) const fn anywhere(
        node: &'static str,
        kind: Kind,
        name: for<'t> fn(Node<'t>, &'t str) -> Option<Named<'t>>,
    ) -> Self {
        Self { node, kind, name, nested: true, rest: false }
    }

    /// What counts unless a function encloses it.
    pub(super) const fn outside(
        node: &'static str,
        kind: Kind,
        name: for<'t> fn(Node<'t>, &'t str) -> Option<Named<'t>>,
    ) -> Self {
        Self { node, kind, name, nested: false, rest: false }
    }
}

/// The name of a definition.
pub(super) struct Named<'t> {
    pub(super) name: String,
    /// Where the name stands.
    pub(super) at: Node<'t>,
    /// What encloses it although it does not stand in it: the receiver of a method.
    pub(super) within: Option<String>,
    /// In place of the rule's kind.
    pub(super) kind: Option<Kind>,
}

impl<'t> Named<'t> {
    pub(super) fn new(at: Node<'t>, text: &str) -> Option<Self> {
        let name = words(at, text);
        (!name.is_empty()).then_some(Self { name, at, within: None, kind: None })
    }

    pub(super) fn kind(self, kind: Kind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    pub(super) fn within(self, scope: String) -> Self {
        Self { within: Some(scope).filter(|s| !s.is_empty()), ..self }
    }
}

/// The name in the field `name`.
pub(super) fn name<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    Named::new(node.child_by_field_name("name")?, text)
}

/// The name in the field `name` of a node that has a body; without one it only refers to a definition elsewhere.
pub(super) fn name_with_body<'t>(node: Node<'t>, text: &'t str) -> Option<Named<'t>> {
    node.child_by_field_name("body")?;
    name(node, text)
}

/// The text of a node; empty should its range be none of the text.
pub(super) fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or("")
}

/// The text of a node on one line, at most 160 characters of it.
pub(super) fn words(node: Node<'_>, text: &str) -> String {
    let mut words = String::new();
    for word in source(node, text).split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 160 {
            break;
        }
    }
    words.truncate(words.floor_char_boundary(160));
    words
}

/// The first child of a kind.
pub(super) fn child<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

#[cfg(test)]
mod tests {
    use crate::{Language, syntax};

    /// A kind that a grammar does not have would never match: the table must follow the grammar's version.
    #[test]
    fn every_node_of_a_table_is_one_of_its_grammar() {
        use Language::{Bash, C, Cpp, Go, Java, JavaScript, Php, Python, Ruby, Rust, Tsx, TypeScript};
        for language in [Bash, C, Cpp, Go, Java, JavaScript, Php, Python, Ruby, Rust, Tsx, TypeScript] {
            let grammar = syntax::grammar(language).expect("a grammar");
            let tree_sitter = (grammar.language)();
            let rules = grammar.rules.iter().map(|r| r.node);
            let lists = [grammar.wrappers, grammar.comments, grammar.attributes, grammar.bodies];
            for node in rules.chain(lists.into_iter().flatten().copied()) {
                assert_ne!(tree_sitter.id_for_node_kind(node, true), 0, "{}: {node}", language.as_str());
            }
        }
    }
}
