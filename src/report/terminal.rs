//! Results as a person reads them: one table per scenario in 100 columns, every difference beneath it, one summary.

use std::collections::BTreeMap;
use std::fmt::Write;

use anstyle::Style;

use super::paint::{self, paint};
use crate::outcome::result::plain;
use crate::outcome::{CaseResult, OperationResult, Tally, TwinResult, Verdict};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Only what does not match.
    Quiet,
    /// Every case.
    Normal,
    /// Every case with every column.
    Verbose,
}

/// Width of the first column.
const LABEL: usize = 24;
/// The widest line.
const WIDTH: usize = 100;
/// What the columns before the last leave to the verdict.
const VERDICT: usize = WIDTH - LABEL - 56;

/// The repetitions of one case.
#[derive(Debug, Clone)]
pub struct Row {
    /// How the repetitions ended.
    pub tally: Tally,
    /// The first repetition, or the first that does not match.
    pub shown: CaseResult,
    /// The picture of its history, shown with every column.
    pub timeline: Option<String>,
}

impl Row {
    /// The row of a first result.
    pub fn new(result: CaseResult) -> Self {
        let mut tally = Tally::default();
        tally.add(result.verdict);
        Self { tally, shown: result, timeline: None }
    }

    /// Takes one more repetition into account.
    pub fn add(&mut self, result: CaseResult) {
        self.tally.add(result.verdict);
        if self.shown.verdict == Verdict::Match && result.verdict != Verdict::Match {
            self.shown = result;
        }
    }
}

/// The block of one scenario; empty if there is nothing to show.
pub fn scenario(title: &str, rows: &[Row], detail: Detail) -> String {
    let shown: Vec<&Row> =
        rows.iter().filter(|row| detail != Detail::Quiet || row.tally.matched != row.tally.cases).collect();
    let Some(first) = shown.first() else {
        return String::new();
    };
    let name = &first.shown.scenario;
    let mut block = format!("{}  {}\n", paint(paint::NAME, name), clip(title, WIDTH - name.chars().count() - 2));
    let head = format!(
        "  {:LABEL$}  {:^19}   {:^19}  {:>7}\n  {:LABEL$}  {:>8}  {:>9}   {:>8}  {:>9}  {:>7}  {}",
        "", "executions", "effects", "other", "", "expected", "observed", "expected", "observed", "columns", "verdict"
    );
    for line in head.lines() {
        let _ = writeln!(block, "{}", paint(paint::QUIET, line.trim_end()));
    }
    let many_engines = rows.iter().any(|row| row.shown.engine != first.shown.engine);
    for row in &shown {
        case_lines(&mut block, row, many_engines);
    }
    for row in &shown {
        if detail == Detail::Verbose {
            columns(&mut block, &row.shown);
            for line in row.timeline.iter().flat_map(|timeline| timeline.lines()) {
                let _ = writeln!(block, "{line}");
            }
        }
        if row.shown.verdict != Verdict::Match {
            trouble(&mut block, &row.shown);
        }
    }
    block
}

fn case_lines(block: &mut String, row: &Row, many_engines: bool) {
    let result = &row.shown;
    let mut name = result.protection.clone();
    if many_engines {
        let _ = write!(name, " {}", result.engine);
    }
    // A long variant gives way, not what it is the variant of.
    let label = match &result.variant {
        Some(variant) => format!("{} {name}", clip(variant, LABEL.saturating_sub(name.chars().count() + 1))),
        None => name,
    };
    if result.operations.is_empty() {
        let _ = writeln!(block, "  {:LABEL$}  {:50}  {}", clip(&label, LABEL), "", verdict(row));
    }
    for (index, operation) in result.operations.iter().enumerate() {
        let (label, verdict) = match (index, result.operations.len()) {
            (0, 1) => (label.clone(), verdict(row)),
            (0, _) => {
                let _ = writeln!(block, "  {:LABEL$}  {:50}  {}", clip(&label, LABEL), "", verdict(row));
                (format!("  {}", operation.operation), String::new())
            }
            _ => (format!("  {}", operation.operation), String::new()),
        };
        let (executions, effects) = (pair(operation, "executions"), pair(operation, "effects"));
        let line =
            format!("  {:LABEL$}  {executions}   {effects}  {:>7}  {verdict}", clip(&label, LABEL), others(operation));
        let _ = writeln!(block, "{}", line.trim_end());
    }
}

