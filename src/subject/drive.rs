//! The one owner of a child: a select loop that turns its socket, its exit and the lab's orders into one kind of event.

use std::time::Duration;

use anyhow::Context;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::log::Log;
use super::spec::Spec;
use super::state::State;
use super::switchboard::Switchboard;
use super::tail::tail;
use crate::process::{self, Child, Signal, Spawner, identity};
use crate::protocol::{FromSubject, LineError, Reader, ToSubject, write_line};

/// How long a process may take to stop.
const STOP_WAIT: Duration = Duration::from_secs(10);
/// How often it is looked.
const STOP_POLL: Duration = Duration::from_millis(1);

/// What was seen of a subject.
#[derive(Debug)]
pub enum Seen {
    /// The process was started.
    Spawned {
        /// Its process id.
        pid: u32,
    },
    /// It said something that it may say now.
    Said(FromSubject),
    /// The kernel says that its process is stopped.
    Stopped,
    /// Its death is confirmed.
    Exited {
        /// The wait status: `exit 1`, `signal SIGKILL`.
        status: String,
        /// Whether it had said `ready`.
        was_ready: bool,
        /// Its last lines and the path of its log.
        tail: String,
    },
    /// It broke the protocol, or never got ready: what, with its last lines and the path of its log.
    Broke(String),
}

/// An order to the drive task.
#[derive(Debug)]
enum Order {
    Say(ToSubject),
    Signal(Signal),
    Kill,
}

/// A running subject. Dropping it kills the process.
#[derive(Debug)]
pub struct Subject {
    orders: mpsc::UnboundedSender<Order>,
}

impl Subject {
    /// Starts the process and its drive task. What is seen goes to `sink`, in order, until [`Seen::Exited`].
    ///
    /// # Errors
    /// The program cannot be started.
    pub async fn launch(
        spawner: &Spawner,
        switchboard: &Switchboard,
        spec: Spec,
        sink: impl Fn(Seen) + 'static,
    ) -> anyhow::Result<Self> {
        let mut child = spawner
            .spawn(process::Spec::new(&spec.program).args(&spec.args).env(spec.environment()).piped())
            .await
            .with_context(|| format!("cannot start {}", spec.name))?;
        let log = Log::new(child.output()?, spec.log.clone());
        let calls = switchboard.expect(child.pid());
        let (orders, received) = mpsc::unbounded_channel();
        let drive = Drive { spec, child, log, switchboard: switchboard.clone(), sink, state: State::Silent };
        tokio::task::spawn_local(drive.run(received, calls));
        Ok(Self { orders })
    }

    /// Says something to it. What it does not hear because it is dead is no error: its death is an event.
    pub fn say(&self, message: ToSubject) {
        let _ = self.orders.send(Order::Say(message));
    }

    /// Sends a signal to its process group.
    pub fn signal(&self, signal: Signal) {
        let _ = self.orders.send(Order::Signal(signal));
    }

    /// SIGKILL to its whole process tree.
    pub fn kill(&self) {
        let _ = self.orders.send(Order::Kill);
    }
}

struct Drive<S> {
    spec: Spec,
    child: Child,
    log: Log,
    switchboard: Switchboard,
    sink: S,
    state: State,
}

impl<S: Fn(Seen)> Drive<S> {
    async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>, mut calls: mpsc::UnboundedReceiver<UnixStream>) {
        (self.sink)(Seen::Spawned { pid: self.child.pid() });
        let boot_ends = Instant::now() + self.spec.boot;
        let mut wall: Option<(Reader<_>, OwnedWriteHalf)> = None;
        let mut wanted = true;
        let status = loop {
            let booting = matches!(self.state, State::Silent | State::Greeted);
            tokio::select! {
                status = self.child.wait() => break status,
                order = orders.recv(), if wanted => match order {
                    Some(order) => self.obey(order, wall.as_mut().map(|(_, write)| write)).await,
                    None => {
                        wanted = false;
                        self.child.kill_tree();
                    }
                },
                Some(stream) = calls.recv(), if wall.is_none() => wall = Some(split(stream)),
                () = self.log.take() => {}
                line = next(&mut wall), if wall.is_some() => match line {
                    Ok(Some(message)) => self.heard(message),
                    // It closed its end, or died: the exit will tell.
                    Ok(None) | Err(LineError::Io(_)) => wall = None,
                    Err(error) => {
                        self.broke(&error.to_string());
                        wall = None;
                    }
                },
                () = sleep_until(boot_ends), if booting => {
                    let said = if self.state == State::Silent { "hello" } else { "ready" };
                    self.broke(&format!("it did not say `{said}` within {:?}", self.spec.boot));
                }
            }
        };
        // Lines that it had written before it died are in the socket still.
        while let Ok(Some(message)) = next(&mut wall).await {
            self.heard(message);
        }
        let was_ready = matches!(self.state, State::Ready | State::Working);
        self.switchboard.forget(self.child.pid());
        let tail = self.last_lines();
        (self.sink)(Seen::Exited { status: process::describe(status), was_ready, tail });
    }

    fn last_lines(&mut self) -> String {
        self.log.drain();
        format!("its last lines, from {}:\n{}", self.log.path().display(), tail(self.log.path()))
    }

    async fn obey(&mut self, order: Order, wall: Option<&mut OwnedWriteHalf>) {
        match order {
            Order::Say(message) => {
                if matches!(message, ToSubject::Start { .. }) {
                    self.state = self.state.started();
                }
                if let Some(write) = wall {
                    // A subject that died does not hear it; its exit is seen next.
                    let _ = write_line(write, &message).await;
                }
            }
            Order::Signal(signal) => {
                self.child.signal(signal);
                if signal == Signal::SIGSTOP {
                    self.stopped().await;
                }
            }
            Order::Kill => self.child.kill_tree(),
        }
    }

    /// Waits until the kernel says that the process is stopped: a sent signal is not a stopped process.
    async fn stopped(&mut self) {
        let pid = i32::try_from(self.child.pid()).unwrap_or_default();
        let bound = Instant::now() + STOP_WAIT;
        while Instant::now() < bound {
            match identity::state(pid) {
                Some('T') => return (self.sink)(Seen::Stopped),
                // Its death will be seen.
                None | Some('Z' | 'X') => return,
                Some(_) => tokio::time::sleep(STOP_POLL).await,
            }
        }
        self.broke(&format!("it is not stopped {STOP_WAIT:?} after SIGSTOP"));
    }

    fn heard(&mut self, message: FromSubject) {
        match self.state.hear(&message) {
            Ok(state) => {
                self.state = state;
                (self.sink)(Seen::Said(message));
            }
            Err(problem) => self.broke(&problem),
        }
    }

    /// Reports a breach and ends the process: nothing that it does from here on could be trusted.
    fn broke(&mut self, problem: &str) {
        let last_lines = self.last_lines();
        let text = format!("{} (pid {}): {problem}; {last_lines}", self.spec.name, self.child.pid());
        (self.sink)(Seen::Broke(text));
        self.child.kill_tree();
    }
}

fn split(stream: UnixStream) -> (Reader<tokio::net::unix::OwnedReadHalf>, OwnedWriteHalf) {
    let (read, write) = stream.into_split();
    (Reader::new(read), write)
}

async fn next(
    wall: &mut Option<(Reader<tokio::net::unix::OwnedReadHalf>, OwnedWriteHalf)>,
) -> Result<Option<FromSubject>, LineError> {
    match wall {
        Some((reader, _)) => reader.next().await,
        None => Ok(None),
    }
}
