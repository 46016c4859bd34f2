//! Tokens that are known by their shape: the vendors' prefixes, JSON Web Tokens, bot tokens.

use super::{Family, Span, judge, shape};

/// The characters a token's body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Letters and digits.
    Alphanumeric,
    /// Capitals and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters, digits, `-` and `_`.
    Url,
    /// Letters, digits, `-`, `_` and `.`.
    Dotted,
    /// Letters, digits, `-`, `_`, `.`, `/`, `+`, `=` and `%`.
    Base64,
}

impl Body {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Self::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'+' | b'=' | b'%')
            }
        }
    }
}

/// One vendor's token: a case-sensitive prefix and a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) prefix: &'static str,
    pub(super) family: Family,
    body: Body,
    /// Fewest and most characters of the body; a longer run is no such token.
    len: (usize, usize),
    /// Whether the prefix is also the beginning of ordinary words, so that the body must look generated.
    ambiguous: bool,
    /// Whether the prefix names the value and stays in the text.
    keeps_prefix: bool,
}

const ANY: usize = usize::MAX;

const fn sure(prefix: &'static str, family: Family, body: Body, least: usize, most: usize) -> Shape {
    Shape { prefix, family, body, len: (least, most), ambiguous: false, keeps_prefix: false }
}

const fn maybe(prefix: &'static str, family: Family, body: Body, least: usize, most: usize) -> Shape {
    Shape { prefix, family, body, len: (least, most), ambiguous: true, keeps_prefix: false }
}

const fn named(prefix: &'static str, family: Family, body: Body, least: usize) -> Shape {
    Shape { prefix, family, body, len: (least, ANY), ambiguous: false, keeps_prefix: true }
}

