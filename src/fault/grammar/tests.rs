//! The grammar's behaviour: what it accepts comes back, what it refuses is refused at the right place.

use proptest::prelude::*;

use super::*;

fn workers() -> impl Strategy<Value = String> {
    "[A-Za-z][A-Za-z0-9_-]{0,31}"
}

fn triggers() -> impl Strategy<Value = Trigger> {
    let at_point = (proptest::option::of(workers()), proptest::sample::select(Point::ALL))
        .prop_map(|(worker, point)| (worker, Place::Point(point)));
    let in_queue = proptest::sample::select(QueueEvent::ALL).prop_map(|event| (None, Place::Queue(event)));
    (prop_oneof![at_point, in_queue], proptest::option::of(any::<String>()), 1..=u32::MAX)
        .prop_map(|((worker, place), operation, hit)| Trigger { worker, place, operation, hit })
}

fn conditions() -> impl Strategy<Value = Condition> {
    let moment = prop_oneof![
        workers().prop_map(Condition::Dead),
        workers().prop_map(Condition::Stopped),
        workers().prop_map(Condition::Settled),
        triggers().prop_map(Condition::Reached),
    ];
    (moment, proptest::option::of(0..=86_400_000_u64)).prop_map(|(moment, after)| match after {
        Some(ms) => Condition::After(ms, Box::new(moment)),
        None => moment,
    })
}

fn actions() -> impl Strategy<Value = Action> {
    let named = || proptest::option::of(workers());
    let ms = || 0..=86_400_000_u64;
    prop_oneof![
        named().prop_map(Action::Kill),
        (named(), proptest::option::of(ms())).prop_map(|(worker, after)| Action::Term(worker, after)),
        named().prop_map(Action::Stop),
        workers().prop_map(|worker| Action::Cont(Some(worker))),
        any::<bool>().prop_map(Action::Throw),
        Just(Action::Panic),
        any::<u8>().prop_map(Action::Exit),
        ms().prop_map(Action::Block),
        conditions().prop_map(Action::Hold),
        ms().prop_map(Action::MoveToDelayed),
        Just(Action::Duplicate),
        Just(Action::DelKey(crate::fault::JobKey::Lock)),
    ]
}

