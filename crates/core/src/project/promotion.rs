//! What becomes of a candidate beside the memories in force.
//!
//! The seed's table (memory-engine, section 8.15) with one law above it: nothing takes the place of a different fact. So
//! a known text gives way only to one that says all of it, and what is merely alike stands beside it, related to it. What
//! cannot hold together is put before a person, and both sides stay in sight until they decide.
//!
//! | words | subject, and how sure | becomes |
//! |---|---|---|
//! | say nothing new | any | `discard` |
//! | contradict | any | `needs_review` |
//! | say all of the known and more | near, as sure | `supersede` |
//! | say all of the known and more | the same one, or near and a little less sure | `update` |
//! | say other things | the same one, much less sure | `needs_review` |
//! | say other things | the same title, a little less sure | `merge` |
//! | say other things | else | `create`, related to what is alike |

use std::collections::BTreeSet;

use super::{
    areas::Areas,
    likeness::{Class, Likeness, Node},
    wording::{contained, is_another_order, words},
};
use crate::{
    analysis::content_terms,
    duplicate::{
        Comparison, Difference, DifferenceKind, Prepared, Verdict,
        contradiction::{self, Claims},
    },
    memory::words,
};

words! {
    /// What becomes of a candidate.
    Promotion, "promotion" {
        /// It is stored beside what is known.
        Create = "create",
        /// It is stored as the next version of a memory that says less.
        Update = "update",
        /// Its text is added to that of a surer memory.
        Merge = "merge",
        /// It takes the place of a memory of which it says all.
        Supersede = "supersede",
        /// It says nothing new.
        Discard = "discard",
        /// It is stored, and a person is asked which of two holds.
        NeedsReview = "needs_review",
    }
}

/// By so much less sure a candidate may be and still count as the known one's equal.
pub const TOLERANCE: f64 = 0.15;
/// The axis of a conflict with a surer memory that says something else of the same thing, and contradicts nothing.
pub const CONFIDENCE: &str = "confidence";
/// This share of its words a text must have in another that says all of it.
const ALL_OF_IT: f64 = 0.9;
/// Characters that a text may come to by merging.
const MAX_MERGED: usize = 4_000;

/// A memory in force, and what may be done to it.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The memory.
    pub node: Node<'a>,
    /// Whether the candidate may take its place: it belongs to the same branch, and no person wrote it.
    pub gives_way: bool,
}

/// Why a person is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// What differs: an axis of contradiction, `wording` for another value in a costly part, or `confidence`.
    pub axis: &'static str,
    /// What both are about.
    pub subject: String,
    /// What the known one says, and what the candidate says.
    pub values: [String; 2],
    /// How sure it is that both cannot hold, 0 to 1.
    pub score: f64,
}

/// What becomes of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What is done.
    pub action: Promotion,
    /// The known memory that it is done to, by its place in the list; the likest one for `create`.
    pub target: Option<usize>,
    /// How like the two are.
    pub likeness: Option<Likeness>,
    /// Why a person is asked.
    pub conflict: Option<Conflict>,
    /// Known memories that it is alike to and stands beside, by place.
    pub related: Vec<usize>,
    /// One sentence on why.
    pub reason: &'static str,
}

/// A known memory as the candidate compares with it.
struct Compared {
    at: usize,
    likeness: Likeness,
    comparison: Comparison,
    /// Whether it says all that the candidate says.
    covers: bool,
    /// Whether the candidate says all that it says.
    is_covered: bool,
}

