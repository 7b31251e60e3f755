//! A scenario's words in the terms of the wall: how a worker is started, how a job is added.

use std::path::PathBuf;

use super::super::house::base_env;
use super::Stage;
use crate::fault::Protection;
use crate::protocol::{JobOptions, WorkerOptions, env};
use crate::scenario::model::{Backoff, Job, Worker};
use crate::subject::Spec;

impl Stage<'_> {
    /// How the worker's process is started.
    pub(super) fn worker_spec(&self, worker: &Worker) -> anyhow::Result<Spec> {
        let slot = &self.slot;
        let services = &self.house.services;
        let socket = self.house.switchboard.path();
        let mut variables = base_env(&self.house.run, "worker", socket, &services.redis.url);
        variables.extend([
            (env::CASE, slot.case.clone()),
            (env::WORKER, worker.name.clone()),
            (env::PROTECTION, self.run.protection.word().to_owned()),
            (env::QUEUE, slot.queue.clone()),
            (env::PREFIX, slot.prefix.clone()),
            (env::OPTIONS, serde_json::to_string(&worker_options(worker))?),
            (env::DATABASE_URL, services.postgres.subject_url(&slot.application, self.ledger.schema())),
        ]);
        variables.extend(self.run.defect.map(|defect| (env::DEFECT, defect.word().to_owned())));
        Ok(Spec {
            name: format!("worker {}", worker.name),
            program: self.house.program.clone(),
            args: vec!["worker".into()],
            env: variables,
            log: self.log(&worker.name),
            boot: super::ANSWER,
        })
    }

    /// Where a worker's output goes: beside its history.
    pub(super) fn log(&self, worker: &str) -> PathBuf {
        self.run.history.with_extension(format!("{worker}.log"))
    }

    /// How an operation's job is added.
    pub(super) fn job_options(&self, job: &Job) -> JobOptions {
        let derived = || (self.run.protection == Protection::JobId).then(|| derived_id(&job.operation));
        let (fixed, exponential) = match job.backoff {
            None => (None, None),
            Some(Backoff::Fixed(ms)) => (Some(ms), None),
            Some(Backoff::Exponential(ms)) => (None, Some(ms)),
        };
        JobOptions {
            attempts: job.attempts,
            backoff_fixed_ms: fixed,
            backoff_exponential_ms: exponential,
            id: job.id.clone().or_else(derived),
            dedup_id: job.dedup.as_ref().map(|dedup| dedup.id.clone()),
            dedup_ttl_ms: job.dedup.as_ref().and_then(|dedup| dedup.ttl_ms),
            delay_ms: job.delay_ms,
            priority: job.priority,
            remove_on_complete: job.remove_on_complete,
            remove_on_fail: job.remove_on_fail,
        }
    }
}

fn worker_options(worker: &Worker) -> WorkerOptions {
    WorkerOptions {
        lock_ms: worker.lock_ms,
        stalled_interval_ms: worker.stalled_interval_ms,
        check: worker.check,
        fetch: worker.fetch,
        renew: worker.renew,
        max_stalled: worker.max_stalled,
        retry_delay_ms: worker.retry_delay_ms,
        concurrency: worker.concurrency,
        progress_ms: worker.progress_ms,
    }
}

/// The deterministic job id of an operation: `op-` and the operation, `%` and `:` percent-encoded. The queue refuses
/// `:` in ids, and ids of digits only (`bullmq-observed`, section f).
fn derived_id(operation: &str) -> String {
    format!("op-{}", operation.replace('%', "%25").replace(':', "%3A"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn different_operations_have_different_job_ids_without_a_colon() {
        let table = [("credit-482", "op-credit-482"), ("a:b", "op-a%3Ab"), ("a%3Ab", "op-a%253Ab"), ("12", "op-12")];
        for (operation, id) in table {
            assert_eq!(super::derived_id(operation), id);
        }
    }
}
