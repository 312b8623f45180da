//! Enums whose names stand in a specification, with a list of all of them.

/// Declares an enum of names in a specification. What a name stands for is said once, in its doc comment: it is what people are
/// shown too.
#[macro_export]
macro_rules! choices {
    (
        $(#[$about:meta])*
        pub enum $Name:ident { $( $(#[doc = $doc:literal])+ $Variant:ident = $name:literal, )+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $Name {
            $( $(#[doc = $doc])+ #[serde(rename = $name)] $Variant, )+
        }

        impl $Name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// The name of each, and what it stands for.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$(($name, concat!($($doc),+))),+];
        }
    };
}
