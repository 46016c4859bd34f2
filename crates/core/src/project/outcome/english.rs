//! How work ended, as English reports say it.

use super::{Claim, TaskOutcome, worst};

/// What marks an outcome, as words in a row.
const MARKS: [(&str, TaskOutcome); 36] = [
    ("rolled back", TaskOutcome::Reverted),
    ("rolling back", TaskOutcome::Reverted),
    ("roll back", TaskOutcome::Reverted),
    ("roll it back", TaskOutcome::Reverted),
    ("rolled it back", TaskOutcome::Reverted),
    ("backed out", TaskOutcome::Reverted),
    ("backed it out", TaskOutcome::Reverted),
    ("reverted", TaskOutcome::Reverted),
    ("revert", TaskOutcome::Reverted),
    ("undone", TaskOutcome::Reverted),
    ("could not", TaskOutcome::Failed),
    ("couldn't", TaskOutcome::Failed),
    ("cannot", TaskOutcome::Failed),
    ("can't", TaskOutcome::Failed),
    ("unable to", TaskOutcome::Failed),
    ("gave up", TaskOutcome::Failed),
    ("unsuccessful", TaskOutcome::Failed),
    ("without success", TaskOutcome::Failed),
    ("had no effect", TaskOutcome::Failed),
    ("has no effect", TaskOutcome::Failed),
    ("made no difference", TaskOutcome::Failed),
    ("made things worse", TaskOutcome::Failed),
    ("made it worse", TaskOutcome::Failed),
    ("failed", TaskOutcome::Failed),
    ("fails", TaskOutcome::Failed),
    ("fail", TaskOutcome::Failed),
    ("failing", TaskOutcome::Failed),
    ("abandoned", TaskOutcome::Failed),
    ("broken", TaskOutcome::Failed),
    ("broke", TaskOutcome::Failed),
    ("in progress", TaskOutcome::PartiallyCompleted),
    ("half done", TaskOutcome::PartiallyCompleted),
    ("unfinished", TaskOutcome::PartiallyCompleted),
    ("incomplete", TaskOutcome::PartiallyCompleted),
    ("partially", TaskOutcome::PartiallyCompleted),
    ("partly", TaskOutcome::PartiallyCompleted),
];
/// Marks that are names as often as they are outcomes, so something must lead to them.
const NEEDS_VERB: &str = "revert|roll|broken|undone|failing|incomplete";
/// Marks that hold at the time of the report, whatever is said after them.
const PRESENT: &str = "fails|fail|cannot|can't|gave|abandoned";

/// What the work is called, or stands for it.
const WORK: &str = "it|this|that|we|i|they|everything|all|change|changes|fix|patch|attempt|attempts|work|task|deploy|\
                    deployment|rollout|release|migration|implementation|feature|refactor|refactoring|approach|commit|pr|\
                    merge|build|test|tests|suite|ci|upgrade|update|solution|result|code|pipeline|run|experiment|rewrite|\
                    here|today|rest|others|remainder|conversion|cleanup|port|split";
/// Of these, what may as well stand for a part of what was worked on.
const PRONOUNS: &str = "it|this|that|they|everything|all|here|today|rest|others|remainder";
/// What the work is to get rid of.
const FAULT: &str =
    "bug|bugs|problem|problems|issue|issues|crash|error|errors|fault|leak|deadlock|race|symptom|regression";
/// What may stand between the work and what became of it.
const BETWEEN: &str = "was|were|is|are|be|been|being|got|get|has|have|had|did|does|do|to|then|later|finally|eventually|again|\
                       still|also|so|now|unfortunately|ultimately|immediately|completely|entirely|fully|only|just|\
                       currently|decided|needed|must|needs|need|forced|quickly|soon|yet|simply";
/// What begins anew within a clause.
const STARTS: &str =
    "and|but|then|or|so|unfortunately|finally|eventually|ultimately|however|later|still|as|now";
/// What denies.
const DENIALS: &str =
    "not|no|never|without|none|nothing|n't|instead|avoid|avoids|avoiding|prevent|prevents|hardly|neither|nor";
/// What begins a clause that says when, why or which, and not how it ended.
const SUBORDINATE: &str = "where|when|whenever|if|which|who|whose|unless|whether|while|until|after|before|why|how|once|\
                           because|made|makes|make|making|lets|let";
