//! `lab keeper -- COMMAND`: a small process between the lab and a command that may start others.
//!
//! ```text
//!   lab ==pipe==> keeper (subreaper) --> COMMAND (group of its own) --> whatever it starts, also after setsid
//! ```
//!
//! Orphans below it become its children, so nothing can leave its tree. When the command ends, when the pipe on its
//! standard input closes (the lab is dead, however it died) or on SIGTERM, it kills everything below it and ends with
//! the command's status. It must not be killed itself before that: the lab closes the pipe instead.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use super::tree;

/// The exit status when the keeper itself cannot work, as a shell's for a command that cannot be run.
const CANNOT: i32 = 126;

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
    watched.add(Signal::SIGCHLD);
    watched.add(Signal::SIGTERM);
    let mut before = SigSet::empty();
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&watched), Some(&mut before))?;
    let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    // std clears the mask in the child itself.
    let child = Command::new(program).args(args).stdin(Stdio::null()).process_group(0).spawn();
    let child = child.map_err(|error| anyhow::anyhow!("cannot start {}: {error}", program.to_string_lossy()))?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let ended = watch(pid, &signals)?;
    let own = getpid().as_raw();
    tree::kill_until_none(|| {
        reap();
        tree::descendants(own)
    })
    .map_err(|left| anyhow::anyhow!("these processes do not die: {left:?}"))?;
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
            if signal.ssi_signo == Signal::SIGTERM as u32 {
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

/// Reaps whatever has ended.
fn reap() {
    while matches!(waitpid(None, Some(WaitPidFlag::WNOHANG)), Ok(status) if status != WaitStatus::StillAlive) {}
}

/// The keeper's only words go to the subject's log, which is its standard error.
fn complain(text: &str) {
    let _ = nix::unistd::write(std::io::stderr(), text.as_bytes());
}

use std::os::fd::AsFd;
