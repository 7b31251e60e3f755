//! The jobs of a case as they are known from the producer's calls and the queue's own record.

use std::collections::BTreeMap;

use crate::fault::QueueEntry;

/// The entries that say where a job is. Others, such as `progress` or `duplicated`, may come after its end.
const STATES: &[&str] =
    &["added", "waiting", "delayed", "waiting-children", "active", "stalled", "completed", "failed", "removed"];

/// One job.
#[derive(Debug, Default)]
struct Known {
    operation: Option<String>,
    /// The last thing that the queue's record said of it.
    last: Option<String>,
    /// Entries that came before the producer's call returned the id.
    early: Vec<QueueEntry>,
}

/// The jobs of a case.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    known: BTreeMap<String, Known>,
}

impl Jobs {
    /// The producer's call returned this id: the entries that had to wait for its operation.
    pub(super) fn learn(&mut self, job: &str, operation: &str) -> Vec<QueueEntry> {
        let known = self.known.entry(job.to_owned()).or_default();
        known.operation.get_or_insert_with(|| operation.to_owned());
        std::mem::take(&mut known.early)
    }

    /// The queue's record has a new entry. Gives it back with its operation, or keeps it until that is known.
    pub(super) fn track(&mut self, entry: QueueEntry) -> Option<(QueueEntry, String)> {
        let known = self.known.entry(entry.job.clone()?).or_default();
        if STATES.contains(&entry.event.as_str()) {
            known.last = Some(entry.event.clone());
        }
        match &known.operation {
            Some(operation) => Some((entry, operation.clone())),
            None => {
                known.early.push(entry);
                None
            }
        }
    }

    /// Every id.
    pub(super) fn ids(&self) -> Vec<String> {
        self.known.keys().cloned().collect()
    }

    /// The first job that is neither final nor gone.
    pub(super) fn missing(&self) -> Option<String> {
        let is_over = |last: Option<&str>| matches!(last, Some("completed" | "failed" | "removed"));
        let (job, known) = self.known.iter().find(|(_, known)| !is_over(known.last.as_deref()))?;
        let operation = known.operation.as_deref().unwrap_or("an unknown operation");
        let last = match &known.last {
            Some(last) => format!("the queue's last word on it is `{last}`"),
            None => "the queue's record does not have it".to_owned(),
        };
        Some(format!("job {job} ({operation}) to be final; {last}"))
    }
}
