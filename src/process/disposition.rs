//! What this process inherited about signals: whoever started the lab may have had some ignored or blocked.

use nix::sys::signal::{SigHandler, SigSet, Signal, signal};

/// Whether a signal is ignored now, as `nohup` does it with SIGHUP.
pub(super) fn is_ignored(asked: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (asked as i32 - 1) & 1 == 1
}

/// Lets these signals arrive in this thread and those that it starts from now on.
pub(super) fn unblock(signals: &[Signal]) {
    let _ = signals.iter().copied().collect::<SigSet>().thread_unblock();
}

/// Back to what the kernel does by itself.
#[expect(unsafe_code, reason = "nix cannot know what a handler would do; there is none")]
pub(super) fn to_default(asked: Signal) {
    // SAFETY: no handler is installed, the default action only.
    let _ = unsafe { signal(asked, SigHandler::SigDfl) };
}
