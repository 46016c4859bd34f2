//! Memories pinned to code, and what became of that code.
//!
//! A memory is pinned by a piece of evidence, `code:PATH`, `code:PATH:FIRST-LAST` or `code:PATH#SYMBOL`. When it is stored,
//! `@COMMIT~FINGERPRINT` is put behind it: the commit that was checked out, and what the pinned text was. So a pin goes
//! wherever its memory goes, and needs nothing else to be judged by. It is fresh while that text stands anywhere in its
//! file, or in the file that its file became; drifted when something else stands there; gone when nothing does.

pub mod check;
mod locate;
pub mod pin;
pub(crate) mod pins;
mod sarif;

use std::{collections::HashMap, ops::RangeInclusive};

use serde::Serialize;
use strata_store::ledger::EvidenceRow;

use self::locate::{Place, find, find_moved, follow};
use super::{
    branches::Git,
    files::{Gate, follow::Place as Files},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Call, is_default},
    vcs::{Change, ChangeKind},
};

/// What the evidence of a pin begins with, and its sort.
pub const CODE: &str = "code";
/// Digits of a commit that are shown.
const COMMIT: usize = 12;
/// Files that are looked at for a symbol that is no longer in its own.
const MAX_ELSEWHERE: usize = 40;

/// What is pinned of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// All of it.
    File,
    /// Lines, counted from 1.
    Lines(RangeInclusive<usize>),
    /// A definition, a heading or a key.
    Symbol(String),
}

/// A pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The file, from the project's root.
    pub path: String,
    /// What of it.
    pub target: Target,
    /// The commit at which it was pinned, and the fingerprint of what was; absent until it is stored.
    pub made: Option<(String, String)>,
}

/// What became of pinned code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// It stands as it was.
    Fresh,
    /// Something else stands there.
    Drifted,
    /// Nothing stands there.
    Gone,
}

impl Freshness {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Drifted => "drifted",
            Self::Gone => "gone",
        }
    }

    /// What a hit keeps of its score whose code is in this state.
    pub const fn share(self) -> f64 {
        match self {
            Self::Fresh => 1.0,
            Self::Drifted => 0.8,
            Self::Gone => 0.5,
        }
    }
}

/// A pin as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnchorView {
    /// The path, with lines or a symbol, as it was pinned.
    pub code: String,
    /// What became of it.
    pub state: Freshness,
    /// Where it is now, if that is elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The commit at which it was pinned.
    #[serde(skip_serializing_if = "is_default")]
    pub commit: String,
}

impl AnchorView {
    /// It in a few words.
    pub fn in_words(&self) -> String {
        let now = self.now.as_ref().map(|now| format!(", now {now}")).unwrap_or_default();
        format!("code {} {}{now}", self.code, self.state.as_str())
    }
}

impl Anchor {
    /// Reads a pin; `None` when the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.trim().strip_prefix("code:")?;
        let (rest, made) = match rest.rsplit_once('~').zip(rest.rsplit_once('@')) {
            Some(((front, span), (place, _))) if is_hexadecimal(span) => {
                let commit = front.rsplit_once('@').map_or("", |(_, commit)| commit);
                (place, Some((commit.to_owned(), span.to_owned())))
            }
            _ => (rest, None),
        };
        let (path, target) = if let Some((path, symbol)) = rest.split_once('#') {
            (path, Target::Symbol(symbol.trim().to_owned()))
        } else if let Some((path, range)) = rest.rsplit_once(':').and_then(|(p, r)| Some((p, lines(r)?))) {
            (path, Target::Lines(range))
        } else {
            (rest, Target::File)
        };
        let path = path.trim().trim_start_matches("./").replace('\\', "/");
        let is_some = !path.is_empty() && target != Target::Symbol(String::new());
        is_some.then_some(Self { path, target, made })
    }

    /// The path, with lines or a symbol.
    pub fn place(&self) -> String {
        place(&self.path, &self.target)
    }

    fn text(&self) -> String {
        let made = self.made.as_ref().map(|(commit, span)| format!("@{commit}~{span}")).unwrap_or_default();
        format!("code:{}{made}", self.place())
    }
}

