//! The few styles of the output. No meaning is carried by colour alone.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

use crate::outcome::Verdict;

/// Names of scenarios.
pub const NAME: Style = Style::new().bold();
/// Heads of tables and remarks.
pub const QUIET: Style = Style::new().dimmed();
/// What is as stated.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What is not as stated.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// What proves nothing.
pub const DOUBT: Style = AnsiColor::Yellow.on_default();

/// The text in a style. The stream that it is written to takes the style away where it is not wanted.
pub fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The style of a verdict.
pub fn verdict(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Match => GOOD,
        Verdict::Mismatch | Verdict::Error => BAD,
        Verdict::Inconclusive(_) | Verdict::Skipped => DOUBT,
    }
}
