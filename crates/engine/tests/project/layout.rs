//! The folder of a project and its settings.
