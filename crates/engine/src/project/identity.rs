//! Which project a directory is, whatever it is called and wherever it lies; the operations on projects.
