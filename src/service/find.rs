//! Where the server programs are: on PATH, or in the folders where systems put them.

use std::path::{Path, PathBuf};

/// Folders with a version in their path; the highest one wins.
const VERSIONED: &[(&str, &str)] =
    &[("/usr/lib/postgresql", "bin"), ("/usr/pgsql", "bin"), ("/opt/homebrew/opt", "bin"), ("/usr/local/opt", "bin")];

/// The Redis server, or Valkey, which is one.
///
/// # Errors
/// There is none: where was looked and how to get one.
pub fn redis_server() -> anyhow::Result<PathBuf> {
    let found = on_path("redis-server").or_else(|| on_path("valkey-server"));
    found.ok_or_else(|| {
        anyhow::anyhow!(
            "there is no redis-server and no valkey-server on PATH ({})\n{}",
            std::env::var("PATH").unwrap_or_default(),
            how_to_get("redis-server", "redis")
        )
    })
}

/// The folder with `postgres` and `initdb`.
///
/// # Errors
/// There is none: where was looked and how to get it.
pub fn postgres_bin() -> anyhow::Result<PathBuf> {
    let is_bin = |folder: &Path| is_program(&folder.join("postgres")) && is_program(&folder.join("initdb"));
    if let Some(folder) = path_folders().into_iter().find(|folder| is_bin(folder)) {
        return Ok(folder);
    }
    let mut found: Vec<(u32, PathBuf)> = VERSIONED
        .iter()
        .flat_map(|(root, bin)| std::fs::read_dir(root).into_iter().flatten().flatten().map(move |entry| (entry, *bin)))
        .filter_map(|(entry, bin)| Some((version(entry.file_name().to_str()?)?, entry.path().join(bin))))
        .filter(|(_, folder)| is_bin(folder))
        .collect();
    found.sort();
    found.pop().map(|(_, folder)| folder).ok_or_else(|| {
        let roots: Vec<&str> = VERSIONED.iter().map(|(root, _)| *root).collect();
        anyhow::anyhow!(
            "there is no postgres with initdb on PATH, nor in {}\n{}",
            roots.join(", "),
            how_to_get("postgresql", "postgresql@15")
        )
    })
}

/// `15`, `postgresql@15`: the number.
fn version(name: &str) -> Option<u32> {
    name.strip_prefix("postgresql@").unwrap_or(name).parse().ok()
}

fn how_to_get(debian: &str, homebrew: &str) -> String {
    format!(
        "get it: apt-get install {debian} (Debian, Ubuntu), brew install {homebrew} (Homebrew), or run scripts/setup"
    )
}

fn on_path(program: &str) -> Option<PathBuf> {
    path_folders().into_iter().map(|folder| folder.join(program)).find(|path| is_program(path))
}

fn path_folders() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

fn is_program(path: &Path) -> bool {
    path.is_file() && nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}
