//! Prompts for clients that keep knowledge in the vault: what to keep, where, and how todos are used.

use super::{Filled, Prompt};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Call, Toolset},
};

const fn prompt(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    text: fn(&Engine, &Call<'_>, &Filled) -> Result<String, Error>,
) -> Prompt {
    Prompt { name, title, about, arguments: &[], toolset: Some(Toolset::Layered), text }
}

/// The four of them, in menu order.
pub(super) const KNOWLEDGE_COMPRESSION: Prompt = prompt(
    "knowledge_compression_prompt",
    "Distil what was learned",
    "Turns what earlier sessions settled into lasting sections of knowledge.",
    |_, _, _| Ok(COMPRESSION.to_owned()),
);
/// How to decide where something belongs.
pub(super) const COGNITIVE_DECISION: Prompt = prompt(
    "cognitive_decision_prompt",
    "Look first, then keep",
    "Which memory to look at before acting, and where the outcome belongs.",
    |_, _, _| Ok(DECISION.to_owned()),
);
/// The rules in short.
pub(super) const MEMORY_RULES: Prompt = prompt(
    "memory_rules_prompt",
    "Rules of the vault",
    "Five rules that keep index, knowledge and profile apart.",
    |_, _, _| Ok(RULES.to_owned()),
);
/// How todos are used.
pub(super) const TODO_MANAGEMENT: Prompt = prompt(
    "todo_management_prompt",
    "Keep todos",
    "When to keep a todo, how pressing it is, and how to go through them.",
    |_, _, _| Ok(TODOS.to_owned()),
);

const COMPRESSION: &str = "\
Go back over what was said and keep what will still be true in a month.

1. Find the material. Where session tools are offered, begin with `scan_recent_sessions` and narrow down with \
`search_sessions_by_keyword`; else go by this conversation and by notes that the user names.
2. Take out single facts: how something is set up, what was decided and why, what went wrong and its cure, what the \
user wants. Leave out progress, moods, open questions and anything that only holds today.
3. Say each as a plain statement that a stranger understands, with its numbers, names and dates. Split what holds two \
facts.
4. Give it a domain that exists already if one fits (`knowledge://files`), and a heading inside it.
5. Look before you write: `recall_knowledge` shows whether it is known. What is known and the same, skip; what has \
changed, replace.
6. Write with `inject_knowledge`, mode `upsert`, one section per call; name yourself in `agent_id`, and in the text where \
it comes from: a person, a file, a day. Where the answer is `deferred_fusion` or `deferred_consolidate`, nothing is \
written yet: make one text of the old and the new, and send it with `fuse` and the `expected_hash` of the answer.

Report one line per item: domain, action (add or update), content, source. When in doubt, leave it out: what is \
missing can be added tomorrow, what is wrong misleads until somebody notices.";

const DECISION: &str = "\
Before you act on a task, and again when it is done, go through this in order.

Before:
1. Read the index of knowledge (`get_l0_index`, or `memory://hot`). Does a line touch the task?
2. It does: load that domain (`recall_knowledge`) and, where it is a procedure, your own skill for it. Use what you \
find before you try anything else.
   - It answers the task: act on it.
   - It answers a part: act on that part, work out the rest, and add it to the same section afterwards.
   - It does not help: treat the task as new.
3. Nothing touches it: work as usual.

After:
- A fact, decision or cure that lasts: into the vault with `inject_knowledge`.
- Something unfinished: `add_todo`.
- Steps to follow again: into a skill of your own, where your client has them.
- A standing wish of the user: into your own profile, once the user has confirmed it.
- Good for once only: nowhere.
- Not sure: ask `classify_memory_item`, and follow what it explains.";

const RULES: &str = "\
1. The index points, it does not tell: one line per domain. Facts stand in the domain's file.
2. Write knowledge with `inject_knowledge`, never into the files by guesswork; it finds what is there, keeps the \
history and updates the index.
3. When a reply warns that your own memory file is nearly full, shorten it: move facts into the vault and leave a pointer.
4. When it is above nine tenths again and again after that, ask the user for more room instead of dropping things.
5. Preferences belong in the profile, procedures in skills, facts in the vault.";

const TODOS: &str = "\
Keep a todo without being asked when
- the topic changes and something is left unfinished,
- the user puts something off (\"later\", \"next time\", 以后再说, 後で, 나중에),
- the same open question comes up a second time,
- you cannot go on until somebody or something else has moved.

Do not keep one for a step of what you are doing right now, for what will be done within this conversation, or for an idea \
nobody wants to follow.

How pressing: `blocker` stops other work; `high` is due soon; `medium` comes in its turn; `low` when there is time; \
`waiting` depends on somebody else. What has to come first goes into `blocked_by`.

At the start of a session call `list_todos` with status `pending`, and name those that touch the task. When you begin one set \
it to `in_progress`, when it is done to `completed`, when it is given up to `cancelled` with the reason in `notes`.

Once a week: `get_todo_stats`, then `list_todos` with status `open`. Close what is done, cancel what nobody misses, raise what \
others wait for, and ask the user about whatever has stood still for a month.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_short_and_speaks_of_what_it_is_for() {
        for (text, words) in [
            (
                COMPRESSION,
                &["inject_knowledge", "upsert", "domain, action (add or update), content, source"][..],
            ),
            (DECISION, &["add_todo", "classify_memory_item", "skill", "profile", "nowhere"]),
            (RULES, &["inject_knowledge", "nine tenths", "Preferences"]),
            (TODOS, &["list_todos", "in_progress", "completed", "blocker", "Once a week"]),
        ] {
            assert!(text.chars().count() < 2_500, "{text}");
            for word in words {
                assert!(text.contains(word), "{word}");
            }
        }
    }
}
