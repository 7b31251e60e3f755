//! The private servers: they answer, they are ours, nobody else reaches them, and they are gone with whoever started them.

mod left;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Command;

use lab::process::{Signal, Spawner, identity, tree};
use lab::service::{Options, Services, find, new_run_id};
use left::{Ground, NOBODY, is_root, lives, segments_of, send, until};
use tempfile::TempDir;
use tokio_postgres::NoTls;

struct Started {
    services: Services,
    spawner: Spawner,
    records: TempDir,
    folders: Vec<PathBuf>,
    pids: BTreeSet<i32>,
}

async fn start() -> Started {
    let records = tempfile::tempdir().expect("a folder");
    let spawner = Spawner::start().expect("a thread");
    let options = Options { run: new_run_id().expect("an id"), logs: records.path().join("logs") };
    let services = Services::start(&spawner, &options).await.expect("the servers start");
    let runtime = services.runtime().to_owned();
    let noted = fs::read_to_string(runtime.join("folders")).unwrap_or_default();
    let folders = noted.lines().map(PathBuf::from).chain([runtime.clone()]).collect();
    // Not every child of this process: other tests run labs at the same time.
    let noted = fs::read_to_string(runtime.join("processes")).expect("the servers are noted");
    let servers = noted.lines().filter_map(|line| line.split(' ').next()?.parse().ok());
    let pids = servers.flat_map(|pid: i32| tree::descendants(pid).into_iter().chain([pid])).collect();
    Started { services, spawner, records, folders, pids }
}

fn assert_gone(pids: &BTreeSet<i32>, folders: &[PathBuf]) {
    assert!(pids.len() > 2 && !folders.is_empty(), "{pids:?} {folders:?}");
    until("the servers to be gone", || !pids.iter().any(|pid| lives(*pid)));
    assert!(!folders.iter().any(|folder| folder.exists()), "{folders:?}");
    assert_eq!(segments_of(pids), Vec::<String>::new());
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn redis_pid(url: &str) -> redis::RedisResult<String> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let info: String = redis::cmd("INFO").arg("server").query_async(&mut connection).await?;
    Ok(info.lines().find_map(|line| line.strip_prefix("process_id:")).unwrap_or_default().to_owned())
}

async fn postgres_pid(url: &str) -> Result<i32, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client.query_one("SELECT pg_backend_pid()", &[]).await?.get(0))
}

#[test]
fn both_servers_answer_at_both_addresses_and_are_our_children() {
    runtime().block_on(async {
        let Started { services, folders, pids, .. } = start().await;
        for url in [&services.redis.url, &services.redis.tcp_url] {
            let pid = redis_pid(url).await.unwrap_or_else(|error| panic!("{url}: {error}")).parse().expect("a pid");
            assert_eq!(identity::parent(pid), Some(std::process::id().cast_signed()));
        }
        let socket = services.postgres.subject_url("test", "public");
        for url in [&services.postgres.tcp_url, &socket] {
            let backend = postgres_pid(url).await.expect("an answer");
            let server = identity::parent(backend).expect("a parent");
            assert!(pids.contains(&server));
            assert_eq!(identity::parent(server), Some(std::process::id().cast_signed()));
        }
        services.stop().await.expect("they end");
        assert_gone(&pids, &folders);
    });
}

#[test]
fn a_stranger_gets_in_neither_by_a_folder_nor_without_the_password() {
    runtime().block_on(async {
        let Started { services, folders, .. } = start().await;
        for folder in &folders {
            let mode = fs::metadata(folder).expect("a folder").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
            if is_root() {
                for what in ["-r", "-x"] {
                    let status = Command::new("/usr/bin/test").arg(what).arg(folder).uid(NOBODY).gid(NOBODY).status();
                    assert!(!status.expect("a status").success(), "{what} {}", folder.display());
                }
            }
        }
        let address = |url: &str| url.rsplit_once('@').expect("an address").1.to_owned();
        let (redis, postgres) = (address(&services.redis.tcp_url), address(&services.postgres.tcp_url));
        for user in ["", ":wrong@"] {
            redis_pid(&format!("redis://{user}{redis}")).await.expect_err("Redis asks for the password");
        }
        for user in ["lab", "lab:wrong", "postgres"] {
            postgres_pid(&format!("postgresql://{user}@{postgres}")).await.expect_err("PostgreSQL asks for it");
        }
        services.stop().await.expect("they end");
    });
}

