//! The beginning of a case: its history, its schema, its queue.

use tokio::sync::mpsc;

use super::case::CaseRun;
use super::house::House;
use super::stage::Stage;
use crate::fault::{Fault, Protection};
use crate::history::event::{FaultText, VERSION};
use crate::history::{Event, Recorder};
use crate::protocol::ToSubject;

pub(super) async fn stage<'a>(house: &'a House, run: &'a CaseRun<'a>) -> anyhow::Result<Stage<'a>> {
    let slot = house.slot();
    let operations: Vec<&str> = run.script.jobs.iter().map(|job| job.operation.as_str()).collect();
    let mut history = Recorder::create(&run.history)
        .map_err(|error| anyhow::anyhow!("cannot make the history {}: {error}", run.history.display()))?;
    history.record(Event::Case {
        v: VERSION,
        run: house.run.clone(),
        case: run.case.clone(),
        repeat: run.repeat,
        attempt: run.attempt,
        twin: run.twin,
        engine: run.engine,
        protection: run.protection,
        operations: operations.iter().map(|operation| (*operation).to_owned()).collect(),
        faults: run.script.faults.iter().map(fault_text).collect(),
    });
    let (sender, inputs) = mpsc::unbounded_channel();
    house.inspector.subscribe(&slot.case, sender.clone());
    house.inspector.say(ToSubject::Open {
        case: slot.case.clone(),
        queue: slot.queue.clone(),
        prefix: slot.prefix.clone(),
    });
    let unique_key = run.protection == Protection::OperationKey;
    let ledger = house.ledgers.take(unique_key, &operations).await;
    match ledger {
        Ok(ledger) => Ok(Stage::new(house, run, slot, history, ledger, (sender, inputs))),
        Err(error) => {
            house.inspector.unsubscribe(&slot.case);
            Err(error)
        }
    }
}

fn fault_text(fault: &Fault) -> FaultText {
    FaultText { at: fault.at.clone(), action: fault.action.to_string(), proof: fault.action.proof() }
}
