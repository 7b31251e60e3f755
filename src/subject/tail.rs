//! The last lines of a log, bounded and safe to print.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How much of the end of a log is looked at, bytes.
const LOOK_MAX: u64 = 16 * 1024;
/// How many lines are shown.
const LINES_MAX: usize = 12;
/// How much of a line is shown, characters.
const WIDTH_MAX: usize = 160;

/// The last lines of a log, each indented by two spaces; a note if there is none.
pub fn tail(path: &Path) -> String {
    let lines = last_lines(path).unwrap_or_default();
    if lines.is_empty() {
        return "  (it wrote nothing)".to_owned();
    }
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn last_lines(path: &Path) -> std::io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(LOOK_MAX)))?;
    let mut bytes = Vec::new();
    file.take(LOOK_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(LINES_MAX);
    Ok(lines[from..].iter().map(|line| clip(line)).collect())
}

fn clip(line: &str) -> String {
    let mut shown: String =
        line.chars().take(WIDTH_MAX).map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
    if line.chars().count() > WIDTH_MAX {
        shown.push_str(" ...");
    }
    shown
}
