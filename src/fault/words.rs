//! A closed set of words: an enum whose every member is one row of word and explanation.

/// Declares an enum with its table of words. A new member is one row; reading, writing, listing and suggesting follow.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($member:ident = $word:literal, $about:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(#[doc = $about] #[serde(rename = $word)] $member,)+
        }

        impl $name {
            /// Every member, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$member),+];

            /// The word used in files and output.
            pub fn word(self) -> &'static str {
                match self { $(Self::$member => $word),+ }
            }

            /// The line that `lab list` shows.
            pub fn about(self) -> &'static str {
                match self { $(Self::$member => $about),+ }
            }

            /// Reads the word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|member| member.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}
pub(crate) use words;

/// The candidate that a misspelled word most likely stood for; `None` if all are far from it.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= slips_allowed(length))
        .map(|candidate| (strsim::osa_distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(slips, _)| *slips <= slips_allowed(length))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

/// A third of the word may be wrong, and at least one letter.
fn slips_allowed(length: usize) -> usize {
    (length / 3).max(1)
}

/// Help that names the nearest candidate, or all of them if none is near.
pub(crate) fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, candidates.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", listed(candidates)),
    }
}

/// Words in backticks, separated by commas.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A user's text as it may stand inside a message: short, in one line, no control characters.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut out = String::new();
    for (index, char) in text.chars().enumerate() {
        if index == LONGEST {
            out.push('…');
            break;
        }
        match hidden(char) {
            true => out.extend(char.escape_default()),
            false => out.push(char),
        }
    }
    out
}

/// Characters that a terminal does not show as themselves: controls, and those that turn or hide text.
pub(crate) fn hidden(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_near() {
        let words = ["worker", "fault", "job"];
        assert_eq!(nearest("wrker", words), Some("worker"));
        assert_eq!(nearest("Worker", words), Some("worker"));
        assert_eq!(nearest("jbo", words), Some("job"));
        assert_eq!(nearest("expectation", words), None);
        assert_eq!(suggest("zzzz", words), "known: `worker`, `fault`, `job`");
    }

    #[test]
    fn shown_text_has_no_control_characters_and_an_end() {
        assert_eq!(shown("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(shown(&"x".repeat(100)).chars().count(), 61);
    }
}
