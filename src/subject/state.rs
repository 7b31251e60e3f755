//! What a subject may say when. A pure step; the drive loop asks it about every line.

use crate::protocol::{FromSubject, VERSION};

/// Where a subject is in its life on the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Started, not heard of.
    Silent,
    /// Said hello.
    Greeted,
    /// Connected to everything, waits for `start`.
    Ready,
    /// At work.
    Working,
}

impl State {
    /// The state after the subject said this.
    ///
    /// # Errors
    /// The subject may not say this now: what it said and what was expected.
    pub fn hear(self, message: &FromSubject) -> Result<Self, String> {
        match (self, message) {
            (Self::Silent, FromSubject::Hello { protocol, .. }) if *protocol != VERSION => {
                Err(format!("it speaks version {protocol} of the worker protocol, this lab speaks version {VERSION}"))
            }
            (Self::Silent, FromSubject::Hello { .. }) => Ok(Self::Greeted),
            (Self::Silent, other) => Err(format!("its first line is `{}` instead of `hello`", word(other))),
            (_, FromSubject::Hello { .. }) => Err("it said `hello` twice".to_owned()),
            (Self::Greeted, FromSubject::Ready { .. }) => Ok(Self::Ready),
            (_, FromSubject::Notice { .. } | FromSubject::Failed { .. }) => Ok(self),
            (Self::Greeted, other) => Err(format!("it said `{}` before `ready`", word(other))),
            (Self::Ready, FromSubject::Point { .. } | FromSubject::Settled { .. }) => {
                Err(format!("it said `{}` before the lab sent `start`", word(message)))
            }
            (state, _) => Ok(state),
        }
    }

    /// The state after the lab sent `start`.
    pub fn started(self) -> Self {
        match self {
            Self::Ready => Self::Working,
            other => other,
        }
    }
}

/// The message's `type`.
fn word(message: &FromSubject) -> String {
    serde_json::to_value(message).ok().and_then(|value| value["type"].as_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Engine;

    fn hello(protocol: u32) -> FromSubject {
        FromSubject::Hello {
            name: "A".into(),
            pid: 1,
            protocol,
            engine: Engine::BullmqRs,
            engine_version: "1".into(),
            points: vec![],
            protections: vec![],
            multi: false,
        }
    }

    #[test]
    fn a_subject_greets_gets_ready_and_works_in_that_order() {
        let ready = FromSubject::Ready { case: "c".into() };
        let state = State::Silent.hear(&hello(VERSION)).unwrap().hear(&ready).unwrap();
        assert_eq!(state, State::Ready);
        assert_eq!(state.started(), State::Working);
    }

    #[test]
    fn each_breach_of_the_order_is_named() {
        let ready = FromSubject::Ready { case: "c".into() };
        let settled = FromSubject::Settled {
            case: "c".into(),
            execution: 1,
            job: "1".into(),
            outcome: crate::fault::Outcome::Completed,
            error: None,
        };
        let table = [
            (State::Silent, ready.clone(), "first line is `ready`"),
            (State::Silent, hello(99), "version 99"),
            (State::Working, hello(VERSION), "`hello` twice"),
            (State::Greeted, settled.clone(), "`settled` before `ready`"),
            (State::Ready, settled, "`settled` before the lab sent `start`"),
        ];
        for (state, message, problem) in table {
            let error = state.hear(&message).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
