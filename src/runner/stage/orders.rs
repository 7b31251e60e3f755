//! What the nemesis orders and the script asks for, carried out: answers, signals, starts, questions to the inspector.

use std::time::Duration;

use super::super::stage::{Input, Life, Stage};
use crate::fault::Answer;
use crate::history::Event;
use crate::nemesis::{Happening, Order, Struck};
use crate::process::Signal;
use crate::protocol::ToSubject;

impl Stage<'_> {
    /// Puts something into the inputs after a while.
    pub(super) fn later(&self, ms: u64, input: Input) {
        let sender = self.sender.clone();
        tokio::task::spawn_local(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            let _ = sender.send(input);
        });
    }

    /// These faults have done what they were to do; those that need no more than that have fired.
    pub(super) fn carried_out(&mut self, done: &[usize]) -> Vec<usize> {
        let fired = self.nemesis.carried_out(done);
        for fault in &fired {
            self.record(Event::Fired { fault: *fault });
        }
        fired
    }

    /// Carries out what a fault orders; whether all of it could be done. What is told to a handler that is held waits.
    pub(super) fn strike(&mut self, struck: Struck, happening: &Happening) -> bool {
        let Struck { fault, strike } = struck;
        let execution = match (&strike.worker, happening) {
            (Some(target), Happening::Reached { worker: Some(worker), execution, .. }) if target == worker => {
                *execution
            }
            (Some(target), _) => self.open_execution(target),
            (None, _) => None,
        };
        self.record(Event::Struck { fault, worker: strike.worker, execution });
        let mut done = true;
        for order in strike.orders {
            match order {
                Order::Answer { worker, execution, answer } if self.nemesis.holds(&worker, execution) => {
                    self.nemesis.keep_answer(&worker, execution, fault, answer);
                    done = false;
                }
                Order::Answer { worker, execution, answer } => done &= self.answer(&worker, execution, answer),
                Order::Kill { worker } => self.kill(&worker),
                Order::KillAfter { worker, ms } => self.later(ms, Input::KillDue(worker)),
                Order::Signal { worker, signal } => done &= self.signal(&worker, signal),
                Order::Submit { operation } => self.submit(&operation),
                Order::DelKey { job, key } => {
                    self.house.inspector.say(ToSubject::DelKey { case: self.slot.case.clone(), job, key });
                }
            }
        }
        done
    }

    /// The execution whose handler a worker is in.
    pub(super) fn open_execution(&self, worker: &str) -> Option<u32> {
        let open = self.executions.iter().rev().find(|open| open.worker == worker && open.left.is_none());
        open.map(|open| open.number)
    }

    /// Answers a parked handler; false if there is none any more.
    pub(super) fn answer(&mut self, worker: &str, execution: u32, answer: Answer) -> bool {
        let Some(cast) = self.workers.get_mut(worker).filter(|cast| cast.life == Life::Started) else {
            return false;
        };
        let Some(point) = self.parked.remove(&(worker.to_owned(), execution)) else {
            return false;
        };
        cast.asked |= matches!(answer, Answer::Exit { .. });
        cast.subject.say(ToSubject::Answer { case: self.slot.case.clone(), execution, answer: answer.clone() });
        self.record(Event::Answered { worker: worker.to_owned(), execution, point, answer });
        true
    }

    pub(super) fn kill(&mut self, worker: &str) {
        if let Some(cast) = self.workers.get_mut(worker)
            && cast.life != Life::Dead
        {
            cast.life = Life::Dying;
            cast.asked = true;
            cast.subject.kill();
            self.record(Event::Signalled { worker: worker.to_owned(), signal: Signal::SIGKILL.to_string() });
        }
    }

    /// Sends a signal; false if nobody is there to get it.
    pub(super) fn signal(&mut self, worker: &str, signal: Signal) -> bool {
        let Some(cast) = self.workers.get_mut(worker).filter(|cast| !matches!(cast.life, Life::Dying | Life::Dead))
        else {
            return false;
        };
        cast.asked |= signal == Signal::SIGTERM;
        cast.stopped = (cast.stopped || signal == Signal::SIGSTOP) && signal != Signal::SIGCONT;
        cast.subject.signal(signal);
        self.record(Event::Signalled { worker: worker.to_owned(), signal: signal.to_string() });
        if signal == Signal::SIGCONT {
            self.notice(&Happening::Continued { worker: worker.to_owned() });
        }
        true
    }

    pub(super) fn start(&mut self, worker: &str) {
        if let Some(cast) = self.workers.get_mut(worker)
            && cast.life == Life::Ready
        {
            cast.life = Life::Started;
            cast.subject.say(ToSubject::Start { case: self.slot.case.clone() });
            self.record(Event::Started { worker: worker.to_owned() });
        }
    }

    pub(super) fn submit(&mut self, operation: &str) {
        let Some(job) = self.run.script.jobs.iter().find(|job| job.operation == operation) else {
            return;
        };
        let options = self.job_options(job);
        self.asked.submits += 1;
        let (case, operation) = (self.slot.case.clone(), operation.to_owned());
        self.house.inspector.say(ToSubject::Submit { case, operation, options });
    }

    pub(super) fn sync(&mut self, death: Option<String>) {
        self.syncs.push_back(death);
        self.house.inspector.say(ToSubject::Sync { case: self.slot.case.clone() });
    }
}
