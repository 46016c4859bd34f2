//! See `strata_testkit::fuzz::episode_lines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strata_testkit::fuzz::episode_lines(data));