/// The known shapes, written from the vendors' published formats. Lower bounds are kept below the
/// published lengths where the prefix alone is telling, so that a cut-off token is caught too.
pub(super) const SHAPES: &[Shape] = &[
    sure("ghp_", Family::GithubToken, Body::Alphanumeric, 20, ANY),
    sure("gho_", Family::GithubToken, Body::Alphanumeric, 20, ANY),
    sure("ghs_", Family::GithubToken, Body::Alphanumeric, 20, ANY),
    sure("ghu_", Family::GithubToken, Body::Alphanumeric, 20, ANY),
    sure("ghr_", Family::GithubToken, Body::Alphanumeric, 20, ANY),
    sure("github_pat_", Family::GithubToken, Body::Url, 20, ANY),
    sure("glpat-", Family::GitlabToken, Body::Dotted, 16, ANY),
    sure("glpat_", Family::GitlabToken, Body::Dotted, 16, ANY),
    sure("gldt-", Family::GitlabToken, Body::Url, 16, ANY),
    sure("glrt-", Family::GitlabToken, Body::Url, 16, ANY),
    sure("glptt-", Family::GitlabToken, Body::Url, 16, ANY),
    sure("glcbt-", Family::GitlabToken, Body::Url, 16, ANY),
    sure("AKIA", Family::AwsKey, Body::Upper, 16, 16),
    sure("ASIA", Family::AwsKey, Body::Upper, 16, 16),
    sure("ABIA", Family::AwsKey, Body::Upper, 16, 16),
    sure("ACCA", Family::AwsKey, Body::Upper, 16, 16),
    sure("AROA", Family::AwsKey, Body::Upper, 16, 17),
    sure("AIDA", Family::AwsKey, Body::Upper, 16, 17),
    sure("AIPA", Family::AwsKey, Body::Upper, 16, 17),
    sure("ANPA", Family::AwsKey, Body::Upper, 16, 17),
    sure("ANVA", Family::AwsKey, Body::Upper, 16, 17),
    sure("APKA", Family::AwsKey, Body::Upper, 16, 17),
    named("AccountKey=", Family::AzureKey, Body::Base64, 20),
    named("SharedAccessKey=", Family::AzureKey, Body::Base64, 20),
    named("&sig=", Family::AzureKey, Body::Base64, 40),
    named("?sig=", Family::AzureKey, Body::Base64, 40),
    sure("AIza", Family::GoogleKey, Body::Url, 30, 40),
    sure("GOCSPX-", Family::GoogleKey, Body::Url, 20, ANY),
    sure("ya29.", Family::GoogleKey, Body::Dotted, 20, ANY),
    maybe("LTAI", Family::AlibabaKey, Body::Alphanumeric, 12, 30),
    sure("AKID", Family::CloudKey, Body::Alphanumeric, 28, 40),
    sure("AKLT", Family::CloudKey, Body::Alphanumeric, 28, 60),
    sure("bce-v3/ALTAK-", Family::CloudKey, Body::Base64, 20, ANY),
    sure("sk-proj-", Family::ModelKey, Body::Url, 16, ANY),
    sure("sk-svcacct-", Family::ModelKey, Body::Url, 16, ANY),
    sure("sk-admin-", Family::ModelKey, Body::Url, 16, ANY),
    sure("sk-or-v1-", Family::ModelKey, Body::Url, 16, ANY),
    sure("sk-ant-", Family::AnthropicKey, Body::Url, 16, ANY),
    maybe("sk-", Family::ModelKey, Body::Url, 16, ANY),
    sure("gsk_", Family::ModelKey, Body::Alphanumeric, 20, ANY),
    maybe("xai-", Family::ModelKey, Body::Alphanumeric, 30, ANY),
    maybe("pplx-", Family::ModelKey, Body::Alphanumeric, 20, ANY),
    maybe("nvapi-", Family::ModelKey, Body::Url, 20, ANY),
    maybe("tvly-", Family::ModelKey, Body::Url, 16, ANY),
    maybe("r8_", Family::ModelKey, Body::Alphanumeric, 30, ANY),
    maybe("xoxa-", Family::SlackToken, Body::Url, 10, ANY),
    sure("xoxb-", Family::SlackToken, Body::Url, 10, ANY),
    sure("xoxe-", Family::SlackToken, Body::Url, 10, ANY),
    sure("xoxe.xox", Family::SlackToken, Body::Url, 10, ANY),
    sure("xoxp-", Family::SlackToken, Body::Url, 10, ANY),
    sure("xoxr-", Family::SlackToken, Body::Url, 10, ANY),
    sure("xoxs-", Family::SlackToken, Body::Url, 10, ANY),
    sure("xoxo-", Family::SlackToken, Body::Url, 10, ANY),
    maybe("xapp-", Family::SlackToken, Body::Url, 10, ANY),
    named("hooks.slack.com/services/", Family::Webhook, Body::Base64, 20),
    named("hooks.slack.com/workflows/", Family::Webhook, Body::Base64, 20),
    named("hooks.slack.com/triggers/", Family::Webhook, Body::Base64, 20),
    named("discord.com/api/webhooks/", Family::Webhook, Body::Base64, 40),
    named("discordapp.com/api/webhooks/", Family::Webhook, Body::Base64, 40),
    sure("sk_live_", Family::StripeKey, Body::Alphanumeric, 10, ANY),
    sure("rk_live_", Family::StripeKey, Body::Alphanumeric, 10, ANY),
    sure("sk_test_", Family::StripeKey, Body::Alphanumeric, 10, ANY),
    sure("rk_test_", Family::StripeKey, Body::Alphanumeric, 10, ANY),
    maybe("whsec_", Family::StripeKey, Body::Base64, 16, ANY),
    maybe("npm_", Family::NpmToken, Body::Alphanumeric, 30, ANY),
    maybe("pypi-", Family::PypiToken, Body::Url, 32, ANY),
    maybe("rubygems_", Family::VendorToken, Body::Hex, 32, ANY),
    maybe("hf_", Family::HuggingFaceToken, Body::Alphanumeric, 24, ANY),
    maybe("api_org_", Family::HuggingFaceToken, Body::Alphanumeric, 24, ANY),
    sure("SG.", Family::SendgridKey, Body::Dotted, 40, ANY),
    sure("SK", Family::TwilioKey, Body::Hex, 32, 32),
    sure("dop_v1_", Family::DigitalOceanToken, Body::Hex, 32, ANY),
    sure("doo_v1_", Family::DigitalOceanToken, Body::Hex, 32, ANY),
    sure("dor_v1_", Family::DigitalOceanToken, Body::Hex, 32, ANY),
    sure("AGE-SECRET-KEY-1", Family::AgeKey, Body::Alphanumeric, 30, ANY),
    maybe("shpat_", Family::VendorToken, Body::Hex, 32, ANY),
    maybe("shpss_", Family::VendorToken, Body::Hex, 32, ANY),
    maybe("shppa_", Family::VendorToken, Body::Hex, 32, ANY),
    maybe("shpca_", Family::VendorToken, Body::Hex, 32, ANY),
    maybe("sq0csp-", Family::VendorToken, Body::Url, 20, ANY),
    maybe("sq0atp-", Family::VendorToken, Body::Url, 20, ANY),
    maybe("dckr_pat_", Family::VendorToken, Body::Url, 20, ANY),
    maybe("dp.pt.", Family::VendorToken, Body::Alphanumeric, 30, ANY),
    maybe("hvs.", Family::VendorToken, Body::Url, 24, ANY),
    maybe("hvb.", Family::VendorToken, Body::Url, 24, ANY),
    maybe("lin_api_", Family::VendorToken, Body::Alphanumeric, 30, ANY),
    maybe("ntn_", Family::VendorToken, Body::Alphanumeric, 30, ANY),
    maybe("secret_", Family::VendorToken, Body::Alphanumeric, 40, ANY),
    maybe("figd_", Family::VendorToken, Body::Url, 30, ANY),
    maybe("glsa_", Family::VendorToken, Body::Url, 30, ANY),
    maybe("glc_", Family::VendorToken, Body::Base64, 40, ANY),
    maybe("PMAK-", Family::VendorToken, Body::Url, 40, ANY),
    maybe("pscale_tkn_", Family::VendorToken, Body::Url, 24, ANY),
    maybe("pscale_pw_", Family::VendorToken, Body::Url, 24, ANY),
    maybe("sbp_", Family::VendorToken, Body::Hex, 40, ANY),
    maybe("ATATT3", Family::VendorToken, Body::Base64, 40, ANY),
    maybe("xkeysib-", Family::VendorToken, Body::Url, 40, ANY),
    maybe("NRAK-", Family::VendorToken, Body::Upper, 24, ANY),
    maybe("key-", Family::VendorToken, Body::Hex, 32, 32),
    maybe("lsv2_pt_", Family::VendorToken, Body::Url, 32, ANY),
    maybe("1//0", Family::GoogleKey, Body::Url, 40, ANY),
];

