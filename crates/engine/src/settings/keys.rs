//! The table of the settings of layered knowledge, and what a setting is: with [`super::project_keys`] the only list, from which
//! the file, the variables, `config show` and the documentation are read.

use std::path::PathBuf;

use toml::Value;

use super::{
    Config,
    layered::{L0Format, RoutingMode},
    project_keys::PROJECT_KEYS,
    value::Sort,
};

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its table and name in `config.toml`.
    pub name: &'static str,
    /// The variable by which it is known to people who used an older program.
    pub variable: Option<&'static str>,
    /// Its name in layered-memory's `config.yaml`. Those of memory-engine's have the same name there.
    pub older: Option<&'static str>,
    /// What it may hold.
    pub sort: Sort,
    /// What a project's own file may do with it.
    pub project: Narrowing,
    pub(super) get: fn(&Config) -> Option<Value>,
    pub(super) set: fn(&mut Config, &Value),
}

/// What an older configuration says of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// A word, a number, a text.
    Text(String),
    /// A list of them.
    List(Vec<String>),
}

/// What a project's own file may do with a setting: never more than the user allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrowing {
    /// Nothing.
    Nothing,
    /// Set it to this.
    To(bool),
    /// Set it to this word.
    Word(&'static str),
    /// Lower it.
    Lower,
    /// Add to the list.
    Adds,
    /// Set it: it says something of the project alone.
    Anything,
}

impl Narrowing {
    /// What it may do, as a clause about the setting; `None` when nothing.
    pub fn describe(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::To(value) => Some(format!("set it to `{value}`")),
            Self::Word(word) => Some(format!("set it to `{word}`")),
            Self::Lower => Some("lower it".into()),
            Self::Adds => Some("add to it".into()),
            Self::Anything => Some("set it".into()),
        }
    }

    /// What holds when a project says `new`: of a list that it may add to, both.
    fn join(self, new: &Value, held: Option<&Value>) -> Value {
        let (Self::Adds, Some(Value::Array(held)), Value::Array(new)) = (self, held, new) else {
            return new.clone();
        };
        let more = new.iter().filter(|value| !held.contains(value));
        Value::Array(held.iter().chain(more).cloned().collect())
    }

    fn admits(self, new: &Value, held: Option<&Value>) -> bool {
        match (self, new) {
            (Self::Adds | Self::Anything, _) => true,
            (Self::To(wanted), Value::Boolean(value)) => *value == wanted,
            (Self::Word(wanted), Value::String(word)) => word == wanted,
            (Self::Lower, Value::Integer(new)) => {
                held.and_then(Value::as_integer).is_none_or(|held| *new <= held)
            }
            _ => false,
        }
    }
}

impl Key {
    /// The key of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|key| key.name == name)
    }

    /// Every setting of both tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        KEYS.iter().chain(PROJECT_KEYS)
    }

    /// The line of `config.toml` that says what an older configuration says; `None` when it makes no sense here.
    pub(crate) fn line(&self, given: &Given) -> Option<String> {
        let value = match given {
            Given::Text(text) => self.sort.of_variable(text)?,
            Given::List(texts) => {
                self.sort.read(&Value::Array(texts.iter().cloned().map(Value::String).collect()))?
            }
        };
        Some(format!("{} = {value}", self.name))
    }

    /// What the configuration holds, for people: `none` where it holds nothing.
    pub fn shown(&self, config: &Config) -> String {
        match self.value(config) {
            None => "none".into(),
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(value) => value.to_string(),
        }
    }

    /// The same as TOML; `None` where it holds nothing.
    pub(crate) fn line_of(&self, config: &Config) -> Option<String> {
        self.value(config).map(|value| value.to_string())
    }

    /// Whether it has but one value.
    pub(crate) const fn is_settled(&self) -> bool {
        matches!(self.sort, Sort::Always(_) | Sort::Word([_]))
    }

    /// Whether the file of a project that was trusted may set it to anything.
    pub(super) fn is_a_projects(&self) -> bool {
        PROJECT_KEYS.iter().any(|key| key.name == self.name) && !self.name.starts_with("semantic.")
    }

    pub(super) fn value(&self, config: &Config) -> Option<Value> {
        (self.get)(config)
    }

    /// Stores a value that [`Sort::read`] has read.
    pub(super) fn store(&self, config: &mut Config, value: &Value) {
        (self.set)(config, value);
    }

    /// Whether a project may set this value, given what holds now.
    pub(super) fn may_narrow(&self, config: &Config, new: &Value) -> bool {
        let held = self.value(config);
        held.as_ref() == Some(new) || self.project.admits(new, held.as_ref())
    }

    /// Stores what a project narrows it to.
    pub(super) fn narrow(&self, config: &mut Config, new: &Value) {
        let value = self.project.join(new, self.value(config).as_ref());
        self.store(config, &value);
    }
}

