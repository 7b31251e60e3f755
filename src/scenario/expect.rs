//! The columns of the expected table and the values a cell can hold.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fault::words::words;

words! {
    /// A column of the expected table. All are counted per operation.
    Column {
        Executions = "executions", "how often a handler was entered";
        Effects = "effects", "how often the world changed";
        Partial = "partial", "effects that are only half there";
        Stalled = "stalled", "`stalled` entries of the queue's event stream";
        AttemptsMade = "attempts-made", "attemptsMade as each execution saw it, in order of start";
        FinalAttemptsMade = "final.attempts-made", "attemptsMade in the job's record at the end";
        FinalAttemptsStarted = "final.attempts-started", "attemptsStarted in the job's record at the end";
        FinalStalled = "final.stalled", "stalledCounter in the job's record at the end";
        State = "state", "the queue's state of the job at the end; `gone` when no record is left";
        DistinctJobs = "distinct-jobs", "how many different job ids carried the operation";
        RefusedAcks = "refused-acks", "executions whose finish the queue refused";
        Overlap = "overlap", "most handlers of the operation open at once";
        FailedReason = "failed-reason", "the failure's text in the job's record at the end";
        RefusedAdds = "refused-adds", "texts with which the queue refused to add the job";
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One count or range.
    Count,
    /// Always a list of counts or ranges.
    CountList,
    /// One count or range if all jobs agree, else a list.
    CountOrList,
    /// One word if all jobs agree, else a list.
    WordOrList,
    /// One text if all jobs agree, else a list.
    TextOrList,
    /// Always a list of texts.
    TextList,
}

impl Column {
    /// What the column holds.
    pub fn kind(self) -> Kind {
        match self {
            Self::AttemptsMade => Kind::CountList,
            Self::FinalAttemptsMade | Self::FinalAttemptsStarted | Self::FinalStalled => Kind::CountOrList,
            Self::State => Kind::WordOrList,
            Self::FailedReason => Kind::TextOrList,
            Self::RefusedAdds => Kind::TextList,
            _ => Kind::Count,
        }
    }
}

/// The job states that the `state` column may name.
pub const STATES: &[&str] =
    &["completed", "failed", "active", "waiting", "delayed", "prioritized", "waiting-children", "unknown", "gone"];

/// The value of a cell, expected or observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Count(u64),
    /// `"1..2"` (both ends belong to it) or `">=1"`. Only ever expected.
    Range(u64, Option<u64>),
    /// A word or text.
    Text(String),
    /// In order.
    List(Vec<Value>),
    /// Nothing was there to observe. Only ever observed; equals nothing.
    Missing,
}

impl Value {
    /// Whether an observed value satisfies this expected one.
    pub fn holds(&self, observed: &Self) -> bool {
        match (self, observed) {
            (Self::Missing, _) | (_, Self::Missing) => false,
            (Self::Range(low, high), Self::Count(seen)) => seen >= low && high.is_none_or(|high| *seen <= high),
            (Self::List(wanted), Self::List(seen)) => {
                wanted.len() == seen.len() && wanted.iter().zip(seen).all(|(wanted, seen)| wanted.holds(seen))
            }
            (wanted, seen) => wanted == seen,
        }
    }

    /// Reads `1..2` and `>=1`; `None` if the text is neither.
    pub fn parse_range(text: &str) -> Option<Self> {
        if let Some(low) = text.strip_prefix(">=") {
            return Some(Self::Range(low.trim().parse().ok()?, None));
        }
        let (low, high) = text.split_once("..")?;
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        (low <= high).then_some(Self::Range(low, Some(high)))
    }

    /// One value if all agree, else the list; `Missing` for none.
    pub fn agreed(values: Vec<Self>) -> Self {
        match values.split_first() {
            None => Self::Missing,
            Some((first, rest)) if rest.iter().all(|value| value == first) => first.clone(),
            Some(_) => Self::List(values),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Range(low, Some(high)) => write!(f, "{low}..{high}"),
            Self::Range(low, None) => write!(f, ">={low}"),
            Self::Text(text) => f.write_str(text),
            Self::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { " " })?;
                }
                Ok(())
            }
            Self::Missing => f.write_str("-"),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::List(values) => values.serialize(serializer),
            Self::Missing => serializer.serialize_none(),
            Self::Range(..) | Self::Text(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Plain {
            Count(u64),
            Text(String),
            List(Vec<Value>),
            Missing(()),
        }
        Ok(match Plain::deserialize(deserializer)? {
            Plain::Count(count) => Self::Count(count),
            Plain::Text(text) => Self::parse_range(&text).unwrap_or(Self::Text(text)),
            Plain::List(values) => Self::List(values),
            Plain::Missing(()) => Self::Missing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_for_what_it_says_and_for_nothing_else() {
        let list = |counts: &[u64]| Value::List(counts.iter().map(|count| Value::Count(*count)).collect());
        let table = [
            (Value::Count(2), Value::Count(2), true),
            (Value::Count(2), Value::Count(1), false),
            (Value::Range(1, Some(2)), Value::Count(2), true),
            (Value::Range(1, Some(2)), Value::Count(3), false),
            (Value::Range(1, None), Value::Count(99), true),
            (list(&[0, 0]), list(&[0, 0]), true),
            (list(&[0, 0]), list(&[0]), false),
            (list(&[0, 0]), list(&[0, 1]), false),
            (Value::Count(0), Value::Missing, false),
            (Value::Missing, Value::Missing, false),
            (Value::Text("completed".into()), Value::Text("completed".into()), true),
            (Value::Text("completed".into()), Value::List(vec![]), false),
        ];
        for (expected, observed, holds) in table {
            assert_eq!(expected.holds(&observed), holds, "{expected:?} against {observed:?}");
        }
    }

    #[test]
    fn a_value_survives_json() {
        for value in [
            Value::Count(2),
            Value::Range(1, Some(2)),
            Value::Range(1, None),
            Value::Text("completed".into()),
            Value::List(vec![Value::Count(0), Value::Range(1, None)]),
            Value::Missing,
        ] {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn a_backward_range_is_no_range() {
        assert_eq!(Value::parse_range("3..1"), None);
        assert_eq!(Value::parse_range("1..2"), Some(Value::Range(1, Some(2))));
        assert_eq!(Value::parse_range("completed"), None);
    }
}
