//! What Strata keeps in a project: the folder, its settings, the files that people write.