pub(super) const NONE: Key = Key {
    name: "",
    variable: None,
    older: None,
    sort: Sort::Switch,
    project: Narrowing::Nothing,
    get: |_| None,
    set: |_, _| {},
};

/// The most bytes of the index, sections, days: far beyond any use.
const MAX_BYTES: i64 = 1 << 20;
const MAX_SECTIONS: i64 = 10_000;
pub(super) const MAX_DAYS: i64 = 36_500;

/// Every setting, in documentation order.
pub const KEYS: &[Key] = &[
    Key {
        name: "knowledge.dedup_threshold",
        variable: Some("LAYERED_MEMORY_DEDUP_THRESHOLD"),
        sort: Sort::Share,
        get: |c| c.knowledge.dedup_threshold.map(Value::Float),
        set: |c, v| c.knowledge.dedup_threshold = v.as_float(),
        ..NONE
    },
    Key {
        name: "knowledge.similarity.skip",
        variable: Some("LAYERED_MEMORY_SEM_SKIP_THRESHOLD"),
        sort: Sort::Share,
        get: |c| c.knowledge.similarity.skip.map(Value::Float),
        set: |c, v| c.knowledge.similarity.skip = v.as_float(),
        ..NONE
    },
    Key {
        name: "knowledge.similarity.fuse",
        variable: Some("LAYERED_MEMORY_SEM_FUSE_THRESHOLD"),
        sort: Sort::Share,
        get: |c| c.knowledge.similarity.fuse.map(Value::Float),
        set: |c, v| c.knowledge.similarity.fuse = v.as_float(),
        ..NONE
    },
    Key {
        name: "knowledge.similarity.merge",
        variable: Some("LAYERED_MEMORY_SEM_MERGE_THRESHOLD"),
        sort: Sort::Share,
        get: |c| c.knowledge.similarity.merge.map(Value::Float),
        set: |c, v| c.knowledge.similarity.merge = v.as_float(),
        ..NONE
    },
    Key {
        name: "knowledge.l0.auto_sync",
        variable: Some("LAYERED_MEMORY_AUTO_SYNC_L0"),
        get: |c| Some(Value::Boolean(c.knowledge.l0.auto_sync)),
        set: |c, v| switch(v, &mut c.knowledge.l0.auto_sync),
        ..NONE
    },
    Key {
        name: "knowledge.l0.format",
        variable: Some("LAYERED_MEMORY_L0_FORMAT"),
        sort: Sort::Word(&["hermes", "generic"]),
        get: |c| Some(c.knowledge.l0.format.as_str().into()),
        set: |c, v| word(v, L0Format::parse, &mut c.knowledge.l0.format),
        ..NONE
    },
    Key {
        name: "knowledge.l0.file",
        variable: Some("LAYERED_MEMORY_L0_INDEX_FILE"),
        sort: Sort::Path,
        get: |c| path(c.knowledge.l0.file.as_ref()),
        set: |c, v| c.knowledge.l0.file = v.as_str().map(PathBuf::from),
        ..NONE
    },
    Key {
        name: "knowledge.l0.tag",
        variable: Some("LAYERED_MEMORY_L0_TAG"),
        sort: Sort::Tag,
        get: |c| Some(c.knowledge.l0.tag.as_str().into()),
        set: |c, v| v.as_str().unwrap_or_default().clone_into(&mut c.knowledge.l0.tag),
        ..NONE
    },
    Key {
        name: "knowledge.l0.budget_bytes",
        sort: Sort::Whole(256, MAX_BYTES),
        project: Narrowing::Lower,
        get: |c| whole(c.knowledge.l0.budget_bytes),
        set: |c, v| number(v, &mut c.knowledge.l0.budget_bytes),
        ..NONE
    },
    Key {
        name: "knowledge.consolidate.enabled",
        variable: Some("LAYERED_MEMORY_CONSOLIDATE_ENABLED"),
        older: Some("consolidate.enabled"),
        get: |c| Some(Value::Boolean(c.knowledge.consolidate.enabled)),
        set: |c, v| switch(v, &mut c.knowledge.consolidate.enabled),
        ..NONE
    },
    Key {
        name: "knowledge.consolidate.min_family",
        variable: Some("LAYERED_MEMORY_CONSOLIDATE_MIN_FAMILY"),
        older: Some("consolidate.min_family"),
        sort: Sort::Whole(2, MAX_SECTIONS),
        get: |c| whole(c.knowledge.consolidate.min_family),
        set: |c, v| number(v, &mut c.knowledge.consolidate.min_family),
        ..NONE
    },
    Key {
        name: "knowledge.consolidate.size_ceiling",
        variable: Some("LAYERED_MEMORY_CONSOLIDATE_SIZE_CEILING"),
        older: Some("consolidate.size_ceiling"),
        sort: Sort::Share,
        get: |c| Some(Value::Float(c.knowledge.consolidate.size_ceiling)),
        set: |c, v| float(v, &mut c.knowledge.consolidate.size_ceiling),
        ..NONE
    },
    Key {
        name: "routing.enabled",
        variable: Some("LAYERED_MEMORY_ROUTING_ENABLED"),
        older: Some("routing.enabled"),
        get: |c| Some(Value::Boolean(c.routing.enabled)),
        set: |c, v| switch(v, &mut c.routing.enabled),
        ..NONE
    },
    Key {
        name: "routing.mode",
        variable: Some("LAYERED_MEMORY_ROUTING_MODE"),
        older: Some("routing.mode"),
        sort: Sort::Word(&["advisory", "enforce"]),
        project: Narrowing::Word("enforce"),
        get: |c| Some(c.routing.mode.as_str().into()),
        set: |c, v| word(v, RoutingMode::parse, &mut c.routing.mode),
    },
    Key {
        name: "routing.enforce_direct_writes",
        variable: Some("LAYERED_MEMORY_ROUTING_ENFORCE_DIRECT_WRITES"),
        older: Some("routing.enforce_direct_writes"),
        project: Narrowing::To(true),
        get: |c| Some(Value::Boolean(c.routing.enforce_direct_writes)),
        set: |c, v| switch(v, &mut c.routing.enforce_direct_writes),
        ..NONE
    },
    Key {
        name: "routing.extra_skill_markers",
        older: Some("routing.extra_skill_markers"),
        sort: Sort::Markers,
        get: |c| list(&c.routing.extra_skill_markers),
        set: |c, v| texts(v, &mut c.routing.extra_skill_markers),
        ..NONE
    },
    Key {
        name: "routing.extra_todo_markers",
        older: Some("routing.extra_todo_markers"),
        sort: Sort::Markers,
        get: |c| list(&c.routing.extra_todo_markers),
        set: |c, v| texts(v, &mut c.routing.extra_todo_markers),
        ..NONE
    },
    Key {
        name: "routing.extra_profile_markers",
        older: Some("routing.extra_profile_markers"),
        sort: Sort::Markers,
        get: |c| list(&c.routing.extra_profile_markers),
        set: |c, v| texts(v, &mut c.routing.extra_profile_markers),
        ..NONE
    },
    Key {
        name: "routing.extra_knowledge_markers",
        older: Some("routing.extra_knowledge_markers"),
        sort: Sort::Markers,
        get: |c| list(&c.routing.extra_knowledge_markers),
        set: |c, v| texts(v, &mut c.routing.extra_knowledge_markers),
        ..NONE
    },
    Key {
        name: "routing.disabled_markers",
        older: Some("routing.disabled_markers"),
        sort: Sort::Texts,
        get: |c| list(&c.routing.disabled_markers),
        set: |c, v| texts(v, &mut c.routing.disabled_markers),
        ..NONE
    },
    Key {
        name: "routing.vocabulary",
        sort: Sort::Vocabulary,
        get: |c| c.routing.vocabulary.as_deref().map(Value::from),
        set: |c, v| c.routing.vocabulary = v.as_str().map(str::to_owned),
        ..NONE
    },
    Key {
        name: "governance.open_markers",
        older: Some("governance.open_markers"),
        sort: Sort::Markers,
        get: |c| list(&c.governance.open_markers),
        set: |c, v| texts(v, &mut c.governance.open_markers),
        ..NONE
    },
    Key {
        name: "governance.resolved_markers",
        older: Some("governance.resolved_markers"),
        sort: Sort::Markers,
        get: |c| list(&c.governance.resolved_markers),
        set: |c, v| texts(v, &mut c.governance.resolved_markers),
        ..NONE
    },
    Key {
        name: "governance.keep_reason_labels",
        older: Some("governance.keep_reason_labels"),
        sort: Sort::Markers,
        get: |c| list(&c.governance.keep_reason_labels),
        set: |c, v| texts(v, &mut c.governance.keep_reason_labels),
        ..NONE
    },
    Key {
        name: "governance.disabled_markers",
        older: Some("governance.disabled_markers"),
        sort: Sort::Texts,
        get: |c| list(&c.governance.disabled_markers),
        set: |c, v| texts(v, &mut c.governance.disabled_markers),
        ..NONE
    },
    Key {
        name: "promotion.enabled",
        variable: Some("LAYERED_MEMORY_PROMOTION_ENABLED"),
        project: Narrowing::To(false),
        get: |c| Some(Value::Boolean(c.promotion.enabled)),
        set: |c, v| switch(v, &mut c.promotion.enabled),
        ..NONE
    },
    Key {
        name: "promotion.watch_domains",
        variable: Some("LAYERED_MEMORY_PROMOTION_WATCH_DOMAINS"),
        older: Some("promotion.watch_domains"),
        sort: Sort::Texts,
        get: |c| list(&c.promotion.watch_domains),
        set: |c, v| texts(v, &mut c.promotion.watch_domains),
        ..NONE
    },
    Key {
        name: "promotion.watch_patterns",
        variable: Some("LAYERED_MEMORY_PROMOTION_WATCH_PATTERNS"),
        older: Some("promotion.watch_patterns"),
        sort: Sort::Texts,
        get: |c| list(&c.promotion.watch_patterns),
        set: |c, v| texts(v, &mut c.promotion.watch_patterns),
        ..NONE
    },
    Key {
        name: "promotion.min_sections",
        variable: Some("LAYERED_MEMORY_PROMOTION_MIN_SECTIONS"),
        sort: Sort::Whole(1, MAX_SECTIONS),
        get: |c| whole(c.promotion.min_sections),
        set: |c, v| number(v, &mut c.promotion.min_sections),
        ..NONE
    },
    Key {
        name: "promotion.cluster_threshold",
        variable: Some("LAYERED_MEMORY_PROMOTION_CLUSTER_THRESHOLD"),
        sort: Sort::Share,
        get: |c| Some(Value::Float(c.promotion.cluster_threshold)),
        set: |c, v| float(v, &mut c.promotion.cluster_threshold),
        ..NONE
    },
    Key {
        name: "promotion.min_cluster_size",
        variable: Some("LAYERED_MEMORY_PROMOTION_MIN_CLUSTER_SIZE"),
        sort: Sort::Whole(2, MAX_SECTIONS),
        get: |c| whole(c.promotion.min_cluster_size),
        set: |c, v| number(v, &mut c.promotion.min_cluster_size),
        ..NONE
    },
    Key {
        name: "changelog.enabled",
        variable: Some("LAYERED_MEMORY_CHANGELOG_ENABLED"),
        older: Some("memory_changelog.enabled"),
        get: |c| Some(Value::Boolean(c.changelog.enabled)),
        set: |c, v| switch(v, &mut c.changelog.enabled),
        ..NONE
    },
    Key {
        name: "changelog.path",
        variable: Some("LAYERED_MEMORY_CHANGELOG_PATH"),
        older: Some("memory_changelog.path"),
        sort: Sort::Path,
        get: |c| path(c.changelog.path.as_ref()),
        set: |c, v| c.changelog.path = v.as_str().map(PathBuf::from),
        ..NONE
    },
    Key {
        name: "changelog.retention_days",
        variable: Some("LAYERED_MEMORY_CHANGELOG_RETENTION_DAYS"),
        older: Some("memory_changelog.retention_days"),
        sort: Sort::Whole(1, MAX_DAYS),
        get: |c| c.changelog.retention_days.map(|days| Value::Integer(days.into())),
        set: |c, v| c.changelog.retention_days = v.as_integer().and_then(|days| days.try_into().ok()),
        ..NONE
    },
    Key {
        name: "access_log.enabled",
        variable: Some("LAYERED_MEMORY_ACCESS_LOG"),
        project: Narrowing::To(false),
        get: |c| Some(Value::Boolean(c.access_log.enabled)),
        set: |c, v| switch(v, &mut c.access_log.enabled),
        ..NONE
    },
    Key {
        name: "access_log.log_query",
        variable: Some("LAYERED_MEMORY_LOG_QUERY"),
        project: Narrowing::To(false),
        get: |c| Some(Value::Boolean(c.access_log.log_query)),
        set: |c, v| switch(v, &mut c.access_log.log_query),
        ..NONE
    },
    Key {
        name: "access_log.retention_days",
        variable: Some("LAYERED_MEMORY_ACCESS_RETENTION_DAYS"),
        sort: Sort::Whole(1, MAX_DAYS),
        get: |c| Some(Value::Integer(c.access_log.retention_days.into())),
        set: |c, v| number(v, &mut c.access_log.retention_days),
        ..NONE
    },
];

pub(super) fn switch(value: &Value, held: &mut bool) {
    *held = value.as_bool().unwrap_or(*held);
}

fn float(value: &Value, held: &mut f64) {
    *held = value.as_float().unwrap_or(*held);
}

pub(super) fn number<T: TryFrom<i64> + Copy>(value: &Value, held: &mut T) {
    *held = value.as_integer().and_then(|n| T::try_from(n).ok()).unwrap_or(*held);
}

pub(super) fn word<T: Copy>(value: &Value, parse: fn(&str) -> Option<T>, held: &mut T) {
    *held = value.as_str().and_then(parse).unwrap_or(*held);
}

pub(super) fn texts(value: &Value, held: &mut Vec<String>) {
    if let Some(values) = value.as_array() {
        *held = values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
}

pub(super) fn list(texts: &[String]) -> Option<Value> {
    Some(Value::Array(texts.iter().map(|text| Value::from(text.as_str())).collect()))
}

fn whole(number: usize) -> Option<Value> {
    i64::try_from(number).ok().map(Value::Integer)
}

fn path(path: Option<&PathBuf>) -> Option<Value> {
    path.map(|path| Value::from(path.display().to_string()))
}
