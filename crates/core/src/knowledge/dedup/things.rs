//! Whether two texts speak of one thing or of two, by what differs.

use crate::duplicate::{Difference, DifferenceKind};

/// Whether the two texts differ in values of the same thing. With another name, word, path or identifier they are about two.
pub(super) fn is_about_one_thing(differences: &[Difference]) -> bool {
    use DifferenceKind::{Identifier, Name, Order, Path, Word};
    differences.iter().all(|found| ![Identifier, Name, Order, Path, Word].contains(&found.kind))
}

/// Whether a text that stands under another heading speaks of another host, name or identifier in the same words: then both are
/// facts of their own.
pub(super) fn is_of_another_thing(differences: &[Difference]) -> bool {
    use DifferenceKind::{Address, Identifier, Name, Path, Url, Word};
    differences.iter().any(|found| [Address, Identifier, Name, Path, Url, Word].contains(&found.kind))
}

/// Whether each of two texts in quite other words has a host, name or identifier that stands in the other's place: then each is
/// about its own, however near they are.
pub(super) fn names_two_things(differences: &[Difference]) -> bool {
    use DifferenceKind::{Address, Identifier, Name, Path, Url};
    let both = |found: &&Difference| found.a.is_some() && found.b.is_some();
    differences.iter().filter(both).any(|found| [Address, Identifier, Name, Path, Url].contains(&found.kind))
}