/// A rejected candidate costs no more than this many bytes.
const LOOK_AHEAD: usize = 512;

/// The token of this shape at `start`.
pub(super) fn shape_at(text: &str, start: usize, shape: &Shape) -> Option<Span> {
    let after = text[start..].strip_prefix(shape.prefix)?;
    let is_glued = !shape.keeps_prefix && !is_boundary(text, start);
    if is_glued && !is_after_joint(text, start) {
        return None;
    }
    let run = after.bytes().take(LOOK_AHEAD).take_while(|&b| shape.body.holds(b)).count();
    let body = after[..run].trim_end_matches('.');
    let fits = body.len() >= shape.len.0 && body.len() <= shape.len.1;
    let looks_real = match shape.prefix {
        // Also the beginning of class names and of `sk-ssh-ed25519`.
        "sk-" => is_mixed(body) && body.split(['-', '_']).any(|part| part.len() >= 16),
        _ => !shape.ambiguous || (shape::has_random_part(body) && is_mixed(body)),
    };
    // Behind a joint stand names and digests too: `cache-key-` and 32 hexadecimal digits.
    let looks_real = looks_real
        && (!is_glued || !shape.ambiguous || (shape::has_random_part(body) && !shape::is_hex(body)));
    if !fits || !looks_real || shape::is_masked(body) || judge::is_placeholder(body) {
        return None;
    }
    let len = if run < LOOK_AHEAD {
        body.len()
    } else {
        after.bytes().take_while(|&b| shape.body.holds(b)).count()
    };
    let body_start = start + shape.prefix.len();
    let from = if shape.keeps_prefix { body_start } else { start };
    Some(Span { family: shape.family, start: from, end: body_start + len })
}

/// The secret that stands beside an AWS access key id, in a table or a sentence: 40 characters of base64.
pub(super) fn aws_secret_beside(text: &str, after: usize) -> Option<Span> {
    let window = &text.as_bytes()[after..text.len().min(after + 160)];
    let holds = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
    let mut at = 0;
    while at < window.len() {
        let run = window[at..].iter().take_while(|b| holds(b)).count();
        let (start, end) = (after + at, after + at + run);
        let ends = !text.as_bytes().get(end).is_some_and(holds);
        if run == 40
            && ends
            && shape::class_changes(&text[start..end]) >= 10
            && !shape::is_hex(&text[start..end])
        {
            return Some(Span { family: Family::AwsKey, start, end });
        }
        at += run.max(1);
    }
    None
}

/// Digits among letters, or one run of letters longer than a word.
fn is_mixed(body: &str) -> bool {
    body.bytes().any(|b| b.is_ascii_digit()) || body.split(['-', '_']).any(|part| part.len() >= 24)
}

