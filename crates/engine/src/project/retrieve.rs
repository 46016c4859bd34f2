//! What a task needs of a project: memories and passages of its files in one budget.
