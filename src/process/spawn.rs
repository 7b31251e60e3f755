//! One thread that starts every child and lives as long as the lab.
//!
//! The kernel sends a parent-death signal when the *thread* that forked ends: children started from a thread of a pool
//! would die with it. The signal is set after the change of user, which would clear it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use nix::sys::signal::Signal;
use tokio::sync::oneshot;

use super::child::{Child, MARK};
use super::{disposition, identity};

/// What to start.
#[derive(Debug, Clone)]
pub struct Spec {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    user: Option<(u32, u32)>,
    input: Option<Vec<u8>>,
    log: Option<PathBuf>,
    piped: bool,
    death_signal: Signal,
    kept: bool,
}

impl Spec {
    /// A program without arguments, with an empty environment, silent.
    pub fn new(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            user: None,
            input: None,
            log: None,
            piped: false,
            death_signal: Signal::SIGKILL,
            kept: false,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds variables. Nothing is inherited.
    #[must_use]
    pub fn env<K: Into<OsString>, V: Into<OsString>>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self {
        self.env.extend(env.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, cwd: &Path) -> Self {
        self.cwd = Some(cwd.to_owned());
        self
    }

    /// Changes the user and group, if given.
    #[must_use]
    pub fn user(mut self, user: Option<(u32, u32)>) -> Self {
        self.user = user;
        self
    }

    /// Gives it this on its standard input.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Appends its output and errors to this file.
    #[must_use]
    pub fn log(mut self, log: &Path) -> Self {
        self.log = Some(log.to_owned());
        self
    }

    /// Sends its output and errors into a pipe, see [`Child::output`].
    #[must_use]
    pub fn piped(mut self) -> Self {
        self.piped = true;
        self
    }

    /// What the kernel sends it when the lab dies, and what it is ended with at first; SIGKILL unless set.
    #[must_use]
    pub fn death_signal(mut self, signal: Signal) -> Self {
        self.death_signal = signal;
        self
    }
}

impl Spec {
    /// Puts a keeper in front: for a command that may start others. `lab` is the lab's own binary.
    #[must_use]
    pub fn kept(mut self, lab: &Path) -> Self {
        let command = std::mem::replace(&mut self.program, lab.to_owned()).into_os_string();
        let arguments = std::mem::take(&mut self.args);
        self.args = ["keeper".into(), "--".into(), command].into_iter().chain(arguments).collect();
        self.death_signal = Signal::SIGTERM;
        self.kept = true;
        self
    }
}

/// How often it is looked whether a start that nobody wants any more is over.
const POLL: Duration = Duration::from_millis(1);
/// Tells kept trees of one lab apart.
static KEPT: AtomicU64 = AtomicU64::new(1);

/// Something for the thread to start, and where the child goes.
type Request = (Spec, oneshot::Sender<anyhow::Result<Child>>);

/// The thread that starts children. Cheap to clone; the thread ends with the last clone.
#[derive(Debug, Clone)]
pub struct Spawner {
    requests: std::sync::mpsc::Sender<Request>,
}

impl Spawner {
    /// Starts the thread. Call within the runtime that the children are to be watched by.
    ///
    /// # Errors
    /// The thread cannot be made.
    pub fn start() -> anyhow::Result<Self> {
        // Whoever started the lab may ignore SIGCHLD: then the kernel would keep no wait status for anybody.
        if disposition::is_ignored(Signal::SIGCHLD) {
            disposition::to_default(Signal::SIGCHLD);
        }
        let (requests, received) = std::sync::mpsc::channel::<Request>();
        let runtime = tokio::runtime::Handle::current();
        std::thread::Builder::new().name("spawn".to_owned()).spawn(move || {
            let _watched_by = runtime.enter();
            for (spec, reply) in received {
                // Whoever asked may be gone: the child dies with the reply.
                let _ = reply.send(start(spec));
            }
        })?;
        Ok(Self { requests })
    }

    /// Starts a child in a process group of its own. Dropped before its end it leaves none: it waits for the start and
    /// ends the child.
    ///
    /// # Errors
    /// The program cannot be started, or its log cannot be opened.
    pub async fn spawn(&self, spec: Spec) -> anyhow::Result<Child> {
        let (reply, child) = oneshot::channel();
        self.requests.send((spec, reply)).map_err(|_| anyhow::anyhow!("the spawn thread has ended"))?;
        let mut pending = Pending(child);
        (&mut pending.0).await.context("the spawn thread has ended")?
    }
}

/// A start that was asked for. Whoever gives up on it may remove folders next, so no child may turn up later.
struct Pending(oneshot::Receiver<anyhow::Result<Child>>);

impl Drop for Pending {
    fn drop(&mut self) {
        while matches!(self.0.try_recv(), Err(oneshot::error::TryRecvError::Empty)) {
            std::thread::sleep(POLL);
        }
    }
}

fn start(spec: Spec) -> anyhow::Result<Child> {
    let program = spec.program.display().to_string();
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).env_clear().envs(spec.env).process_group(0);
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    if let Some((user, group)) = spec.user {
        command.uid(user).gid(group);
    }
    let mut output = None;
    if let Some(log) = &spec.log {
        let file = open_log(log).with_context(|| format!("cannot open the log {}", log.display()))?;
        command.stdout(file.try_clone()?).stderr(file);
    } else if spec.piped {
        let (reading, writing) = std::io::pipe()?;
        command.stdout(writing.try_clone()?).stderr(writing);
        output = Some(reading);
    } else {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    command.stdin(if spec.kept || spec.input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mark = spec.kept.then(new_mark);
    command.envs(mark.iter().map(|mark| (MARK, mark)));
    die_with_parent(&mut command, spec.death_signal);
    let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    // The lab's own copies of the writing ends go: the reading end must see when nobody is left.
    drop(command);
    let mut stdin = child.stdin.take();
    let keeper = mark.and_then(|mark| Some((stdin.take()?, mark)));
    let child = Child::new(child, spec.death_signal, keeper, output)?;
    if let Some((input, mut stdin)) = spec.input.zip(stdin) {
        match stdin.write_all(&input) {
            // It ended without reading: its exit and its last lines say why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written.with_context(|| format!("cannot give {program} its input"))?,
        }
    }
    Ok(child)
}

/// A word that no other tree on this machine carries: the lab's pid, when it began, a number.
fn new_mark() -> String {
    let lab = nix::unistd::getpid().as_raw();
    let began = identity::start_time(lab).unwrap_or(0);
    format!("{lab}-{began}-{}", KEPT.fetch_add(1, Ordering::Relaxed))
}

fn open_log(log: &Path) -> io::Result<File> {
    if let Some(folder) = log.parent() {
        std::fs::create_dir_all(folder)?;
    }
    File::options().create(true).append(true).open(log)
}

/// The kernel ends the child when the thread that starts it, and so the lab, is gone.
#[expect(unsafe_code, reason = "the death signal must be set in the child, between fork and exec")]
pub(super) fn die_with_parent(command: &mut Command, signal: Signal) {
    let lab = nix::unistd::getpid();
    let set = move || {
        nix::sys::prctl::set_pdeathsig(signal).map_err(io::Error::from)?;
        // The lab may have died before the line above: then no signal will come.
        if nix::unistd::getppid() == lab { Ok(()) } else { Err(io::Error::other("the lab is gone")) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are made: prctl and getppid, no allocation.
    unsafe { command.pre_exec(set) };
}
