//! `lab check` and `lab list`: what there is and what is wrong, without running anything.

use std::collections::BTreeSet;
use std::path::Path;

use crate::lab::{Lab, scenario};

fn listed(lab: &Lab, what: &[&str]) -> Vec<(String, String)> {
    let out = lab.lab(&[&["list"], what].concat()).ends(0);
    let line = |line: &str| {
        let (name, about) = line.split_once("  ").unwrap_or((line, ""));
        (name.trim().to_owned(), about.trim().to_owned())
    };
    out.stdout.lines().map(line).collect()
}

fn names(lab: &Lab, what: &[&str]) -> Vec<String> {
    let lines = listed(lab, what);
    assert!(lines.iter().all(|(_, about)| !about.is_empty()), "everything is explained: {lines:?}");
    lines.into_iter().map(|(name, _)| name).collect()
}

/// The stems of the scenario files.
fn stems(folder: &Path, stems: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            self::stems(&path, stems);
        } else if path.extension().is_some_and(|end| end == "toml") {
            stems.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn every_scenario_file_is_listed() {
    let mut files = BTreeSet::new();
    stems(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios"), &mut files);
    let lab = Lab::new().without_programs();
    let listed = names(&lab, &["scenarios"]);
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), files);
    assert_eq!(listed, names(&lab, &[]), "scenarios are the default");
    for name in ["stall-kill", "throw-after-write", "duplicate-producer", "kill-before-write"] {
        assert!(files.contains(name), "{name}");
    }
}

#[test]
fn points_faults_engines_and_protections_are_listed_by_their_words() {
    let lab = Lab::new().without_programs();
    for (what, words) in [
        (
            "points",
            &[
                "handler.started",
                "effect.written",
                "effect.committed",
                "handler.returned",
                "queue.added",
                "queue.active",
                "queue.stalled",
                "queue.completed",
                "queue.failed",
            ][..],
        ),
        ("engines", &["bullmq-rs"]),
        ("protections", &["none", "operation-key", "job-id"]),
    ] {
        let names = names(&lab, &[what]);
        for word in words {
            assert!(names.iter().any(|name| name == word), "{word} is not in {names:?}");
        }
    }
    let faults = names(&lab, &["faults"]);
    for word in ["kill", "throw", "duplicate"] {
        assert!(faults.iter().any(|fault| fault.split(' ').next() == Some(word)), "{word} is not in {faults:?}");
    }
}

#[test]
fn runs_are_listed_when_there_are_some() {
    let lab = Lab::new();
    assert_eq!(lab.lab(&["list", "runs"]).ends(0).stdout, "");
    let run = || {
        let out = lab.lab(&["run", "--scenario", "duplicate-producer", "--protection", "job-id", "--format", "ndjson"]);
        out.ends(0).only("summary")["run"].as_str().unwrap().to_owned()
    };
    let (first, second) = (run(), run());
    let listed = names(&lab, &["runs"]);
    assert_eq!(listed.iter().collect::<BTreeSet<_>>(), BTreeSet::from([&first, &second]));
    for run in [first, second] {
        lab.lab(&["judge", &run]).ends(0);
    }
}

#[test]
fn what_cannot_be_listed_is_bad_usage() {
    Lab::new().lab(&["list", "workers"]).ends(2).complains(&["workers", "scenarios", "protections"]);
}

#[test]
fn a_good_file_and_a_built_in_name_are_good() {
    let lab = Lab::new().without_programs();
    lab.file("mine.toml", &scenario("stall/stall-kill.toml"));
    let out = lab.lab(&["check", "mine.toml", "throw-after-write"]).ends(0);
    out.says(&["mine.toml: good", "throw-after-write.toml: good"]);
    assert_eq!((out.stdout.lines().count(), out.stderr.as_str()), (2, ""), "{out}");
}

#[test]
fn all_problems_of_all_files_are_told_at_once() {
    let lab = Lab::new().without_programs();
    lab.file("good.toml", &scenario("stall/stall-kill.toml"));
    let bad = "schema = 1\ntitle = \"t\"\nexpect = [ { protection = \"nome\", executions = 2 } ]\n\n[[job]]\n\
               operation = \"a\"\n\n[[worker]]\nname = \"A\"\nlok = \"1s\"\n\n[[fault]]\nat = \"A@effect.committed\"\n\
               do = \"kil\"\n\n[[fault]]\nat = \"B@effect.committed\"\ndo = \"kill\"\n";
    lab.file("bad.toml", bad);
    lab.file("worse.toml", "schema = 2\n");
    let out = lab.lab(&["check", "bad.toml", "good.toml", "worse.toml"]).ends(2);
    out.says(&["good.toml: good"]);
    out.complains(&[
        "bad.toml:3:",
        "unknown protection `nome`",
        "did you mean `none`?",
        "bad.toml:10:1",
        "`lok`",
        "`lock`",
        "bad.toml:17:7",
        "unknown worker `B`",
        "bad.toml:14:7",
        "unknown action `kil`",
        "did you mean `kill`?",
        "worse.toml:1:",
    ]);
    assert_eq!(out.stderr.matches("error: ").count(), 5, "{out}");
    assert!(!out.stderr.contains('\u{1b}'), "{out}");
}
