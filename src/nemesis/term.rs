//! SIGTERM: the worker may let its handler end and then end itself, as a deploy does. With a kill after it the handler
//! that is parked there does not end before: the grace period is too short. Fired with the confirmed death.

use super::{Confirm, Happening, Hit, Order, Parked, Strike};
use crate::process::Signal;

pub(super) fn strike(target: Option<&str>, kill_after_ms: Option<u64>, hit: Hit<'_>) -> Option<Strike> {
    let worker = target?.to_owned();
    let mut orders = vec![Order::Signal { worker: worker.clone(), signal: Signal::SIGTERM }];
    orders.extend(kill_after_ms.map(|ms| Order::KillAfter { worker: worker.clone(), ms }));
    let cut_off = kill_after_ms.is_some() && hit.worker == target;
    Some(Strike {
        orders,
        confirm: Confirm::Happens(Happening::Dead { worker: worker.clone() }),
        parked: if cut_off { Parked::Taken } else { Parked::GoesOn },
        worker: Some(worker),
    })
}
