//! However a run ends, nothing of it is left but its records.

mod left;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use lab::process::Signal;
use left::{Ground, lives, send, until};

const ENDING: [(Signal, i32); 3] = [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)];

#[test]
fn a_signal_ends_a_run_with_its_own_status_keeps_the_results_and_leaves_nothing() {
    for (signal, code) in ENDING {
        let ground = Ground::new();
        let mut run = ground.long_run();
        run.read_until(r#""type":"case""#);
        let folders = ground.noted_folders();
        run.signal(signal);
        assert!(run.seen.len() > 3, "{:?}", run.seen);
        let (status, output, errors) = run.end();
        assert_eq!(status.code(), Some(code), "{signal}: {errors}");
        let summary: serde_json::Value = serde_json::from_str(output.lines().last().expect("a line")).expect("JSON");
        assert_eq!((&summary["type"], summary["exit_code"].as_i64()), (&"summary".into(), Some(code.into())));
        assert_ne!(summary["cases"], 0, "{summary}");
        assert!(!errors.contains("error"), "{errors}");
        ground.assert_nothing_is_left(&run.seen, &folders);
        let runs = fs::read_dir(ground.path("work/.lab/runs")).expect("records").flatten().next().expect("a run");
        let results = fs::read_to_string(runs.path().join("results.ndjson")).expect("results");
        assert!(results.contains(r#""type":"case""#) && results.contains(r#""type":"summary""#));
    }
}

#[test]
fn a_signal_at_any_step_of_the_start_leaves_nothing() {
    type Step = (&'static str, fn(&Ground) -> bool);
    let steps: [Step; 6] = [
        ("a runtime folder", |ground| !ground.runtime_folders().is_empty()),
        ("the run's id in it", |ground| !ground.notes("run").is_empty()),
        ("redis to be started", |ground| !ground.notes("processes").is_empty()),
        ("the cluster to be copied", |ground| ground.clusters().iter().any(|data| data.exists())),
        ("postgres to be started", |ground| ground.clusters().iter().any(|data| data.join("postmaster.pid").exists())),
        ("the lab's socket", |ground| ground.runtime_folders().iter().any(|folder| folder.join("lab.sock").exists())),
    ];
    for ((signal, code), (step, reached)) in ENDING.into_iter().cycle().zip(steps) {
        let ground = Ground::new();
        let mut run = ground.long_run();
        let mut folders: Vec<PathBuf> = Vec::new();
        until(step, || {
            folders = ground.noted_folders();
            reached(&ground)
        });
        run.signal(signal);
        let (status, output, errors) = run.end();
        assert_eq!(status.code(), Some(code), "{step}: {errors}");
        assert!(output.contains(r#""type":"summary""#), "{step}: {output}");
        ground.assert_nothing_is_left(&run.seen, &folders);
    }
}

#[test]
fn a_signal_during_initdb_leaves_no_half_made_template_and_no_shared_memory() {
    for (signal, code) in ENDING {
        let ground = Ground::unprivileged();
        let mut run = ground.long_run();
        let cache = ground.path("cache/queue-lab");
        // Root's cache is one for all labs of the machine: there a template may be ready.
        let half_made = || {
            let entries = fs::read_dir(&cache).into_iter().flatten().flatten().map(|entry| entry.path());
            entries.filter(|path| path.to_string_lossy().contains("making-")).collect::<Vec<_>>()
        };
        let owner = |folder: &PathBuf| Some(fs::read_to_string(folder.join("postmaster.pid")).ok()?.lines().count());
        until("a server of initdb", || {
            run.look();
            half_made().iter().filter_map(owner).any(|lines| lines >= 7)
        });
        run.signal(signal);
        assert_eq!(run.end().0.code(), Some(code));
        assert_eq!(half_made(), Vec::<PathBuf>::new());
        ground.assert_nothing_is_left(&run.seen, &[]);
    }
}

#[test]
fn a_kept_run_shows_commands_without_passwords_and_leaves_nothing_after_the_signal() {
    let ground = Ground::new();
    let mut run = ground.start(&["run", "--scenario", "stall-kill", "--keep"]);
    let errors = run.read_errors_until("-U lab postgres");
    let password = ground.notes("redis.password").pop().expect("a password");
    assert!(errors.contains("kept until Ctrl-C") && errors.contains("redis-cli -s"), "{errors}");
    assert!(!errors.contains(&password) && !errors.contains("://"), "{errors}");
    let folders = ground.noted_folders();
    assert!(!run.look().is_empty());
    run.signal(Signal::SIGTERM);
    assert_eq!(run.end().0.code(), Some(0), "the run itself had ended well");
    ground.assert_nothing_is_left(&run.seen, &folders);
}

#[test]
fn a_second_signal_ends_the_lab_at_once_and_the_next_start_cleans_up() {
    let ground = Ground::new();
    let struck = (0..5).any(|_| {
        let mut run = ground.long_run();
        run.read_until(r#""type":"case""#);
        // A server that does not end by itself holds the teardown up.
        let folders = ground.noted_folders();
        let mut pidfiles = ground.clusters().into_iter().map(|data| data.join("postmaster.pid"));
        let server = pidfiles.find_map(|file| fs::read_to_string(file).ok()?.lines().next()?.parse().ok());
        let server = server.expect("the server's pid");
        run.look();
        send(server, Signal::SIGSTOP);
        run.signal(Signal::SIGINT);
        run.read_until(r#""type":"summary""#);
        run.signal(Signal::SIGINT);
        let (status, ..) = run.end();
        let next = ground.lab(&["run", "--scenario", "stall-kill"]).output().expect("a run");
        assert_eq!(next.status.code(), Some(0), "{}", String::from_utf8_lossy(&next.stderr));
        ground.assert_nothing_is_left(&run.seen, &folders);
        // On a machine that stood still the first teardown may have been over: then again.
        status.signal() == Some(Signal::SIGINT as i32)
    });
    assert!(struck, "the second signal never ended the lab by itself");
}

#[test]
fn a_killed_lab_takes_its_processes_along_and_the_next_start_cleans_the_rest() {
    let ground = Ground::new();
    let (mut seen, mut folders, mut runs) = (BTreeSet::new(), Vec::new(), Vec::new());
    for round in 0..15_u64 {
        let mut run = ground.long_run();
        // A third in the first 200 ms, the others while cases are at play, some with stopped workers.
        if round % 3 == 0 {
            sleep(Duration::from_millis(round * 13));
        } else {
            run.read_until(r#""type":"case""#);
            sleep(Duration::from_millis(round * 7));
        }
        let below = run.look();
        if round % 3 == 2 {
            let is_worker =
                |pid: &i32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| it.ends_with(b"worker\0"));
            below.iter().copied().filter(is_worker).for_each(|pid| send(pid, Signal::SIGSTOP));
        }
        run.signal(Signal::SIGKILL);
        assert_eq!(run.child.wait().expect("a status").signal(), Some(9));
        until("its processes to die with it", || !run.seen.iter().any(|pid| lives(*pid)));
        seen.append(&mut run.seen);
        folders.extend(ground.noted_folders());
        runs.extend(ground.notes("run"));
    }
    assert!(!ground.runtime_folders().is_empty(), "a killed lab leaves its folder: or this tests nothing");
    let next = ground.lab(&["run", "--scenario", "stall-kill"]).output().expect("a run");
    assert_eq!(next.status.code(), Some(0), "{}", String::from_utf8_lossy(&next.stderr));
    ground.assert_nothing_is_left(&seen, &folders);
    let marked = |pid: &i32| runs.iter().any(|run| lab::process::identity::has_variable(*pid, "LABW_RUN_ID", run));
    assert_eq!(lab::process::identity::all().into_iter().find(marked), None);
}

#[test]
fn a_lab_that_nobody_listens_to_any_more_ends_quietly_and_leaves_nothing() {
    let ground = Ground::new();
    let mut run = ground.long_run();
    run.read_until(r#""type":"case""#);
    let folders = ground.noted_folders();
    run.look();
    run.close_output();
    let (status, _, errors) = run.end();
    assert_eq!(status.code(), Some(3));
    assert!(!errors.contains("error") && !errors.contains("panic"), "{errors}");
    ground.assert_nothing_is_left(&run.seen, &folders);
}

#[test]
fn a_lab_under_nohup_goes_on_after_a_hangup() {
    let ground = Ground::new();
    let lab = ground.lab(&["run", "--scenario", "stall-kill", "--repeat", "5", "--format", "ndjson"]);
    let mut command = std::process::Command::new("nohup");
    command.arg(lab.get_program()).args(lab.get_args()).current_dir(ground.path("work"));
    command.env("XDG_RUNTIME_DIR", ground.runtime.path()).env("XDG_CACHE_HOME", ground.path("cache"));
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().expect("nohup");
    let pid = child.id().cast_signed();
    until("a runtime folder", || !ground.notes("run").is_empty());
    send(pid, Signal::SIGHUP);
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}
