//! The exit status and the message that explains it.

use serde_json::{Value, json};

use crate::lab::{Lab, changed, scenario, wrong_stall_kill};

#[test]
fn one_wrong_number_in_the_table_is_exit_1_and_exactly_that_cell() {
    let lab = Lab::new();
    lab.file("stall-kill.toml", &wrong_stall_kill());
    let args = ["run", "--scenario", "./stall-kill.toml"];
    let out = lab.lab(&[&args[..], &["--format", "ndjson"]].concat()).ends(1);
    for case in out.of_type("case") {
        if case["protection"] == "none" {
            let cell = json!([{ "operation": "credit-482", "column": "effects", "expected": 1, "observed": 2 }]);
            assert_eq!((&case["verdict"], &case["differences"]), (&json!("mismatch"), &cell), "{case}");
        } else {
            assert_eq!((&case["verdict"], &case["differences"]), (&json!("match"), &json!([])), "{case}");
        }
    }
    let summary = out.only("summary");
    assert_eq!((&summary["mismatched"], &summary["exit_code"]), (&json!(1), &json!(1)), "{out}");

    let out = lab.lab(&args).ends(1);
    out.says(&["effects of credit-482: expected 1, observed 2", "double-effect/stalled-recovery", "1 mismatched"]);
    assert_eq!(out.stdout.matches("expected 1, observed 2").count(), 1, "{out}");
}

#[test]
fn the_command_that_is_shown_beneath_a_mismatch_shows_it_again() {
    let lab = Lab::new();
    lab.file("stall-kill.toml", &wrong_stall_kill());
    let out = lab.lab(&["run", "--scenario", "./stall-kill.toml", "--format", "ndjson"]).ends(1);
    let mismatch = out.of_type("case").into_iter().find(|case| case["verdict"] == "mismatch").unwrap();
    let repro = mismatch["repro"].as_str().unwrap().to_owned();
    let words: Vec<&str> = repro.split(' ').collect();
    assert_eq!(words[0], "lab", "{repro}");
    let again = lab.lab(&[&words[1..], &["--format", "ndjson"]].concat()).ends(1);
    let case = again.only("case");
    assert_eq!((&case["case"], &case["differences"]), (&mismatch["case"], &mismatch["differences"]));
}

#[test]
fn bad_usage_is_exit_2_and_says_what_was_meant() {
    let lab = Lab::new();
    for (args, texts) in [
        (&["run", "--scenaro", "stall-kill"][..], &["--scenaro", "--scenario"][..]),
        (&["run", "--format", "xml"], &["xml", "human", "ndjson"]),
        (&["run", "--repeat", "0"], &["--repeat", "0"]),
        (&["run", "--jobs", "many"], &["--jobs"]),
        (&["run", "-q", "-v"], &["--quiet", "--verbose"]),
        (&["rum"], &["rum", "run"]),
        (&[], &["Usage"]),
        (
            &["run", "--scenario", "stall-kil"],
            &["no built-in scenario is called `stall-kil`", "did you mean `stall-kill`?"],
        ),
        (&["run", "--scenario", "nothing-*"], &["no built-in scenario matches `nothing-*`", "`stall-kill`"]),
        (&["run", "--scenario", "missing.toml"], &["missing.toml"]),
        (&["run", "--protection", "job-di"], &["unknown protection `job-di`", "did you mean `job-id`?"]),
        (&["run", "--engine", "bulmq-rs"], &["unknown engine `bulmq-rs`", "did you mean `bullmq-rs`?"]),
        (&["judge"], &["RUN"]),
        (&["judge", "yesterday"], &["no stored run is called `yesterday`", "`lab run` makes one"]),
        (&["check", "missing.toml"], &["missing.toml"]),
    ] {
        let out = lab.lab(args).ends(2);
        out.complains(texts);
        assert_eq!(out.stdout, "", "results go to stdout, mistakes do not\n{out}");
    }
    assert!(!lab.path(".lab").exists(), "nothing ran, nothing is recorded");
}

