//! What a scenario file may say, and how mistakes in it are told.

use std::fs;

use lab::fault::Condition;
use lab::scenario::model::{Backoff, Twin};
use lab::scenario::{Column, LoadError, Scenario, Value, catalog, load, load_all};

const GOOD: &str = r#"schema = 1
title = "A good one"
expect = [ { protection = "none", executions = 2, effects = 2 } ]

[[job]]
operation = "credit-482"

[[worker]]
name = "A"

[[worker]]
name = "B"
start = "when A dead"

[[fault]]
at = "A@effect.committed"
do = "kill"
"#;

/// The good file with one part replaced.
fn with(part: &str, replacement: &str) -> String {
    assert!(GOOD.contains(part), "{part}");
    GOOD.replacen(part, replacement, 1)
}

fn read(text: &str) -> Scenario {
    catalog::parse("good", "good.toml", text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is told about a wrong file, whole.
fn told(text: &str) -> String {
    catalog::parse("bad", "bad.toml", text).expect_err(text).to_string()
}

/// What is told about a wrong file: one line for each problem.
fn problems(text: &str) -> Vec<String> {
    let problems = catalog::parse("bad", "bad.toml", text).expect_err(text);
    let line = |problem: &lab::scenario::error::Problem| {
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}:{} {}{help}", problem.line, problem.column, problem.message)
    };
    problems.iter().map(line).collect()
}

proptest::proptest! {
    #[test]
    fn a_damaged_file_is_told_or_read_and_never_panics(
        cut in 0..GOOD.len(),
        length in 0..40_usize,
        pasted in "[\\[\\]{}\"'=.,#\\\\a-c0-2\n\tü\u{1b}]{0,12}",
    ) {
        let end = (cut + length).min(GOOD.len());
        let text = format!("{}{pasted}{}", &GOOD[..cut], &GOOD[end..]);
        if let Err(problems) = catalog::parse("bad", "bad.toml", &text) {
            let told = problems.to_string();
            assert!(told.lines().all(|line| !line.contains(" | ") || line.chars().count() <= 100) && !told.contains('\u{1b}'), "{told}");
        }
    }
}

#[test]
fn a_file_of_nothing_but_mistakes_is_refused_after_a_thousand() {
    let keys: String = (0..30_000).map(|n| format!("k{n}=1\n")).collect();
    let variants: String = (0..64).map(|n| format!("[[variant]]\nname = \"v{n}\"\n")).collect();
    let told = told(&format!("{GOOD}{keys}{variants}"));
    assert!(told.ends_with("and 950 more problems in bad.toml"), "{}", &told[told.len() - 80..]);
}

#[test]
fn defaults_are_those_of_the_queue() {
    let script = read(GOOD).scripts.remove(0);
    let (job, worker) = (&script.jobs[0], &script.workers[0]);
    assert_eq!((job.attempts, job.delay_ms, job.priority, job.remove_on_complete), (1, 0, 0, false));
    assert_eq!((worker.lock_ms, worker.stalled_interval_ms, worker.retry_delay_ms), (30_000, 30_000, 15_000));
    assert_eq!((worker.check, worker.fetch, worker.renew), (true, true, true));
    assert_eq!((worker.max_stalled, worker.concurrency, script.within_ms), (1, 1, 30_000));
    assert_eq!(script.workers[1].start, Some(Condition::Dead("A".to_owned())));
}

#[test]
fn every_key_of_jobs_and_workers_arrives() {
    let text = with(
        "operation = \"credit-482\"",
        "operation = \"o\"\nattempts = 3\nbackoff = { type = \"exponential\", delay = \"1s\" }\nid = \"x\"\ndelay = \"2ms\"\npriority = 4\nremove-on-complete = true\nremove-on-fail = true",
    );
    let text = text.replacen("name = \"A\"", "name = \"A\"\nlock = \"1ms\"\nstalled-interval = \"2ms\"\ncheck = false\nfetch = true\nrenew = false\nmax-stalled = 0\nretry-delay = \"3ms\"\nconcurrency = 7", 1);
    let script = read(&text).scripts.remove(0);
    let (job, worker) = (&script.jobs[0], &script.workers[0]);
    assert_eq!((job.attempts, &job.backoff, job.id.as_deref()), (3, &Some(Backoff::Exponential(1000)), Some("x")));
    assert_eq!((job.delay_ms, job.priority, job.remove_on_complete, job.remove_on_fail), (2, 4, true, true));
    assert_eq!((worker.lock_ms, worker.stalled_interval_ms, worker.retry_delay_ms), (1, 2, 3));
    assert_eq!((worker.check, worker.renew, worker.max_stalled, worker.concurrency), (false, false, 0, 7));
}

#[test]
fn a_row_holds_counts_ranges_lists_and_states() {
    let text = with(
        "executions = 2, effects = 2",
        "executions = \"1..2\", effects = \">=1\", attempts-made = [0, \"0..1\"], final.attempts-made = 2, final.stalled = [0, 1], state = [\"completed\", \"failed\"]",
    );
    let columns = read(&text).expect.remove(0).columns;
    let shown: Vec<String> = columns.iter().map(|(column, value)| format!("{column}={value}")).collect();
    assert_eq!(
        shown,
        [
            "executions=1..2",
            "effects=>=1",
            "attempts-made=0 0..1",
            "final.attempts-made=2",
            "final.stalled=0 1",
            "state=completed failed"
        ]
    );
}

#[test]
fn a_twin_has_no_faults_and_no_worker_that_waits_for_a_death() {
    let script = read(GOOD).scripts.remove(0);
    let Twin::Run { script: twin, expect } = script.twin else { panic!("no twin") };
    assert!(twin.faults.is_empty());
    assert_eq!(twin.twin, Twin::IsTwin);
    assert_eq!(twin.workers.iter().map(|worker| worker.name.as_str()).collect::<Vec<_>>(), ["A"]);
    let shown: Vec<String> = expect.iter().map(|(column, value)| format!("{column}={value}")).collect();
    assert_eq!(shown, ["executions=1", "effects=1", "stalled=0", "state=completed"]);
}

#[test]
fn twin_keys_lie_over_the_script_and_skip_needs_a_reason() {
    let twin = |keys: &str| read(&format!("{GOOD}\n{keys}")).scripts.remove(0).twin;
    let Twin::Run { script, expect } =
        twin("[twin]\nexpect = { effects = 3 }\n[[twin.worker]]\nname = \"A\"\nlock = \"9s\"")
    else {
        panic!("no twin")
    };
    assert_eq!((script.workers[0].lock_ms, expect.len()), (9000, 1));
    assert_eq!(expect[&Column::Effects], Value::Count(3));
    assert_eq!(twin("[twin]\nskip = \"it is slow\""), Twin::Skip { why: "it is slow".to_owned() });
    assert_eq!(problems(&format!("{GOOD}\n[twin]\nskip = \"\"")), ["20:8 `skip` is empty"]);
}

#[test]
fn a_twin_that_nobody_works_for_is_refused() {
    let text = with("name = \"A\"", "name = \"A\"\nfetch = false");
    let text = text.replace("A@effect.committed", "queue.active").replace("\"kill\"", "\"kill A\"");
    let told = problems(&text);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("the twin has no worker that takes jobs"), "{told:?}");
}

