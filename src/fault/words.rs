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
