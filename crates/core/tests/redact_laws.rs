//! The laws of redaction: idempotent, on megabytes too, never panicking, and exact about offsets.

use proptest::prelude::*;
use strata_core::redact::{clean_text, redact, strip_injected};

/// Secrets in contexts of their own, assembled here so that no scanner trips on this file.
fn planted() -> Vec<(String, String)> {
    let pairs = [
        (format!("gh{}_{}", "p", "a1B2".repeat(9)), "{}"),
        (format!("AK{}{}", "IA", "Z9Y8X7W6V5U4T3S2"), "{}"),
        (format!("xo{}-{}", "xb", "123456789012-abcdefGHIJKL"), "{}"),
        (format!("s{}-{}", "k", "a1B2c3D4".repeat(6)), "{}"),
        ("hunter2".to_owned(), "password is {}"),
        ("fake-pa55".to_owned(), "DB_PASSWORD={}"),
        ("q1w2e3r4t5".to_owned(), "\"api_key\": \"{}\""),
        ("w0rdpass9".to_owned(), "postgres://app:{}@db.invalid/x"),
        ("mima2026x".to_owned(), "密码是 {}"),
    ];
    pairs.into_iter().map(|(secret, context)| (secret.clone(), context.replace("{}", &secret))).collect()
}

/// Text that is made of the pieces the rules look at.
fn fragments() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "password",
        "token",
        "api_key",
        "secret",
        "DB_PASSWORD",
        "密码",
        "パスワード",
        "비밀번호",
        "bearer ",
        "Authorization: ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA0123456789abcdefghijklmnop",
        "://",
        "a:b@c",
        "eyJhbGciOiJI",
        ".",
        "=",
        ":",
        " is ",
        "是",
        "は ",
        " ",
        "\n",
        "\"",
        "'",
        "hunter2",
        "abc123def",
        "[REDACTED]",
        "[REDACTED_",
        "]",
        "${X}",
        "<",
        ">",
        "/secret/",
        "sk-",
        "ghp_",
        "AKIA",
        "xoxb-",
        "Zk3vQ9tR7mW2xL5nB8cD",
        "\\n",
        "\\\"",
        "value",
        ",",
        "|",
        " for ",
        "(prod)",
        "（生产）",
        "🔑",
        "é",
        "\u{202e}",
        "--password ",
        "-u ",
        "curl",
        "&",
        ";",
        "0123456789abcdef0123456789abcdef01234567",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn redacting_twice_changes_nothing(text in prop_oneof![fragments(), any::<String>(), "[ -~\\n]{0,300}"]) {
        let once = redact(&text);
        let twice = redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(!twice.is_redacted());
    }

    #[test]
    fn findings_tell_exactly_what_was_replaced(text in prop_oneof![fragments(), any::<String>()]) {
        let redacted = redact(&text);
        let mut rebuilt = String::new();
        let mut copied = 0;
        for finding in &redacted.findings {
            prop_assert!(finding.start >= copied && finding.start < finding.end);
            rebuilt.push_str(&text[copied..finding.start]);
            rebuilt.push_str(finding.placeholder);
            copied = finding.end;
        }
        rebuilt.push_str(&text[copied..]);
        prop_assert_eq!(rebuilt, redacted.text);
    }

    #[test]
    fn planted_secrets_go_whatever_surrounds_them(
        index in 0..9usize,
        before in "([a-z]{1,8}[ .,\n]){0,12}",
        after in "([ .,\n][a-z]{1,8}){0,12}",
    ) {
        let (secret, context) = planted().swap_remove(index);
        let text = format!("{before}\n{context}\n{after}");
        let redacted = redact(&text);
        prop_assert!(!redacted.text.contains(&secret), "{}", redacted.text);
        prop_assert!(redacted.text.starts_with(&before));
        prop_assert!(redacted.text.ends_with(&after));
    }

    #[test]
    fn plain_words_are_kept(text in "([a-z]{1,9}[ ,.\n]){0,60}") {
        prop_assume!(!["pass", "pwd", "token", "secret", "credential", "bearer"].iter().any(|word| text.contains(word)));
        prop_assert!(!redact(&text).is_redacted());
    }

    #[test]
    fn cleaning_is_idempotent_and_leaves_no_control(text in prop_oneof![any::<String>(), "[\u{1b}\\[\\]0-9;m\r\n\t a-z\u{0}\u{7}\u{9b}\u{202e}\u{2066}]{0,80}"]) {
        let once = clean_text(&text);
        let lone = once.text.replace("\r\n", "\n");
        prop_assert!(!lone.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        prop_assert!(!clean_text(&once.text).is_changed());
    }

    #[test]
    fn stripping_is_idempotent(parts in prop::collection::vec(prop::sample::select(vec![
        "<strata-memory>", "<strata-memory id=\"x\">", "</strata-memory>", "<strata-mem", "ory>", "<", "text ", "\n", "\n\n", "\r\n\r\n", "é",
    ]), 0..30)) {
        let text = parts.concat();
        let once = strip_injected(&text);
        let twice = strip_injected(&once.text);
        prop_assert!(!twice.removed, "{:?}", once.text);
        if !once.removed {
            prop_assert_eq!(&once.text, &text);
        }
    }
}