/// What may follow "that" where it names no thing: it turned out that the deploy failed.
const SUBJECTS: &str =
    "it|the|this|these|we|they|i|all|our|my|every|each|everything|nothing|none|no|two|three|some";
/// What may follow where the work is not named: it failed in production, with a timeout.
const FOLLOWS: &str = "in|on|at|to|with|because|due|for|under|during|after|as|when|since|by|completely|entirely|badly|again|\
                       the|this|my|our|it|all|everything|from|and|so|reproduce|find|get|make|done|implemented|complete|\
                       completed|finished|working|works|fixed";
/// What puts it into the past.
const PAST: &str = "before|previously|earlier|formerly|until|prior|originally";
/// What says that something cannot happen any more, and not that it could not be done.
const LIMITS: &str = "any|anymore|again|twice|longer|without|more|both";
/// What says that something was the case until now.
const OVER: &str = "anymore|more|longer";
/// What is done to see a fault.
const BROUGHT_ABOUT: &str = "reproduce|reproduced|trigger|triggered|provoke|provoked|observe|observed|seen";
/// What could not be done about the work, whatever stands for it.
const ATTEMPTED: &str = "reproduce|reproduced|fix|fixed|finish|finished|complete|completed|verify|verified|solve|solved|\
                         implement|implemented|done";
/// How something fails that is meant to.
const BY_DESIGN: &str = "fast|early|closed|open|loudly|safe|safely|gracefully|cleanly|instead";

/// What it is to have succeeded. Denied, it is a failure.
const SUCCESS: &str = "pass|passed|passing|succeed|succeeded|successful|work|works|worked|working|compile|compiles|compiled|\
                       build|builds|fixed|solved|resolved|able|help|helped|green";
/// The same, with what was to be done behind it.
const CURE: &str = "fix|solve|resolve";
/// What it is to be done. Denied, some of it is done.
const DONE: &str = "done|finished|complete|completed|implemented|migrated|converted|ready";
/// What may stand between a denial and what is denied.
const DENIED_BETWEEN: &str = "fully|yet|all|completely|really|even|reliably|be|been|being|to|get|getting|quite|entirely|\
                              actually|correctly|properly";
/// What may follow what is denied.
const DENIED_FOLLOWS: &str = "in|on|at|with|because|due|for|under|during|after|as|when|since|by|yet|again|and|so|either|to|here|\
                              properly|fully|completely|reliably|there|locally|now";
/// What was still the case when the work ended.
const STILL: &str = "occurs|occur|happens|happen|there|present|exists|exist|persists|crashes|crash|hangs|hang|deadlocks|\
                     deadlock|drifts|leaks|broken|reproducible|unfixed|unsolved|unresolved|wrong|red";
/// What was left to do.
const LEFT: [&str; 6] =
    ["still to do", "still to be done", "left to do", "remains to be done", "still missing", "still open"];
/// What makes good what was said before.
const MENDED: [&str; 35] = [
    "now it",
    "now the",
    "now they",
    "now all",
    "now every",
    "now each",
    "now both",
    "now works",
    "now passes",
    "now pass",
    "works now",
    "passes now",
    "pass now",
    "works again",
    "passes again",
    "all pass",
    "all passed",
    "all tests pass",
    "everything passes",
    "all green",
    "is fixed",
    "are fixed",
    "was fixed",
    "were fixed",
    "fixed it",
    "is repaired",
    "is solved",
    "is resolved",
    "was resolved",
    "was solved",
    "is stable",
    "is green",
    "are green",
    "is gone",
    "are gone",
];

/// What a clause in lower case says of how the work ended.
pub(super) fn claim(clause: &str) -> Option<Claim> {
    let words: Vec<&str> = clause
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let parted = parted(&words).or_else(|| left(&words));
    let lasting = lasting(&words).or_else(|| none(&words));
    worst(marked(&words).into_iter().chain(denied(&words)).chain(parted).chain(lasting))
}

/// Whether a clause makes good what was said before it.
pub(super) fn is_mended(clause: &str) -> bool {
    let words = format!(" {clause} ");
    MENDED.iter().any(|phrase| words.contains(&format!(" {phrase} ")))
}

fn is_among(list: &str, word: &str) -> bool {
    list.split('|').any(|known| known == word)
}

fn is_denial(word: &str) -> bool {
    word.ends_with("n't") || is_among(DENIALS, word)
}