#[test]
fn a_variant_overlays_workers_by_name_and_replaces_faults() {
    let text = format!(
        "{GOOD}\n[[variant]]\nname = \"slow\"\n[[variant.worker]]\nname = \"A\"\nlock = \"9s\"\n\n[[variant]]\nname = \"early\"\nfault = [ {{ at = \"A@handler.started\", do = \"kill\" }} ]\n\n[defaults.worker]\nlock = \"5s\"\n"
    );
    let scripts = read(&text).scripts;
    let shown: Vec<_> = scripts
        .iter()
        .map(|script| {
            (
                script.variant.as_deref(),
                script.workers[0].lock_ms,
                script.workers[1].lock_ms,
                script.faults[0].at.to_string(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (Some("slow"), 9000, 5000, "A@effect.committed".to_owned()),
            (Some("early"), 5000, 5000, "A@handler.started".to_owned())
        ]
    );
}

#[test]
fn an_unknown_key_shows_file_line_column_caret_and_the_nearest_name() {
    insta::assert_snapshot!(told(&with("start = ", "strat = ")), @r#"
    error: unknown key `strat`
      --> bad.toml:13:1
       |
    13 | strat = "when A dead"
       | ^^^^^
       = help: did you mean `start`?
    "#);
}

#[test]
fn a_mistake_inside_a_fault_is_underlined_inside_the_string() {
    insta::assert_snapshot!(told(&with("A@effect.committed", "A@effect.commited")), @r#"
    error: unknown point `effect.commited`
      --> bad.toml:16:9
       |
    16 | at = "A@effect.commited"
       |         ^^^^^^^^^^^^^^^
       = help: did you mean `effect.committed`?
    "#);
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = with("protection = \"none\"", "protection = \"nome\"");
    let text = text.replace("name = \"B\"", "name = \"A\"\nlock = 100").replace("\"kill\"", "\"kil\"");
    insta::assert_snapshot!(told(&text), @r#"
    error: unknown protection `nome`
     --> bad.toml:3:27
      |
    3 | expect = [ { protection = "nome", executions = 2, effects = 2 } ]
      |                           ^^^^^^
      = help: did you mean `none`?

    error: worker `A` is already stated in line 9
      --> bad.toml:12:8
       |
    12 | name = "A"
       |        ^^^

    error: `lock` is a duration: a string with a unit, not an integer
      --> bad.toml:13:8
       |
    13 | lock = 100
       |        ^^^
       = help: for example `lock = "100ms"`

    error: worker `A` would wait for itself
      --> bad.toml:14:9
       |
    14 | start = "when A dead"
       |         ^^^^^^^^^^^^^

    error: unknown action `kil`
      --> bad.toml:18:7
       |
    18 | do = "kil"
       |       ^^^
       = help: did you mean `kill`? known: `kill`, `term`, `stop`, `cont`, `throw`, `panic`, `exit`, `block`, `hold`, `move-to-delayed`, `duplicate`, `del-key`
    "#);
}

#[test]
fn each_mistake_is_told_where_it_is() {
    // What is replaced, by what, and what has to be told.
    let table: &[(&str, &str, &str)] = &[
        (
            "at = \"A@effect.committed\"",
            "at = \"A@claim.taken\"",
            "16:6 only the handler of `operation-key` passes `claim.taken`, and a row is for another (state `protection = \"operation-key\"` in every row)",
        ),
        (
            "effects = 2",
            "effects = 2, attempts-made = [0]",
            "3:12 2 executions, but `attempts-made` has 1 entries (one entry for each execution, in order of start)",
        ),
        (
            "effects = 2",
            "effects = 2, state = \"gone\", final.stalled = 1",
            "3:12 `final.stalled` can never be compared: the row says that the job's record is gone",
        ),
        ("schema = 1\n", "", "1:1 the key `schema` is missing (begin with `schema = 1`)"),
        ("schema = 1", "schema = 2", "1:10 schema 2 is newer than this lab, which reads schema 1 (use a newer lab)"),
        ("schema = 1", "schema = 0", "1:10 there never was a schema 0 (this lab reads `schema = 1`)"),
        ("schema = 1", "schema = \"1\"", "1:10 `schema` is a number, not a string (write `schema = 1`)"),
        ("title = \"A good one\"", "", "1:1 a scenario needs the key `title`"),
        ("title = \"A good one\"", "titel = \"x\"\ntitle = \"y\"", "2:1 unknown key `titel` (did you mean `title`?)"),
        (
            "title = \"A good one\"",
            "title = 3",
            "2:9 `title` is a string, not an integer (for example `title = \"...\"`)",
        ),
        ("[[job]]", "[job]", "5:2 `job` is a list of tables, not a table (write `[[job]]`)"),
        (
            "[[job]]\noperation = \"credit-482\"\n",
            "",
            "1:1 a script needs at least one `[[job]]`: something has to be produced",
        ),
        ("operation = \"credit-482\"", "", "5:1 `[[job]]` needs the key `operation`"),
        (
            "operation = \"credit-482\"",
            "operation = \"o\"\nbackoff = { type = \"linear\", delay = \"1s\" }",
            "7:20 unknown backoff type `linear` (known: `fixed`, `exponential`)",
        ),
        (
            "operation = \"credit-482\"",
            "operation = \"o\"\n[[job]]\noperation = \"o\"",
            "8:13 operation `o` is already stated in line 6",
        ),
        ("operation = \"credit-482\"", "operation = \"o\"\nattempts = -1", "7:12 `attempts` is from 0 to 1000"),
        (
            "operation = \"credit-482\"",
            "operation = \"o\"\nremove-on-fail = 1",
            "7:18 `remove-on-fail` is true or false, not an integer (for example `remove-on-fail = false`)",
        ),
        (
            "name = \"B\"",
            "name = \"B\"\nlock = 100",
            "13:8 `lock` is a duration: a string with a unit, not an integer (for example `lock = \"100ms\"`)",
        ),
        (
            "name = \"B\"",
            "name = \"B\"\nlock = \"100\"",
            "13:9 a duration needs a unit (a number and a unit: `10ms`, `2s`, `1m`, `1h`)",
        ),
        ("name = \"B\"", "name = \"B\"\nlock = \"0ms\"", "13:8 `lock` is from 1ms to 24h"),
        ("name = \"B\"", "name = \"B\"\nlock = \"25h\"", "13:8 `lock` is from 1ms to 24h"),
        ("name = \"B\"", "name = \"B\"\nconcurrency = 1001", "13:15 `concurrency` is from 1 to 1000"),
        (
            "name = \"B\"",
            "name = \"B 2\"",
            "12:8 `B 2` is no worker's name (a letter, then letters, digits, `_` or `-`, at most 32 characters)",
        ),
        ("name = \"B\"", "name = \"A\"", "12:8 worker `A` is already stated in line 9"),
        ("\"when A dead\"", "\"when C dead\"", "13:15 unknown worker `C` (did you mean `A`?)"),
        ("\"when A dead\"", "\"when B dead\"", "13:9 worker `B` would wait for itself"),
        (
            "\"when A dead\"",
            "\"A dead\"",
            "13:10 a condition begins with `when` (for example `when A dead` or `when B@handler.started`)",
        ),
        (
            "\"kill\"",
            "\"kill B\"",
            "13:9 no fault ends worker `A`, so this never happens (for example `at = \"A@effect.committed\"`, `do = \"kill\"`)",
        ),
        ("A@effect", "C@effect", "16:7 unknown worker `C` (did you mean `A`?)"),
        ("\"kill\"", "\"kill C\"", "17:12 unknown worker `C` (did you mean `A`?)"),
        (
            "A@effect.committed",
            "A@queue.active",
            "16:7 `queue.active` is an entry of the queue's record: it has no worker (write `queue.active`, or name a parking point of A)",
        ),
        (
            "\"A@effect.committed\"",
            "'A@effect.committed[\"credit-481\"]'",
            "16:6 unknown operation `credit-481` (did you mean `credit-482`?)",
        ),
        (
            "\"A@effect.committed\"",
            "\"queue.active\"",
            "17:6 `kill` at `queue.active` does not say which worker (name one: `kill A`)",
        ),
        (
            "do = \"kill\"",
            "do = \"kill\"\n[[fault]]\nat = \"A@effect.committed\"\ndo = \"throw\"",
            "20:6 `throw` cannot act at `A@effect.committed`: `kill` of line 16 decides there",
        ),
        (
            "at = \"A@effect.committed\"\ndo = \"kill\"",
            "at = \"queue.added\"\ndo = \"throw\"\n[[fault]]\nat = \"queue.active\"\ndo = \"kill A\"",
            "17:6 `throw` needs a worker parked at a point; nobody stops at `queue.added` (use a point, for example `A@effect.committed`)",
        ),
        (
            "name = \"A\"",
            "name = \"A\"\nfetch = false",
            "17:6 worker `A` has `fetch = false`: it never reaches `effect.committed`",
        ),
        ("do = \"kill\"", "", "15:1 `[[fault]]` needs the key `do`"),
        ("[[job]]", "end = \"when C dead\"\n[[job]]", "5:13 unknown worker `C` (did you mean `A`?)"),
        (
            "executions = 2, effects = 2 ",
            "",
            "3:12 this row states no column (state at least one column, for example `executions = 2`)",
        ),
        ("executions = 2", "excutions = 2", "3:35 unknown column `excutions` (did you mean `executions`?)"),
        (
            "executions = 2",
            "final.atempts-made = 2",
            "3:41 unknown column `final.atempts-made` (did you mean `final.attempts-made`?)",
        ),
        (
            "executions = 2",
            "executions = -2",
            "3:48 `executions` is never negative, and fits in 63 bits (write `2`, `\"1..2\"` or `\">=1\"`)",
        ),
        ("executions = 2", "executions = \"2..1\"", "3:48 `2..1` is no range (write `2`, `\"1..2\"` or `\">=1\"`)"),
        (
            "executions = 2",
            "attempts-made = 2",
            "3:51 `attempts-made` is a list, one entry for each execution, not an integer (for example `attempts-made = [0, 0]`)",
        ),
        ("executions = 2", "state = \"complete\"", "3:43 unknown state `complete` (did you mean `completed`?)"),
        ("executions = 2", "variant = \"x\", executions = 2", "3:12 unknown variant `x` (there is none)"),
        ("executions = 2", "operation = \"x\", executions = 2", "3:12 unknown operation `x` (known: `credit-482`)"),
        (
            "executions = 2",
            "engine = \"bullmq-sr\", executions = 2",
            "3:44 unknown engine `bullmq-sr` (did you mean `bullmq-rs`?)",
        ),
        (
            "expect = [ { protection = \"none\", executions = 2, effects = 2 } ]",
            "",
            "1:1 a scenario needs an expected table (`expect = [ { executions = 1, effects = 1 } ]`, above the first table)",
        ),
        (
            "expect = [ {",
            "expect = [\n { protection = \"none\", effects = 1 },\n {",
            "5:2 this row and that of line 4 are equally specific, so neither wins (state one more of `protection`, `variant`, `engine`, or remove one)",
        ),
        ("\n[[job]]", "\n[twin]\nfault = []\n[[job]]", "6:1 unknown key `fault`"),
        ("[[job]]", "[defaults.worker]\nname = \"A\"\n[[job]]", "6:1 unknown key `name`"),
        ("executions = 2", "engine = \"bullmq-rs >=x\", executions = 2", "3:44 `>=x` is no range of versions"),
        ("executions = 2", "final.stalled = 1, \"final.stalled\" = 2", "3:54 `final.stalled` is stated twice"),
        ("executions = 2", "state = 2", "3:43 `state` is a job state, not an integer"),
        ("executions = 2, effects = 2", "effects = [2]", "3:45 `effects` is a count or a range, not a list"),
        ("title = ", "tags = [\"core\", 1]\ntitle = ", "2:17 a tag is a string, not an integer"),
        ("title = ", "within = \"0s\"\ntitle = ", "2:10 `within` is from 1ms to 24h"),
        (
            "expect = [ { protection = \"none\", executions = 2, effects = 2 } ]",
            "expect = { effects = 2 }",
            "3:10 `expect` is a list of rows, not a table",
        ),
        (
            "\n[[job]]",
            "\n[[variant]]\nname = \"x\"\nexpect = [ { variant = \"x\", effects = 1 } ]\n[[job]]",
            "7:24 a row of the variant `x` needs no `variant`",
        ),
    ];
    for (part, replacement, wanted) in table {
        let told = problems(&with(part, replacement));
        assert!(told.iter().any(|told| told.starts_with(wanted)), "{replacement}: wanted\n{wanted}\ntold\n{told:#?}");
    }
}

#[test]
fn one_mistake_is_one_problem() {
    let table = [
        ("A@effect", "C@effect"),
        ("A@effect.committed", "A@effect.commited"),
        ("name = \"A\"", "name = \"A\"\nlock = \"1\""),
        ("protection = \"none\"", "protection = \"nome\""),
        ("\"when A dead\"", "\"when A ded\""),
        ("executions = 2", "excutions = 2"),
        ("title = \"A good one\"", ""),
        ("schema = 1", "schema = 7\nunknown = 1"),
    ];
    for (part, replacement) in table {
        let told = problems(&with(part, replacement));
        let consequence = |told: &&String| !told.contains("so this never happens");
        assert_eq!(told.iter().filter(consequence).count(), 1, "{replacement}: {told:#?}");
    }
}

#[test]
fn an_expected_table_below_a_header_is_told_to_move_up() {
    let rows = "expect = [ { protection = \"none\", executions = 2, effects = 2 } ]\n";
    let text = with(rows, "").replacen("[[worker]]\n", &format!("[[worker]]\n{rows}"), 1);
    assert_eq!(
        problems(&text),
        [
            "8:1 `expect` must stand above the first table (here it is a key of `[[worker]]`: move it up, before the first `[`)"
        ]
    );
}

#[test]
fn a_problem_that_all_variants_share_is_told_once() {
    let text = with("name = \"B\"", "name = \"B\"\nlokc = \"1s\"");
    let text = format!("{text}\n[[variant]]\nname = \"x\"\n[[variant]]\nname = \"y\"\n");
    assert_eq!(problems(&text), ["13:1 unknown key `lokc` (did you mean `lock`?)"]);
}

#[test]
fn variants_need_names_of_their_own_and_a_row() {
    let text = with("protection = \"none\"", "variant = \"x\"");
    let text = format!(
        "{text}\n[[variant]]\nname = \"x\"\n[[variant]]\nname = \"y\"\n[[variant]]\nname = \"x\"\n[[variant]]\nname = \"a/b\"\n"
    );
    let told = problems(&text);
    assert!(told.contains(&"24:8 variant `x` is already stated in line 20".to_owned()), "{told:#?}");
    assert!(told.iter().any(|told| told.starts_with("21:1 no row of `expect` holds for the variant `y`")), "{told:#?}");
    assert!(told.iter().any(|told| told.starts_with("26:8 `a/b` is no variant's name")), "{told:#?}");
}

#[test]
fn workers_that_wait_for_each_other_are_told() {
    let text = with("name = \"A\"", "name = \"A\"\nstart = \"when B@handler.started\"");
    let told = problems(&text);
    assert!(told.contains(&"10:9 worker `A` never starts: it waits in a circle".to_owned()), "{told:#?}");
    assert!(told.contains(&"14:9 worker `B` never starts: it waits in a circle".to_owned()), "{told:#?}");
}

#[test]
fn rows_that_a_more_specific_one_decides_are_no_conflict() {
    let rows = "expect = [ { protection = \"none\", executions = 1 }, { engine = \"bullmq-rs\", executions = 1 },\n{ protection = \"none\", engine = \"bullmq-rs\", executions = 2 },\n{ protection = \"job-id\", engine = \"bullmq-rs <2\", executions = 1 }, { protection = \"job-id\", engine = \"bullmq-rs >=2\", executions = 1 } ]";
    let good = with("expect = [ { protection = \"none\", executions = 2, effects = 2 } ]", rows);
    assert_eq!(read(&good).expect.len(), 5);
    let overlapping = good.replace("bullmq-rs >=2", "bullmq-rs >=1.9");
    assert_eq!(problems(&overlapping).len(), 1);
}

#[test]
fn every_syntax_error_of_the_file_is_told() {
    let told = problems("schema = \ntitle = \"x\"\nwhy = oops\n");
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].starts_with("1:10 not TOML:") && told[1].starts_with("3:7 not TOML:"), "{told:#?}");
    assert!(problems(&format!("{}x = 1", "a.".repeat(50_000)))[0].contains("recursion limit"));
    let deep = problems(&format!("x = {}", "[".repeat(50_000)));
    assert!(deep[0].contains("recursion depth"), "{deep:#?}");
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let told = told(&with("name = \"B\"", "name = \"B\\u001b[31m\""));
    assert!(told.contains("is no worker's name") && !told.contains('\u{1b}'), "{told}");
}

#[test]
fn too_many_and_too_long_are_refused() {
    let many = |key: &str, count: usize, body: &str| -> String {
        (0..count).map(|n| format!("[[{key}]]\n{}\n", body.replace('N', &n.to_string()))).collect()
    };
    let table = [
        (many("job", 100, "operation = \"N\""), "more than 100 of `job`"),
        (many("worker", 31, "name = \"wN\""), "more than 32 of `worker`"),
        (many("fault", 64, "at = \"A@handler.returned\"\ndo = \"kill\""), "more than 64 of `fault`"),
        (many("variant", 65, "name = \"N\""), "more than 64 of `variant`"),
        (format!("[[job]]\noperation = \"{}\"", "x".repeat(4097)), "`operation` is longer than 4 KiB"),
        ("[[job]]\noperation = \"a\\u0000\"".to_owned(), "`operation` holds a NUL character"),
    ];
    for (more, wanted) in table {
        let told = problems(&format!("{GOOD}\n{more}"));
        assert!(told.len() == 1 && told[0].contains(wanted), "{wanted}: {told:#?}");
    }
}

#[test]
fn the_built_in_scenarios_load_and_read_as_their_table_says() {
    let scenarios = load_all().unwrap_or_else(|error| panic!("{error}"));
    let count = |row: &lab::scenario::model::Row, column| row.columns[&column].to_string();
    let table: Vec<String> = scenarios
        .iter()
        .filter(|scenario| scenario.tags.contains(&"core".to_owned()))
        .flat_map(|scenario| scenario.expect.iter().map(move |row| (scenario, row)))
        .map(|(scenario, row)| {
            let protection = row.protection.map_or("-", |protection| protection.word());
            format!("{} {protection} {}/{}", scenario.name, count(row, Column::Executions), count(row, Column::Effects))
        })
        .collect();
    assert_eq!(
        table,
        [
            "duplicate-producer none 2/2",
            "duplicate-producer operation-key 2/1",
            "duplicate-producer job-id 1/1",
            "kill-before-write none 2/1",
            "kill-before-write operation-key 2/1",
            "stall-kill none 2/2",
            "stall-kill operation-key 2/1",
            "throw-after-write none 2/2",
            "throw-after-write operation-key 2/1",
        ]
    );
    for scenario in &scenarios {
        assert!(scenario.why.len() > 100, "{} explains nothing", scenario.name);
        assert!(scenario.origin.ends_with(&format!("/{}.toml", scenario.name)), "{}", scenario.origin);
    }
}

#[test]
fn a_name_a_pattern_and_a_path_stand_for_scenarios() {
    let names = |spec: &str| -> Vec<String> {
        load(spec).unwrap_or_else(|error| panic!("{error}")).into_iter().map(|scenario| scenario.name).collect()
    };
    assert_eq!(names("stall-kill"), ["stall-kill"]);
    assert_eq!(names("dedup-*"), ["dedup-simple", "dedup-ttl"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, format!("\u{feff}{GOOD}")).unwrap();
    assert_eq!(names(&path.display().to_string()), ["mine"]);
}

#[test]
fn what_cannot_be_loaded_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let table = [
        ("stall-kil".to_owned(), "no built-in scenario is called `stall-kil`\nhelp: did you mean `stall-kill`?"),
        ("sidekiq-*".to_owned(), "no built-in scenario matches `sidekiq-*`\nhelp: known: `attempts-exhausted`"),
        (format!("{}/none.toml", folder.path().display()), "cannot read the scenario file"),
        (format!("{}/", folder.path().display()), "cannot read the scenario file"),
        (write("large.toml", &vec![b'#'; 256 * 1024 + 1]), "is larger than 256 KiB"),
        (write("latin.toml", b"schema = 1\n# caf\xe9"), "latin.toml:2: not UTF-8 text"),
        (write("a b.toml", GOOD.as_bytes()), "names the scenario: a letter or digit"),
        (write("bad.toml", b"schema = 1\ntitel = 1"), "bad.toml:2:1"),
    ];
    for (spec, wanted) in table {
        let error = load(&spec).map(|_| ()).expect_err(&spec);
        assert!(error.to_string().contains(wanted), "{spec}: {error}");
    }
    assert!(matches!(load(&write("exact.toml", &vec![b'#'; 256 * 1024])), Err(LoadError::Invalid(_))));
}