/// Decides about a candidate beside the memories in force that a reader of it would see.
pub fn decide(candidate: &Node<'_>, known: &[Known<'_>], areas: &Areas) -> Decision {
    let (text, claims, said) =
        (Prepared::new(candidate.text), Claims::of(candidate.text), words(candidate.text));
    let compared: Vec<Compared> = known
        .iter()
        .enumerate()
        .map(|(at, known)| compare(candidate, &text, &said, (at, &known.node)))
        .collect();
    if let Some(twin) = compared.iter().filter(|c| c.covers && is_alike(c)).max_by(likest) {
        return Decision::of(Promotion::Discard, Some(twin), "a memory in force says all of it");
    }
    let conflicts = compared
        .iter()
        .filter_map(|c| Some((c, conflict(candidate, &claims, &known[c.at].node, &c.comparison, areas)?)));
    let surest = conflicts.max_by(|(a, x), (b, y)| x.score.total_cmp(&y.score).then(b.at.cmp(&a.at)));
    if let Some((against, conflict)) = surest {
        let asked = Decision::of(Promotion::NeedsReview, Some(against), "it contradicts a memory in force");
        return Decision { conflict: Some(conflict), ..asked };
    }
    let mut related: Vec<&Compared> = compared.iter().filter(|c| c.likeness.class() > Class::Apart).collect();
    related.sort_by(|a, b| likest(b, a));
    let Some(best) = related.first() else {
        return Decision::of(Promotion::Create, None, "nothing in force is like it");
    };
    let decision = beside(candidate, &known[best.at], best);
    if decision.action == Promotion::Create {
        return Decision { related: related.iter().take(RELATED).map(|c| c.at).collect(), ..decision };
    }
    decision
}

/// Most memories that a new one is related to.
const RELATED: usize = 3;

/// By likeness; the earlier of equals.
fn likest(a: &&Compared, b: &&Compared) -> std::cmp::Ordering {
    a.likeness.score.total_cmp(&b.likeness.score).then(b.at.cmp(&a.at))
}

/// The row of the table for the memory that is likest.
fn beside(candidate: &Node<'_>, known: &Known<'_>, best: &Compared) -> Decision {
    let of = |action, reason| Decision::of(action, Some(best), reason);
    let (near, same) = (best.likeness.class() == Class::Near, best.likeness.same_subject);
    let behind = known.node.confidence - candidate.confidence;
    if best.is_covered && known.gives_way && best.likeness.same_kind && behind <= TOLERANCE + f64::EPSILON {
        if near && behind <= 0.0 {
            return of(Promotion::Supersede, "it says all of the memory in force, and more, as surely");
        }
        if near || same {
            return of(Promotion::Update, "it says all of the memory in force, and more");
        }
    }
    if same && behind > TOLERANCE + f64::EPSILON {
        let conflict = Conflict {
            axis: CONFIDENCE,
            subject: known.node.title.to_owned(),
            values: [format!("{:.2}", known.node.confidence), format!("{:.2}", candidate.confidence)],
            score: best.likeness.score,
        };
        let asked = of(Promotion::NeedsReview, "a much surer memory in force says something else of it");
        return Decision { conflict: Some(conflict), ..asked };
    }
    let length = known.node.text.chars().count() + candidate.text.chars().count();
    let one_title = known.node.title.trim() == candidate.title.trim();
    if same && one_title && behind > 0.0 && known.gives_way && length < MAX_MERGED {
        return of(Promotion::Merge, "a surer memory in force is about the same and says less");
    }
    of(Promotion::Create, "it says something else than the memories that are like it")
}

