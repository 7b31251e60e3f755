//! One cell that is run and judged, and its id.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fault::words::{shown, suggest};
use crate::fault::{Engine, Protection};
use crate::scenario::model::Script;
use crate::scenario::{Columns, Scenario};

/// Scenario, variant, engine and protection: `stall-limit/limit-0/bullmq-rs/none`, with `-` for no variant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseId {
    /// The scenario's name.
    pub scenario: String,
    /// The variant's name.
    pub variant: Option<String>,
    /// The engine.
    pub engine: Engine,
    /// The protection.
    pub protection: Protection,
}

/// A text that is no case id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no case id: {reason}", shown(.text))]
pub struct CaseIdError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// One cell that is run and judged.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it is called.
    pub id: CaseId,
    /// What is run.
    pub script: Script,
    /// What each operation is compared with. An operation without a row is absent.
    pub expect: BTreeMap<String, Columns>,
    /// The line of the row in the scenario file; the first of them if operations have rows of their own.
    pub expect_line: usize,
    /// The scenario it comes from.
    pub scenario: Arc<Scenario>,
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variant = self.variant.as_deref().unwrap_or("-");
        f.pad(&format!("{}/{variant}/{}/{}", self.scenario, self.engine, self.protection))
    }
}

impl FromStr for CaseId {
    type Err = CaseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |reason: String| CaseIdError { text: text.to_owned(), reason };
        let parts: Vec<&str> = text.split('/').collect();
        let [scenario, variant, engine, protection] = parts[..] else {
            return Err(wrong("it has four parts, scenario/variant/engine/protection".to_owned()));
        };
        if scenario.is_empty() || variant.is_empty() {
            return Err(wrong("a part is empty; `-` stands for no variant".to_owned()));
        }
        if scenario.starts_with('.') || variant.starts_with('.') || text.contains(['\\', '\0']) {
            // It becomes a path.
            return Err(wrong("no name begins with a `.`".to_owned()));
        }
        let engines = Engine::ALL.iter().map(|engine| engine.word());
        let protections = Protection::ALL.iter().map(|protection| protection.word());
        Ok(Self {
            scenario: scenario.to_owned(),
            variant: (variant != "-").then(|| variant.to_owned()),
            engine: Engine::from_word(engine)
                .ok_or_else(|| wrong(format!("unknown engine `{}`, {}", shown(engine), suggest(engine, engines))))?,
            protection: Protection::from_word(protection).ok_or_else(|| {
                wrong(format!("unknown protection `{}`, {}", shown(protection), suggest(protection, protections)))
            })?,
        })
    }
}

impl Serialize for CaseId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CaseId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_id_reads_what_it_writes() {
        for text in ["stall-kill/-/bullmq-rs/none", "stall-limit/limit-0/bullmq-rs/operation-key"] {
            let id: CaseId = text.parse().unwrap();
            assert_eq!(id.to_string(), text);
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<CaseId>(&json).unwrap(), id);
        }
    }

    #[test]
    fn what_is_no_case_id_says_why() {
        let table = [
            ("stall-kill", "four parts"),
            ("a/-/bullmq-rs/none/x", "four parts"),
            ("/-/bullmq-rs/none", "empty"),
            ("a//bullmq-rs/none", "empty"),
            ("../../bullmq-rs/none", "begins with"),
            ("a/../bullmq-rs/none", "begins with"),
            ("a/-/bulmq-rs/none", "did you mean `bullmq-rs`?"),
            ("a/-/bullmq-rs/nome", "did you mean `none`?"),
        ];
        for (text, reason) in table {
            let error = text.parse::<CaseId>().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
