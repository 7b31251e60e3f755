//! A child never outlives the lab, a kept command's tree never outlives its keeper, and only a wait status is a death.

mod left;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lab::process::{Child, Signal, Spawner, Spec, describe, identity, tree};
use left::{lives, send, until};
use tempfile::TempDir;

const LAB: &str = env!("CARGO_BIN_EXE_lab");
const PATH: [(&str, &str); 1] = [("PATH", "/usr/bin:/bin")];
/// A tree with everything that likes to stay: a grandchild, a daemon with a session of its own that holds the output,
/// one that forked twice, one that is stopped. Each writes its pid; the last line says that all are there.
const TREE: &str = r#"
    cd "$1"
    note() { echo $$ > "$0.new"; mv "$0.new" "$0"; }
    leave() { sh -c 'echo $$ > '"$1"'.new; mv '"$1"'.new '"$1"'; exec sleep 1000'; }
    leave grandchild &
    setsid sh -c 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 1000' &
    (setsid sh -c '(sh -c "echo \$\$ > twice.new; mv twice.new twice; exec sleep 1000" &)' &)
    sh -c 'echo $$ > stopped.new; mv stopped.new stopped; kill -STOP $$; exec sleep 1000' &
    while ! test -e grandchild -a -e daemon -a -e twice -a -e stopped; do sleep 0.01; done
    echo $$ > own.new; mv own.new own
"#;
const MEMBERS: [&str; 5] = ["grandchild", "daemon", "twice", "stopped", "own"];

/// Waits for the tree; its pids.
fn members(folder: &Path) -> BTreeSet<i32> {
    until("the tree to stand", || folder.join("own").exists());
    let pid = |name: &&str| fs::read_to_string(folder.join(name)).expect("a pid").trim().parse().expect("a number");
    let pids: BTreeSet<i32> = MEMBERS.iter().map(pid).collect();
    let stopped = pid(&"stopped");
    until("one to be stopped", || identity::state(stopped) == Some('T'));
    pids
}

fn assert_dead(pids: &BTreeSet<i32>) {
    let left: Vec<i32> = pids.iter().copied().filter(|pid| lives(*pid)).collect();
    left.iter().for_each(|pid| send(*pid, Signal::SIGKILL));
    assert_eq!(left, Vec::<i32>::new());
}

fn keeper(folder: &Path, last: &str) -> std::process::Child {
    let mut command = Command::new(LAB);
    command.args(["keeper", "--", "sh", "-c", &format!("{TREE}\n{last}"), "sh"]).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the keeper starts")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A runtime as the lab has one.
fn within<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

#[test]
fn a_keeper_ends_with_its_commands_status_when_the_whole_tree_is_dead() {
    for (last, status) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + 15), ("kill -KILL $$", 128 + 9)] {
        let folder = folder();
        let mut keeper = keeper(folder.path(), &format!("while ! test -e go; do sleep 0.01; done; {last}"));
        let members = members(folder.path());
        // Kept open: `wait` would close it.
        let _pipe = keeper.stdin.take();
        assert!(members.iter().all(|pid| lives(*pid)), "{members:?}");
        fs::write(folder.path().join("go"), "").expect("a file");
        assert_eq!(keeper.wait().expect("a status").code(), Some(status), "{last}");
        assert_dead(&members);
    }
}

#[test]
fn a_keeper_kills_the_tree_when_the_labs_pipe_closes_or_it_is_told_to_end() {
    type End = fn(&mut std::process::Child);
    let ways: [(&str, End); 3] = [
        ("the pipe closes", |keeper| drop(keeper.stdin.take())),
        ("SIGTERM", |keeper| send(keeper.id().cast_signed(), Signal::SIGTERM)),
        ("SIGINT", |keeper| send(keeper.id().cast_signed(), Signal::SIGINT)),
    ];
    for (way, end) in ways {
        let folder = folder();
        let mut keeper = keeper(folder.path(), "sleep 1000");
        let members = members(folder.path());
        end(&mut keeper);
        // Kept open: `wait` would close it.
        let _pipe = keeper.stdin.take();
        let status = keeper.wait().expect("a status");
        assert_eq!(status.code(), Some(128 + 9), "{way}: its command was killed");
        assert_dead(&members);
    }
}

