//! Error helpers that the checks of all machines share.

use odonata_error::{Error, ErrorKind, path};

/// The terms that a kind of machine uses for its routers with global ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlobalNames {
    /// The routers, in plural.
    pub routers: &'static str,
    /// The parameter for the number of global ports of each.
    pub parameter: &'static str,
}

/// The error for a machine that is too large: ids have 32 bits and ports have 16 bits.
pub(crate) fn too_large(what: &'static str, found: u64, most: u64) -> Error {
    ErrorKind::MachineTooLarge { what, found, most }.at(path!["topology"])
}

/// Refuses sizes above the given limits. The counts are products that may exceed 64 bits.
pub(crate) fn bounded(sizes: &[(&'static str, u128, u64)]) -> Result<(), Error> {
    for &(what, found, most) in sizes {
        let found = u64::try_from(found).unwrap_or(u64::MAX);
        if found > most {
            return Err(too_large(what, found, most));
        }
    }
    Ok(())
}