/// Inputs that make a careless rule look at the rest of the text again and again.
fn adversarial(len: usize) -> Vec<(&'static str, String)> {
    let pieces = [
        "a",
        "eyJ",
        "-eyJ",
        "eyJa.",
        "eyJabcdefgh.eyJabcdefgh.",
        "sk-",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----Version:",
        "://",
        "a://b:c",
        "a://b:c/",
        "x://",
        "password=",
        "password = \"",
        "password:",
        "password ",
        "token",
        "token is ",
        "secret/",
        "/secret/",
        "/secret/a1",
        "Authorization:",
        "authorization: bearer ",
        "bearer ",
        "api key for ",
        "密码",
        "密码是",
        "パスワードは",
        "\"password\": ",
        "password(",
        "password\\\"",
        "AKIA0123456789ABCDEF",
        "AKIA0123456789ABCDEF ",
        "123456789:AA",
        "M.",
        "MTa1b2c3d4e5f6g7h8i9j0k1l2.abcdef.",
        "hooks.slack.com/services/",
        "password: [REDACTED] ",
        "Zk3vQ9tR7mW2xL5nB8cD",
        "token Zk3vQ9tR7mW2xL5nB8cD ",
        "password=a,",
        "password=((((",
        " -u a:",
        "curl -u a1:b",
        "\\n",
        "passwordpassword",
        "'",
        "A=",
        "ghp_",
        "|",
        "Private-Lines: 1\n",
    ];
    pieces.iter().map(|piece| (*piece, piece.repeat(len / piece.len()))).collect()
}

/// A rule that looked at every pair of places would not come to an end here.
#[test]
fn long_adversarial_texts_come_out_stable() {
    for (piece, text) in adversarial(100_000) {
        let once = redact(&text);
        assert_eq!(redact(&once.text).text, once.text, "{piece:?}");
    }
}

#[test]
fn cleaning_and_stripping_megabytes_come_out_stable_too() {
    let nested = "<strata-mem<strata-memory></strata-memory>ory>";
    let marks = ["<strata-memory>", "<strata-memory", "</strata-memory>", nested, "<strata-memory>\r\n"];
    for piece in ["\u{1b}]", "\u{1b}[", "\r"].iter().chain(&marks) {
        let text = piece.repeat(1_000_000 / piece.len());
        let clean = clean_text(&text);
        assert_eq!(clean_text(&clean.text).text, clean.text, "{piece:?}");
        let kept = strip_injected(&text);
        assert_eq!(strip_injected(&kept.text).text, kept.text, "{piece:?}");
    }
}