/// What the marks in a clause claim.
fn marked(words: &[&str]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (mark, outcome) in MARKS {
        let mark: Vec<&str> = mark.split(' ').collect();
        let places = words.windows(mark.len()).enumerate().filter(|(_, run)| *run == mark.as_slice());
        for (at, _) in places {
            let (before, after) = (&words[..at], &words[at + mark.len()..]);
            if is_of_the_work(before, after, mark[0]) {
                let is_past = !is_among(PRESENT, mark[0]) && !is_present(before);
                claims.push(Claim { outcome, is_past });
            }
        }
    }
    claims
}

/// Whether a mark is said of the work, between the words before and after it.
fn is_of_the_work(before: &[&str], after: &[&str], mark: &str) -> bool {
    if is_subordinate(before) || after.iter().any(|word| is_among(PAST, word)) {
        return false;
    }
    let rest = without_verbs(before);
    if is_rule(mark, rest, after) || rest.iter().rev().take(2).any(|word| is_denial(word)) {
        return false;
    }
    if is_among(NEEDS_VERB, mark) && rest.len() == before.len() {
        return false;
    }
    let follows = after.first().is_none_or(|next| is_among(FOLLOWS, next) || is_among(WORK, next));
    match rest.last() {
        Some(last) if last.chars().all(|c| c.is_ascii_digit()) => last.chars().any(|c| c != '0') && follows,
        Some(last) if is_among(WORK, last) => true,
        Some(last) if is_among(STARTS, last) => follows,
        // A bare "fail" is an order or a name.
        Some(_) => false,
        None => follows && mark != "fail",
    }
}

/// Whether a mark says how something is meant to be, and not what became of the work: "it cannot happen twice".
fn is_rule(mark: &str, subject: &[&str], after: &[&str]) -> bool {
    match mark {
        "cannot" | "can't" | "could" | "couldn't" => {
            let next = after.iter().find(|word| **word != "be");
            let is_attempt = next.is_some_and(|next| is_among(ATTEMPTED, next));
            let is_vague = subject.last().is_some_and(|last| is_among(PRONOUNS, last)) && !is_attempt;
            // A fault that could not be brought about any more is gone; a step that could not be done is not.
            let is_over = after.iter().any(|word| is_among(OVER, word));
            let is_gone = next.is_some_and(|next| is_among(BROUGHT_ABOUT, next)) && is_over;
            is_vague
                || is_gone
                || (mark.starts_with("can") && after.iter().any(|word| is_among(LIMITS, word)))
        }
        "fail" | "fails" | "failed" | "failing" => after.iter().any(|word| is_among(BY_DESIGN, word)),
        _ => false,
    }
}

/// Whether words begin a clause that says when, why or which: "that" does when a verb follows it, or "so" leads to it.
fn is_subordinate(before: &[&str]) -> bool {
    let relative = |at: usize| {
        at > 0 && before[at] == "that" && before.get(at + 1).is_none_or(|next| !is_among(SUBJECTS, next))
    };
    let leads = |word: &&str| matches!(*word, "and" | "but" | "then");
    (0..before.len())
        .any(|at| is_among(SUBORDINATE, before[at]) || (relative(at) && !(at > 0 && leads(&before[at - 1]))))
}

/// The words before the verbs and adverbs that lead to a mark.
fn without_verbs<'w, 't>(before: &'w [&'t str]) -> &'w [&'t str] {
    let led = before.iter().rev().take_while(|word| is_among(BETWEEN, word)).count();
    &before[..before.len() - led]
}

/// Whether the verbs that lead to a mark say that it is so at the time of the report.
fn is_present(before: &[&str]) -> bool {
    let verbs = &before[without_verbs(before).len()..];
    verbs.iter().any(|verb| matches!(*verb, "is" | "are" | "still" | "does" | "do"))
}

