//! INT, TERM and HUP: the first asks for a teardown, the second ends at once.

use nix::sys::signal::Signal as Name;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::disposition;

/// Listens for the signals that end the lab.
#[derive(Debug)]
pub struct Interrupts {
    int: Signal,
    term: Signal,
    /// None under `nohup`.
    hup: Option<Signal>,
}

impl Interrupts {
    /// Takes the signals over from their default. A SIGHUP that is ignored already stays so: that is what `nohup` asks.
    ///
    /// # Errors
    /// The runtime cannot listen for them.
    pub fn listen() -> anyhow::Result<Self> {
        disposition::unblock(&[Name::SIGINT, Name::SIGTERM, Name::SIGHUP]);
        let hup = if disposition::is_ignored(Name::SIGHUP) { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { int: signal(SignalKind::interrupt())?, term: signal(SignalKind::terminate())?, hup })
    }

    /// The number of the next signal. Cancel-safe.
    ///
    /// From then on INT and TERM do what they do by default: whatever the teardown is busy with, the second ends the
    /// lab at once. Children die by their death signals, folders are left to the reaper of the next start. A second HUP
    /// after a first is nobody's haste: a closing terminal sends two.
    pub async fn next(&mut self) -> i32 {
        let hup = async {
            match &mut self.hup {
                Some(hup) => hup.recv().await,
                None => std::future::pending().await,
            }
        };
        let kind = tokio::select! {
            _ = self.int.recv() => SignalKind::interrupt(),
            _ = self.term.recv() => SignalKind::terminate(),
            _ = hup => SignalKind::hangup(),
        };
        disposition::to_default(Name::SIGINT);
        disposition::to_default(Name::SIGTERM);
        kind.as_raw_value()
    }
}
