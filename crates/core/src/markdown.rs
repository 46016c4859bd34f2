//! Markdown by heading, on byte spans.