/// Whether a clause says of the work that it did not succeed, or is not done: "the tests did not pass".
fn denied(words: &[&str]) -> Option<Claim> {
    (0..words.len()).find_map(|at| {
        let outcome = match words[at] {
            word if is_among(SUCCESS, word) || is_among(CURE, word) => TaskOutcome::Failed,
            word if is_among(DONE, word) => TaskOutcome::PartiallyCompleted,
            _ => return None,
        };
        let after = &words[at + 1..];
        let is_end = after.first().is_none_or(|next| is_among(DENIED_FOLLOWS, next));
        if after.iter().any(|word| is_among(PAST, word)) || !(is_end || is_among(CURE, words[at])) {
            return None;
        }
        let led = words[..at].iter().rev().take_while(|word| is_among(DENIED_BETWEEN, word)).count();
        let (denial, before) = words[..at - led].split_last()?;
        let is_denied = *denial == "not"
            || denial.ends_with("n't")
            || *denial == "never"
            || (*denial == "longer" && before.last() == Some(&"no"));
        let before = if *denial == "longer" { &before[..before.len().saturating_sub(1)] } else { before };
        if !is_denied || is_subordinate(before) {
            return None;
        }
        let subject = without_verbs(before).last();
        let fits = |word: &&str| is_among(WORK, word) || is_among(FAULT, word) || is_among(STARTS, word);
        let is_now =
            is_present(before) || matches!(*denial, "doesn't" | "don't" | "isn't" | "aren't" | "longer");
        subject.is_none_or(fits).then_some(Claim { outcome, is_past: !is_now })
    })
}

/// Whether a clause begins by saying that none succeeded: "not all tests pass", "nothing worked".
fn none(words: &[&str]) -> Option<Claim> {
    let begins = match words {
        ["not", "all" | "every" | "everything", ..] => 2,
        ["none" | "nothing" | "neither", ..] => 1,
        ["no", next, ..] if *next != "longer" => 1,
        _ => return None,
    };
    let is_success =
        |word: &&str| is_among("worked|works|passed|pass|passes|succeeded|helped|compiles|green", word);
    let at = begins + words.iter().skip(begins).take(5).position(is_success)?;
    let is_end = words.get(at + 1).is_none_or(|next| is_among(DENIED_FOLLOWS, next));
    (is_end && words[at - 1] != "to").then_some(Claim { outcome: TaskOutcome::Failed, is_past: false })
}

/// Whether a clause says that a fault is there still.
fn lasting(words: &[&str]) -> Option<Claim> {
    let still = |at: usize| {
        let goes_on = words[at] == "still" && words.get(at + 1).is_some_and(|next| is_among(STILL, next));
        goes_on.then_some(TaskOutcome::Failed)
    };
    let persists = |at: usize| {
        let lasts = words.get(at + 1).is_some_and(|next| is_among("persists|persist|remains|remain", next));
        let is_all = words[..at].iter().any(|word| is_among("the|this|same", word));
        let outcome = if is_all { TaskOutcome::Failed } else { TaskOutcome::PartiallyCompleted };
        (lasts && is_among(FAULT, words[at])).then_some(outcome)
    };
    (0..words.len()).find_map(|at| {
        let outcome = still(at).or_else(|| persists(at))?;
        (!is_subordinate(&words[..at])).then_some(Claim { outcome, is_past: false })
    })
}

/// Whether a clause says that the work was taken back, with the work between the words: "rolled the release back".
fn parted(words: &[&str]) -> Option<Claim> {
    const PARTS: [(&str, &str); 5] =
        [("rolled", "back"), ("roll", "back"), ("backed", "out"), ("took", "back"), ("took", "out")];
    PARTS.into_iter().find_map(|(verb, end)| {
        let at = words.iter().position(|word| *word == verb)?;
        let gap = words[at + 1..].iter().take(5).position(|word| *word == end)?;
        let what = words[at + 1..at + 1 + gap].last()?;
        let (before, after) = (&words[..at], &words[at + 1 + gap + 1..]);
        let is_said = is_among(WORK, what) && is_of_the_work(before, after, verb);
        is_said.then_some(Claim { outcome: TaskOutcome::Reverted, is_past: false })
    })
}

/// Whether a clause says that some of the work is left.
fn left(words: &[&str]) -> Option<Claim> {
    let text = words.join(" ");
    let is_part = (text.starts_with("half of ") || text.starts_with("half the ")) && text.contains(" were ");
    let is_so_far = text.ends_with("so far") && words.contains(&"only");
    let is_left = LEFT.iter().any(|phrase| text.contains(phrase)) && !is_subordinate(words);
    let claim = Claim { outcome: TaskOutcome::PartiallyCompleted, is_past: false };
    (is_part || is_so_far || is_left).then_some(claim)
}
