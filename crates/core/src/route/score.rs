//! The rules: what each signal adds to the score of its route.

use super::{Basis, Decision, Item, Route, Signal, SignalKind, reading::Hit, structure::Structure};
use crate::{memory::Kind, vocabulary::Sense};

/// Texts of at least so many characters that nothing speaks for are taken for knowledge.
const MIN_CHARS_FOR_FALLBACK: usize = 80;
/// A text of so many characters is long enough to be more than the todo it mentions.
const ASIDE_CHARS: usize = 400;
/// Most distinct markers of one sort that count.
const MOST: usize = 3;
const MOST_KNOWLEDGE: usize = 4;

/// What the first marker of a route brings, and what each marker adds.
#[derive(Clone, Copy)]
struct Weights {
    base: f64,
    each: f64,
}

impl Weights {
    const fn of(route: Route) -> Self {
        let (base, each) = match route {
            Route::Todo => (0.55, 0.10),
            Route::Skill => (0.52, 0.08),
            Route::UserProfile => (0.38, 0.04),
            Route::AgentOther => (0.46, 0.07),
            Route::Ephemeral => (0.48, 0.08),
            _ => (0.45, 0.07),
        };
        Self { base, each }
    }

    fn times(self, count: usize) -> f64 {
        self.base + self.each * count as f64
    }
}

/// A preference that is meant for everywhere.
const SCOPED_PROFILE: Weights = Weights { base: 0.56, each: 0.07 };
const SCOPE: f64 = 0.05;
/// Two hints tell, but less than one marker.
const HINTS: Weights = Weights { base: 0.40, each: 0.01 };
const LOG_SHAPED: Weights = Weights { base: 0.80, each: 0.03 };
const STEPS_IN_WORDS: f64 = 0.12;
const PROSE: f64 = 0.06;
/// What is left of a todo that a long text only mentions.
const ASIDE: f64 = 0.50;

/// How a signal counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Tells,
    Hints,
    Sequence,
    Scope,
    /// Added by a rule, with its own weight.
    Rule,
}

struct Evidence<'a> {
    found: Vec<(Sort, Signal)>,
    scores: Vec<(Route, f64)>,
    item: &'a Item<'a>,
    structure: &'a Structure,
    chars: usize,
}

