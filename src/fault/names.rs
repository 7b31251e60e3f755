//! Names that both houses use: protections and engines.

use super::words::words;

words! {
    /// How duplicate effects are prevented, or not.
    Protection {
        None = "none", "the handler writes its effect every time it runs";
        OperationKey = "operation-key", "a unique business key, claimed in the transaction that writes the effect";
        JobId = "job-id", "the producer derives the job id from the operation; the handler is unprotected";
    }
}

words! {
    /// A queue implementation under test.
    Engine {
        BullmqRs = "bullmq-rs", "the official Rust port of BullMQ (crate bullmq-official), built in";
    }
}
