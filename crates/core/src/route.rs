//! The advisory router: where an item would belong.
