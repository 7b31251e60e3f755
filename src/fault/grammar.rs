//! The one grammar of faults.
//!
//! ```text
//! trigger   = [ worker "@" ] place [ "[" string "]" ] [ "#" number ]
//! condition = "when" ( worker "dead" | trigger )
//! action    = word [ argument ... ]                      one row each in [`super::action`]
//! ```

/// A mistake in a fault's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrammarError {
    /// Byte range in the text.
    pub span: std::ops::Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

/// Writes an operation as a quoted string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
