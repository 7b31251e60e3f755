//! A case while it plays: what is known of its workers and jobs, and what is still missing.
//!
//! Everything outside arrives as one [`Input`]; `react` says what is done about it, `orders` does it. Every wait is bounded and knows
//! what it waits for.

mod jobs;
mod options;
mod orders;
mod react;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::case::CaseRun;
use super::house::{House, Slot};
use crate::effect::Ledger;
use crate::fault::Point;
use crate::history::{Event, Execution, Recorder, executions};
use crate::nemesis::{Gate, Nemesis};
use crate::protocol::{FromSubject, ToSubject};
use crate::subject::{Seen, Subject};
use jobs::Jobs;

/// How long an answer of the inspector, a start or a confirmed death may take.
const ANSWER: Duration = Duration::from_secs(30);

/// Anything that arrives from outside.
#[derive(Debug)]
pub(super) enum Input {
    /// Seen of a worker.
    Worker(String, Seen),
    /// Said by the inspector about this case.
    Inspector(FromSubject),
    /// The inspector is of no use any more.
    InspectorBroke(String),
    /// A worker's grace period is over.
    KillDue(String),
    /// The time after the end's condition is over.
    EndDelayPassed,
}

/// Where a worker is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Booting,
    Ready,
    Started,
    /// A kill is on its way: it is told nothing more.
    Dying,
    Dead,
}

/// A worker of the case.
#[derive(Debug)]
struct Cast {
    subject: Subject,
    gate: Option<Gate>,
    life: Life,
    /// Whether the lab wanted its death: by a fault or at the end.
    asked: bool,
    /// Whether it was sent SIGSTOP and no SIGCONT since.
    stopped: bool,
}

/// Questions to the inspector that are not answered yet.
#[derive(Debug, Default)]
struct Asked {
    open: bool,
    submits: u32,
    state: bool,
}