#[test]
fn a_bad_scenario_is_exit_2_with_its_place_a_caret_and_the_nearest_name() {
    let lab = Lab::new();
    let text = changed(&scenario("stall/stall-kill.toml"), "at = \"A@effect.committed\"", "at = \"A@effect.comitted\"");
    lab.file("bad.toml", &text);
    let at = |part: &str| {
        let (line, text) = text.lines().enumerate().find(|(_, line)| line.contains(part)).unwrap();
        (line + 1, text, text.find(part).unwrap() + 1)
    };
    let (line, shown, column) = at("effect.comitted");
    let out = lab.lab(&["run", "--scenario", "bad.toml"]).ends(2);
    let place = format!("bad.toml:{line}:{column}");
    out.complains(&[&place, shown, "^^^^^^^^^^^^^^^", "did you mean `effect.committed`?"]);
    assert_eq!(out.stdout, "", "{out}");
    // The caret stands under the first letter of the wrong word.
    let lines: Vec<&str> = out.stderr.lines().collect();
    let source = lines.iter().position(|line| line.contains("effect.comitted") && line.contains(" | ")).unwrap();
    assert_eq!(lines[source].find("effect.comitted"), lines[source + 1].find('^'), "{out}");
}

#[test]
fn every_bad_scenario_is_told_before_anything_runs() {
    let lab = Lab::new();
    lab.file("one.toml", "schema = 1\n");
    lab.file("two.toml", "schema = 1\ntitle =\n");
    let out = lab.lab(&["run", "--scenario", "one.toml", "--scenario", "stall-kill", "--scenario", "two.toml"]).ends(2);
    out.complains(&["one.toml:", "two.toml:2:"]);
    assert!(!lab.path(".lab").exists(), "{out}");
}

#[test]
fn nothing_selected_is_exit_5() {
    let lab = Lab::new();
    let out = lab.lab(&["run", "--protection", "job-id", "--scenario", "stall-kill"]).ends(5);
    out.complains(&["nothing is selected"]);
    assert!(!lab.path(".lab").exists(), "{out}");
}

#[test]
fn a_missing_server_program_is_exit_3_and_says_how_to_get_it() {
    let lab = Lab::new().without_programs();
    let out = lab.lab(&["run", "--scenario", "stall-kill"]).ends(3);
    out.complains(&["redis-server", "on PATH", "no-programs", "apt-get install redis-server"]);
    let out = lab.lab(&["run", "--scenario", "stall-kill", "--format", "ndjson"]).ends(3);
    assert!(out.of_type("case").is_empty(), "{out}");
}

#[test]
fn a_record_folder_that_cannot_be_made_is_exit_3_and_named() {
    let lab = Lab::new();
    lab.file("taken", "a file");
    let out = lab.lab(&["run", "--scenario", "stall-kill", "--out", "taken/records"]).ends(3);
    out.complains(&["taken/records"]);
}

#[test]
fn help_and_version_are_no_mistakes() {
    let lab = Lab::new();
    let help = lab.lab(&["--help"]).ends(0);
    help.says(&["run", "list", "check", "judge"]);
    assert!(!help.stdout.contains("keeper"), "hidden verbs stay hidden\n{help}");
    lab.lab(&["--version"]).ends(0).says(&[env!("CARGO_PKG_VERSION")]);
    lab.lab(&["run", "--help"]).ends(0).says(&["--scenario", "--protection", "--repeat", "--out", "--format"]);
}

#[test]
fn the_exit_status_stands_in_the_summary_too() {
    let lab = Lab::new();
    lab.file("stall-kill.toml", &wrong_stall_kill());
    for (args, code) in [(["--scenario", "stall-kill"], 0), (["--scenario", "./stall-kill.toml"], 1)] {
        let out = lab.lab(&[&["run", "--format", "ndjson", "--protection", "none"], &args[..]].concat()).ends(code);
        assert_eq!(out.only("summary")["exit_code"], Value::from(code), "{out}");
    }
}