fn place(path: &str, target: &Target) -> String {
    match target {
        Target::File => path.to_owned(),
        Target::Lines(range) => format!("{path}:{}-{}", range.start(), range.end()),
        Target::Symbol(name) => format!("{path}#{name}"),
    }
}

fn lines(text: &str) -> Option<RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (0 < first && first <= last).then_some(first..=last)
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Reads the project's files, and its repository where there is one.
pub(crate) struct Code {
    gate: Gate,
    git: Option<Git>,
    changes: HashMap<String, Vec<Change>>,
    texts: HashMap<String, Option<String>>,
    /// The commit whose files are read instead of those that lie there.
    at: Option<String>,
}

impl Code {
    /// The code of the caller's project; `None` where there is none.
    pub(crate) fn of(engine: &Engine, call: &Call<'_>) -> Option<Self> {
        let gate = Files::of(engine, call).ok()??.gate;
        let git = Git::of(engine, call).and_then(Result::ok);
        Some(Self { gate, git, changes: HashMap::new(), texts: HashMap::new(), at: None })
    }

    /// The same as of a commit.
    pub(crate) fn at(self, commit: &str) -> Self {
        Self { at: Some(commit.to_owned()), changes: HashMap::new(), texts: HashMap::new(), ..self }
    }

    /// Whether something was pinned after the commit that is looked at.
    fn is_older_than(&self, anchor: &Anchor) -> bool {
        let (Some(at), Some(git), Some((pinned, _))) = (&self.at, &self.git, &anchor.made) else {
            return false;
        };
        let is_the_same = at.starts_with(pinned.as_str());
        !is_the_same && git.repository.is_ancestor(at, pinned).unwrap_or(false)
    }

    pub(crate) fn git(&self) -> Option<&Git> {
        self.git.as_ref()
    }

    fn read(&mut self, path: &str) -> Option<String> {
        if let Some(known) = self.texts.get(path) {
            return known.clone();
        }
        let text = match (&self.at, &self.git) {
            (Some(commit), Some(git)) if self.gate.admits(path) => {
                let blob = git.repository.blob_at(commit, path).ok().flatten();
                blob.and_then(|bytes| Gate::text_of(&bytes))
            }
            (Some(_), _) => None,
            (None, _) => self.gate.read(path).ok().map(|file| file.text),
        };
        self.texts.insert(path.to_owned(), text.clone());
        text
    }

    /// What changed since a commit, up to what is looked at.
    fn changes_since(&mut self, commit: &str) -> &[Change] {
        let (git, at) = (&self.git, &self.at);
        self.changes.entry(commit.to_owned()).or_insert_with(|| {
            let Some(git) = git else { return Vec::new() };
            let head = at.clone().or_else(|| git.repository.head().ok()?.commit);
            head.and_then(|head| git.repository.diff(Some(commit), &head).ok()).unwrap_or_default()
        })
    }

    /// Pins what is checked out now, as `argument` of the call names it.
    ///
    /// # Errors
    /// The file is not there or may not be read, or has no such lines or symbol.
    fn pin(&mut self, anchor: &Anchor, argument: &'static str) -> Result<Anchor, Error> {
        let wrong = |what: String| Error::argument(argument, what, hint_for(argument));
        let path = self.gate.resolve(&anchor.path).map_err(|e| wrong(format!("`{}` {e}", anchor.path)))?;
        let file = self.gate.read(&path).map_err(|e| wrong(format!("`{}` {e}", anchor.path)))?;
        let place = find(&path, &file.text, &anchor.target)
            .ok_or_else(|| wrong(format!("`{path}` has nothing like `{}`", place("", &anchor.target))))?;
        let commit = self.git.as_ref().and_then(|git| git.repository.head().ok()?.commit).unwrap_or_default();
        Ok(Anchor { path, target: anchor.target.clone(), made: Some((commit, place.span)) })
    }

