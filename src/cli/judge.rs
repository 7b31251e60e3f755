//! `lab judge`: judges the histories of a stored run again. Nothing is run; the record folder is all it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::outputs::{Format, Outputs};
use super::records::{Records, Stored, StoredTwin};
use super::results;
use crate::checker::{self, Expected, Judgement};
use crate::fault::words::shown;
use crate::history::{Entry, Event, reader};
use crate::outcome::{CaseResult, Exit, Reason, TwinResult, Verdict};
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
        let twin = twin(&records, &plan.run, case);
        outputs.twin(index, &twin)?;
        let tries = last_tries(&records.case_folder(&case.id));
        for (repeat, history) in &tries {
            outputs.case(index, one(&plan.run, case, *repeat, history, &twin))?;
        }
        if let Some(absent) = absent(&records, case, plan.repeat, &tries) {
            outputs.case(index, absent)?;
        }
    }
    outputs.finish(began.elapsed(), None)
}

/// The last try of a repetition: their numbers and its history.
type LastTry = ((u32, u32), PathBuf);

/// What a repetition is that the record does not have: asked for, and nothing proves it. One result for all of them.
fn absent(records: &Records, case: &Stored, repeat: u32, tries: &[LastTry]) -> Option<CaseResult> {
    let there: BTreeSet<u32> = tries.iter().map(|((repeat, _), _)| *repeat).collect();
    let first = (1..=repeat).find(|repeat| !there.contains(repeat))?;
    let lacking = repeat - u32::try_from(there.range(1..=repeat).count()).unwrap_or(repeat);
    let history = records.history(&case.id, first, 1);
    let error = anyhow::anyhow!("the record has no history of {lacking} of {repeat} repetitions, the first is {first}");
    let result = results::broken(case, first, 1, &history.display().to_string(), &error);
    Some(CaseResult { verdict: Verdict::Inconclusive(Reason::HistoryGap), ..result })
}

fn one(run: &str, case: &Stored, (repeat, tries): (u32, u32), history: &Path, twin: &TwinResult) -> CaseResult {
    let shown = history.display().to_string();
    let place = Place { run, case, repeat, attempt: tries, twin: false };
    let mut result = match read(history, &place, &case.expected) {
        Ok((judgement, elapsed_ms)) => {
            CaseResult { elapsed_ms, ..results::case(case, repeat, tries, &shown, &judgement) }
        }
        Err(error) => results::broken(case, repeat, tries, &shown, &error),
    };
    results::doubt(&mut result, twin);
    result
}

fn twin(records: &Records, run: &str, case: &Stored) -> TwinResult {
    let StoredTwin::Expected(expected) = &case.twin else {
        return results::twin_skipped(case);
    };
    let place = Place { run, case, repeat: 1, attempt: 1, twin: true };
    match read(&records.twin_history(&case.id), &place, expected) {
        Ok((judgement, _)) => results::twin(&judgement),
        Err(error) => TwinResult::Broke(format!("{error:#}")),
    }
}

/// The judgement of a stored history and how long the case took, ms.
fn read(history: &Path, place: &Place<'_>, expected: &Expected) -> anyhow::Result<(Judgement, u64)> {
    let mut found = reader::read(history)?;
    found.gap = found.gap.or_else(|| place.foreign(&found.entries));
    let elapsed_ms = found.entries.last().map_or(0, |entry| entry.at_us / 1000);
    Ok((checker::judge(&found.entries, found.gap.as_deref(), expected), elapsed_ms))
}

/// What a history has to be of, by the place where it was found.
struct Place<'a> {
    run: &'a str,
    case: &'a Stored,
    repeat: u32,
    attempt: u32,
    twin: bool,
}

impl Place<'_> {
    /// What a history says of itself that does not fit its place.
    fn foreign(&self, entries: &[Entry]) -> Option<String> {
        let Some(Event::Case { run, case, repeat, attempt, twin, operations, .. }) =
            entries.first().map(|it| &it.event)
        else {
            return None;
        };
        let id = self.case.id.to_string();
        let fits = *run == self.run
            && *case == id
            && (*repeat, *attempt, *twin) == (self.repeat, self.attempt, self.twin)
            && (*twin || *operations == self.case.operations);
        let kind = if *twin { "the twin of " } else { "" };
        (!fits).then(|| {
            format!(
                "it is the history of {kind}{}, repetition {repeat}, try {attempt}, of run {}",
                shown(case),
                shown(run)
            )
        })
    }
}

/// The last try of every repetition, in order.
fn last_tries(folder: &Path) -> Vec<LastTry> {
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
