//! The phrases that carry modality, frequency, place, time and reserve, in four languages.
//!
//! They are found in the running text in one pass. A phrase in Latin letters counts only as whole words.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};

/// What a phrase tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sense {
    /// It has to be.
    Required,
    /// It may be.
    Permitted,
    /// It need not be.
    Optional,
    /// It must not be.
    Forbidden,
    /// It is so every time.
    Always,
    /// It is so no time.
    Never,
    /// It is not so any more, or not yet.
    Negated,
    /// It happens once in this many hours.
    Period(u32),
    /// Where it holds: an environment, platform, plan or part of the system, by number.
    Place(u16),
    /// When it holds, by number; [`PRESENT`] is what holds anyway.
    When(u16),
    /// Somebody else says so.
    Hearsay,
    /// It holds on a condition.
    Condition,
    /// The number is an upper bound.
    Upper,
    /// The number is a lower bound.
    Lower,
    /// The number after it is the name of something.
    Ordinal,
    /// It holds for one thing among several that may hold at once.
    Inclusive,
    /// One thing has it, and nothing else beside.
    Exclusive,
    /// Says nothing on its own.
    Light,
    /// Looks like another phrase and is none.
    Nothing,
}

impl Sense {
    /// Whether the phrase is part of how a thing is said, and not of what it is said of.
    pub(super) fn is_manner(self) -> bool {
        matches!(
            self,
            Self::Required
                | Self::Permitted
                | Self::Optional
                | Self::Forbidden
                | Self::Always
                | Self::Never
                | Self::Negated
                | Self::Period(_)
                | Self::Light
        )
    }
}

/// The number of "now".
pub(super) const PRESENT: u16 = 0;

/// One phrase of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) sense: Sense,
    pub(super) span: Range<usize>,
}

/// All phrases of a lower-case text, in order, not overlapping.
pub(super) fn phrases(lower: &str) -> impl Iterator<Item = Phrase> {
    let whole = |span: &Range<usize>| {
        let phrase = &lower[span.clone()];
        let before = lower[..span.start].chars().next_back();
        let after = lower[span.end..].chars().next();
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        !(latin(phrase.chars().next()) && joins(before) || latin(phrase.chars().next_back()) && joins(after))
    };
    TABLES.searcher.find_iter(lower).filter_map(move |hit| {
        let span = hit.range();
        let sense = TABLES.senses[hit.pattern().as_usize()];
        (sense != Sense::Nothing && whole(&span)).then_some(Phrase { sense, span })
    })
}

