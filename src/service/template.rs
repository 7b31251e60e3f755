//! A database cluster that was made once and never started, kept in a cache and copied for each run: 0.05 s instead of
//! the 0.4 s of initdb.
//!
//! It is keyed by the server's version and initdb's flags, made under a lock and renamed into place, so two labs that
//! start first at once make one.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use nix::fcntl::{Flock, FlockArg};

use super::postgres::{Home, ROLE};
use super::start::last_lines;
use super::{Options, runtime};
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
/// Changes when the flags above or the layout of the cache do.
const LAYOUT: &str = "1";
/// How long initdb may take.
const INITDB_WAIT: Duration = Duration::from_secs(120);

/// Copies the template to `home/data`, making it first if need be; the server's version.
pub(super) async fn copy(spawner: &Spawner, bin: &Path, home: &Home, options: &Options) -> anyhow::Result<String> {
    let version = version(bin)?;
    let cache = cache(home)?;
    let template = cache.join(format!("postgres-{version}-{LAYOUT}"));
    if !template.is_dir() {
        make(spawner, bin, home, options, &cache, &template).await?;
    }
    let (from, to, user) = (template, home.folder.join("data"), home.user);
    tokio::task::spawn_blocking(move || copy_tree(&from, &to, user)).await??;
    Ok(version)
}

/// The version that the program says it has; asked once per program, since asking costs a start.
fn version(bin: &Path) -> anyhow::Result<String> {
    let program = bin.join("postgres");
    let output = std::process::Command::new(&program)
        .arg("--version")
        .output()
        .with_context(|| format!("cannot run {} --version", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version =
        text.split_whitespace().nth(2).with_context(|| format!("{} --version says `{text}`", program.display()))?;
    Ok(version.to_owned())
}

/// The folder of templates, safe to use.
fn cache(home: &Home) -> anyhow::Result<PathBuf> {
    let (path, mode) = match home.user {
        // The other user must be able to pass through it.
        Some(_) => (PathBuf::from("/tmp/lab-0-cache"), 0o711),
        None => (user_cache().context("neither XDG_CACHE_HOME nor HOME is set")?, 0o700),
    };
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
    let lock = cache.join("lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&lock)?;
    // Waiting for another lab's initdb blocks a thread of its own.
    let _lock = tokio::task::spawn_blocking(|| Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, error)| error))
        .await?
        .context("cannot lock the cache")?;
    if template.is_dir() {
        return Ok(());
    }
    let making = cache.join(format!("making-{}", runtime::random_word(8)?));
    DirBuilder::new().mode(0o700).create(&making)?;
    if let Some((user, group)) = home.user {
        chown(&making, Some(user), Some(group))?;
    }
    let log = options.logs.join("initdb.log");
    let spec = Spec::new(&bin.join("initdb"))
        .args(INITDB.iter().copied())
        .args(["-U".to_owned(), ROLE.to_owned(), "-D".to_owned(), making.display().to_string()])
        .env([("LABW_RUN_ID", options.run.as_str()), ("PATH", "/usr/bin:/bin"), ("LANG", "C")])
        .cwd(Path::new("/"))
        .user(home.user)
        .log(&log);
    let mut child = spawner.spawn(spec).await?;
    let status = tokio::time::timeout(INITDB_WAIT, child.wait()).await;
    let made = match status {
        Ok(status) if status.success() => fs::rename(&making, template).context("cannot put the template in place"),
        Ok(status) => Err(anyhow::anyhow!("initdb ended with `{}`", describe(status))),
        Err(_) => Err(anyhow::anyhow!("initdb did not end within {INITDB_WAIT:?}")),
    };
    if made.is_err() {
        let _ = fs::remove_dir_all(&making);
    }
    made.with_context(|| format!("its last lines, from {}:\n{}", log.display(), last_lines(&log)))
}

/// Copies a tree of plain files and folders.
fn copy_tree(from: &Path, to: &Path, user: Option<(u32, u32)>) -> anyhow::Result<()> {
    let owner = |path: &Path| match user {
        Some((user, group)) => chown(path, Some(user), Some(group)),
        None => Ok(()),
    };
    DirBuilder::new().mode(0o700).create(to).with_context(|| format!("cannot make {}", to.display()))?;
    owner(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_tree(&source, &target, user)?;
        } else {
            fs::copy(&source, &target).with_context(|| format!("cannot copy to {}", target.display()))?;
            owner(&target)?;
        }
    }
    Ok(())
}
