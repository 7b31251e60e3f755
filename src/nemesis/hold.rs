//! The parked handler waits for something that happens elsewhere; its worker is not disturbed. Fired when that happens.

use super::{Confirm, Gate, Hit, Parked, Strike};
use crate::fault::Condition;

pub(super) fn strike(until: &Condition, hit: Hit<'_>) -> Option<Strike> {
    hit.execution?;
    Some(Strike {
        orders: Vec::new(),
        confirm: Confirm::Holds(Gate::new(until.clone())),
        parked: Parked::Until(until.clone()),
        worker: hit.worker.map(str::to_owned),
    })
}