    /// What became of a pin.
    pub(crate) fn look(&mut self, anchor: &Anchor) -> Option<AnchorView> {
        let (commit, span) = anchor.made.clone()?;
        let (state, now) = self.judge(anchor, &commit, &span);
        let now = now.filter(|now| *now != anchor.place());
        let commit = commit.get(..COMMIT).unwrap_or_default().to_owned();
        Some(AnchorView { code: anchor.place(), state, now, commit })
    }

    /// The lines of pinned code as they are now: the first of its file where no others are known, `None` where the file is
    /// gone.
    fn lines_of(&mut self, view: &AnchorView) -> Option<RangeInclusive<usize>> {
        let anchor = Anchor::parse(&format!("code:{}", view.now.as_ref().unwrap_or(&view.code)))?;
        let text = self.read(&anchor.path)?;
        let place = match anchor.target {
            Target::File => None,
            _ => find(&anchor.path, &text, &anchor.target),
        };
        Some(place.map_or(1..=1, |place| place.lines))
    }

    fn judge(&mut self, anchor: &Anchor, commit: &str, span: &str) -> (Freshness, Option<String>) {
        let renamed = |change: &Change| match &change.kind {
            ChangeKind::Renamed { from, .. } if *from == anchor.path => Some(change.path.clone()),
            _ => None,
        };
        let (path, text) = match self.read(&anchor.path) {
            Some(text) => (anchor.path.clone(), text),
            None => {
                let Some(path) = self.changes_since(commit).iter().find_map(renamed) else {
                    return self.elsewhere(anchor, commit, span).unwrap_or((Freshness::Gone, None));
                };
                match self.read(&path) {
                    Some(text) => (path, text),
                    None => return (Freshness::Gone, None),
                }
            }
        };
        let shown = |place: Place| match anchor.target {
            Target::Lines(_) => format!("{path}:{}-{}", place.lines.start(), place.lines.end()),
            _ => crate::project::anchors::place(&path, &anchor.target),
        };
        let standing = find(&path, &text, &anchor.target);
        match (standing, &anchor.target) {
            (Some(place), _) if place.span == span => (Freshness::Fresh, Some(shown(place))),
            (_, Target::Lines(range)) => match find_moved(&text, range, span) {
                Some(place) => (Freshness::Fresh, Some(shown(place))),
                None => self.changed_lines(anchor, (commit, &path, &text), range),
            },
            (Some(place), _) => (Freshness::Drifted, Some(shown(place))),
            (None, _) => self.elsewhere(anchor, commit, span).unwrap_or((Freshness::Gone, None)),
        }
    }

    /// Lines that are not as they were: where they are now, as far as the version that they were pinned in tells.
    fn changed_lines(
        &self,
        anchor: &Anchor,
        (commit, path, text): (&str, &str, &str),
        range: &RangeInclusive<usize>,
    ) -> (Freshness, Option<String>) {
        let before = self.git.as_ref().and_then(|git| git.repository.blob_at(commit, &anchor.path).ok()?);
        let before = before.and_then(|bytes| Gate::text_of(&bytes));
        let Some(before) = before else { return (Freshness::Drifted, None) };
        match follow(before.as_bytes(), text.as_bytes(), range) {
            Some(range) => (Freshness::Drifted, Some(place(path, &Target::Lines(range)))),
            None => (Freshness::Gone, None),
        }
    }

