//! The rows that the project exists to reproduce, run on real servers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::lab::{Lab, Out};

/// Scenario, protection, executions, effects: design.md, section 6 (seven rows), and bullmq-observed, section p.
const ROWS: &[(&str, &str, u64, u64)] = &[
    ("throw-after-write", "none", 2, 2),
    ("throw-after-write", "operation-key", 2, 1),
    ("stall-kill", "none", 2, 2),
    ("stall-kill", "operation-key", 2, 1),
    ("duplicate-producer", "none", 2, 2),
    ("duplicate-producer", "job-id", 1, 1),
    ("duplicate-producer", "operation-key", 2, 1),
    ("kill-before-write", "none", 2, 1),
    ("kill-before-write", "operation-key", 2, 1),
];

/// The four scenarios of the rows, as NDJSON.
pub(crate) fn run_the_rows(lab: &Lab) -> Out {
    let mut args = vec!["run", "--format", "ndjson"];
    let scenarios: BTreeSet<&str> = ROWS.iter().map(|(scenario, ..)| *scenario).collect();
    args.extend(scenarios.iter().flat_map(|scenario| ["--scenario", scenario]));
    lab.lab(&args).ends(0)
}

/// One such run, for the tests that only read what it says.
fn the_rows() -> &'static Out {
    static OUT: OnceLock<Out> = OnceLock::new();
    OUT.get_or_init(|| run_the_rows(&Lab::new()))
}

#[test]
fn every_row_runs_with_exactly_its_executions_and_effects() {
    let out = the_rows();
    let cases: BTreeMap<String, Value> =
        out.of_type("case").into_iter().map(|case| (case["case"].as_str().unwrap().to_owned(), case)).collect();
    assert_eq!(cases.len(), ROWS.len(), "{out}");
    for (scenario, protection, executions, effects) in ROWS {
        let id = format!("{scenario}/-/bullmq-rs/{protection}");
        let case = cases.get(&id).unwrap_or_else(|| panic!("{id} did not run\n{out}"));
        let observed = &case["observed"];
        assert_eq!((&observed["executions"], &observed["effects"]), (&json!(executions), &json!(effects)), "{case}");
        assert_eq!((&case["verdict"], &case["reason"]), (&json!("match"), &Value::Null), "{case}");
        assert_eq!(case["differences"], json!([]), "{case}");
        assert_eq!(
            (&case["scenario"], &case["variant"], &case["engine"], &case["protection"], &case["repeat"]),
            (&json!(scenario), &Value::Null, &json!("bullmq-rs"), &json!(protection), &json!(1))
        );
    }
}

#[test]
fn what_each_execution_saw_is_what_the_queue_is_known_to_show() {
    let out = the_rows();
    for case in out.of_type("case") {
        // bullmq-observed, section 1: seen by the runs, final hash, state, job ids, stalled events.
        let (seen, made, started, stalled, ids) = match (case["scenario"].as_str(), case["protection"].as_str()) {
            (Some("throw-after-write"), _) => (json!([0, 1]), 2, 2, 0, json!(["1"])),
            (Some("stall-kill" | "kill-before-write"), _) => (json!([0, 0]), 1, 2, 1, json!(["1"])),
            (Some("duplicate-producer"), Some("job-id")) => (json!([0]), 1, 1, 0, json!(["op-credit-482"])),
            (Some("duplicate-producer"), _) => (json!([0, 0]), 1, 1, 0, json!(["1", "2"])),
            _ => panic!("{case}"),
        };
        let observed = &case["observed"];
        assert_eq!((&observed["attempts_made"], &observed["job_ids"]), (&seen, &ids), "{case}");
        let end = json!({ "attempts_made": made, "attempts_started": started, "stalled": stalled });
        assert_eq!((&observed["final"], &observed["stalled"]), (&end, &json!(stalled)), "{case}");
        assert_eq!(observed["state"], "completed", "{case}");
        let anomaly = match (case["scenario"].as_str(), observed["effects"].as_u64()) {
            (Some("throw-after-write"), Some(2)) => json!("double-effect/retry"),
            (Some("stall-kill"), Some(2)) => json!("double-effect/stalled-recovery"),
            (Some("duplicate-producer"), Some(2)) => json!("double-effect/duplicate-job"),
            _ => Value::Null,
        };
        assert_eq!(case["anomaly"], anomaly, "{case}");
    }
}