fn nearly_right() -> impl Strategy<Value = String> {
    let pieces = [
        "A",
        "@",
        "queue.active",
        "effect.committed",
        "[",
        "]",
        "\"x\"",
        "\\",
        "#",
        "2",
        "0",
        "when",
        "dead",
        " ",
        "kill",
        "ü",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(at in triggers(), when in conditions(), deed in actions()) {
        prop_assert_eq!(trigger(&at.to_string()), Ok(at));
        prop_assert_eq!(condition(&format!("when {when}")), Ok(when));
        prop_assert_eq!(action(&deed.to_string()), Ok(deed));
    }

    #[test]
    fn any_text_is_read_or_refused_within_its_bounds(text in prop_oneof![any::<String>(), nearly_right()]) {
        let errors = [trigger(&text).err(), condition(&text).err(), action(&text).err(), duration_ms(&text).err()];
        for error in errors.into_iter().flatten() {
            prop_assert!(text.get(error.span.clone()).is_some(), "{error:?}");
        }
    }
}

#[test]
fn a_mistake_is_shown_where_it_is() {
    let long = format!("{}@handler.started", "w".repeat(33));
    let table: [(&str, &str, &str, &str); 14] = [
        ("A@effect.commited", "effect.commited", "unknown point `effect.commited`", "did you mean `effect.committed`?"),
        ("A@", "", "a point is missing", "known: `handler.started`"),
        ("", "", "a point is missing", "known: `handler.started`"),
        ("1A@effect.committed", "1A", "`1A` is no worker's name", "a letter"),
        ("@effect.committed", "", "a worker's name is missing", "a letter"),
        (&long, &long[..33], "is no worker's name", "at most 32"),
        (
            "A@queue.active",
            "A@queue.active",
            "`queue.active` is an entry of the queue's record: it has no worker",
            "write `queue.active`",
        ),
        ("queue.active#0", "#0", "hits are counted from 1", ""),
        ("queue.active#", "#", "a hit's number", "#2"),
        ("queue.active#4294967296", "#4294967296", "from 1 to 4294967295", "#2"),
        ("queue.active[op]", "[op]", "one quoted string", "credit-482"),
        ("queue.active[\"op\"", "[\"op\"", "one quoted string", "credit-482"),
        ("queue.active#2 now", "now", "unexpected `now` after the trigger", ""),
        ("queue.active#2[\"op\"]", "[\"op\"]", "unexpected `[\"op\"]` after the trigger", ""),
    ];
    for (text, part, message, help) in table {
        let error = trigger(text).expect_err(text);
        assert_eq!(&text[error.span.clone()], part, "{text}: {error:?}");
        assert!(error.message.contains(message), "{text}: {error:?}");
        assert!(error.help.unwrap_or_default().contains(help), "{text}");
    }
}

#[test]
fn a_condition_needs_its_when_and_something_that_can_happen() {
    let table = [
        ("A dead", "A", "a condition begins with `when`"),
        ("when A", "A", "what of worker `A`?"),
        ("when A died", "A died", "what of worker `A`?"),
        ("when A dead now", "now", "unexpected `now` after the condition"),
        ("when 1A dead", "1A", "`1A` is no duration"),
        ("when B@handler.strted", "handler.strted", "unknown point `handler.strted`"),
        ("when", "", "a point is missing"),
    ];
    for (text, part, message) in table {
        let error = condition(text).expect_err(text);
        assert_eq!(&text[error.span.clone()], part, "{text}: {error:?}");
        assert!(error.message.contains(message), "{text}: {error:?}");
    }
}

#[test]
fn a_mistake_in_an_action_is_shown_where_it_is() {
    let table = [
        ("vanish", "vanish", "unknown action `vanish`", "known: `kill`, `term`"),
        ("kil", "kil", "unknown action `kil`", "did you mean `kill`? known: `kill`"),
        ("", "", "an action is missing", "known: `kill`"),
        ("throw twice", "twice", "unexpected `twice` after `throw`", "its syntax is `throw [unrecoverable]`"),
        ("exit", "", "an exit status is a number from 0 to 255", "for example `exit 1`"),
        ("exit 256", "256", "an exit status is a number from 0 to 255", "for example `exit 1`"),
        ("block", "", "`` is no duration", "`10ms`"),
        ("block 2", "2", "a duration needs a unit", "`10ms`"),
        ("hold A dead", "A", "`A` stands where `until` should", ""),
        ("hold until", "", "a point is missing", "known: `handler.started`"),
        ("term A then stop", "stop", "`stop` stands where `kill` should", ""),
        ("del-key", "", "`lock` is missing", ""),
        ("kill A B", "B", "unexpected `B` after `kill`", "its syntax is `kill [WORKER]`"),
        ("kill 9", "9", "`9` is no worker's name", "a letter"),
    ];
    for (text, part, message, help) in table {
        let error = action(text).expect_err(text);
        assert_eq!(&text[error.span.clone()], part, "{text}: {error:?}");
        assert_eq!(error.message, message, "{text}");
        assert!(error.help.clone().unwrap_or_default().contains(help), "{text}: {error:?}");
    }
}

#[test]
fn a_duration_is_a_number_and_a_unit() {
    let right = [("10ms", 10), ("2s", 2000), ("1m", 60_000), ("1h", 3_600_000), ("0ms", 0)];
    for (text, ms) in right {
        assert_eq!(duration_ms(text), Ok(ms), "{text}");
    }
    let wrong = [("10", "needs a unit"), ("ms", "no duration"), ("", "no duration"), ("1d", "no duration")];
    for (text, message) in
        wrong.into_iter().chain([("99999999999999999999ms", "too long"), ("9999999999999999999h", "too long")])
    {
        assert!(duration_ms(text).expect_err(text).message.contains(message), "{text}");
    }
}
