//! The words of the redaction rules, as data: key words, and the words that are values but no secrets.

/// How much a key word says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// `token`, `secret`: the value must look generated.
    Weak,
    /// `api key`, `client_secret`: the value is a secret unless it reads like a word.
    Strong,
    /// `password`: any literal is a secret, plain words and numbers too.
    Password,
}

/// A word whose value may be a secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyWord {
    pub(super) word: &'static str,
    pub(super) strength: Strength,
    /// Written without spaces between words, so that it has no word boundaries.
    pub(super) is_cjk: bool,
}

const fn key(word: &'static str, strength: Strength) -> KeyWord {
    KeyWord { word, strength, is_cjk: false }
}

const fn cjk(word: &'static str, strength: Strength) -> KeyWord {
    KeyWord { word, strength, is_cjk: true }
}

use Strength::{Password, Strong, Weak};

/// The key words, lower case. The first word of an identifier counts with its neighbours
/// (`client_secret`, `jwtSecret`), see `keyword`.
pub(super) const KEY_WORDS: &[KeyWord] = &[
    key("password", Password),
    key("passwd", Password),
    key("passphrase", Password),
    key("passcode", Password),
    key("identified by", Password),
    key("pwd", Strong),
    key("pass", Strong),
    key("secret", Weak),
    key("token", Weak),
    key("credential", Weak),
    key("api key", Strong),
    key("api_key", Strong),
    key("api-key", Strong),
    key("apikey", Strong),
    key("access key", Strong),
    key("access_key", Strong),
    key("access-key", Strong),
    key("accesskey", Strong),
    key("private key", Strong),
    key("private_key", Strong),
    key("private-key", Strong),
    key("privatekey", Strong),
    key("encryption key", Strong),
    key("encryption_key", Strong),
    key("encryption-key", Strong),
    key("encryptionkey", Strong),
    key("signing key", Strong),
    key("signing_key", Strong),
    key("signing-key", Strong),
    key("signingkey", Strong),
    key("master key", Strong),
    key("master_key", Strong),
    key("masterkey", Strong),
    key("account_key", Strong),
    key("accountkey", Strong),
    key("auth_key", Strong),
    key("authkey", Strong),
    key("license_key", Strong),
    key("storage_key", Strong),
    key("storagekey", Strong),
    key("shared_key", Strong),
    key("app_key", Strong),
    key("appkey", Strong),
    key("license key", Strong),
    cjk("密码", Password),
    cjk("密碼", Password),
    cjk("口令", Password),
    cjk("暗号", Weak),
    cjk("密钥", Strong),
    cjk("密鑰", Strong),
    cjk("秘钥", Strong),
    cjk("金鑰", Strong),
    cjk("私钥", Strong),
    cjk("令牌", Weak),
    cjk("权杖", Weak),
    cjk("授权码", Strong),
    cjk("비밀번호", Password),
    cjk("패스워드", Password),
    cjk("암호", Password),
    cjk("토큰", Weak),
    cjk("시크릿", Weak),
    cjk("비밀키", Strong),
    cjk("api 키", Strong),
    cjk("api키", Strong),
    cjk("パスワード", Password),
    cjk("暗証番号", Password),
    cjk("トークン", Weak),
    cjk("シークレット", Weak),
    cjk("秘密鍵", Strong),
    cjk("アクセスキー", Strong),
    cjk("apiキー", Strong),
];

/// Words that may follow a key word inside one identifier without changing what it names.
pub(super) const SUFFIXES: &[&str] = &[
    "key", "value", "val", "access", "base", "str", "string", "text", "plain", "raw", "b64", "base64", "hex", "prod",
    "production", "dev", "staging", "test", "live", "old", "new", "current", "primary", "secondary", "default",
    "root", "admin", "db", "user", "credential",
];

/// Words before `token`, `secret` or `password` in one identifier that make it name something else.
pub(super) const OTHER_MEANING: &[&str] = &[
    "eos", "bos", "pad", "unk", "mask", "cls", "sep", "stop", "special", "max", "min", "num", "total", "count",
    "input", "output", "prompt", "completion", "page", "lex", "lexer", "parse", "parser", "syntax", "has", "is",
    "no", "show", "hide", "forgot", "reset", "require", "needs", "public", "redacted", "cancellation",
];

/// Words that stand where a value is expected in templates and examples. A value made of nothing else is
/// a placeholder.
pub(super) const FILLER: &[&str] = &[
    "your", "my", "the", "a", "an", "some", "any", "this", "here", "goes", "example", "sample", "dummy", "fake",
    "placeholder", "changeme", "change", "changeit", "me", "it", "todo", "tbd", "fixme", "none", "null", "nil",
    "true", "false", "yes", "no", "undefined", "na", "empty", "blank", "unset", "password", "passwords", "passwd",
    "pass", "passphrase", "pwd", "secret", "secrets", "token", "tokens", "key", "keys", "api", "apikey", "access",
    "auth", "bearer", "private", "public", "client", "service", "account", "user", "username", "name", "value",
    "string", "foo", "bar", "baz", "insert", "replace", "enter", "put", "with", "actual", "real", "redacted",
    "hidden", "masked", "removed", "test", "new",
];

