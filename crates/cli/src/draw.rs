//! Documents on a terminal: colour by role, lines that fit, and nothing that only colour says.

mod wrap;

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use strata_engine::render::{Block, Document, Mark, Record, Trust};

use crate::failure::Failure;

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Whether colour is wanted.
    pub(crate) colour: bool,
    /// Columns to fit into; `None` leaves lines as long as they are.
    pub(crate) width: Option<usize>,
}

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy)]
enum Role {
    Heading,
    Key,
    Id,
    Title,
    Quiet,
    Good,
    Warning,
    Bad,
}

impl Role {
    const fn style(self) -> Style {
        match self {
            Self::Heading => Style::new().bold().underline(),
            Self::Title => Style::new().bold(),
            Self::Id => AnsiColor::Cyan.on_default().bold(),
            Self::Key => AnsiColor::Cyan.on_default(),
            Self::Quiet => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default().bold(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

impl Look {
    fn paint(self, role: Role, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = role.style();
        format!("{style}{text}{style:#}")
    }

    /// Lines of `text` that fit, each behind `indent`.
    fn lines(self, text: &str, indent: &str) -> String {
        let room = self.width.map(|w| w.saturating_sub(wrap::width(indent)).max(20));
        let lines = wrap::lines(&printable(text), room);
        lines
            .iter()
            .map(|l| if l.is_empty() { String::new() } else { format!("{indent}{l}") })
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// A whole document: an empty line between blocks, none between notes that follow each other.
pub(crate) fn document(document: &Document, look: Look) -> String {
    let mut out = String::new();
    let mut after_note = false;
    for part in &document.blocks {
        let text = block(part, look);
        if text.is_empty() {
            continue;
        }
        let note = matches!(part, Block::Note(..));
        if !out.is_empty() {
            out.push_str(if note && after_note { "\n" } else { "\n\n" });
        }
        out.push_str(&text);
        after_note = note;
    }
    out
}

/// A failure: what, why, what next.
pub(crate) fn failure(failure: &Failure, colour: bool) -> String {
    let look = Look { colour, width: None };
    let mut out = String::new();
    for (at, cause) in failure.causes.iter().enumerate() {
        let label = if at == 0 { "error" } else { "cause" };
        out.push_str(&format!("{}: {}\n", look.paint(Role::Bad, label), printable(cause).trim_end()));
    }
    if !failure.hint.is_empty() {
        out.push_str(&format!("{}: {}\n", look.paint(Role::Key, "hint"), printable(&failure.hint)));
    }
    out
}

fn block(block: &Block, look: Look) -> String {
    match block {
        Block::Heading(text) => look.paint(Role::Heading, &one_line(text)),
        Block::Paragraph(text) => look.lines(text, ""),
        Block::Pairs(pairs) => draw_pairs(pairs, look),
        Block::Table { columns, rows } => draw_table(columns, rows, look),
        Block::Records { trust, records } => draw_records(*trust, records, look),
        Block::Stored(stored) => self::block(stored, look),
        Block::Code { text, .. } => printable(text),
        Block::Note(mark, text) => draw_note(*mark, text, look),
    }
}

fn draw_note(mark: Mark, text: &str, look: Look) -> String {
    let role = match mark {
        Mark::Good => Role::Good,
        Mark::Info => Role::Quiet,
        Mark::Warning => Role::Warning,
        Mark::Bad => Role::Bad,
    };
    let body = look.lines(text, "  ");
    format!("{} {}", look.paint(role, mark.sign()), body.trim_start())
}

fn draw_pairs(pairs: &[(String, String)], look: Look) -> String {
    let widest = pairs.iter().map(|(k, _)| wrap::width(&one_line(k))).max().unwrap_or(0);
    let line = |(key, value): &(String, String)| {
        let key = one_line(key);
        let padding = " ".repeat(widest - wrap::width(&key));
        let value = look.lines(value, &" ".repeat(widest + 2));
        format!("{}{padding}  {}", look.paint(Role::Key, &key), value.trim_start())
    };
    pairs.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn draw_table(columns: &[String], rows: &[Vec<String>], look: Look) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = look.width.and_then(|w| u16::try_from(w).ok()) {
        table.set_width(width);
    }
    table.set_header(columns.iter().map(|c| one_line(c)).collect::<Vec<_>>());
    table.add_rows(rows.iter().map(|r| r.iter().map(|c| printable(c)).collect::<Vec<_>>()));
    table.column_iter_mut().for_each(|column| _ = column.set_padding((0, 2)));
    let mut lines: Vec<String> = table.lines().map(|l| l.trim_end().to_owned()).collect();
    if let Some(header) = lines.first_mut() {
        *header = look.paint(Role::Key, header);
    }
    lines.join("\n")
}

fn draw_records(trust: Trust, records: &[Record], look: Look) -> String {
    let mut parts = Vec::with_capacity(records.len() + 1);
    if trust == Trust::Approved && !records.is_empty() {
        parts.push(look.paint(Role::Good, "Approved rules"));
    }
    parts.extend(records.iter().map(|r| draw_record(r, look)));
    parts.join("\n\n")
}

fn draw_record(record: &Record, look: Look) -> String {
    let attributes: Vec<String> = record.attributes.iter().map(|a| one_line(a)).collect();
    let mut out = look.paint(Role::Id, &one_line(&record.id));
    if !attributes.is_empty() {
        out.push_str(&format!("  {}", look.paint(Role::Quiet, &attributes.join(" · "))));
    }
    if let Some(title) = record.heading().map(one_line).filter(|t| !t.is_empty()) {
        out.push_str(&format!("\n  {}", look.paint(Role::Title, &title)));
    }
    let text = look.lines(record.text.trim_end(), "  ");
    if !text.is_empty() {
        out.push('\n');
        out.push_str(&text);
    }
    out
}

/// Stored text must not steer the terminal: control characters and escapes are dropped, tabs widened.
fn printable(text: &str) -> String {
    let steers = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.replace('\t', "    ").chars().filter(|c| !steers(*c)).collect()
}

fn one_line(text: &str) -> String {
    printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Look = Look { colour: false, width: Some(40) };

    fn sample() -> Document {
        Document::new()
            .with(Block::Heading("Found".into()))
            .note(Mark::Good, "done")
            .note(Mark::Warning, "the index is behind by 3 writes and this note is longer than a line")
            .with(Block::Pairs(vec![("home".into(), "/x".into()), ("你是".into(), "human:kim".into())]))
            .with(Block::Table {
                columns: vec!["name".into(), "文本".into()],
                rows: vec![vec!["a".into(), "今天讨论了记忆系统的部署方案，设备清单在运维文档里。".into()]],
            })
            .with(Block::Records {
                trust: Trust::Data,
                records: vec![Record {
                    id: "mem_0123456789".into(),
                    attributes: vec!["P5".into(), "2026-03-31".into()],
                    title: Some("Port".into()),
                    text: "The port is 5432.\n部署在新加坡机房，数据库端口是五四三二，不是五四三三。".into(),
                }],
            })
    }

    #[test]
    fn every_line_fits_the_width_in_columns_not_characters() {
        for line in document(&sample(), PLAIN).lines() {
            assert!(wrap::width(line) <= 40, "{line}");
        }
    }

    #[test]
    fn a_document_reads_well_without_colour() {
        insta::assert_snapshot!(document(&sample(), PLAIN));
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let coloured = document(&sample(), Look { colour: true, ..PLAIN });
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), document(&sample(), PLAIN));
    }

    #[test]
    fn stored_text_cannot_steer_the_terminal() {
        let text = Document::new().text("a\u{1b}[2Jb\u{7}\u{202e}c\td");
        assert_eq!(document(&text, PLAIN), "a[2Jbc    d");
    }

    #[test]
    fn failures_say_what_why_and_what_next() {
        let mut example = Failure::usage("cannot do it", "do this");
        example.causes.push("the disk is full".into());
        assert_eq!(failure(&example, false), "error: cannot do it\ncause: the disk is full\nhint: do this\n");
    }
}
