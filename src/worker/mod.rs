//! The other house: the built-in subject. The same binary, re-executed by the lab as `lab worker`.
//!
//! It runs the job handlers of the protections (`handler`) on a real queue (`engine`) and stops at parking points
//! (`failpoint`). It knows the wall and the words of faults; it never knows what is expected of it. One
//! `current_thread` runtime: a handler that blocks its thread starves the whole worker, as in a Node process.

mod engine;
mod failpoint;
mod handler;
mod store;

use anyhow::Context;

use crate::protocol::env;

/// Plays the role that the environment names until the lab closes the socket.
///
/// # Errors
/// A variable is missing or wrong, a server cannot be reached, or the lab does not speak the protocol.
pub fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(tokio::task::LocalSet::new().run_until(async {
        match var(env::ROLE)?.as_str() {
            "worker" => engine::bullmq_rs::worker::run().await,
            "inspector" => engine::bullmq_rs::inspector::run().await,
            other => anyhow::bail!("{} is `{other}`; it must be `worker` or `inspector`", env::ROLE),
        }
    }))
}

/// A variable that the lab must have set.
fn var(name: &str) -> anyhow::Result<String> {
    std::env::var(name).with_context(|| format!("{name} is not set: `lab worker` is started by the lab, not by hand"))
}
