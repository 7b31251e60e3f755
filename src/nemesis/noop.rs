//! Nothing happens, and it never counts as fired: what an action becomes where it has no object.

use super::{Confirm, Happening, Parked, Strike};

pub(super) fn strike() -> Strike {
    // No worker has an empty name, so this never happens.
    let confirm = Confirm::Happens(Happening::Dead { worker: String::new() });
    Strike { orders: Vec::new(), confirm, parked: Parked::GoesOn, worker: None }
}