    /// Looks for a symbol in the files that changed since it was pinned.
    fn elsewhere(
        &mut self,
        anchor: &Anchor,
        commit: &str,
        span: &str,
    ) -> Option<(Freshness, Option<String>)> {
        let Target::Symbol(_) = &anchor.target else { return None };
        let ending = |path: &str| path.rsplit_once('.').map(|(_, end)| end.to_owned());
        let own = ending(&anchor.path);
        let others: Vec<String> = self
            .changes_since(commit)
            .iter()
            .filter(|c| {
                !matches!(c.kind, ChangeKind::Deleted) && c.path != anchor.path && ending(&c.path) == own
            })
            .map(|c| c.path.clone())
            .take(MAX_ELSEWHERE)
            .collect();
        let mut changed = None;
        for path in others {
            let Some(text) = self.read(&path) else { continue };
            let Some(found) = find(&path, &text, &anchor.target) else { continue };
            let now = Some(place(&path, &anchor.target));
            if found.span == span {
                return Some((Freshness::Fresh, now));
            }
            changed = changed.or(Some((Freshness::Drifted, now)));
        }
        changed
    }
}

/// How code is named in an argument that is for code alone, and in one for whatever a memory rests on.
const fn hint_for(argument: &str) -> &'static str {
    match argument.as_bytes() {
        b"code" => "send PATH, PATH:10-20 or PATH#SYMBOL, from the project's root",
        _ => "name a file of the project as code:PATH, code:PATH:FIRST-LAST or code:PATH#SYMBOL",
    }
}

/// Pins what among evidence asks for it; the rest stays as it is.
///
/// # Errors
/// What is to be pinned is not there.
pub(crate) fn pin_all(engine: &Engine, call: &Call<'_>, evidence: Vec<String>) -> Result<Vec<String>, Error> {
    let mut code = None;
    evidence
        .into_iter()
        .map(|text| match Anchor::parse(&text).filter(|anchor| anchor.made.is_none()) {
            None => Ok(text),
            Some(anchor) => {
                if code.is_none() {
                    code = Code::of(engine, call);
                }
                // Without a project's files at hand it stays what it says.
                code.as_mut().map_or(Ok(text), |code| Ok(code.pin(&anchor, "evidence")?.text()))
            }
        })
        .collect()
}

/// The same where a place that is not there is no fault: it stays what it says.
pub(crate) fn pin_what_is_there(engine: &Engine, call: &Call<'_>, evidence: &[String]) -> Vec<String> {
    let pin = |text: &String| pin_all(engine, call, vec![text.clone()]).ok()?.pop();
    evidence.iter().map(|text| pin(text).unwrap_or_else(|| text.clone())).collect()
}

/// Whether two pins are of the same code in the same place, at whatever commits they were made.
pub(crate) fn is_same_pin(a: &str, b: &str) -> bool {
    let read = |text: &str| Anchor::parse(text).and_then(|anchor| Some((anchor.place(), anchor.made?.1)));
    read(a).is_some_and(|pin| read(b) == Some(pin))
}

/// The pins among what a memory rests on, in order: of several to one place the last, which was made when it was seen to
/// hold there.
pub(super) fn pins(evidence: &[EvidenceRow]) -> Vec<Anchor> {
    let mut pins: Vec<Anchor> = Vec::new();
    let made = |row: &EvidenceRow| Anchor::parse(&row.reference).filter(|anchor| anchor.made.is_some());
    for anchor in evidence.iter().filter(|row| row.kind == CODE).filter_map(made) {
        pins.retain(|earlier| earlier.place() != anchor.place());
        pins.push(anchor);
    }
    pins
}

