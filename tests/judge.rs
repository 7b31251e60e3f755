//! What a history proves, and what it no longer proves when a line of it is not true.
//!
//! `histories/*.ndjson` were recorded by `lab run` once; every test edits a copy. Expected numbers are those of design.md,
//! section 6, and of bullmq-observed, sections 1 and p.

#![expect(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::io::Write;
use std::path::Path;

use lab::checker::{self, Expected, Judgement};
use lab::history::reader;
use lab::outcome::{Reason, Verdict};
use lab::scenario::{Column, Columns, Value};
use serde_json::{Value as Json, json};

const OPERATION: &str = "credit-482";

/// A recorded history that a test may spoil.
struct History {
    lines: Vec<Json>,
}

impl History {
    fn recorded(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/histories/{name}.ndjson"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { lines: text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() }
    }

    /// The place of the only line that has all these fields.
    fn place(&self, fields: &Json) -> usize {
        let fits = |line: &Json| fields.as_object().unwrap().iter().all(|(key, value)| line[key] == *value);
        let places: Vec<usize> = (0..self.lines.len()).filter(|at| fits(&self.lines[*at])).collect();
        assert_eq!(places.len(), 1, "lines with {fields}: {places:?}");
        places[0]
    }

    fn without(mut self, fields: &Json) -> Self {
        self.lines.remove(self.place(fields));
        self
    }

    fn doubled(mut self, fields: &Json) -> Self {
        let at = self.place(fields);
        self.lines.insert(at, self.lines[at].clone());
        self
    }

    /// Moves a line to stand before another.
    fn moved(mut self, fields: &Json, before: &Json) -> Self {
        let line = self.lines.remove(self.place(fields));
        self.lines.insert(self.place(before), line);
        self
    }

    fn with(mut self, fields: &Json, key: &str, value: Json) -> Self {
        let at = self.place(fields);
        self.lines[at][key] = value;
        self
    }

