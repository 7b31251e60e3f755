//! From a history and a table to a verdict.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::event::FaultText;
use crate::history::{Entry, Event};
use crate::outcome::{Reason, Verdict};
use crate::scenario::{Column, Columns, Value};

use super::facts::Facts;
use super::{anomaly, fired, observe, records};

/// The table of one case: the stated columns of each operation.
pub type Expected = BTreeMap<String, Columns>;

/// A cell that is not as stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The operation.
    pub operation: String,
    /// The column.
    pub column: Column,
    /// What the table states.
    pub expected: Value,
    /// What the history shows.
    pub observed: Value,
}

/// What a history says about a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is inconclusive: the evidence, in a sentence.
    pub because: Option<String>,
    /// Every column of each operation.
    pub observed: BTreeMap<String, Columns>,
    /// Every cell that is not as stated.
    pub differences: Vec<Difference>,
    /// A name for what happened to each operation that has one.
    pub anomalies: BTreeMap<String, String>,
    /// The job ids of each operation.
    pub job_ids: BTreeMap<String, Vec<String>>,
}

/// Judges a history. `gap` is what is wrong with it as a record; `None` for one that was recorded just now.
pub fn judge(entries: &[Entry], gap: Option<&str>, expected: &Expected) -> Judgement {
    let facts = Facts::of(entries);
    // Also what no row is about is shown: it may be what somebody is looking for.
    let operations: BTreeSet<&String> = expected.keys().chain(stated(&facts)).collect();
    let observed: BTreeMap<String, Columns> =
        operations.iter().map(|operation| ((*operation).clone(), observe::observe(&facts, operation))).collect();
    let differences = differences(expected, &observed);
    let doubt = doubt(&facts, gap);
    let verdict = match (&doubt, differences.is_empty()) {
        (Some((reason, _)), _) => Verdict::Inconclusive(*reason),
        (None, true) => Verdict::Match,
        (None, false) => Verdict::Mismatch,
    };
    let named = |(operation, columns): (&String, &Columns)| Some((operation.clone(), anomaly::name(columns)?));
    let ids = |operation: &String| facts.jobs_of(operation).into_iter().map(str::to_owned).collect();
    Judgement {
        verdict,
        because: doubt.map(|(_, because)| because),
        anomalies: observed.iter().filter_map(named).collect(),
        job_ids: operations.iter().map(|operation| ((*operation).clone(), ids(operation))).collect(),
        observed,
        differences,
    }
}

/// Why the history proves nothing: the first reason in the order of what explains the others.
fn doubt(facts: &Facts<'_>, gap: Option<&str>) -> Option<(Reason, String)> {
    died_unasked(facts)
        .or_else(|| fired::check(facts, faults(facts)).filter(|(reason, _)| *reason == Reason::EarlyStall))
        .or_else(|| deadline(facts))
        .or_else(|| cut(facts, gap))
        .or_else(|| fired::check(facts, faults(facts)))
        .or_else(|| records::check(facts).map(|text| (Reason::RecordsDisagree, text)))
        .or_else(|| gap.map(|text| (Reason::HistoryGap, text.to_owned())))
        .or_else(|| incomplete(facts))
}

/// The operations that the case says it has.
fn stated<'a>(facts: &Facts<'a>) -> &'a [String] {
    match facts.entries.first().map(|entry| &entry.event) {
        Some(Event::Case { operations, .. }) => operations,
        _ => &[],
    }
}

fn faults<'a>(facts: &Facts<'a>) -> &'a [FaultText] {
    match facts.entries.first().map(|entry| &entry.event) {
        Some(Event::Case { faults, .. }) => faults,
        _ => &[],
    }
}

fn died_unasked(facts: &Facts<'_>) -> Option<(Reason, String)> {
    facts.entries.iter().find_map(|entry| match &entry.event {
        Event::Exited { worker, status, asked: false } => {
            Some((Reason::SubjectDiedUnasked, format!("worker {worker} ended with `{status}`, no fault asked for it")))
        }
        _ => None,
    })
}

fn deadline(facts: &Facts<'_>) -> Option<(Reason, String)> {
    facts.entries.iter().find_map(|entry| match &entry.event {
        Event::End { missing: Some(missing) } => {
            let seconds = entry.at_us / 1_000_000;
            Some((Reason::Deadline, format!("still waiting after {seconds} s for {missing}")))
        }
        _ => None,
    })
}

/// What is absent from a record that breaks off cannot be held against a fault or the queue.
fn cut(facts: &Facts<'_>, gap: Option<&str>) -> Option<(Reason, String)> {
    let whole = facts.entries.last().is_some_and(|entry| entry.event == Event::Closed);
    gap.filter(|_| !whole).map(|text| (Reason::HistoryGap, text.to_owned()))
}

/// A history without its end proves nothing, whatever its lines say.
fn incomplete(facts: &Facts<'_>) -> Option<(Reason, String)> {
    let has = |wanted: fn(&Event) -> bool| facts.entries.iter().any(|entry| wanted(&entry.event));
    let missing = if !has(|event| matches!(event, Event::Case { .. })) {
        "its first line"
    } else if !has(|event| matches!(event, Event::End { .. })) {
        "the end of the script"
    } else {
        return effects_missing(facts);
    };
    Some((Reason::HistoryGap, format!("the history lacks {missing}")))
}

/// Every operation has its effects read once.
fn effects_missing(facts: &Facts<'_>) -> Option<(Reason, String)> {
    let Some(Event::Case { operations, .. }) = facts.entries.first().map(|entry| &entry.event) else {
        return None;
    };
    let read = |operation: &String| {
        let of = |entry: &&Entry| matches!(&entry.event, Event::Effect { operation: read, .. } if read == operation);
        facts.entries.iter().filter(of).count()
    };
    let operation = operations.iter().find(|operation| read(operation) != 1)?;
    Some((
        Reason::HistoryGap,
        format!("the effects of {operation} were read {} times instead of once", read(operation)),
    ))
}

fn differences(expected: &Expected, observed: &BTreeMap<String, Columns>) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (operation, columns) in expected {
        for (column, wanted) in columns {
            let seen = observed.get(operation).and_then(|seen| seen.get(column)).unwrap_or(&Value::Missing);
            if !wanted.holds(seen) {
                differences.push(Difference {
                    operation: operation.clone(),
                    column: *column,
                    expected: wanted.clone(),
                    observed: seen.clone(),
                });
            }
        }
    }
    differences
}
