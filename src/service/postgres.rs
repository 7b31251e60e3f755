//! A private PostgreSQL: a copy of the cached template cluster, a socket that only this user reaches, a loopback port
//! with a random password.
//!
//! PostgreSQL refuses to run as root: then it runs as an unprivileged user in a folder of that user's own in /tmp.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::unistd::User;
use tokio_postgres::{Client, NoTls};

use super::runtime::{POSTGRES, Runtime, WORD, private_folder, random_word};
use super::start::{Trouble, free_port, with_free_port};
use super::{Options, find, segment, start, template};
use crate::process::{Child, Signal, Spawner, Spec};

/// The role of everybody, and owner of everything, in a private server.
pub(super) const ROLE: &str = "lab";
/// The link in the runtime folder to the server's data.
pub(super) const DATA: &str = "postgres-data";
/// Connections that the server accepts.
const CONNECTIONS: u32 = 300;

/// A running server.
#[derive(Debug)]
pub struct Postgres {
    /// For clients that cannot use a socket.
    pub tcp_url: String,
    /// Its major version.
    pub version: String,
    sockets: PathBuf,
    port: u16,
    password: String,
    child: Child,
    // After the child: what it leaves when it had to be killed.
    _cluster: Cluster,
}

/// The data of a server that may run. Dropping it, after the server, removes what the server left outside.
#[derive(Debug)]
struct Cluster {
    data: PathBuf,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        segment::remove_left(&self.data);
    }
}

/// Where a cluster lives and who it belongs to.
pub(super) struct Home {
    pub(super) folder: PathBuf,
    pub(super) user: Option<(u32, u32)>,
}

impl Postgres {
    pub(super) async fn start(spawner: &Spawner, runtime: &Runtime, options: &Options) -> anyhow::Result<Self> {
        let bin = find::postgres_bin()?;
        let home = home(runtime)?;
        let version = template::copy(spawner, runtime, &bin, &home, options).await?;
        let log = options.logs.join("postgres.log");
        with_free_port(&log, async || Self::try_start(spawner, runtime, options, &bin, &home, &version, &log).await)
            .await
    }

    async fn try_start(
        spawner: &Spawner,
        runtime: &Runtime,
        options: &Options,
        bin: &Path,
        home: &Home,
        version: &str,
        log: &Path,
    ) -> anyhow::Result<Self> {
        let (port, password) = (free_port()?, random_word(32)?);
        let (data, sockets) = (home.folder.join("data"), home.folder.clone());
        let spec = Spec::new(&bin.join("postgres"))
            .args(arguments(&data, &sockets, port))
            .env([("LABW_RUN_ID", options.run.as_str()), ("PATH", "/usr/bin:/bin"), ("LANG", "C")])
            .cwd(&home.folder)
            .user(home.user)
            .log(log)
            // SIGKILL would leave shared memory behind.
            .death_signal(Signal::SIGQUIT);
        // For the reaper, which knows the runtime folder only.
        let _ = symlink(&data, runtime.path().join(DATA));
        let cluster = Cluster { data: data.clone() };
        let mut child = spawner.spawn(spec).await?;
        runtime.note_process(child.pid())?;
        let tcp_url = format!("postgresql://{ROLE}:{password}@127.0.0.1:{port}/postgres");
        let url = socket_url(&sockets, port, &password, "lab", None);
        start::answered("postgres", &mut child, log, async || set_password(&url, &password).await).await?;
        let owner = fs::read_to_string(data.join("postmaster.pid")).context("the server left no postmaster.pid")?;
        anyhow::ensure!(
            owner.lines().next() == Some(&child.pid().to_string()),
            "another server runs in {}",
            data.display()
        );
        Ok(Self { tcp_url, version: version.to_owned(), sockets, port, password, child, _cluster: cluster })
    }

