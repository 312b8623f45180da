//! A NIC that sends whatever its first router has room for.

use super::{Answer, Answers, Endpoint};
use crate::observe::Held;

/// NICs without responses and without state, whose packets may be numbered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain<const NUMBERED: bool>;

/// The NICs of most runs.
pub type Simple = Plain<false>;

/// The same if packets are numbered.
pub type Numbered = Plain<true>;

impl<const N: bool> Endpoint for Plain<N> {
    const ANSWERS: bool = false;
    const SELECTIVE: bool = false;
    const NUMBERED: bool = N;

    fn answers(&self) -> Option<&Answers> {
        None
    }

    fn answers_mut(&mut self) -> &mut Answers {
        unreachable!("packets are not answered")
    }

    #[inline(always)]
    fn admits(&mut self, _: u32, _: u32, _: u32, _: u64) -> bool {
        true
    }

    #[inline(always)]
    fn sent(&mut self, _: u32, _: u32, _: (u32, bool), _: u64) -> bool {
        false
    }

    fn answered(&mut self, _: u32, _: Answer) {}

    fn next_look(&self, _: u32) -> Option<u64> {
        None
    }

    #[inline(always)]
    fn held(&self, _: u32, _: u32, _: u64) -> Held {
        Held::default()
    }

    fn overfull(&self) -> u64 {
        0
    }

    fn absorb(&mut self, _: u32, _: &mut Self) {}
}