/// Expected and observed of a leading column, side by side.
fn pair(operation: &OperationResult, column: &str) -> String {
    let Some(cell) = operation.cell(column) else {
        return format!("{:8}  {:9}", "", "");
    };
    let expected = cell.expected.as_ref().map_or_else(|| "·".to_owned(), plain);
    let observed = format!("{:>9}", plain(&cell.observed));
    let observed = if cell.holds { observed } else { paint(paint::BAD, observed) };
    format!("{expected:>8}  {observed}")
}

/// How many of the other stated columns hold.
fn others(operation: &OperationResult) -> String {
    let others = operation.cells.iter().filter(|cell| !matches!(cell.column.as_str(), "executions" | "effects"));
    let stated: Vec<bool> = others.filter(|cell| cell.expected.is_some()).map(|cell| cell.holds).collect();
    format!("{}/{}", stated.iter().filter(|holds| **holds).count(), stated.len())
}

fn verdict(row: &Row) -> String {
    let result = &row.shown;
    let mut text = result.verdict.word().to_owned();
    if let Some(reason) = result.verdict.reason() {
        text = reason.word().to_owned();
    }
    if row.tally.cases > 1 {
        text = format!("{}/{} match", row.tally.matched, row.tally.cases);
    }
    let style = paint::verdict(result.verdict);
    let took = format!(" {} ms", result.elapsed_ms);
    let fits = row.tally.cases == 1 && text.len() + took.len() <= VERDICT;
    let took = if fits { took } else { String::new() };
    format!("{}{}", paint(style, text), paint(paint::QUIET, took))
}

/// Every column of every operation, one line each where something is stated or was seen.
fn columns(block: &mut String, result: &CaseResult) {
    for operation in &result.operations {
        let variant = result.variant.iter().map(|variant| format!("{variant} ")).collect::<String>();
        let _ = writeln!(block, "    {variant}{} {}", result.protection, operation.operation);
        for cell in &operation.cells {
            let expected = cell.expected.as_ref().map_or_else(|| "not stated".to_owned(), plain);
            let line = format!("      {:24} observed {:16} expected {expected}", cell.column, plain(&cell.observed));
            let _ = writeln!(block, "{}", if cell.holds { line } else { paint(paint::BAD, line) });
        }
        let _ = writeln!(block, "      {:24} {}", "job ids", operation.job_ids.join(" "));
    }
    let twin = match &result.twin {
        TwinResult::Matched => "matched".to_owned(),
        TwinResult::Differs(because) => format!("differs: {because}"),
        TwinResult::Broke(because) => format!("broke: {because}"),
        TwinResult::Skipped(why) => format!("skipped: {why}"),
    };
    for (index, line) in wrapped(&twin, WIDTH - 31).iter().enumerate() {
        let _ = writeln!(block, "      {:24} {line}", if index == 0 { "fault-free twin" } else { "" });
    }
}

/// What is wrong with a case, where the evidence is, and how to see it again.
fn trouble(block: &mut String, result: &CaseResult) {
    let _ = writeln!(block, "  {} {}", paint(paint::verdict(result.verdict), result.verdict.word()), result.case);
    if result.repeat > 1 || result.tries > 1 {
        let _ = writeln!(block, "    {:9} {}, try {}", "repeat", result.repeat, result.tries);
    }
    if result.verdict == Verdict::Mismatch {
        for (operation, cell) in result.differences() {
            let expected = cell.expected.as_ref().map_or_else(|| "-".to_owned(), plain);
            let line = format!(
                "{} of {}: expected {expected}, observed {}",
                cell.column,
                operation.operation,
                plain(&cell.observed)
            );
            told(block, "cell", &line, paint::BAD);
        }
    }
    if let Some(because) = &result.because {
        told(block, "because", because, Style::new());
    }
    let anomalies: BTreeMap<&str, &str> = result
        .operations
        .iter()
        .filter_map(|operation| Some((operation.operation.as_str(), operation.anomaly.as_deref()?)))
        .collect();
    for (operation, anomaly) in anomalies {
        let _ = writeln!(block, "    {:9} {anomaly} ({operation})", "anomaly");
    }
    if !result.history.is_empty() {
        let _ = writeln!(block, "    {:9} {}", "history", result.history);
    }
    let _ = writeln!(block, "    {:9} {}", "again", result.repro);
}

