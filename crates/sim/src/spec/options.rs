//! Options that describe themselves: the name, meaning, range and names of the values of a key stand where its type
//! stands, and nowhere else.
//!
//! Checks of ranges, the command line, the documentation, the limits that Python knows and the generator of the tests
//! are made from these lists.

use std::collections::BTreeMap;

use odonata_error::{Error, Path};
use odonata_topology::Bandwidth;

use super::check::range;

/// What is known of an option.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Its name in a specification, which ends in its unit.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// What it may be.
    pub values: Values,
    /// Whether it may be absent.
    pub optional: bool,
    /// Its default as a document writes it, if it is the same on all machines.
    pub default: Option<&'static str>,
}

impl OptionInfo {
    /// The same with a default.
    #[must_use]
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }
}

/// What an option may be.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// One of these names, each with its description.
    Names(&'static [(&'static str, &'static str)]),
    /// A whole number.
    Number {
        /// The least.
        least: u64,
        /// The greatest.
        most: u64,
    },
    /// Anything that its type holds: a bandwidth, a table, a list.
    Other,
}

/// What the type of an option says of its values.
pub trait Described {
    /// The names of its values, if they have names.
    const VALUES: Values = Values::Other;
    /// Whether it may be absent.
    const OPTIONAL: bool = false;
}

/// The type of an option that is a whole number.
pub trait Numeric {
    /// Whether it may be absent.
    const OPTIONAL: bool = false;

    /// The number; none if the option is absent.
    fn number(&self) -> Option<u64>;
}

macro_rules! numeric {
    ($($type:ty),+) => {
        $(
            impl Numeric for $type {
                fn number(&self) -> Option<u64> {
                    Some(u64::from(*self))
                }
            }

            impl Described for $type {}
        )+
    };
}
numeric!(u8, u16, u32, u64);

impl<T: Numeric> Numeric for Option<T> {
    const OPTIONAL: bool = true;

    fn number(&self) -> Option<u64> {
        self.as_ref().and_then(Numeric::number)
    }
}

impl<T: Described> Described for Option<T> {
    const VALUES: Values = T::VALUES;
    const OPTIONAL: bool = true;
}

impl<T: Described> Described for Vec<T> {
    const VALUES: Values = T::VALUES;
    const OPTIONAL: bool = true;
}

impl<K, T> Described for BTreeMap<K, T> {}
impl Described for Bandwidth {}
impl Described for String {}
impl Described for bool {
    const OPTIONAL: bool = true;
}

/// Refuses a number that is out of its range. `at` is the path of its table.
pub(crate) fn check_number(
    at: &Path,
    name: &'static str,
    value: &impl Numeric,
    least: u64,
    most: u64,
) -> Result<(), Error> {
    value.number().map_or(Ok(()), |found| range(&at.join(name), found, least, most))
}

/// The entry of an option in a list. A number has its range.
macro_rules! option {
    ($docs:expr, $field:ident, $type:ty) => {
        $crate::spec::OptionInfo {
            name: stringify!($field),
            about: $docs,
            values: <$type as $crate::spec::options::Described>::VALUES,
            optional: <$type as $crate::spec::options::Described>::OPTIONAL,
            default: None,
        }
    };
    ($docs:expr, $field:ident, $type:ty, $least:literal, $most:expr) => {
        $crate::spec::OptionInfo {
            name: stringify!($field),
            about: $docs,
            values: $crate::spec::Values::Number { least: $least, most: $most as u64 },
            optional: <$type as $crate::spec::options::Numeric>::OPTIONAL,
            default: None,
        }
    };
}

/// Checks the range of an option, if it has one.
macro_rules! check_option {
    ($at:expr, $field:ident, $value:expr) => {
        let _ = $value;
    };
    ($at:expr, $field:ident, $value:expr, $least:literal, $most:expr) => {
        $crate::spec::options::check_number($at, stringify!($field), $value, $least, $most as u64)?;
    };
}

/// Declares a table of a specification whose keys describe themselves.
macro_rules! table {
    (
        $(#[$about:meta])*
        pub struct $Name:ident {
            $( $(#[doc = $doc:literal])+ $(#[serde($($serde:tt)*)])? $field:ident: $type:ty $(= $least:literal..=$most:expr)?, )+
        }
    ) => {
        $(#[$about])*
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $Name {
            $( $(#[doc = $doc])+ $(#[serde($($serde)*)])? pub $field: $type, )+
        }

        impl $Name {
            /// Its keys.
            pub const OPTIONS: &'static [$crate::spec::OptionInfo] =
                &[$( $crate::spec::options::option!(concat!($($doc),+), $field, $type $(, $least, $most)?) ),+];

            /// Refuses numbers out of their ranges. `at` is the path of the table.
            ///
            /// # Errors
            /// `OutOfRange`, at the key.
            pub fn check_ranges(&self, at: &odonata_error::Path) -> Result<(), odonata_error::Error> {
                $( $crate::spec::options::check_option!(at, $field, &self.$field $(, $least, $most)?); )+
                let _ = at;
                Ok(())
            }
        }

        impl $crate::spec::options::Described for $Name {}
    };
}

pub(crate) use {check_option, option, table};
