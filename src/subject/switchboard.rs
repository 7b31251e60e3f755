//! One socket for all subjects of a run. A connection belongs to the child whose process, or whose descendant, made it:
//! the kernel says so (`SO_PEERCRED`), no word of the subject is needed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use crate::process::identity;

/// The socket's file in the runtime folder.
const SOCKET: &str = "lab.sock";
/// How many parents up a descendant is looked for.
const ANCESTORS_MAX: usize = 32;
/// When to accept again after the system had no descriptor to spare.
const AGAIN: Duration = Duration::from_millis(5);
/// Connections that may wait for their child to be known.
const EARLY_MAX: usize = 256;

#[derive(Debug, Default)]
struct Lines {
    known: HashMap<i32, mpsc::UnboundedSender<UnixStream>>,
    /// Made before the lab knew the child's pid.
    early: Vec<(i32, UnixStream)>,
}

/// The listening end. Cheap to clone; it listens until the last clone is gone.
#[derive(Debug, Clone)]
pub struct Switchboard {
    path: PathBuf,
    lines: Rc<RefCell<Lines>>,
    _listening: Rc<AbortOnDrop>,
}

#[derive(Debug)]
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Switchboard {
    /// Listens in this folder.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(SOCKET);
        let listener = UnixListener::bind(&path).with_context(|| format!("cannot listen at {}", path.display()))?;
        let lines = Rc::new(RefCell::new(Lines::default()));
        let listening = tokio::task::spawn_local(accept(listener, lines.clone()));
        Ok(Self { path, lines, _listening: Rc::new(AbortOnDrop(listening)) })
    }

    /// Where subjects connect to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connections of this child and its descendants from now on, and those that it was faster with.
    pub fn expect(&self, pid: u32) -> mpsc::UnboundedReceiver<UnixStream> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let Ok(pid) = i32::try_from(pid) else {
            return receiver;
        };
        let mut lines = self.lines.borrow_mut();
        let (own, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut lines.early).into_iter().partition(|(peer, _)| ancestors(*peer).any(|one| one == pid));
        lines.early = others;
        for (_, stream) in own {
            let _ = sender.send(stream);
        }
        lines.known.insert(pid, sender);
        receiver
    }

    /// The child is dead.
    pub fn forget(&self, pid: u32) {
        if let Ok(pid) = i32::try_from(pid) {
            self.lines.borrow_mut().known.remove(&pid);
        }
    }
}

async fn accept(listener: UnixListener, lines: Rc<RefCell<Lines>>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors for a moment: the subject waits in the queue of the socket.
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        let Some(peer) = stream.peer_cred().ok().and_then(|peer| peer.pid()) else {
            continue;
        };
        let mut lines = lines.borrow_mut();
        let owner = ancestors(peer).find_map(|pid| lines.known.get(&pid).cloned());
        match owner {
            Some(owner) => drop(owner.send(stream)),
            None if lines.early.len() < EARLY_MAX => lines.early.push((peer, stream)),
            // Nobody that the lab started.
            None => drop(stream),
        }
    }
}

/// A process and its parents, nearest first.
fn ancestors(pid: i32) -> impl Iterator<Item = i32> {
    std::iter::successors(Some(pid), |pid| identity::parent(*pid)).take(ANCESTORS_MAX)
}
