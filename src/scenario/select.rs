//! Which rows of the expected table hold for a case: the most specific one for each operation.

use std::collections::BTreeMap;

use semver::{Comparator, Op, Version, VersionReq};

use crate::fault::{Engine, Protection};

use super::model::{Row, Scenario};

/// The rows that hold for a case: at most one without an operation, and at most one for each operation that a row names,
/// which wins over it. An unknown engine version satisfies no version range.
pub fn expect_for<'a>(
    scenario: &'a Scenario,
    variant: Option<&str>,
    engine: Engine,
    engine_version: Option<&Version>,
    protection: Protection,
) -> Vec<&'a Row> {
    let mut best: BTreeMap<Option<&str>, &Row> = BTreeMap::new();
    for row in candidates(scenario, variant, engine, protection) {
        let versions = row.engine.as_ref().and_then(|selector| selector.versions.as_ref());
        if versions.is_some_and(|wanted| !engine_version.is_some_and(|version| wanted.matches(version))) {
            continue;
        }
        let held = best.entry(row.operation.as_deref()).or_insert(row);
        if specificity(row) > specificity(held) {
            *held = row;
        }
    }
    best.into_values().collect()
}

/// The rows that hold for some version of the engine.
pub(super) fn candidates<'a>(
    scenario: &'a Scenario,
    variant: Option<&str>,
    engine: Engine,
    protection: Protection,
) -> impl Iterator<Item = &'a Row> {
    let own = scenario.expect.iter().any(|row| row.own && row.variant.as_deref() == variant);
    scenario.expect.iter().filter(move |row| {
        row.own == own
            && row.protection.is_none_or(|wanted| wanted == protection)
            && row.variant.as_deref().is_none_or(|wanted| Some(wanted) == variant)
            && row.engine.as_ref().is_none_or(|wanted| wanted.engine == engine)
    })
}

/// How many selectors a row states; a range of versions counts once more.
pub(super) fn specificity(row: &Row) -> usize {
    let versions = row.engine.as_ref().is_some_and(|engine| engine.versions.is_some());
    [row.protection.is_some(), row.variant.is_some(), row.engine.is_some(), versions].into_iter().map(usize::from).sum()
}

/// Whether some version satisfies both rows.
pub(super) fn versions_meet(one: &Row, other: &Row) -> bool {
    let of = |row: &Row| row.engine.as_ref().and_then(|engine| engine.versions.clone());
    let (low, high) = [of(one), of(other)]
        .iter()
        .flatten()
        .flat_map(|versions: &VersionReq| versions.comparators.iter())
        .map(bounds)
        .fold((START, END), |(low, high), (from, to)| (low.max(from), high.min(to)));
    low < high
}

type Triple = (u64, u64, u64);
const START: Triple = (0, 0, 0);
const END: Triple = (u64::MAX, u64::MAX, u64::MAX);

/// The versions that satisfy a comparator, as `from..to`. Pre-releases are left aside.
fn bounds(wanted: &Comparator) -> (Triple, Triple) {
    let (major, minor, patch) = (wanted.major, wanted.minor, wanted.patch);
    let low = (major, minor.unwrap_or(0), patch.unwrap_or(0));
    let next_major = (major.saturating_add(1), 0, 0);
    let next_minor = minor.map_or(next_major, |minor| (major, minor.saturating_add(1), 0));
    let next = patch.map_or(next_minor, |patch| (low.0, low.1, patch.saturating_add(1)));
    match wanted.op {
        Op::Exact | Op::Wildcard => (low, next),
        Op::Greater => (next, END),
        Op::GreaterEq => (low, END),
        Op::Less => (START, low),
        Op::LessEq => (START, next),
        Op::Tilde => (low, next_minor),
        Op::Caret if major > 0 || minor.is_none() => (low, next_major),
        Op::Caret if low.1 > 0 || patch.is_none() => (low, next_minor),
        Op::Caret => (low, next),
        _ => (START, END),
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalog::parse;
    use super::*;

    fn scenario(rows: &str) -> Scenario {
        let text = format!(
            "schema = 1\ntitle = 't'\nexpect = [\n{rows}\n]\n[[job]]\noperation = 'a'\n[[job]]\noperation = 'b'\n[[worker]]\nname = 'A'\n"
        );
        parse("s", "s.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn lines(scenario: &Scenario, version: &str, protection: Protection) -> Vec<usize> {
        let version = Version::parse(version).ok();
        let rows = expect_for(scenario, None, Engine::BullmqRs, version.as_ref(), protection);
        rows.iter().map(|row| row.line).collect()
    }

    #[test]
    fn the_most_specific_row_holds_for_each_operation() {
        let scenario = scenario(
            "{ effects = 1 },\n{ protection = 'none', effects = 2 },\n{ operation = 'b', effects = 3 },\n\
             { protection = 'none', engine = 'bullmq-rs >=1.4, <2', effects = 4 },\n{ engine = 'bullmq-rs >=2', effects = 5 },",
        );
        assert_eq!(lines(&scenario, "1.4.4", Protection::None), [7, 6]);
        assert_eq!(lines(&scenario, "1.3.0", Protection::None), [5, 6]);
        assert_eq!(lines(&scenario, "unknown", Protection::None), [5, 6]);
        assert_eq!(lines(&scenario, "1.4.4", Protection::JobId), [4, 6]);
        assert_eq!(lines(&scenario, "2.0.0", Protection::JobId), [8, 6]);
    }

    #[test]
    fn ranges_of_versions_meet_where_a_version_satisfies_both() {
        let table = [
            (">=1.4, <2", ">=2", false),
            (">=1.4, <2", "^1.9", true),
            ("~1.4", "1.5.*", false),
            ("=1.4.4", "<=1.4", true),
            (">1.4", "=1.4.9", false),
            ("^0.2.3", "^0.3", false),
            ("^0.0.3", "=0.0.4", false),
            ("<1.4.4", "=1.4.4", false),
            ("*", "=9.9.9", true),
        ];
        for (one, other, meet) in table {
            let row = |versions: &str| {
                let mut row = scenario("{ engine = 'bullmq-rs', effects = 1 }").expect.remove(0);
                row.engine.iter_mut().for_each(|engine| engine.versions = VersionReq::parse(versions).ok());
                row
            };
            assert_eq!(versions_meet(&row(one), &row(other)), meet, "{one} and {other}");
            assert_eq!(versions_meet(&row(other), &row(one)), meet, "{other} and {one}");
        }
    }
}
