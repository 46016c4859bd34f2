//! See `strata_testkit::fuzz::duplicates`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strata_testkit::fuzz::duplicates(data));
