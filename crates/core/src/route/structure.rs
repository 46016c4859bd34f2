//! How the lines of a text are built, whatever they say.

/// How many lines of each sort a text has. In fenced code only commands and log lines are counted.
#[derive(Debug, Default)]
pub(super) struct Structure {
    pub(super) lines: usize,
    pub(super) numbered: usize,
    pub(super) checkboxes: usize,
    /// Of the checkboxes, those without a tick.
    pub(super) unticked: usize,
    pub(super) bullets: usize,
    pub(super) commands: usize,
    pub(super) log: usize,
    pub(super) has_code: bool,
    /// An address with a port, which states a fact.
    pub(super) has_address: bool,
}

/// So many log lines of all lines make a log excerpt, in percent.
const LOG_SHARE: usize = 40;

impl Structure {
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        let mut in_code = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            found.lines += 1;
            if line.starts_with("```") || line.starts_with("~~~") {
                in_code = !in_code;
                found.has_code = true;
            } else {
                found.count(line, in_code);
            }
        }
        found.has_address = text.split_whitespace().any(is_address);
        found
    }

    fn count(&mut self, line: &str, in_code: bool) {
        if is_log_line(line) {
            self.log += 1;
        } else if let steps @ 3.. = numbered_inside(line)
            && !in_code
        {
            self.numbered += steps;
        } else if !in_code && is_numbered(line) {
            self.numbered += 1;
        } else if let Some(ticked) = checkbox(line).filter(|_| !in_code) {
            self.checkboxes += 1;
            self.unticked += usize::from(!ticked);
        } else if !in_code && ["- ", "* ", "+ ", "• "].iter().any(|mark| line.starts_with(mark)) {
            self.bullets += 1;
        } else {
            self.commands += usize::from(is_command(line));
        }
    }

    pub(super) fn is_log(&self) -> bool {
        self.log >= 2 && self.log * 100 >= self.lines * LOG_SHARE
    }

    /// What makes a procedure of a text that names actions: names and weights.
    pub(super) fn procedure(&self) -> Vec<(&'static str, f64)> {
        let mut found = Vec::new();
        if self.numbered >= 2 {
            found.push(("numbered_steps", 0.12));
        }
        if self.checkboxes >= 2 {
            found.push(("checkboxes", 0.12));
        }
        if self.commands >= 2 {
            found.push(("shell_commands", 0.12));
        } else if self.commands == 1 && self.has_code {
            found.push(("shell_command_in_code", 0.10));
        } else if self.commands == 1 && self.bullets >= 3 {
            found.push(("shell_command_with_bullets", 0.08));
        }
        found
    }
}

/// `1.`, `2)`, `3、`, `第1步`, `Step 1`, `ステップ1`, `手順1`, `1단계`.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(['#', '*', ' ']);
    let numeral = |c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c);
    let named = ["第", "ステップ", "手順", "단계 "].iter().find_map(|word| rest.strip_prefix(word));
    let english =
        rest.get(..5).filter(|word| word.eq_ignore_ascii_case("step ")).map(|word| &rest[word.len()..]);
    if let Some(tail) = named.or(english) {
        let after = tail.trim_start().trim_start_matches(numeral);
        let unit = !rest.starts_with('第') || after.starts_with('步');
        return after.len() < tail.trim_start().len() && unit;
    }
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = &rest[count..];
    (1..=2).contains(&count)
        && (after.starts_with(". ")
            || after.starts_with("단계")
            || after.starts_with([')', '、', '）', '．']))
}

/// How many steps stand in one line, `1. build 2. push 3. check` or `1、构建 2、推送`, counted on from the first.
fn numbered_inside(line: &str) -> usize {
    let (mut steps, mut rest) = (0, line);
    while let Some(after) = after_number(rest, &(steps + 1).to_string()) {
        (steps, rest) = (steps + 1, after);
    }
    steps
}

/// What follows this number where it stands as one of a list.
fn after_number<'t>(text: &'t str, number: &str) -> Option<&'t str> {
    let is_open = |before: &str| !before.ends_with(|c: char| c.is_ascii_alphanumeric() || ".-_".contains(c));
    let is_mark = |after: &str| after.starts_with(". ") || after.starts_with([')', '、', '）', '．']);
    let found = text.match_indices(number).map(|(at, _)| text.split_at(at));
    let mut rest = found.filter(|(before, _)| is_open(before)).map(|(_, from)| &from[number.len()..]);
    rest.find(|after| is_mark(after))
}

/// Whether the box at the beginning of a line is ticked; `None` without one.
fn checkbox(line: &str) -> Option<bool> {
    let rest = line.trim_start_matches(['-', '*', '+', ' ']);
    if rest.len() == line.len() {
        return None;
    }
    let box_of = |mark: &str| rest.starts_with(mark);
    match () {
        () if box_of("[ ]") || box_of("[]") => Some(false),
        () if box_of("[x]") || box_of("[X]") => Some(true),
        () => None,
    }
}

