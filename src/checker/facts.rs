//! A history, sorted for the checkers: executions, jobs and the queue's entries at hand. No judgement.

use std::collections::BTreeMap;

use crate::fault::JobRecord;
use crate::history::event::QueueEntryFields;
use crate::history::{Entry, Event, Execution, executions};

/// A history and its folds.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The lines.
    pub entries: &'a [Entry],
    /// The executions, in order of entry.
    pub executions: Vec<Execution>,
    /// The operation of each job id, as the producer's calls returned them.
    pub operation_of: BTreeMap<&'a str, &'a str>,
    /// The final records of the jobs.
    pub jobs: BTreeMap<&'a str, &'a JobRecord>,
    /// The queue's entries with the place of the line they stand on, whatever number the line claims.
    pub queue: Vec<(usize, &'a QueueEntryFields)>,
}

impl<'a> Facts<'a> {
    /// Sorts a history.
    pub fn of(entries: &'a [Entry]) -> Self {
        let mut facts = Self {
            entries,
            executions: executions::executions(entries),
            operation_of: BTreeMap::new(),
            jobs: BTreeMap::new(),
            queue: Vec::new(),
        };
        for (place, entry) in entries.iter().enumerate() {
            match &entry.event {
                Event::Submitted { operation, job: Some(job), .. } => {
                    facts.operation_of.insert(job, operation);
                }
                Event::Job { record } => {
                    facts.jobs.insert(&record.job, record);
                }
                Event::Queue { entry: fields } => facts.queue.push((place, fields)),
                _ => {}
            }
        }
        facts
    }

    /// The queue's entries about one job, in their order.
    pub fn queue_of(&self, job: &str) -> impl Iterator<Item = (usize, &'a QueueEntryFields)> {
        self.queue.iter().copied().filter(move |(_, entry)| entry.job.as_deref() == Some(job))
    }

    /// How often an event stands in the queue's record for one job.
    pub fn count(&self, job: &str, event: &str) -> u64 {
        self.queue_of(job).filter(|(_, entry)| entry.queue == event).count() as u64
    }

    /// The job ids that carried an operation, in the order of their ids' first return.
    pub fn jobs_of(&self, operation: &str) -> Vec<&'a str> {
        let mut jobs: Vec<&str> = Vec::new();
        for entry in self.entries {
            if let Event::Submitted { operation: submitted, job: Some(job), .. } = &entry.event
                && submitted == operation
                && !jobs.contains(&job.as_str())
            {
                jobs.push(job);
            }
        }
        jobs
    }

    /// The executions of an operation.
    pub fn executions_of(&self, operation: &str) -> impl Iterator<Item = &Execution> {
        self.executions.iter().filter(move |execution| execution.operation == operation)
    }
}
