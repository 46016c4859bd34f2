//! A judge that says what it was told to say, for tests.

use std::{collections::VecDeque, sync::Mutex};

use super::{Judge, Outgoing, Verdict};
use crate::error::Error;

/// Gives the scripted answers in order, then none, and keeps what it was asked.
#[derive(Debug, Default)]
pub struct Scripted {
    verdicts: Mutex<VecDeque<Verdict>>,
    digests: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<Vec<String>>>,
}

impl Scripted {
    /// A judge with these answers.
    pub fn new(verdicts: Vec<Verdict>, digests: Vec<String>) -> Self {
        Self {
            verdicts: Mutex::new(verdicts.into()),
            digests: Mutex::new(digests.into()),
            asked: Mutex::default(),
        }
    }

    /// Every question so far, as the texts that were sent.
    pub fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().map(|asked| asked.clone()).unwrap_or_default()
    }

    fn note(&self, texts: &[&Outgoing]) {
        if let Ok(mut asked) = self.asked.lock() {
            asked.push(texts.iter().map(|t| t.as_str().to_owned()).collect());
        }
    }
}

fn next<T>(script: &Mutex<VecDeque<T>>) -> Result<T, Error> {
    let answer = script.lock().ok().and_then(|mut answers| answers.pop_front());
    answer.ok_or_else(|| Error::Remote { host: "scripted".into(), fault: "the script has ended".into() })
}

impl Judge for Scripted {
    fn name(&self) -> String {
        "scripted".into()
    }

    fn compare(&self, a: &Outgoing, b: &Outgoing) -> Result<Verdict, Error> {
        self.note(&[a, b]);
        next(&self.verdicts)
    }

    fn summarise(&self, texts: &[Outgoing]) -> Result<String, Error> {
        self.note(&texts.iter().collect::<Vec<_>>());
        next(&self.digests)
    }
}
