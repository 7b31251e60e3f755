//! The docs name everything that can be written, asked for or printed, and what they show is valid.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use lab::fault::{Action, Engine, Point, Protection, QueueEvent};
use lab::outcome::{CaseResult, Cell, Exit, OperationResult, Reason, Tally, TwinResult, Verdict};
use lab::report::ndjson;
use lab::scenario::{Column, catalog, expect, load_all};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every page for people, with its path.
fn pages() -> Vec<(PathBuf, String)> {
    let top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name));
    let docs =
        fs::read_dir(root().join("docs")).expect("docs/ is there").map(|entry| entry.expect("it can be listed").path());
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).chain(top);
    pages.map(|path| (path.clone(), fs::read_to_string(path).expect("a page is text"))).collect()
}

/// Every word has to stand in the page as code: `` `word` ``, or first in it.
fn all_in<'a>(page: &str, words: impl IntoIterator<Item = &'a str>) {
    let text = read(page);
    let named = |word: &str| text.contains(&format!("`{word}`")) || text.contains(&format!("`{word} "));
    let missing: Vec<&str> = words.into_iter().filter(|word| !named(word)).collect();
    assert!(missing.is_empty(), "{page} does not name {missing:?}");
}

#[test]
fn every_column_state_protection_and_engine_is_explained() {
    let words = Column::ALL.iter().map(|column| column.word());
    let words = words.chain(expect::STATES.iter().copied());
    let words = words.chain(Protection::ALL.iter().map(|protection| protection.word()));
    all_in("docs/scenarios.md", words.chain(Engine::ALL.iter().map(|engine| engine.word())));
}

#[test]
fn every_point_queue_event_and_fault_is_explained() {
    let points = Point::ALL.iter().map(|point| point.word());
    let words = points.chain(QueueEvent::ALL.iter().map(|event| event.word()));
    all_in("docs/faults-and-points.md", words.chain(Action::ALL.iter().map(|action| action.word)));
}

#[test]
fn every_reason_verdict_and_exit_status_is_explained() {
    let reasons = all_reasons();
    all_in("docs/results.md", reasons.iter().map(|reason| reason.word()));
    let verdicts =
        [Verdict::Match, Verdict::Mismatch, Verdict::Inconclusive(reasons[0]), Verdict::Skipped, Verdict::Error];
    all_in("docs/results.md", verdicts.map(Verdict::word));
    for page in ["README.md", "docs/results.md"] {
        let text = read(page);
        for exit in all_exits() {
            let row = match exit {
                Exit::Signal(_) => "| 128+n |".to_owned(),
                other => format!("| {} |", other.code()),
            };
            assert!(text.contains(&row), "{page} has no row `{row}`");
        }
    }
}

/// Every reason. A new one has no arm here: it belongs into the docs as well.
fn all_reasons() -> Vec<Reason> {
    let next = |reason: Reason| match reason {
        Reason::FaultNotFired => Some(Reason::FaultTooLate),
        Reason::FaultTooLate => Some(Reason::EarlyStall),
        Reason::EarlyStall => Some(Reason::RecordsDisagree),
        Reason::RecordsDisagree => Some(Reason::TwinDiffers),
        Reason::TwinDiffers => Some(Reason::Deadline),
        Reason::Deadline => Some(Reason::HistoryGap),
        Reason::HistoryGap => Some(Reason::SubjectDiedUnasked),
        Reason::SubjectDiedUnasked => None,
    };
    std::iter::successors(Some(Reason::FaultNotFired), |reason| next(*reason)).collect()
}

/// Every exit status, in the same way.
fn all_exits() -> Vec<Exit> {
    let next = |exit: Exit| match exit {
        Exit::AllMatched => Some(Exit::Mismatch),
        Exit::Mismatch => Some(Exit::Usage),
        Exit::Usage => Some(Exit::Environment),
        Exit::Environment => Some(Exit::Inconclusive),
        Exit::Inconclusive => Some(Exit::NothingRan),
        Exit::NothingRan => Some(Exit::Signal(2)),
        Exit::Signal(_) => None,
    };
    std::iter::successors(Some(Exit::AllMatched), |exit| next(*exit)).collect()
}

#[test]
fn every_verb_and_every_flag_of_a_run_is_explained() {
    let help = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_lab")).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let all: String = pages().into_iter().map(|(_, text)| text).collect();
    let (_, commands) = help(&["--help"]).split_once("Commands:\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let verbs: Vec<&str> = commands
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.contains(&"run"), "no verbs in: {commands}");
    for verb in verbs {
        assert!(all.contains(&format!("lab {verb}")), "the docs do not name `lab {verb}`");
    }
    let help = help(&["run", "--help"]);
    let flags: BTreeSet<&str> = help
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .filter(|word| word.len() > 2 && word.starts_with("--") && *word != "--help")
        .collect();
    assert!(flags.contains("--scenario"), "no flags in: {help}");
    all_in("docs/results.md", flags);
}

