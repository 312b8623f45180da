//! What the checks of a machine share.

use odonata_error::{Error, ErrorKind, path};

/// The words of a kind of machine for its routers with global ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlobalNames {
    /// The routers, in the plural.
    pub routers: &'static str,
    /// The parameter that says how many global ports each has.
    pub parameter: &'static str,
}

/// A machine with too much of something: ids are 32 bits and ports are 16 bits.
pub(crate) fn too_large(what: &'static str, found: u64, most: u64) -> Error {
    ErrorKind::MachineTooLarge { what, found, most }.at(path!["topology"])
}

/// Refuses what is larger than can be numbered or held; the counts are products that may exceed 64 bits.
pub(crate) fn bounded(sizes: &[(&'static str, u128, u64)]) -> Result<(), Error> {
    for &(what, found, most) in sizes {
        let found = u64::try_from(found).unwrap_or(u64::MAX);
        if found > most {
            return Err(too_large(what, found, most));
        }
    }
    Ok(())
}
