//! INT, TERM and HUP: the first asks for a teardown, the second ends at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for the signals that end the lab.
#[derive(Debug)]
pub struct Interrupts {
    int: Signal,
    term: Signal,
    hup: Signal,
}

impl Interrupts {
    /// Takes the signals over from their default.
    ///
    /// # Errors
    /// The runtime cannot listen for them.
    pub fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
        })
    }

    /// The number of the next signal. Cancel-safe.
    pub async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.int.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.term.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.hup.recv() => SignalKind::hangup().as_raw_value(),
        }
    }
}
