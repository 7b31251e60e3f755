//! What a person sees while it runs: one line that renews itself on a terminal, a calm line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use tokio::time::{Instant, Interval, interval_at};

/// How often the line on a terminal is renewed.
const RENEW: Duration = Duration::from_millis(200);
/// How often a line is written elsewhere.
const CALM: Duration = Duration::from_secs(15);
/// The widest line.
const WIDTH: usize = 100;

/// Shows progress on stderr.
pub(super) struct Ticker {
    interval: Interval,
    terminal: bool,
    shown: bool,
}

impl Ticker {
    pub(super) fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        let period = if terminal { RENEW } else { CALM };
        Self { interval: interval_at(Instant::now() + period, period), terminal, shown: false }
    }

    pub(super) async fn tick(&mut self) {
        self.interval.tick().await;
    }

    /// Shows how far it is and what the oldest case waits for.
    pub(super) fn show(&mut self, (done, all): (u64, u64), oldest: Option<(String, String)>) {
        let mut line = format!("{done}/{all} cases");
        if let Some((case, what)) = oldest {
            line.push_str(&format!(" · {case} waits for {what}"));
        }
        let line: String = line.chars().take(WIDTH).collect();
        let mut stderr = anstream::stderr().lock();
        // Progress that cannot be shown is no reason to stop.
        let _ = if self.terminal { write!(stderr, "\r\x1b[2K{line}") } else { writeln!(stderr, "{line}") };
        let _ = stderr.flush();
        self.shown = self.terminal;
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if self.shown {
            let mut stderr = anstream::stderr().lock();
            let _ = write!(stderr, "\r\x1b[2K").and_then(|()| stderr.flush());
        }
    }
}

/// A line on its own.
pub(super) fn note(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