#[test]
fn a_keeper_says_so_when_there_is_no_such_command() {
    let output = Command::new(LAB).args(["keeper", "--", "/no/such/command"]).stdin(Stdio::piped()).output();
    let output = output.expect("the keeper starts");
    assert_eq!(output.status.code(), Some(126));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot start /no/such/command"), "{output:?}");
}

fn kept(folder: &Path, last: &str) -> Spec {
    let script = format!("{TREE}\n{last}");
    let args = ["-c".into(), script.into(), "sh".into(), folder.as_os_str().to_owned()];
    Spec::new(Path::new("/bin/sh")).args(args).env(PATH).kept(Path::new(LAB))
}

#[test]
fn a_kept_child_takes_its_tree_along_killed_dropped_or_ended_also_with_a_stopped_keeper() {
    within(async {
        let spawner = Spawner::start().expect("a thread");
        for way in ["killed", "dropped", "ended", "stopped and killed", "stopped and dropped"] {
            let folder = folder();
            let mut child = spawner.spawn(kept(folder.path(), "sleep 1000")).await.expect("a child");
            let members = members(folder.path());
            if way.starts_with("stopped") {
                child.signal(Signal::SIGSTOP);
                until("the keeper to be stopped", || identity::state(child.pid().cast_signed()) == Some('T'));
            }
            match way {
                "killed" | "stopped and killed" => {
                    child.kill_tree();
                    assert_eq!(describe(child.wait().await), "exit 137", "{way}");
                }
                "ended" => assert_eq!(describe(child.end().await), "exit 137"),
                _ => drop(child),
            }
            assert_dead(&members);
        }
    });
}

#[test]
fn a_keeper_that_somebody_killed_is_avenged_by_the_lab() {
    within(async {
        let spawner = Spawner::start().expect("a thread");
        let folder = folder();
        let mut child = spawner.spawn(kept(folder.path(), "sleep 1000")).await.expect("a child");
        let members = members(folder.path());
        send(child.pid().cast_signed(), Signal::SIGKILL);
        assert_eq!(describe(child.wait().await), "signal SIGKILL");
        assert_dead(&members);
    });
}

/// Not a test: the part of the lab in the tests below, in a process that can be killed.
#[test]
#[ignore = "started by the tests below"]
fn the_lab_that_is_killed() {
    let Some(folder) = std::env::var_os("TEST_FOLDER").map(PathBuf::from) else {
        return;
    };
    within(async {
        let spawner = Spawner::start().expect("a thread");
        let kept = spawner.spawn(kept(&folder, "sleep 1000")).await.expect("a child");
        let plain = Spec::new(Path::new("/bin/sleep")).args(["1000"]);
        let plain = spawner.spawn(plain).await.expect("a child");
        let stopped = spawner.spawn(Spec::new(Path::new("/bin/sleep")).args(["1000"])).await.expect("a child");
        stopped.signal(Signal::SIGSTOP);
        println!("\npids {} {} {}", kept.pid(), plain.pid(), stopped.pid());
        std::future::pending::<()>().await;
    });
}