    /// Gives the lines the numbers of their places, as a forger would.
    fn renumbered(mut self) -> Self {
        for (n, line) in self.lines.iter_mut().enumerate() {
            line["n"] = json!(n);
        }
        self
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Judged as `lab judge` does it: from the file.
    fn judged(&self, expected: &Expected) -> Judgement {
        judged(self.text().as_bytes(), expected)
    }
}

fn judged(bytes: &[u8], expected: &Expected) -> Judgement {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let found = reader::read(file.path()).unwrap();
    checker::judge(&found.entries, found.gap.as_deref(), expected)
}

/// A row of a table for the one operation.
fn table(columns: &[(Column, Value)]) -> Expected {
    Expected::from([(OPERATION.to_owned(), columns.iter().cloned().collect::<Columns>())])
}

fn count(count: u64) -> Value {
    Value::Count(count)
}

fn list(counts: &[u64]) -> Value {
    Value::List(counts.iter().map(|count| Value::Count(*count)).collect())
}

fn completed() -> Value {
    Value::Text("completed".to_owned())
}

/// SIGKILL after the write: executed twice, the second run sees attemptsMade 0 again, one stall.
fn stall_kill(effects: u64) -> Expected {
    table(&[
        (Column::Executions, count(2)),
        (Column::Effects, count(effects)),
        (Column::Partial, count(0)),
        (Column::Stalled, count(1)),
        (Column::AttemptsMade, list(&[0, 0])),
        (Column::FinalAttemptsMade, count(1)),
        (Column::FinalAttemptsStarted, count(2)),
        (Column::FinalStalled, count(1)),
        (Column::State, completed()),
        (Column::DistinctJobs, count(1)),
        (Column::RefusedAcks, count(0)),
        (Column::Overlap, count(1)),
    ])
}

fn killed() -> History {
    History::recorded("stall-kill.none")
}

fn entered(worker: &str) -> Json {
    json!({ "event": "point", "point": "handler.started", "worker": worker })
}

/// The judgement is inconclusive for this reason, and its evidence says all of this.
#[track_caller]
fn assert_doubt(judgement: &Judgement, reason: Reason, evidence: &[&str]) {
    let because = judgement.because.as_deref().unwrap_or("nothing");
    assert_eq!(judgement.verdict, Verdict::Inconclusive(reason), "because {because}");
    for part in evidence {
        assert!(because.contains(part), "`{part}` is not in `{because}`");
    }
}

// ---- histories as they were recorded

#[test]
fn an_untouched_history_matches_its_table() {
    let duplicated = |effects| {
        table(&[
            (Column::Executions, count(2)),
            (Column::Effects, count(effects)),
            (Column::Stalled, count(0)),
            (Column::AttemptsMade, list(&[0, 0])),
            (Column::FinalAttemptsMade, count(1)),
            (Column::FinalAttemptsStarted, count(1)),
            (Column::State, completed()),
            (Column::DistinctJobs, count(2)),
            (Column::Overlap, count(1)),
        ])
    };
    for (name, expected, anomaly) in [
        ("stall-kill.none", stall_kill(2), Some("double-effect/stalled-recovery")),
        ("stall-kill.operation-key", stall_kill(1), None),
        ("duplicate-producer.none", duplicated(2), Some("double-effect/duplicate-job")),
        ("duplicate-producer.operation-key", duplicated(1), None),
    ] {
        let judgement = History::recorded(name).judged(&expected);
        assert_eq!(judgement.verdict, Verdict::Match, "{name}: {judgement:#?}");
        assert_eq!((judgement.because, judgement.differences), (None, vec![]), "{name}");
        assert_eq!(judgement.anomalies.get(OPERATION).map(String::as_str), anomaly, "{name}");
    }
}

#[test]
fn a_retry_after_a_throw_shows_attempts_made_0_then_1_and_no_stall() {
    let expected = table(&[
        (Column::Executions, count(2)),
        (Column::Effects, count(2)),
        (Column::Stalled, count(0)),
        (Column::AttemptsMade, list(&[0, 1])),
        (Column::FinalAttemptsMade, count(2)),
        (Column::FinalAttemptsStarted, count(2)),
        (Column::FinalStalled, count(0)),
        (Column::State, completed()),
    ]);
    let judgement = History::recorded("throw-after-write.none").judged(&expected);
    assert_eq!(judgement.verdict, Verdict::Match, "{judgement:#?}");
    assert_eq!(judgement.observed[OPERATION][&Column::AttemptsMade], list(&[0, 1]));
    assert_eq!(judgement.anomalies[OPERATION], "double-effect/retry");
}

#[test]
fn a_twin_is_one_execution_and_one_effect() {
    let once = table(&[
        (Column::Executions, count(1)),
        (Column::Effects, count(1)),
        (Column::Stalled, count(0)),
        (Column::State, completed()),
    ]);
    let twin = History::recorded("stall-kill.twin");
    assert_eq!(twin.judged(&once).verdict, Verdict::Match);
    assert_eq!(twin.judged(&stall_kill(2)).verdict, Verdict::Mismatch, "no fault, no second execution");
}

#[test]
fn the_same_history_gives_the_same_judgement_every_time() {
    assert_eq!(killed().judged(&stall_kill(1)), killed().judged(&stall_kill(1)));
}

// ---- what differs from the table

#[test]
fn an_effect_that_is_there_twice_is_a_mismatch_in_that_one_cell() {
    let effect = json!({ "event": "effect", "operation": OPERATION });
    let history = History::recorded("stall-kill.operation-key").with(&effect, "effects", json!(2));
    let judgement = history.judged(&stall_kill(1));
    assert_eq!(judgement.verdict, Verdict::Mismatch);
    let [difference] = &judgement.differences[..] else { panic!("{:#?}", judgement.differences) };
    assert_eq!((difference.operation.as_str(), difference.column), (OPERATION, Column::Effects));
    assert_eq!((&difference.expected, &difference.observed), (&count(1), &count(2)));
    assert_eq!(judgement.anomalies[OPERATION], "double-effect/stalled-recovery");
}

#[test]
fn an_effect_that_is_lost_is_a_mismatch_with_a_name() {
    let effect = json!({ "event": "effect", "operation": OPERATION });
    let judgement =
        History::recorded("stall-kill.operation-key").with(&effect, "effects", json!(0)).judged(&stall_kill(1));
    assert_eq!((judgement.verdict, judgement.differences.len()), (Verdict::Mismatch, 1));
    assert_eq!(judgement.anomalies[OPERATION], "lost-effect");
}

#[test]
fn half_an_effect_is_seen() {
    let effect = json!({ "event": "effect", "operation": OPERATION });
    let judgement = killed().with(&effect, "partial", json!(1)).judged(&stall_kill(2));
    assert_eq!((judgement.verdict, judgement.differences[0].column), (Verdict::Mismatch, Column::Partial));
    assert_eq!(judgement.anomalies[OPERATION], "partial-effect");
}

#[test]
fn each_wrong_cell_of_a_table_is_one_difference() {
    for (column, right) in &stall_kill(2)[OPERATION] {
        let wrong = match right {
            Value::Count(count) => Value::Count(count + 1),
            Value::List(_) => list(&[0, 1]),
            _ => Value::Text("failed".to_owned()),
        };
        let mut expected = stall_kill(2);
        expected.get_mut(OPERATION).unwrap().insert(*column, wrong);
        let judgement = killed().judged(&expected);
        let columns: Vec<Column> = judgement.differences.iter().map(|difference| difference.column).collect();
        assert_eq!((judgement.verdict, columns), (Verdict::Mismatch, vec![*column]));
    }
}

#[test]
fn a_refused_finish_is_counted_once_and_is_no_completion() {
    let settled = json!({ "event": "settled", "worker": "B" });
    // The job is completed all the same: a finish whose reply was lost looks like this (bullmq-observed, section r).
    let judgement = killed().with(&settled, "outcome", json!("refused")).judged(&stall_kill(2));
    assert_eq!(judgement.observed[OPERATION][&Column::RefusedAcks], count(1));
    let columns: Vec<Column> = judgement.differences.iter().map(|difference| difference.column).collect();
    assert_eq!((judgement.verdict, columns), (Verdict::Mismatch, vec![Column::RefusedAcks]));
}

#[test]
fn two_open_handlers_of_one_operation_overlap() {
    let second = json!({ "event": "point", "point": "handler.started", "job": "2" });
    let returned = json!({ "event": "answered", "point": "handler.returned", "execution": 1 });
    let overlap = |history: &History| history.judged(&table(&[])).observed[OPERATION][&Column::Overlap].clone();
    let apart = History::recorded("duplicate-producer.none");
    assert_eq!(overlap(&apart), count(1));
    let together = apart.moved(&second, &returned).renumbered();
    assert_eq!(overlap(&together), count(2));
}

#[test]
fn a_handler_that_died_is_open_until_its_death() {
    let overlap = |history: &History| history.judged(&table(&[])).observed[OPERATION][&Column::Overlap].clone();
    let exited = json!({ "event": "exited", "worker": "A" });
    let zombie = killed().moved(&entered("B"), &exited).renumbered();
    assert_eq!((overlap(&killed()), overlap(&zombie)), (count(1), count(2)));
}

// ---- records that disagree

#[test]
fn a_removed_or_doubled_execution_disagrees_with_the_queue() {
    let entered_once = ["entered 1 times", "2 `active`"];
    let entered_thrice = ["entered 3 times", "2 `active`"];
    for worker in ["A", "B"] {
        for (history, evidence) in
            [(killed().without(&entered(worker)), entered_once), (killed().doubled(&entered(worker)), entered_thrice)]
        {
            // A forger numbers the lines again; whoever deletes a line with an editor does not.
            assert_doubt(&history.judged(&stall_kill(2)), Reason::RecordsDisagree, &evidence);
            assert_doubt(&history.renumbered().judged(&stall_kill(2)), Reason::RecordsDisagree, &evidence);
        }
    }
}

#[test]
fn an_execution_that_shares_the_claim_of_another_disagrees() {
    let history = killed().with(&entered("B"), "attempts_started", json!(1));
    let evidence = ["claim 1 entered a handler 2 times", "it was added 1 times"];
    assert_doubt(&history.judged(&stall_kill(2)), Reason::RecordsDisagree, &evidence);
}

#[test]
fn a_claim_missing_from_the_queues_record_disagrees() {
    let mut history = killed();
    let active = history.lines.iter().rposition(|line| line["queue"] == "active").unwrap();
    let recorded = history.lines.iter().filter(|line| line["event"] == "queue").count();
    history.lines.remove(active);
    let evidence = [format!("has {recorded} entries"), format!("has {}", recorded - 1)];
    let evidence = evidence.each_ref().map(String::as_str);
    assert_doubt(&history.judged(&stall_kill(2)), Reason::RecordsDisagree, &evidence);
    let mut history = history.renumbered();
    assert_doubt(&history.judged(&stall_kill(2)), Reason::RecordsDisagree, &evidence);
    // Even a forger who also corrects the count is caught by the executions.
    for line in history.lines.iter_mut().filter(|line| line["event"] == "synced" && line["entries"] == recorded) {
        line["entries"] = json!(recorded - 1);
    }
    assert_doubt(&history.judged(&stall_kill(2)), Reason::RecordsDisagree, &["entered 2 times", "1 `active`"]);
}

#[test]
fn a_queue_entry_that_stands_twice_disagrees() {
    let history = killed().doubled(&json!({ "queue": "stalled" })).renumbered();
    assert_doubt(&history.judged(&stall_kill(2)), Reason::RecordsDisagree, &["8 entries", "has 9"]);
}

#[test]
fn counters_of_the_job_that_tell_another_story_disagree() {
    let counters =
        |started: u32, stalled: u32| json!({ "attempts_made": 1, "attempts_started": started, "stalled": stalled });
    let job = json!({ "event": "job" });
    let started = killed().with(&job, "counters", counters(3, 1)).judged(&stall_kill(2));
    assert_doubt(&started, Reason::RecordsDisagree, &["attemptsStarted is 3", "2 `active`"]);
    let stalled = killed().with(&job, "counters", counters(2, 0)).judged(&stall_kill(2));
    assert_doubt(&stalled, Reason::RecordsDisagree, &["stalledCounter is 0", "1 `stalled`"]);
}

#[test]
fn an_accepted_completion_that_the_queue_never_recorded_disagrees() {
    let history = killed().with(&json!({ "queue": "completed" }), "queue", json!("progress"));
    assert_doubt(&history.judged(&stall_kill(2)), Reason::RecordsDisagree, &["1 completions", "0 `completed`"]);
}

// ---- histories that are not whole

#[test]
fn a_history_without_its_last_line_has_a_gap() {
    let mut history = killed();
    history.lines.pop();
    assert_doubt(&history.judged(&stall_kill(2)), Reason::HistoryGap, &["last line is missing"]);
}

#[test]
fn a_history_cut_or_damaged_anywhere_never_gives_a_verdict() {
    let text = killed().text();
    let lines: Vec<&str> = text.lines().collect();
    for at in 0..lines.len() {
        let kept: String = lines[..at].iter().map(|line| format!("{line}\n")).collect();
        let rest: String = lines[at + 1..].iter().map(|line| format!("{line}\n")).collect();
        let number = format!("line {}", at + 1);
        for (spoiled, evidence) in [
            (kept.clone(), if at == 0 { "first line" } else { "last line" }),
            (format!("{kept}{}", &lines[at][..lines[at].len() / 2]), &number),
            (format!("{kept}what is this\n{rest}"), &number),
            (format!("{kept}{{\"n\":{at},\"at_us\":1,\"event\":\"miracle\"}}\n{rest}"), &number),
        ] {
            assert_doubt(&judged(spoiled.as_bytes(), &stall_kill(2)), Reason::HistoryGap, &[evidence]);
        }
    }
    let binary = [lines[0].as_bytes(), b"\n\xff\xfe\x00\n"].concat();
    assert_doubt(&judged(&binary, &stall_kill(2)), Reason::HistoryGap, &["line 2"]);
    assert_doubt(&judged(b"", &stall_kill(2)), Reason::HistoryGap, &[]);
}

#[test]
fn a_line_that_is_gone_shows_by_its_number_when_nothing_else_does() {
    let ready = json!({ "event": "ready", "worker": "B" });
    let history = killed().without(&ready);
    assert_doubt(&history.judged(&stall_kill(2)), Reason::HistoryGap, &["instead of"]);
    assert_eq!(history.renumbered().judged(&stall_kill(2)).verdict, Verdict::Match, "only the numbers showed it");
}

#[test]
fn a_history_without_its_end_or_its_effects_proves_nothing() {
    let end = killed().without(&json!({ "event": "end" })).renumbered();
    assert_doubt(&end.judged(&stall_kill(2)), Reason::HistoryGap, &["the end of the script"]);
    let effects = killed().without(&json!({ "event": "effect" })).renumbered();
    assert_doubt(&effects.judged(&stall_kill(2)), Reason::HistoryGap, &["the effects"]);
}

// ---- faults that did not act as they were meant to

#[test]
fn a_stall_before_the_confirmed_death_is_an_early_stall() {
    let exited = json!({ "event": "exited", "worker": "A" });
    let history = killed().moved(&json!({ "queue": "stalled" }), &exited);
    for history in [killed().moved(&json!({ "queue": "stalled" }), &exited), history.renumbered()] {
        let evidence = ["`stalled`", "job 1", "before the death of worker A"];
        assert_doubt(&history.judged(&stall_kill(2)), Reason::EarlyStall, &evidence);
    }
}

#[test]
fn a_second_claim_before_the_confirmed_death_is_an_early_stall() {
    let mut history = killed();
    let active = history.lines.iter().rposition(|line| line["queue"] == "active").unwrap();
    let line = history.lines.remove(active);
    let exited = history.place(&json!({ "event": "exited", "worker": "A" }));
    history.lines.insert(exited, line);
    assert_doubt(&history.renumbered().judged(&stall_kill(2)), Reason::EarlyStall, &["`active`", "worker A"]);
}

#[test]
fn a_worker_that_ended_by_itself_was_not_killed() {
    let exited = json!({ "event": "exited", "worker": "A" });
    let history = killed().with(&exited, "status", json!("exit 137"));
    let evidence = ["A@effect.committed: kill", "exit 137", "signal SIGKILL"];
    assert_doubt(&history.judged(&stall_kill(2)), Reason::FaultNotFired, &evidence);
}

#[test]
fn a_fault_without_its_confirmation_or_its_strike_did_not_fire() {
    for (fields, evidence) in
        [(json!({ "event": "fired" }), "not confirmed"), (json!({ "event": "struck" }), "never struck")]
    {
        let history = killed().without(&fields);
        assert_doubt(&history.judged(&stall_kill(2)), Reason::FaultNotFired, &["A@effect.committed: kill", evidence]);
        let history = history.renumbered();
        assert_doubt(&history.judged(&stall_kill(2)), Reason::FaultNotFired, &["A@effect.committed: kill", evidence]);
    }
    for name in ["throw-after-write.none", "duplicate-producer.none"] {
        let history = History::recorded(name).without(&json!({ "event": "fired" })).renumbered();
        assert_doubt(&history.judged(&table(&[])), Reason::FaultNotFired, &["not confirmed"]);
    }
}

#[test]
fn a_kill_without_a_recorded_death_did_not_fire() {
    let history = killed().without(&json!({ "event": "exited", "worker": "A" })).renumbered();
    assert_doubt(&history.judged(&stall_kill(2)), Reason::FaultNotFired, &["no death of worker A"]);
}

#[test]
fn a_death_that_nobody_asked_for_proves_nothing() {
    let exited = json!({ "event": "exited", "worker": "B" });
    let history = killed().with(&exited, "asked", json!(false)).with(&exited, "status", json!("exit 1"));
    assert_doubt(&history.judged(&stall_kill(2)), Reason::SubjectDiedUnasked, &["worker B", "exit 1"]);
}

#[test]
fn a_case_that_passed_its_bound_says_what_it_waited_for() {
    let history = killed().with(&json!({ "event": "end" }), "missing", json!("job 1 to be final"));
    assert_doubt(&history.judged(&stall_kill(2)), Reason::Deadline, &["job 1 to be final"]);
}

#[test]
fn a_doubt_is_never_hidden_by_a_wrong_cell() {
    let history = killed().without(&entered("A")).renumbered();
    assert_doubt(&history.judged(&stall_kill(1)), Reason::RecordsDisagree, &[]);
}
