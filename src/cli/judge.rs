//! `lab judge`: judges the histories of a stored run again. Nothing is run; the record folder is all it needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::outputs::{Format, Outputs};
use super::records::{Records, Stored, StoredTwin};
use super::results;
use crate::checker::{self, Expected, Judgement};
use crate::history::reader;
use crate::outcome::{CaseResult, Exit, TwinResult};
use crate::report::terminal::Detail;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run's id, its record folder, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// What goes to stdout
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Every column of every case
    #[arg(short, long)]
    verbose: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let (records, plan) = Records::open(&args.run)?;
    let detail = if args.verbose { Detail::Verbose } else { Detail::Normal };
    let mut outputs = Outputs::judging(&plan.run, &records, args.format, detail, &plan.cases);
    for (index, case) in plan.cases.iter().enumerate() {
        let twin = twin(&records, case);
        outputs.twin(index, &twin)?;
        for (repeat, history) in last_tries(&records.case_folder(&case.id)) {
            outputs.case(index, one(case, repeat, &history, &twin))?;
        }
    }
    outputs.finish(began.elapsed(), None)
}

fn one(case: &Stored, (repeat, tries): (u32, u32), history: &Path, twin: &TwinResult) -> CaseResult {
    let shown = history.display().to_string();
    let mut result = match read(history, &case.expected) {
        Ok((judgement, elapsed_ms)) => {
            CaseResult { elapsed_ms, ..results::case(case, repeat, tries, &shown, &judgement) }
        }
        Err(error) => results::broken(case, repeat, tries, &shown, &error),
    };
    results::doubt(&mut result, twin);
    result
}

fn twin(records: &Records, case: &Stored) -> TwinResult {
    let StoredTwin::Expected(expected) = &case.twin else {
        return results::twin_skipped(case);
    };
    match read(&records.twin_history(&case.id), expected) {
        Ok((judgement, _)) => results::twin(&judgement),
        Err(error) => TwinResult::Broke(format!("{error:#}")),
    }
}

/// The judgement of a stored history and how long the case took, ms.
fn read(history: &Path, expected: &Expected) -> anyhow::Result<(Judgement, u64)> {
    let found = reader::read(history)?;
    let elapsed_ms = found.entries.last().map_or(0, |entry| entry.at_us / 1000);
    Ok((checker::judge(&found.entries, found.gap.as_deref(), expected), elapsed_ms))
}

/// The last try of every repetition, in order.
fn last_tries(folder: &Path) -> Vec<((u32, u32), PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut last: BTreeMap<u32, (u32, PathBuf)> = BTreeMap::new();
    for path in entries {
        let Some((repeat, attempt)) = path.file_name().and_then(|name| number(name.to_str()?)) else {
            continue;
        };
        if last.get(&repeat).is_none_or(|(earlier, _)| *earlier < attempt) {
            last.insert(repeat, (attempt, path));
        }
    }
    last.into_iter().map(|(repeat, (attempt, path))| ((repeat, attempt), path)).collect()
}

/// `7.ndjson` is the first try of repetition 7, `7-try2.ndjson` its second.
fn number(name: &str) -> Option<(u32, u32)> {
    let stem = name.strip_suffix(".ndjson")?;
    match stem.split_once("-try") {
        None => Some((stem.parse().ok()?, 1)),
        Some((repeat, attempt)) => Some((repeat.parse().ok()?, attempt.parse().ok()?)),
    }
}
