//! Redaction by example: what goes, what stays, and what stands in its place.

use strata_core::redact::{Family, clean_text, redact, strip_injected};

fn redacted(text: &str) -> String {
    redact(text).text.into_owned()
}

#[test]
fn field_case_44_loses_both_values_and_keeps_the_prose() {
    let text = "Remember: prod DB password is hunter2 and my API key is sk-abc123";
    assert_eq!(redacted(text), "Remember: prod DB password is [REDACTED] and my API key is [REDACTED]");
}

#[test]
fn a_password_with_a_digit_inside_is_no_name_of_a_field() {
    for text in [
        "password=hunter2secret",
        "connect with password=hunter2secret and try again",
        "DB_PASSWORD=hunter2secret psql -h db",
        "run it with --password=hunter2secret --verbose",
        "the password is hunter2secret for now",
        "密码=hunter2secret",
        "登录时用密码=hunter2secret，别忘了",
        "口令：hunter2secret，明天换",
        "数据库的密码是hunter2secret。",
        "パスワード：hunter2secret、以上",
        "비밀번호: hunter2secret 입니다",
    ] {
        assert!(!redacted(text).contains("hunter2"), "{text} -> {}", redacted(text));
    }
    for text in [
        "password=required",
        "call login(user, password=required) first",
        "f(password=user.password2)",
        "password=user.password2",
        "set password=new_password1 and go on",
        "password_hash=sha256",
        "store password_hash=sha256 of it",
        "PASSWORD=$DB_PASSWORD1",
        "export PASSWORD=$DB_PASSWORD1 before",
        "password: str",
        "def login(user: str, password: str) -> bool:",
        "new Client({ password: oauth2Secret, user })",
        "密码=必填",
        "口令：请向管理员索取",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn the_key_name_stays_whole() {
    let key = format!("s{}-{}", "k", "a1B2c3D4".repeat(6));
    assert_eq!(redacted(&format!("OPENAI_API_KEY={key}")), "OPENAI_API_KEY=[REDACTED]");
    assert_eq!(redacted(&format!("I use {key} here")), "I use [REDACTED_API_KEY] here");
    assert_eq!(redacted("{\"api_key\": \"q1w2e3r4t5\"}"), "{\"api_key\": \"[REDACTED]\"}");
    assert_eq!(redacted("postgres://admin:secret@host"), "postgres://admin:[REDACTED_URL_PASSWORD]@host");
    assert_eq!(redacted("postgres://u:p@h/d"), "postgres://u:[REDACTED_URL_PASSWORD]@h/d");
}

/// Every pattern of the older scanners, those of `memory_engine` 8.11 with the gaps it names and those of
/// `three_layer` 3.4, each in a sentence. `~` is taken out: it keeps secret scanners off this file.
#[test]
fn every_family_of_the_older_scanners_is_covered() {
    let body36 = "q7Rt2Lm9Xw4Zp1Vb6Nc3Ks8Dy5Hg0Jf2Ta9W";
    let cases: Vec<(&str, String, String)> = [
        ("ghp", "gh~p_{36}", Family::GithubToken),
        ("gho", "gh~o_{36}", Family::GithubToken),
        ("ghs", "gh~s_{36}", Family::GithubToken),
        ("ghu", "gh~u_{36}", Family::GithubToken),
        ("github_pat", "github_~pat_{36}{36}q7Rt2Lm9Xw", Family::GithubToken),
        ("glpat with a dash", "gl~pat-q7Rt2Lm9Xw4Zp1Vb6Nc3", Family::GitlabToken),
        ("glpat with an underscore", "gl~pat_q7Rt2Lm9Xw4Zp1Vb6Nc3", Family::GitlabToken),
        ("AKIA", "AK~IAZ9Y8X7W6V5U4T3S2", Family::AwsKey),
        ("ASIA", "AS~IAZ9Y8X7W6V5U4T3S2", Family::AwsKey),
        ("AROA", "AR~OAZ9Y8X7W6V5U4T3S2", Family::AwsKey),
        ("AIPA", "AI~PAZ9Y8X7W6V5U4T3S2", Family::AwsKey),
        ("ANPA", "AN~PAZ9Y8X7W6V5U4T3S2", Family::AwsKey),
        ("ANVA", "AN~VAZ9Y8X7W6V5U4T3S2", Family::AwsKey),
        ("APKA", "AP~KAZ9Y8X7W6V5U4T3S2", Family::AwsKey),
        ("Google", "AI~zaSyq7Rt2Lm9Xw4Zp1Vb6Nc3Ks8Dy5Hg0Jf", Family::GoogleKey),
        ("sk", "s~k-q7Rt2Lm9Xw4Zp1Vb6Nc3", Family::ModelKey),
        ("sk-ant", "s~k-ant-q7Rt2Lm9Xw4Zp1Vb6Nc3", Family::AnthropicKey),
        ("xoxb", "xo~xb-123456789012-q7Rt2Lm9Xw4Z", Family::SlackToken),
        ("xoxa", "xo~xa-123456789012-q7Rt2Lm9Xw4Z", Family::SlackToken),
        ("xoxp", "xo~xp-123456789012-q7Rt2Lm9Xw4Z", Family::SlackToken),
        ("xoxr", "xo~xr-123456789012-q7Rt2Lm9Xw4Z", Family::SlackToken),
        ("xoxs", "xo~xs-123456789012-q7Rt2Lm9Xw4Z", Family::SlackToken),
        ("LTAI", "LT~AI5tq7Rt2Lm9Xw4Zp1Vb", Family::AlibabaKey),
        ("JWT", "ey~JhbGciOiJIUzI1NiJ9.ey~JzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", Family::Jwt),
    ]
    .into_iter()
    .map(|(name, token, family)| {
        let token = token.replace("{36}", body36).replace('~', "");
        (name, format!("we used {token} for it"), format!("we used {} for it", family.placeholder()))
    })
    .collect();
    for (name, text, wanted) in cases {
        assert_eq!(redacted(&text), wanted, "{name}");
    }
    for (text, secret, kept) in [
        (
            "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYq7Rt2Lm9Xw4Z",
            "wJalrXUtn",
            "aws_secret_access_key",
        ),
        ("AWS_SESSION_TOKEN=FwoGZXIvYXdzEBYaDq7Rt2Lm9Xw4Zp1Vb6", "FwoGZXIv", "AWS_SESSION_TOKEN="),
        ("Authorization: Bearer abcdef0123456789", "abcdef0123456789", "Authorization"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA", "Authorization"),
        ("Authorization: Token abcdef0123456789", "abcdef0123456789", "Authorization"),
        ("curl -H 'bearer abcdef0123456789'", "abcdef0123456789", "curl"),
        ("amqp://worker:Tr0ub4dor@mq.internal/vhost", "Tr0ub4dor", "mq.internal"),
        ("password: Tr0ub4dor&3", "Tr0ub4dor", "password"),
        ("passwd=Tr0ub4dor3", "Tr0ub4dor", "passwd"),
        ("secret = Tr0ub4dor3", "Tr0ub4dor", "secret"),
        ("api_key: Tr0ub4dor3", "Tr0ub4dor", "api_key"),
        ("{\"api_key\": \"Tr0ub4dor3\"}", "Tr0ub4dor", "api_key"),
        ("auth_token=Tr0ub4dor3", "Tr0ub4dor", "auth_token"),
        ("access_token=Tr0ub4dor3", "Tr0ub4dor", "access_token"),
        ("token = Tr0ub4dor3x9", "Tr0ub4dor", "token"),
        ("private_key=Tr0ub4dor3", "Tr0ub4dor", "private_key"),
        ("https://vault.example/v1/secret/q7Rt2Lm9Xw4Zp1Vb6Nc3", "q7Rt2Lm9Xw4Zp1Vb6Nc3", "vault.example"),
    ] {
        let found = redacted(text);
        assert!(!found.contains(secret) && found.contains(kept), "{text} -> {found}");
    }
    let body = "MIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL";
    for label in ["RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", ""] {
        let key = format!("-----BEGIN {label}PRIVATE KEY-----\n{body}\n-----END {label}PRIVATE KEY-----");
        assert_eq!(redacted(&key), "[REDACTED_PRIVATE_KEY]", "{label}");
        let open = format!("-----BEGIN {label}PRIVATE KEY-----\n{body}\n{body}");
        assert_eq!(redacted(&open), "[REDACTED_PRIVATE_KEY]", "{label} without its end");
    }
    let pgp = format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----");
    assert_eq!(redacted(&pgp), "[REDACTED_PRIVATE_KEY]");
}

/// What the older scanners took for secrets.
#[test]
fn digests_and_commit_ids_survive_beside_any_word() {
    let commit = "3f786850e387550fdab836ed7e6dc881de23001b";
    let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let sha512 = sha256.repeat(2);
    for digest in [commit, sha256, sha512.as_str(), "d41d8cd98f00b204e9800998ecf8427e", &commit[..8]] {
        for text in [
            format!("fixed in {digest}."),
            format!("commit {digest}"),
            format!("sha256:{digest}"),
            format!("the token parser broke at {digest}"),
            format!("git show {digest} # rotates the secret"),
            format!("checksum = \"{digest}\""),
            format!("https://example.com/team/app/commit/{digest}"),
            format!("在提交 {digest} 中修复"),
        ] {
            assert_eq!(redacted(&text), text);
        }
    }
}

#[test]
fn a_finding_tells_family_and_place() {
    let id = format!("AK{}{}", "IA", "Z9Y8X7W6V5U4T3S2");
    let text = format!("id {id}.");
    let redaction = redact(&text);
    let finding = redaction.findings[0];
    assert_eq!(redaction.text, "id [REDACTED_AWS_KEY].");
    assert_eq!((finding.family, &text[finding.start..finding.end]), (Family::AwsKey, id.as_str()));
    assert_eq!(finding.placeholder, "[REDACTED_AWS_KEY]");
}

#[test]
fn private_keys_go_whole_and_public_ones_stay() {
    let body = "MIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL";
    for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        let whole = format!("a\n-----BEGIN {label}-----\n{body}\n{body}\nab==\n-----END {label}-----\nb");
        assert_eq!(redacted(&whole), "a\n[REDACTED_PRIVATE_KEY]\nb", "{label}");
        let cut = format!("a\n-----BEGIN {label}-----\n{body}\n{body}\n\nthe rest stays");
        assert_eq!(redacted(&cut), "a\n[REDACTED_PRIVATE_KEY]\n\nthe rest stays", "{label}");
    }
    for label in ["PUBLIC KEY", "CERTIFICATE"] {
        let text = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----");
        assert_eq!(redacted(&text), text);
    }
    let prose = "a file with -----BEGIN PRIVATE KEY----- in it is refused";
    assert_eq!(redacted(prose), prose);
}

#[test]
fn a_token_joined_to_a_name_goes_and_the_name_stays() {
    let github = format!("gh{}{}", "p_", "A1b2C3d4E5f6".repeat(3));
    let model = format!("s{}{}", "k-", "q7Rt2Lm9Xw4Zp1Vb6Nc3Ks8D");
    let model_key = format!("s{}{}", "k-proj-", "q7Rt2Lm9Xw4Zp1Vb6Nc3Ks8D");
    let jwt =
        format!("ey{}.ey{}.{}", "JhbGciOiJIUzI1NiJ9", "JzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N");
    for (token, placeholder) in [
        (&github, "[REDACTED_GH_TOKEN]"),
        (&model, "[REDACTED_API_KEY]"),
        (&model_key, "[REDACTED_API_KEY]"),
        (&jwt, "[REDACTED_JWT]"),
    ] {
        for name in ["conv-", "x_", "session-2026-", "a_b-"] {
            assert_eq!(redacted(&format!("in {name}{token} today")), format!("in {name}{placeholder} today"));
        }
    }
    for kept in [
        "cache-key-d41d8cd98f00b204e9800998ecf8427e",
        "disk-usage-of-partition-number-17-and-18",
        "the_sk-learn-compatible-estimator-2024",
        "risk_hf_model_with_a_long_name_24_layers",
        "abcgh\u{70}_A1b2C3d4E5f6A1b2C3d4E5f6",
    ] {
        assert_eq!(redacted(kept), kept);
    }
}

#[test]
fn what_is_no_secret_survives() {
    let kept = [
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "123e4567-e89b-12d3-a456-426614174000",
        "password=os.environ[\"DB_PASSWORD\"]",
        "password: str",
        "token = get_token()",
        "api_key: ${API_KEY}",
        "token: <your-token>",
        "password: xxxx",
        "password: ****",
        "PASSWORD=changeme",
        "max_tokens=4096",
        "token count is 1234",
        "the password is stored in the vault",
        "password is required",
        "the secretary will tokenize it",
        "https://example.com/a?b=c",
    ];
    for text in kept {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn placeholders_are_distinct_from_secrets() {
    for family in Family::ALL {
        let text = format!("password: {0} and token={0} at https://u:{0}@h", family.placeholder());
        assert!(!redact(&text).is_redacted(), "{family}");
    }
}

#[test]
fn injected_blocks_are_removed() {
    let pasted = "before\n<strata-memory id=\"1\">\nrecalled\n\nmore\n</strata-memory>\nafter";
    let stripped = strip_injected(pasted);
    assert_eq!((&*stripped.text, stripped.removed), ("before\n\nafter", true));
    let unterminated = "before <strata-memory>recalled\nstill recalled\n\nafter";
    assert_eq!(strip_injected(unterminated).text, "before \n\nafter");
    let nested = "a<strata-memory>b<strata-memory>c</strata-memory>d</strata-memory>e";
    assert_eq!(strip_injected(nested).text, "ae");
    let joined = "x<strata-mem<strata-memory></strata-memory>ory>y</strata-memory>z";
    assert_eq!(strip_injected(joined).text, "x");
    let untouched = "the <strata-memoryless> tag";
    assert_eq!((&*strip_injected(untouched).text, strip_injected(untouched).removed), (untouched, false));
}

#[test]
fn control_characters_escapes_and_overrides_go_and_are_counted() {
    let cleaned = clean_text("a\u{0}b\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}\u{202e}c\u{85}\r\nd\te\rf");
    assert_eq!(cleaned.text, "abredc\n\r\nd\te\nf", "what broke a line or a word still does");
    assert_eq!((cleaned.controls, cleaned.escapes, cleaned.bidi), (3, 3, 1));
    let kept = "plain \u{1f511} text\r\nwith\ttabs, עברית and 中文";
    assert_eq!(clean_text(kept).text, kept);
    assert!(!clean_text(kept).is_changed());
}

#[test]
fn a_password_in_a_column_of_a_table_is_taken_out() {
    for heading in
        ["password", "**Password**", "DB password", "Password (root)", "密码", "パスワード", "비밀번호"]
    {
        let table = |cell: &str| {
            format!(
                "| host | {heading} | port |\n|---|:--|--:|\n| a\\|b | {cell} | 1 |\n| c | - | 2 |\n\nhunter2"
            )
        };
        assert_eq!(redact(&table("hunter2")).text, table("[REDACTED]"), "{heading}");
        assert_eq!(redact(&table("`Tr0ub4dor&3`")).text, table("`[REDACTED]`"), "{heading}");
    }
    for heading in ["password", "db_password", "密码", "パスワード", "비밀번호"] {
        for separator in [",", ";", "\t"] {
            let rows = |a: &str, b: &str| {
                [["user", heading, "port"], ["alice", a, "1"], ["bob", b, "2"]]
                    .map(|row| row.join(separator))
                    .join("\n")
            };
            let shown = redact(&rows("hunter2", "\"s3cr3t,99\"")).text.into_owned();
            assert_eq!(shown, rows("[REDACTED]", "\"[REDACTED]\""), "{heading}{separator}");
        }
    }
}

#[test]
fn a_column_about_passwords_is_kept() {
    for heading in
        ["Password policy", "Reset password", "Has password", "Password length", "密码策略", "パスワード設定"]
    {
        let table = format!("| system | {heading} |\n| --- | --- |\n| a | rotation90 |\n| b | strict |\n");
        assert_eq!(redact(&table).text, table);
    }
    for cell in [
        "-",
        "",
        "yes",
        "Yes",
        "no",
        "required",
        "Required",
        "optional",
        "n/a",
        "N/A",
        "none",
        "TBD",
        "***",
        "see the vault",
        "string",
        "<password>",
        "hashed",
        "是",
        "无",
        "必填",
    ] {
        for heading in ["password", "Password", "密码"] {
            let table = format!("| field | {heading} |\n| --- | --- |\n| a | {cell} |\n");
            assert_eq!(redact(&table).text, table, "{cell}");
            let rows = format!("field,{heading}\na,{cell}\n");
            assert_eq!(redact(&rows).text, rows, "{cell}");
        }
    }
    for text in [
        "    login(user, password)\n    open(host, port1x)\n",
        "Enter your name, then the password, twice.\nWait, then, go2it.\n",
    ] {
        assert_eq!(redact(text).text, text);
    }
}

#[test]
fn tables_of_database_shells_lose_their_passwords_and_lists_keep_their_words() {
    for (text, clean) in [
        (
            " user  | password \n-------+----------\n alice | hunter2 \n",
            " user  | password \n-------+----------\n alice | [REDACTED] \n",
        ),
        (
            "+-------+----------+\n| user  | password |\n+-------+----------+\n| alice | hunter2 |\n+-------+----------+\n",
            "+-------+----------+\n| user  | password |\n+-------+----------+\n| alice | [REDACTED] |\n+-------+----------+\n",
        ),
        (
            "user,passwords\n# of the old host\nbob,hunter2\n",
            "user,passwords\n# of the old host\nbob,[REDACTED]\n",
        ),
        (
            "- host, user, password\n- port, database, schema\n",
            "- host, user, password\n- port, database, schema\n",
        ),
        ("username, password\nhostname, nickname\n", "username, password\nhostname, nickname\n"),
    ] {
        assert_eq!(redact(text).text, clean);
    }
}
