//! Cleans what a lab left that was killed with SIGKILL: its runtime folders, and any process of it that is still there.
//!
//! A run is dead when nobody holds its lock. A process is its own by pid, start time and boot, as noted when it was
//! started, or by the run's id in its environment. Never by name.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

use super::postgres::DATA;
use super::runtime::{LOCK, PROCESSES, RUN, is_named, owned, parents, remove_noted};
use super::segment;
use crate::process::{identity, tree};

/// The variable that carries a run's id.
const RUN_VARIABLE: &str = "LABW_RUN_ID";

/// How long servers that were told to end may take.
const GRACE: Duration = Duration::from_secs(2);

/// Cleans every dead run of this user. What cannot be cleaned now is left for the next start.
pub fn reap() {
    for (parent, prefix) in parents() {
        for folder in candidates(&parent, &prefix) {
            reap_one(&folder);
        }
    }
}

fn candidates(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_named(path, prefix) && owned(path)).collect()
}

fn reap_one(folder: &Path) {
    let Ok(lock) = File::open(folder.join(LOCK)) else {
        // Its owner died between two steps, or is between them: then it will make another folder. Only an empty one goes.
        let _ = fs::remove_dir(folder);
        return;
    };
    let Ok(_dead) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) else {
        return;
    };
    let run = fs::read_to_string(folder.join(RUN)).unwrap_or_default();
    let noted = noted(folder);
    let find = || {
        let ours = |pid: &i32| noted.contains(&(*pid, identity::start_time(*pid).unwrap_or(0))) || marked(*pid, &run);
        let found: BTreeSet<i32> = identity::all().into_iter().filter(ours).collect();
        // A server's own children may have painted over their environment.
        let below: Vec<i32> = found.iter().flat_map(|pid| tree::descendants(*pid)).collect();
        found.into_iter().chain(below).collect()
    };
    // Their death signals have been sent: who cleans up after itself needs a moment.
    tree::wait_until_none(find, GRACE);
    if tree::kill_until_none(find).is_ok() {
        segment::remove_left(&folder.join(DATA));
        remove_noted(folder);
    }
}

fn marked(pid: i32, run: &str) -> bool {
    !run.is_empty() && identity::has_variable(pid, RUN_VARIABLE, run)
}

/// Pids with their start times, as noted in this boot.
fn noted(folder: &Path) -> BTreeSet<(i32, u64)> {
    let boot = identity::boot_id();
    let text = fs::read_to_string(folder.join(PROCESSES)).unwrap_or_default();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let (pid, started, noted_boot) = (words.next()?, words.next()?, words.next()?);
        (noted_boot == boot).then_some((pid.parse().ok()?, started.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}
