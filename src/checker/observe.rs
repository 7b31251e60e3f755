//! What a history shows for one operation: every column, also those that no row states.

use crate::fault::{JobCounters, Outcome};
use crate::history::executions::overlap;
use crate::history::{Entry, Event};
use crate::scenario::{Column, Columns, Value};

use super::facts::Facts;

/// Every column of one operation.
pub fn observe(facts: &Facts<'_>, operation: &str) -> Columns {
    Column::ALL.iter().map(|column| (*column, cell(facts, operation, *column))).collect()
}

fn cell(facts: &Facts<'_>, operation: &str, column: Column) -> Value {
    let executions = || facts.executions_of(operation);
    match column {
        Column::Executions => Value::Count(executions().count() as u64),
        Column::Effects => effect(facts, operation).map_or(Value::Missing, |(effects, _)| Value::Count(effects)),
        Column::Partial => effect(facts, operation).map_or(Value::Missing, |(_, partial)| Value::Count(partial)),
        Column::Stalled => {
            Value::Count(facts.jobs_of(operation).iter().map(|job| facts.count(job, "stalled")).sum::<u64>())
        }
        Column::AttemptsMade => {
            Value::List(executions().map(|execution| Value::Count(execution.attempts_made.into())).collect())
        }
        Column::FinalAttemptsMade => counter(facts, operation, |counters| counters.attempts_made),
        Column::FinalAttemptsStarted => counter(facts, operation, |counters| counters.attempts_started),
        Column::FinalStalled => counter(facts, operation, |counters| counters.stalled),
        Column::State => {
            let jobs = facts.jobs_of(operation);
            let states = jobs.iter().filter_map(|job| facts.jobs.get(job));
            Value::agreed(states.map(|record| Value::Text(record.state.clone())).collect())
        }
        Column::DistinctJobs => Value::Count(facts.jobs_of(operation).len() as u64),
        Column::RefusedAcks => {
            Value::Count(executions().filter(|execution| execution.outcome == Some(Outcome::Refused)).count() as u64)
        }
        Column::FailedReason => {
            let jobs = facts.jobs_of(operation);
            let reason = |job: &&str| facts.jobs.get(job)?.failed_reason.clone();
            Value::agreed(jobs.iter().map(|job| reason(job).map_or(Value::Missing, Value::Text)).collect())
        }
        Column::RefusedAdds => Value::List(refused_adds(facts, operation)),
        Column::Overlap => Value::Count(overlap(executions())),
    }
}

/// What the producer's calls for the operation were refused with, in order.
fn refused_adds(facts: &Facts<'_>, operation: &str) -> Vec<Value> {
    let refused = |entry: &Entry| match &entry.event {
        Event::Submitted { operation: submitted, error: Some(error), .. } if submitted == operation => {
            Some(Value::Text(error.clone()))
        }
        _ => None,
    };
    facts.entries.iter().filter_map(refused).collect()
}

/// Effects and partial effects as the lab read them.
fn effect(facts: &Facts<'_>, operation: &str) -> Option<(u64, u64)> {
    facts.entries.iter().find_map(|entry| match &entry.event {
        Event::Effect { operation: read, effects, partial } if read == operation => Some((*effects, *partial)),
        _ => None,
    })
}

/// A counter of the operation's job records; a job whose record is gone has none.
fn counter(facts: &Facts<'_>, operation: &str, pick: impl Fn(&JobCounters) -> u32) -> Value {
    let jobs = facts.jobs_of(operation);
    let records = jobs.iter().filter_map(|job| facts.jobs.get(job));
    let value = |counters: &JobCounters| Value::Count(pick(counters).into());
    Value::agreed(records.map(|record| record.counters.as_ref().map_or(Value::Missing, value)).collect())
}
