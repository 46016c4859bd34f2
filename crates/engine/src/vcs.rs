//! The only code that reads repositories: read-only calls of the git library, listed here.
