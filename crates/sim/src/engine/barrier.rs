//! Threads that wait for each other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many times a thread looks before it lets others run. (A window takes some hundred microseconds, and its end is the
/// same for all threads but for some percent.)
const LOOKS: u32 = 256;
/// How long a thread lets others run and looks again before it sleeps. What it waits for takes microseconds on idle
/// processors, and some milliseconds if another process has the processor of the thread that it waits for.
const PATIENCE: Duration = Duration::from_micros(50);

/// A point at which all threads wait until the last one comes: first with open eyes, then asleep.
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    turn: AtomicUsize,
    broken: AtomicBool,
    /// Threads that sleep, or are about to.
    asleep: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

/// A thread has panicked, so the others would wait in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl Barrier {
    /// A barrier for so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits for the other threads. What a thread has written before is visible to all after.
    ///
    /// # Errors
    /// [`Broken`] if a thread will not come.
    pub fn wait(&self) -> Result<(), Broken> {
        let turn = self.turn.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // In one order with `asleep` and with the look of a thread before it sleeps: one of the two sees the other.
            self.turn.store(turn.wrapping_add(1), Ordering::SeqCst);
            self.wake();
            return Ok(());
        }
        for _ in 0..LOOKS {
            if self.turn.load(Ordering::Acquire) != turn {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        let since = Instant::now();
        while self.turn.load(Ordering::Acquire) == turn {
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
            }
            if since.elapsed() > PATIENCE {
                return self.sleep(turn);
            }
            thread::yield_now();
        }
        Ok(())
    }

    /// Sleeps until the last thread of a turn has come.
    #[cold]
    fn sleep(&self, turn: usize) -> Result<(), Broken> {
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while self.turn.load(Ordering::SeqCst) == turn && !self.broken.load(Ordering::SeqCst) {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        if self.turn.load(Ordering::SeqCst) == turn { Err(Broken) } else { Ok(()) }
    }

    /// Wakes the threads that sleep.
    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            // Who is about to sleep holds the lock until it does.
            drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
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
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.wake();
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

    /// Time on a processor of the calling thread, in nanoseconds.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn processor_ns() -> u64 {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
        told.split(' ').next().and_then(|ns| ns.parse().ok()).expect("the first number is the time")
    }

    /// Catches a thread that spins as long as another one has no processor.
    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn a_thread_that_waits_long_sleeps() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let before = processor_ns();
                barrier.wait().unwrap();
                processor_ns() - before
            });
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(300));
                barrier.wait().unwrap();
            });
            let used = waits.join().unwrap();
            assert!(used < 30_000_000, "{used} ns of 300 ms on the processor");
        });
    }

    #[test]
    fn a_thread_that_panics_lets_the_others_go() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.wait());
            let panics = scope.spawn(|| {
                let _guard = barrier.guard();
                thread::sleep(Duration::from_millis(if cfg!(miri) { 0 } else { 20 })); // until the other one sleeps
                panic!("on purpose");
            });
            assert!(panics.join().is_err());
            assert_eq!(waits.join().unwrap(), Err(Broken));
        });
    }
}
