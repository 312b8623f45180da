//! Checks of the parameters of motifs.

use odonata_error::{Error, ErrorKind, Path, path};

use crate::part::LABEL_BITS;

/// Largest message, in bytes.
const MAX_BYTES: u64 = 1 << 40;

/// Checks that the points of a grid are the ranks.
///
/// # Errors
/// If an extent is 0, or the product differs from `ranks`.
pub fn grid(field: &'static str, extents: &[u32], ranks: u32) -> Result<(), Error> {
    let points: u128 = extents.iter().map(|&extent| u128::from(extent)).product();
    if points == u128::from(ranks) && ranks > 0 {
        return Ok(());
    }
    let kind = ErrorKind::GridOfOtherSize { grid: extents.to_vec(), points, ranks: ranks.into() };
    Err(kind.at(path![field]))
}

/// Checks that a count is at least 1.
///
/// # Errors
/// If `number` is 0.
pub fn some(field: &'static str, number: u32) -> Result<(), Error> {
    if number == 0 { Err(ErrorKind::Zero {}.at(path![field])) } else { Ok(()) }
}

/// Checks the size of a message.
///
/// # Errors
/// If it has more than 2^40 bytes.
pub fn bytes(field: Path, bytes: u64) -> Result<(), Error> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(ErrorKind::OutOfRange { found: bytes, least: 0, most: MAX_BYTES }.at(field))
}

/// Checks that labels can tell the messages from one rank to another apart.
///
/// # Errors
/// If there are more than 2^[`LABEL_BITS`].
pub fn labels(field: &'static str, messages: u128) -> Result<(), Error> {
    if messages <= 1 << LABEL_BITS {
        return Ok(());
    }
    Err(ErrorKind::TooManyMessages { found: messages, most: 1 << LABEL_BITS }.at(path![field]))
}
