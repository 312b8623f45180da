//! Threads that wait for each other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// How many times a thread looks before it lets others run. (A window takes some hundred microseconds, and its end is the
/// same for all threads but for some percent.)
const LOOKS: u32 = 256;

/// A point at which all threads wait until the last one comes. They do not sleep: what they wait for takes microseconds.
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    turn: AtomicUsize,
    broken: AtomicBool,
}

/// A thread has panicked, so the others would wait in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl Barrier {
    /// A barrier for so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { threads, arrived: AtomicUsize::new(0), turn: AtomicUsize::new(0), broken: AtomicBool::new(false) }
    }

    /// Waits for the other threads. What a thread has written before is visible to all after.
    ///
    /// # Errors
    /// [`Broken`] if a thread will not come.
    pub fn wait(&self) -> Result<(), Broken> {
        let turn = self.turn.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.turn.store(turn.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut looks = 0_u32;
        while self.turn.load(Ordering::Acquire) == turn {
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
            }
            looks = looks.saturating_add(1);
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// A guard that lets all threads go if its thread panics.
    #[must_use]
    pub fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Barrier::guard`].
pub struct Guard<'b>(&'b Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_goes_on_before_the_last_one_comes() {
        let (barrier, sum) = (Barrier::new(3), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..if cfg!(miri) { 5 } else { 2_000 } {
                        sum.fetch_add(1, Ordering::Relaxed);
                        barrier.wait().unwrap();
                        assert_eq!(sum.load(Ordering::Relaxed), 3 * (round + 1));
                        barrier.wait().unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn a_thread_that_panics_lets_the_others_go() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.wait());
            let panics = scope.spawn(|| {
                let _guard = barrier.guard();
                panic!("on purpose");
            });
            assert!(panics.join().is_err());
            assert_eq!(waits.join().unwrap(), Err(Broken));
        });
    }
}
