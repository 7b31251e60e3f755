//! The queues that are built into the lab's own binary. Engines in other languages live in `scripts/workers/`.

pub(super) mod bullmq_rs;
