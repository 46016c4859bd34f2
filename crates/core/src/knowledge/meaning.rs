//! Which sections are near a text in meaning, and from where on that decides something.

/// Cosines from which on likeness by meaning decides, each at most the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bands {
    /// From here on only the lines that are missing are added.
    pub merge: f64,
    /// From here on the caller is asked for one text of both.
    pub fuse: f64,
    /// From here on a text that brings no word of its own is said already.
    pub skip: f64,
}

impl Default for Bands {
    /// Of labelled pairs, those that say something else reach 0.61 with the built-in model, and paraphrases lie at 0.45 to 0.84.
    fn default() -> Self {
        Self { merge: 0.55, fuse: 0.72, skip: 0.95 }
    }
}

/// Bands that somebody set. What is absent has another source.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Given {
    /// See [`Bands::merge`].
    pub merge: Option<f64>,
    /// See [`Bands::fuse`].
    pub fuse: Option<f64>,
    /// See [`Bands::skip`].
    pub skip: Option<f64>,
}

impl Given {
    /// Whether anything was set.
    pub fn is_any(&self) -> bool {
        self.merge.or(self.fuse).or(self.skip).is_some()
    }

    /// These bands, and `base` where none was set, moved as far as the order asks for.
    pub fn over(&self, base: &Bands) -> Bands {
        let low = self.merge.unwrap_or(0.0);
        let skip = self.skip.unwrap_or_else(|| base.skip.max(self.fuse.unwrap_or(low)).max(low));
        let fuse = self.fuse.unwrap_or_else(|| base.fuse.max(low)).min(skip);
        let merge = self.merge.unwrap_or(base.merge).min(fuse);
        Bands { merge, fuse, skip }
    }
}

/// A section as it stood when its likeness to the new text was measured. One that reads otherwise by now does not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near<'a> {
    /// Its heading.
    pub heading: &'a str,
    /// Its text.
    pub body: &'a str,
    /// The cosine of the two.
    pub cosine: f64,
}

/// What is known of likeness by meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meaning<'a> {
    /// The sections that are near; empty where no model answers: then wording alone decides.
    pub near: &'a [Near<'a>],
    /// What their cosines decide.
    pub bands: Bands,
}

impl Meaning<'_> {
    /// Nothing is known: wording alone decides.
    pub fn unknown() -> Self {
        Self { near: &[], bands: Bands::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_stay_in_order_whichever_are_set() {
        let base = Bands::default();
        assert_eq!(Given::default().over(&base), base);
        assert!(!Given::default().is_any());
        let set = |merge, fuse, skip| Given { merge, fuse, skip }.over(&base);
        assert_eq!(set(Some(0.8), None, None), Bands { merge: 0.8, fuse: 0.8, skip: 0.95 });
        assert_eq!(set(None, Some(0.5), None), Bands { merge: 0.5, fuse: 0.5, skip: 0.95 });
        assert_eq!(set(None, None, Some(0.6)), Bands { merge: 0.55, fuse: 0.6, skip: 0.6 });
        assert_eq!(set(None, Some(0.99), None), Bands { merge: 0.55, fuse: 0.99, skip: 0.99 });
        assert_eq!(set(Some(0.2), Some(0.3), Some(0.4)), Bands { merge: 0.2, fuse: 0.3, skip: 0.4 });
    }
}
