//! A queue with a limit.

use std::collections::VecDeque;

/// The most items that a queue holds.
pub const LIMIT: usize = 64;
static NAME: &str = "queue";

/// Items in the order in which they came.
///
/// It never grows beyond [`LIMIT`].
#[derive(Debug, Default)]
pub struct Queue<T> {
    items: VecDeque<T>,
}

#[derive(Debug)]
pub enum Full {
    Now,
    Soon(usize),
}

pub trait Drain {
    type Item;
    /// Takes everything out.
    fn drain_all(&mut self) -> Vec<Self::Item>;
    fn is_drained(&self) -> bool {
        true
    }
}

impl<T: Clone> Queue<T> {
    /// Adds an item at the end.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Full> {
        if self.items.len() >= LIMIT {
            return Err(Full::Now);
        }
        self.items.push_back(item);
        Ok(())
    }

    // Not for callers: it forgets the order.
    fn swap(&mut self) {
        fn inner(n: usize) -> usize {
            const STEP: usize = 1;
            n + STEP
        }
        inner(0);
    }
}

impl<T> Drain for Queue<T> {
    type Item = T;
    fn drain_all(&mut self) -> Vec<T> {
        self.items.drain(..).collect()
    }
}

pub type Names = Queue<String>;

union Bits {
    a: u32,
    b: f32,
}

/// Makes a queue of its arguments.
macro_rules! queue {
    ($($item:expr),*) => { vec![$($item),*] };
}

mod later;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses() {
        assert!(NAME.len() > 1);
    }
}
