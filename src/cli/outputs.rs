//! Where results go: stdout in the format asked for, and `results.ndjson` in the record folder. Written as they arrive.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

use super::records::{Records, Stored};
use super::{notice, print, visible};
use crate::history::reader;
use crate::outcome::{CaseResult, Exit, Tally, TwinResult};
use crate::report::terminal::{self, Detail, Row};
use crate::report::{ndjson, timeline};

/// The results of a run in its record folder.
const RESULTS: &str = "results.ndjson";

/// What goes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Tables for a person
    Human,
    /// One JSON object a line
    Ndjson,
}

/// One scenario's block: printed when its last case is there, and the blocks before it are.
struct Block {
    title: String,
    cases: Vec<usize>,
    /// How many results it lacks, where that is known.
    missing: Option<u64>,
}

/// The open outputs of a run.
pub(super) struct Outputs {
    run: String,
    format: Format,
    detail: Detail,
    file: Option<BufWriter<File>>,
    root: String,
    blocks: Vec<Block>,
    printed: usize,
    rows: Vec<Option<Row>>,
    cases: Vec<Stored>,
    tally: Tally,
    twins: u64,
    all: u64,
}

impl Outputs {
    /// Opens every output before anything runs.
    ///
    /// # Errors
    /// A file cannot be made.
    pub(super) fn open(
        run: &str,
        records: &Records,
        format: Format,
        detail: Detail,
        cases: &[Stored],
        repeat: u32,
    ) -> anyhow::Result<Self> {
        let path = records.root.join(RESULTS);
        let file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let mut outputs = Self::judging(run, records, format, detail, cases);
        outputs.file = Some(BufWriter::new(file));
        outputs.all = cases.len() as u64 * u64::from(repeat);
        for block in &mut outputs.blocks {
            block.missing = Some(block.cases.len() as u64 * u64::from(repeat));
        }
        Ok(outputs)
    }

    /// The same for a run that is judged again: how many results there will be is not known.
    pub(super) fn judging(run: &str, records: &Records, format: Format, detail: Detail, cases: &[Stored]) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            if index == 0 || cases[index - 1].id.scenario != case.id.scenario {
                blocks.push(Block { title: case.title.clone(), cases: Vec::new(), missing: None });
            }
            blocks.last_mut().expect("one was pushed for the first case").cases.push(index);
        }
        Self {
            run: run.to_owned(),
            format,
            detail,
            file: None,
            root: records.root.display().to_string(),
            blocks,
            printed: 0,
            rows: cases.iter().map(|_| None).collect(),
            cases: cases.to_vec(),
            tally: Tally::default(),
            twins: 0,
            all: 0,
        }
    }

    /// How many results are there, of how many.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.tally.cases, self.all)
    }

    /// A twin is finished.
    pub(super) fn twin(&mut self, index: usize, twin: &TwinResult) -> anyhow::Result<()> {
        self.twins += u64::from(!matches!(twin, TwinResult::Skipped(_)));
        let line = ndjson::twin_line(&self.run, &self.cases[index].id.to_string(), twin);
        self.line(&line)
    }

    /// A case is finished.
    pub(super) fn case(&mut self, index: usize, result: CaseResult) -> anyhow::Result<()> {
        self.tally.add(result.verdict);
        let line = ndjson::case(&self.run, &result);
        self.line(&line)?;
        let result = visible::result(result);
        match &mut self.rows[index] {
            Some(row) => row.add(result),
            empty => *empty = Some(Row::new(result)),
        }
        if let Some(block) = self.blocks.iter_mut().find(|block| block.cases.contains(&index)) {
            block.missing = block.missing.map(|missing| missing.saturating_sub(1));
        }
        while self.blocks.get(self.printed).is_some_and(|block| block.missing == Some(0)) {
            self.print_block(self.printed)?;
            self.printed += 1;
        }
        Ok(())
    }

    /// Prints what is left and the summary; the exit status.
    pub(super) fn finish(&mut self, elapsed: Duration, interrupted: Option<i32>) -> anyhow::Result<Exit> {
        for block in self.printed..self.blocks.len() {
            self.print_block(block)?;
        }
        // A case without a result is the lab's own fault: it must not look like success.
        let lost = self.all.saturating_sub(self.tally.cases);
        let exit = match interrupted {
            Some(signal) => Exit::Signal(signal),
            None if lost > 0 => Exit::Environment,
            None => self.tally.exit(),
        };
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let line = ndjson::summary(&self.run, &self.tally, elapsed_ms, exit);
        self.line(&line)?;
        if let Some(file) = &mut self.file {
            file.flush().with_context(|| format!("cannot write {RESULTS} in {}", self.root))?;
        }
        if interrupted.is_none() && lost > 0 {
            notice(&format!("error: the lab broke: {lost} of {} cases gave no result", self.all));
        }
        if self.format == Format::Human && self.detail != Detail::Quiet {
            print(&terminal::slowest(self.rows.iter().flatten().map(|row| &row.shown)))?;
        }
        if self.format == Format::Human {
            print(&terminal::summary(&self.tally, self.twins, elapsed_ms, &self.root))?;
        }
        Ok(exit)
    }

    fn line(&mut self, line: &Value) -> anyhow::Result<()> {
        if let Some(file) = &mut self.file {
            writeln!(file, "{line}").with_context(|| format!("cannot write {RESULTS} in {}", self.root))?;
        }
        if self.format == Format::Ndjson { print(&format!("{line}\n")) } else { Ok(()) }
    }

    fn print_block(&self, index: usize) -> anyhow::Result<()> {
        if self.format == Format::Ndjson {
            return Ok(());
        }
        let block = &self.blocks[index];
        let mut rows: Vec<Row> = block.cases.iter().filter_map(|case| self.rows[*case].clone()).collect();
        if self.detail == Detail::Verbose {
            for row in &mut rows {
                let found = reader::read(Path::new(&row.shown.history)).ok();
                row.timeline = found.map(|found| timeline::timeline(&found.entries));
            }
        }
        let text = terminal::scenario(&visible::text(&block.title), &rows, self.detail);
        if text.is_empty() { Ok(()) } else { print(&format!("{text}\n")) }
    }
}
