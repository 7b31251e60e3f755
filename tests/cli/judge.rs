//! `lab judge`: a stored run is judged again from its record folder alone.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::lab::{Lab, Out, wrong_stall_kill};
use crate::rows::run_the_rows;

/// What a run says of its cases, apart from the paths and times.
fn verdicts(out: &Out) -> BTreeMap<String, Value> {
    let reduced = |mut case: Value| {
        for key in ["elapsed_ms", "history"] {
            assert!(case.as_object_mut().unwrap().remove(key).is_some(), "{case}");
        }
        (format!("{} {}", case["case"], case["repeat"]), case)
    };
    out.of_type("case").into_iter().map(reduced).collect()
}

#[test]
fn a_stored_run_is_judged_the_same_without_any_server() {
    let lab = Lab::new();
    let ran = run_the_rows(&lab);
    let lab = lab.without_programs();
    let id = ran.lines()[0]["run"].as_str().unwrap().to_owned();
    let folder = lab.record().display().to_string();
    for run in ["last", &id, &folder] {
        let judged = lab.lab(&["judge", run, "--format", "ndjson"]).ends(0);
        assert_eq!(verdicts(&judged), verdicts(&ran), "lab judge {run}");
        assert_eq!(judged.of_type("twin").len(), ran.of_type("twin").len());
        assert_eq!(judged.only("summary")["matched"], ran.only("summary")["matched"]);
    }
}

#[test]
fn a_mismatch_stays_a_mismatch() {
    let lab = Lab::new();
    lab.file("stall-kill.toml", &wrong_stall_kill());
    let ran = lab.lab(&["run", "--scenario", "./stall-kill.toml", "--format", "ndjson"]).ends(1);
    let judged = lab.lab(&["judge", "last", "--format", "ndjson"]).ends(1);
    assert_eq!(verdicts(&judged), verdicts(&ran));
    // What is judged is the table of the run, not what the file says today.
    lab.file("stall-kill.toml", "nonsense");
    lab.lab(&["judge", "last"]).ends(1).says(&["effects of credit-482: expected 1, observed 2"]);
}

#[test]
fn every_repetition_of_a_stored_run_is_judged() {
    let lab = Lab::new();
    let args = ["run", "--scenario", "throw-after-write", "--repeat", "3", "--format", "ndjson"];
    let ran = lab.lab(&args).ends(0);
    let judged = lab.lab(&["judge", "last", "--format", "ndjson"]).ends(0);
    assert_eq!(verdicts(&ran).len(), 6, "{ran}");
    assert_eq!(verdicts(&judged), verdicts(&ran));
}

#[test]
fn a_spoiled_history_is_never_a_match() {
    let lab = Lab::new();
    lab.lab(&["run", "--scenario", "stall-kill", "--protection", "none"]).ends(0);
    let history = lab.record().join("cases/stall-kill/-/bullmq-rs/none/1.ndjson");
    let whole = fs::read_to_string(&history).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let entered =
        lines.iter().rposition(|line| line.contains("\"event\":\"point\"") && line.contains("handler.started"));
    let entered = entered.unwrap();
    let join = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    for (spoiled, reason) in [
        (join(&[&lines[..entered], &lines[entered + 1..]].concat()), "records-disagree"),
        (join(&lines[..lines.len() - 1]), "history-gap"),
        (whole[..whole.len() / 2].to_owned(), "history-gap"),
        (String::new(), "history-gap"),
        (whole.replace("\"status\":\"signal SIGKILL\"", "\"status\":\"exit 137\""), "fault-not-fired"),
    ] {
        fs::write(&history, spoiled).unwrap();
        let out = lab.lab(&["judge", "last", "--format", "ndjson"]).ends(4);
        let case = out.only("case");
        assert_eq!((&case["verdict"], &case["reason"]), (&"inconclusive".into(), &reason.into()), "{out}");
    }
    fs::write(&history, &whole).unwrap();
    lab.lab(&["judge", "last"]).ends(0);
}

#[test]
fn a_history_that_is_absent_or_of_another_case_is_no_match() {
    let lab = Lab::new();
    lab.lab(&["run", "--scenario", "stall-kill", "--repeat", "2"]).ends(0);
    let folder = |protection: &str| lab.record().join("cases/stall-kill/-/bullmq-rs").join(protection);
    let (history, away) = (folder("none").join("2.ndjson"), folder("none").join("away"));
    let gap = |because: &str| {
        let out = lab.lab(&["judge", "last", "--format", "ndjson"]).ends(4);
        let cases = out.of_type("case");
        let case = cases.iter().find(|case| case["verdict"] != "match").unwrap();
        assert_eq!((&case["reason"], &case["repeat"]), (&"history-gap".into(), &2.into()), "{out}");
        assert!(case["because"].as_str().unwrap().contains(because), "{out}");
    };
    fs::rename(&history, &away).unwrap();
    gap("no history of 1 of 2 repetitions");
    for foreign in
        [folder("none").join("1.ndjson"), folder("none").join("twin.ndjson"), folder("operation-key").join("2.ndjson")]
    {
        fs::copy(foreign, &history).unwrap();
        gap("it is the history of");
    }
    fs::copy(&away, &history).unwrap();
    lab.lab(&["judge", "last"]).ends(0);
    fs::remove_dir_all(folder("none")).unwrap();
    lab.lab(&["judge", "last"]).ends(4).says(&["no history of 2 of 2 repetitions"]);
}

#[test]
fn pipes_in_a_record_are_not_waited_for_and_paths_do_not_leave_it() {
    let lab = Lab::new();
    lab.lab(&["run", "--scenario", "throw-after-write", "--protection", "none"]).ends(0);
    let pipe_at = |path: &std::path::Path| {
        let whole = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        lab.lab(&["judge", "last"]);
        let folder = lab.record().display().to_string();
        let out = lab.lab(&["judge", &folder]).ends(3);
        assert!(format!("{}{}", out.stdout, out.stderr).contains("not a regular file"), "{out}");
        fs::remove_file(path).unwrap();
        fs::write(path, whole).unwrap();
    };
    pipe_at(&lab.record().join("plan.json"));
    pipe_at(&lab.record().join("cases/throw-after-write/-/bullmq-rs/none/1.ndjson"));
    let plan = lab.record().join("plan.json");
    let text = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, text.replace("throw-after-write/-/", "../../")).unwrap();
    lab.lab(&["judge", "last"]).ends(3).complains(&["plan.json is damaged", "is no case id"]);
}

#[test]
fn a_folder_that_is_no_record_is_named() {
    let lab = Lab::new();
    fs::create_dir(lab.path("empty")).unwrap();
    let out = lab.lab(&["judge", "empty"]);
    assert!([2, 3].contains(&out.code), "{out}");
    out.complains(&["empty", "plan.json"]);
    fs::write(lab.path("empty/plan.json"), "{\"run\": 7").unwrap();
    let out = lab.lab(&["judge", "empty"]);
    assert!([2, 3].contains(&out.code), "{out}");
    out.complains(&["empty/plan.json is damaged"]);
}
