//! What a statement does to what it is about: demands, permits, forbids, asserts or denies it.

use super::{Axis, lexicon::Sense, statement::Statement};

/// The attitude of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stance {
    Required,
    Permitted,
    Optional,
    Forbidden,
    Asserted,
    Denied,
}

impl Stance {
    pub(super) fn of(statement: &Statement) -> Self {
        let has = |sense| statement.has(sense);
        // "Never" takes its negation along: 절대 하지 않는다, 決してしない.
        if has(Sense::Never) {
            return Self::Forbidden;
        }
        match (has(Sense::Forbidden), has(Sense::Optional), has(Sense::Required), has(Sense::Permitted)) {
            (true, ..) => Self::Forbidden,
            (_, true, ..) => Self::Optional,
            (_, _, true, _) if statement.negated => Self::Forbidden,
            (_, _, true, _) => Self::Required,
            (_, _, _, true) if statement.negated => Self::Forbidden,
            (_, _, _, true) => Self::Permitted,
            _ if statement.negated && statement.imperative => Self::Forbidden,
            _ if statement.negated => Self::Denied,
            _ if has(Sense::Always) => Self::Required,
            _ => Self::Asserted,
        }
    }

    /// The same attitude towards the opposite.
    fn turned(self) -> Self {
        match self {
            Self::Required => Self::Forbidden,
            Self::Forbidden => Self::Required,
            Self::Asserted => Self::Denied,
            Self::Denied => Self::Asserted,
            Self::Permitted => Self::Optional,
            Self::Optional => Self::Permitted,
        }
    }

    /// Whether both cannot hold.
    fn excludes(self, other: Self) -> bool {
        use Stance::{Asserted, Denied, Forbidden, Optional, Permitted, Required};
        let pair = |a, b| (self, other) == (a, b) || (self, other) == (b, a);
        pair(Required, Forbidden)
            || pair(Required, Optional)
            || pair(Required, Denied)
            || pair(Permitted, Forbidden)
            || pair(Asserted, Forbidden)
            || pair(Asserted, Denied)
    }

    fn is_deontic(self) -> bool {
        matches!(self, Self::Required | Self::Permitted | Self::Optional | Self::Forbidden)
    }

    /// How it is named to people.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Required => "must",
            Self::Permitted => "may",
            Self::Optional => "need not",
            Self::Forbidden => "must not",
            Self::Asserted => "is so",
            Self::Denied => "is not so",
        }
    }
}

/// The axis on which two statements about the same oppose each other. `turned` tells that an odd number of
/// antonyms stands between them.
pub(super) fn opposition(a: &Statement, b: &Statement, turned: bool) -> Option<Axis> {
    let (x, y) = (Stance::of(a), Stance::of(b));
    if !x.excludes(if turned { y.turned() } else { y }) {
        return None;
    }
    let frequent = |s: &Statement| s.has(Sense::Always) || s.has(Sense::Never);
    Some(if frequent(a) || frequent(b) {
        Axis::Frequency
    } else if turned && x == y {
        Axis::State
    } else if x.is_deontic() || y.is_deontic() {
        Axis::Deontic
    } else {
        Axis::Negation
    })
}