#[test]
fn nothing_that_a_killed_lab_started_outlives_it() {
    let folder = folder();
    let mut lab = Command::new(std::env::current_exe().expect("this binary"));
    lab.args(["--exact", "the_lab_that_is_killed", "--ignored", "--nocapture"]).env("TEST_FOLDER", folder.path());
    let mut lab = lab.stdout(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(lab.stdout.take().expect("a pipe")).lines();
    let line = lines.map_while(Result::ok).find(|line| line.starts_with("pids ")).expect("its pids");
    let mut pids: BTreeSet<i32> = line.split(' ').skip(1).map(|pid| pid.parse().expect("a number")).collect();
    pids.extend(members(folder.path()));
    assert_eq!(pids.len(), 3 + MEMBERS.len());
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    lab.kill().expect("it can be killed");
    lab.wait().expect("a status");
    until("everything to be dead", || !pids.iter().any(|pid| lives(*pid)));
}

#[test]
fn a_dropped_child_is_dead_with_its_group_also_when_it_is_stopped() {
    within(async {
        let spawner = Spawner::start().expect("a thread");
        for stop in [false, true] {
            let script = "sleep 1000 & exec sleep 1000";
            let spec = Spec::new(Path::new("/bin/sh")).args(["-c", script]).env(PATH);
            let child = spawner.spawn(spec).await.expect("a child");
            let pid = child.pid().cast_signed();
            until("its own child", || !tree::descendants(pid).is_empty());
            let group: BTreeSet<i32> = tree::descendants(pid).into_iter().chain([pid]).collect();
            if stop {
                child.signal(Signal::SIGSTOP);
            }
            drop(child);
            until("the group to be dead", || !group.iter().any(|pid| lives(*pid)));
        }
    });
}

#[test]
fn a_child_that_cleans_up_is_given_the_time_and_one_that_does_not_end_is_killed() {
    within(async {
        let spawner = Spawner::start().expect("a thread");
        let ways: [(&str, &str, bool); 4] = [
            ("trap 'exit 3' QUIT", "exit 3", false),
            ("trap '' QUIT", "signal SIGKILL", false),
            ("trap 'touch cleaned; exit' QUIT", "", true),
            ("trap '' QUIT", "", true),
        ];
        for (trap, status, dropped) in ways {
            let folder = folder();
            let script = format!("{trap}; touch ready; while :; do sleep 0.01; done");
            let spec = Spec::new(Path::new("/bin/sh")).args(["-c", &script]).env(PATH).cwd(folder.path());
            let mut child: Child = spawner.spawn(spec.death_signal(Signal::SIGQUIT)).await.expect("a child");
            let pid = child.pid().cast_signed();
            until("it to be ready", || folder.path().join("ready").exists());
            if dropped {
                drop(child);
                assert_eq!(folder.path().join("cleaned").exists(), trap.contains("touch"), "{trap}");
            } else {
                assert_eq!(describe(child.end().await), status, "{trap}");
            }
            assert!(!lives(pid));
        }
    });
}

#[test]
fn a_start_that_nobody_waits_for_leaves_no_child() {
    within(async {
        let spawner = Spawner::start().expect("a thread");
        let folder = folder();
        for round in 0..50 {
            let name = folder.path().join(round.to_string());
            let script = format!("echo $$ > {}; exec sleep 1000", name.display());
            let spec = Spec::new(Path::new("/bin/sh")).args(["-c", &script]).env(PATH);
            // Asked once, then dropped: the request is on its way.
            let mut spawn = Box::pin(spawner.spawn(spec));
            drop(poll_once(&mut spawn).await);
            drop(spawn);
            let before = fs::read_to_string(&name).ok().and_then(|pid| pid.trim().parse().ok());
            assert!(!before.is_some_and(lives), "round {round}");
        }
        assert_eq!(
            tree::descendants(std::process::id().cast_signed()).iter().filter(|pid| is_ours(**pid, &folder)).count(),
            0
        );
    });
}

fn is_ours(pid: i32, folder: &TempDir) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    lives(pid) && String::from_utf8_lossy(&line).contains(&folder.path().display().to_string())
}

/// What a future says when it is asked once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[test]
fn a_death_has_a_wait_status_also_for_a_lab_that_was_started_with_sigchld_ignored() {
    let script = format!(
        "import os,signal; signal.signal(signal.SIGCHLD,signal.SIG_IGN); os.execv({LAB:?},['lab','keeper','--','sh','-c','exit 5'])"
    );
    let Ok(mut keeper) = Command::new("python3").args(["-c", &script]).stdin(Stdio::piped()).spawn() else {
        return;
    };
    // Kept open: `wait` would close it.
    let _pipe = keeper.stdin.take();
    let status = keeper.wait().expect("a status");
    assert_eq!((status.code(), status.signal()), (Some(5), None));
}

#[test]
fn a_process_is_known_by_more_than_its_pid() {
    let mut child = Command::new("sleep").arg("1000").env("TEST_MARK", "a=b").spawn().expect("a child");
    let pid = child.id().cast_signed();
    let own = std::process::id().cast_signed();
    assert!(identity::start_time(pid) >= identity::start_time(own) && identity::start_time(own).is_some());
    assert_eq!(identity::parent(pid), Some(own));
    until("its environment", || identity::has_variable(pid, "TEST_MARK", "a=b"));
    assert!(!identity::has_variable(pid, "TEST_MARK", "a") && !identity::has_variable(pid, "MARK", "a=b"));
    child.kill().expect("it can be killed");
    until("it to be a zombie", || identity::state(pid) == Some('Z'));
    child.wait().expect("a status");
    assert_eq!((identity::start_time(pid), identity::state(pid)), (None, None));
}
