//! A block between two markers in a file that others write, too.

/// The markers of the generated page.
pub(super) const PAGE: Markers = Markers {
    begin: "<!-- BEGIN:AGENT_MEMORY_POLICY (do not edit this block) -->",
    end: "<!-- END:AGENT_MEMORY_POLICY -->",
};
/// The markers in a client's file, as memory-engine wrote them: what it left is found and replaced.
pub(super) const CLIENT: Markers = Markers {
    begin: "<!-- BEGIN:MEMORY_ENGINE_POLICY (do not edit this block) -->",
    end: "<!-- END:MEMORY_ENGINE_POLICY -->",
};
/// What the block's second line says of how it was put in, so that it can be taken out without a trace.
const JOINED: &str = "| joined: ";

/// Where a block begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Markers {
    pub(super) begin: &'static str,
    pub(super) end: &'static str,
}

/// A block to be put in.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) markers: Markers,
    /// What the second line says: version, time, server.
    pub(super) told: String,
    pub(super) body: String,
    /// What a file that is made for it begins with.
    pub(super) head: &'static str,
}

impl Block {
    /// The block on its own.
    pub(super) fn text(&self) -> String {
        self.rendered("none", "\n")
    }

    fn rendered(&self, joined: &str, newline: &str) -> String {
        let Self { markers, told, body, .. } = self;
        let lines = format!(
            "{}\n<!-- {told} {JOINED}{joined} -->\n\n{}\n{}",
            markers.begin,
            body.trim(),
            markers.end
        );
        if newline == "\n" { lines } else { lines.replace('\n', newline) }
    }

    /// The file's text with the block in it, in the place of an older one, else at its end. `None` is no file.
    pub(super) fn put_into(&self, file: Option<&str>) -> String {
        let Some(file) = file else {
            return format!("{}{}\n", self.head, self.rendered("file", "\n"));
        };
        let newline = if file.contains("\r\n") { "\r\n" } else { "\n" };
        if let Some(found) = find(self.markers, file) {
            let block = self.rendered(found.joined.unwrap_or("none"), newline);
            return format!("{}{block}{}", &file[..found.from], &file[found.to..]);
        }
        let (joint, named) = match file {
            "" => (String::new(), "0"),
            _ if file.ends_with('\n') => (newline.to_owned(), "1"),
            _ => (newline.repeat(2), "2"),
        };
        format!("{file}{joint}{}{newline}", self.rendered(named, newline))
    }

    /// Whether it stands in the file as it would be put in now, whatever time it names.
    pub(super) fn stands_in(&self, file: &str) -> bool {
        let Some(found) = find(self.markers, file) else { return false };
        let without_second = |text: &str| -> Vec<String> {
            let told = |(n, line): (usize, &str)| (n != 1).then(|| line.to_owned());
            text.lines().enumerate().filter_map(told).collect()
        };
        let version = self.told.split(['|', ' ']).find(|word| word.contains('.'));
        found.version == version
            && without_second(&file[found.from..found.to]) == without_second(&self.text())
    }

    /// The same at the file's beginning where it has none yet.
    pub(super) fn put_before(&self, file: Option<&str>) -> String {
        match file {
            Some(file) if find(self.markers, file).is_none() => format!("{}\n\n{file}", self.text()),
            _ => self.put_into(file),
        }
    }

    /// The file's text without the block; `None` where there is none in it, `Some(None)` where the file was made for it
    /// and holds nothing else.
    pub(super) fn take_out(&self, file: &str) -> Option<Option<String>> {
        let found = find(self.markers, file)?;
        let (mut before, mut after) = (&file[..found.from], &file[found.to..]);
        let lines = match found.joined {
            Some("0" | "file") => 0,
            Some("1") => 1,
            Some("2") => 2,
            // Of another program: it stood between blank lines.
            _ => usize::from(before.ends_with("\n\n") || before.ends_with("\n\r\n")),
        };
        for _ in 0..lines {
            before = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before);
        }
        after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
        let rest = format!("{before}{after}");
        let was_made = found.joined == Some("file") && rest == self.head;
        Some((!was_made).then_some(rest))
    }
}

/// Where a block stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found<'a> {
    from: usize,
    to: usize,
    joined: Option<&'a str>,
    /// The version that it names.
    pub(super) version: Option<&'a str>,
}

/// The block with these markers in a file. Markers that do not come in order are none.
pub(super) fn find(markers: Markers, file: &str) -> Option<Found<'_>> {
    let from = file.find(markers.begin)?;
    let inner = from + markers.begin.len();
    let end = inner + file[inner..].find(markers.end)?;
    let told = file[inner..end].trim_start().lines().next().unwrap_or_default();
    let word = |name: &str| {
        let rest = told.split_once(name)?.1;
        rest.split([' ', '|']).find(|word| !word.is_empty())
    };
    Some(Found { from, to: end + markers.end.len(), joined: word(JOINED), version: word("policy_version:") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Block {
        Block {
            markers: CLIENT,
            told: "policy_version: 1.1 | server: strata".into(),
            body: "Remember.".into(),
            head: "",
        }
    }

    #[test]
    fn taking_it_out_leaves_the_file_as_it_was() {
        for file in ["", "a", "a\n", "a\n\n", "# Häuser\r\nb\r\n", "b\r\nc", "\u{feff}x\n", "a\n\n\n\nb"] {
            let with = block().put_into(Some(file));
            assert_eq!(with.matches(CLIENT.begin).count(), 1, "{file:?}");
            assert!(with.starts_with(file), "{file:?}");
            assert_eq!(block().put_into(Some(&with)), with, "{file:?}");
            assert_eq!(block().take_out(&with), Some(Some(file.to_owned())), "{file:?}");
            // What was written behind it meanwhile stays.
            let more = format!("{with}more\n");
            assert_eq!(block().take_out(&more), Some(Some(format!("{file}more\n"))), "{file:?}");
        }
        assert_eq!(block().take_out("a"), None);
        assert_eq!(block().take_out(&format!("{}{}", CLIENT.end, CLIENT.begin)), None);
        let made = block().put_into(None);
        assert_eq!(block().take_out(&made), Some(None));
        assert_eq!(block().take_out(&format!("mine\n{made}")), Some(Some("mine\n".into())));
    }

    #[test]
    fn the_block_of_another_program_is_replaced_in_its_place() {
        let older = format!(
            "# Mine\n\n{}\n<!-- policy_version: 1.0 -->\nold\n{}\n\nAfter.\n",
            CLIENT.begin, CLIENT.end
        );
        assert_eq!(find(CLIENT, &older).and_then(|found| found.version), Some("1.0"));
        let new = block().put_into(Some(&older));
        assert!(new.starts_with("# Mine\n\n<!-- BEGIN") && new.ends_with("-->\n\nAfter.\n"), "{new}");
        assert!(new.contains("Remember.") && !new.contains("old"), "{new}");
        assert_eq!(block().take_out(&new), Some(Some("# Mine\n\nAfter.\n".into())));
    }
}
