//! SIGSTOP: the process sleeps and knows nothing of it. Fired when the kernel says that it is stopped. `cont` undoes it;
//! a handler that was parked there gets its answer only then.

use super::{Confirm, Happening, Hit, Order, Parked, Strike};
use crate::process::Signal;

pub(super) fn strike(target: Option<&str>, hit: Hit<'_>) -> Option<Strike> {
    let worker = target?.to_owned();
    Some(Strike {
        orders: vec![Order::Signal { worker: worker.clone(), signal: Signal::SIGSTOP }],
        confirm: Confirm::Happens(Happening::Stopped { worker: worker.clone() }),
        parked: if hit.worker == target { Parked::UntilContinued } else { Parked::GoesOn },
        worker: Some(worker),
    })
}

pub(super) fn undo(target: Option<&str>) -> Option<Strike> {
    let worker = target?.to_owned();
    Some(Strike {
        orders: vec![Order::Signal { worker: worker.clone(), signal: Signal::SIGCONT }],
        confirm: Confirm::Now,
        parked: Parked::GoesOn,
        worker: Some(worker),
    })
}