pub(super) fn decide(
    item: &Item<'_>,
    content: &[Hit<'_>],
    section: &[Hit<'_>],
    structure: &Structure,
) -> Decision {
    let chars = item.content.trim().chars().count();
    let mut evidence = Evidence { found: Vec::new(), scores: Vec::new(), item, structure, chars };
    evidence.collect(section, true);
    evidence.collect(content, false);
    evidence.collect_structure();
    evidence.ephemeral();
    evidence.skill();
    evidence.profile();
    evidence.agent_other();
    evidence.knowledge();
    evidence.todo();
    evidence.decision()
}

/// Gathering, and counting.
impl Evidence<'_> {
    /// Distinct markers become signals without weight; the rules give weights to those that count.
    fn collect(&mut self, hits: &[Hit<'_>], in_section: bool) {
        for hit in hits {
            let Some((route, sort)) = role(hit.sense) else { continue };
            let is_same = |(s, signal): &(Sort, Signal)| {
                *s == sort && signal.route == route && signal.name == hit.marker
            };
            if self.found.iter().any(is_same) {
                continue;
            }
            let before = self.item.content.get(..hit.span.start).filter(|_| !in_section);
            let line = before.map_or(0, |before| 1 + before.matches('\n').count());
            let (name, span) = (hit.marker.to_owned(), Some(hit.span.clone()));
            let signal =
                Signal { kind: SignalKind::Marker, name, route, weight: 0.0, span, line, in_section };
            self.found.push((sort, signal));
        }
    }

    fn collect_structure(&mut self) {
        match self.item.kind.map(Kind::as_str) {
            Some("preference") => self.add(Sort::Tells, Route::UserProfile, "kind_preference", 0.0),
            Some("skill" | "procedure") => self.add(Sort::Tells, Route::Skill, "kind_names_a_procedure", 0.0),
            _ => {}
        }
        if self.structure.unticked > 0 {
            self.add(Sort::Tells, Route::Todo, "open_checkbox", 0.0);
        }
        if self.structure.has_address {
            self.add(Sort::Hints, Route::L1Knowledge, "states_an_address", 0.0);
        }
    }

    fn add(&mut self, sort: Sort, route: Route, name: &str, weight: f64) {
        self.add_signal(sort, SignalKind::Structure, route, name, weight);
    }

    fn negative(&mut self, route: Route, name: &str) {
        self.add_signal(Sort::Rule, SignalKind::Negative, route, name, 0.0);
    }

    fn add_signal(&mut self, sort: Sort, kind: SignalKind, route: Route, name: &str, weight: f64) {
        let name = name.to_owned();
        self.found.push((sort, Signal { kind, name, route, weight, span: None, line: 0, in_section: false }));
    }

    /// Gives the first `most` signals of a sort the weight `each`, and tells how many that are.
    fn weigh(&mut self, route: Route, sort: Sort, each: f64, most: usize) -> usize {
        let of_sort = self.found.iter_mut().filter(|(s, signal)| *s == sort && signal.route == route);
        let mut counted = 0;
        for (_, signal) in of_sort.take(most) {
            signal.weight = each;
            counted += 1;
        }
        counted
    }

    fn count(&self, route: Route, sort: Sort) -> usize {
        self.found.iter().filter(|(s, signal)| *s == sort && signal.route == route).count()
    }

    fn has_kind(&self, route: Route) -> bool {
        self.found.iter().any(|(_, s)| s.route == route && s.name.starts_with("kind_"))
    }

    fn set(&mut self, route: Route, score: f64) {
        self.scores.retain(|(r, _)| *r != route);
        self.scores.push((route, (score.min(1.0) * 1000.0).round() / 1000.0));
    }
}

/// The rules, one for each route.
impl Evidence<'_> {
    /// Markers count; without any, two hints do.
    fn plain(&mut self, route: Route, most: usize) -> Option<f64> {
        let weights = Weights::of(route);
        let told = self.weigh(route, Sort::Tells, weights.each, most);
        let score = if told > 0 {
            weights.times(told)
        } else if self.count(route, Sort::Hints) >= 2 {
            HINTS.times(self.weigh(route, Sort::Hints, HINTS.each, MOST_KNOWLEDGE))
        } else {
            return None;
        };
        self.set(route, score);
        Some(score)
    }

    fn ephemeral(&mut self) {
        if !self.structure.is_log() {
            self.plain(Route::Ephemeral, MOST);
            return;
        }
        let told = self.weigh(Route::Ephemeral, Sort::Tells, LOG_SHAPED.each, MOST);
        self.add(Sort::Rule, Route::Ephemeral, "log_shaped", LOG_SHAPED.base);
        self.set(Route::Ephemeral, LOG_SHAPED.times(told));
    }

    /// A procedure is words for actions, and steps in lines or in words.
    fn skill(&mut self) {
        if self.count(Route::Skill, Sort::Tells) == 0 {
            return;
        }
        let mut steps = self.structure.procedure();
        if self.count(Route::Skill, Sort::Sequence) >= 2 {
            steps.push(("steps_in_words", STEPS_IN_WORDS));
        }
        if self.structure.is_log() {
            return self.negative(Route::Skill, "skill_suppressed_by_log_shape");
        }
        if steps.is_empty() && !self.has_kind(Route::Skill) {
            return self.negative(Route::Skill, "skill_markers_without_structure");
        }
        let weights = Weights::of(Route::Skill);
        let told = self.weigh(Route::Skill, Sort::Tells, weights.each, MOST);
        let sum: f64 = steps.iter().map(|(_, weight)| weight).sum();
        for (name, weight) in steps {
            self.add(Sort::Rule, Route::Skill, name, weight);
        }
        self.set(Route::Skill, weights.times(told) + sum);
    }

    /// Where a rule holds says nothing about whose it is: scope counts beside a preference only.
    fn profile(&mut self) {
        let told = self.count(Route::UserProfile, Sort::Tells);
        if told == 0 || self.count(Route::UserProfile, Sort::Scope) == 0 {
            self.plain(Route::UserProfile, MOST);
            return;
        }
        let told = self.weigh(Route::UserProfile, Sort::Tells, SCOPED_PROFILE.each, MOST);
        let scopes = self.weigh(Route::UserProfile, Sort::Scope, SCOPE, MOST);
        self.set(Route::UserProfile, SCOPED_PROFILE.times(told) + SCOPE * scopes as f64);
    }

    fn agent_other(&mut self) {
        self.plain(Route::AgentOther, MOST);
    }

    fn knowledge(&mut self) {
        let Some(score) = self.plain(Route::L1Knowledge, MOST_KNOWLEDGE) else { return };
        if self.count(Route::L1Knowledge, Sort::Tells) == 1 && self.opens_with_a_preference() {
            self.set(Route::L1Knowledge, HINTS.base);
            return self.negative(Route::L1Knowledge, "knowledge_within_a_preference");
        }
        if self.chars >= MIN_CHARS_FOR_FALLBACK && self.structure.procedure().is_empty() {
            self.add(Sort::Rule, Route::L1Knowledge, "declarative_prose", PROSE);
            self.set(Route::L1Knowledge, score + PROSE);
        }
    }

    /// "I prefer the conclusion first" is no conclusion.
    fn opens_with_a_preference(&self) -> bool {
        let first = |route: Route| {
            let told = self
                .found
                .iter()
                .filter(|(sort, s)| *sort == Sort::Tells && s.route == route && !s.in_section);
            told.filter_map(|(_, s)| s.span.as_ref()).map(|span| span.start).min()
        };
        first(Route::UserProfile).zip(first(Route::L1Knowledge)).is_some_and(|(mine, other)| mine < other)
    }

    /// A long text that explains something and mentions one open point in passing is not that point.
    fn todo(&mut self) {
        if self.plain(Route::Todo, MOST).is_none() {
            return;
        }
        let told: Vec<&Signal> = self
            .found
            .iter()
            .filter(|(s, signal)| *s == Sort::Tells && signal.route == Route::Todo)
            .map(|f| &f.1)
            .collect();
        let is_aside = self.chars >= ASIDE_CHARS
            && told.len() == 1
            && told.iter().all(|signal| self.is_in_passing(signal))
            && self.count(Route::L1Knowledge, Sort::Tells) >= 2;
        if is_aside {
            self.set(Route::Todo, ASIDE);
            self.negative(Route::Todo, "todo_in_passing");
        }
    }

    /// Whether a marker stands neither at the beginning of a line nor before a colon.
    fn is_in_passing(&self, signal: &Signal) -> bool {
        let Some(span) = signal.span.as_ref().filter(|_| !signal.in_section) else { return false };
        let before = self.item.content[..span.start].trim_end_matches([' ', '-', '*', '#', '/', '>']);
        let after = self.item.content[span.end..].trim_start();
        let is_first = before.is_empty() || before.ends_with('\n');
        !is_first && !signal.name.ends_with(':') && !after.starts_with([':', '：'])
    }
}

impl Evidence<'_> {
    fn decision(mut self) -> Decision {
        let place = |route: Route| Route::CLASSIFIED.iter().position(|r| *r == route);
        self.scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(place(a.0).cmp(&place(b.0))));
        let Some((route, score)) = self.scores.first().copied() else { return self.undecided() };
        let kept = self.found.into_iter().map(|(_, signal)| signal);
        let mut signals: Vec<Signal> =
            kept.filter(|s| s.weight > 0.0 || s.kind == SignalKind::Negative).collect();
        let place =
            |s: &Signal| (s.span.is_none(), !s.in_section, s.span.as_ref().map_or(0, |span| span.start));
        signals.sort_by_key(place);
        let (basis, reason) = (Basis::Insufficient, String::new());
        let alternatives = self.scores.split_off(1);
        let mut decision =
            Decision { route, score, basis, reason, signals, alternatives, warnings: Vec::new() };
        let is_there = |kind: SignalKind| decision.deciding().any(|s| s.kind == kind);
        decision.basis = match (is_there(SignalKind::Marker), is_there(SignalKind::Structure)) {
            (true, true) => Basis::Mixed,
            (true, false) => Basis::Markers,
            (false, _) => Basis::Structure,
        };
        decision.reason = decision.deciding().map(explain).collect::<Vec<_>>().join("; ");
        decision
    }

    fn undecided(self) -> Decision {
        let is_long = self.chars >= MIN_CHARS_FOR_FALLBACK;
        let (route, reason) = if is_long {
            (Route::L1Knowledge, "long enough to be knowledge, and nothing speaks for another place")
        } else {
            (Route::Undecided, "nothing in it tells where it belongs")
        };
        let warning = "decided by length alone: read the text before you rely on the route".to_owned();
        let negatives = self.found.into_iter().map(|(_, s)| s).filter(|s| s.kind == SignalKind::Negative);
        Decision {
            route,
            score: 0.0,
            basis: Basis::Insufficient,
            reason: reason.to_owned(),
            signals: negatives.collect(),
            alternatives: Vec::new(),
            warnings: if is_long { vec![warning] } else { Vec::new() },
        }
    }
}

