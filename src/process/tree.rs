//! The descendants of a process, and an end to all of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::identity;

/// How long killed processes may take to go away.
const WAIT: Duration = Duration::from_secs(10);
/// How often it is looked.
const POLL: Duration = Duration::from_millis(1);

/// Every process below this one, as the kernel shows them now. Those that called `setsid` are among them.
pub fn descendants(root: i32) -> BTreeSet<i32> {
    let parents: Vec<(i32, i32)> =
        identity::all().into_iter().filter_map(|pid| Some((pid, identity::parent(pid)?))).collect();
    let mut found = BTreeSet::from([root]);
    loop {
        let before = found.len();
        let below: Vec<i32> =
            parents.iter().filter(|(_, parent)| found.contains(parent)).map(|(pid, _)| *pid).collect();
        found.extend(below);
        if found.len() == before {
            found.remove(&root);
            return found;
        }
    }
}

/// Waits until `find` finds nothing that lives, or the bound has passed.
pub fn wait_until_none(find: impl Fn() -> BTreeSet<i32>, bound: Duration) {
    let began = Instant::now();
    while began.elapsed() < bound && !living(find()).is_empty() {
        std::thread::sleep(POLL);
    }
}

/// SIGKILL to everything that `find` finds, again and again until it finds nothing that lives. Zombies are dead.
///
/// # Errors
/// Something is still there after the bound: its pids.
pub fn kill_until_none(find: impl Fn() -> BTreeSet<i32>) -> Result<(), BTreeSet<i32>> {
    let began = Instant::now();
    loop {
        let living = living(find());
        if living.is_empty() {
            return Ok(());
        }
        if began.elapsed() > WAIT {
            return Err(living);
        }
        for pid in &living {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        std::thread::sleep(POLL);
    }
}

/// Those that are not dead.
fn living(pids: BTreeSet<i32>) -> BTreeSet<i32> {
    pids.into_iter().filter(|pid| !matches!(identity::state(*pid), None | Some('Z' | 'X'))).collect()
}
