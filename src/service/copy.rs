//! Copies a folder of plain files in a thread of its own that never outlives the wait for it.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use anyhow::Context;
use tokio::sync::oneshot;

/// A copy at work. Dropping it stops the copy: whoever gives up on it may remove the folder next.
struct Copying {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Copying {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Copies `from` to `to`, which must not be there, for this user.
pub(super) async fn tree(from: PathBuf, to: PathBuf, user: Option<(u32, u32)>) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let (done, copied) = oneshot::channel();
    let stopped = stop.clone();
    let thread = std::thread::Builder::new().name("copy".to_owned()).spawn(move || {
        let _ = done.send(copy(&from, &to, user, &stopped));
    })?;
    let _copying = Copying { stop, thread: Some(thread) };
    copied.await.context("the copy broke off")?
}

fn copy(from: &Path, to: &Path, user: Option<(u32, u32)>, stop: &AtomicBool) -> anyhow::Result<()> {
    let owner = |path: &Path| match user {
        Some((user, group)) => chown(path, Some(user), Some(group)),
        None => Ok(()),
    };
    DirBuilder::new().mode(0o700).create(to).with_context(|| format!("cannot make {}", to.display()))?;
    owner(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        anyhow::ensure!(!stop.load(Ordering::Relaxed), "the copy was stopped");
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target, user, stop)?;
        } else {
            fs::copy(&source, &target).with_context(|| format!("cannot copy to {}", target.display()))?;
            owner(&target)?;
        }
    }
    Ok(())
}
