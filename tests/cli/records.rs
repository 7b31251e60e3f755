//! What a run leaves behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::lab::{Lab, Out};
use crate::rows::run_the_rows;

fn set(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

/// The results in the record folder are those that went to stdout.
#[track_caller]
fn assert_results(record: &Path, out: &Out) {
    let results = fs::read_to_string(record.join("results.ndjson")).unwrap();
    assert_eq!(set(&results), set(&out.stdout));
    assert_eq!(results.lines().count(), out.stdout.lines().count());
}

#[test]
fn the_results_in_the_record_folder_are_those_on_stdout() {
    let lab = Lab::new();
    let out = run_the_rows(&lab);
    assert_results(&lab.record(), &out);
    let ignore = fs::read_to_string(lab.path(".lab/.gitignore")).unwrap();
    assert_eq!(ignore, "*\n", "records are nobody's source code");
}

#[test]
fn every_history_that_a_result_names_is_there_and_whole() {
    let lab = Lab::new();
    let out = run_the_rows(&lab);
    for case in out.of_type("case") {
        let path = lab.path(case["history"].as_str().unwrap());
        let found = lab::history::reader::read(&path).unwrap();
        assert_eq!(found.gap, None, "{}", path.display());
        let twin = lab::history::reader::read(&path.with_file_name("twin.ndjson")).unwrap();
        assert_eq!(twin.gap, None, "twin of {}", path.display());
    }
}

#[test]
fn the_record_folder_is_where_it_was_asked_for() {
    let lab = Lab::new();
    let args = ["run", "--scenario", "throw-after-write", "--out", "here/records", "--format", "ndjson"];
    let out = lab.lab(&args).ends(0);
    assert_results(&lab.path("here/records"), &out);
    assert!(!lab.path(".lab").exists());
    lab.lab(&["judge", "here/records"]).ends(0);
    // Two runs in one folder would be judged as one.
    lab.lab(&args).ends(2).complains(&["here/records already holds the record of a run"]);
    lab.lab(&["judge", "here/records"]).ends(0);
}

#[test]
fn records_hold_no_password() {
    let lab = Lab::new();
    lab.lab(&["run", "--scenario", "throw-after-write"]).ends(0);
    let mut folders = vec![lab.record()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            for secret in ["redis://:", "?pass=", "requirepass", "postgresql://", "password="] {
                assert!(!text.contains(secret), "{secret} in {}", path.display());
            }
        }
    }
    assert!(files > 4, "{files} files were read");
}

#[test]
fn nothing_of_a_run_is_left_in_the_runtime_folders() {
    let lab = Lab::new();
    let out = lab.lab(&["run", "--scenario", "throw-after-write", "--format", "ndjson"]).ends(0);
    let run = out.only("summary")["run"].as_str().unwrap().to_owned();
    // Every process of a run has its id in its environment.
    let mark = format!("LABW_RUN_ID={run}");
    let processes = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    });
    let left: Vec<_> = processes.map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
