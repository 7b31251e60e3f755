//! `lab keeper -- COMMAND`: a small process between the lab and a command that may start others.
//!
//! ```text
//!   lab ==pipe==> keeper (subreaper) --> COMMAND (group of its own) --> whatever it starts, also after setsid
//! ```
//!
//! Orphans below it become its children, so nothing can leave its tree. When the command ends, when the pipe on its
//! standard input closes (the lab is dead, however it died) or on SIGTERM, it kills everything below it and ends with
//! the command's status. Everything is dead when the kernel says that the keeper has no child at all.
//!
//! It must not be killed itself before that: the lab closes the pipe instead. What holds if somebody else kills it: the
//! command dies at once (its death signal); what the command started, and what kept the environment that it was given,
//! is killed by the lab as soon as it sees that death, or at the next start of a lab if this one is dead as well. A
//! process that called setsid *and* cleared its environment is out of reach then, and only then.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use super::spawn::die_with_parent;
use super::tree;

/// The exit status when the keeper itself cannot work, as a shell's for a command that cannot be run.
const CANNOT: i32 = 126;

/// What asks it to end.
const ENDING: [Signal; 4] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];
/// How long killed processes may take to go away.
const WAIT: Duration = Duration::from_secs(10);
/// How often it is looked.
const POLL: Duration = Duration::from_millis(1);

/// Keeps a command until it ends; its exit status, 128+n for signal n.
pub fn main(command: &[OsString]) -> i32 {
    match keep(command) {
        Ok(status) => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        Err(error) => {
            complain(&format!("lab keeper: {error}\n"));
            CANNOT
        }
    }
}

fn keep(command: &[OsString]) -> anyhow::Result<ExitStatus> {
    let (program, args) = command.split_first().ok_or_else(|| anyhow::anyhow!("no command was given"))?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut watched = SigSet::empty();
    for signal in std::iter::once(Signal::SIGCHLD).chain(ENDING) {
        watched.add(signal);
    }
    let mut before = SigSet::empty();
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&watched), Some(&mut before))?;
    let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    // std clears the mask in the child itself.
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).process_group(0);
    die_with_parent(&mut command, Signal::SIGKILL);
    let child =
        command.spawn().map_err(|error| anyhow::anyhow!("cannot start {}: {error}", program.to_string_lossy()))?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let ended = watch(pid, &signals)?;
    end_everything()?;
    Ok(ended.unwrap_or_else(|| ExitStatus::from_raw(Signal::SIGKILL as i32)))
}

/// Waits until the command ends, the lab is gone, or SIGTERM; the command's status if it ended.
fn watch(command: Pid, signals: &SignalFd) -> anyhow::Result<Option<ExitStatus>> {
    let stdin = std::io::stdin();
    loop {
        let mut fds = [PollFd::new(signals.as_fd(), PollFlags::POLLIN), PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let lab_is_gone = fds[1].revents().is_some_and(|events| !events.is_empty());
        while let Some(signal) = signals.read_signal()? {
            if signal.ssi_signo != Signal::SIGCHLD as u32 {
                return Ok(None);
            }
        }
        if let Some(status) = ended(command)? {
            return Ok(Some(status));
        }
        if lab_is_gone {
            return Ok(None);
        }
    }
}

/// The command's status, if it ended. Orphans that ended are reaped on the way.
fn ended(command: Pid) -> anyhow::Result<Option<ExitStatus>> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == command => return Ok(Some(ExitStatus::from_raw(code << 8))),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == command => {
                return Ok(Some(ExitStatus::from_raw(signal as i32)));
            }
            Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::ECHILD) => return Ok(None),
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// SIGKILL to everything below, again and again until there is nothing. Orphans become the keeper's own children, so
/// having none is the kernel's word that nothing is left, also of somebody who forks faster than one can look.
fn end_everything() -> anyhow::Result<()> {
    let began = Instant::now();
    while has_children() {
        let left = tree::descendants(getpid().as_raw());
        anyhow::ensure!(began.elapsed() < WAIT, "these processes do not die: {left:?}");
        for pid in left {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Reaps whatever has ended; whether there is a child still.
fn has_children() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(nix::errno::Errno::ECHILD) => return false,
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) | Err(_) => {}
        }
    }
}

/// The keeper's only words go to the subject's log, which is its standard error.
fn complain(text: &str) {
    let _ = nix::unistd::write(std::io::stderr(), text.as_bytes());
}
