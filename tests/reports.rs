//! The faces of results, from results made by hand: what a person and a program are shown for every way a case can end.

use lab::outcome::{CaseResult, Cell, Exit, OperationResult, Reason, Tally, TwinResult, Verdict};
use lab::report::terminal::{self, Detail, Row};
use lab::report::{ndjson, paint};
use serde_json::{Value, json};

/// The text without its colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = escape.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}

fn cell(column: &str, expected: Option<Value>, observed: Value) -> Cell {
    let holds = expected.as_ref().is_none_or(|expected| *expected == observed);
    Cell { column: column.to_owned(), expected, observed, holds }
}

fn operation(name: &str, effects: (u64, u64), anomaly: Option<&str>) -> OperationResult {
    OperationResult {
        operation: name.to_owned(),
        cells: vec![
            cell("executions", Some(json!(2)), json!(2)),
            cell("effects", Some(json!(effects.0)), json!(effects.1)),
            cell("attempts-made", Some(json!([0, 0])), json!([0, 0])),
            cell("final.stalled", Some(json!(1)), json!(1)),
            cell("state", None, json!("completed")),
        ],
        job_ids: vec!["1".to_owned()],
        anomaly: anomaly.map(str::to_owned),
    }
}

fn result(protection: &str, verdict: Verdict, operations: Vec<OperationResult>) -> CaseResult {
    CaseResult {
        case: format!("stall-kill/-/bullmq-rs/{protection}"),
        scenario: "stall-kill".to_owned(),
        variant: None,
        engine: "bullmq-rs".to_owned(),
        protection: protection.to_owned(),
        repeat: 1,
        tries: 1,
        verdict,
        because: None,
        operations,
        twin: TwinResult::Matched,
        elapsed_ms: 123,
        history: format!(".lab/runs/r/cases/stall-kill/-/bullmq-rs/{protection}/1.ndjson"),
        repro: format!("lab run --scenario stall-kill --protection {protection}"),
    }
}

fn matching(protection: &str) -> CaseResult {
    result(protection, Verdict::Match, vec![operation("credit-482", (1, 1), None)])
}

fn mismatch() -> CaseResult {
    let double = operation("credit-482", (1, 2), Some("double-effect/stalled-recovery"));
    result("none", Verdict::Mismatch, vec![double])
}

fn inconclusive(reason: Reason, because: &str) -> CaseResult {
    let seen = operation("credit-482", (1, 1), None);
    CaseResult {
        because: Some(because.to_owned()),
        ..result("operation-key", Verdict::Inconclusive(reason), vec![seen])
    }
}

fn broken() -> CaseResult {
    CaseResult {
        because: Some(
            "worker A ended with `exit 1` before it was ready; its last lines:\n  no route to host".to_owned(),
        ),
        twin: TwinResult::Broke("the same".to_owned()),
        ..result("job-id", Verdict::Error, Vec::new())
    }
}

fn rows(results: Vec<CaseResult>) -> Vec<Row> {
    results.into_iter().map(Row::new).collect()
}

fn shown(results: Vec<CaseResult>, detail: Detail) -> String {
    plain(&terminal::scenario("SIGKILL after the write", &rows(results), detail))
}

// ---- terminal

