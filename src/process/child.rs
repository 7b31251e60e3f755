//! A started child. Its death is believed from its wait status only; it is never signalled after that, so a signal
//! cannot reach somebody else under a pid that is used again.

use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::process::{ChildStdin, ExitStatus};

use anyhow::Context;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

/// A child that leads a process group of its own. Dropping it kills the group.
#[derive(Debug)]
pub struct Child {
    inner: std::process::Child,
    /// Readable when the child is dead and not yet reaped.
    ended: AsyncFd<OwnedFd>,
    pid: i32,
    status: Option<ExitStatus>,
    /// The pipe to a keeper: it kills its whole tree when this closes.
    keeper: Option<ChildStdin>,
    output: Option<PipeReader>,
}

impl Child {
    /// Watches a child that was started just now; call within the runtime.
    pub(super) fn new(
        inner: std::process::Child,
        keeper: Option<ChildStdin>,
        output: Option<PipeReader>,
    ) -> anyhow::Result<Self> {
        let pid = i32::try_from(inner.id())?;
        let id = rustix::process::Pid::from_raw(pid).context("a child has no pid")?;
        let ended = watched(pidfd_open(id, PidfdFlags::NONBLOCK).context("cannot watch the child")?)?;
        Ok(Self { inner, ended, pid, status: None, keeper, output })
    }

    /// Its process id, which is also its group's.
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// The reading end of its output, once; see [`super::Spec::piped`].
    ///
    /// # Errors
    /// It has no pipe, or the runtime cannot watch it.
    pub fn output(&mut self) -> anyhow::Result<pipe::Receiver> {
        let output = self.output.take().context("the child has no output pipe")?;
        Ok(pipe::Receiver::from_owned_fd(output.into())?)
    }

    /// Waits for its death. Cancel-safe, and the same answer again afterwards.
    pub async fn wait(&mut self) -> ExitStatus {
        if let Some(status) = self.status {
            return status;
        }
        // A broken watch is no death: then the wait below blocks until there is one.
        let _ = self.ended.readable().await;
        // It is dead and not reaped, so its number is its own still: what it left behind in its group goes with it.
        self.kill_tree();
        match self.inner.wait() {
            Ok(status) => *self.status.insert(status),
            // Nobody else waits for our children: a death that cannot be read must not be believed.
            Err(_) => std::future::pending().await,
        }
    }

    /// Sends a signal to its group, if it has not been reaped.
    pub fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            let _ = killpg(Pid::from_raw(self.pid), signal);
        }
    }

    /// SIGKILL to its whole tree: to its group, or by its keeper to everything below that. A stopped group dies too.
    pub fn kill_tree(&self) {
        self.signal(if self.keeper.is_some() { Signal::SIGTERM } else { Signal::SIGKILL });
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill_tree();
            let _ = self.inner.wait();
        }
    }
}

#[expect(unsafe_code, reason = "tokio asks for a promise about the descriptor")]
fn watched(pidfd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd is one open descriptor that stays the same until it is dropped.
    Ok(unsafe { AsyncFd::register(pidfd) }?)
}

/// A wait status in words: `exit 1`, `signal SIGKILL`.
pub fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("signal {signal}"),
            Err(_) => format!("signal {number}"),
        },
        (None, None) => status.to_string(),
    }
}