/// Type names and code words that follow `password:` or `token =` in source.
pub(super) const TYPE_NAMES: &[&str] = &[
    "str", "string", "bytes", "bytearray", "int", "integer", "float", "number", "bool", "boolean", "char", "varchar",
    "text", "any", "object", "unknown", "void", "never", "usize", "isize", "byte", "rune", "error", "list", "dict",
    "array", "map", "set", "tuple", "optional", "self", "this", "super", "async", "await", "function", "lambda",
    "class", "struct", "enum", "type", "const", "let", "var", "return", "new", "default", "binary", "nvarchar",
    "symbol",
];

/// Words that follow "the password is" or `password:` in sentences and settings and are no password.
pub(super) const STATES: &[&str] = &[
    "required", "optional", "mandatory", "missing", "wrong", "invalid", "incorrect", "correct", "valid", "weak",
    "strong", "short", "long", "secure", "insecure", "safe", "unsafe", "fine", "ok", "okay", "good", "bad", "old",
    "right", "same", "different", "unique", "unknown", "known", "visible", "invisible", "ready", "present", "absent",
    "available", "unavailable", "sensitive", "case", "plain", "plaintext", "there", "here", "in", "on", "at", "by",
    "of", "to", "for", "from", "with", "not", "never", "always", "now", "still", "only", "just", "also", "already",
    "and", "or", "but", "if", "when", "where", "that", "this", "these", "it", "its", "our", "their", "his", "her",
    "we", "you", "they", "all", "one", "two", "see", "use", "ask", "check", "read", "get", "set", "kept", "sent",
    "lost", "gone", "dead", "over", "left", "made", "given", "shown", "written", "taken", "broken", "stolen",
    "hidden", "chosen", "forgotten", "known", "too", "very", "so", "as", "what", "who", "enabled", "disabled", "off",
    "interactive", "external", "manual", "files", "strings", "string", "flag", "flags", "option", "options",
    "argument", "arguments", "parameter", "field", "fields", "prompt", "echo", "popular", "common", "leaked",
];

/// Endings of the participles and adjectives that follow "is".
pub(super) const STATE_ENDINGS: &[&str] = &["ed", "ing", "able", "ible", "ory", "ant", "ent", "ally", "less"];

/// Sentence words: a quoted value that holds one is a message about a secret.
pub(super) const SENTENCE_WORDS: &[&str] = &[
    "is", "are", "was", "be", "must", "should", "please", "your", "the", "a", "an", "to", "for", "at", "of", "in",
    "not", "and", "or", "with", "enter", "forgot", "reset", "confirm", "new", "current", "incorrect", "invalid",
    "wrong", "required", "missing", "you", "we", "this", "that", "can", "cannot", "has", "have", "from",
];

/// Names of formats and algorithms that mix letters and digits.
pub(super) const TECHNICAL: &[&str] = &[
    "sha1", "sha224", "sha256", "sha384", "sha512", "sha3", "md5", "base64", "base32", "base58", "utf8", "utf16",
    "ascii", "oauth2", "http2", "http3", "ipv4", "ipv6", "ed25519", "x25519", "secp256k1", "curve25519", "argon2",
    "argon2id", "argon2i", "pbkdf2", "blake2", "blake2b", "blake3", "aes128", "aes256", "aes-256-gcm", "rs256",
    "es256", "hs256", "ps256", "rs512", "hs512", "es384", "rsa2048", "rsa4096", "x509", "pkcs8", "pkcs12", "pkcs1",
    "win32", "1password", "bcrypt2", "log4j2",
];

/// What labels in user interfaces call a password in other languages.
pub(super) const LABELS: &[&str] = &[
    "passwor", "passwort", "kennwort", "contraseña", "contrasena", "senha", "mot de passe", "wachtwoord", "hasło",
    "парол", "lösenord", "adgangskode",
];

/// Words before `token` or `secret` in a sentence that make it a credential.
pub(super) const STRENGTHENING: &[&str] = &[
    "access", "auth", "api", "client", "bearer", "refresh", "session", "bot", "deploy", "personal", "jwt", "app",
    "webhook", "admin",
];

/// Phrases between a key word and its value that mean equality.
pub(super) const IS_PHRASES: &[&str] = &[
    "has been changed to ", "as ", "has been reset to ", "has been set to ", "was changed to ", "was reset to ",
    "was set to ", "is currently ", "is set to ", "changed to ", "updated to ", "rotated to ", "reset to ",
    "should be ", "set to ", "is still ", "will be ", "is now ", "is just ", "is: ", "is ", "was ",
];

/// Words that join a key word to what it belongs to: "the password for staging is ...".
pub(super) const CONNECTORS: &[&str] = &["for ", "of ", "on ", "in ", "to ", "at ", "from ", "we ", "i ", "you ", "that "];

/// Characters that mean "is" or introduce the value in Chinese, Japanese and Korean.
pub(super) const CJK_EQUALS: &[char] = &['是', '为', '為', '叫', '成', 'は', 'が', '는', '은', '가', '이', '를', '을', 'を', '：', ':', '=', '＝'];

/// What ends a sentence behind a value in Chinese, Japanese and Korean.
pub(super) const CJK_ENDINGS: &[&str] = &["。", "，", "；", "！", "、", "）", "です", "でした", "だ", "입니다", "이다", "예요", "이에요"];
