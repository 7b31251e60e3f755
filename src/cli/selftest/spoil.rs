//! Records that are wrong: each history of the library is spoiled in one place at a time and judged again.
//!
//! Every spoiler has the same shape, so that the table can hold it; some only change lines in place.
#![expect(clippy::ptr_arg, reason = "one shape for all spoilers")]

use super::{Sample, Sights, see};
use crate::checker::{self, Judgement};
use crate::fault::{Outcome, Point};
use crate::history::{Entry, Event, reader};
use crate::outcome::{Reason, Verdict};
use crate::scenario::Value;

/// The control: nothing is wrong, and the case must match.
pub(super) const NOTHING: &str = "nothing is wrong";

/// Spoils a history; `None` where it has nothing to spoil in this way.
type Spoil = fn(&mut Vec<Entry>) -> Option<()>;
/// Whether a verdict is the right one for the defect.
type Wanted = fn(Verdict) -> bool;

const fn is_mismatch(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Mismatch)
}

const fn is_red(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Match)
}

/// Every way to spoil a record, and what it must be judged as.
const SPOILS: &[(&str, Spoil, Wanted)] = &[
    ("record: an effect is counted twice", effect_doubled, is_mismatch),
    ("record: an effect is lost", effect_lost, is_mismatch),
    ("record: half an effect", effect_halved, is_mismatch),
    ("record: the final state is another", state_changed, is_mismatch),
    ("record: a second job carries the operation", job_added, is_red),
    ("record: a handler entry is missing", entry_lost, |verdict| is(verdict, Reason::RecordsDisagree)),
    ("record: a handler entry is doubled", entry_doubled, |verdict| is(verdict, Reason::RecordsDisagree)),
    ("record: a claim of the queue is missing", claim_lost, |verdict| is(verdict, Reason::RecordsDisagree)),
    ("record: a stall of the queue is missing", stall_lost, |verdict| is(verdict, Reason::RecordsDisagree)),
    ("record: attemptsStarted counts one more", counter_changed, |verdict| is(verdict, Reason::RecordsDisagree)),
    ("record: a refused acknowledgement was accepted", ack_accepted, is_red),
    ("record: a stall before the death", stall_early, |verdict| is(verdict, Reason::EarlyStall)),
    ("record: a killed worker ended by itself", ended_by_itself, |verdict| is(verdict, Reason::FaultNotFired)),
    ("record: a worker died although nobody asked", died_unasked, |verdict| is(verdict, Reason::SubjectDiedUnasked)),
    ("record: a fault is not confirmed", unconfirmed, |verdict| is(verdict, Reason::FaultNotFired)),
    ("record: the bound had passed", bound_passed, |verdict| is(verdict, Reason::Deadline)),
];

/// The same for lines that are lost with their numbers.
const GAPS: &[(&str, Spoil)] =
    &[("record: a line is lost, its number missing", line_lost), ("record: it breaks off", broken_off)];

const fn is(verdict: Verdict, wanted: Reason) -> bool {
    matches!(verdict, Verdict::Inconclusive(reason) if reason as u8 == wanted as u8)
}

/// Spoils the record of a sample in every way.
pub(super) fn records(sights: &mut Sights, sample: &Sample) {
    let case = sample.stored.id.to_string();
    for (name, spoil, wanted) in SPOILS {
        let mut entries = sample.entries.clone();
        if spoil(&mut entries).is_some() {
            renumber(&mut entries);
            let judgement = checker::judge(&entries, None, &sample.stored.expected);
            see(sights, name, &case, &judgement, wanted(judgement.verdict));
        }
    }
    for (name, spoil) in GAPS {
        let mut entries = sample.entries.clone();
        if spoil(&mut entries).is_some() {
            let gap = reader::gap(&entries);
            let judgement = checker::judge(&entries, gap.as_deref(), &sample.stored.expected);
            see(sights, name, &case, &judgement, is_red(judgement.verdict));
        }
    }
    without_faults(sights, sample, &case);
}

