//! The walk behind a root-cause analysis.
//!
//! Backwards lies what brought a thing about: what `caused` it or `led_to` it, what it `depends_on`, what it
//! `references`; and what references the incident itself. A fix is what an incident is `fixed_by`: the one asked
//! about, one met on the way, or one that a cause found on the way has also caused.

use std::collections::{HashMap, HashSet};

use strata_core::graph::Direction::{self, In, Out};
use strata_store::{
    error::StoreError,
    ledger::{Edge, EntityRow},
};

use super::Event;
use crate::graph::walk::Steps;

/// Relations that are followed backwards, by direction, with what their far end is to the incident.
const BACKWARDS: [(Direction, &[&str]); 2] =
    [(In, &["caused", "led_to"]), (Out, &["depends_on", "references"])];

/// Where the walk has been, by entity number.
struct Trail {
    places: HashMap<i64, Place>,
    order: Vec<i64>,
}

struct Place {
    kind: &'static str,
    label: String,
    entity_kind: String,
    id: String,
    level: u32,
    /// The entity it was reached from, and the step in words.
    from: Option<(i64, String)>,
    is_root: bool,
}

/// What led to an entity, what came of it and what fixed it.
pub(super) fn analyse(
    reader: &Steps<'_, '_>,
    start: &EntityRow,
    depth: u32,
) -> Result<Vec<Event>, StoreError> {
    let mut trail = Trail::at(start);
    go_back(reader, &mut trail, start, depth)?;
    let mut events: Vec<Event> = trail.order.iter().skip(1).map(|number| trail.event(*number)).collect();
    let effects = effects(reader, &mut trail, start)?;
    events.extend(effects.iter().map(|number| trail.event(*number)));
    events.extend(fixes(reader, &trail)?);
    Ok(events)
}

fn go_back(
    reader: &Steps<'_, '_>,
    trail: &mut Trail,
    start: &EntityRow,
    depth: u32,
) -> Result<(), StoreError> {
    let mut frontier = vec![start.number];
    for level in 1..=depth {
        let mut next = Vec::new();
        let mut left: HashSet<i64> = HashSet::new();
        for (direction, types) in BACKWARDS {
            for edge in reader.edges(&frontier, direction, types)? {
                left.insert(edge.near);
                next.extend(trail.reach(&edge, direction, kind_of(&edge.relation), level));
            }
        }
        if level == 1 {
            for edge in reader.edges(&frontier, In, &["references"])? {
                next.extend(trail.reach(&edge, In, "reference", level));
            }
        }
        trail.mark_roots(&frontier, &left);
        if next.is_empty() {
            return Ok(());
        }
        frontier = next;
    }
    Ok(())
}

fn kind_of(relation: &str) -> &'static str {
    match relation {
        "depends_on" => "dependency",
        "references" => "reference",
        _ => "cause",
    }
}

/// Incidents that came of the causes found: of the pattern asked about, they are its effects.
fn effects(reader: &Steps<'_, '_>, trail: &mut Trail, start: &EntityRow) -> Result<Vec<i64>, StoreError> {
    let is_cause = |place: &Place| place.entity_kind != "incident" && matches!(place.kind, "cause" | "start");
    let causes: Vec<i64> = trail.order.iter().copied().filter(|n| is_cause(&trail.places[n])).collect();
    let mut effects = Vec::new();
    for edge in reader.edges(&causes, Out, &["caused"])? {
        let level = trail.places[&edge.near].level + 1;
        let near = edge.near;
        let reached = trail.reach(&edge, Out, "effect", level);
        effects.extend(reached.filter(|_| near == start.number));
    }
    Ok(effects)
}

/// What fixed the incidents on the trail, nearest first.
fn fixes(reader: &Steps<'_, '_>, trail: &Trail) -> Result<Vec<Event>, StoreError> {
    let mut fixes: Vec<Event> = Vec::new();
    for edge in reader.edges(&trail.order, Out, &["fixed_by"])? {
        let mut path = trail.path(edge.near);
        path.push(step(&edge, Out));
        fixes.push(Event {
            kind: "fix",
            level: trail.places[&edge.near].level + 1,
            entity: edge.far_label,
            entity_type: edge.far_kind,
            entity_id: edge.far_id,
            is_root: false,
            path,
        });
    }
    fixes.sort_by_key(|fix| fix.level);
    let mut seen = HashSet::new();
    fixes.retain(|fix| seen.insert(fix.entity_id.clone()));
    Ok(fixes)
}

impl Trail {
    fn at(start: &EntityRow) -> Self {
        let place = Place {
            kind: "start",
            label: start.label.clone(),
            entity_kind: start.kind.clone(),
            id: start.id.clone(),
            level: 0,
            from: None,
            is_root: false,
        };
        Self { places: HashMap::from([(start.number, place)]), order: vec![start.number] }
    }

    /// Goes to the far end of an edge, unless the walk has been there; returns where it went.
    fn reach(&mut self, edge: &Edge, direction: Direction, kind: &'static str, level: u32) -> Option<i64> {
        if self.places.contains_key(&edge.far) {
            return None;
        }
        let place = Place {
            kind,
            label: edge.far_label.clone(),
            entity_kind: edge.far_kind.clone(),
            id: edge.far_id.clone(),
            level,
            from: Some((edge.near, step(edge, direction))),
            is_root: false,
        };
        self.places.insert(edge.far, place);
        self.order.push(edge.far);
        Some(edge.far)
    }

    /// Those of the frontier from which nothing leads further back are where chains begin.
    fn mark_roots(&mut self, frontier: &[i64], left: &HashSet<i64>) {
        for number in frontier.iter().filter(|number| !left.contains(number)) {
            if let Some(place) = self.places.get_mut(number) {
                place.is_root = place.level > 0;
            }
        }
    }

    fn event(&self, number: i64) -> Event {
        let place = &self.places[&number];
        Event {
            kind: place.kind,
            entity: place.label.clone(),
            entity_type: place.entity_kind.clone(),
            level: place.level,
            entity_id: place.id.clone(),
            is_root: place.is_root,
            path: self.path(number),
        }
    }

    /// The steps from the start to a place.
    fn path(&self, number: i64) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = self.places.get(&number);
        while let Some((from, step)) = at.and_then(|place| place.from.as_ref()) {
            path.push(step.clone());
            at = self.places.get(from);
        }
        path.reverse();
        path
    }
}

fn step(edge: &Edge, direction: Direction) -> String {
    match direction {
        Out => format!("-{}-> {}", edge.relation, edge.far_label),
        In => format!("<-{}- {}", edge.relation, edge.far_label),
    }
}
