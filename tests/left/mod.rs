//! What the tests of "leaves nothing behind" share: a lab whose runtime folders nobody else uses, and what is left of it.
//! Nothing is measured: every wait is a bounded poll. Only what a test's own lab made is looked at.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses its part")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lab::process::{Signal, identity, tree};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use tempfile::TempDir;

/// A user that is not root.
pub(crate) const NOBODY: u32 = 65534;
/// How long anything may take before a test gives up.
const BOUND: Duration = Duration::from_secs(60);

/// Polls until it holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < BOUND, "waited {BOUND:?} for {what}");
        sleep(Duration::from_millis(2));
    }
}

/// Whether a process runs; a zombie does not.
pub(crate) fn lives(pid: i32) -> bool {
    !matches!(identity::state(pid), None | Some('Z' | 'X'))
}

/// Sends a signal to a process of the test's own; one that is dead does not hear it.
pub(crate) fn send(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}

pub(crate) fn is_root() -> bool {
    nix::unistd::getuid().is_root()
}

/// Folders of one test: a place to work in, a runtime folder, a home, a cache.
pub(crate) struct Ground {
    folder: TempDir,
    pub(crate) runtime: TempDir,
    as_nobody: bool,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let make = || tempfile::Builder::new().prefix("t").rand_bytes(6).tempdir_in("/tmp").expect("a folder");
        let ground = Self { folder: make(), runtime: make(), as_nobody: false };
        for name in ["work", "home", "cache"] {
            fs::create_dir(ground.path(name)).expect("a folder");
        }
        ground
    }

    /// The same for a lab that is not root; without root it is the same.
    pub(crate) fn unprivileged() -> Self {
        let mut ground = Self::new();
        if is_root() {
            ground.as_nobody = true;
            // By another process: a child that a test beside this one forks would inherit the open file, and a program
            // that somebody can write to cannot be started ("text file busy").
            let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_lab")).arg(ground.path("lab")).status();
            assert!(copied.is_ok_and(|status| status.success()), "a copy of the lab");
            let (root, runtime) = (ground.folder.path().to_owned(), ground.runtime.path().to_owned());
            for folder in [ground.path("work"), ground.path("home"), ground.path("cache"), root.clone(), runtime] {
                chown(&folder, Some(NOBODY), Some(NOBODY)).expect("another owner");
            }
            fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).expect("another mode");
        }
        ground
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A `lab` with these arguments.
    pub(crate) fn lab(&self, args: &[&str]) -> Command {
        let copy = self.path("lab");
        let mut command =
            Command::new(if self.as_nobody { copy.as_path() } else { Path::new(env!("CARGO_BIN_EXE_lab")) });
        command.args(args).current_dir(self.path("work")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.path("home"));
        command.env("XDG_RUNTIME_DIR", self.runtime.path()).env("XDG_CACHE_HOME", self.path("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.as_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// A run that goes on for much longer than any test.
    pub(crate) fn long_run(&self) -> Running {
        self.start(&["run", "--scenario", "stall-kill", "--repeat", "100000", "--jobs", "8", "--format", "ndjson"])
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut child = self.lab(args).spawn().expect("the lab starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Running { child, stdout: Some(stdout), seen: BTreeSet::new() }
    }

    /// The runtime folders of labs that live or were killed.
    pub(crate) fn runtime_folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.runtime.path()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    }

    /// The lines of a file of this name in any runtime folder.
    pub(crate) fn notes(&self, file: &str) -> Vec<String> {
        let texts = self.runtime_folders().into_iter().filter_map(|folder| fs::read_to_string(folder.join(file)).ok());
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// Folders elsewhere that the labs of this ground noted.
    pub(crate) fn noted_folders(&self) -> Vec<PathBuf> {
        self.notes("folders").into_iter().map(PathBuf::from).collect()
    }

    /// Where the clusters of its labs are: as root in the noted folders, else in the runtime folders.
    pub(crate) fn clusters(&self) -> Vec<PathBuf> {
        let own = self.runtime_folders().into_iter().map(|folder| folder.join("postgres"));
        self.noted_folders().into_iter().chain(own).map(|folder| folder.join("data")).collect()
    }

    /// Asserts that nothing is left of labs that had these processes and folders.
    pub(crate) fn assert_nothing_is_left(&self, processes: &BTreeSet<i32>, folders: &[PathBuf]) {
        let mut living = BTreeSet::new();
        until("killed processes to be gone", || {
            living = processes.iter().copied().filter(|pid| lives(*pid)).collect();
            living.is_empty()
        });
        assert_eq!(self.runtime_folders(), Vec::<PathBuf>::new(), "runtime folders");
        let folders: Vec<&PathBuf> = folders.iter().filter(|folder| folder.exists()).collect();
        assert!(folders.is_empty(), "{folders:?}");
        assert_eq!(segments_of(processes), Vec::<String>::new(), "shared memory");
    }
}

/// Shared memory segments that one of these processes made.
pub(crate) fn segments_of(processes: &BTreeSet<i32>) -> Vec<String> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let by = |line: &&str| {
        line.split_whitespace().nth(4).and_then(|pid| pid.parse().ok()).is_some_and(|pid: i32| processes.contains(&pid))
    };
    table.lines().skip(1).filter(by).map(str::to_owned).collect()
}

/// A lab at work.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    /// Every process that was seen below it.
    pub(crate) seen: BTreeSet<i32>,
}

impl Running {
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    /// Looks at what is below it now.
    pub(crate) fn look(&mut self) -> BTreeSet<i32> {
        let below = tree::descendants(self.pid());
        self.seen.extend(&below);
        below
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        self.look();
        kill(Pid::from_raw(self.pid()), signal).expect("the lab can be signalled");
    }

    /// Reads its output up to a line with this in it.
    pub(crate) fn read_until(&mut self, word: &str) -> String {
        let stdout = self.stdout.as_mut().expect("its output is open");
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(stdout.read_line(&mut line).expect("text"), 0, "its output ended without `{word}`");
        }
        line
    }

    /// Reads its errors up to a line with this in it; everything up to there.
    pub(crate) fn read_errors_until(&mut self, word: &str) -> String {
        let stderr = self.child.stderr.as_mut().expect("its errors are open");
        let mut text = Vec::new();
        let mut byte = [0];
        while !String::from_utf8_lossy(&text).contains(word) {
            assert_ne!(stderr.read(&mut byte).expect("text"), 0, "{}", String::from_utf8_lossy(&text));
            text.push(byte[0]);
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Nobody reads its output any more.
    pub(crate) fn close_output(&mut self) {
        self.stdout = None;
    }

    /// Its end: status, the rest of its output, the rest of its errors.
    pub(crate) fn end(&mut self) -> (ExitStatus, String, String) {
        let (mut output, mut errors) = (String::new(), String::new());
        if let Some(stdout) = &mut self.stdout {
            stdout.read_to_string(&mut output).expect("text");
        }
        if let Some(stderr) = &mut self.child.stderr {
            stderr.read_to_string(&mut errors).expect("text");
        }
        (self.child.wait().expect("a status"), output, errors)
    }
}

impl Drop for Running {
    /// A test that failed leaves nothing either.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            send(self.pid(), Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}
