//! The operations of a trace and their dependencies.

/// The operations of all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub(crate) graphs: Vec<Graph>,
    /// The tags of all messages, ascending.
    pub(crate) tags: Vec<u64>,
}

impl Trace {
    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.graphs.len() as u32
    }

    /// The operations of a rank.
    #[must_use]
    pub fn graph(&self, rank: u32) -> &Graph {
        &self.graphs[rank as usize]
    }

    /// The tag of the messages with this label.
    #[must_use]
    pub fn tag(&self, label: u64) -> u64 {
        self.tags[(label >> 32) as usize]
    }

    /// Whether any operation is on a NIC other than 0, so that NICs have a meaning.
    #[must_use]
    pub fn names_nics(&self) -> bool {
        self.graphs.iter().flat_map(Graph::operations).any(|operation| operation.nic != 0)
    }

    /// The same trace with all operations on NIC 0, so that NICs have no meaning.
    #[must_use]
    pub fn without_nics(mut self) -> Self {
        for operation in self.graphs.iter_mut().flat_map(|graph| &mut graph.operations) {
            (operation.nic, operation.peer_nic) = (0, 0);
        }
        self
    }

    /// Number of operations of all ranks.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.graphs.iter().map(|graph| graph.operations.len() as u64).sum()
    }
}

/// The operations of one rank, in the order of the text, numbered from 0. An operation takes 40 bytes, and a dependency
/// 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    operations: Vec<Operation>,
    /// The numbers of the CPUs of the rank, ascending. CPU 0 is always among them.
    cpus: Vec<u32>,
    /// The start of the followers of each operation; one more entry than there are operations.
    first: Vec<u32>,
    followers: Vec<(u32, Start)>,
    waits_for: Vec<u32>,
}

/// `after` waits for an event of `before`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub before: u32,
    pub after: u32,
    pub start: Start,
}

impl Graph {
    /// The graph of these operations on these CPUs; repeated dependencies count once. Fewer than 2^32 operations and
    /// dependencies; no cycles.
    pub(crate) fn new(mut operations: Vec<Operation>, cpus: Vec<u32>, mut edges: Vec<Edge>) -> Self {
        operations.shrink_to_fit();
        edges.sort_unstable();
        edges.dedup();
        let mut first = vec![0_u32; operations.len() + 1];
        let mut waits_for = vec![0_u32; operations.len()];
        for edge in &edges {
            first[edge.before as usize + 1] += 1;
            waits_for[edge.after as usize] += 1;
        }
        for operation in 0..operations.len() {
            first[operation + 1] += first[operation];
        }
        let followers = edges.iter().map(|edge| (edge.after, edge.start)).collect();
        Self { operations, cpus, first, followers, waits_for }
    }

    /// All dependencies, by `before`.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        let of = |before| self.followers(before).iter().map(move |&(after, start)| Edge { before, after, start });
        (0..self.operations.len() as u32).flat_map(of).collect()
    }

    /// The operations.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The CPUs of the rank by [`Operation::cpu`]: their numbers in the text, ascending. The first is CPU 0, used or
    /// not.
    #[must_use]
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// The number in the text of an operation's CPU.
    #[must_use]
    pub fn cpu(&self, operation: &Operation) -> u32 {
        self.cpus[usize::from(operation.cpu)]
    }

    /// The operations that wait for this one, ascending, each with the event that it waits for. An operation may appear
    /// with both events.
    #[must_use]
    pub fn followers(&self, operation: u32) -> &[(u32, Start)] {
        let [from, to] = [operation, operation + 1].map(|s| self.first[s as usize] as usize);
        &self.followers[from..to]
    }

    /// The number of dependencies of an operation.
    #[must_use]
    pub fn waits_for(&self, operation: u32) -> u32 {
        self.waits_for[operation as usize]
    }
}

/// One operation of a trace. Two operations are equal if they do the same, whatever their lines.
#[derive(Clone, Copy, Debug, Eq)]
pub struct Operation {
    /// What it does.
    pub action: Action,
    /// CPU of the rank that it occupies, as an index into [`Graph::cpus`].
    pub cpu: u16,
    /// NIC of the rank's node that a message uses.
    pub nic: u8,
    /// NIC that the operation at the other end of the message names.
    pub peer_nic: u8,
    /// Its line in the text, from 1; in a binary trace, the number of the operation in its rank, from 1.
    pub line: u32,
}

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        (self.action, self.cpu, self.nic, self.peer_nic) == (other.action, other.cpu, other.nic, other.peer_nic)
    }
}

/// What an operation of a trace does. It blocks only its followers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends a message.
    Send {
        /// Rank that it goes to.
        to: u32,
        /// As in [`crate::Op::Send`]: `t << 32 | occurrence`. `t` is the index of its tag among those of the trace
        /// ([`Trace::tag`]), and `occurrence` counts the uses of the tag between the two ranks, in the order of the
        /// text.
        label: u64,
        /// Its size.
        bytes: u64,
    },
    /// Receives a message.
    Receive {
        /// Rank that it comes from.
        from: u32,
        /// As in [`Action::Send`].
        label: u64,
        /// Its size.
        bytes: u64,
    },
    /// Computes for this many picoseconds.
    Compute {
        /// Picoseconds.
        ps: u64,
    },
}

/// The event of an operation that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    /// Its start (`irequires`).
    AtBegin,
    /// Its end (`requires`).
    AtEnd,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_are_ascending_and_count_once() {
        let operation = |ps| Operation { action: Action::Compute { ps }, cpu: 0, nic: 0, peer_nic: 0, line: ps as u32 };
        let edge = |before, after, start| Edge { before, after, start };
        let edges = vec![
            edge(2, 0, Start::AtEnd),
            edge(0, 3, Start::AtEnd),
            edge(0, 1, Start::AtEnd),
            edge(0, 3, Start::AtEnd),
            edge(0, 1, Start::AtBegin),
        ];
        let graph = Graph::new((0..4).map(operation).collect(), vec![0], edges);
        assert_eq!(graph.followers(0), [(1, Start::AtBegin), (1, Start::AtEnd), (3, Start::AtEnd)]);
        assert_eq!(graph.followers(1), []);
        assert_eq!(graph.followers(2), [(0, Start::AtEnd)]);
        assert_eq!(graph.followers(3), []);
        assert_eq!([0, 1, 2, 3].map(|s| graph.waits_for(s)), [1, 2, 0, 1]);
        assert_eq!(graph.operations().len(), 4);
    }

    #[test]
    fn an_operation_is_small() {
        assert_eq!((size_of::<Operation>(), size_of::<(u32, Start)>()), (32, 8));
    }
}
