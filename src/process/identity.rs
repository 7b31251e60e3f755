//! Which process a pid stands for: pids are used again, so a pid alone names nobody.

use std::fs;

/// When a process began, in kernel ticks since boot; `None` if there is no such process.
pub fn start_time(pid: i32) -> Option<u64> {
    stat(pid)?.get(19)?.parse().ok()
}

/// The kernel's state letter of a process: `R`, `S`, `T` (stopped), `Z`, ...
pub fn state(pid: i32) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

/// The parent of a process.
pub fn parent(pid: i32) -> Option<i32> {
    stat(pid)?.get(1)?.parse().ok()
}

/// This boot of the machine.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Every process id that the kernel shows.
pub fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether the environment that a process was started with has this variable with this value.
pub fn has_variable(pid: i32, name: &str, value: &str) -> bool {
    let wanted = format!("{name}={value}");
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()))
}

/// The fields of `/proc/PID/stat` behind the command, from the state letter on.
fn stat(pid: i32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command stands in brackets and may hold anything, also brackets.
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}
