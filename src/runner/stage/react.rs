//! What is done about each thing that happens.

use super::super::stage::{Input, Life, Stage};
use crate::fault::{Answer, Place, QueueEntry, QueueEvent};
use crate::history::Event;
use crate::nemesis::{Happening, Struck};
use crate::protocol::FromSubject;
use crate::subject::Seen;

impl Stage<'_> {
    pub(super) fn react(&mut self, input: Input) {
        match input {
            Input::Worker(name, seen) => self.saw(name, seen),
            Input::Inspector(message) => self.inspector_said(message),
            Input::KillDue(worker) => self.kill(&worker),
            Input::EndDelayPassed => self.end_passed = true,
            Input::InspectorBroke(problem) => self.fail(anyhow::anyhow!("the inspector is lost: {problem}")),
        }
    }

    fn fail(&mut self, error: anyhow::Error) {
        self.failure.get_or_insert(error);
    }

    fn saw(&mut self, worker: String, seen: Seen) {
        match seen {
            Seen::Spawned { pid } => {
                let log = self.log(&worker).display().to_string();
                self.record(Event::Spawned { worker, pid, log });
            }
            Seen::Said(message) => self.worker_said(worker, message),
            Seen::Stopped => {
                self.record(Event::Stopped { worker: worker.clone() });
                self.notice(&Happening::Stopped { worker });
            }
            Seen::Broke(problem) => self.fail(anyhow::anyhow!(problem)),
            Seen::Exited { status, was_ready, tail } => self.exited(worker, status, was_ready, &tail),
        }
    }

    fn worker_said(&mut self, worker: String, message: FromSubject) {
        match message {
            FromSubject::Hello { engine_version, .. } => self.record(Event::Hello { worker, engine_version }),
            FromSubject::Ready { .. } => {
                if let Some(cast) = self.workers.get_mut(&worker) {
                    cast.life = Life::Ready;
                }
                self.record(Event::Ready { worker });
            }
            FromSubject::Point {
                execution, point, operation, job, attempts_made, attempts_started, claimed, ..
            } => {
                let happening = Happening::Reached {
                    worker: Some(worker.clone()),
                    place: Place::Point(point),
                    operation: Some(operation.clone()),
                    execution: Some(execution),
                    job: Some(job.clone()),
                };
                self.parked.insert((worker.clone(), execution), point);
                let dying = self.workers.get(&worker).is_none_or(|cast| cast.life != Life::Started);
                let event =
                    Event::Point { worker, execution, point, operation, job, attempts_made, attempts_started, claimed };
                self.record(event);
                if !dying {
                    self.notice(&happening);
                }
            }
            FromSubject::Settled { execution, job, outcome, error, .. } => {
                self.record(Event::Settled { worker: worker.clone(), execution, job, outcome, error });
                self.notice(&Happening::Settled { worker });
            }
            FromSubject::Notice { text, .. } => self.record(Event::Notice { worker, text }),
            FromSubject::Failed { error, .. } => self.fail(anyhow::anyhow!("worker {worker}: {error}")),
            other => self.fail(anyhow::anyhow!("worker {worker} said what only an inspector says: {other:?}")),
        }
    }

    fn exited(&mut self, worker: String, status: String, was_ready: bool, tail: &str) {
        let Some(cast) = self.workers.get_mut(&worker) else {
            return;
        };
        let asked = cast.asked;
        cast.life = Life::Dead;
        if !asked && !was_ready {
            self.fail(anyhow::anyhow!("worker {worker} ended with `{status}` before it was ready; {tail}"));
        }
        self.record(Event::Exited { worker: worker.clone(), status, asked });
        if asked {
            // Whoever waits for this death must not begin before the queue's record up to it is known: an early stall
            // could not be told from the recovery then.
            self.sync(Some(worker));
        } else {
            self.aborted = true;
        }
    }

    fn inspector_said(&mut self, message: FromSubject) {
        match message {
            FromSubject::Ready { .. } => self.asked.open = false,
            FromSubject::Submitted { operation, job, error, .. } => self.submitted(operation, job, error),
            FromSubject::Queue { entry, .. } => {
                self.record(Event::Queue { entry: entry.clone().into() });
                if let Some((entry, operation)) = self.jobs.track(entry) {
                    self.queue_event(&entry, operation);
                }
            }
            FromSubject::Synced { entries, .. } => {
                let death = self.syncs.pop_front().flatten();
                self.record(Event::Synced { entries, death: death.clone() });
                if let Some(worker) = death {
                    self.notice(&Happening::Dead { worker });
                }
            }
            FromSubject::KeyDeleted { job, existed, .. } => {
                self.record(Event::KeyDeleted { job: job.clone(), existed });
                if existed {
                    self.notice(&Happening::KeyDeleted { job });
                }
            }
            FromSubject::State { jobs, .. } => {
                self.asked.state = false;
                for record in jobs {
                    self.record(Event::Job { record });
                }
            }
            FromSubject::Failed { error, .. } => self.fail(anyhow::anyhow!("the inspector: {error}")),
            other => self.fail(anyhow::anyhow!("the inspector said what only a worker says: {other:?}")),
        }
    }

    fn submitted(&mut self, operation: String, job: Option<String>, error: Option<String>) {
        self.asked.submits = self.asked.submits.saturating_sub(1);
        self.record(Event::Submitted { operation: operation.clone(), job: job.clone(), error });
        self.notice(&Happening::Submitted { operation: operation.clone() });
        let Some(job) = job else {
            return;
        };
        for entry in self.jobs.learn(&job, &operation) {
            self.queue_event(&entry, operation.clone());
        }
        // A job that was final may be there again under its old id: the record must tell before the case can end.
        self.sync(None);
    }

    fn queue_event(&mut self, entry: &QueueEntry, operation: String) {
        if let Some(event) = QueueEvent::from_word(&format!("queue.{}", entry.event)) {
            self.notice(&Happening::Reached {
                worker: None,
                place: Place::Queue(event),
                operation: Some(operation),
                execution: None,
                job: entry.job.clone(),
            });
        }
    }

    /// Tells everybody who may wait for this, and lets a parked handler go on unless a fault holds it.
    pub(super) fn notice(&mut self, happening: &Happening) {
        let mut fired = self.nemesis.confirm(happening);
        for fault in &fired {
            self.record(Event::Fired { fault: *fault });
        }
        if self.over {
            return;
        }
        let struck = self.nemesis.notice(happening);
        let mut goes_on = struck.iter().all(Struck::lets_go_on);
        let mut done = Vec::new();
        for struck in struck {
            let fault = struck.fault;
            if self.strike(struck, happening) {
                done.push(fault);
            }
        }
        fired.extend(self.carried_out(&done));
        for freed in self.nemesis.release(happening, &fired) {
            let (fault, answer) = freed.answer.map_or((None, Answer::Go), |(fault, answer)| (Some(fault), answer));
            if self.answer(&freed.worker, freed.execution, answer) {
                self.carried_out(fault.as_slice());
            }
        }
        let opened = |(name, cast): (&String, &mut super::Cast)| {
            cast.gate.as_mut().is_some_and(|gate| gate.notice(happening)).then(|| name.clone())
        };
        let opened: Vec<String> = self.workers.iter_mut().filter_map(opened).collect();
        for name in opened {
            self.start(&name);
        }
        self.end_notice(happening);
        if let Happening::Reached { worker: Some(worker), execution: Some(execution), .. } = happening {
            if self.workers.get(worker).is_some_and(|cast| cast.stopped) && goes_on {
                self.nemesis.hold_stopped(worker, *execution);
                goes_on = false;
            }
            if goes_on {
                self.answer(worker, *execution, Answer::Go);
            }
        }
    }

    /// The end of the script may be this, or some time after it.
    fn end_notice(&mut self, happening: &Happening) {
        let Some(end) = self.end.as_mut().filter(|end| !end.is_open()) else {
            return;
        };
        if end.notice(happening) {
            let delay_ms = end.delay_ms();
            self.later(delay_ms, Input::EndDelayPassed);
        }
    }
}