    /// A connection of the lab's own, under this application name.
    ///
    /// # Errors
    /// The server does not accept it.
    pub async fn connect(&self, application: &str) -> anyhow::Result<Client> {
        let url = socket_url(&self.sockets, self.port, &self.password, application, None);
        let (client, connection) =
            tokio_postgres::connect(&url, NoTls).await.context("cannot connect to PostgreSQL")?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// How a person of this user connects: the socket asks for no password, and nobody else reaches it.
    pub(super) fn how_to_look(&self) -> String {
        format!("psql -h {} -p {} -U {ROLE} postgres", self.sockets.display(), self.port)
    }

    /// What a subject of one case connects to: its application name and its schema are in it.
    pub fn subject_url(&self, application: &str, schema: &str) -> String {
        socket_url(&self.sockets, self.port, &self.password, application, Some(schema))
    }

    /// Ends it without a checkpoint, its death confirmed.
    pub(super) async fn stop(&mut self) {
        self.child.end().await;
    }
}

/// The first connection: the role gets its password before anybody can use the port.
async fn set_password(url: &str, password: &str) -> Result<(), Trouble> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.map_err(|error| Trouble::NotYet(error.into()))?;
    tokio::spawn(connection);
    // A statement that fails is written to the log, and logs are kept.
    let set = format!("SET log_min_error_statement = panic; ALTER ROLE {ROLE} PASSWORD '{password}'");
    client.batch_execute(&set).await.map_err(|error| Trouble::Never(error.into()))
}

fn socket_url(sockets: &Path, port: u16, password: &str, application: &str, schema: Option<&str>) -> String {
    let folder = sockets.display().to_string().replace('/', "%2F");
    let schema = schema.map(|schema| format!("&options=-c%20search_path%3D{schema}")).unwrap_or_default();
    format!("postgresql://{ROLE}:{password}@{folder}:{port}/postgres?application_name={application}{schema}")
}

/// A run of a lab loses nothing worth keeping, so nothing is forced to disk. `synchronous_commit` stays on: with it off
/// a committed row was gone after an immediate stop (measured), and the lab would make lost effects itself.
fn arguments(data: &Path, sockets: &Path, port: u16) -> Vec<String> {
    let settings = [
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("port", port.to_string()),
        ("unix_socket_directories", sockets.display().to_string()),
        ("unix_socket_permissions", "0700".to_owned()),
        ("max_connections", CONNECTIONS.to_string()),
        ("fsync", "off".to_owned()),
        ("full_page_writes", "off".to_owned()),
        ("synchronous_commit", "on".to_owned()),
        ("wal_level", "minimal".to_owned()),
        ("max_wal_senders", "0".to_owned()),
        ("max_wal_size", "1GB".to_owned()),
        ("checkpoint_timeout", "1d".to_owned()),
        ("autovacuum", "off".to_owned()),
        ("jit", "off".to_owned()),
        ("shared_buffers", "32MB".to_owned()),
        ("huge_pages", "off".to_owned()),
        ("dynamic_shared_memory_type", "mmap".to_owned()),
        ("max_parallel_workers_per_gather", "0".to_owned()),
        ("password_encryption", "scram-sha-256".to_owned()),
        ("log_min_messages", "error".to_owned()),
    ];
    let named = settings.into_iter().flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]);
    ["-D".to_owned(), data.display().to_string()].into_iter().chain(named).collect()
}

/// The folder of this run's cluster and sockets.
fn home(runtime: &Runtime) -> anyhow::Result<Home> {
    if !nix::unistd::getuid().is_root() {
        let folder = runtime.path().join("postgres");
        private_folder(&folder)?;
        return Ok(Home { folder, user: None });
    }
    let user = unprivileged()?;
    let folder = Path::new("/tmp").join(format!("{POSTGRES}{}", random_word(WORD)?));
    // Noted before it is made: a lab that dies in between leaves a note without a folder, never the other way round.
    runtime.note_folder(&folder)?;
    private_folder(&folder)?;
    chown(&folder, Some(user.0), Some(user.1))?;
    Ok(Home { folder, user: Some(user) })
}

/// A user that PostgreSQL can run as when the lab is root.
pub(super) fn unprivileged() -> anyhow::Result<(u32, u32)> {
    for name in ["postgres", "nobody"] {
        if let Some(user) = User::from_name(name)? {
            return Ok((user.uid.as_raw(), user.gid.as_raw()));
        }
    }
    anyhow::bail!("PostgreSQL does not run as root, and there is neither a user `postgres` nor a user `nobody`")
}