/// Evidence for a text that says what holds now: its pins are made anew where the code has changed, and those to code that is
/// gone are left to the version before. Without a project's files at hand it stays as it is.
pub(crate) fn renewed(engine: &Engine, call: &Call<'_>, evidence: Vec<EvidenceRow>) -> Vec<EvidenceRow> {
    let known = pins(&evidence);
    let Some(mut code) = Code::of(engine, call).filter(|_| !known.is_empty()) else { return evidence };
    let at = engine.clock().now();
    let is_pin = |row: &EvidenceRow| {
        row.kind == CODE && Anchor::parse(&row.reference).is_some_and(|a| a.made.is_some())
    };
    let (was_pinned, mut kept): (Vec<_>, Vec<_>) = evidence.into_iter().partition(is_pin);
    for anchor in known {
        let Some(view) = code.look(&anchor) else { continue };
        let place = view.now.unwrap_or(view.code);
        let again = Anchor::parse(&format!("code:{place}")).and_then(|anchor| code.pin(&anchor, "code").ok());
        match (view.state, again) {
            (Freshness::Gone, _) => {}
            (Freshness::Drifted, Some(anchor)) => {
                let (kind, note) = (CODE.to_owned(), String::new());
                kept.push(EvidenceRow { kind, reference: anchor.text(), note, at });
            }
            _ => kept.extend(was_pinned.iter().rfind(|row| row.reference == anchor.text()).cloned()),
        }
    }
    kept
}

/// The pins among what memories rest on, as they stand now; memories without any are left out. Nothing is read of a
/// project unless one of them has a pin.
pub(crate) fn views(
    engine: &Engine,
    call: &Call<'_>,
    evidence: &HashMap<i64, Vec<EvidenceRow>>,
) -> HashMap<i64, Vec<AnchorView>> {
    let pinned: Vec<(i64, Vec<Anchor>)> = evidence
        .iter()
        .map(|(number, rows)| (*number, pins(rows)))
        .filter(|(_, pins)| !pins.is_empty())
        .collect();
    if pinned.is_empty() {
        return HashMap::new();
    }
    let Some(mut code) = Code::of(engine, call) else { return HashMap::new() };
    let mut seen = |pins: Vec<Anchor>| pins.iter().filter_map(|pin| code.look(pin)).collect();
    pinned.into_iter().map(|(number, pins)| (number, seen(pins))).collect()
}

/// The pins of memories, as they stand now, by the memories' numbers. Nothing where no project's files are at hand.
///
/// # Errors
/// Those of the store.
pub(crate) fn views_of(
    engine: &Engine,
    call: &Call<'_>,
    numbers: &[i64],
) -> Result<HashMap<i64, Vec<AnchorView>>, Error> {
    if numbers.is_empty() || engine.settings().project_root.is_none() {
        return Ok(HashMap::new());
    }
    let evidence = engine.read(call, |r| r.evidence_of(numbers))?;
    Ok(views(engine, call, &evidence))
}

/// Evidence as it is shown: a pin without what it is judged by.
pub fn shown(evidence: &str) -> String {
    Anchor::parse(evidence)
        .map_or_else(|| evidence.to_owned(), |anchor| Anchor { made: None, ..anchor }.text())
}

/// The worst state among pins.
pub fn worst(views: &[AnchorView]) -> Freshness {
    views.iter().map(|view| view.state).max().unwrap_or(Freshness::Fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_read_back_as_it_was_written() {
        for (text, target) in [
            ("code:src/a.rs", Target::File),
            ("code:src/a.rs:3-9", Target::Lines(3..=9)),
            ("code:src/a@2x.rs#A::go", Target::Symbol("A::go".into())),
        ] {
            let anchor = Anchor::parse(text).expect("a pin");
            assert_eq!((&anchor.target, &anchor.made), (&target, &None), "{text}");
            let made = Anchor { made: Some(("0123456789ab".into(), "00ff00ff00ff00ff".into())), ..anchor };
            assert_eq!(Anchor::parse(&made.text()), Some(made));
        }
        for none in ["src/a.rs:3", "code:", "code:#x", "https://a.test", "code"] {
            assert_eq!(Anchor::parse(none), None, "{none}");
        }
        assert_eq!(Anchor::parse("code:a.rs:7").map(|a| a.target), Some(Target::Lines(7..=7)));
        assert_eq!(Anchor::parse("code:a.rs:9-3").map(|a| a.target), Some(Target::File));
    }
}
