//! The one walk over a tree of syntax: it finds the symbols and the places for cuts.

use std::ops::Range;

use tree_sitter::{Node, Tree, TreeCursor};

use super::{
    Kind, Symbol,
    grammar::{Grammar, Named, Rule, source},
    words,
};
use crate::{
    lines::Lines,
    pack::{DEEPEST, LAST, Marks},
};

/// What was found in a text, by one tree or by several that follow each other.
pub(super) struct Walk<'a, 't> {
    text: &'t str,
    lines: &'a Lines<'t>,
    grammar: &'a Grammar,
    kinds: Kinds,
    symbols: Vec<Symbol>,
    /// Rows whose first node was met.
    seen: Vec<bool>,
    marks: Marks,
}

impl<'a, 't> Walk<'a, 't> {
    pub(super) fn new(grammar: &'a Grammar, lines: &'a Lines<'t>) -> Self {
        Self {
            text: lines.text(),
            lines,
            grammar,
            kinds: Kinds::of(grammar),
            symbols: Vec::new(),
            seen: vec![false; lines.count() + 1],
            marks: Marks::plain(lines),
        }
    }

    /// Takes from a tree what begins before `until`.
    pub(super) fn take(&mut self, tree: &Tree, until: usize) {
        let mut step = Step { walk: self, until, frames: Vec::new(), open: Vec::new() };
        step.run(&mut tree.walk());
    }

    /// The symbols in the order in which they begin, and the places for cuts.
    pub(super) fn end(mut self) -> (Vec<Symbol>, Marks) {
        self.symbols.sort_by_key(|s| (s.span.bytes.start, std::cmp::Reverse(s.span.bytes.end)));
        (self.symbols, self.marks)
    }
}

/// What each kind of node is, by its number.
struct Kinds(Vec<Role>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    Comment,
    Attribute,
    Wrapper,
    Body,
    Symbol(usize),
}

impl Kinds {
    fn of(grammar: &Grammar) -> Self {
        let language = (grammar.language)();
        let mut roles = vec![Role::Plain; language.node_kind_count() + 1];
        let mut set = |node: &str, role| {
            let id = usize::from(language.id_for_node_kind(node, true));
            if let Some(place) = roles.get_mut(id).filter(|_| id > 0) {
                *place = role;
            }
        };
        let lists = [
            (grammar.comments, Role::Comment),
            (grammar.attributes, Role::Attribute),
            (grammar.wrappers, Role::Wrapper),
            (grammar.bodies, Role::Body),
        ];
        for (nodes, role) in lists {
            nodes.iter().for_each(|node| set(node, role));
        }
        // A body such as a type's list of fields may be a definition too; then it is one.
        grammar.rules.iter().enumerate().for_each(|(at, rule)| set(rule.node, Role::Symbol(at)));
        Self(roles)
    }

    fn role(&self, node: Node<'_>) -> Role {
        self.0.get(usize::from(node.kind_id())).copied().unwrap_or(Role::Plain)
    }
}

/// A node that the walk is in.
struct Frame<'t> {
    node: Node<'t>,
    /// Comments and attributes that were passed and belong to what comes next.
    pending: Leading,
    /// Those of the child that is being walked.
    current: Leading,
    /// The kind of that child, and of the one before, comments and attributes aside.
    now: Option<u16>,
    passed: Option<u16>,
    /// How many symbols are open around the node's children.
    base: usize,
    /// The same, with one that encloses the rest of them.
    open: usize,
}

#[derive(Debug, Clone, Default)]
struct Leading {
    start: Option<usize>,
    comments: Vec<Range<usize>>,
    has_attribute: bool,
    /// The last row of them.
    row: usize,
}

/// A symbol that encloses what is being walked.
struct Open {
    name: String,
    kind: Kind,
    /// Whether it, or what encloses it, is called.
    in_callable: bool,
}

/// The most names of a scope: those nearest to the symbol.
const SCOPES: usize = 16;

/// The walk over one tree.
struct Step<'w, 'a, 't, 'n> {
    walk: &'w mut Walk<'a, 't>,
    until: usize,
    frames: Vec<Frame<'n>>,
    open: Vec<Open>,
}

