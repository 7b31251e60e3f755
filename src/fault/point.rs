//! Where a fault can act: parking points inside a handler, and the queue's own events.

use super::words::words;

words! {
    /// A parking point: the worker stops there and waits for the lab's answer, armed or not. In the order in which a
    /// handler passes them; a handler passes only those that its protection has.
    Point {
        HandlerStarted = "handler.started", "the handler was entered, nothing was done yet";
        ClaimChecked = "claim.checked", "the protection looked whether the operation is done already";
        ClaimTaken = "claim.taken", "the operation is claimed, in an open transaction";
        EffectWritten = "effect.written", "the effect is written, in an open transaction";
        EffectCommitted = "effect.committed", "the effect is committed, the handler has not returned";
        HandlerReturned = "handler.returned", "the handler is done, the acknowledgement has not left";
    }
}

words! {
    /// An entry of the queue's own record. It may trigger a fault; no worker stops there.
    QueueEvent {
        Added = "queue.added", "the queue stored a job";
        Active = "queue.active", "a worker claimed the job";
        Stalled = "queue.stalled", "a stalled check took the job from its owner";
        Completed = "queue.completed", "the job completed";
        Failed = "queue.failed", "the job failed for good";
        Removed = "queue.removed", "the job was removed";
    }
}
