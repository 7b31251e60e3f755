//! The built-in library as a whole, run once on real servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lab::fault::Answer;
use lab::history::{Event, reader};
use lab::report::timeline::timeline;

/// Runs the library in a folder; the histories by case.
fn library(folder: &Path) -> BTreeMap<String, PathBuf> {
    let records = folder.join("records");
    let output = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["run", "--color", "never", "--out"])
        .arg(&records)
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("slowest"), "a run of the library tells its slowest cases: {text}");
    let mut found = BTreeMap::new();
    collect(&records.join("cases"), &records.join("cases"), &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('1'))
            && path.extension().is_some_and(|end| end == "ndjson")
        {
            // A second try takes the place of the first.
            let case = path.parent().and_then(|parent| parent.strip_prefix(root).ok()).expect("it is below the root");
            found.insert(case.display().to_string(), path.clone());
        }
    }
}

/// What a history shows, without its times and without what depends on who was faster.
fn signature(history: &Path) -> Vec<String> {
    let found = reader::read(history).expect("the history can be read");
    assert_eq!(found.gap, None, "{}", history.display());
    let (mut signature, mut queue) = (Vec::new(), Vec::new());
    for entry in found.entries {
        match entry.event {
            Event::End { .. } => break,
            Event::Point { point, attempts_made, .. } => signature.push(format!("{point} {attempts_made}")),
            Event::Answered { answer, .. } if answer != Answer::Go => signature.push(format!("{answer:?}")),
            Event::Queue { entry } => queue.push(entry.queue),
            Event::Settled { outcome, error, .. } => signature.push(format!("{outcome:?} {error:?}")),
            Event::Submitted { operation, job, error } => signature.push(format!("{operation} {job:?} {error:?}")),
            Event::Signalled { signal, .. } => signature.push(signal),
            Event::Stopped { .. } => signature.push("stopped".to_owned()),
            Event::KeyDeleted { .. } => signature.push("key deleted".to_owned()),
            Event::Exited { status, .. } => signature.push(status),
            _ => {}
        }
    }
    signature.sort();
    // The queue's own record is in order by itself.
    signature.extend(queue);
    signature
}

#[test]
fn the_library_matches_and_no_two_of_its_timings_show_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let histories = library(folder.path());
    assert!(histories.len() > 60, "{}", histories.len());
    let mut shown: BTreeMap<Vec<String>, Vec<&str>> = BTreeMap::new();
    for (case, history) in &histories {
        if case.ends_with("/none") || case.ends_with("/job-id") {
            shown.entry(signature(history)).or_default().push(case);
        }
        let picture = timeline(&reader::read(history).expect("the history can be read").entries);
        for line in picture.lines() {
            let plain = anstream::adapter::strip_str(line).to_string();
            assert!(plain.chars().count() <= 100, "{case}: {plain}");
        }
    }
    let same: Vec<_> = shown.values().filter(|cases| cases.len() > 1 && different_scenarios(cases)).collect();
    assert!(same.is_empty(), "these show the same, so one of each is enough: {same:#?}");
}

fn different_scenarios(cases: &[&str]) -> bool {
    let scenario = |case: &str| case.split('/').next().map(str::to_owned);
    cases.iter().any(|case| scenario(case) != scenario(cases[0]))
}

#[test]
fn every_planted_defect_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["selftest", "--color", "never"])
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("the lab saw it each time"), "{text}");
}
