//! Whether every armed fault did what it was meant to do, when it was meant to.

use crate::history::event::FaultText;
use crate::history::{Entry, Event, Execution};
use crate::outcome::Reason;

use super::facts::Facts;

/// The first fault that proves nothing, and why.
pub fn check(facts: &Facts<'_>, faults: &[FaultText]) -> Option<(Reason, String)> {
    faults.iter().enumerate().find_map(|(number, fault)| check_one(facts, number, fault))
}

fn check_one(facts: &Facts<'_>, number: usize, fault: &FaultText) -> Option<(Reason, String)> {
    let name = format!("fault `{}: {}`", fault.at, fault.action);
    let struck = facts.entries.iter().find(|entry| is_struck(&entry.event, number));
    let fired = facts.entries.iter().any(|entry| matches!(entry.event, Event::Fired { fault } if fault == number));
    let Some(struck) = struck else {
        return Some((Reason::FaultNotFired, format!("{name} never struck: its point was not reached")));
    };
    if !fired {
        return Some((Reason::FaultNotFired, format!("{name} struck but was not confirmed")));
    }
    let proof = fault.proof.as_deref()?;
    let Event::Struck { worker: Some(worker), execution, .. } = &struck.event else {
        return Some((Reason::FaultNotFired, format!("{name} struck no worker")));
    };
    let death = facts.entries.iter().enumerate().find_map(|(place, entry)| Some((place, death_of(entry, worker)?)));
    let Some((died, status)) = death else {
        return Some((Reason::FaultNotFired, format!("{name} fired, but no death of worker {worker} is recorded")));
    };
    if status != proof {
        let text = format!("{name}: worker {worker} ended with `{status}` instead of `{proof}`");
        return Some((Reason::FaultNotFired, text));
    }
    let parked = facts.executions.iter().find(|open| open.worker == *worker && Some(open.number) == *execution)?;
    early_stall(facts, parked, died, &name)
}

fn is_struck(event: &Event, number: usize) -> bool {
    matches!(event, Event::Struck { fault, .. } if *fault == number)
}

fn death_of<'a>(entry: &'a Entry, worker: &str) -> Option<&'a str> {
    match &entry.event {
        Event::Exited { worker: dead, status, .. } if dead == worker => Some(status),
        _ => None,
    }
}

/// The queue must not have given the job away between the struck execution's own claim and the confirmed death. Counts
/// alone do not show it: an early stall still gives two executions and two effects (measured,
/// `kill-case-timing`, section 8).
fn early_stall(facts: &Facts<'_>, parked: &Execution, died: usize, name: &str) -> Option<(Reason, String)> {
    let at_death =
        |event: &Event| matches!(event, Event::Synced { death: Some(worker), .. } if *worker == parked.worker);
    let mut after = (died..facts.entries.len()).filter(|place| at_death(&facts.entries[*place].event));
    let Some(synced) = after.next() else {
        return Some((Reason::HistoryGap, format!("{name}: the queue's record was not read after the death")));
    };
    let own = parked.attempts_started as usize;
    let mut claims = 0;
    let before = facts.queue_of(&parked.job).filter(|(place, _)| *place < synced);
    let mut before: Vec<_> = before.map(|(_, entry)| entry).collect();
    // The queue's own order: that of its ids.
    before.sort_by_key(|entry| order(&entry.id));
    for entry in before {
        match entry.queue.as_str() {
            // The same id again: its claims are counted anew.
            "added" => claims = 0,
            "active" => claims += 1,
            _ => {}
        }
        let given_away = claims > own || (claims == own && entry.queue == "stalled");
        if given_away {
            let text = format!(
                "{name}: the queue wrote `{}` for job {} (entry {}) before the death of worker {} was confirmed",
                entry.queue, parked.job, entry.id, parked.worker
            );
            return Some((Reason::EarlyStall, text));
        }
    }
    None
}

/// The place of an entry in the queue's record: `1796089300122-1` is the second of that millisecond.
fn order(id: &str) -> (u64, u64) {
    let (ms, number) = id.split_once('-').unwrap_or((id, "0"));
    (ms.parse().unwrap_or(u64::MAX), number.parse().unwrap_or(u64::MAX))
}