/// The history of the fault-free twin, called that of the case: no fault did anything in it.
fn without_faults(sights: &mut Sights, sample: &Sample, case: &str) {
    let (Some(twin), Some(header)) = (&sample.twin, sample.entries.first()) else {
        return;
    };
    if sample.case.script.faults.is_empty() {
        return;
    }
    let mut entries = twin.clone();
    entries[0] = header.clone();
    let judgement = checker::judge(&entries, None, &sample.stored.expected);
    see(
        sights,
        "record: no fault of the case did anything",
        case,
        &judgement,
        is(judgement.verdict, Reason::FaultNotFired),
    );
}

/// Changes every stated cell once: exactly that cell must be told.
pub(super) fn tables(sights: &mut Sights, sample: &Sample) {
    let case = sample.stored.id.to_string();
    for (operation, columns) in &sample.stored.expected {
        for (column, value) in columns {
            let mut expected = sample.stored.expected.clone();
            if let Some(columns) = expected.get_mut(operation) {
                columns.insert(*column, other(value));
            }
            let judgement = checker::judge(&sample.entries, None, &expected);
            let wanted = told(&judgement, operation, *column);
            see(sights, &format!("table: another value of `{column}`"), &case, &judgement, wanted);
        }
    }
}

fn told(judgement: &Judgement, operation: &str, column: crate::scenario::Column) -> bool {
    let [difference] = &judgement.differences[..] else {
        return false;
    };
    is_mismatch(judgement.verdict) && difference.operation == operation && difference.column == column
}

/// A value that holds for nothing that the given one holds for.
fn other(value: &Value) -> Value {
    match value {
        Value::Count(count) => Value::Count(count + 1),
        Value::Range(low, high) => Value::Count(high.map_or(low.saturating_sub(1), |high| high + 1)),
        Value::Text(text) => Value::Text(format!("not {text}")),
        Value::List(values) => {
            let mut longer = values.clone();
            longer.push(Value::Count(0));
            Value::List(longer)
        }
        Value::Missing => Value::Count(0),
    }
}

fn renumber(entries: &mut [Entry]) {
    for (number, entry) in entries.iter_mut().enumerate() {
        entry.n = number as u64;
    }
}

/// The first place where something stands.
fn place(entries: &[Entry], wanted: impl Fn(&Event) -> bool) -> Option<usize> {
    entries.iter().position(|entry| wanted(&entry.event))
}

fn remove(entries: &mut Vec<Entry>, wanted: impl Fn(&Event) -> bool) -> Option<()> {
    let place = place(entries, wanted)?;
    entries.remove(place);
    Some(())
}

fn is_entry(event: &Event) -> bool {
    matches!(event, Event::Point { point: Point::HandlerStarted, .. })
}

fn is_queue(event: &Event, word: &str) -> bool {
    matches!(event, Event::Queue { entry } if entry.queue == word)
}

fn effect(entries: &mut [Entry], change: impl Fn(&mut u64, &mut u64) -> bool) -> Option<()> {
    let changed = entries.iter_mut().any(|entry| match &mut entry.event {
        Event::Effect { effects, partial, .. } => change(effects, partial),
        _ => false,
    });
    changed.then_some(())
}

fn effect_doubled(entries: &mut Vec<Entry>) -> Option<()> {
    effect(entries, |effects, _| {
        *effects += 1;
        true
    })
}

fn effect_lost(entries: &mut Vec<Entry>) -> Option<()> {
    effect(entries, |effects, _| {
        let had = *effects > 0;
        *effects = effects.saturating_sub(1);
        had
    })
}

fn effect_halved(entries: &mut Vec<Entry>) -> Option<()> {
    // Ids are the subject of the one scenario without this column; it writes no half effects.
    let operations = entries.iter().filter(|entry| matches!(entry.event, Event::Effect { .. })).count();
    if operations > 2 {
        return None;
    }
    effect(entries, |_, partial| {
        *partial += 1;
        true
    })
}

fn state_changed(entries: &mut Vec<Entry>) -> Option<()> {
    let changed = entries.iter_mut().any(|entry| match &mut entry.event {
        Event::Job { record } => {
            record.state = if record.state == "failed" { "completed" } else { "failed" }.to_owned();
            true
        }
        _ => false,
    });
    changed.then_some(())
}

