//! Whether the history and the queue's own record tell the same story. The rules, per job:
//!
//! 1. Every entry into a handler follows a claim of its own: the claim numbers that the handlers saw are all different
//!    within one life of the job. A job that is removed and added again under its id counts from 1 again.
//! 2. Claims (`active` entries) = entries into a handler + claims that the queue failed itself, without a handler
//!    (over the stall limit: `active` is then followed by `failed` with the queue's own text).
//! 3. `attemptsStarted` of the job's record = claims; `stalledCounter` = `stalled` entries (of its last life).
//! 4. No more completions were accepted than the queue recorded.
//! 5. Every job id that a producer's call returned was added.
//! 6. The record has as many entries as the queue said it has.
//!
//! `active` entries and `attemptsStarted` alone are not executions (`bullmq-observed`, rule 7).

use std::collections::BTreeSet;

use crate::fault::Outcome;
use crate::history::{Event, Execution};

use super::facts::Facts;

/// Texts with which the queue fails a claimed job without running its handler (`bullmq-observed`, sections c and o).
const FAILED_BY_QUEUE: &[&str] = &["job stalled more than allowable limit", "job started more than allowable limit"];

/// The first disagreement, with both numbers.
pub fn check(facts: &Facts<'_>) -> Option<String> {
    let mut jobs: BTreeSet<&str> = facts.operation_of.keys().copied().collect();
    jobs.extend(facts.executions.iter().map(|execution| execution.job.as_str()));
    jobs.extend(facts.queue.iter().filter_map(|(_, entry)| entry.job.as_deref()));
    entries(facts).or_else(|| jobs.into_iter().find_map(|job| check_job(facts, job)))
}

fn entries(facts: &Facts<'_>) -> Option<String> {
    let said = facts.entries.iter().rev().find_map(|entry| match entry.event {
        Event::Synced { entries, .. } => Some(entries),
        _ => None,
    })?;
    let have = facts.queue.len() as u64;
    let ids: BTreeSet<&str> = facts.queue.iter().map(|(_, entry)| entry.id.as_str()).collect();
    if said != have || ids.len() as u64 != have {
        return Some(format!(
            "the queue's record has {said} entries, the history has {have} ({} different)",
            ids.len()
        ));
    }
    None
}

fn check_job(facts: &Facts<'_>, job: &str) -> Option<String> {
    let executions: Vec<&Execution> = facts.executions.iter().filter(|execution| execution.job == job).collect();
    let entered = executions.len() as u64;
    let claims = facts.count(job, "active");
    let by_queue = failed_by_queue(facts, job);
    if claims != entered + by_queue {
        return Some(format!(
            "job {job}: handlers were entered {entered} times, the queue's record has {claims} `active` entries of \
             which {by_queue} ran no handler"
        ));
    }
    let lives = facts.count(job, "added");
    if lives == 0 {
        return Some(format!("job {job}: a producer's call returned it, the queue's record does not have it"));
    }
    let same = |number: u32| executions.iter().filter(|execution| execution.attempts_started == number).count() as u64;
    if let Some(doubled) = executions.iter().find(|execution| same(execution.attempts_started) > lives) {
        let (number, times) = (doubled.attempts_started, same(doubled.attempts_started));
        return Some(format!("job {job}: claim {number} entered a handler {times} times, it was added {lives} times"));
    }
    if let Some(counters) = facts.jobs.get(job).and_then(|record| record.counters) {
        let claims = last_life(facts, job, "active");
        if u64::from(counters.attempts_started) != claims {
            let started = counters.attempts_started;
            return Some(format!("job {job}: attemptsStarted is {started}, the queue's record has {claims} `active`"));
        }
        let stalled = last_life(facts, job, "stalled");
        if u64::from(counters.stalled) != stalled {
            let counter = counters.stalled;
            return Some(format!("job {job}: stalledCounter is {counter}, the queue's record has {stalled} `stalled`"));
        }
    }
    let accepted = executions.iter().filter(|execution| execution.outcome == Some(Outcome::Completed)).count() as u64;
    let completed = facts.count(job, "completed");
    if accepted > completed {
        return Some(format!(
            "job {job}: {accepted} completions were accepted, the queue's record has {completed} `completed`"
        ));
    }
    None
}

/// How often an event stands in the queue's record since the job was last added.
fn last_life(facts: &Facts<'_>, job: &str, event: &str) -> u64 {
    facts.queue_of(job).fold(0, |count, (_, entry)| match entry.queue.as_str() {
        "added" => 0,
        other => count + u64::from(other == event),
    })
}

/// Claims of a job that the queue failed itself.
fn failed_by_queue(facts: &Facts<'_>, job: &str) -> u64 {
    let mut claimed = false;
    let mut count = 0;
    for (_, entry) in facts.queue_of(job) {
        let own_text = entry.reason.as_deref().is_some_and(|reason| FAILED_BY_QUEUE.contains(&reason));
        if claimed && entry.queue == "failed" && own_text {
            count += 1;
        }
        claimed = entry.queue == "active";
    }
    count
}