fn is_command(line: &str) -> bool {
    let rest = line.trim_start_matches(['$', '>', '#', '`', ' ']);
    let rest = rest.strip_prefix("sudo ").unwrap_or(rest);
    line.starts_with("$ ")
        || COMMANDS.iter().any(|name| rest.strip_prefix(name).is_some_and(|r| r.starts_with(' ')))
}

/// A date and time, a time with seconds, a level word in front, or a frame of a stack.
fn is_log_line(line: &str) -> bool {
    let bytes = line.as_bytes();
    let pattern = |at: usize, shape: &[u8]| {
        let digit_or_same = |(s, b): (&u8, &u8)| if *s == b'0' { b.is_ascii_digit() } else { s == b };
        bytes.len() >= at + shape.len() && shape.iter().zip(&bytes[at..]).all(digit_or_same)
    };
    let open = usize::from(line.starts_with('['));
    let stamped =
        pattern(open, b"00:00:00") || (pattern(open, b"0000-00-00") && pattern(open + 11, b"00:00"));
    let level = ["DEBUG", "INFO", "WARN", "WARNING", "ERROR", "TRACE", "FATAL"].iter().any(|level| {
        line[open..].strip_prefix(level).is_some_and(|rest| rest.starts_with([':', ']', ' ', '|']))
    });
    let frame = line.starts_with("Traceback")
        || (line.starts_with("File \"") && line.contains(", line "))
        || line.starts_with("at ") && line.ends_with(')');
    stamped || level || frame
}

/// `prod-db:5432`, `10.0.0.7:80`.
fn is_address(word: &str) -> bool {
    let word = word.trim_matches(|c: char| ",.;()[]，。；（）\"'".contains(c));
    let Some((host, port)) = word.rsplit_once(':') else { return false };
    let is_port = (2..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
    let is_host = host.len() >= 3 && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._/:".contains(&b));
    is_port
        && is_host
        && host.bytes().any(|b| b.is_ascii_alphanumeric())
        && (host.contains(['-', '.', '/']) || !host.bytes().all(|b| b.is_ascii_digit()))
}

/// Programs whose name at the beginning of a line makes it a command.
const COMMANDS: &[&str] = &[
    "git",
    "pip",
    "python",
    "python3",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "node",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "systemctl",
    "apt",
    "apt-get",
    "dnf",
    "brew",
    "make",
    "cmake",
    "cargo",
    "rustup",
    "go",
    "curl",
    "wget",
    "ssh",
    "scp",
    "rsync",
    "psql",
    "pg_dump",
    "mysql",
    "redis-cli",
    "bash",
    "sh",
    "cd",
    "cp",
    "mv",
    "chmod",
    "pytest",
    "uv",
    "poetry",
    "terraform",
    "ansible-playbook",
    "journalctl",
    "tar",
    "export",
    "nginx",
    "aws",
    "gcloud",
    "strata",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_of_one_sort_each() {
        let text = "1. git pull\n- [ ] a\n- [x] b\n- c\n$ make\ngit push\n```\n2. x\n# - [ ] y\ncargo test\n```\nsudo apt install x\n";
        let found = Structure::of(text);
        assert_eq!((found.numbered, found.checkboxes, found.unticked, found.bullets), (1, 2, 1, 1));
        assert_eq!((found.commands, found.log, found.has_code), (4, 0, true));
        let steps = Structure::of(
            "第一步 看\n第2步 停\nステップ1 開く\n手順2: 閉じる\n1단계 연다\nStep 3 go\n3、好\n第二章\n2024. x",
        );
        assert_eq!(steps.numbered, 7);
    }

    #[test]
    fn steps_may_stand_in_one_line() {
        for (line, steps) in [
            ("To deploy: 1. run make 2. kubectl apply -f x.yaml 3. check the logs", 3),
            ("部署步骤：1、构建 2、推送 3、重启 4、检查", 4),
            ("手順：(1) 止める (2) 上げる (3) 見る", 3),
            ("배포 절차: 1. make 2. 재시작", 0),
            ("version 1.2.3 and 2. then 10.3. x", 0),
            ("3. c 2. b 1. a", 1),
        ] {
            assert_eq!(Structure::of(line).numbered, steps, "{line}");
        }
    }

    #[test]
    fn a_log_is_mostly_log_lines() {
        let log = "2026-02-11 10:00:01 start\n[12:00:01] x\nERROR: bad\nplain\nplain";
        assert!(Structure::of(log).is_log());
        assert!(!Structure::of(&format!("{log}{}", "\nplain".repeat(4))).is_log());
        assert!(!Structure::of("INFO: one line").is_log());
    }

    #[test]
    fn addresses_have_a_port() {
        for (word, expected) in [
            ("prod-db:5432,", true),
            ("(10.0.0.7:80)", true),
            ("12:30", false),
            ("a:b", false),
            ("note:12", true),
            (":80", false),
        ] {
            assert_eq!(is_address(word), expected, "{word}");
        }
    }

    #[test]
    fn odd_lines_are_no_trouble() {
        for text in
            ["第", "第步", "step ", "[", "0", "- [", "$", "\u{0}", "é第1步", "step é", "단계 ", ":", "::80"]
        {
            assert!(Structure::of(text).lines <= 1, "{text:?}");
        }
    }
}
