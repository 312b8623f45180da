//! Threads that wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// How many times a thread looks before it sleeps: at most, and at least. A look takes some ten nanoseconds. (Assumed: a
/// thread that sleeps and is woken loses some ten microseconds, so looking for about as long costs at most twice what is
/// best.)
const MOST_LOOKS: u32 = 1024;
const LEAST_LOOKS: u32 = 16;

/// A point at which all threads wait until the last one comes.
///
/// A window takes some hundred microseconds, and its end is the same for all threads but for some percent. So a thread
/// looks for some microseconds, and then sleeps until the last one wakes it: on a host with other work, that one may have
/// to wait for a processor. Where looking was in vain, a thread looks for half as long the next time.
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    turn: AtomicUsize,
    broken: AtomicBool,
    /// How long threads look.
    looks: AtomicU32,
    /// Threads that sleep, or are about to.
    sleeping: AtomicUsize,
    mutex: Mutex<()>,
    woken: Condvar,
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
            looks: AtomicU32::new(MOST_LOOKS),
            sleeping: AtomicUsize::new(0),
            mutex: Mutex::new(()),
            woken: Condvar::new(),
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
            // Sequentially consistent, as where a thread falls asleep: either this thread sees that one sleeps, or that one
            // sees the turn.
            self.turn.store(turn.wrapping_add(1), Ordering::SeqCst);
            if self.sleeping.load(Ordering::SeqCst) > 0 {
                self.wake();
            }
            return Ok(());
        }
        let looks = self.looks.load(Ordering::Relaxed);
        for _ in 0..looks {
            if self.turn.load(Ordering::Acquire) != turn {
                if looks < MOST_LOOKS {
                    self.looks.store((2 * looks).min(MOST_LOOKS), Ordering::Relaxed);
                }
                return Ok(());
            }
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
            }
            std::hint::spin_loop();
        }
        self.looks.store((looks / 2).max(LEAST_LOOKS), Ordering::Relaxed);
        self.sleep(turn)
    }

    /// Sleeps until a turn is over.
    #[cold]
    fn sleep(&self, turn: usize) -> Result<(), Broken> {
        let mut locked = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        let result = loop {
            if self.turn.load(Ordering::SeqCst) != turn {
                break Ok(());
            }
            if self.broken.load(Ordering::SeqCst) {
                break Err(Broken);
            }
            locked = self.woken.wait(locked).unwrap_or_else(PoisonError::into_inner);
        };
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
        drop(locked);
        result
    }

    /// Wakes all threads that sleep. Whoever is about to sleep has the lock until it does.
    #[cold]
    fn wake(&self) {
        drop(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_all();
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
    use std::time::Duration;

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
        for late in [Duration::ZERO, Duration::from_millis(20)] {
            let barrier = Barrier::new(2);
            thread::scope(|scope| {
                let waits = scope.spawn(|| barrier.wait());
                let panics = scope.spawn(|| {
                    let _guard = barrier.guard();
                    thread::sleep(late); // then the other one sleeps
                    panic!("on purpose");
                });
                assert!(panics.join().is_err());
                assert_eq!(waits.join().unwrap(), Err(Broken));
            });
        }
    }

    /// Nanoseconds of processor time of this thread, and how often it gave its processor away: by sleeping, and otherwise.
    #[cfg(target_os = "linux")]
    fn costs() -> (u64, u64, u64) {
        let read = |file| std::fs::read_to_string(file).expect("Linux has it");
        let run = read("/proc/thread-self/schedstat");
        let status = read("/proc/thread-self/status");
        let count = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key)).expect("the kernel counts it");
            line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
        };
        let ns = run.split(' ').next().expect("a number").parse().expect("a number");
        (ns, count("voluntary_ctxt_switches"), count("nonvoluntary_ctxt_switches"))
    }

    /// Catches a thread that works, or asks for its processor again and again, while the other one has none: on a host
    /// with other work that is some ten milliseconds at a time.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn a_thread_sleeps_while_another_one_does_not_come() {
        const ROUNDS: u64 = 20;
        let barrier = Barrier::new(2);
        let (ns, slept, others) = thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    thread::sleep(Duration::from_millis(10)); // as if it had no processor
                    barrier.wait().expect("nothing panics");
                }
            });
            let before = costs();
            (0..ROUNDS).for_each(|_| barrier.wait().expect("nothing panics"));
            let after = costs();
            (after.0 - before.0, after.1 - before.1, after.2 - before.2)
        });
        assert!(ns < ROUNDS * 1_000_000, "{ns} ns of processor time in {ROUNDS} waits of 10 ms");
        assert!((ROUNDS / 2..10 * ROUNDS).contains(&slept), "it slept {slept} times");
        assert!(others < 10 * ROUNDS, "it gave its processor away {others} times");
    }
}
