//! Enums whose names appear in a specification, with a list of all variants.

/// Declares an enum of names in a specification. The doc comment of a variant is its only description: commands show it
/// to users as well.
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
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// The name and description of each.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$(($name, concat!($($doc),+))),+];
        }
    };
}
