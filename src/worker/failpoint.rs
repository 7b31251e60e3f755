//! The worker's side of the wall: parking points.
//!
//! ```text
//!   handler                         lab
//!      | -- point (execution, ...) -> |     every time, armed or not
//!      |            parked            |     looks for armed faults, acts
//!      | <- answer (go, throw, ...) - |
//! ```
//!
//! A handler goes nowhere until it is answered. That is what makes "SIGKILL after the write" after that write.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{mpsc, oneshot};

use crate::fault::Answer;
use crate::protocol::{FromSubject, Reader, ToSubject, env, write_line};

/// Why a handler must stop before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thrown {
    /// It failed.
    Error {
        /// The error's text, as the queue will store it.
        message: String,
        /// Whether the queue must not try again.
        unrecoverable: bool,
    },
    /// It is to put its job back for this long, ms.
    MoveToDelayed(u64),
}

impl Thrown {
    /// An error like any other.
    pub(super) fn error(message: impl Into<String>) -> Self {
        Self::Error { message: message.into(), unrecoverable: false }
    }
}

impl<E: std::error::Error> From<E> for Thrown {
    fn from(error: E) -> Self {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        Self::error(format!("{error}{cause}"))
    }
}

/// Executions that are parked, by number.
type Parked = Arc<Mutex<HashMap<u32, oneshot::Sender<Answer>>>>;

/// A line for the lab, or a request to know when all lines before it are written.
#[derive(Debug)]
enum Line {
    Say(FromSubject),
    Flushed(oneshot::Sender<()>),
}

/// The connection to the lab. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Wall {
    lines: mpsc::UnboundedSender<Line>,
    parked: Parked,
}

/// The reading half: what the lab says besides answers.
#[derive(Debug)]
pub(super) struct Orders {
    reader: Reader<OwnedReadHalf>,
    parked: Parked,
}

/// Connects to the lab.
pub(super) async fn connect() -> anyhow::Result<(Wall, Orders)> {
    let path = super::var(env::SOCKET)?;
    let stream = UnixStream::connect(&path).await.with_context(|| format!("cannot connect to the lab at {path}"))?;
    let (read, mut write) = stream.into_split();
    let (lines, mut queue) = mpsc::unbounded_channel::<Line>();
    tokio::task::spawn_local(async move {
        while let Some(line) = queue.recv().await {
            match line {
                Line::Say(message) if write_line(&mut write, &message).await.is_err() => return,
                Line::Say(_) => {}
                Line::Flushed(done) => drop(done.send(())),
            }
        }
    });
    let parked = Parked::default();
    Ok((Wall { lines, parked: parked.clone() }, Orders { reader: Reader::new(read), parked }))
}

impl Wall {
    /// Tells the lab something. A closed wall is noticed by [`Orders::next`].
    pub(super) fn say(&self, message: FromSubject) {
        let _ = self.lines.send(Line::Say(message));
    }

    /// Waits until everything said before is written.
    pub(super) async fn flushed(&self) {
        let (done, is_done) = oneshot::channel();
        if self.lines.send(Line::Flushed(done)).is_ok() {
            let _ = is_done.await;
        }
    }

    /// Stops at a point until the lab answers.
    ///
    /// # Errors
    /// The lab wants the handler to fail here.
    pub(super) async fn park(&self, execution: u32, point: FromSubject) -> Result<(), Thrown> {
        let (answer, answered) = oneshot::channel();
        self.parked.lock().expect("no holder panics").insert(execution, answer);
        self.say(point);
        match answered.await {
            Ok(Answer::Go) => Ok(()),
            Ok(Answer::Throw { message, unrecoverable }) => Err(Thrown::Error { message, unrecoverable }),
            Ok(Answer::Panic) => panic!("the lab asked for a panic"),
            Ok(Answer::Exit { status }) => exit(status),
            Ok(Answer::Block { ms }) => {
                // The one thread of this process: nothing else runs meanwhile, no renewal and no check.
                std::thread::sleep(Duration::from_millis(ms));
                Ok(())
            }
            Ok(Answer::MoveToDelayed { ms }) => Err(Thrown::MoveToDelayed(ms)),
            Err(_) => Err(Thrown::error("the lab is gone")),
        }
    }
}

#[expect(clippy::exit, reason = "a fault or a planted defect: the process must end here and now, without any clean-up")]
pub(super) fn exit(status: u8) -> ! {
    std::process::exit(status.into())
}

impl Orders {
    /// The next order that is no answer; answers go to the parked handlers. `None` when the lab is gone.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<ToSubject>> {
        loop {
            match self.reader.next::<ToSubject>().await? {
                Some(ToSubject::Answer { execution, answer, .. }) => {
                    let parked = self.parked.lock().expect("no holder panics").remove(&execution);
                    match parked {
                        Some(parked) => drop(parked.send(answer)),
                        None => anyhow::bail!("the lab answered execution {execution}, which is not parked"),
                    }
                }
                other => return Ok(other),
            }
        }
    }
}
