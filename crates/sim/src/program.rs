//! Programs: ranks that run operations and wait for each other (docs/model.md, section 10).
//!
//! Everything here belongs to nodes and knows no network. What comes in are *moments* (something has arrived, a piece of work is
//! done); what goes out are [`Letter`]s that the NICs are to send. The simulation carries them; see `simulation/programs.rs`.
//!
//! | file | what |
//! |---|---|
//! | [`agenda`] | the moments that the ranks of a node wait for |
//! | [`letters`] | what of a program is in the network |
//! | [`rank`] | the state of a rank |
//! | [`running`] | a job: CPUs, iterations, what follows what |
//! | [`mail`] | what sending and receiving means |
//! | [`matching`] | which message is which |
//! | [`stream`] | ranks that run phases |
//! | [`graph`] | ranks that run a trace |
//! | [`tally`] | what is counted |
//! | [`dead`] | what is said of a program that cannot go on |

mod agenda;
mod dead;
mod graph;
mod letters;
mod mail;
mod matching;
mod rank;
mod running;
mod sizes;
mod stream;
mod tally;

use odonata_error::Error;

use crate::spec::Spec;
use agenda::Agenda;
pub use letters::Letter;
use letters::Letters;
pub use letters::Sort;
pub use running::Running;

/// Node without a program.
const NO_HOST: u32 = u32::MAX;

/// All jobs with a program, and the nodes that their ranks are on.
pub struct Programs {
    /// By job; none for a job with traffic.
    pub running: Vec<Option<Running>>,
    /// Number of each node among the hosts.
    host_of: Vec<u32>,
    hosts: Vec<Agenda>,
    letters: Letters,
    /// Letters that the node just run has to send, in order.
    pub outbox: Vec<Letter>,
    /// Jobs of which the last rank has finished, and when; to be taken out by the simulation.
    pub finished: Vec<(u16, u64)>,
}

impl Programs {
    /// The programs of a checked specification; none if no job has one.
    #[must_use]
    pub fn new(spec: &Spec, nodes: usize) -> Option<Self> {
        if spec.jobs.iter().all(|job| job.program.is_none()) {
            return None;
        }
        let mut host_of = vec![NO_HOST; nodes];
        let mut hosts = Vec::new();
        let mut running = Vec::new();
        for (index, job) in spec.jobs.iter().enumerate() {
            running.push(job.program.as_ref().map(|program| {
                for (rank, &node) in job.nodes.iter().enumerate() {
                    let host = &mut host_of[node as usize];
                    if *host == NO_HOST {
                        *host = hosts.len() as u32;
                        hosts.push(Agenda::new(index as u16));
                    }
                    hosts[*host as usize].start(program.start_ps, rank as u32);
                }
                Running::new(spec, index as u16, program)
            }));
        }
        let (letters, outbox, finished) = (Letters::default(), Vec::new(), Vec::new());
        Some(Self { running, host_of, hosts, letters, outbox, finished })
    }

    /// Whether the ranks of a node run a program.
    #[inline]
    #[must_use]
    pub fn is_host(&self, node: u32) -> bool {
        self.host_of[node as usize] != NO_HOST
    }

    /// The smallest packet of a job with a program, if packets hold `full` bytes; or less.
    #[must_use]
    pub fn least_packet(&self, job: usize, full: u32) -> Option<u32> {
        self.running[job].as_ref().map(|running| running.least_packet(full))
    }

    /// All nodes with the instants at which they have something to do first.
    pub fn starts(&mut self) -> Vec<(u32, u64)> {
        let hosts = (0..self.host_of.len() as u32).filter(|&node| self.is_host(node));
        hosts.collect::<Vec<_>>().into_iter().filter_map(|node| self.arm(node).map(|at| (node, at))).collect()
    }

    /// The job of a node's ranks.
    #[must_use]
    pub fn job_of(&self, node: u32) -> u16 {
        self.hosts[self.host_of[node as usize] as usize].job
    }

    /// Handles the moments of a node up to `now`. What it has to send is in the outbox then.
    ///
    /// # Errors
    /// A dead program, an endless one that takes no time, a time out of range.
    pub fn run(&mut self, node: u32, now: u64) -> Result<(), Error> {
        let agenda = &mut self.hosts[self.host_of[node as usize] as usize];
        let running = self.running[usize::from(agenda.job)].as_mut().expect("the node has a program");
        while let Some(moment) = agenda.take(now) {
            running.handle(moment, now, agenda, &mut self.outbox)?;
        }
        if let Some(at) = running.just_finished() {
            self.finished.push((agenda.job, at));
        }
        running.still_alive()
    }

    /// When an event is to be made for a node, if it has something to do earlier than any event that was made for it.
    pub fn arm(&mut self, node: u32) -> Option<u64> {
        self.hosts[self.host_of[node as usize] as usize].arm()
    }

    /// Keeps a letter while it is in the network; returns its slot.
    pub fn post(&mut self, letter: Letter) -> u32 {
        self.letters.add(letter)
    }

    /// A letter in the network.
    #[must_use]
    pub fn letter(&self, slot: u32) -> &Letter {
        self.letters.get(slot)
    }

    /// A letter reaches its node at `at`; returns the node.
    pub fn arrive(&mut self, job: u16, slot: u32, at: u64) -> u32 {
        let letter = self.letters.take(slot);
        let running = self.running[usize::from(job)].as_mut().expect("letters are of programs");
        let node = running.node(letter.rank);
        let host = self.host_of[node as usize];
        self.hosts[host as usize].add(letter.arrival(at));
        node
    }

    /// The last packet of a letter leaves its NIC with its tail at `at`: a moment for the sender if it is the data that was asked for.
    pub fn sent(&mut self, job: u16, slot: u32, at: u64) -> Option<u32> {
        let letter = self.letters.get(slot);
        if letter.sort != Sort::Data {
            return None;
        }
        let moment = letter.sent(at);
        let running = self.running[usize::from(job)].as_mut().expect("letters are of programs");
        running.alive += 1;
        let node = running.node(moment.rank);
        self.hosts[self.host_of[node as usize] as usize].add(moment);
        Some(node)
    }
}