/// Which route a sense speaks for, and how it counts; `None` for what is no matter of routes.
fn role(sense: Sense) -> Option<(Route, Sort)> {
    match sense {
        Sense::Tells(route) => Some((route, Sort::Tells)),
        Sense::Hints(route) => Some((route, Sort::Hints)),
        Sense::Sequence => Some((Route::Skill, Sort::Sequence)),
        Sense::Scope => Some((Route::UserProfile, Sort::Scope)),
        Sense::Open | Sense::Resolved => None,
    }
}

fn explain(signal: &Signal) -> String {
    let place = match (signal.in_section, signal.line) {
        (true, _) => " in the heading".to_owned(),
        (false, 0) => String::new(),
        (false, line) => format!(" on line {line}"),
    };
    format!("{}{place}", signal.describe())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{route::built_in, vocabulary::Vocabulary};

    fn decide(content: &str) -> Decision {
        built_in().classify(&Item { content, ..Item::default() })
    }

    #[test]
    fn steps_with_actions_are_a_skill() {
        let text =
            "Deploy checklist\n1. git pull\n2. docker build -t app .\n3. kubectl rollout status deploy/app";
        let found = decide(text);
        assert_eq!((found.route, found.score, found.basis), (Route::Skill, 0.88, Basis::Mixed));
        assert_eq!(found.route.ownership().as_str(), "agent");
    }

    #[test]
    fn an_architecture_note_is_knowledge_whatever_it_mentions() {
        let found = decide("架构说明：引擎负责写入，发布流程和验证由网关完成，两者的边界是消息队列。");
        assert_eq!(found.route, Route::L1Knowledge);
        assert!(found.signals.iter().any(|s| s.name == "skill_markers_without_structure"));
    }

    #[test]
    fn markers_have_their_scores() {
        for (text, route, score) in [
            ("TODO wire up the exporter", Route::Todo, 0.65),
            ("待拍板的方案", Route::Todo, 0.65),
            ("i prefer tabs", Route::UserProfile, 0.42),
            ("From now on I prefer short answers in all projects", Route::UserProfile, 0.73),
            ("2026-02-11 10:00:01 INFO a\n2026-02-11 10:00:02 INFO b", Route::Ephemeral, 0.8),
            ("Agent memory holds the tone of voice", Route::AgentOther, 0.53),
        ] {
            let found = decide(text);
            assert_eq!((found.route, found.score), (route, score), "{text}: {}", found.reason);
        }
        assert_eq!(decide("todo_store is a module").route, Route::Undecided);
    }

    #[test]
    fn length_alone_decides_weakly_and_always_alike() {
        let (short, long) = ("x".repeat(79), "x".repeat(80));
        assert_eq!((decide(&short).route, decide(&short).basis), (Route::Undecided, Basis::Insufficient));
        let found = decide(&long);
        assert_eq!((found.route, found.score, found.warnings.len()), (Route::L1Knowledge, 0.0, 1));
        assert_eq!(decide("").route, Route::Undecided);
        assert_eq!(decide(&long), found);
    }

    #[test]
    fn markers_are_added_and_switched_off() {
        let mut vocabulary = Vocabulary::built_in().clone();
        vocabulary.extend("[todo]\ntells = ['à faire']").expect("TOML");
        vocabulary.disable(&["TODO", "todo:"]);
        let router = crate::route::Router::new(&vocabulary);
        let route = |content: &str| router.classify(&Item { content, ..Item::default() }).route;
        assert_eq!(route("à faire : le rapport"), Route::Todo);
        assert_eq!(route("TODO: the report"), Route::Undecided);
    }

    #[test]
    fn a_decision_says_which_rule_and_which_words_and_where() {
        let section = Some("Open question");
        let found = built_in().classify(&Item {
            content: "a\nwe decided on Kafka\n- [ ] ask Ann",
            section,
            kind: None,
        });
        assert_eq!(found.reason, "marker \"open question\" in the heading; open checkbox");
        assert_eq!(found.route, Route::Todo);
        assert_eq!(found.alternatives, [(Route::L1Knowledge, 0.52)]);
        let decided = found.signals.iter().find(|s| s.name == "decided").expect("it was weighed");
        assert_eq!((decided.span.clone(), decided.line, decided.in_section), (Some(5..12), 2, false));
    }

    #[test]
    fn a_preference_with_a_reason_stays_one() {
        let found = decide("I prefer tabs because they align");
        assert_eq!((found.route, found.score), (Route::UserProfile, 0.42));
        assert_eq!(found.alternatives, [(Route::L1Knowledge, 0.4)]);
        let decided = decide("We decided on tabs because they align and I like them");
        assert_eq!(decided.route, Route::L1Knowledge);
    }

    #[test]
    fn a_long_explanation_is_not_the_todo_it_mentions() {
        let prose = "The design of the queue rests on one decision: each tenant has a partition, because orders of one tenant must stay in order. ";
        let text = format!("{}One TODO remains in the retry path. {}", prose.repeat(2), prose.repeat(2));
        let found = decide(&text);
        assert_eq!(found.route, Route::L1Knowledge, "{}", found.reason);
        assert!(found.signals.iter().any(|s| s.name == "todo_in_passing"));
        assert_eq!(decide(&format!("{text}\nTODO: mend the retry path")).route, Route::Todo);
    }
}
