//! The short-lived folder of a run: sockets, data, and the marks by which a later lab knows that its owner is dead.
//!
//! It is short because a socket's path must stay under 100 bytes, and 0700 because what is in it opens the servers.

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::fcntl::{Flock, FlockArg};

use crate::process::identity;

/// How every runtime folder's name begins.
pub(super) const PREFIX: &str = "lab-";
/// Held by flock as long as the lab lives.
pub(super) const LOCK: &str = "lock";
/// The run's id.
pub(super) const RUN: &str = "run";
/// One line per server: pid, start time, boot id.
pub(super) const PROCESSES: &str = "processes";
/// Further folders that go with this one, one line each.
pub(super) const FOLDERS: &str = "folders";

/// The folder of a living run. Dropping it removes it.
#[derive(Debug)]
pub struct Runtime {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Runtime {
    /// Makes the folder and takes its lock.
    ///
    /// # Errors
    /// No short enough folder can be made.
    pub fn create(run: &str) -> anyhow::Result<Self> {
        let word = random_word(8)?;
        let path = parents().into_iter().next().context("no folder for sockets")?;
        let path = path.1.replace("{}", &word);
        let path = PathBuf::from(path);
        private_folder(&path)?;
        let lock = File::options().create_new(true).write(true).mode(0o600).open(path.join(LOCK))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock)
            .map_err(|(_, error)| anyhow::anyhow!("cannot lock {}: {error}", path.display()))?;
        fs::write(path.join(RUN), run)?;
        Ok(Self { path, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes a process, so that a later lab can tell it from a stranger with its pid.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note_process(&self, pid: u32) -> anyhow::Result<()> {
        let started = i32::try_from(pid).ok().and_then(identity::start_time).unwrap_or(0);
        self.note(PROCESSES, &format!("{pid} {started} {}", identity::boot_id()))
    }

    /// Notes a folder elsewhere that belongs to this run.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note_folder(&self, folder: &Path) -> anyhow::Result<()> {
        self.note(FOLDERS, &folder.display().to_string())
    }

    fn note(&self, file: &str, line: &str) -> anyhow::Result<()> {
        let path = self.path.join(file);
        let mut file = File::options().create(true).append(true).mode(0o600).open(&path)?;
        file.write_all(format!("{line}\n").as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Removes the folder and those noted in it.
    ///
    /// # Errors
    /// One cannot be removed.
    pub fn remove(self) -> anyhow::Result<()> {
        let path = self.path.clone();
        drop(self);
        anyhow::ensure!(!path.exists(), "cannot remove {}", path.display());
        Ok(())
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        remove_noted(&self.path);
    }
}

/// Removes a runtime folder and the folders noted in it; the folder with the notes goes last.
pub(super) fn remove_noted(path: &Path) {
    for folder in fs::read_to_string(path.join(FOLDERS)).unwrap_or_default().lines().map(Path::new) {
        if is_ours(folder) {
            let _ = fs::remove_dir_all(folder);
        }
    }
    let _ = fs::remove_dir_all(path);
}

/// Whether a noted folder is one that a lab makes: a hostile note must not remove anything else.
fn is_ours(folder: &Path) -> bool {
    let named = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    let temporary = folder.parent().is_some_and(|parent| parent == Path::new("/tmp"));
    named && temporary && fs::symlink_metadata(folder).is_ok_and(|folder| folder.is_dir())
}

/// Where runtime folders are made, and the shape of their paths, the preferred one first.
pub(super) fn parents() -> Vec<(PathBuf, String)> {
    let user = nix::unistd::getuid();
    let temporary = (PathBuf::from("/tmp"), format!("/tmp/{PREFIX}{user}-{{}}"));
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| {
        // 60 bytes are left for the names of the sockets.
        folder.is_absolute() && folder.as_os_str().len() < 30 && folder.is_dir() && owned(folder)
    });
    let session = session.map(|folder| (folder.clone(), format!("{}/{PREFIX}{{}}", folder.display())));
    session.into_iter().chain([temporary]).collect()
}

/// Whether a folder is this user's own.
pub(super) fn owned(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == nix::unistd::getuid().as_raw())
}

/// Makes a folder that nobody else can enter.
pub(super) fn private_folder(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new().mode(0o700).create(path).with_context(|| format!("cannot make the folder {}", path.display()))
}

/// A random word of small letters and digits.
///
/// # Errors
/// The system has no randomness.
pub fn random_word(length: usize) -> anyhow::Result<String> {
    const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyz0123456";
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect())
}