/// One case at play.
pub(super) struct Stage<'a> {
    pub(super) house: &'a House,
    pub(super) slot: Slot,
    pub(super) history: Recorder,
    pub(super) ledger: Ledger,
    run: &'a CaseRun<'a>,
    sender: mpsc::UnboundedSender<Input>,
    inputs: mpsc::UnboundedReceiver<Input>,
    workers: BTreeMap<String, Cast>,
    nemesis: Nemesis,
    jobs: Jobs,
    executions: Vec<Execution>,
    /// Handlers that wait for an answer, and where.
    parked: BTreeMap<(String, u32), Point>,
    end: Option<Gate>,
    /// Whether the end's condition holds, its time after it included.
    end_passed: bool,
    asked: Asked,
    /// What each unanswered question for the queue's record is for: a confirmed death that is announced with the answer,
    /// or just to know that nothing is missing.
    syncs: VecDeque<Option<String>>,
    /// The case cannot go on; it is not the lab's fault.
    aborted: bool,
    /// The script is over: nothing strikes or starts any more.
    over: bool,
    /// The case cannot go on; no verdict is possible.
    failure: Option<anyhow::Error>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        house: &'a House,
        run: &'a CaseRun<'a>,
        slot: Slot,
        history: Recorder,
        ledger: Ledger,
        (sender, inputs): (mpsc::UnboundedSender<Input>, mpsc::UnboundedReceiver<Input>),
    ) -> Self {
        Self {
            house,
            slot,
            history,
            ledger,
            run,
            sender,
            inputs,
            workers: BTreeMap::new(),
            nemesis: Nemesis::new(&run.script.faults),
            jobs: Jobs::default(),
            executions: Vec::new(),
            parked: BTreeMap::new(),
            end: run.script.end.clone().map(Gate::new),
            end_passed: false,
            asked: Asked { open: true, ..Asked::default() },
            syncs: VecDeque::new(),
            aborted: false,
            over: false,
            failure: None,
        }
    }

    /// Starts every worker process and waits until each is connected to everything.
    pub(super) async fn boot_workers(&mut self) -> anyhow::Result<()> {
        for worker in &self.run.script.workers {
            let sender = self.sender.clone();
            let name = worker.name.clone();
            let sink = move |seen| drop(sender.send(Input::Worker(name.clone(), seen)));
            let subject =
                Subject::launch(&self.house.spawner, &self.house.switchboard, self.worker_spec(worker)?, sink).await?;
            let gate = worker.start.clone().map(Gate::new);
            self.workers
                .insert(worker.name.clone(), Cast { subject, gate, life: Life::Booting, asked: false, stopped: false });
        }
        self.demand(|stage| {
            let booting = stage.workers.iter().find(|(_, cast)| cast.life == Life::Booting);
            booting.map(|(name, _)| format!("worker {name} to be ready"))
        })
        .await
    }

    /// Adds the jobs, one after the other.
    pub(super) async fn submit_jobs(&mut self) -> anyhow::Result<()> {
        self.demand(|stage| stage.asked.open.then(|| "the inspector to open the queue".to_owned())).await?;
        for job in &self.run.script.jobs {
            self.submit(&job.operation);
            self.demand(|stage| (stage.asked.submits > 0).then(|| "the producer's call to return".to_owned())).await?;
        }
        Ok(())
    }

    /// Lets the workers begin that wait for nothing.
    pub(super) fn open_gates(&mut self) {
        let free: Vec<String> =
            self.workers.iter().filter(|(_, cast)| cast.gate.is_none()).map(|(name, _)| name.clone()).collect();
        for name in free {
            self.start(&name);
        }
    }

    /// Plays the script until nothing is missing or its bound has passed.
    pub(super) async fn play(&mut self) -> anyhow::Result<()> {
        let bound = Instant::now() + Duration::from_millis(self.run.script.within_ms);
        let missing = self.wait(bound, Self::missing).await?;
        self.record(Event::End { missing });
        self.over = true;
        Ok(())
    }

    /// Kills every worker that lives and waits until each is dead and none of their backends is left.
    pub(super) async fn silence(&mut self) -> anyhow::Result<()> {
        let living: Vec<String> =
            self.workers.iter().filter(|(_, cast)| cast.life != Life::Dead).map(|(name, _)| name.clone()).collect();
        for name in living {
            self.kill(&name);
        }
        let alive = |stage: &Self| {
            let alive = stage.workers.iter().find(|(_, cast)| cast.life != Life::Dead);
            alive.map(|(name, _)| format!("worker {name} to be dead after SIGKILL"))
        };
        // An earlier failure has been reported; this must go on to its end all the same.
        (self.failure, self.over) = (None, true);
        let bound = Instant::now() + ANSWER;
        while let Some(what) = alive(self) {
            match timeout_at(bound, self.inputs.recv()).await {
                Ok(Some(input)) => self.react(input),
                _ => anyhow::bail!("waited {ANSWER:?} for {what}"),
            }
        }
        self.ledger.wait_for_backends(&self.slot.application).await
    }

    /// Reads what is true now that nothing moves.
    pub(super) async fn read_truth(&mut self) -> anyhow::Result<()> {
        self.sync(None);
        self.demand(|stage| (!stage.syncs.is_empty()).then(|| "the queue's record".to_owned())).await?;
        self.asked.state = true;
        self.house.inspector.say(ToSubject::State { case: self.slot.case.clone(), jobs: self.jobs.ids() });
        self.demand(|stage| stage.asked.state.then(|| "the jobs' records".to_owned())).await?;
        let operations: Vec<&str> = self.run.script.jobs.iter().map(|job| job.operation.as_str()).collect();
        for effect in self.ledger.read(&operations).await? {
            let crate::effect::OperationEffect { operation, effects, partial } = effect;
            self.record(Event::Effect { operation, effects, partial });
        }
        self.record(Event::Closed);
        Ok(())
    }

    /// What the script still lacks; `None` at its end.
    fn missing(&self) -> Option<String> {
        if self.aborted {
            return None;
        }
        if let Some(end) = &self.end {
            return (!self.end_passed).then(|| format!("`{}`", end.condition()));
        }
        let open = || {
            let open = self.executions.iter().find(|execution| execution.is_open())?;
            Some(format!(
                "execution {} of worker {} to be settled; it is at {}",
                open.number, open.worker, open.last_point
            ))
        };
        let record = || (!self.syncs.is_empty()).then(|| "the queue's record".to_owned());
        let call = || (self.asked.submits > 0).then(|| "the producer's call to return".to_owned());
        self.nemesis.waiting_for().or_else(|| self.jobs.missing()).or_else(open).or_else(record).or_else(call)
    }

    /// Takes inputs until nothing is missing; gives what is still missing at the bound.
    async fn wait(
        &mut self,
        bound: Instant,
        missing: impl Fn(&Self) -> Option<String>,
    ) -> anyhow::Result<Option<String>> {
        loop {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let Some(what) = missing(self) else {
                return Ok(None);
            };
            self.house.board.waits_for(&self.slot.case, &self.run.case, &what);
            match timeout_at(bound, self.inputs.recv()).await {
                Ok(Some(input)) => self.react(input),
                _ => return Ok(Some(what)),
            }
        }
    }

    /// Waits for something that no scenario can prevent.
    async fn demand(&mut self, missing: impl Fn(&Self) -> Option<String>) -> anyhow::Result<()> {
        match self.wait(Instant::now() + ANSWER, missing).await? {
            None => Ok(()),
            Some(what) => anyhow::bail!("waited {ANSWER:?} for {what}"),
        }
    }

    /// Adds a line to the history and takes it into account.
    fn record(&mut self, event: Event) {
        self.history.record(event);
        if let Some(entry) = self.history.entries().last() {
            executions::fold(&mut self.executions, entry);
        }
    }
}