impl<'n> Step<'_, '_, '_, 'n> {
    fn run(&mut self, cursor: &mut TreeCursor<'n>) {
        loop {
            let node = cursor.node();
            self.open.truncate(self.frames.last().map_or(0, |frame| frame.open));
            if self.enter(node) && cursor.goto_first_child() {
                self.frames.push(Frame::new(node, self.open.len()));
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.frames.pop();
            }
        }
    }

    /// Looks at a node, and says whether something of interest may stand in it.
    fn enter(&mut self, node: Node<'n>) -> bool {
        if !node.is_named() || node.start_byte() >= self.until {
            return false;
        }
        let role = self.walk.kinds.role(node);
        // A body stays with its head, wherever its first brace or statement stands.
        if role != Role::Body {
            self.mark_row(node);
        }
        if matches!(role, Role::Comment | Role::Attribute) {
            self.lead(node, role == Role::Attribute);
            return false;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.current = std::mem::take(&mut frame.pending).before(node);
            frame.passed = frame.now.replace(node.kind_id());
        }
        if let Role::Symbol(at) = role {
            self.define(node, &self.walk.grammar.rules[at]);
        }
        let is_one_row = node.start_position().row == node.end_position().row;
        !(is_one_row && self.is_in_callable())
    }

    fn is_in_callable(&self) -> bool {
        self.open.last().is_some_and(|open| open.in_callable)
    }

    /// The first node on a row, if nothing stands before it, makes the row a place for a cut.
    fn mark_row(&mut self, node: Node<'_>) {
        let row = node.start_position().row;
        if self.walk.seen.get(row).is_none_or(|seen| *seen) {
            return;
        }
        self.walk.seen[row] = true;
        let depth = u8::try_from(self.frames.len()).unwrap_or(DEEPEST).min(DEEPEST - 1) + 1;
        if self.is_first(node.start_byte(), row)
            && let Some(level) = self.walk.marks.level.get_mut(row)
        {
            *level = depth;
        }
    }

    fn is_first(&self, byte: usize, row: usize) -> bool {
        self.walk.text.get(self.walk.lines.start(row)..byte).is_some_and(|before| before.trim().is_empty())
    }

    /// Keeps a comment or attribute for what follows it.
    fn lead(&mut self, node: Node<'_>, is_attribute: bool) {
        let text = source(node, self.walk.text).trim_end();
        let row = node.start_position().row;
        let is_alone = is_attribute || self.is_first(node.start_byte(), row);
        let is_shebang = node.start_byte() == 0 && text.starts_with("#!") && !is_attribute;
        let Some(frame) = self.frames.last_mut() else { return };
        if !is_alone || is_shebang {
            frame.pending = Leading::default();
            return;
        }
        let pending = &mut frame.pending;
        if !pending.has_attribute && row > pending.row + 1 {
            *pending = Leading::default();
        }
        pending.start.get_or_insert(node.start_byte());
        pending.has_attribute |= is_attribute;
        if !is_attribute {
            pending.comments.push(node.start_byte()..node.start_byte() + text.len());
        }
        pending.row = row + text.matches('\n').count();
    }

    /// Adds the symbol that a node defines.
    fn define(&mut self, node: Node<'n>, rule: &Rule) {
        if !rule.nested && self.is_in_callable() {
            return;
        }
        let Some(named) = (rule.name)(node, self.walk.text) else { return };
        let at = self.outermost(node);
        let outer = self.frames.get(at).map_or(node, |frame| frame.node);
        let leading = at.checked_sub(1).and_then(|i| self.frames.get(i)).map(|frame| frame.current.clone());
        let leading = leading.unwrap_or_default();
        let start = leading.start.unwrap_or(outer.start_byte()).min(outer.start_byte());
        let end = outer.end_byte().min(self.until.max(named.at.end_byte()));
        let end = start + self.walk.text.get(start..end).unwrap_or("").trim_end().len();
        let span = self.walk.lines.span(start..end);
        self.mark_symbol(&span, named.at.start_position().row);
        let kind = self.kind(rule, &named);
        let near = self.open.len().saturating_sub(SCOPES);
        let mut scope: Vec<String> = self.open[near..].iter().map(|open| open.name.clone()).collect();
        scope.extend(named.within.clone());
        let signature = self.signature(at, node, &named);
        let doc = self.doc(node, &leading);
        let line = named.at.start_position().row + 1;
        self.walk.symbols.push(Symbol { name: named.name.clone(), kind, signature, doc, scope, span, line });
        self.open_scope(rule.rest, named.name, kind);
    }

    /// The position in the stack of the outermost wrapper of a node, or of the node itself.
    fn outermost(&self, node: Node<'n>) -> usize {
        let mut at = self.frames.len();
        let mut inner = node;
        while let Some(frame) = at.checked_sub(1).and_then(|i| self.frames.get(i)) {
            let is_wrapper = self.walk.kinds.role(frame.node) == Role::Wrapper;
            let is_first = frame.passed != Some(inner.kind_id());
            let last = || frame.node.named_child(frame.node.named_child_count().saturating_sub(1) as _);
            if !is_wrapper || !is_first || last() != Some(inner) {
                break;
            }
            inner = frame.node;
            at -= 1;
        }
        at
    }

    /// An item begins with its first comment, and no cut parts it from them.
    fn mark_symbol(&mut self, span: &crate::Span, name_row: usize) {
        let first = span.first_line - 1;
        if self.is_first(span.bytes.start, first) {
            self.walk.marks.begins[first] = true;
            // Also where the comment stands deeper in the tree than what it is about.
            self.walk.seen[first] = true;
            let depth = u8::try_from(self.frames.len()).unwrap_or(DEEPEST).clamp(1, DEEPEST);
            self.walk.marks.level[first] = self.walk.marks.level[first].min(depth + 1);
        }
        for row in first + 1..=name_row.min(self.walk.lines.count().saturating_sub(1)) {
            self.walk.seen[row] = true;
            self.walk.marks.level[row] = LAST;
        }
    }

    fn kind(&self, rule: &Rule, named: &Named<'_>) -> Kind {
        let kind = named.kind.unwrap_or(rule.kind);
        let in_type = self.open.last().is_some_and(|open| open.kind.has_methods());
        if kind == Kind::Function && (in_type || named.within.is_some()) { Kind::Method } else { kind }
    }

    fn signature(&self, at: usize, node: Node<'n>, named: &Named<'_>) -> String {
        let wrappers = self.frames[at.min(self.frames.len())..].iter().map(|frame| frame.node);
        let mut left_out = Vec::new();
        let mut start = node.start_byte();
        for node in wrappers.chain([node]) {
            start = start.min(node.start_byte());
            self.attributes(node, named.at.start_byte(), &mut left_out);
        }
        let end = self.body(node, named.at.end_byte(), &mut left_out).max(named.at.end_byte());
        left_out.sort_by_key(|range| range.start);
        words::signature(self.walk.text, start..end, &left_out)
    }

    /// The attributes before the name, two levels deep.
    fn attributes(&self, node: Node<'n>, name: usize, found: &mut Vec<Range<usize>>) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).take_while(|child| child.start_byte() < name) {
            if matches!(self.walk.kinds.role(child), Role::Attribute | Role::Comment) {
                found.push(child.byte_range());
            } else if child.kind() == "modifiers" {
                self.attributes(child, name, found);
            }
        }
    }

    /// Where the body of a definition begins; what stands behind `name` and is a comment is no part of the signature.
    fn body(&self, node: Node<'n>, name: usize, comments: &mut Vec<Range<usize>>) -> usize {
        /// A signature is shorter than this.
        const REACH: usize = 4000;
        let field = |node: Node<'n>, name| node.child_by_field_name(name);
        let known = field(node, "body").or_else(|| field(field(node, "value")?, "body"));
        let mut end = known.map_or(node.end_byte(), |body| body.start_byte());
        let mut level = vec![node];
        for depth in 0..3 {
            let mut next = Vec::new();
            for node in level {
                let mut cursor = node.walk();
                let near = |child: &Node<'_>| child.start_byte() < end && child.start_byte() < name + REACH;
                next.extend(node.named_children(&mut cursor).take_while(near));
            }
            for node in next.iter().filter(|node| node.start_byte() > name) {
                match self.walk.kinds.role(*node) {
                    // What looks like a body inside of what has one is the value of a parameter.
                    Role::Body | Role::Symbol(_) if known.is_none() || depth == 0 => {
                        end = end.min(node.start_byte());
                    }
                    Role::Comment => comments.push(node.byte_range()),
                    _ => {}
                }
            }
            level = next;
        }
        end
    }

    /// The documentation in the body, else that before it.
    fn doc(&self, node: Node<'n>, leading: &Leading) -> Option<String> {
        let inner = self.walk.grammar.inner_doc.and_then(|find| find(node, self.walk.text));
        inner.and_then(words::unquoted).or_else(|| {
            let comments = leading.comments.iter().filter_map(|range| self.walk.text.get(range.clone()));
            words::doc(&comments.collect::<Vec<_>>())
        })
    }

    fn open_scope(&mut self, rest: bool, name: String, kind: Kind) {
        if let Some(frame) = self.frames.last_mut().filter(|_| rest) {
            self.open.truncate(frame.base);
            frame.open = frame.base + 1;
        }
        let in_callable = kind.is_callable() || self.is_in_callable();
        self.open.push(Open { name, kind, in_callable });
    }
}

impl<'t> Frame<'t> {
    fn new(node: Node<'t>, open: usize) -> Self {
        let (pending, current) = (Leading::default(), Leading::default());
        Self { node, pending, current, now: None, passed: None, base: open, open }
    }
}

impl Leading {
    /// What of it belongs to a node: all, unless a blank line lies between a comment and the node.
    fn before(self, node: Node<'_>) -> Self {
        let is_near = self.has_attribute || node.start_position().row <= self.row + 1;
        if is_near { self } else { Self::default() }
    }
}
