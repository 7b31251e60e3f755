//! A private Redis: configuration on its standard input (no password in `ps`), a socket in the runtime folder, a
//! loopback port with a random password for subjects that cannot use a socket.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::runtime::{Runtime, random_word};
use super::start::{Trouble, free_port, with_free_port};
use super::{Options, find, start};
use crate::process::{Child, Spawner, Spec};

/// A running server.
#[derive(Debug)]
pub struct Redis {
    /// For clients on this machine: the socket.
    pub url: String,
    /// For clients that cannot use a socket.
    pub tcp_url: String,
    /// Its version.
    pub version: String,
    socket: PathBuf,
    password_file: PathBuf,
    child: Child,
}

impl Redis {
    pub(super) async fn start(spawner: &Spawner, runtime: &Runtime, options: &Options) -> anyhow::Result<Self> {
        let program = find::redis_server()?;
        let log = options.logs.join("redis.log");
        with_free_port(&log, async || Self::try_start(spawner, runtime, options, &program, &log).await).await
    }

    async fn try_start(
        spawner: &Spawner,
        runtime: &Runtime,
        options: &Options,
        program: &Path,
        log: &Path,
    ) -> anyhow::Result<Self> {
        let (port, password) = (free_port()?, random_word(32)?);
        let socket = runtime.path().join("redis.sock");
        let password_file = runtime.path().join("redis.password");
        File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&password_file)?
            .write_all(password.as_bytes())?;
        let config = config(runtime.path(), &socket, port, &password);
        let spec = Spec::new(program).args(["-"]).env([("LABW_RUN_ID", &options.run)]).input(config).log(log);
        let mut child = spawner.spawn(spec).await?;
        runtime.note_process(child.pid())?;
        let url = format!("redis+unix://{}?pass={password}", socket.display());
        let tcp_url = format!("redis://:{password}@127.0.0.1:{port}/0");
        let client = redis::Client::open(url.as_str())?;
        let version =
            start::answered("redis-server", &mut child, log, async || ask(&client).await.map_err(Trouble::NotYet))
                .await
                .and_then(|(pid, version)| {
                    anyhow::ensure!(pid == child.pid(), "another server answers at {}: pid {pid}", socket.display());
                    Ok(version)
                })?;
        Ok(Self { url, tcp_url, version, socket, password_file, child })
    }

    /// Ends it, its death confirmed.
    pub(super) async fn stop(&mut self) {
        self.child.end().await;
    }

    /// How a person of this user connects, without a password on the screen or in `ps`.
    pub(super) fn how_to_look(&self) -> String {
        format!("REDISCLI_AUTH=$(cat {}) redis-cli -s {}", self.password_file.display(), self.socket.display())
    }
}

/// `hz 500`: with the default 10 every delayed job would sit on a 100 ms grid (`bullmq-observed`, section 1).
fn config(folder: &Path, socket: &Path, port: u16, password: &str) -> String {
    format!(
        "bind 127.0.0.1\nport {port}\nprotected-mode yes\nrequirepass {password}\nunixsocket \"{socket}\"\n\
         unixsocketperm 700\ndir \"{folder}\"\nsave \"\"\nappendonly no\nhz 500\nmaxmemory-policy noeviction\n\
         databases 1\nmaxclients 10000\ndaemonize no\nloglevel warning\n",
        socket = socket.display(),
        folder = folder.display(),
    )
}

/// The pid and version of the server that answers.
async fn ask(client: &redis::Client) -> anyhow::Result<(u32, String)> {
    let mut connection = client.get_multiplexed_async_connection().await?;
    let info: String = redis::cmd("INFO").arg("server").query_async(&mut connection).await?;
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let pid = field("process_id").context("INFO names no process_id")?.parse()?;
    let version = field("valkey_version").or_else(|| field("redis_version")).unwrap_or("unknown").to_owned();
    Ok((pid, version))
}