/// The lab names the keys it knows when it meets one that it does not.
#[test]
fn every_key_of_a_scenario_file_is_explained() {
    const UNKNOWN: &str = "zzzzzzzzzzzzzzzzzzzz = 1";
    let text = format!(
        "schema = 1\ntitle = 't'\n{UNKNOWN}\nexpect = [{{ executions = 1, {UNKNOWN} }}]\n[defaults]\n{UNKNOWN}\n\
         [[job]]\noperation = 'o'\n{UNKNOWN}\ndedup = {{ id = 'x', {UNKNOWN} }}\n\
         backoff = {{ type = 'fixed', delay = '1ms', {UNKNOWN} }}\n[[worker]]\nname = 'A'\n{UNKNOWN}\n\
         [[fault]]\nat = 'A@handler.started'\ndo = 'kill'\n{UNKNOWN}\n[[variant]]\nname = 'v'\n{UNKNOWN}\n[twin]\n{UNKNOWN}\n"
    );
    let problems = catalog::parse("unknown", "unknown.toml", &text).unwrap_err();
    let known: BTreeSet<String> = problems
        .iter()
        .filter_map(|problem| problem.help.as_deref()?.strip_prefix("known: "))
        .flat_map(|known| known.split(", ").map(|key| key.trim_matches('`').to_owned()))
        .collect();
    for key in ["schema", "operation", "stalled-interval", "at", "ttl", "delay", "skip", "final.stalled"] {
        assert!(known.contains(key), "the lab did not name the key {key}: {known:?}");
    }
    all_in("docs/scenarios.md", known.iter().map(String::as_str));
}

#[test]
fn every_field_of_a_result_line_is_explained() {
    let cell = Cell { column: "executions".to_owned(), expected: None, observed: 1.into(), holds: false };
    let operation =
        OperationResult { operation: "o".to_owned(), cells: vec![cell], job_ids: Vec::new(), anomaly: None };
    let result = CaseResult {
        case: String::new(),
        scenario: String::new(),
        variant: None,
        engine: String::new(),
        protection: String::new(),
        repeat: 1,
        tries: 1,
        verdict: Verdict::Match,
        because: None,
        operations: vec![operation],
        twin: TwinResult::Differs(String::new()),
        elapsed_ms: 0,
        history: String::new(),
        repro: String::new(),
    };
    let lines = [
        ndjson::case("r", &result),
        ndjson::twin_line("r", "c", &result.twin),
        ndjson::summary("r", &Tally::default(), 0, Exit::AllMatched),
    ];
    let mut fields = BTreeSet::new();
    for line in &lines {
        fields.extend(line.as_object().unwrap().keys().map(String::as_str));
    }
    fields.extend(lines[0]["operations"][0].as_object().unwrap().keys().map(String::as_str));
    fields.extend(lines[0]["differences"][0].as_object().unwrap().keys().map(String::as_str));
    all_in("docs/results.md", fields);
}

#[test]
fn every_scenario_that_the_docs_name_exists() {
    let library: BTreeSet<String> = load_all().unwrap().into_iter().map(|scenario| scenario.name).collect();
    let mut named = 0;
    for (page, text) in pages() {
        for rest in text.split("--scenario ").skip(1) {
            let name = rest.split(|c: char| c.is_whitespace() || "`|)".contains(c)).next().unwrap_or_default();
            let is_placeholder = name.chars().all(|c| c.is_ascii_uppercase());
            if name.is_empty() || is_placeholder || name.ends_with(".toml") || name.starts_with("NAME") {
                continue;
            }
            named += 1;
            let pattern = name.trim_matches('\'');
            let exists = match pattern.strip_suffix('*') {
                Some(beginning) => library.iter().any(|known| known.starts_with(beginning)),
                None => library.contains(pattern),
            };
            assert!(exists, "{}: there is no scenario `{name}`", page.display());
        }
    }
    assert!(named > 10, "only {named} scenarios are named: is this test blind?");
    let all: String = pages().into_iter().map(|(_, text)| text).collect();
    let path = |word: &str| word.starts_with("scenarios/") && word.ends_with(".toml") && !word.contains('*');
    for word in all.split(|c: char| c.is_whitespace() || "`()".contains(c)).filter(|word| path(word)) {
        assert!(root().join(word).is_file(), "the docs name {word}, which is not there");
    }
}

#[test]
fn every_scenario_file_in_the_docs_is_valid() {
    let mut shown = 0;
    for (page, text) in pages() {
        for block in text.split("```toml\n").skip(1) {
            let file = block.split("```").next().unwrap_or_default();
            if file.starts_with("schema") {
                shown += 1;
                let name = page.display().to_string();
                catalog::parse("shown", &name, file).unwrap_or_else(|problems| panic!("{problems}"));
            }
        }
    }
    assert!(shown > 5, "only {shown} files are shown: is this test blind?");
}

#[test]
fn every_link_between_the_pages_leads_somewhere() {
    for (page, text) in pages() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(path.is_file(), "{}: {target} leads nowhere", page.display());
            let anchors: Vec<String> =
                fs::read_to_string(&path).unwrap().lines().filter(|line| line.starts_with('#')).map(anchor).collect();
            let found = heading.is_empty() || anchors.iter().any(|anchor| anchor == heading);
            assert!(found, "{}: {target} has no such heading", page.display());
        }
    }
}

/// The anchor of a heading: small letters, digits and `-`.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
}
