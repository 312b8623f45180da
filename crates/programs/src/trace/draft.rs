//! What a reader has found: the operations of each rank, with their places in the text.

use super::graph::{Edge, Graph, Step, Trace};
use super::matching;
use crate::ProgramError;

/// The operations of a rank.
#[derive(Default)]
pub struct Draft {
    /// In the order of the text; labels are `tag << 32`.
    pub steps: Vec<Step>,
    /// Byte of the text at which each begins.
    pub places: Vec<u32>,
    pub edges: Vec<Edge>,
}

/// Refuses a text whose places do not fit into [`Draft::places`], and drops a byte order mark.
pub fn checked(text: &str) -> Result<&str, ProgramError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ProgramError::invalid(
            "goal",
            format!("a text of {} bytes; 4 GiB at most can be read", text.len()),
        ));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The trace of these ranks; all peers are among them.
///
/// # Errors
/// If a send has no receive, or a receive no send.
pub fn finish(text: &str, mut drafts: Vec<Draft>) -> Result<Trace, ProgramError> {
    matching::number_and_check(text, &mut drafts)?;
    Ok(Trace { graphs: drafts.into_iter().map(|draft| Graph::new(draft.steps, draft.edges)).collect() })
}