fn compare(
    candidate: &Node<'_>,
    text: &Prepared<'_>,
    said: &BTreeSet<String>,
    (at, known): (usize, &Node<'_>),
) -> Compared {
    let comparison = Prepared::new(known.text).compare(text);
    let same = comparison.verdict == Verdict::Same;
    let in_order = comparison.differences.iter().all(|difference| difference.kind != DifferenceKind::Order)
        && !is_another_order(candidate.text, known.text);
    let plain = in_order && !matches!(comparison.verdict, Verdict::ChangedValue | Verdict::Opposed);
    let known_words = words(known.text);
    let all_of = |part, whole| same || (plain && contained(part, whole) >= ALL_OF_IT);
    // Beside what a longer text says of its own, the same words may look like another value.
    Compared {
        at,
        likeness: Likeness::of(candidate, known),
        covers: !said.is_empty() && (stands_in(candidate.text, known.text) || all_of(said, &known_words)),
        is_covered: !known_words.is_empty()
            && (stands_in(known.text, candidate.text) || all_of(&known_words, said)),
        comparison,
    }
}

/// Ends of sentences.
const STOPS: [char; 7] = ['.', '!', '?', '。', '！', '？', '\n'];

/// Whether a text stands whole in another one, as sentences of their own: not behind a "not".
fn stands_in(part: &str, whole: &str) -> bool {
    let part = part.trim();
    whole.match_indices(part).any(|(at, _)| {
        let (before, after) = (&whole[..at], &whole[at + part.len()..]);
        let begins = before.trim_end().is_empty()
            || before.ends_with('\n')
            || before.trim_end().ends_with(STOPS)
            || before.ends_with(ADDED);
        let ends = after.trim_start().is_empty() || after.starts_with(STOPS) || part.ends_with(STOPS);
        begins && ends
    })
}

/// Whether words that are all in another text are there about the same thing, and not scattered over it.
fn is_alike(compared: &Compared) -> bool {
    let verdict = compared.comparison.verdict;
    matches!(verdict, Verdict::Same | Verdict::NearDuplicate) || compared.likeness.same_subject
}

/// What the two cannot both hold in. A bag of opposed words is no contradiction: statements are compared with statements.
fn conflict(
    candidate: &Node<'_>,
    claims: &Claims,
    known: &Node<'_>,
    comparison: &Comparison,
    areas: &Areas,
) -> Option<Conflict> {
    // What repeats another text whole does not contradict it: the module and the decision of one report.
    if stands_in(known.text, candidate.text) || stands_in(candidate.text, known.text) {
        return None;
    }
    if let Some(found) = contradiction::between(&Claims::of(known.text), claims) {
        let values = [found.a, found.b];
        return Some(Conflict {
            axis: found.axis.as_str(),
            subject: found.subject,
            values,
            score: found.score,
        });
    }
    let differs = matches!(comparison.verdict, Verdict::ChangedValue | Verdict::Opposed);
    if !differs || candidate.kind != known.kind {
        return None;
    }
    let (mine, theirs) = (areas.of(candidate.text), areas.of(known.text));
    let area = mine.intersection(&theirs).next()?;
    let difference = comparison.differences.iter().find(|difference| is_value(difference))?;
    let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
    Some(Conflict {
        axis: "wording",
        subject: (*area).to_owned(),
        values: [side(&difference.a), side(&difference.b)],
        score: comparison.frame_similarity.clamp(0.0, 1.0),
    })
}

/// Whether another value is said, and not the same in other words: `because` for `since`, `a check` for `checking`.
fn is_value(difference: &Difference) -> bool {
    let terms = |side: &Option<String>| side.as_deref().map(content_terms).unwrap_or_default();
    let (a, b) = (terms(&difference.a), terms(&difference.b));
    difference.kind != DifferenceKind::Word || (!a.is_empty() && !b.is_empty() && a != b)
}

impl Decision {
    fn of(action: Promotion, target: Option<&Compared>, reason: &'static str) -> Self {
        Self {
            action,
            target: target.map(|c| c.at),
            likeness: target.map(|c| c.likeness),
            conflict: None,
            related: Vec::new(),
            reason,
        }
    }
}

/// What stands between the two texts of a merged memory.
const ADDED: &str = "\n\nAdditionally: ";

/// The text of a memory with that of a less sure one added.
pub fn merged(known: &str, candidate: &str) -> String {
    format!("{}{ADDED}{}", known.trim_end(), candidate.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node<'a>(title: &'a str, text: &'a str, confidence: f64) -> Node<'a> {
        Node { kind: "incident", title, text, module_path: None, confidence }
    }

    fn decided(candidate: &Node<'_>, known: &Node<'_>) -> Promotion {
        let known = Known { node: *known, gives_way: true };
        decide(candidate, &[known], &Areas::default()).action
    }

    const LOCK: &str = "The worker takes the lock before it reads the queue";

    #[test]
    fn the_table_row_by_row() {
        use Promotion::{Create, Discard, Merge, NeedsReview, Supersede, Update};
        let more = format!("{LOCK} and gives it back when the batch is done");
        let other = "Sockets are closed when the client goes away without a word";
        for (title, text, sure, expected) in [
            ("Fix: the queue", LOCK, 0.85, Discard),
            ("Fix: the queue", more.as_str(), 0.85, Supersede),
            ("Fix: the queue", more.as_str(), 0.75, Update),
            ("Fix: the queue", more.as_str(), 0.60, NeedsReview),
            ("Fix: the queue", other, 0.85, Create),
            ("Fix: the queue", other, 0.75, Merge),
            ("Fix: the queue", other, 0.60, NeedsReview),
            ("Fix: the sockets", other, 0.60, Create),
        ] {
            let found = decided(&node(title, text, sure), &node("Fix: the queue", LOCK, 0.85));
            assert_eq!(found, expected, "{title}: {text} at {sure}");
        }
    }

    #[test]
    fn the_same_steps_in_another_order_are_something_else() {
        let known = node("Labels", "A label is checked, printed, then sent", 0.85);
        for text in ["A label is sent, then checked", "A label is printed, sent, then checked"] {
            assert_eq!(decided(&node("Labels", text, 0.85), &known), Promotion::Create, "{text}");
        }
        assert_eq!(
            decided(&node("Labels", "A label is checked, then sent", 0.85), &known),
            Promotion::Discard
        );
    }

    #[test]
    fn what_a_person_wrote_does_not_give_way() {
        let more = format!("{LOCK} and gives it back when the batch is done");
        let known = Known { node: node("Fix: the queue", LOCK, 0.85), gives_way: false };
        let decision = decide(&node("Fix: the queue", &more, 0.85), &[known], &Areas::default());
        assert_eq!((decision.action, decision.related), (Promotion::Create, vec![0]));
    }

    #[test]
    fn statements_contradict_and_bags_of_words_do_not() {
        let must = node("Batches", "Requests to the payment service must be retried", 1.0);
        let not = node("Batches", "Requests to the payment service must not be retried", 0.95);
        let decision = decide(&not, &[Known { node: must, gives_way: true }], &Areas::default());
        assert_eq!(decision.action, Promotion::NeedsReview);
        assert!(decision.conflict.is_some_and(|c| c.score > 0.5));
        // The seed's example: opposed words in one text, against that very text.
        let both = node("Batches", "Must validate; callers can batch", 0.9);
        assert_eq!(decided(&both, &both), Promotion::Discard);
    }

    #[test]
    fn another_value_in_a_costly_part_is_asked_about() {
        let five = node("Retries", "A retry waits at most five seconds in the gateway", 0.85);
        let nine = node("Retries", "A retry waits at most nine seconds in the gateway", 0.85);
        assert_eq!(decided(&nine, &five), Promotion::NeedsReview);
        let once = "The retry loop crashed without a policy because it read its limit without checking; it now uses a default";
        let again = "The retry loop crashed without a policy since it read its limit without a check; it uses a default now";
        let (once, again) = (node("Retries", once, 0.85), node("Retries", again, 0.85));
        assert_ne!(decided(&again, &once), Promotion::NeedsReview, "the same in other words");
    }

    #[test]
    fn what_one_report_says_twice_is_no_contradiction() {
        let told = "Retry waits twice as long after each failure, and a guard leaves tasks in a terminal state alone.";
        let whole = format!("Add exponential retry backoff without breaking terminal task state.\n{told}");
        let module = Node { kind: "module", ..node("scheduler.retry — updated", told, 0.85) };
        let decision = Node { kind: "decision", ..node("Decision: Add retry", &whole, 0.85) };
        assert_eq!(decided(&decision, &module), Promotion::Create);
    }

    #[test]
    fn a_merged_text_has_both_whole() {
        assert_eq!(merged("One.\n", " Two. "), "One.\n\nAdditionally: Two.");
        let (first, second) =
            ("The worker takes 2 batches at once.", "The worker takes no batch that is empty.");
        let both = merged(first, second);
        for said in [first, second] {
            let decision = decided(&node("Worker", said, 0.85), &node("Worker", &both, 0.85));
            assert_eq!(decision, Promotion::Discard, "{said}");
        }
        assert!(stands_in("Two is one.", "One.\nTwo is one. Three.") && stands_in("二", "一。二。三"));
        assert!(!stands_in("all requests are retried", "Not all requests are retried"));
    }
}
