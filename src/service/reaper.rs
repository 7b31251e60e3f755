//! Cleans what a lab left that was killed with SIGKILL: its runtime folders, and any process of it that is still there.
//!
//! A run is dead when nobody holds its lock. A process is its own by pid, start time and boot, as noted when it was
//! started, or by the run's id in its environment. Never by name.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use super::runtime::{LOCK, PREFIX, PROCESSES, RUN, owned, parents, remove_noted};
use crate::process::{identity, tree};

/// The variable that carries a run's id.
const RUN_VARIABLE: &str = "LABW_RUN_ID";

/// Cleans every dead run of this user. What cannot be cleaned now is left for the next start.
pub fn reap() {
    for (parent, _) in parents() {
        for folder in candidates(&parent) {
            reap_one(&folder);
        }
    }
}

fn candidates(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    entries.map(|entry| entry.path()).filter(|path| named(path) && owned(path)).collect()
}

fn reap_one(folder: &Path) {
    // Without our marks it is somebody else's folder with a name like ours.
    let Ok(lock) = File::open(folder.join(LOCK)) else {
        return;
    };
    let Ok(run) = fs::read_to_string(folder.join(RUN)) else {
        return;
    };
    let Ok(_dead) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) else {
        return;
    };
    let noted = noted(folder);
    let find = || {
        let ours = |pid: &i32| noted.contains(&(*pid, identity::start_time(*pid).unwrap_or(0))) || marked(*pid, &run);
        identity::all().into_iter().filter(ours).collect::<BTreeSet<i32>>()
    };
    if tree::kill_until_none(find).is_ok() {
        super::postgres::remove_shared_memory(folder);
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
