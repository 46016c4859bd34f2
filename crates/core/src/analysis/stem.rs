//! Word forms to one form.

use rust_stemmers::{Algorithm, Stemmer};

use super::words::base_form;

/// The stem of a folded word: irregular forms first, then Snowball English. Words with digits or with
/// letters outside ASCII are left alone.
pub(super) fn stem(word: &str) -> String {
    if word.bytes().any(|b| b.is_ascii_digit()) || !word.is_ascii() || word.len() > 48 {
        return word.to_owned();
    }
    let base = base_form(word).unwrap_or(word);
    Stemmer::create(Algorithm::English).stem(base).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_meet_and_identifiers_stay() {
        assert_eq!(stem("payments"), stem("payment"));
        assert_eq!(stem("went"), stem("going"));
        assert_eq!(stem("children"), stem("kids"));
        assert_eq!(stem("utf8s"), "utf8s");
        assert_eq!(stem("naïvetés"), "naïvetés");
    }
}