/// Phrases by sense; `|` parts them.
const PHRASES: &[(Sense, &str)] = &[
    (
        Sense::Required,
        "must|has to|have to|had to|should|shall|ought to|is required|are required|required|requires|require|mandatory|\
         needs|need|needs to|need to|is needed|are needed|obligatory|compulsory|\
         必须|必須|务必|应该|应当|要求|需要|必填|得用|\
         해야 한다|해야 합니다|해야 함|해야|어야 한다|아야 한다|여야 한다|이어야 한다|어야 합니다|써야 한다|야 한다|어야 함|필수|필요하다|필요합니다|필요|\
         なければならない|なければなりません|なくてはならない|なくてはいけない|べきである|べきです|べきだ|べき|必須|必要です|必要がある|が必要|必要だ|必要である",
    ),
    (
        Sense::Permitted,
        "may|can|is allowed|are allowed|allowed|allows|allow|permitted|is permitted|are permitted|permits|permit|is able to|are able to|\
         可以|允许|允許|能够|能|准许|\
         해도 된다|하여도 된다|어도 된다|아도 된다|여도 된다|도 된다|해도 됩니다|도 됩니다|할 수 있다|할 수 있습니다|수 있다|수 있습니다|허용한다|허용된다|허용|\
         てもよい|でもよい|てもいい|ても構わない|許可する|許可される|許可|ことができる|できます|できる",
    ),
    (
        Sense::Optional,
        "need not|needn't|optional|optionally|is not required|are not required|isn't required|aren't required|not required|\
         doesn't require|don't require|does not require|do not require|doesn't have to|don't have to|does not have to|do not have to|\
         doesn't need|don't need|does not need|do not need|doesn't need to|don't need to|does not need to|do not need to|no need to|\
         is not needed|are not needed|not needed|not necessary|not mandatory|unnecessary|voluntary|\
         不必|无需|無需|不需要|不用|可选|可選|不要求|可以不|非必填|选填|不强制|\
         하지 않아도 된다|지 않아도 된다|않아도 된다|않아도 됩니다|할 필요가 없다|필요가 없다|필요 없다|필요가 없|필요 없|필요하지 않다|필요하지 않|필요는 없|선택 사항|선택이다|선택 항목|선택적|\
         なくてもよい|なくてもいい|しなくて構わない|必要はありません|必要ありません|必要はない|必要がない|必要ない|任意|不要",
    ),
    (
        Sense::Forbidden,
        "must not|mustn't|must never|may not|may never|cannot|can't|can not|should not|shouldn't|should never|shall not|\
         is not allowed|are not allowed|isn't allowed|aren't allowed|not allowed|never allowed|disallowed|is not permitted|are not permitted|not permitted|\
         forbidden|forbid|forbids|prohibited|prohibits|prohibit|banned|bans|off limits|is not able to|unable to|\
         禁止|不得|不准|不许|不許|严禁|嚴禁|不允许|不允許|不可以|不能|不应该|不应|不應該|不要|请勿|勿|切勿|无法|\
         하면 안 된다|면 안 된다|해서는 안 된다|서는 안 된다|하면 안 됩니다|면 안 됩니다|지 말아야 한다|지 말아야|지 마세요|지 마십시오|지 말 것|금지한다|금지된다|금지이다|금지|\
         허용되지 않는다|허용하지 않는다|허용되지 않|허용하지 않|할 수 없다|수 없다|수 없습니다|\
         てはいけない|てはならない|てはいけません|ではいけない|ではならない|ないでください|禁止する|禁止される|禁止|許可しない|許可されない|ことはできない|できません|できない",
    ),
    (
        Sense::Always,
        "always|every time|at all times|without exception|invariably|\
         总是|總是|始终|始終|一律|一直|永远|每次|每次都|\
         항상|언제나|늘|매번|いつも|常に|必ず|毎回",
    ),
    (
        Sense::Never,
        "never|at no time|under no circumstances|\
         从不|從不|从来不|從來不|绝不|決不|决不|永不|永远不要|永远不|绝对不|绝对不要|\
         절대로|절대|결코|決して|絶対に",
    ),
    (Sense::Negated, "no longer|not any more|not yet|不再"),
    (
        Sense::Nothing,
        "절대 경로|절대경로|상대 경로|절대값|绝对路径|不能不|这样的话|without exception handling|can of|need to know",
    ),
    (Sense::Period(1), "hourly|every hour|once an hour|每小时|每小時|每个小时|매시간|매시|毎時"),
    (Sense::Period(24), "daily|nightly|every day|every night|once a day|每天|每日|每晚|매일|毎日|毎晩"),
    (Sense::Period(168), "weekly|every week|once a week|每周|每週|每星期|매주|毎週"),
    (Sense::Period(336), "fortnightly|biweekly|every two weeks|每两周|격주|隔週"),
    (Sense::Period(730), "monthly|every month|once a month|每月|每个月|매월|매달|毎月"),
    (Sense::Period(2190), "quarterly|every quarter|每季度|매 분기|분기마다|毎四半期"),
    (Sense::Period(8760), "yearly|annually|every year|once a year|每年|매년|毎年"),
    (Sense::Nothing, "每周一|每周二|每周三|每周四|每周五|每周六|每周日|每周天|每星期一|每星期五"),
    (Sense::Place(1), "production|prod|live system|生产环境|生产|线上|운영 환경|운영|프로덕션|本番環境|本番"),
    (
        Sense::Place(2),
        "staging|stage|preview|pre-production|预发环境|预发|스테이징|ステージング|検証環境|검증",
    ),
    (Sense::Place(3), "development|dev|开发环境|开发|개발 환경|개발|開発環境|開発"),
    (Sense::Place(4), "test environment|qa|测试环境|测试集群|테스트 환경|テスト環境"),
    (Sense::Place(5), "local|locally|laptop|workstation|本地|本机|로컬|노트북|ローカル|手元"),
    (Sense::Place(6), "linux|ubuntu|debian|리눅스"),
    (Sense::Place(7), "macos|mac|osx|맥"),
    (Sense::Place(8), "windows|윈도우"),
    (Sense::Place(9), "ios|iphone|ipad"),
    (Sense::Place(10), "android|안드로이드"),
    (Sense::Place(11), "eu|europe|european|欧洲|欧盟|유럽|欧州"),
    (Sense::Place(12), "us region|america|american|美国|미국|米国"),
    (Sense::Place(13), "asia|apac|亚洲|아시아|アジア"),
    (Sense::Place(14), "free plan|free tier|免费版|免费|무료|無料"),
    (Sense::Place(15), "enterprise|paid plan|企业版|企业|기업|유료|有料|企業"),
    (Sense::Place(16), "debug build|debug builds|调试版|디버그 빌드|デバッグビルド"),
    (Sense::Place(17), "release build|release builds|发布版|릴리스 빌드|リリースビルド"),
    (Sense::Place(18), "frontend|front end|client side|前端|프런트엔드|프론트엔드|フロントエンド"),
    (Sense::Place(19), "backend|back end|server side|后端|백엔드|バックエンド"),
    (Sense::Place(20), "docker|container|containers|容器|컨테이너|コンテナ"),
    (Sense::Place(21), "in ci|on ci|ci builds|ci runs|ci uses|ci使用|ci构建|ci는|ci 빌드|ciでは"),
    (
        Sense::Place(22),
        "in tests|unit tests|test code|test helpers|单元测试|测试里|单测|단위 테스트|테스트 코드|単体テスト",
    ),
    (Sense::Place(23), "integration tests|end-to-end tests|集成测试|통합 테스트|統合テスト"),
    (
        Sense::When(PRESENT),
        "now|currently|at present|at the moment|目前|现在|現在|当前|지금|현재|이제|今は|現時点",
    ),
    (
        Sense::When(1),
        "used to|previously|formerly|earlier|in the past|originally|at first|initially|was|were|had|old|former|legacy value|\
         原来|原先|以前是|曾经|曾經|最初|旧|过去|从前|예전|원래|처음|과거|이전 값|었다|았다|였다|썼다|했다|以前|もともと|当初|だった|ていた",
    ),
    (Sense::When(2), "until|up to version|through the end|till|为止|截至|直到|까지|まで"),
    (Sense::When(3), "since|from version|as of|starting with|onwards|起|부터|から"),
    (Sense::When(4), "last|上季度|上个月|上周|去年|上次|지난|작년|前回|昨年|先月|先週"),
    (Sense::When(5), "this quarter|this year|this month|本季度|今年|本月|이번|올해|今回|今月|今週"),
    (Sense::When(6), "new value|新值|새 값|新しい値"),
    (Sense::When(7), "old value|旧值|이전 값|古い値"),
    (Sense::When(8), "will|going to|planned|plans to|将会|将要|计划|예정|予定"),
    (
        Sense::Hearsay,
        "claims|claim|claimed|says|said|suggested|suggests|proposed|proposes|wrote|writes that|according to|reportedly|rumour|rumor|\
         thinks|believes|argues|asked|quoted|\
         声称|据说|听说|认为|建议|写道|有人说|说总是|博客|提议|\
         주장|제안|라고 한다|고 한다|라고 썼|적혀 있|말했|에 따르면|\
         主張|と書いて|によると|提案|と言って|と述べ",
    ),
    (
        Sense::Nothing,
        "要求说明|建议的|said to be|用户|应用|启用|禁用|停用|弃用|费用|用量|引用|调用|占用|可用|不可用|专用|通用|作用|常用|复用|重用|信用|会话|会议|上传|中文|了解|能力|功能|性能|智能|可能",
    ),
    (
        Sense::Condition,
        "if|when|whenever|unless|only|otherwise|in case|except|as long as|while|provided|with --|\
         如果|若|要是|除非|只有|的话|时候|否则|仅|运行时|时使用|时不使用|\
         경우|으면|라면|하면|우면|보다 작으면|없으면|있으면|때는|때만|에만|\
         場合|とき|なら|たら|れば|のみ|だけ",
    ),
    (Sense::Nothing, "需要只|いわゆる|なければ"),
    (
        Sense::Upper,
        "at most|up to|max|maximum|limit|limited|limits|capped|cap|under|below|within|no more than|less than|\
         最多|至多|上限|不超过|以内|内完成|最大|限流|최대|한도|이하|이내|제한|안에|以下|まで",
    ),
    (
        Sense::Lower,
        "at least|min|minimum|more than|over|no less than|exceeds|or newer|or later|\
         最少|至少|最低|大于|超过|不少于|최소|이상|보다 커|最小|以上|少なくとも",
    ),
    (
        Sense::Ordinal,
        "issue|issues|ticket|step|chapter|section|pr|pull request|part|phase|question|figure|table|case|incident|item|task|release|sprint|stage|page|\
         第|步骤|问题|章节|이슈|장애|릴리스|단계|课題|故障|リリース|手順|発布|发布",
    ),
    (
        Sense::Inclusive,
        "supports|support|supported|speaks|speak|likes|like|includes|include|consists|returns|return|covers|cover|provides|provide|offers|\
         signed|has|have|knows|contains|contain|documented|open ports|linters|touched|\
         支持|会说|喜欢|包括|包含|提供|返回|签名|涉及|开放|懂|\
         지원|좋아|제공|포함|서명|돌려|한국어를 한다|영어를 한다|독일어를 한다|바꿨|걸렸|열린|\
         対応|話す|話し|含む|提供|返す|署名|好き|開いて",
    ),
    (
        Sense::Exclusive,
        "default|primary|owner|owned by|maintainer|license|licensed|main database|bus|language|format|formatted|endpoint|host|region|\
         默认|主区域|负责人|许可证|总线|格式|地址|主机|偏好|选用|回复|缩进|\
         기본|담당자|라이선스|형식|경로|호스트|선호|버스로|들여쓰기|답한다|\
         デフォルト|既定|担当|ライセンス|形式|主リージョン|優先",
    ),
    (
        Sense::Light,
        "监听|使用|运行在|运行|采用|设置|设为|规定为|版本|存放|有效期|使用的|走|用|的|是|会|在|了|已|已经|为|把|由|上|里|中|请|就|都|被|也|要|则|先|还|那个|这个|之间|\
         사용한다|사용하세요|사용합니다|사용|쓴다|쓰는|쓰세요|쓰지|더 이상|실행된다|실행한다|실행되|이다|입니다|된다|되어|되지|하지|한다|합니다|버전|동안|것이다|하기|이상을|이어야|이고|상태|방식|\
         を使う|使う|使用する|使用|で行う|である|です|ます|する|される|している|バージョン|ください",
    ),
];

