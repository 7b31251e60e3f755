//! Writes a history: one line per event, numbered, stamped with the one clock, also kept in memory for the judge.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::event::{Entry, Event};

/// The recorder of one case.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: BufWriter<File>,
    began: Instant,
    entries: Vec<Entry>,
    broken: Option<std::io::Error>,
}

impl Recorder {
    /// Opens the file and starts the case's clock.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = BufWriter::new(File::create(path)?);
        Ok(Self { path: path.to_owned(), file, began: Instant::now(), entries: Vec::new(), broken: None })
    }

    /// Adds a line. A write error is kept and reported by [`Recorder::finish`]: the case goes on to its teardown.
    pub fn record(&mut self, event: Event) {
        let at_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let entry = Entry { n: self.entries.len() as u64, at_us, event };
        if self.broken.is_none()
            && let Err(error) = serde_json::to_writer(&mut self.file, &entry)
                .map_err(std::io::Error::from)
                .and_then(|()| self.file.write_all(b"\n"))
        {
            self.broken = Some(error);
        }
        self.entries.push(entry);
    }

    /// Everything recorded so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Time since the case began, ms.
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Writes what is buffered and gives the history back.
    ///
    /// # Errors
    /// The disk is full or the file cannot be written; names the file.
    pub fn finish(mut self) -> anyhow::Result<Vec<Entry>> {
        let outcome = match self.broken.take() {
            Some(error) => Err(error),
            None => self.file.flush(),
        };
        outcome.map_err(|error| anyhow::anyhow!("cannot write the history {}: {error}", self.path.display()))?;
        Ok(self.entries)
    }
}