#[test]
fn every_case_has_a_twin_that_is_not_counted() {
    let out = the_rows();
    let ids = |lines: &[Value]| -> Vec<String> {
        let mut ids: Vec<String> = lines.iter().map(|line| line["case"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let (cases, twins) = (out.of_type("case"), out.of_type("twin"));
    assert_eq!(ids(&cases), ids(&twins), "{out}");
    for line in twins.iter().chain(cases.iter().map(|case| &case["twin"])) {
        assert_eq!(line["verdict"], "match", "{line}");
    }
    let mut summary = out.only("summary");
    assert!(summary["elapsed_ms"].take().is_u64());
    let rows = ROWS.len();
    let counts = json!({
        "v": 1, "type": "summary", "run": cases[0]["run"], "cases": rows, "matched": rows, "mismatched": 0,
        "inconclusive": 0, "skipped": 0, "errors": 0, "elapsed_ms": null, "exit_code": 0,
    });
    assert_eq!(summary, counts);
}

#[test]
fn every_line_says_its_version_type_and_run_and_the_summary_is_the_last() {
    let out = the_rows();
    let lines = out.lines();
    for line in &lines {
        assert_eq!((&line["v"], &line["run"]), (&json!(1), &lines[0]["run"]), "{line}");
        assert!(["case", "twin", "summary"].contains(&line["type"].as_str().unwrap()), "{line}");
    }
    assert_eq!(lines.last().unwrap()["type"], "summary");
    assert_eq!(lines.len(), 2 * ROWS.len() + 1);
}

#[test]
fn no_case_of_the_library_is_ever_wrong() {
    let out = Lab::new().lab(&["run", "--format", "ndjson"]);
    let summary = out.only("summary");
    let count = |key: &str| summary[key].as_u64().unwrap();
    // A machine that has no time makes a case inconclusive, never wrong.
    let proved = count("matched") * 4 >= count("cases") * 3 && count("cases") >= ROWS.len() as u64;
    assert!((count("mismatched"), count("errors")) == (0, 0) && proved && [0, 4].contains(&out.code), "{out}");
    assert_eq!(count("matched") + count("inconclusive"), count("cases"), "{out}");
}

#[test]
fn every_repetition_is_a_case_and_the_twin_runs_once() {
    let args = ["run", "--scenario", "throw-after-write", "--protection", "none", "--repeat", "3"];
    let lab = Lab::new();
    let out = lab.lab(&[&args[..], &["--format", "ndjson"]].concat()).ends(0);
    let cases = out.of_type("case");
    let repeats: BTreeSet<u64> = cases.iter().map(|case| case["repeat"].as_u64().unwrap()).collect();
    assert_eq!((cases.len(), repeats), (3, BTreeSet::from([1, 2, 3])), "{out}");
    assert_eq!((out.of_type("twin").len(), &out.only("summary")["cases"]), (1, &json!(3)), "{out}");
    let out = Lab::new().lab(&args).ends(0);
    out.says(&["3/3 match", "3 cases: 3 matched · 1 twin ·"]);
}

#[test]
fn a_pattern_selects_scenarios_and_protections_are_filtered() {
    let out = Lab::new().lab(&["run", "--scenario", "*-write", "--protection", "operation-key", "--format", "ndjson"]);
    let out = out.ends(0);
    let scenarios: BTreeSet<String> =
        out.of_type("case").iter().map(|case| case["scenario"].as_str().unwrap().to_owned()).collect();
    for name in ["kill-before-write", "throw-after-write"] {
        assert!(scenarios.contains(name), "{out}");
    }
    assert!(scenarios.iter().all(|name| name.ends_with("-write")), "{out}");
    assert!(out.of_type("case").iter().all(|case| case["protection"] == "operation-key"), "{out}");
}
