//! Reads a history back from disk. A damaged file is an answer, not a panic: what could be read, and what is wrong.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::Context;

use super::event::{Entry, Event, VERSION};

/// The longest history that is read, bytes.
const FILE_MAX: u64 = 256 * 1024 * 1024;
/// The longest line that is read, bytes.
const LINE_MAX: u64 = 256 * 1024;

/// A history as it was found.
#[derive(Debug)]
pub struct Found {
    /// The entries up to the first line that is none.
    pub entries: Vec<Entry>,
    /// The first thing that is wrong with the file as a record.
    pub gap: Option<String>,
}

/// Reads a history.
///
/// # Errors
/// The file cannot be opened or read, or is larger than any history.
pub fn read(path: &Path) -> anyhow::Result<Found> {
    let cannot_open = || format!("cannot open the history {}", path.display());
    // Opening a pipe would wait for somebody to write to it.
    let regular = std::fs::metadata(path).with_context(cannot_open)?.is_file();
    anyhow::ensure!(regular, "{}: not a regular file", cannot_open());
    let file = File::open(path).with_context(cannot_open)?;
    let size = file.metadata()?.len();
    anyhow::ensure!(size <= FILE_MAX, "{} is {size} bytes: no history is longer than {FILE_MAX}", path.display());
    let mut lines = BufReader::new(file);
    let mut entries = Vec::new();
    let mut unreadable = None;
    loop {
        let mut line = Vec::new();
        (&mut lines)
            .take(LINE_MAX)
            .read_until(b'\n', &mut line)
            .with_context(|| format!("cannot read the history {}", path.display()))?;
        if line.is_empty() {
            break;
        }
        match serde_json::from_slice::<Entry>(&line) {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                unreadable = Some(format!("line {} is no history entry: {error}", entries.len() + 1));
                break;
            }
        }
    }
    let gap = unreadable.or_else(|| gap(&entries));
    Ok(Found { entries, gap })
}

/// What is missing in a record: a line, its beginning or its end.
pub fn gap(entries: &[Entry]) -> Option<String> {
    for (expected, entry) in entries.iter().enumerate() {
        if entry.n != expected as u64 {
            return Some(format!("line {} has the number {} instead of {expected}", expected + 1, entry.n));
        }
    }
    match entries.first() {
        Some(Entry { event: Event::Case { v, .. }, .. }) if *v != VERSION => {
            return Some(format!("it is of format {v}, this lab reads format {VERSION}"));
        }
        Some(Entry { event: Event::Case { .. }, .. }) => {}
        _ => return Some("the first line does not name the case".to_owned()),
    }
    match entries.last() {
        Some(Entry { event: Event::Closed, .. }) => None,
        _ => Some("the last line is missing: the lab was interrupted".to_owned()),
    }
}
