//! A key of the job disappears from the queue's store, as under eviction. Fired when it was there and is gone; a handler
//! that is parked there waits for that.

use super::{Confirm, Happening, Hit, Order, Parked, Strike};
use crate::fault::JobKey;

pub(super) fn strike(key: JobKey, hit: Hit<'_>) -> Option<Strike> {
    let job = hit.job?.to_owned();
    Some(Strike {
        orders: vec![Order::DelKey { job: job.clone(), key }],
        confirm: Confirm::Happens(Happening::KeyDeleted { job }),
        parked: Parked::UntilFired,
        worker: None,
    })
}
