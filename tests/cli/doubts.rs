//! Cases that prove nothing are told apart from those that match and those that do not.

use serde_json::json;

use crate::lab::{Lab, Out, changed, scenario};

fn run(lab: &Lab, name: &str, text: &str) -> Out {
    lab.file(name, text);
    lab.lab(&["run", "--scenario", &format!("./{name}"), "--protection", "none", "--format", "ndjson"])
}

#[test]
fn a_fault_whose_point_is_never_reached_is_inconclusive_and_named() {
    let text = changed(&scenario("retry/throw-after-write.toml"), "A@effect.committed", "A@effect.committed#7");
    let text = changed(&text, "tags = [\"core\"]", "within = \"700ms\"");
    let out = run(&Lab::new(), "never.toml", &text).ends(4);
    let case = out.only("case");
    assert_eq!(case["verdict"], "inconclusive", "{out}");
    let reason = case["reason"].as_str().unwrap();
    assert!(["deadline", "fault-not-fired"].contains(&reason), "{out}");
    let because = case["because"].as_str().unwrap();
    assert!(because.contains("A@effect.committed#7"), "{because}");
    let summary = out.only("summary");
    assert_eq!((&summary["inconclusive"], &summary["matched"]), (&json!(1), &json!(0)), "{out}");
}

#[test]
fn a_twin_that_does_not_behave_makes_its_case_inconclusive() {
    let text = format!("{}\n[twin]\nexpect = {{ effects = 2 }}\n", scenario("stall/stall-kill.toml"));
    let lab = Lab::new();
    let out = run(&lab, "twin.toml", &text).ends(4);
    let case = out.only("case");
    assert_eq!((&case["verdict"], &case["reason"]), (&json!("inconclusive"), &json!("twin-differs")), "{out}");
    let numbers = "effects of credit-482: expected 2, observed 1";
    assert!(case["because"].as_str().unwrap().contains(numbers), "{out}");
    let twin = out.only("twin");
    assert_eq!((&twin["verdict"], &twin["because"]), (&json!("differs"), &json!(numbers)), "{out}");
    // The case itself is as stated: what was observed is shown all the same.
    assert_eq!((&case["differences"], &case["observed"]["effects"]), (&json!([]), &json!(2)), "{out}");
    lab.lab(&["judge", "last"]).ends(4).says(&["twin-differs", "1 inconclusive"]);
}

#[test]
fn a_twin_that_is_skipped_is_listed_with_its_reason_and_does_no_harm() {
    let text = format!("{}\n[twin]\nskip = \"nothing to compare\"\n", scenario("stall/stall-kill.toml"));
    let lab = Lab::new();
    let out = run(&lab, "skip.toml", &text).ends(0);
    let skipped = json!({ "verdict": "skipped", "because": "nothing to compare" });
    assert_eq!(out.only("case")["twin"], skipped, "{out}");
    assert_eq!(out.only("twin")["because"], "nothing to compare", "{out}");
    lab.lab(&["judge", "last", "-v"]).ends(0).says(&["skipped: nothing to compare", "0 twins"]);
}

#[test]
fn a_mismatch_outweighs_a_doubt_and_both_are_counted() {
    let lab = Lab::new();
    let good = scenario("retry/throw-after-write.toml");
    let never = changed(
        &changed(&good, "A@effect.committed", "A@effect.committed#7"),
        "tags = [\"core\"]",
        "within = \"700ms\"",
    );
    lab.file("never.toml", &never);
    let wrong = changed(
        &good,
        "{ protection = \"none\", executions = 2, effects = 2",
        "{ protection = \"none\", executions = 2, effects = 1",
    );
    lab.file("wrong.toml", &wrong);
    let args = ["run", "--scenario", "./never.toml", "--scenario", "./wrong.toml", "--protection", "none"];
    lab.lab(&args).ends(1).says(&["2 cases: 0 matched, 1 mismatched, 1 inconclusive"]);
}

/// `throw-after-write` with one more fault at the same moment, in other words.
fn with_fault(at: &str, deed: &str) -> String {
    let text = scenario("retry/throw-after-write.toml");
    let text = changed(&text, "tags = [\"core\"]", "within = \"1500ms\"");
    format!("{text}\n[[fault]]\nat = \"{at}\"\ndo = \"{deed}\"\n")
}

#[test]
fn a_second_answer_to_one_handler_does_not_fire() {
    let out = run(&Lab::new(), "second.toml", &with_fault("effect.committed", "panic")).ends(4);
    let because = out.only("case")["because"].to_string();
    assert!(because.contains("effect.committed: panic` to be confirmed"), "{because}");
}

#[test]
fn an_answer_waits_for_a_hold_at_the_same_moment() {
    // Nobody finishes anything while the only handler is held: neither the hold nor the throw can fire.
    let out = run(&Lab::new(), "held.toml", &with_fault("effect.committed", "hold until queue.completed")).ends(4);
    assert_eq!(out.only("case")["observed"]["executions"], json!(1), "{out}");
    let out = run(&Lab::new(), "both.toml", &with_fault("effect.committed", "duplicate"));
    assert_eq!(out.only("case")["observed"]["executions"], json!(3), "{out}");
}

#[test]
fn nobody_continues_the_dead() {
    let text = changed(&scenario("stall/stall-kill.toml"), "tags = [\"core\"]", "within = \"2s\"");
    let text = format!("{text}\n[[fault]]\nat = \"B@effect.committed\"\ndo = \"cont A\"\n");
    let out = run(&Lab::new(), "dead.toml", &text).ends(4);
    let because = out.only("case")["because"].to_string();
    assert!(because.contains("B@effect.committed: cont A` to be confirmed"), "{because}");
}
