//! Scenarios to cases, purely: which cells are run, in which order, under which ids, and which rows they are judged by.

pub mod case;
pub mod filter;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use case::{Case, CaseId};
pub use filter::{Filter, UnknownWord};

use crate::fault::{Engine, Protection};
use crate::scenario::model::Script;
use crate::scenario::{Columns, Scenario, expect_for};

/// Two scenarios that would give their cases the same ids.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two scenarios are called `{name}`: {first} and {second}\nhelp: rename one file")]
pub struct SameName {
    /// The name of both.
    pub name: String,
    /// Where one came from.
    pub first: String,
    /// Where the other came from.
    pub second: String,
}

/// The cases of the scenarios that the filter lets through: in the order of the scenarios, then of their variants, then of
/// engines, then of protections. A scenario that was given twice is run once. May be empty.
pub fn plan(scenarios: &[Arc<Scenario>], filter: &Filter) -> Result<Vec<Case>, SameName> {
    let mut seen = BTreeMap::new();
    let mut cases = Vec::new();
    for scenario in scenarios {
        if let Some(first) = seen.insert(&scenario.name, &scenario.origin) {
            if *first != scenario.origin {
                let (name, first, second) = (scenario.name.clone(), first.clone(), scenario.origin.clone());
                return Err(SameName { name, first, second });
            }
            continue;
        }
        for script in &scenario.scripts {
            for engine in &filter.engines {
                let protections = Protection::ALL.iter().filter(|protection| filter.lets_through(**protection));
                cases.extend(protections.filter_map(|protection| case(scenario, script, *engine, *protection, filter)));
            }
        }
    }
    Ok(cases)
}

/// The case of one cell; `None` if no row of the table holds for it.
fn case(
    scenario: &Arc<Scenario>,
    script: &Script,
    engine: Engine,
    protection: Protection,
    filter: &Filter,
) -> Option<Case> {
    let variant = script.variant.as_deref();
    let rows = expect_for(scenario, variant, engine, filter.versions.get(&engine), protection);
    let row_of = |operation: &str| {
        let named = rows.iter().find(|row| row.operation.as_deref() == Some(operation));
        named.or_else(|| rows.iter().find(|row| row.operation.is_none()))
    };
    let mut expect = BTreeMap::<String, Columns>::new();
    let mut expect_line = usize::MAX;
    for operation in script.jobs.iter().map(|job| &job.operation) {
        if let Some(row) = row_of(operation) {
            expect.insert(operation.clone(), row.columns.clone());
            expect_line = expect_line.min(row.line);
        }
    }
    let id = CaseId { scenario: scenario.name.clone(), variant: variant.map(str::to_owned), engine, protection };
    let scenario = Arc::clone(scenario);
    (!expect.is_empty()).then(|| Case { id, script: script.clone(), expect, expect_line, scenario })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::catalog::{load_all, parse};

    fn ids(scenarios: &[Arc<Scenario>], filter: &Filter) -> Vec<String> {
        plan(scenarios, filter).unwrap().iter().map(|case| case.id.to_string()).collect()
    }

    fn only(protections: &[&str]) -> Filter {
        let words: Vec<String> = protections.iter().map(|word| (*word).to_owned()).collect();
        Filter::from_words(&[], &words).unwrap()
    }

    fn scenario(name: &str, text: &str) -> Arc<Scenario> {
        let text = format!("schema = 1\ntitle = 't'\n{text}\n[[job]]\noperation = 'a'\n[[worker]]\nname = 'A'\n");
        Arc::new(parse(name, &format!("{name}.toml"), &text).unwrap_or_else(|problems| panic!("{problems}")))
    }

    #[test]
    fn the_built_in_library_gives_its_cases_in_one_order() {
        let wanted = ["duplicate-producer", "kill-before-write", "stall-kill", "throw-after-write"];
        let core = |scenario: &Scenario| wanted.contains(&scenario.name.as_str());
        let library: Vec<_> = load_all().unwrap().into_iter().filter(core).map(Arc::new).collect();
        let all = [
            "duplicate-producer/-/bullmq-rs/none",
            "duplicate-producer/-/bullmq-rs/operation-key",
            "duplicate-producer/-/bullmq-rs/job-id",
            "kill-before-write/-/bullmq-rs/none",
            "kill-before-write/-/bullmq-rs/operation-key",
            "stall-kill/-/bullmq-rs/none",
            "stall-kill/-/bullmq-rs/operation-key",
            "throw-after-write/-/bullmq-rs/none",
            "throw-after-write/-/bullmq-rs/operation-key",
        ];
        assert_eq!(ids(&library, &Filter::default()), all);
        assert_eq!(ids(&library, &only(&["job-id"])), ["duplicate-producer/-/bullmq-rs/job-id"]);
        assert_eq!(ids(&library[1..], &only(&["job-id"])), [""; 0]);
    }

    #[test]
    fn a_row_without_a_protection_holds_for_every_one() {
        let one = scenario("one", "expect = [ { executions = 1 }, { protection = 'none', executions = 2 } ]");
        let cases = plan(&[one], &Filter::default()).unwrap();
        let executions: Vec<_> =
            cases.iter().map(|case| (case.id.protection.word(), case.expect["a"].clone())).collect();
        let count =
            |count| Columns::from([(crate::scenario::Column::Executions, crate::scenario::Value::Count(count))]);
        assert_eq!(executions, [("none", count(2)), ("operation-key", count(1)), ("job-id", count(1))]);
        assert!(cases.iter().all(|case| case.expect_line == 3));
    }

    #[test]
    fn variants_run_in_place_of_the_file_and_their_own_rows_replace_its_rows() {
        let text = "expect = [ { protection = 'none', executions = 1 } ]\n[[variant]]\nname = 'x'\n[[variant]]\nname = 'y'\n\
                    expect = [ { protection = 'job-id', executions = 2 } ]";
        let expected = ["v/x/bullmq-rs/none", "v/y/bullmq-rs/job-id"];
        assert_eq!(ids(&[scenario("v", text)], &Filter::default()), expected);
    }

    #[test]
    fn a_row_with_an_operation_wins_over_one_without() {
        let text = "expect = [ { executions = 1 }, { operation = 'b', executions = 2 } ]\n[[job]]\noperation = 'b'";
        let cases = plan(&[scenario("o", text)], &only(&["none"])).unwrap();
        let shown: Vec<String> = cases[0].expect.iter().map(|(name, columns)| format!("{name} {columns:?}")).collect();
        assert_eq!(shown, ["a {Executions: Count(1)}", "b {Executions: Count(2)}"]);
    }

    #[test]
    fn the_same_scenario_runs_once_and_two_of_one_name_are_refused() {
        let one = scenario("one", "expect = [ { protection = 'none', executions = 1 } ]");
        assert_eq!(ids(&[one.clone(), one.clone()], &Filter::default()), ["one/-/bullmq-rs/none"]);
        let other = Arc::new(Scenario { origin: "other/one.toml".to_owned(), ..(*one).clone() });
        let error = plan(&[one, other], &Filter::default()).unwrap_err();
        assert_eq!(
            error.to_string().lines().next(),
            Some("two scenarios are called `one`: one.toml and other/one.toml")
        );
    }
}
