//! Source text by its syntax.
//!
//! A language is one file of data below this module: which nodes are definitions, and where their names stand. One walk reads
//! them all. It goes with a cursor and a stack of its own, so that no nesting is too deep for it.

mod bash;
mod c;
mod cpp;
mod faults;
mod go;
mod grammar;
mod java;
mod javascript;
mod php;
mod python;
mod ruby;
mod rust;
mod typescript;
mod walk;
mod words;

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Point, Range, Tree};

use crate::{Fallback, Found, Language, Limits, Reading, Span, lines::Lines, pack::Marks};
use grammar::Grammar;
use walk::Walk;

/// A definition in source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// As it is written, without what encloses it; `impl Trait for Type` for an implementation.
    pub name: String,
    /// What is defined.
    pub kind: Kind,
    /// The definition up to its body on one line, without attributes; at most 240 characters.
    pub signature: String,
    /// The text of the comment that belongs to it, without its marks.
    pub doc: Option<String>,
    /// The names of what encloses it, outermost first; of more than 16, the innermost.
    pub scope: Vec<String>,
    /// Comments and attributes before it, and all of it.
    pub span: Span,
    /// The line on which its name stands, counted from 1.
    pub line: usize,
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is what languages call so")]
pub enum Kind {
    Function,
    Method,
    Class,
    Struct,
    Union,
    Enum,
    Trait,
    Interface,
    Impl,
    Module,
    Constant,
    Variable,
    Type,
    Macro,
}

impl Kind {
    /// The kind in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Enum => "enum",
            Self::Trait => "trait",
            Self::Interface => "interface",
            Self::Impl => "impl",
            Self::Module => "module",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Type => "type",
            Self::Macro => "macro",
        }
    }

    /// Whether functions in it are its methods.
    const fn has_methods(self) -> bool {
        matches!(
            self,
            Self::Class
                | Self::Struct
                | Self::Union
                | Self::Enum
                | Self::Trait
                | Self::Interface
                | Self::Impl
                | Self::Type
        )
    }

    /// Whether what is in it is its own affair: variables in it are no symbols.
    const fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }
}

/// Whether there is a grammar.
pub(crate) fn knows(language: Language) -> bool {
    grammar(language).is_some()
}

fn grammar(language: Language) -> Option<&'static Grammar> {
    Some(match language {
        Language::Bash => &bash::GRAMMAR,
        Language::C => &c::GRAMMAR,
        Language::Cpp => &cpp::GRAMMAR,
        Language::Go => &go::GRAMMAR,
        Language::Java => &java::GRAMMAR,
        Language::JavaScript => &javascript::GRAMMAR,
        Language::Php => &php::GRAMMAR,
        Language::Python => &python::GRAMMAR,
        Language::Ruby => &ruby::GRAMMAR,
        Language::Rust => &rust::GRAMMAR,
        Language::Tsx => &typescript::TSX,
        Language::TypeScript => &typescript::GRAMMAR,
        _ => return None,
    })
}

/// Reads a source text, or cuts it at its lines when it cannot be parsed within the limits.
pub(crate) fn read(
    language: Language,
    lines: &Lines<'_>,
    limits: &Limits,
    stop: &dyn Fn() -> bool,
) -> Reading {
    let known = Some(language);
    let parsed = match grammar(language) {
        None => Err(Fallback::NoGrammar),
        Some(_) if lines.text().len() > limits.syntax_bytes => Err(Fallback::TooLarge),
        Some(grammar) => parse(grammar, lines, stop),
    };
    match parsed {
        Ok((symbols, marks)) => Reading::new(known, Found::Symbols(symbols), None, lines, &marks, limits),
        Err(why) => Reading::new(known, Found::Lines, Some(why), lines, &Marks::plain(lines), limits),
    }
}

/// The most calls of the progress function for all parses of a text: so many, and one for each so many bytes. A call is some
/// hundred operations. This project's sources need a call for a hundred bytes, and for fifty at most.
const CALLS: usize = 10_000;
const BYTES_PER_CALL: usize = 8;
/// How often a text is taken up again behind a fault.
const RESUMED: usize = 16;

/// Parses a text; where a fault swallows the definitions behind it, the parse is taken up again at the next of them.
fn parse(
    grammar: &Grammar,
    lines: &Lines<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(Vec<Symbol>, Marks), Fallback> {
    let text = lines.text();
    let mut parser = Parser::new();
    parser.set_language(&(grammar.language)()).map_err(|_| Fallback::NoGrammar)?;
    let mut calls = CALLS + text.len() / BYTES_PER_CALL;
    let mut walk = Walk::new(grammar, lines);
    let mut from = 0;
    for resumed in 0..=RESUMED {
        let tree = parse_from(&mut parser, lines, from, &mut calls, stop)?;
        let next = if resumed < RESUMED { faults::resume(&tree, lines, from) } else { None };
        walk.take(&tree, next.unwrap_or(text.len()));
        match next {
            Some(next) => from = next,
            None => break,
        }
    }
    Ok(walk.end())
}

/// Parses what stands from the beginning of a line to the end; places are those in the whole text.
fn parse_from(
    parser: &mut Parser,
    lines: &Lines<'_>,
    from: usize,
    calls: &mut usize,
    stop: &dyn Fn() -> bool,
) -> Result<Tree, Fallback> {
    let text = lines.text();
    let bytes = text.as_bytes();
    if from > 0 {
        let last = lines.count().saturating_sub(1);
        let start_point = Point::new(lines.at(from), 0);
        let end_point = Point::new(last, lines.line(last).len());
        let range = Range { start_byte: from, end_byte: text.len(), start_point, end_point };
        parser.set_included_ranges(&[range]).map_err(|_| Fallback::TooSlow)?;
    }
    let mut progress = |_: &ParseState| {
        *calls = calls.saturating_sub(1);
        if *calls == 0 || stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut input = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut input, None, Some(options)).ok_or(Fallback::TooSlow)
}
