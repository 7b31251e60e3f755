//! The picture of a history: a pure function, so a recorded history has one picture.

use std::path::Path;

use anstream::adapter::strip_str;
use lab::history::reader;
use lab::report::timeline::timeline;

fn picture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories").join(name);
    strip_str(&timeline(&reader::read(&path).expect("the history can be read").entries)).to_string()
}

#[test]
fn a_kill_and_its_recovery_stand_in_the_lanes_of_their_workers() {
    let picture = picture("stall-kill.none.ndjson");
    let column = |wanted: &str| {
        let line = picture.lines().find(|line| line.contains(wanted)).unwrap_or_else(|| panic!("{wanted}\n{picture}"));
        line.chars().take(line[..line.find(wanted).expect("it is there")].chars().count()).count()
    };
    let head = picture.lines().next().expect("a head").to_owned();
    let lane = |name: &str| head.find(name).expect("a lane");
    assert_eq!(column("⚡ kill"), lane("worker A"), "{picture}");
    assert_eq!(column("† SIGKILL"), lane("worker A"), "{picture}");
    assert_eq!(column("+ stalled 1"), lane("queue"), "{picture}");
    assert_eq!(column("✓ completed"), lane("worker B"), "{picture}");
    for glyph in ["▶ handler entered", "† dead", "⚡ fault strikes"] {
        assert!(picture.contains(glyph), "the legend tells `{glyph}`: {picture}");
    }
    assert!(!picture.contains("‖ stopped"), "the legend tells only what is used: {picture}");
}

#[test]
fn a_picture_is_as_wide_as_a_terminal_and_the_same_each_time() {
    for name in ["stall-kill.none.ndjson", "throw-after-write.none.ndjson", "duplicate-producer.none.ndjson"] {
        let drawn = picture(name);
        assert!(drawn.lines().all(|line| line.chars().count() <= 100), "{drawn}");
        assert_eq!(drawn, picture(name));
    }
}
