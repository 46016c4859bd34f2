//! Parts of a system where a mistake costs most: what is said of them is kept even when it is short, and the same
//! statement with another value is a matter for a person.

use std::collections::BTreeSet;

/// A part of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// What it is called.
    pub name: String,
    /// Words and phrases that tell of it, lower-case. One that ends in `*` stands for all words that begin so.
    pub words: Vec<String>,
}

/// The parts that are looked out for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Areas(pub Vec<Area>);

/// The areas that are always there, unless they are configured away.
const KNOWN: [(&str, &str); 4] = [
    (
        "auth",
        "auth|authn|authz|oauth*|authen*|authoriz*|authoris*|login*|sign in|rbac|permission*|credential*|secret*|token*|\
         password*|session*|认证|鉴权|授权|权限|登录|認証|認可|ログイン|権限|인증|권한|로그인",
    ),
    (
        "schema",
        "schema*|migration*|migrate*|foreign key|primary key|unique index|column*|表结构|数据库结构|迁移|外键|スキーマ|\
         マイグレーション|스키마|마이그레이션",
    ),
    (
        "state_machine",
        "state machine*|terminal state*|state transition*|lifecycle*|life cycle*|finite state|状态机|终态|生命周期|\
         ステートマシン|状態遷移|終端状態|상태 머신|상태 전이|종료 상태|생명주기",
    ),
    (
        "retry",
        "retry|retries|retried|retrying|backoff|back off|idempoten*|timeout*|重试|退避|幂等|リトライ|再試行|재시도|백오프",
    ),
];

/// What is of high risk besides.
const RISKY: &str = "payment*|billing|invoice*|security|public api|breaking change*|shared infra*|distributed|consensus|lock|\
                     locks|locking|deadlock*|transaction*|rollback*|encrypt*|支付|计费|安全|分布式|事务|死锁|加密|決済|課金|\
                     セキュリティ|分散|トランザクション|デッドロック|暗号|결제|청구|보안|분산|트랜잭션|교착|암호화";

impl Default for Areas {
    fn default() -> Self {
        let area = |(name, words): (&str, &str)| Area { name: name.to_owned(), words: listed(words) };
        Self(KNOWN.into_iter().map(area).collect())
    }
}

impl Areas {
    /// The areas that are named: a known one by its name alone, any other as `name: word, word`. An area without words is
    /// looked for by its name.
    pub fn configured(list: &[String]) -> Self {
        let known = Self::default();
        let area = |entry: &String| {
            let (name, words) = entry.split_once(':').unwrap_or((entry, ""));
            let name = name.trim().to_lowercase();
            let words: Vec<String> =
                words.split(',').map(|word| word.trim().to_lowercase()).filter(|w| !w.is_empty()).collect();
            let of_old = known.0.iter().find(|area| area.name == name).cloned();
            match (of_old, words.is_empty()) {
                (Some(area), true) => area,
                (None, true) => Area { words: vec![name.replace('_', " ")], name },
                (_, false) => Area { name, words },
            }
        };
        Self(list.iter().filter(|entry| !entry.trim().is_empty()).map(area).collect())
    }

    /// The names of those that a text is about.
    pub fn of(&self, text: &str) -> BTreeSet<&str> {
        let text = Text::of(text);
        let told = |area: &&Area| area.words.iter().any(|word| text.has(word));
        self.0.iter().filter(told).map(|area| area.name.as_str()).collect()
    }

    /// Whether a text is about any of them, or about something else of high risk.
    pub fn is_risky(&self, text: &str) -> bool {
        !self.of(text).is_empty() || {
            let text = Text::of(text);
            RISKY.split('|').any(|word| text.has(word))
        }
    }
}

fn listed(words: &str) -> Vec<String> {
    words.split('|').map(str::to_owned).collect()
}

/// A text to look for words in: its words with a blank on either side, identifiers taken apart.
struct Text(String);

impl Text {
    fn of(text: &str) -> Self {
        let mut plain = String::with_capacity(text.len() + 2);
        plain.push(' ');
        let mut before_is_lower = false;
        for c in text.chars() {
            if c.is_uppercase() && before_is_lower {
                plain.push(' ');
            }
            before_is_lower = c.is_lowercase() || c.is_numeric();
            if c.is_alphanumeric() {
                plain.extend(c.to_lowercase());
            } else {
                plain.push(' ');
            }
        }
        plain.push(' ');
        Self(plain.split_whitespace().fold(String::from(" "), |all, word| all + word + " "))
    }

    fn has(&self, word: &str) -> bool {
        if !word.is_ascii() {
            return self.0.contains(word);
        }
        match word.strip_suffix('*') {
            Some(stem) => self.0.contains(&format!(" {stem}")),
            None => self.0.contains(&format!(" {word} ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_told_by_whole_words_and_identifiers() {
        let areas = Areas::default();
        for (text, names) in [
            ("Never leave a terminal state", "state_machine"),
            ("authenticateUser checks the token", "auth"),
            ("Add a retry_policy with back-off", "retry"),
            ("重试时检查状态机", "retry state_machine"),
            ("The author of the prefix", ""),
            ("Schemas need migrations", "schema"),
        ] {
            let found: Vec<_> = areas.of(text).into_iter().collect();
            assert_eq!(found.join(" "), names, "{text}");
        }
        assert!(areas.is_risky("Deadlocks in the billing job"));
        assert!(!areas.is_risky("Clock and block of the page"));
    }

    #[test]
    fn areas_are_configured() {
        let areas =
            Areas::configured(&["retry".into(), "pricing: tariff, price*".into(), "data_export".into()]);
        assert_eq!(areas.of("The tariffs and prices").into_iter().collect::<Vec<_>>(), ["pricing"]);
        assert_eq!(
            areas.of("a data export is retried").into_iter().collect::<Vec<_>>(),
            ["data_export", "retry"]
        );
        assert!(areas.of("login").is_empty(), "configured away");
    }
}
