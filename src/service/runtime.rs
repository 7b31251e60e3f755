//! The short-lived folder of a run: sockets, data, and the marks by which a later lab knows that its owner is dead.
//!
//! It is short because a socket's path must stay under 100 bytes, and 0700 because what is in it opens the servers.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use nix::fcntl::{Flock, FlockArg};

use crate::process::identity;

/// How every runtime folder's name begins.
pub(super) const PREFIX: &str = "lab-";
/// How the folder's name begins that belongs to PostgreSQL's user when the lab is root.
pub(super) const POSTGRES: &str = "lab-postgres-";
/// Held by flock as long as the lab lives.
pub(super) const LOCK: &str = "lock";
/// The run's id.
pub(super) const RUN: &str = "run";
/// One line per server: pid, start time, boot id.
pub(super) const PROCESSES: &str = "processes";
/// Further folders that go with this one, one line each.
pub(super) const FOLDERS: &str = "folders";

/// What random words are made of.
const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyz0123456";
/// How long the random word in a folder's name is.
pub(super) const WORD: usize = 8;
/// How often something is tried that another lab, or somebody dying, may disturb.
const TRIES: u32 = 100;
/// How long to wait between.
const AGAIN: Duration = Duration::from_millis(5);

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
        let mut trouble = anyhow::anyhow!("no folder for sockets");
        for (parent, prefix) in parents() {
            for _ in 0..TRIES {
                match Self::try_create(&parent.join(format!("{prefix}{}", random_word(WORD)?)), run) {
                    Ok(Some(runtime)) => return Ok(runtime),
                    Ok(None) => {}
                    Err(error) => {
                        trouble = error;
                        break;
                    }
                }
            }
        }
        Err(trouble)
    }

    /// None if another lab's reaper took the folder for a dead one between two steps.
    fn try_create(path: &Path, run: &str) -> anyhow::Result<Option<Self>> {
        private_folder(path)?;
        let file = path.join(LOCK);
        let lock = match File::options().create_new(true).write(true).mode(0o600).open(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            lock => lock.with_context(|| format!("cannot make {}", file.display()))?,
        };
        let Ok(lock) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) else {
            return Ok(None);
        };
        let is_there =
            fs::metadata(&file).is_ok_and(|there| lock.metadata().is_ok_and(|held| held.ino() == there.ino()));
        if !is_there {
            return Ok(None);
        }
        let runtime = Self { path: path.to_owned(), _lock: lock };
        fs::write(path.join(RUN), run).with_context(|| format!("cannot write in {}", path.display()))?;
        Ok(Some(runtime))
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

/// Removes a runtime folder and the folders noted in it. The folder with the notes goes last, and only if the others
/// are gone: the next start tries again.
pub(super) fn remove_noted(path: &Path) {
    let notes = fs::read_to_string(path.join(FOLDERS)).unwrap_or_default();
    let gone: Vec<bool> = notes.lines().map(Path::new).filter(|path| is_ours(path)).map(remove_tree).collect();
    if gone.into_iter().all(|gone| gone) {
        remove_tree(path);
    }
}

/// Removes a folder in which somebody who is dying may still make files.
pub(super) fn remove_tree(path: &Path) -> bool {
    for _ in 0..TRIES {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(AGAIN),
            _ => return true,
        }
    }
    false
}

/// Whether a noted folder is one that a lab makes: a hostile note must not remove anything else.
fn is_ours(folder: &Path) -> bool {
    let temporary = folder.parent().is_some_and(|parent| parent == Path::new("/tmp"));
    is_named(folder, POSTGRES) && temporary && fs::symlink_metadata(folder).is_ok_and(|folder| folder.is_dir())
}

/// Whether a folder's name is these words and a random word.
pub(super) fn is_named(folder: &Path, prefix: &str) -> bool {
    let word = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(prefix));
    word.is_some_and(|word| word.len() == WORD && word.bytes().all(|byte| LETTERS.contains(&byte)))
}

/// Where runtime folders are made, and how their names begin, the preferred one first.
pub(super) fn parents() -> Vec<(PathBuf, String)> {
    let temporary = (PathBuf::from("/tmp"), format!("{PREFIX}{}-", nix::unistd::getuid()));
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| {
        // 60 bytes are left for the names of the sockets, and their paths stand in URLs.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
        let bytes = folder.as_os_str().as_encoded_bytes();
        folder.is_absolute() && bytes.len() < 30 && bytes.iter().all(plain) && folder.is_dir() && owned(folder)
    });
    session.map(|folder| (folder, PREFIX.to_owned())).into_iter().chain([temporary]).collect()
}

/// Whether a folder is this user's own.
pub(super) fn owned(folder: &Path) -> bool {
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
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect())
}
