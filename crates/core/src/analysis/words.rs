//! Word lists of the analyser, as data: English function words, irregular forms, role words and the
//! question words of Chinese, Japanese and Korean. A change here is a change of [`super::VERSION`].

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

/// Whether a folded English word carries grammar rather than content.
pub(crate) fn is_stop(word: &str) -> bool {
    STOP.contains(word)
}

/// The base form of an irregular English form or of an everyday variant; `None` for every other word.
pub(super) fn base_form(word: &str) -> Option<&'static str> {
    BASE.get(word).copied()
}

/// Whether a name is the name of a role in a conversation, which says nothing about who spoke.
pub(super) fn is_role(name: &str) -> bool {
    ROLES.contains(&name)
}

static STOP: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| STOP_WORDS.iter().flat_map(|line| line.split(' ')).collect());

static BASE: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let mut map = HashMap::new();
    for line in IRREGULAR {
        let mut forms = line.split(' ');
        if let Some(base) = forms.next() {
            map.extend(forms.map(|form| (form, base)));
        }
    }
    map
});

const ROLES: [&str; 12] = [
    "user",
    "assistant",
    "system",
    "tool",
    "human",
    "agent",
    "model",
    "bot",
    "ai",
    "developer",
    "function",
    "unknown",
];

/// English function words, by part of speech; the last line holds what is left of contractions.
const STOP_WORDS: &[&str] = &[
    "a an the this that these those",
    "i me my myself we our ours ourselves you your yours yourself yourselves",
    "he him his himself she her hers herself it its itself they them their theirs themselves",
    "am is are was were be been being do does did doing have has had having got get",
    "can could should will would",
    "and but or nor so if than because as while until",
    "of at by for with about against between into through during before after above below to from",
    "up down in out on off over under",
    "not no only own same such too very just more most few some any each both all other",
    "again further then once also now really here there",
    "what which who whom when where why how",
    "s t d m ll ve re don didn doesn isn wasn",
];

/// One line per word: the base form, then the forms that are read as it.
const IRREGULAR: &[&str] = &[
    // verbs
    "bear bore born",
    "begin began begun",
    "break broke broken",
    "bring brought",
    "build built",
    "buy bought",
    "catch caught",
    "choose chose chosen",
    "come came",
    "draw drew drawn",
    "drink drank drunk",
    "drive drove driven",
    "eat ate eaten",
    "fall fell fallen",
    "feel felt",
    "fight fought",
    "find found",
    "fly flew flown",
    "forget forgot forgotten",
    "give gave given",
    "go went gone goes",
    "grow grew grown",
    "hang hung",
    "hear heard",
    "hide hid hidden",
    "hold held",
    "keep kept",
    "know knew known",
    "lead led",
    "leave left",
    "lend lent",
    "lie lay",
    "lose lost",
    "make made",
    "meet met",
    "pay paid",
    "ride rode ridden",
    "rise rose risen",
    "run ran",
    "say said",
    "see saw seen",
    "seek sought",
    "sell sold",
    "send sent",
    "shake shook shaken",
    "shoot shot",
    "sing sang sung",
    "sit sat",
    "sleep slept",
    "speak spoke spoken",
    "spend spent",
    "stand stood",
    "steal stole stolen",
    "stick stuck",
    "strike struck",
    "sweep swept",
    "swim swam swum",
    "take took taken",
    "teach taught",
    "tear tore torn",
    "tell told",
    "think thought",
    "throw threw thrown",
    "understand understood",
    "wake woke woken",
    "wear wore worn",
    "win won",
    "write wrote written",
    // nouns
    "child children kids kid",
    "foot feet",
    "life lives",
    "man men",
    "person people",
    "tooth teeth",
    "wife wives",
    "woman women",
    // everyday variants
    "bike bicycle",
    "dad father",
    "grandma grandmother",
    "grandpa grandfather",
    "mom mother mum",
    "movie film movies films",
    "pic picture photo pics photos pictures",
];

/// What a Chinese, Japanese or Korean question says only to be a question, and pronouns. Longest first within a
/// language, so that the first match is the whole phrase.
pub(super) const QUESTION_PHRASES: &[&str] = &[
    // Chinese
    "什么意思",
    "什麼意思",
    "什么时候",
    "什麼時候",
    "为什么",
    "為什麼",
    "是什么",
    "是什麼",
    "有哪些",
    "什么样",
    "什麼樣",
    "什么",
    "什麼",
    "怎么样",
    "怎麼樣",
    "怎么",
    "怎麼",
    "怎样",
    "怎樣",
    "哪一个",
    "哪一個",
    "哪一",
    "哪里",
    "哪裡",
    "哪些",
    "哪个",
    "哪個",
    "哪位",
    "是谁",
    "是誰",
    "多少",
    "如何",
    "为何",
    "為何",
    "何时",
    "何時",
    "请问",
    "請問",
    "吗",
    "嗎",
    "呢",
    "谁",
    "誰",
    "哪",
    "几",
    "有没有",
    "有沒有",
    "是否",
    "应该",
    "應該",
    "可以",
    "我们",
    "我們",
    "你们",
    "你們",
    "他们",
    "他們",
    // Japanese
    "でしょうか",
    "ましたか",
    "ですか",
    "ますか",
    "のですか",
    "どのように",
    "どのくらい",
    "どうして",
    "なぜ",
    "どこ",
    "どれ",
    "どの",
    "どう",
    "いつ",
    "だれ",
    "誰",
    "何",
    // Korean
    "무엇인가",
    "무엇이",
    "무엇을",
    "무엇",
    "언제",
    "어디서",
    "어디에",
    "어디",
    "누구",
    "어떻게",
    "어떤",
    "어느",
    "얼마나",
    "몇",
    "왜",
];
