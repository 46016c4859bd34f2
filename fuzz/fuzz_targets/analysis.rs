//! See `strata_testkit::fuzz::analysis`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strata_testkit::fuzz::analysis(data));