#[test]
fn a_block_shows_each_case_and_beneath_it_everything_that_is_wrong() {
    let results = vec![mismatch(), inconclusive(Reason::EarlyStall, "the queue wrote `stalled` too early"), broken()];
    insta::assert_snapshot!(shown(results, Detail::Normal), @r"
    stall-kill  SIGKILL after the write
                                    executions              effects          other
                                expected   observed   expected   observed  columns  verdict
      none                             2          2          1          2      2/2  mismatch 123 ms
      operation-key                    2          2          1          1      2/2  early-stall 123 ms
      job-id                                                                        error 123 ms
      mismatch stall-kill/-/bullmq-rs/none
        cell      effects of credit-482: expected 1, observed 2
        anomaly   double-effect/stalled-recovery (credit-482)
        history   .lab/runs/r/cases/stall-kill/-/bullmq-rs/none/1.ndjson
        again     lab run --scenario stall-kill --protection none
      inconclusive stall-kill/-/bullmq-rs/operation-key
        because   the queue wrote `stalled` too early
        history   .lab/runs/r/cases/stall-kill/-/bullmq-rs/operation-key/1.ndjson
        again     lab run --scenario stall-kill --protection operation-key
      error stall-kill/-/bullmq-rs/job-id
        because   worker A ended with `exit 1` before it was ready; its last lines:
                    no route to host
        history   .lab/runs/r/cases/stall-kill/-/bullmq-rs/job-id/1.ndjson
        again     lab run --scenario stall-kill --protection job-id
    ");
}

#[test]
fn a_block_in_full_shows_every_column_of_every_operation() {
    let many = vec![operation("credit-482", (1, 1), None), operation("credit-483", (1, 0), Some("lost-effect"))];
    insta::assert_snapshot!(shown(vec![result("none", Verdict::Mismatch, many)], Detail::Verbose), @r"
    stall-kill  SIGKILL after the write
                                    executions              effects          other
                                expected   observed   expected   observed  columns  verdict
      none                                                                          mismatch 123 ms
        credit-482                     2          2          1          1      2/2
        credit-483                     2          2          1          0      2/2
        none credit-482
          executions               observed 2                expected 2
          effects                  observed 1                expected 1
          attempts-made            observed 0 0              expected 0 0
          final.stalled            observed 1                expected 1
          state                    observed completed        expected not stated
          job ids                  1
        none credit-483
          executions               observed 2                expected 2
          effects                  observed 0                expected 1
          attempts-made            observed 0 0              expected 0 0
          final.stalled            observed 1                expected 1
          state                    observed completed        expected not stated
          job ids                  1
          fault-free twin          matched
      mismatch stall-kill/-/bullmq-rs/none
        cell      effects of credit-483: expected 1, observed 0
        anomaly   lost-effect (credit-483)
        history   .lab/runs/r/cases/stall-kill/-/bullmq-rs/none/1.ndjson
        again     lab run --scenario stall-kill --protection none
    ");
}

#[test]
fn a_wrong_cell_is_named_with_both_numbers_once() {
    let text = shown(vec![mismatch(), matching("operation-key")], Detail::Normal);
    assert_eq!(text.matches("effects of credit-482: expected 1, observed 2").count(), 1, "{text}");
    for part in
        ["double-effect/stalled-recovery (credit-482)", "1.ndjson", "lab run --scenario stall-kill --protection none"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("executions of"), "what holds is not told\n{text}");
}

#[test]
fn the_cells_of_an_inconclusive_case_are_not_blamed() {
    let mut doubtful = inconclusive(Reason::RecordsDisagree, "handlers were entered 1 times, the queue says 2");
    doubtful.operations = vec![operation("credit-482", (1, 2), None)];
    let text = shown(vec![doubtful], Detail::Normal);
    assert!(text.contains("records-disagree") && text.contains("entered 1 times, the queue says 2"), "{text}");
    assert!(!text.contains("expected 1, observed 2"), "{text}");
}

#[test]
fn quiet_shows_only_what_does_not_match() {
    assert_eq!(shown(vec![matching("none"), matching("operation-key")], Detail::Quiet), "");
    let text = shown(vec![mismatch(), matching("operation-key")], Detail::Quiet);
    assert!(text.contains("mismatch") && !text.contains("operation-key"), "{text}");
}

#[test]
fn repetitions_are_one_row_that_shows_the_first_that_does_not_match() {
    let mut row = Row::new(matching("none"));
    for repeat in 2..=5 {
        let result = if repeat >= 4 { mismatch() } else { matching("none") };
        row.add(CaseResult { repeat, ..result });
    }
    let text = plain(&terminal::scenario("t", &[row.clone()], Detail::Normal));
    assert!(text.contains("3/5 match") && text.contains("repeat    4, try 1"), "{text}");
    assert_eq!((row.tally.cases, row.tally.matched, row.tally.mismatched), (5, 3, 2));
    assert!(!plain(&terminal::scenario("t", &[row], Detail::Quiet)).is_empty(), "not every repetition matched");
}

#[test]
fn a_case_that_was_tried_again_says_so() {
    let early = CaseResult { tries: 3, ..inconclusive(Reason::EarlyStall, "early") };
    let text = shown(vec![early], Detail::Normal);
    assert!(text.contains("repeat    1, try 3"), "{text}");
}

#[test]
fn no_line_is_wider_than_a_hundred_columns_and_no_reason_is_lost() {
    let words: String = (0..60).map(|n| format!("word{n} ")).collect();
    for reason in [
        Reason::FaultNotFired,
        Reason::FaultTooLate,
        Reason::EarlyStall,
        Reason::RecordsDisagree,
        Reason::TwinDiffers,
        Reason::Deadline,
        Reason::HistoryGap,
        Reason::SubjectDiedUnasked,
    ] {
        let result = CaseResult { elapsed_ms: 1_234_567, ..inconclusive(reason, &words) };
        let text = plain(&terminal::scenario(&words, &rows(vec![result]), Detail::Verbose));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!((0..60).all(|n| text.contains(&format!("word{n}"))), "{text}");
        assert!(text.contains(reason.word()), "{text}");
    }
}

#[test]
fn the_observed_number_is_painted_only_where_it_is_wrong() {
    let bad = paint::paint(paint::BAD, format!("{:>9}", 2));
    let text = |result| terminal::scenario("t", &rows(vec![result]), Detail::Normal);
    assert_eq!(text(mismatch()).matches(&bad).count(), 1);
    assert_eq!(text(matching("none")).matches(&bad).count(), 0);
}

#[test]
fn several_engines_are_told_apart() {
    let other = CaseResult { engine: "bullmq-node".to_owned(), ..matching("none") };
    let text = shown(vec![matching("none"), other], Detail::Normal);
    assert!(text.contains("none bullmq-rs") && text.contains("none bullmq-node"), "{text}");
    assert!(!shown(vec![matching("none")], Detail::Normal).contains("bullmq-rs"));
}

#[test]
fn the_summary_counts_every_kind_of_end_and_leaves_out_what_did_not_happen() {
    let tally = |verdicts: &[Verdict]| {
        let mut tally = Tally::default();
        verdicts.iter().for_each(|verdict| tally.add(*verdict));
        tally
    };
    let doubt = Verdict::Inconclusive(Reason::Deadline);
    let all = tally(&[Verdict::Match, Verdict::Mismatch, doubt, Verdict::Skipped, Verdict::Error, Verdict::Match]);
    for (tally, twins, elapsed_ms, line) in [
        (tally(&[Verdict::Match]), 1, 1234, "1 case: 1 matched · 1 twin · 1.23 s · records in there\n"),
        (tally(&[doubt, doubt]), 0, 59, "2 cases: 0 matched, 2 inconclusive · 0 twins · 0.05 s · records in there\n"),
        (
            all,
            6,
            61_000,
            "6 cases: 2 matched, 1 mismatched, 1 broken, 1 inconclusive, 1 skipped · 6 twins · 61.00 s\nrecords in there\n",
        ),
    ] {
        assert_eq!(plain(&terminal::summary(&tally, twins, elapsed_ms, "there")), line);
    }
}

// ---- ndjson

#[test]
fn a_case_is_one_object_with_the_columns_of_the_file() {
    let line = ndjson::case("r1", &mismatch());
    assert_eq!((&line["v"], &line["type"], &line["run"]), (&json!(1), &json!("case"), &json!("r1")));
    assert_eq!((&line["verdict"], &line["reason"], &line["because"]), (&json!("mismatch"), &Value::Null, &Value::Null));
    let stated = json!({ "executions": 2, "effects": 1, "attempts_made": [0, 0], "final": { "stalled": 1 } });
    assert_eq!(line["expected"], stated, "what is not stated is not expected");
    let seen = json!({
        "executions": 2, "effects": 2, "attempts_made": [0, 0], "final": { "stalled": 1 }, "state": "completed",
        "job_ids": ["1"],
    });
    assert_eq!(line["observed"], seen);
    let differences = json!([{ "operation": "credit-482", "column": "effects", "expected": 1, "observed": 2 }]);
    assert_eq!(line["differences"], differences);
    assert_eq!(line["anomaly"], "double-effect/stalled-recovery");
    assert_eq!(line["twin"], json!({ "verdict": "match" }));
}

#[test]
fn an_inconclusive_case_has_its_reason_and_a_broken_one_what_broke() {
    let line = ndjson::case("r1", &inconclusive(Reason::HistoryGap, "line 7 is no history entry"));
    assert_eq!((&line["verdict"], &line["reason"]), (&json!("inconclusive"), &json!("history-gap")));
    assert_eq!(line["because"], "line 7 is no history entry");
    let line = ndjson::case("r1", &broken());
    assert_eq!((&line["verdict"], &line["reason"], &line["observed"]), (&json!("error"), &Value::Null, &Value::Null));
    assert_eq!(line["twin"], json!({ "verdict": "error", "because": "the same" }));
}

#[test]
fn every_operation_of_a_case_is_there() {
    let many = vec![operation("credit-482", (1, 1), None), operation("credit-483", (1, 0), Some("lost-effect"))];
    let line = ndjson::case("r1", &result("none", Verdict::Mismatch, many));
    let names: Vec<&Value> = line["operations"].as_array().unwrap().iter().map(|one| &one["operation"]).collect();
    assert_eq!(names, ["credit-482", "credit-483"]);
    assert_eq!(line["operations"][1]["anomaly"], "lost-effect");
    assert_eq!(line["differences"].as_array().unwrap().len(), 1);
    assert_eq!((&line["observed"]["effects"], &line["anomaly"]), (&json!(1), &Value::Null), "the first stands for all");
}

#[test]
fn the_summary_line_has_every_count_and_the_exit_status() {
    let mut tally = Tally::default();
    for verdict in [Verdict::Match, Verdict::Inconclusive(Reason::Deadline)] {
        tally.add(verdict);
    }
    let expected = json!({
        "v": 1, "type": "summary", "run": "r1", "cases": 2, "matched": 1, "mismatched": 0, "inconclusive": 1,
        "skipped": 0, "errors": 0, "elapsed_ms": 5, "exit_code": 4,
    });
    assert_eq!(ndjson::summary("r1", &tally, 5, tally.exit()), expected);
    assert_eq!(ndjson::summary("r1", &tally, 5, Exit::Signal(15))["exit_code"], 143);
}
