//! What every server's start has in common: a free port, a bounded wait for its first answer, and its last lines if
//! there is none.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use crate::process::{Child, describe};

/// How long a server may take to answer.
const WAIT: Duration = Duration::from_secs(30);
/// How often it is asked meanwhile.
const POLL: Duration = Duration::from_millis(2);
/// How often another port is tried.
const TRIES: u32 = 8;
/// What both servers write when somebody else has the port.
const IN_USE: &str = "Address already in use";
/// How many lines of a log are shown.
const LINES: usize = 12;

/// Why there is no answer.
pub(super) enum Trouble {
    /// Ask again.
    NotYet(anyhow::Error),
    /// It will never answer.
    Never(anyhow::Error),
}

/// A port that was free just now. Somebody may take it before the server does: see [`with_free_port`].
pub(super) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Starts a server, again on another port if somebody was faster.
pub(super) async fn with_free_port<T>(log: &Path, start: impl AsyncFn() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut tries = 1;
    loop {
        match start().await {
            Err(_) if tries < TRIES && last_lines(log).contains(IN_USE) => tries += 1,
            other => return other,
        }
    }
}

/// Asks until the server answers, dies, or the bound has passed.
pub(super) async fn answered<T>(
    name: &str,
    child: &mut Child,
    log: &Path,
    ask: impl AsyncFn() -> Result<T, Trouble>,
) -> anyhow::Result<T> {
    let bound = Instant::now() + WAIT;
    let evidence = || format!("its last lines, from {}:\n{}", log.display(), last_lines(log));
    loop {
        // A death ends the question: whoever answers then is somebody else.
        let answer = tokio::select! {
            biased;
            status = child.wait() => {
                anyhow::bail!("{name} would not start, it ended with `{}`; {}", describe(status), evidence())
            }
            answer = timeout_at(bound, ask()) => answer,
        };
        match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(Trouble::Never(reason))) => {
                anyhow::bail!("{name} (pid {}): {reason:#}; {}", child.pid(), evidence())
            }
            Ok(Err(Trouble::NotYet(_))) if Instant::now() < bound => sleep(POLL).await,
            Ok(Err(Trouble::NotYet(reason))) => {
                anyhow::bail!(
                    "{name} (pid {}) does not answer within {WAIT:?}: {reason:#}; {}",
                    child.pid(),
                    evidence()
                )
            }
            Err(_) => anyhow::bail!("{name} (pid {}) does not answer within {WAIT:?}; {}", child.pid(), evidence()),
        }
    }
}

/// The last lines of a server's log.
pub(super) fn last_lines(log: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    if lines.is_empty() { "  (it wrote nothing)".to_owned() } else { format!("  {}", lines[from..].join("\n  ")) }
}