/// The vendor token that begins at `start`, with its family, whatever its length.
pub(super) fn at(text: &str, start: usize) -> Option<Span> {
    let rest = &text[start..];
    let shapes = SHAPES.iter().filter(|s| !s.keeps_prefix && rest.starts_with(s.prefix));
    let best = shapes.max_by_key(|s| s.prefix.len()).and_then(|shape| shape_at(text, start, shape));
    best.or_else(|| rest.starts_with("eyJ").then(|| jwt(text, start, &mut 0)).flatten())
}

/// Whether a token can begin here: not inside a word, but after an escape such as `\n` or `%3D`.
pub(super) fn is_boundary(text: &str, start: usize) -> bool {
    let before = &text.as_bytes()[..start];
    match before {
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !last.is_ascii_alphanumeric() && !matches!(last, b'_' | b'-'),
        [] => true,
    }
}

/// Whether a token may have been joined to a name with `-` or `_`, as in `conversation-ghp_...`.
fn is_after_joint(text: &str, start: usize) -> bool {
    text[..start].ends_with(['-', '_'])
}

/// A JSON Web Token: three or more dotted segments of base64url, the first a JSON object. A missing or cut
/// signature is accepted when the second segment is a JSON object too.
///
/// `skip` is where the next attempt may begin: what follows inside a failed first segment fails as well,
/// which keeps `eyJeyJeyJ...` linear.
pub(super) fn jwt(text: &str, start: usize, skip: &mut usize) -> Option<Span> {
    let rest = &text[start..];
    let begins = is_boundary(text, start) || is_after_joint(text, start);
    if start < *skip || !rest.starts_with("eyJ") || !begins {
        return None;
    }
    let segment = |from: usize| rest.as_bytes()[from..].iter().take_while(|&&b| Body::Url.holds(b)).count();
    let first = segment(0);
    *skip = start + first;
    let dotted = |end: usize| rest.as_bytes().get(end) == Some(&b'.');
    if first < 10 || !dotted(first) {
        return None;
    }
    let mut end = first + 1 + segment(first + 1);
    let second = &rest[first + 1..end];
    let third = if dotted(end) { segment(end + 1) } else { 0 };
    if second.len() < 10 || (third < 10 && !second.starts_with("eyJ")) {
        return None;
    }
    if third > 0 {
        end += 1 + third;
    }
    while dotted(end) && segment(end + 1) >= 10 {
        end += 1 + segment(end + 1);
    }
    Some(Span { family: Family::Jwt, start, end: start + end })
}

/// A Telegram bot token: 8 to 10 digits, `:AA` and 33 more characters.
pub(super) fn telegram(text: &str, colon: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let digits = bytes[..colon].iter().rev().take(11).take_while(|b| b.is_ascii_digit()).count();
    let body = bytes[colon + 1..].iter().take(48).take_while(|&&b| Body::Url.holds(b)).count();
    let start = colon - digits;
    let fits = (8..=10).contains(&digits) && (33..=37).contains(&body) && text[colon..].starts_with(":AA");
    let free = start == 0 || !bytes[start - 1].is_ascii_alphanumeric() || text[..start].ends_with("bot");
    (fits && free).then_some(Span { family: Family::TelegramToken, start, end: colon + 1 + body })
}

/// Discord bot tokens, which have no literal prefix: 24 to 28 characters beginning with M, N or O, six
/// characters, 27 to 40 characters, joined by dots. Found by their two dots seven bytes apart.
pub(super) fn discord(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    for dot in 24..bytes.len().saturating_sub(34) {
        if bytes[dot] != b'.' || bytes[dot + 7] != b'.' {
            continue;
        }
        let id = bytes[..dot].iter().rev().take(29).take_while(|&&b| Body::Url.holds(b)).count();
        let middle = bytes[dot + 1..dot + 7].iter().all(|&b| Body::Url.holds(b));
        let tail = bytes[dot + 8..].iter().take(41).take_while(|&&b| Body::Url.holds(b)).count();
        let start = dot - id;
        let fits = (24..=28).contains(&id) && middle && (27..=40).contains(&tail);
        let candidate = fits && matches!(bytes[start], b'M' | b'N' | b'O');
        if candidate && shape::has_letters_and_digits(&text[start..dot]) {
            spans.push(Span { family: Family::DiscordToken, start, end: dot + 8 + tail });
        }
    }
    spans
}
