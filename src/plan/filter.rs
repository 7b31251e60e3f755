//! What a command line asks for: engines and protections.

use std::collections::BTreeMap;

use crate::fault::words::{shown, suggest};
use crate::fault::{Engine, Protection};

/// Which cells are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The engines, in the order in which they run.
    pub engines: Vec<Engine>,
    /// The protections; empty for those that each table names.
    pub protections: Vec<Protection>,
    /// The versions of the engines, as far as known: rows with a range of versions hold only for a known version.
    pub versions: BTreeMap<Engine, semver::Version>,
}

/// A word that names no engine or protection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{}`\nhelp: {help}", shown(.word))]
pub struct UnknownWord {
    /// What the word should have named.
    pub what: &'static str,
    /// The word.
    pub word: String,
    /// The nearest word, or all.
    pub help: String,
}

impl Default for Filter {
    fn default() -> Self {
        Self { engines: vec![Engine::BullmqRs], protections: Vec::new(), versions: BTreeMap::new() }
    }
}

impl Filter {
    /// Reads the words of `--engine` and `--protection`. Without an engine the default one is meant.
    pub fn from_words(engines: &[String], protections: &[String]) -> Result<Self, UnknownWord> {
        let mut filter = Self::default();
        if !engines.is_empty() {
            filter.engines = read("engine", engines, Engine::ALL, Engine::word)?;
        }
        filter.protections = read("protection", protections, Protection::ALL, Protection::word)?;
        Ok(filter)
    }

    /// Whether the protection is wanted.
    pub fn lets_through(&self, protection: Protection) -> bool {
        self.protections.is_empty() || self.protections.contains(&protection)
    }
}

/// The members that the words name, each once, in the order of the table.
fn read<T: Copy>(
    what: &'static str,
    words: &[String],
    all: &[T],
    word_of: fn(T) -> &'static str,
) -> Result<Vec<T>, UnknownWord> {
    let known = || all.iter().map(|member| word_of(*member));
    if let Some(word) = words.iter().find(|word| !known().any(|known| known == word.as_str())) {
        let help = suggest(word, known().collect::<Vec<_>>());
        return Err(UnknownWord { what, word: word.clone(), help });
    }
    Ok(all.iter().copied().filter(|member| words.iter().any(|word| word == word_of(*member))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_name_members_in_the_order_of_the_table() {
        let filter = Filter::from_words(&[], &words(&["job-id", "none", "job-id"])).unwrap();
        assert_eq!(filter.engines, [Engine::BullmqRs]);
        assert_eq!(filter.protections, [Protection::None, Protection::JobId]);
        assert!(!filter.lets_through(Protection::OperationKey));
    }

    #[test]
    fn an_unknown_word_names_the_nearest() {
        let error = Filter::from_words(&[], &words(&["operation-kye"])).unwrap_err().to_string();
        assert_eq!(error, "unknown protection `operation-kye`\nhelp: did you mean `operation-key`?");
        let error = Filter::from_words(&words(&["sidekiq"]), &[]).unwrap_err().to_string();
        assert_eq!(error, "unknown engine `sidekiq`\nhelp: known: `bullmq-rs`");
    }
}