#[test]
fn two_labs_at_once_do_not_disturb_each_other() {
    runtime().block_on(async {
        let (one, two) = (start().await, start().await);
        assert_ne!(one.services.redis.tcp_url, two.services.redis.tcp_url);
        one.services.stop().await.expect("they end");
        assert_gone(&one.pids, &one.folders);
        redis_pid(&two.services.redis.url).await.expect("the other answers");
        postgres_pid(&two.services.postgres.tcp_url).await.expect("the other answers");
        two.services.stop().await.expect("they end");
        assert_gone(&two.pids, &two.folders);
    });
}

#[test]
fn dropped_servers_leave_nothing_also_when_they_are_stopped_or_the_lab_panics() {
    for way in ["dropped", "stopped", "panic"] {
        let mut evidence = None;
        let played = std::panic::catch_unwind(AssertUnwindSafe(|| {
            runtime().block_on(async {
                let Started { services, spawner, records, folders, pids } = start().await;
                if way == "stopped" {
                    pids.iter().for_each(|pid| send(*pid, Signal::SIGSTOP));
                }
                evidence = Some((pids, folders));
                assert_ne!(way, "panic");
                drop((services, spawner, records));
            });
        }));
        assert_eq!(played.is_err(), way == "panic");
        let (pids, folders) = evidence.expect("it was started");
        assert_gone(&pids, &folders);
    }
}