/// A text under a label, in as many lines as it needs.
fn told(block: &mut String, label: &str, text: &str, style: Style) {
    for (index, line) in wrapped(text, WIDTH - 14).iter().enumerate() {
        let _ = writeln!(block, "    {:9} {}", if index == 0 { label } else { "" }, paint(style, line));
    }
}

/// The lines of a text, the long ones broken between words. A word that is wider than a line stays whole: it may be a
/// path that somebody copies.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut rest = String::new();
        for word in line.split_inclusive(' ') {
            let fits = rest.chars().count() + word.trim_end().chars().count() <= width;
            if !fits && !rest.trim().is_empty() {
                lines.push(std::mem::take(&mut rest).trim_end().to_owned());
            }
            rest.push_str(word);
        }
        lines.push(rest.trim_end().to_owned());
    }
    lines
}

/// Cases from which on the slowest are told.
const MANY: usize = 20;
/// How many of them.
const SLOWEST: usize = 10;

/// The slowest cases of a large run; empty for a small one.
pub fn slowest<'a>(results: impl Iterator<Item = &'a CaseResult>) -> String {
    let mut results: Vec<&CaseResult> = results.collect();
    if results.len() < MANY {
        return String::new();
    }
    results.sort_by_key(|result| std::cmp::Reverse(result.elapsed_ms));
    let name = |result: &CaseResult| {
        let variant = result.variant.iter().map(|variant| format!("/{variant}")).collect::<String>();
        format!(
            "{}{variant}/{} {}.{} s",
            result.scenario,
            result.protection,
            result.elapsed_ms / 1000,
            result.elapsed_ms % 1000 / 100
        )
    };
    let list = results.into_iter().take(SLOWEST).map(name).collect::<Vec<_>>().join(", ");
    let mut block = String::new();
    for (index, line) in wrapped(&list, WIDTH - 9).iter().enumerate() {
        let _ =
            writeln!(block, "{}", paint(paint::QUIET, format!("{:9}{line}", if index == 0 { "slowest" } else { "" })));
    }
    block
}

/// The last lines of a run.
pub fn summary(tally: &Tally, twins: u64, elapsed_ms: u64, records: &str) -> String {
    let mut parts = vec![paint(paint::GOOD, format!("{} matched", tally.matched))];
    for (count, word, style) in [
        (tally.mismatched, "mismatched", paint::BAD),
        (tally.errors, "broken", paint::BAD),
        (tally.inconclusive, "inconclusive", paint::DOUBT),
        (tally.skipped, "skipped", paint::DOUBT),
    ] {
        if count > 0 {
            parts.push(paint(style, format!("{count} {word}")));
        }
    }
    let cases = if tally.cases == 1 { "case" } else { "cases" };
    let twins = if twins == 1 { "1 twin".to_owned() } else { format!("{twins} twins") };
    let seconds = format!("{}.{:02} s", elapsed_ms / 1000, elapsed_ms % 1000 / 10);
    let counts = format!("{} {cases}: {} · {twins} · {seconds}", tally.cases, parts.join(", "));
    let records = format!("records in {records}");
    let wide = anstream::adapter::strip_str(&counts).to_string().chars().count() + 3 + records.chars().count() > WIDTH;
    format!("{counts}{}{records}\n", if wide { "\n" } else { " · " })
}

/// At most so many characters.
fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
