//! The shared memory segment of a PostgreSQL server that was killed: System V, so it outlives everybody.
//!
//! Every server of PostgreSQL makes one, also those that initdb starts, and removes it at its end; SIGKILL leaves it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long orphaned backends may take to let go of it.
const WAIT: Duration = Duration::from_secs(1);
/// How often it is looked.
const POLL: Duration = Duration::from_millis(2);

/// The segment that the `postmaster.pid` of a data folder names.
#[derive(Debug, PartialEq, Eq)]
struct Segment {
    id: i32,
    creator: u32,
}

/// Removes the segment that a killed server in this data folder left. One that is in use, or that another process
/// made, is not touched.
pub(super) fn remove_left(data: &Path) {
    let pidfile = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let Some(segment) = named(&pidfile) else {
        return;
    };
    let began = Instant::now();
    while let Some(attached) = attached(&segment, &fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default()) {
        if attached == 0 {
            return remove(segment.id);
        }
        if began.elapsed() > WAIT {
            return;
        }
        std::thread::sleep(POLL);
    }
}

/// Line 1 is the pid, negative without a postmaster; line 7 is the segment's key and id.
fn named(pidfile: &str) -> Option<Segment> {
    let creator = pidfile.lines().next()?.trim().parse::<i32>().ok()?.unsigned_abs();
    let id = pidfile.lines().nth(6)?.split_whitespace().nth(1)?.parse().ok()?;
    Some(Segment { id, creator })
}

/// How many processes use the segment; `None` if there is none of this id by this creator.
fn attached(segment: &Segment, table: &str) -> Option<u32> {
    // Columns: key, shmid, perms, size, cpid, lpid, nattch, ...
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let number = |row: &[&str], column: usize| row.get(column)?.parse::<u32>().ok();
    rows.filter(|row| row.get(1).and_then(|id| id.parse().ok()) == Some(segment.id))
        .filter(|row| number(row, 4) == Some(segment.creator))
        .find_map(|row| number(&row, 6))
}

#[expect(unsafe_code, reason = "no crate of ours wraps shmctl")]
fn remove(id: i32) {
    // SAFETY: IPC_RMID takes no buffer; the worst that a wrong id can do is an error, which is ignored.
    unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "       key      shmid perms size cpid lpid nattch uid\n  10035594 23 600 56 4947 4949 0 101\n";

    #[test]
    fn only_the_segment_of_the_server_that_wrote_the_file_is_taken_for_its_own() {
        let file = |pid: &str| format!("{pid}\n/data\n0\n0\n\n\n 10035594        23\n");
        assert_eq!(named(&file("4947")), Some(Segment { id: 23, creator: 4947 }));
        assert_eq!(named(&file("-4947")), Some(Segment { id: 23, creator: 4947 }), "initdb's servers write it so");
        assert_eq!(named("4947\n/data\n"), None);
        assert_eq!(attached(&Segment { id: 23, creator: 4947 }, TABLE), Some(0));
        assert_eq!(attached(&Segment { id: 23, creator: 4948 }, TABLE), None, "somebody else made it");
        assert_eq!(attached(&Segment { id: 24, creator: 4947 }, TABLE), None);
    }
}