#[test]
fn no_password_is_shown_to_anybody() {
    let ground = Ground::new();
    let mut run = ground.long_run();
    let first = run.read_until(r#""type":"case""#);
    let mut secrets = BTreeSet::from([ground.notes("redis.password").pop().expect("a password")]);
    until("a worker with a database password", || {
        for pid in run.look() {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let text = String::from_utf8_lossy(&environ).into_owned();
            let url = text.split('\0').find_map(|variable| variable.strip_prefix("DATABASE_URL=postgresql://lab:"));
            secrets.extend(url.and_then(|url| Some(url.split_once('@')?.0.to_owned())));
        }
        secrets.len() == 2
    });
    assert!(secrets.iter().all(|secret| secret.len() == 32), "two words of 32 letters");
    let has_secret = |bytes: &[u8]| secrets.iter().any(|secret| String::from_utf8_lossy(bytes).contains(secret));
    for pid in run.look() {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!has_secret(&line), "in `ps`: {}", String::from_utf8_lossy(&line));
    }
    run.signal(Signal::SIGTERM);
    let (_, output, errors) = run.end();
    assert!(!has_secret(first.as_bytes()) && !has_secret(output.as_bytes()) && !has_secret(errors.as_bytes()));
    let records = files(&ground.path("work"));
    assert!(records.len() > 3, "{records:?}");
    for file in records {
        assert!(!has_secret(&fs::read(&file).expect("a record")), "in {}", file.display());
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A program that is found first.
fn fake(folder: &Path, name: &str, script: &str) {
    let (draft, path) = (folder.join(format!("{name}.draft")), folder.join(name));
    fs::write(&draft, format!("#!/bin/sh\n{script}\n")).expect("a script");
    // By another process: what a test beside this one forks must not hold the script open for writing.
    let copied = Command::new("cp").arg(&draft).arg(&path).status();
    assert!(copied.is_ok_and(|status| status.success()), "a copy of the script");
    fs::remove_file(&draft).expect("no draft");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn a_server_that_does_not_start_is_told_with_its_last_lines_and_leaves_nothing() {
    let bin = find::postgres_bin().expect("a PostgreSQL");
    let (postgres, initdb) = (bin.join("postgres"), bin.join("initdb"));
    let no = "echo before >&2; echo 'I will not' >&2; exit 9";
    let version = format!("test \"$1\" = --version && exec {} --version; {no}", postgres.display());
    type Fakes<'a> = Vec<(&'a str, &'a str)>;
    let table: [(&str, Fakes, &[&str]); 5] = [
        ("redis", vec![("redis-server", no)], &["redis-server would not start", "`exit 9`", "redis.log", "I will not"]),
        (
            "postgres",
            vec![("postgres", &version)],
            &["postgres would not start", "`exit 9`", "postgres.log", "I will not"],
        ),
        (
            "initdb",
            vec![("postgres", "echo postgres x 99.1"), ("initdb", no)],
            &["initdb", "`exit 9`", "initdb.log", "I will not"],
        ),
        ("version", vec![("postgres", no)], &["--version", "`exit 9`", "I will not"]),
        ("words", vec![("postgres", "echo postgres x ../../etc")], &["--version", "../../etc"]),
    ];
    for (what, fakes, told) in table {
        let ground = Ground::new();
        let folder = ground.path("bin");
        fs::create_dir(&folder).expect("a folder");
        fakes.iter().for_each(|(name, script)| fake(&folder, name, script));
        if what != "redis" && what != "initdb" {
            symlink(&initdb, folder.join("initdb")).expect("a link");
        }
        if is_root() {
            // PostgreSQL's user must reach it.
            fs::set_permissions(folder.parent().expect("a parent"), fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let mut run = ground.lab(&["run", "--scenario", "stall-kill"]);
        let output = run.env("PATH", path).output().expect("a run");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{what}: {errors}");
        told.iter().for_each(|word| assert!(errors.contains(word), "{what}: `{word}` is not in:\n{errors}"));
        assert_eq!(ground.runtime_folders(), Vec::<PathBuf>::new(), "{what}");
        let cache = if is_root() { PathBuf::from("/tmp/lab-0-cache") } else { ground.path("cache/queue-lab") };
        assert!(!files(&cache).iter().any(|file| file.to_string_lossy().contains("-99.1-")), "{what}");
    }
}

#[test]
fn two_first_starts_at_once_make_one_template_and_clean_up_a_half_made_one() {
    let ground = Ground::unprivileged();
    let cache = ground.path("cache/queue-lab");
    let args = ["run", "--scenario", "stall-kill"];
    let mut labs = [ground.start(&args), ground.start(&args)];
    for lab in &mut labs {
        let (status, _, errors) = lab.end();
        assert_eq!(status.code(), Some(0), "{errors}");
    }
    let names = || {
        let entries = fs::read_dir(&cache).expect("a cache").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<BTreeSet<String>>()
    };
    let ready = names();
    assert_eq!(ready.len(), 2, "one template and the lock: {ready:?}");
    // A lab that was killed left this; the template is there, so nobody makes one.
    fs::create_dir_all(cache.join("making-abcdefgh/base")).expect("a folder");
    fs::write(cache.join("making-abcdefgh/postmaster.pid"), "1\n/data\n0\n0\n\n\n 1 1\n").expect("a file");
    if is_root() {
        for path in ["making-abcdefgh/base", "making-abcdefgh/postmaster.pid", "making-abcdefgh"] {
            std::os::unix::fs::chown(cache.join(path), Some(NOBODY), Some(NOBODY)).expect("another owner");
        }
    }
    let next = ground.lab(&args).output().expect("a run");
    assert_eq!(next.status.code(), Some(0), "{}", String::from_utf8_lossy(&next.stderr));
    assert_eq!(names(), ready);
}

#[test]
fn only_what_a_lab_made_is_cleaned_up() {
    let ground = Ground::new();
    let make = |name: &str, file: Option<&str>| {
        let folder = ground.runtime.path().join(name);
        fs::create_dir(&folder).expect("a folder");
        file.iter().for_each(|file| fs::write(folder.join(file), "").expect("a file"));
        folder
    };
    let kept = [make("lab-abcdefgh", Some("theirs")), make("lab-theirs", None), make("lab-theirfolder", Some("lock"))];
    // A lab was killed between two steps.
    let dead = [make("lab-aaaaaaaa", None), make("lab-bbbbbbbb", Some("lock"))];
    // A note that names something else.
    let precious = ground.path("precious");
    fs::create_dir(&precious).expect("a folder");
    fs::write(dead[1].join("folders"), format!("{}\n/tmp\n", precious.display())).expect("a note");
    // A pid that somebody else has by now.
    let mut stranger = Command::new("sleep").arg("1000").spawn().expect("a stranger");
    fs::write(dead[1].join("processes"), format!("{} 1 {}\n", stranger.id(), identity::boot_id())).expect("a note");
    let output = ground.lab(&["run", "--scenario", "stall-kill"]).output().expect("a run");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(kept.iter().chain([&precious]).all(|folder| folder.exists()), "{kept:?}");
    assert!(!dead.iter().any(|folder| folder.exists()), "{dead:?}");
    assert!(stranger.try_wait().expect("a status").is_none(), "a stranger was killed");
    stranger.kill().expect("it can be killed");
    stranger.wait().expect("a status");
}

#[test]
fn a_lab_needs_no_home_no_session_folder_and_no_folder_to_write_records_in() {
    let ground = Ground::unprivileged();
    let long = ground.path(&"x".repeat(120));
    fs::create_dir(&long).expect("a folder");
    // In the way of `.lab/runs`, also for root.
    fs::write(ground.path("work/.lab"), "").expect("a file");
    for session in [Path::new("/no/such/folder"), &long, Path::new("relative")] {
        let mut run = ground.lab(&["run", "--scenario", "stall-kill"]);
        run.env_remove("HOME").env_remove("XDG_CACHE_HOME").env("XDG_RUNTIME_DIR", session);
        let output = run.env("XDG_STATE_HOME", ground.path("home")).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fs::read_dir(ground.path("home/queue-lab/runs")).expect("records").count(), 3);
    assert_eq!(fs::read_dir(&long).expect("a folder").count(), 0);
    let mut run = ground.lab(&["run", "--scenario", "stall-kill"]);
    let output = run.env_remove("HOME").output().expect("a run");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains(".lab/runs/"), "{output:?}");
    assert_eq!(ground.runtime_folders(), Vec::<PathBuf>::new());
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let ground = Ground::unprivileged();
    let disk = ground.path("disk");
    fs::create_dir(&disk).expect("a folder");
    let options = format!("size=1m,mode=700,uid={NOBODY}");
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&disk).output();
    if !is_root() || !mount.is_ok_and(|mount| mount.status.success()) {
        return;
    }
    let out = disk.join("out").display().to_string();
    let records = ground.lab(&["run", "--scenario", "stall-kill", "--repeat", "5000", "--out", &out]).output();
    let _ = fs::remove_dir_all(disk.join("out"));
    // Short enough for sockets, so it stands somewhere else under a second name.
    let short = ground.runtime.path().join("d");
    fs::create_dir(&short).expect("a folder");
    let bound = Command::new("mount").arg("--bind").arg(&disk).arg(&short).status().is_ok_and(|it| it.success());
    let sockets = ground.lab(&["run", "--scenario", "stall-kill"]).env("XDG_RUNTIME_DIR", &short).output();
    let left = fs::read_dir(&short).expect("a folder").count();
    for folder in [&short, &disk] {
        let _ = Command::new("umount").arg(folder).status();
    }
    fs::remove_dir(&short).expect("an empty folder");
    assert!(bound);
    for output in [records.expect("a run"), sockets.expect("a run")] {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{errors}");
        assert!(errors.contains("No space left on device"), "{errors}");
    }
    assert_eq!(left, 0);
    assert_eq!(ground.runtime_folders(), Vec::<PathBuf>::new());
}
