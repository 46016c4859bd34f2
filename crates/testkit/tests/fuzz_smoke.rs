//! Every fuzz target on seeded inputs: a fuzzer for those who have none, and the same run each time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use strata_testkit::fuzz::TARGETS;

/// Inputs for each target.
const RUNS: u64 = 2_000;

/// What the parsers look for: texts made of these get further into them than noise does.
const PIECES: &[&str] = &[
    "# ",
    "\n## ",
    "<!-- ",
    "\n---\n",
    "```",
    "\n~~~\n",
    "\r\n",
    "\n\n",
    "> ",
    "- [ ] ",
    "===\n",
    "\t",
    " ",
    "\u{feff}",
    "{\"text\":\"",
    "\"}\n",
    "{\"query\":",
    "\"limit\":\"3\"",
    "\"at\":\"2026-03-31T15:00:00Z\",",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "null",
    "true",
    "1e400",
    "-0",
    "\"",
    "\\u0000",
    "\\ud800",
    "\\",
    "'",
    "{\"type\":\"strata_export\",\"version\":1,\"project\":null,\"namespace\":null,\"lines\":0}\n",
    "password=",
    "token: ",
    "AKIA",
    "ghp_",
    "-----BEGIN PRIVATE KEY-----",
    "Bearer ",
    "://user:pw@",
    "aZ3aZ3aZ3aZ3aZ3aZ3",
    "<strata-memory note=\"x\">",
    "</strata-memory>",
    "<STRATA-MEMORY",
    "not ",
    "don't ",
    "5432",
    "v1.2.3",
    "10.0.0.1",
    "yesterday",
    "last week",
    "2026-03",
    "三月",
    "昨天",
    "部署",
    "数据库端口",
    "これは",
    "한국어",
    "é",
    "e\u{301}",
    "ß",
    "\u{200d}",
    "\u{202e}",
    "\u{0}",
    "\u{1b}[2J",
    "😀",
    "mem_0123456789",
    "camelCase_snake",
    "src/a/b.rs",
    "王小明",
    "Ann",
    "TODO",
    "第1步",
    "port",
    "the",
    "is",
];

/// What broke a target once, or stood near a change: it is tried each time.
const FOUND: &[&[u8]] = &[
    b"",
    b"\xff\xfe\x00",
    b"conv-ghp_A1b2C3d4E5f6A1b2C3d4E5f6",
    b"x_sk-q7Rt2Lm9Xw4Zp1Vb6Nc3Ks8D-eyJ-eyJ_eyJhbGciOi.eyJzdWIiOi.",
    b"-ghp_-ghp_-ghp_A1b2C3d4E5f6A1b2C3d4E5f6_ghp_",
    b"_AKIA-AKIAZ9Y8X7W6V5U4T3S2_password=-sk-",
    b"9999-12-31",
    b"9999-12",
    b"#0",
    b"#99999999999999999999",
];

/// SplitMix64: small, and good enough to choose inputs by.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }
}

/// Pieces, noise between them, and now and then a byte changed.
fn input(seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut bytes = Vec::new();
    for _ in 0..dice.below(40) {
        match dice.below(12) {
            0 => bytes.push(dice.next().to_le_bytes()[0]),
            1 => bytes.extend_from_slice(&dice.next().to_le_bytes()),
            _ => bytes.extend_from_slice(PIECES[dice.below(PIECES.len())].as_bytes()),
        }
    }
    if !bytes.is_empty() && dice.below(3) == 0 {
        let at = dice.below(bytes.len());
        bytes[at] = dice.next().to_le_bytes()[0];
    }
    bytes
}

#[test]
fn no_input_breaks_a_target() {
    for (name, target) in TARGETS {
        for seed in 0..RUNS {
            let bytes = input(seed);
            let ended = catch_unwind(AssertUnwindSafe(|| target(&bytes)));
            assert!(ended.is_ok(), "{name} fails on seed {seed}: {:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn what_was_found_stays_mended() {
    for (name, target) in TARGETS {
        for bytes in FOUND {
            let ended = catch_unwind(AssertUnwindSafe(|| target(bytes)));
            assert!(ended.is_ok(), "{name} fails on {:?}", String::from_utf8_lossy(bytes));
        }
    }
}

#[test]
fn inputs_are_the_same_each_time_and_differ_by_seed() {
    assert_eq!(input(7), input(7));
    assert!((0..100).filter(|s| input(*s) != input(s + 1)).count() > 90);
}

#[test]
fn every_target_has_its_file_for_the_fuzzer() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("the fuzz crate");
    for (name, _) in TARGETS {
        let file = fuzz.join(format!("fuzz_targets/{name}.rs"));
        assert!(file.is_file(), "{} is missing", file.display());
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
    }
    let files = std::fs::read_dir(fuzz.join("fuzz_targets")).expect("its targets").count();
    assert_eq!(files, TARGETS.len(), "a file without a target");
}
