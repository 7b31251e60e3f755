//! What a person sees.

use crate::lab::{Lab, changed, scenario, wrong_stall_kill};

/// The text without its colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = escape.split_once('m').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// No line is wider than 100 columns, apart from what a person copies: paths and commands.
#[track_caller]
fn assert_fits(text: &str) {
    for line in plain(text).lines() {
        let copied = ["history ", "again ", "records in "].iter().any(|label| line.trim_start().starts_with(label));
        assert!(copied || line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
}

/// Four scenarios, one of each kind of trouble that a scenario file can make.
fn trouble(lab: &Lab) -> Vec<&'static str> {
    let retry = scenario("retry/throw-after-write.toml");
    let never = changed(
        &changed(&retry, "A@effect.committed", "A@effect.committed#7"),
        "tags = [\"core\"]",
        "within = \"700ms\"",
    );
    lab.file("a-point-that-is-never-reached-and-a-name-that-is-long.toml", &never);
    lab.file("twin.toml", &format!("{retry}\n[twin]\nexpect = {{ effects = 2, executions = 3, stalled = 1 }}\n"));
    lab.file("stall-kill.toml", &wrong_stall_kill());
    vec![
        "--scenario",
        "./a-point-that-is-never-reached-and-a-name-that-is-long.toml",
        "--scenario",
        "./twin.toml",
        "--scenario",
        "./stall-kill.toml",
        "--scenario",
        "duplicate-producer",
    ]
}

#[test]
fn the_table_shows_expected_beside_observed() {
    let out = Lab::new().lab(&["run", "--scenario", "stall-kill"]).ends(0);
    assert_fits(&out.stdout);
    let rows: Vec<Vec<&str>> = out.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let row =
        |protection: &str| rows.iter().find(|row| row.first() == Some(&protection)).unwrap_or_else(|| panic!("{out}"));
    assert_eq!(row("none")[1..5], ["2", "2", "2", "2"], "{out}");
    assert_eq!(row("operation-key")[1..5], ["2", "2", "1", "1"], "{out}");
    assert_eq!((row("none")[6], row("operation-key")[6]), ("match", "match"), "{out}");
    out.says(&["stall-kill  SIGKILL after the write", "2 cases: 2 matched · 2 twins ·", "records in .lab/runs/"]);
}

#[test]
fn results_go_to_stdout_and_the_rest_to_stderr() {
    let out = Lab::new().lab(&["run", "--scenario", "stall-kill"]).ends(0);
    assert!(out.stderr.contains("servers ready") && !out.stdout.contains("servers ready"), "{out}");
}

#[test]
fn nothing_is_wider_than_a_hundred_columns() {
    let lab = Lab::new();
    let args = [&["run", "-v"], &trouble(&lab)[..]].concat();
    let out = lab.lab(&args).ends(1);
    out.says(&["twin-differs", "mismatch", "match", "duplicate-producer"]);
    assert_fits(&out.stdout);
    assert_fits(&out.stderr);
    assert_fits(&lab.lab(&["--color", "always", "judge", "last", "-v"]).ends(1).stdout);
}

#[test]
fn quiet_prints_only_the_summary_when_everything_matches_and_what_does_not_match_otherwise() {
    let out = Lab::new().lab(&["run", "-q", "--scenario", "stall-kill"]).ends(0);
    assert_eq!(out.stdout.lines().count(), 1, "{out}");
    assert!(out.stdout.starts_with("2 cases: 2 matched"), "{out}");

    let lab = Lab::new();
    lab.file("stall-kill.toml", &wrong_stall_kill());
    let out = lab.lab(&["run", "-q", "--scenario", "./stall-kill.toml", "--scenario", "throw-after-write"]).ends(1);
    out.says(&["effects of credit-482: expected 1, observed 2"]);
    for matched in ["operation-key", "throw-after-write"] {
        assert!(!out.stdout.contains(matched), "{matched}\n{out}");
    }
}

#[test]
fn verbose_shows_every_column_stated_or_not() {
    let lab = Lab::new();
    let text = scenario("stall/stall-kill.toml");
    // A table that states two columns only.
    let (head, rest) = text.split_once("expect = [").unwrap();
    let (_, script) = rest.split_once("\n]\n").unwrap();
    let table = "expect = [\n  { protection = \"none\", executions = 2, effects = 2 },\n]\n";
    lab.file("small.toml", &format!("{head}{table}{script}"));
    let out = lab.lab(&["run", "-v", "--scenario", "./small.toml"]).ends(0);
    let row = |column: &str| {
        let row = out
            .stdout
            .lines()
            .find(|line| line.split_whitespace().next() == Some(column) && line.contains("observed "));
        row.unwrap_or_else(|| panic!("{column}\n{out}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("executions"), "executions observed 2 expected 2");
    assert_eq!(row("effects"), "effects observed 2 expected 2");
    for (column, observed) in [
        ("partial", "0"),
        ("stalled", "1"),
        ("attempts-made", "0 0"),
        ("final.attempts-made", "1"),
        ("final.attempts-started", "2"),
        ("final.stalled", "1"),
        ("state", "completed"),
        ("distinct-jobs", "1"),
        ("refused-acks", "0"),
        ("overlap", "1"),
    ] {
        assert_eq!(row(column), format!("{column} observed {observed} expected not stated"));
    }
    out.says(&["fault-free twin", "matched"]);
    let normal = lab.lab(&["judge", "last"]).ends(0);
    assert!(!normal.stdout.contains("attempts-made"), "{normal}");
}

#[test]
fn colour_is_as_asked_for_and_never_in_the_way() {
    let lab = Lab::new();
    lab.lab(&["run", "--scenario", "stall-kill"]).ends(0);
    let show = |lab: &Lab, args: &[&str]| lab.lab(&[args, &["judge", "last"]].concat()).ends(0).stdout;
    let coloured = show(&lab, &["--color", "always"]);
    let piped = show(&lab, &[]);
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    // The last line holds the time that the judging took.
    let tables = |text: &str| text.rsplit_once("\n\n").map(|(tables, _)| tables.to_owned());
    assert!(tables(&piped).is_some(), "{piped}");
    assert_eq!(tables(&piped), tables(&plain(&coloured)), "a pipe gets the same words without colour");
    assert!(!piped.contains('\u{1b}'), "{piped}");

    let lab = lab.env("CLICOLOR_FORCE", "1");
    assert!(show(&lab, &[]).contains('\u{1b}'), "forced: what follows is not plain because of the pipe");
    assert!(!show(&lab, &["--color", "never"]).contains('\u{1b}'));
    let lab = lab.env("NO_COLOR", "1");
    assert!(!show(&lab, &[]).contains('\u{1b}'));
    assert!(show(&lab, &["--color", "always"]).contains('\u{1b}'), "a flag is stronger than a variable");
}

#[test]
fn machine_output_has_no_colour_and_no_table() {
    let lab = Lab::new().env("CLICOLOR_FORCE", "1");
    let out = lab.lab(&["--color", "always", "run", "--scenario", "stall-kill", "--format", "ndjson"]).ends(0);
    assert!(!out.stdout.contains('\u{1b}'), "{out}");
    assert_eq!(out.lines().len(), 5, "two cases, two twins, one summary\n{out}");
}

#[test]
fn free_text_cannot_draw_on_the_terminal() {
    let lab = Lab::new();
    let operation = "two\\nlines\\u001b[32m\\u202e";
    let text = format!(
        "schema = 1\ntitle = \"x\\ny\\u001b[2J\"\nexpect = [{{ effects = 2, protection = \"none\" }}]\n\
         [[job]]\noperation = \"{operation}\"\n[[worker]]\nname = \"A\"\n"
    );
    lab.file("odd.toml", &text);
    let out = lab.lab(&["run", "--scenario", "./odd.toml", "-v", "--color", "always"]).ends(1);
    out.says(&["x\\ny\\u{1b}[2J", "effects of two\\nlines\\u{1b}[32m\\u{202e}: expected 2"]);
    assert!(!out.stdout.contains("\u{1b}[2J") && !out.stdout.contains('\u{202e}'), "{out}");
    assert!(!out.stdout.contains("two\nlines"), "{out}");
}