struct Tables {
    searcher: AhoCorasick,
    senses: Vec<Sense>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let rows = PHRASES.iter().flat_map(|(sense, words)| words.split('|').map(move |word| (word, *sense)));
    let (words, senses): (Vec<_>, Vec<_>) = rows.unzip();
    let searcher = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(words)
        .expect("some hundred constant phrases fit any automaton");
    Tables { searcher, senses }
});

/// Things of which one is chosen: two different words of one row exclude each other in the same place.
const ALTERNATIVES: &[&str] = &[
    "npm pnpm yarn bun",
    "pip poetry uv conda pipenv",
    "mysql mariadb postgresql postgres sqlite mongodb oracle cockroachdb redis memcached dynamodb cassandra",
    "kafka nats rabbitmq sqs pulsar mqtt",
    "jenkins argocd flux teamcity circleci buildkite spinnaker travis",
    "main master develop trunk dev",
    "vim emacs vscode neovim nano sublime intellij helix",
    "mit gpl bsd agpl lgpl mpl apache proprietary",
    "jest vitest mocha pytest unittest jasmine ava",
    "loki elasticsearch splunk datadog graylog cloudwatch",
    "english german french chinese korean japanese spanish italian portuguese",
    "integers decimals floats strings",
    "utf-8 utf-16 latin-1 ascii gbk",
    "json yaml toml xml protobuf msgpack csv",
    "rest graphql grpc soap",
    "react vue svelte angular solid",
    "webpack vite esbuild rollup parcel turbopack",
    "docker podman containerd",
    "aws azure gcp hetzner",
    "rust go python java kotlin typescript javascript ruby",
    "merge rebase squash",
    "celsius fahrenheit kelvin",
    "bash zsh fish powershell",
    "nginx caddy traefik apache haproxy envoy",
    "eslint biome tslint",
    "black ruff yapf autopep8",
    "make just bazel gradle maven cmake ninja",
    "slack teams discord mattermost",
    "github gitlab bitbucket gitea",
    "jira linear trello asana",
    "中文 英文 日文 韩文 德文 法文",
    "中 英 日 韩 德 法",
    "整数 小数 浮点数 字符串",
    "制表符 空格",
    "한국어 영어 일본어 중국어 독일어",
    "한국 영 일본 중국 독일",
    "정수 소수 실수 문자열",
    "정 소 실",
    "탭 공백",
    "日本語 英語 中国語 韓国語",
    "日本 英 中国 韓国",
    "整数 小数 文字列",
    "タブ スペース",
];

/// Whether two lower-case words are different choices for one place.
pub(super) fn alternatives(a: &str, b: &str) -> bool {
    let holds = |row: &str, word: &str| row.split(' ').any(|w| w == word);
    a != b && ALTERNATIVES.iter().any(|row| holds(row, a) && holds(row, b))
}

/// English words, stemmed, that say little about what a statement is about.
const LIGHT_STEMS: &str = " use run bound bind listen set hold keep kept retain live expir cap call version target pin ship take \
    place go come defin configur length long up we us let valu requir need must allow suit \
    level number amount at least most ";

/// Whether a stem says little.
pub(super) fn is_light(stem: &str) -> bool {
    LIGHT_STEMS.split_ascii_whitespace().any(|word| word == stem)
}
