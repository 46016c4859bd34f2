//! What Strata keeps in a project: the folder, its settings, the files that people write.

/// The settings of a project, as they hold: `engine.settings().config.project`.
pub use crate::settings::project::ProjectConfig;
