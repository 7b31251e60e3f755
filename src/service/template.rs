//! A database cluster that was made once and never started, kept in a cache and copied for each run: 0.05 s instead of
//! the 0.4 s of initdb.
//!
//! It is keyed by the server's version and initdb's flags, made under a lock and renamed into place, so two labs that
//! start first at once make one.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use tokio::time::{Instant, sleep};

use super::postgres::{Home, ROLE};
use super::runtime::Runtime;
use super::start::last_lines;
use super::{Options, copy, runtime, segment};
use crate::process::{Spawner, Spec, describe};

/// How a cluster is made. `--wal-segsize=1`: sixteen times less to copy.
const INITDB: &[&str] = &[
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
    "--no-sync",
    "--no-instructions",
    "--wal-segsize=1",
];
/// The surroundings of PostgreSQL's programs.
const PLAIN: [(&str, &str); 2] = [("PATH", "/usr/bin:/bin"), ("LANG", "C")];
/// Changes when the flags above or the layout of the cache do.
const LAYOUT: &str = "1";
/// How long initdb may take.
const INITDB_WAIT: Duration = Duration::from_secs(120);

/// How long the program may take to say its version.
const VERSION_WAIT: Duration = Duration::from_secs(20);
/// How often it is looked whether another lab is done.
const POLL: Duration = Duration::from_millis(5);
/// How the name of a template that is not ready begins.
const MAKING: &str = "making-";

/// Copies the template to `home/data`, making it first if need be; the server's version.
pub(super) async fn copy(
    spawner: &Spawner,
    runtime: &Runtime,
    bin: &Path,
    home: &Home,
    options: &Options,
) -> anyhow::Result<String> {
    let version = version(spawner, runtime, bin).await?;
    let cache = cache(home)?;
    sweep(&cache);
    let template = cache.join(format!("postgres-{version}-{LAYOUT}"));
    if !template.is_dir() {
        make(spawner, bin, home, options, &cache, &template).await?;
    }
    copy::tree(template, home.folder.join("data"), home.user).await?;
    Ok(version)
}

/// The version that the program says it has.
async fn version(spawner: &Spawner, runtime: &Runtime, bin: &Path) -> anyhow::Result<String> {
    let program = bin.join("postgres");
    let answer = runtime.path().join("postgres-version");
    let mut child = spawner.spawn(Spec::new(&program).args(["--version"]).env(PLAIN).log(&answer)).await?;
    let status = tokio::time::timeout(VERSION_WAIT, child.wait())
        .await
        .with_context(|| format!("{} --version does not end within {VERSION_WAIT:?}", program.display()))?;
    let text = last_lines(&answer);
    let version = text.split_whitespace().nth(2).filter(|version| status.success() && is_plain(version));
    let version = version.with_context(|| {
        format!("{} --version ended with `{}` and says:\n{text}", program.display(), describe(status))
    })?;
    Ok(version.to_owned())
}

/// Whether a word may be part of a file's name.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
}

/// Removes templates that a killed lab left half-made. While another lab is making one, nothing is touched.
fn sweep(cache: &Path) {
    if half_made(cache).next().is_some()
        && let Ok(lock) = open_lock(cache)
        && let Ok(_lock) = Flock::lock(lock, FlockArg::LockExclusiveNonblock)
    {
        half_made(cache).for_each(|path| drop(Making { path }));
    }
}

fn half_made(cache: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(MAKING)).map(|entry| entry.path())
}

/// A template that is not ready. Dropping it, after initdb, removes it and what initdb's servers left.
struct Making {
    path: PathBuf,
}

impl Drop for Making {
    fn drop(&mut self) {
        segment::remove_left(&self.path);
        runtime::remove_tree(&self.path);
    }
}

/// The folder of templates, safe to use.
fn cache(home: &Home) -> anyhow::Result<PathBuf> {
    // As root the other user must be able to pass through it.
    let mode = if home.user.is_some() { 0o711 } else { 0o700 };
    let temporary = PathBuf::from(format!("/tmp/lab-{}-cache", nix::unistd::getuid()));
    let own = if home.user.is_some() { None } else { user_cache() };
    own.and_then(|own| usable(own, mode).ok()).map_or_else(|| usable(temporary, mode), Ok)
}

/// Makes a folder that nobody else can write to, if it is not there.
fn usable(path: PathBuf, mode: u32) -> anyhow::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(&path)
        .with_context(|| format!("cannot make {}", path.display()))?;
    let found = fs::symlink_metadata(&path)?;
    anyhow::ensure!(
        runtime::owned(&path) && found.mode() & 0o022 == 0,
        "{} is not this user's own, or others may write to it: remove it",
        path.display()
    );
    nix::unistd::access(&path, nix::unistd::AccessFlags::W_OK).with_context(|| format!("{}", path.display()))?;
    Ok(path)
}

fn user_cache() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(cache.or_else(home)?.join("queue-lab"))
}

async fn make(
    spawner: &Spawner,
    bin: &Path,
    home: &Home,
    options: &Options,
    cache: &Path,
    template: &Path,
) -> anyhow::Result<()> {
    let _lock = lock(cache).await?;
    if template.is_dir() {
        return Ok(());
    }
    half_made(cache).for_each(|path| drop(Making { path }));
    let making = Making { path: cache.join(format!("{MAKING}{}", runtime::random_word(8)?)) };
    runtime::private_folder(&making.path)?;
    if let Some((user, group)) = home.user {
        chown(&making.path, Some(user), Some(group))?;
    }
    let log = options.logs.join("initdb.log");
    let spec = Spec::new(&bin.join("initdb"))
        .args(INITDB.iter().copied())
        .args(["-U".to_owned(), ROLE.to_owned(), "-D".to_owned(), making.path.display().to_string()])
        .env(PLAIN)
        .env([("LABW_RUN_ID", &options.run)])
        .cwd(Path::new("/"))
        .user(home.user)
        .log(&log);
    let mut child = spawner.spawn(spec).await?;
    let status = tokio::time::timeout(INITDB_WAIT, child.wait()).await;
    let made = match status {
        Ok(status) if status.success() => {
            fs::rename(&making.path, template).context("cannot put the template in place")
        }
        Ok(status) => Err(anyhow::anyhow!("initdb ended with `{}`", describe(status))),
        Err(_) => Err(anyhow::anyhow!("initdb did not end within {INITDB_WAIT:?}")),
    };
    made.with_context(|| format!("its last lines, from {}:\n{}", log.display(), last_lines(&log)))
}

/// The lock of the cache. Another lab's initdb is waited for without a thread, so that a signal ends the wait.
async fn lock(cache: &Path) -> anyhow::Result<Flock<File>> {
    let bound = Instant::now() + 2 * INITDB_WAIT;
    let mut file = open_lock(cache)?;
    loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((file, Errno::EWOULDBLOCK)) if Instant::now() < bound => file,
            Err((_, error)) => {
                anyhow::bail!("cannot lock {}, where another lab may be at work: {error}", cache.display())
            }
        };
        sleep(POLL).await;
    }
}

fn open_lock(cache: &Path) -> anyhow::Result<File> {
    let path = cache.join("lock");
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path);
    file.with_context(|| format!("cannot open {}", path.display()))
}
