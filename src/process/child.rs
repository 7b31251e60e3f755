//! A started child. Its death is believed from its wait status only; it is never signalled after that, so a signal
//! cannot reach somebody else under a pid that is used again.

use std::io::PipeReader;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdin, ExitStatus};
use std::time::Duration;

use anyhow::Context;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use super::{identity, tree};

/// How long a child that must not be killed outright may take to go by itself.
const GRACE: Duration = Duration::from_millis(1200);
/// Carries a kept child's mark, by which what it started is known should its keeper be killed.
pub(super) const MARK: &str = "LABW_KEPT_AS";

/// A child that leads a process group of its own. Dropping it ends the group, its death confirmed.
#[derive(Debug)]
pub struct Child {
    inner: std::process::Child,
    /// Readable when the child is dead and not yet reaped.
    ended: AsyncFd<OwnedFd>,
    pid: i32,
    status: Option<ExitStatus>,
    /// What it is ended with: SIGKILL unless it has something to clean.
    last_signal: Signal,
    /// The pipe to a keeper, which kills its whole tree when this closes, and the tree's mark.
    keeper: Option<(ChildStdin, String)>,
    output: Option<PipeReader>,
}

impl Child {
    /// Watches a child that was started just now; call within the runtime. A child that cannot be watched is killed.
    pub(super) fn new(
        mut inner: std::process::Child,
        last_signal: Signal,
        keeper: Option<(ChildStdin, String)>,
        output: Option<PipeReader>,
    ) -> anyhow::Result<Self> {
        match watch(&inner) {
            Ok((pid, ended)) => Ok(Self { inner, ended, pid, status: None, last_signal, keeper, output }),
            Err(error) => {
                // A keeper goes by the closing pipe; killed, it could not end its tree.
                if keeper.is_none() {
                    let _ = inner.kill();
                }
                drop(keeper);
                let _ = inner.wait();
                Err(error)
            }
        }
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
        match self.reap() {
            Some(status) => status,
            // Nobody else waits for our children: a death that cannot be read must not be believed.
            None => std::future::pending().await,
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
        if self.keeper.is_none() {
            self.signal(Signal::SIGKILL);
        } else {
            // A stopped keeper must wake to do it; what it keeps is in other groups and stays as it is.
            self.signal(Signal::SIGTERM);
            self.signal(Signal::SIGCONT);
        }
    }

    /// Ends it, its death confirmed: with the signal that lets it clean up, and with SIGKILL when that takes too long.
    pub async fn end(&mut self) -> ExitStatus {
        self.begin_end();
        if let Ok(status) = tokio::time::timeout(GRACE, self.wait()).await {
            return status;
        }
        self.kill_tree();
        self.wait().await
    }

    fn begin_end(&self) {
        if self.keeper.is_none() { self.signal(self.last_signal) } else { self.kill_tree() }
    }

    /// Its status, which it is waited for.
    fn reap(&mut self) -> Option<ExitStatus> {
        // It is dead and not reaped, so its number is its own still: what it left behind in its group goes with it.
        self.kill_tree();
        let status = self.inner.wait().ok()?;
        self.status = Some(status);
        if let Some((_, mark)) = &self.keeper
            && status.signal().is_some()
        {
            // A keeper that was killed has not ended its tree. What is below it is known by its mark.
            let marked =
                || identity::all().into_iter().filter(|pid| identity::has_variable(*pid, MARK, mark)).collect();
            let _ = tree::kill_until_none(marked);
        }
        Some(status)
    }

    /// The same as [`Child::end`] where nothing can be awaited.
    fn end_now(&mut self) {
        if self.last_signal != Signal::SIGKILL {
            self.begin_end();
            let mut ended = [PollFd::new(self.ended.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut ended, PollTimeout::try_from(GRACE).unwrap_or(PollTimeout::ZERO));
        }
        self.kill_tree();
        self.reap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.end_now();
        }
    }
}

fn watch(child: &std::process::Child) -> anyhow::Result<(i32, AsyncFd<OwnedFd>)> {
    let pid = i32::try_from(child.id())?;
    let id = rustix::process::Pid::from_raw(pid).context("a child has no pid")?;
    Ok((pid, watched(pidfd_open(id, PidfdFlags::NONBLOCK).context("cannot watch the child")?)?))
}

#[expect(unsafe_code, reason = "tokio asks for a promise about the descriptor")]
fn watched(pidfd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd is one open descriptor that stays the same until it is dropped.
    Ok(unsafe { AsyncFd::register(pidfd) }?)
}

/// A wait status in words: `exit 1`, `signal SIGKILL`.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("signal {signal}"),
            Err(_) => format!("signal {number}"),
        },
        (None, None) => status.to_string(),
    }
}
