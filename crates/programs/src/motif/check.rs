//! What motifs ask of the numbers that they are given.

use crate::ProgramError;
use crate::part::LABEL_BITS;

/// Largest message, in bytes.
const MAX_BYTES: u64 = 1 << 40;

/// The points of a grid are the ranks.
///
/// # Errors
/// If an extent is 0, or the product differs from `ranks`.
pub fn grid(field: &str, extents: &[u32], ranks: u32) -> Result<(), ProgramError> {
    let points: u128 = extents.iter().map(|&extent| u128::from(extent)).product();
    if points == u128::from(ranks) && ranks > 0 {
        return Ok(());
    }
    let found = extents.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ");
    Err(ProgramError::invalid(field, format!("{found} are {points}, but there are {ranks} ranks")))
}

/// There is at least one of something.
///
/// # Errors
/// If `number` is 0.
pub fn some(field: &str, number: u32) -> Result<(), ProgramError> {
    if number == 0 { Err(ProgramError::invalid(field, "0 is not at least 1")) } else { Ok(()) }
}

/// A message can be so large.
///
/// # Errors
/// If it has more than 2^40 bytes.
pub fn bytes(field: &str, bytes: u64) -> Result<(), ProgramError> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(ProgramError::invalid(field, format!("{bytes} bytes are more than 2^40 ({MAX_BYTES})")))
}

/// The messages from a rank to another can be told apart.
///
/// # Errors
/// If there are more than 2^[`LABEL_BITS`].
pub fn labels(field: &str, messages: u128) -> Result<(), ProgramError> {
    if messages <= 1 << LABEL_BITS {
        return Ok(());
    }
    let problem = format!("{messages} messages from a rank to another are more than 2^{LABEL_BITS}");
    Err(ProgramError::invalid(field, problem))
}