fn job_added(entries: &mut Vec<Entry>) -> Option<()> {
    let place = place(entries, |event| matches!(event, Event::Submitted { job: Some(_), .. }))?;
    let mut added = entries[place].clone();
    if let Event::Submitted { job, .. } = &mut added.event {
        *job = Some("999".to_owned());
    }
    // Only where the table says how many there may be.
    entries.insert(place + 1, added);
    Some(())
}

fn entry_lost(entries: &mut Vec<Entry>) -> Option<()> {
    remove(entries, is_entry)
}

fn entry_doubled(entries: &mut Vec<Entry>) -> Option<()> {
    let place = place(entries, is_entry)?;
    entries.insert(place + 1, entries[place].clone());
    Some(())
}

fn claim_lost(entries: &mut Vec<Entry>) -> Option<()> {
    remove(entries, |event| is_queue(event, "active"))
}

fn stall_lost(entries: &mut Vec<Entry>) -> Option<()> {
    remove(entries, |event| is_queue(event, "stalled"))
}

fn counter_changed(entries: &mut Vec<Entry>) -> Option<()> {
    entries.iter_mut().find_map(|entry| match &mut entry.event {
        Event::Job { record } => record.counters.as_mut().map(|counters| counters.attempts_started += 1),
        _ => None,
    })
}

fn ack_accepted(entries: &mut Vec<Entry>) -> Option<()> {
    entries.iter_mut().find_map(|entry| match &mut entry.event {
        Event::Settled { outcome, .. } if *outcome == Outcome::Refused => {
            *outcome = Outcome::Completed;
            Some(())
        }
        _ => None,
    })
}

fn stall_early(entries: &mut Vec<Entry>) -> Option<()> {
    let died = place(entries, |event| matches!(event, Event::Exited { status, .. } if status == "signal SIGKILL"))?;
    let struck = place(entries, |event| matches!(event, Event::Struck { execution: Some(_), .. }))?;
    let stalled = place(entries, |event| is_queue(event, "stalled"))?;
    // Only where a fault killed, and the recovery came after it.
    let killed = place(entries, |event| matches!(event, Event::Synced { death: Some(_), .. }))?;
    if !(struck < died && died < killed && killed < stalled) {
        return None;
    }
    let entry = entries.remove(stalled);
    entries.insert(died, entry);
    Some(())
}

fn ended_by_itself(entries: &mut Vec<Entry>) -> Option<()> {
    let Some(Event::Case { faults, .. }) = entries.first().map(|entry| &entry.event) else {
        return None;
    };
    faults.iter().find(|fault| fault.proof.as_deref() == Some("signal SIGKILL"))?;
    let struck = place(entries, |event| matches!(event, Event::Signalled { signal, .. } if signal == "SIGKILL"))?;
    entries[struck..].iter_mut().find_map(|entry| match &mut entry.event {
        Event::Exited { status, .. } => {
            *status = "exit 137".to_owned();
            Some(())
        }
        _ => None,
    })
}

fn died_unasked(entries: &mut Vec<Entry>) -> Option<()> {
    entries.iter_mut().find_map(|entry| match &mut entry.event {
        Event::Exited { asked, .. } => {
            *asked = false;
            Some(())
        }
        _ => None,
    })
}

fn unconfirmed(entries: &mut Vec<Entry>) -> Option<()> {
    remove(entries, |event| matches!(event, Event::Fired { .. }))
}

fn bound_passed(entries: &mut Vec<Entry>) -> Option<()> {
    entries.iter_mut().find_map(|entry| match &mut entry.event {
        Event::End { missing } => {
            *missing = Some("something".to_owned());
            Some(())
        }
        _ => None,
    })
}

fn line_lost(entries: &mut Vec<Entry>) -> Option<()> {
    remove(entries, |event| matches!(event, Event::Ready { .. }))
}

fn broken_off(entries: &mut Vec<Entry>) -> Option<()> {
    entries.pop().map(drop)
}
