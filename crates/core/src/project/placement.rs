//! Where in the tree of a project's memories a new one belongs, and what a memory says of those below it.

use std::collections::BTreeSet;

use super::{
    paths::names,
    wording::{headline, share, words},
};

/// Depth that no tree goes below.
pub const MAX_DEPTH: usize = 10;
/// The least that a memory must have in common with one above it.
const FITTING: f64 = 0.2;
/// How the title of a module ends that a report told of.
pub const REPORTED: &str = " — updated";
/// Memories below one that it tells of.
const TOLD: usize = 10;
/// Characters of the text of each.
const EXCERPT: usize = 120;

/// A memory that others may stand under.
#[derive(Debug, Clone, Copy)]
pub struct Parent<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its headline.
    pub title: &'a str,
    /// The part of the project that it is about.
    pub module_path: Option<&'a str>,
    /// How many stand above it.
    pub depth: usize,
}

/// The depth at which a kind of memory stands when nothing fits above it, and above which it looks for a parent.
pub fn natural_depth(kind: &str) -> usize {
    match kind {
        "architecture" | "constraint" => 0,
        "module" => 2,
        _ => 3,
    }
}

/// Which of `parents` a memory belongs under, by place; none for what stands by itself.
///
/// A parent is an architecture or a module that is wider than the memory; what a report told of a module also goes under what
/// describes that very module, and never under another report. What counts is how much of the parent's part of the project
/// the memory's has (.6) and of its title (.3); together .2 at the least (memory-engine, section 8.16).
pub fn place(kind: &str, title: &str, module_path: Option<&str>, parents: &[Parent<'_>]) -> Option<usize> {
    let limit = natural_depth(kind).checked_sub(1);
    let path: BTreeSet<String> = module_path.map(names).unwrap_or_default().into_iter().collect();
    if path.is_empty() && matches!(kind, "architecture" | "constraint") {
        return None;
    }
    // A constraint of a module stands under it, whatever its natural depth.
    let limit = limit.unwrap_or(1);
    let is_report = title.ends_with(REPORTED);
    let title = words(title);
    let fit = |(at, parent): (usize, &Parent<'_>)| {
        let of_parent: BTreeSet<String> =
            parent.module_path.map(names).unwrap_or_default().into_iter().collect();
        let describes_it = is_report && of_parent == path && !parent.title.ends_with(REPORTED);
        let wider =
            of_parent.len() < path.len() || describes_it || parent.kind == "architecture" || kind != "module";
        let holds = matches!(parent.kind, "architecture" | "module") && wider && parent.depth <= limit;
        let of_title = words(parent.title);
        let common = 0.6 * share(of_parent.intersection(&path).count(), of_parent.len())
            + 0.3 * share(of_title.intersection(&title).count(), of_title.len())
            + 0.01;
        (holds && common >= FITTING).then_some((at, common))
    };
    let fits = parents.iter().enumerate().filter_map(fit);
    fits.max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.cmp(a))).map(|(at, _)| at)
}

/// What a memory says of those below it, given their titles and texts in order; empty if there are none. It is made of
/// them alone, so it is the same whenever it is made, and never part of the memory's own text.
pub fn consolidated<'a>(children: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines = Vec::new();
    let mut more = 0;
    for (title, text) in children {
        if lines.len() == TOLD {
            more += 1;
            continue;
        }
        let text = headline(text, EXCERPT);
        lines.push(match title.trim() {
            "" => format!("- {text}"),
            title if title == text => format!("- {title}"),
            title => format!("- {title}: {text}"),
        });
    }
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent<'a>(kind: &'a str, title: &'a str, module_path: Option<&'a str>, depth: usize) -> Parent<'a> {
        Parent { kind, title, module_path, depth }
    }

    #[test]
    fn a_memory_goes_under_what_is_wider() {
        let parents = [
            parent("module", "Web pages", Some("web"), 0),
            parent("module", "Scheduler", Some("scheduler"), 1),
            parent("incident", "Scheduler stopped", Some("scheduler"), 0),
        ];
        let of = |kind, title, path| place(kind, title, path, &parents);
        assert_eq!(of("module", "scheduler.retry — updated", Some("scheduler.retry")), Some(1));
        assert_eq!(of("decision", "Decision: retries", Some("src/scheduler/retry.py")), Some(1));
        assert_eq!(
            of("module", "scheduler — updated", Some("scheduler")),
            Some(1),
            "under what describes it"
        );
        assert_eq!(of("module", "Timers", Some("scheduler")), None, "beside its equal");
        let report = [parent("module", "scheduler — updated", Some("scheduler"), 0)];
        assert_eq!(
            place("module", "scheduler — updated", Some("scheduler"), &report),
            None,
            "beside its like"
        );
        assert_eq!(of("constraint", "Never leave a terminal state", None), None, "of the whole project");
        assert_eq!(of("module", "db — updated", Some("db")), None);
    }

    #[test]
    fn nothing_goes_deeper_than_its_kind() {
        let deep = [parent("module", "Scheduler", Some("scheduler"), 2)];
        assert_eq!(place("module", "Retries", Some("scheduler.retry"), &deep), None);
        assert_eq!(place("decision", "Retries", Some("scheduler.retry"), &deep), Some(0));
    }

    #[test]
    fn what_a_memory_says_of_those_below_is_made_of_them() {
        let children = [("Retry", "Backoff doubles.\nAnd more."), ("", "No title."), ("Same", "Same")];
        assert_eq!(consolidated(children), "- Retry: Backoff doubles.\n- No title.\n- Same");
        assert_eq!(consolidated([]), "");
        let many: Vec<String> = (0..13).map(|n| format!("Part {n}")).collect();
        let told = consolidated(many.iter().map(|title| (title.as_str(), "")));
        assert!(told.ends_with("- Part 9: \n- and 3 more"), "{told}");
    }
}
