//! The pages as Markdown. Stored text is quoted and its markup made harmless: it cannot open a heading, a comment
//! or a tag outside its quote.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use strata_core::{memory::Layer, redact::clean_text, time::Timestamp};
use strata_store::ledger::DEFAULT_PRIORITY;

use super::entries::Entry;
use crate::{
    render::{self, counted, one_line},
    rules::is_rule,
};

/// What every page begins with; a file without it is not ours.
pub(super) const MARKER: &str = "<!-- strata:wiki";
/// The page that leads to the others.
pub(super) const INDEX: &str = "INDEX.md";
/// Where the other pages lie.
const FOLDER: &str = "P5-ego/wiki/compiled";
/// Longest headline, in characters.
const MAX_TITLE: usize = 100;

/// A page to be written.
#[derive(Debug)]
pub(super) struct Page {
    /// Where, inside the folder, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    /// Memories on it.
    pub(super) entries: usize,
}

/// The paths of all pages that there can be, the index aside.
pub(super) fn every_page() -> impl Iterator<Item = String> {
    let layers = Layer::ALL.iter().map(|layer| page_of(*layer));
    layers.map(|name| format!("{FOLDER}/{name}")).chain([format!("{FOLDER}/rules.md")])
}

/// Every page: the layers, the rules, the index.
pub(super) fn pages(entries: &[Entry]) -> Vec<Page> {
    let links = Links::between(entries);
    let mut pages = Vec::new();
    for layer in Layer::ALL.iter().copied() {
        let of_layer: Vec<&Entry> = entries.iter().filter(|entry| entry.layer() == layer).collect();
        if !of_layer.is_empty() {
            pages.push(layer_page(layer, &of_layer, &links));
        }
    }
    let mut rules: Vec<&Entry> = entries.iter().filter(|entry| is_rule(&entry.memory.kind)).collect();
    // The order in which they are to be followed: layer, priority, age.
    let priority = |entry: &Entry| entry.rule.as_ref().map_or(DEFAULT_PRIORITY, |rule| rule.priority);
    rules.sort_by_key(|entry| (entry.layer(), priority(entry), entry.memory.number));
    if !rules.is_empty() {
        pages.push(rules_page(&rules));
    }
    pages.push(index_page(&pages, entries));
    pages
}

fn page_of(layer: Layer) -> String {
    format!("{layer}.md")
}

fn layer_page(layer: Layer, entries: &[&Entry], links: &Links<'_>) -> Page {
    let mut text = head(&format!("{layer}: {}", layer.about()), layer.as_str(), entries.iter().copied());
    for entry in entries {
        text.push_str(&section(entry, links));
    }
    Page { path: format!("{FOLDER}/{}", page_of(layer)), text, entries: entries.len() }
}

fn rules_page(rules: &[&Entry]) -> Page {
    let mut text = head("Rules (priority order)", "rules", rules.iter().copied());
    for rule in rules {
        let memory = &rule.memory;
        text.push_str(&format!(
            "\n## [{}] {}{}\n\n{}\n\n- id: {}\n",
            rule.layer(),
            if rule.rule.as_ref().is_some_and(|rule| !rule.enabled) { "(disabled) " } else { "" },
            headline(rule),
            quoted(&memory.body, &HashMap::new()),
            link(rule)
        ));
        for (name, value) in standing(rule) {
            text.push_str(&format!("- {name}: {value}\n"));
        }
    }
    Page { path: format!("{FOLDER}/rules.md"), text, entries: rules.len() }
}

fn index_page(pages: &[Page], entries: &[Entry]) -> Page {
    let mut text = head("Compiled Wiki Index", "index", entries.iter());
    text.push('\n');
    for page in pages {
        text.push_str(&format!("- [{0}]({0}) ({1})\n", page.path, counted(page.entries, "entry")));
    }
    Page { path: INDEX.to_owned(), text, entries: entries.len() }
}

/// Marker, title and what the page holds. The date is that of the last change, so that the same memories give the
/// same page.
fn head<'e>(title: &str, name: &str, entries: impl Iterator<Item = &'e Entry>) -> String {
    let (mut count, mut last) = (0, None::<Timestamp>);
    for entry in entries {
        count += 1;
        last = last.max(Some(entry.changed));
    }
    let changed = last.map_or(String::new(), |at| format!(", last changed {}", at.to_rfc3339()));
    format!("{MARKER} {name} -->\n# {title}\n\n{}{changed}\n", counted(count, "entry"))
}

fn section(entry: &Entry, links: &Links<'_>) -> String {
    let memory = &entry.memory;
    let mut text = format!(
        "\n<a id=\"{}\"></a>\n\n## [{}] {}\n\n{}\n\n- id: `{}` (#{})\n- who: {} · created: {} · confidence: {:.2}\n",
        memory.id,
        inline(memory.kind.as_str()),
        headline(entry),
        quoted(&memory.body, &links.by_id),
        memory.id,
        memory.number,
        inline(&memory.writer),
        memory.created_at.to_rfc3339(),
        memory.state.confidence,
    );
    for (name, value) in facts(entry) {
        text.push_str(&format!("- {name}: {value}\n"));
    }
    for (name, others) in [("names", links.names(entry)), ("named by", links.named_by(entry))] {
        if !others.is_empty() {
            text.push_str(&format!("- {name}: {}\n", others.join(", ")));
        }
    }
    text
}

