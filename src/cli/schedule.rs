//! Which case is at play when: all at once up to a limit, each case's twin once per run, an early stall tried again.

use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc, watch};

use super::records::{Records, Stored, StoredTwin};
use super::results;
use crate::checker;
use crate::outcome::{CaseResult, Reason, TwinResult, Verdict};
use crate::plan::Case;
use crate::runner::{self, CaseRun, House};
use crate::scenario::model::Twin;

/// How often a case is tried after an early stall, in all.
const TRIES: u32 = 3;

/// Something that is finished.
#[derive(Debug)]
pub(super) enum Done {
    /// The twin of the case with this place in the plan.
    Twin(usize, TwinResult),
    /// A repetition of the case with this place in the plan.
    Case(usize, Box<CaseResult>),
}

/// What every task of the schedule shares.
pub(super) struct Schedule {
    pub(super) house: Rc<House>,
    pub(super) cases: Vec<Case>,
    pub(super) stored: Vec<Stored>,
    pub(super) records: Records,
    pub(super) repeat: u32,
    pub(super) jobs: usize,
}

impl Schedule {
    /// Plays everything; each result goes to `done` when it is there.
    ///
    /// Dropping the future ends every case where it is and kills its workers.
    pub(super) async fn play(self: Rc<Self>, done: mpsc::UnboundedSender<Done>) {
        let places = Arc::new(Semaphore::new(self.jobs));
        let mut tasks = tokio::task::JoinSet::new();
        let (senders, twins): (Vec<_>, Vec<_>) = self.cases.iter().map(|_| watch::channel(None)).unzip();
        for (index, sender) in senders.into_iter().enumerate() {
            let (schedule, places, done) = (self.clone(), places.clone(), done.clone());
            tasks.spawn_local(async move {
                let _place = places.acquire().await;
                let result = schedule.twin(index).await;
                let _ = done.send(Done::Twin(index, result.clone()));
                let _ = sender.send(Some(result));
            });
        }
        // A place is taken before a task is made: ten thousand repetitions must not be ten thousand tasks.
        for repeat in 1..=self.repeat {
            for (index, twin) in twins.iter().enumerate() {
                let Ok(place) = places.clone().acquire_owned().await else {
                    return;
                };
                let (schedule, mut twin, done) = (self.clone(), twin.clone(), done.clone());
                tasks.spawn_local(async move {
                    let mut result = schedule.case(index, repeat).await;
                    drop(place);
                    if let Ok(twin) = twin.wait_for(Option::is_some).await
                        && let Some(twin) = twin.as_ref()
                    {
                        results::doubt(&mut result, twin);
                    }
                    let _ = done.send(Done::Case(index, Box::new(result)));
                });
                while tasks.try_join_next().is_some() {}
            }
        }
        while tasks.join_next().await.is_some() {}
    }

    async fn twin(&self, index: usize) -> TwinResult {
        let case = &self.cases[index];
        let (Twin::Run { script, .. }, StoredTwin::Expected(expected)) = (&case.script.twin, &self.stored[index].twin)
        else {
            return results::twin_skipped(&self.stored[index]);
        };
        let history = self.records.twin_history(&case.id);
        let run = CaseRun { twin: true, ..CaseRun::of(case, script, history) };
        match runner::run(&self.house, &run).await {
            Ok(finished) => results::twin(&checker::judge(&finished.entries, None, expected)),
            Err(error) => TwinResult::Broke(format!("{error:#}")),
        }
    }

    async fn case(&self, index: usize, repeat: u32) -> CaseResult {
        let (case, stored) = (&self.cases[index], &self.stored[index]);
        let mut tries = 1;
        loop {
            let history = self.records.history(&case.id, repeat, tries);
            let shown = history.display().to_string();
            let run = CaseRun { repeat, attempt: tries, ..CaseRun::of(case, &case.script, history) };
            let finished = match runner::run(&self.house, &run).await {
                Ok(finished) => finished,
                Err(error) => return results::broken(stored, repeat, tries, &shown, &error),
            };
            let judgement = checker::judge(&finished.entries, None, &stored.expected);
            let early = judgement.verdict == Verdict::Inconclusive(Reason::EarlyStall);
            if !early || tries == TRIES {
                let result = results::case(stored, repeat, tries, &shown, &judgement);
                return CaseResult { elapsed_ms: finished.elapsed_ms, ..result };
            }
            tries += 1;
        }
    }
}
