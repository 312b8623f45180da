//! The window of a NIC of Aries: Aries packets without a response (De Sensi 2019, section 2.1; docs/model.md, section 3).

use std::collections::VecDeque;

use super::{Answer, Answers, Endpoint};
use crate::observe::Held;

/// The window of one NIC.
#[derive(Clone, Debug, Default)]
struct NicWindow {
    /// Aries packets without a response, as far as the NIC has looked.
    outstanding: u32,
    /// When responses come that the NIC has not looked at, and how many Aries packets they answer.
    returned: VecDeque<(u64, u32)>,
}

/// NICs that answer each packet, and whose Aries packets without a response are limited.
pub struct Aries {
    answers: Answers,
    /// Most Aries packets of a NIC without a response.
    window: u32,
    nics: Vec<NicWindow>,
}

impl Aries {
    /// So many NICs.
    #[must_use]
    pub fn new(answers: Answers, window: u32, nics: usize) -> Self {
        Self { answers, window, nics: vec![NicWindow::default(); nics] }
    }
}

impl Endpoint for Aries {
    const ANSWERS: bool = true;
    const SELECTIVE: bool = false;
    const NUMBERED: bool = true;

    fn answers(&self) -> Option<&Answers> {
        Some(&self.answers)
    }

    #[inline(always)]
    fn answers_mut(&mut self) -> &mut Answers {
        &mut self.answers
    }

    #[inline]
    fn admits(&mut self, nic: u32, _: u32, bytes: u32, now: u64) -> bool {
        let (burst, of) = (self.answers.burst(bytes), &mut self.nics[nic as usize]);
        if of.outstanding + burst <= self.window {
            return true;
        }
        while let Some(&(at, answered)) = of.returned.front()
            && at <= now
        {
            of.outstanding -= answered;
            of.returned.pop_front();
        }
        of.outstanding + burst <= self.window
    }

    #[inline]
    fn sent(&mut self, nic: u32, _: u32, (bytes, _): (u32, bool), _: u64) -> bool {
        let of = &mut self.nics[nic as usize];
        of.outstanding += self.answers.burst(bytes);
        debug_assert!(of.outstanding <= self.window, "the window has room");
        true
    }

    #[inline]
    fn answered(&mut self, nic: u32, answer: Answer) {
        let burst = self.answers.burst(answer.of_packet);
        self.nics[nic as usize].returned.push_back((answer.at, burst));
    }

    #[inline]
    fn next_look(&self, nic: u32) -> Option<u64> {
        self.nics[nic as usize].returned.front().map(|&(at, _)| at)
    }

    #[inline]
    fn held(&self, nic: u32, _: u32, now: u64) -> Held {
        Held::own(self.answers.nics[nic as usize].held(now))
    }

    fn overfull(&self) -> u64 {
        self.nics.iter().filter(|nic| nic.outstanding > self.window).count() as u64
    }

    fn absorb(&mut self, nic: u32, other: &mut Self) {
        self.answers.absorb(nic, &mut other.answers);
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }
}