/// Further facts, and the story of how the entry came about.
fn facts(entry: &Entry) -> Vec<(&'static str, String)> {
    let memory = &entry.memory;
    let mut facts = vec![("scope", inline(&memory.scope.to_string()))];
    if !memory.state.status.as_str().eq("active") {
        facts.push(("status", memory.state.status.to_string()));
    }
    facts.extend(standing(entry));
    if !memory.source.is_empty() {
        facts.push(("source", inline(&memory.source)));
    }
    let optional = [("about", &memory.topic_key), ("session", &memory.session)];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name, inline(value.as_deref()?)))));
    facts.extend(memory.valid_to.map(|end| ("valid until", end.to_rfc3339())));
    if !entry.distils.is_empty() {
        let ids: Vec<String> = entry.distils.iter().map(|id| format!("`{id}`")).collect();
        facts.push(("distilled from", ids.join(" ")));
    }
    facts.extend(entry.evidence.iter().map(|reference| ("evidence", inline(reference))));
    facts.extend(entry.approvals.iter().map(|approval| ("approved as", inline(approval))));
    for old in &entry.replaced {
        let why = if old.reason.is_empty() { String::new() } else { format!(": {}", inline(&old.reason)) };
        facts.push(("replaced", format!("`{}` of {}{why}", old.id, old.created_at.to_rfc3339())));
    }
    facts
}

/// Of a rule: its place in its layer, when it applies, and that it is disabled.
fn standing(entry: &Entry) -> Vec<(&'static str, String)> {
    let Some(rule) = &entry.rule else { return Vec::new() };
    let mut facts = vec![("priority", rule.priority.to_string())];
    facts.extend(rule.condition.as_ref().map(|condition| ("when", inline(condition))));
    facts.extend((!rule.enabled).then(|| ("in force", "no, it is disabled".to_owned())));
    facts
}

/// The title, or the beginning of the text.
fn headline(entry: &Entry) -> String {
    inline(&render::headline(&entry.memory.title, &entry.memory.body, MAX_TITLE))
}

/// Text on one line, its markup shown and not followed.
fn inline(text: &str) -> String {
    let line = one_line(&clean_text(text).text);
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '[' | ']' | '`' | '*' | '#' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Text as a quote. `[[mem_...]]` of an entry becomes a link.
fn quoted(text: &str, by_id: &HashMap<&str, &Entry>) -> String {
    let text = clean_text(text)
        .text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace(['\r', '\u{b}', '\u{c}'], "\n");
    let mut linked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("[[") {
        linked.push_str(before);
        let target = after.split_once("]]").and_then(|(id, behind)| Some((by_id.get(id)?, behind)));
        match target {
            Some((entry, behind)) => {
                linked.push_str(&link(entry));
                rest = behind;
            }
            None => {
                linked.push_str("[[");
                rest = after;
            }
        }
    }
    linked.push_str(rest);
    let lines: Vec<String> =
        linked.trim_end().lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// A link to an entry's place.
fn link(entry: &Entry) -> String {
    format!("[{}]({}#{})", entry.memory.id, page_of(entry.layer()), entry.memory.id)
}

/// Which entries name which.
struct Links<'e> {
    by_id: HashMap<&'e str, &'e Entry>,
    names: BTreeMap<i64, BTreeSet<&'e str>>,
    named_by: BTreeMap<i64, BTreeSet<&'e str>>,
}

impl<'e> Links<'e> {
    fn between(entries: &'e [Entry]) -> Self {
        let by_id: HashMap<&str, &Entry> =
            entries.iter().map(|entry| (entry.memory.id.as_str(), entry)).collect();
        let mut links = Self { by_id, names: BTreeMap::new(), named_by: BTreeMap::new() };
        for entry in entries {
            let texts = [&entry.memory.body, &entry.memory.title].into_iter().chain(&entry.evidence);
            for id in texts.flat_map(|text| mentions(text)).chain(entry.memory.parent.as_deref()) {
                let Some((id, other)) = links.by_id.get_key_value(id) else { continue };
                if other.memory.number != entry.memory.number {
                    links.names.entry(entry.memory.number).or_default().insert(id);
                    links.named_by.entry(other.memory.number).or_default().insert(&entry.memory.id);
                }
            }
        }
        links
    }

    fn names(&self, entry: &Entry) -> Vec<String> {
        self.linked(self.names.get(&entry.memory.number))
    }

    fn named_by(&self, entry: &Entry) -> Vec<String> {
        self.linked(self.named_by.get(&entry.memory.number))
    }

    fn linked(&self, ids: Option<&BTreeSet<&str>>) -> Vec<String> {
        ids.into_iter().flatten().filter_map(|id| self.by_id.get(id)).map(|entry| link(entry)).collect()
    }
}

/// The ids of memories in a text.
fn mentions(text: &str) -> impl Iterator<Item = &str> {
    /// `mem_` and ten characters.
    const LENGTH: usize = 14;
    text.match_indices("mem_").filter_map(|(at, _)| text.get(at..at + LENGTH))
}
