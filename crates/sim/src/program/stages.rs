//! Ranks that run a program of stages: a graph of nodes, whose operations are computed when a rank comes to them.

use std::cmp::Reverse;

use odonata_programs::trace::Action;
use odonata_programs::{Awaits, NodeOperations, Program, Staged};

use super::matching::MessageKey;
use super::rank_events::RankEventKind;
use super::running::{NodeContext, Running, Token};
use crate::observe::Task;

/// How far the ranks of a job are in their nodes.
#[derive(Default)]
pub struct Nodes {
    /// Where the nodes of each rank begin in `states`.
    first: Vec<usize>,
    /// For how many nodes a node still waits; from its first operation on, its place in `active`, from 1.
    states: Vec<u32>,
    active: Vec<Active>,
    /// Places of `active` that are not used.
    idle: Vec<u32>,
    begun: Vec<Begun>,
    /// Places of `begun` that are not used.
    ended: Vec<Token>,
}

/// A node that a rank has begun.
#[derive(Default)]
struct Active {
    operations: NodeOperations,
    /// What its next operation waits for.
    awaits: Option<Awaits>,
    /// Operations that have begun and have not ended.
    open: u32,
}

/// An operation that has begun and has not ended.
#[derive(Clone, Copy)]
struct Begun {
    node: u32,
    active: u32,
    action: Action,
    /// Whether what follows waits for its end.
    blocking: bool,
}

impl Nodes {
    /// Of a program that has some.
    pub fn new(program: &Program, ranks: u32) -> Self {
        let Program::Stages(staged) = program else { return Self::default() };
        let mut first = vec![0];
        for rank in 0..ranks {
            first.push(first[rank as usize] + staged.waits(rank).len());
        }
        Self { states: vec![0; first[ranks as usize]], first, ..Self::default() }
    }

    fn state(&mut self, rank: u32, node: u32) -> &mut u32 {
        &mut self.states[self.first[rank as usize] + node as usize]
    }

    /// The node of an operation that has begun.
    pub fn node(&self, token: Token) -> u32 {
        self.begun[token as usize].node
    }

    /// The place in `active` of a node of a rank, whose operations begin now if they have not.
    fn activate(&mut self, staged: &Staged, rank: u32, node: u32) -> u32 {
        let state = *self.state(rank, node);
        if let Some(place) = state.checked_sub(1) {
            return place;
        }
        let place = self.idle.pop().unwrap_or_else(|| {
            self.active.push(Active::default());
            self.active.len() as u32 - 1
        });
        *self.state(rank, node) = place + 1;
        let active = &mut self.active[place as usize];
        (active.open, active.awaits) = (0, None);
        active.operations.begin(staged, rank, node);
        place
    }

    fn begin(&mut self, begun: Begun) -> Token {
        if let Some(token) = self.ended.pop() {
            self.begun[token as usize] = begun;
            return token;
        }
        self.begun.push(begun);
        self.begun.len() as u32 - 1
    }
}

impl Running {
    /// Begins the nodes of a rank that wait for none.
    pub(super) fn begin_nodes(&mut self, rank: u32, context: &mut NodeContext) {
        self.set_up_nodes(rank);
        self.run_nodes(rank, context);
    }

    /// Resets what the nodes of an iteration wait for.
    fn set_up_nodes(&mut self, rank: u32) {
        let Program::Stages(staged) = &*self.program else { unreachable!("only for stages") };
        let waits = staged.waits(rank);
        let first = self.nodes_of_stages.first[rank as usize];
        self.nodes_of_stages.states[first..first + waits.len()].copy_from_slice(waits);
        self.ready.extend(staged.roots(rank).iter().map(|&node| Reverse(node)));
        self.ranks[rank as usize].open = waits.len() as u32;
    }

    /// Begins operations that are ready, those of the first node first, until none is left, and the next iteration when
    /// this one has ended.
    pub(super) fn run_nodes(&mut self, rank: u32, context: &mut NodeContext) {
        loop {
            while let Some(Reverse(node)) = self.ready.pop() {
                self.begin_operation(rank, node, context);
            }
            if self.ranks[rank as usize].open > 0 || !self.end_iteration(rank, context) {
                return;
            }
            self.set_up_nodes(rank);
        }
    }

    /// Begins the next operation of a node.
    fn begin_operation(&mut self, rank: u32, node: u32, context: &mut NodeContext) {
        let Program::Stages(staged) = &*self.program else { unreachable!("only for stages") };
        let place = self.nodes_of_stages.activate(staged, rank, node);
        let active = &mut self.nodes_of_stages.active[place as usize];
        let (action, cpu, blocking) = active.operations.next().expect("the node has one");
        let awaits = active.operations.advance(staged);
        active.awaits = Some(awaits);
        active.open += 1;
        let token = self.nodes_of_stages.begin(Begun { node, active: place, action, blocking });
        let (task, ps) = match action {
            Action::Compute { ps } => (Task::Compute, self.computing(rank, ps, 0)),
            Action::Send { to, bytes, .. } => (Task::Send { to, bytes }, self.sending(rank, to, bytes)),
            Action::Receive { from, label, bytes } => {
                if awaits == Awaits::Begin {
                    self.ready.push(Reverse(node));
                }
                let key = MessageKey { to: rank, from, iteration: self.ranks[rank as usize].iteration, label };
                if self.post(key, bytes, cpu, token, context) {
                    self.operation_ended(rank, token);
                }
                return;
            }
        };
        let number = self.ranks[rank as usize].tasks;
        let (begin, end) = self.occupy(rank, cpu, task, ps, token, context);
        if awaits == Awaits::Begin {
            if begin <= context.now {
                self.ready.push(Reverse(node));
            } else {
                self.task_event(RankEventKind::Begun, begin, rank, number, token, 0, context);
            }
        }
        if end <= context.now {
            self.node_task_ended(rank, token, context);
        }
    }

    /// A CPU task has begun for which the next operation of its node waits.
    pub(super) fn node_task_begun(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        self.ready.push(Reverse(self.nodes_of_stages.node(token)));
        self.run_nodes(rank, context);
    }

    /// The CPU task of an operation is done, at an event of its own.
    pub(super) fn node_task_done(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        self.node_task_ended(rank, token, context);
        self.run_nodes(rank, context);
    }

    /// A send or a receive is complete, at an event of its own.
    pub(super) fn node_operation_complete(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        self.operation_ended(rank, token);
        self.run_nodes(rank, context);
    }

    fn node_task_ended(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        if let Action::Send { to, label, bytes } = self.nodes_of_stages.begun[token as usize].action {
            let key = MessageKey { to, from: rank, iteration: self.ranks[rank as usize].iteration, label };
            if !self.hand_over(key, bytes, token, context) {
                return;
            }
        }
        self.operation_ended(rank, token);
    }

    /// An operation has ended, and its node if it was the last one.
    fn operation_ended(&mut self, rank: u32, token: Token) {
        let nodes = &mut self.nodes_of_stages;
        let Begun { node, active: place, blocking, .. } = nodes.begun[token as usize];
        nodes.ended.push(token);
        let active = &mut nodes.active[place as usize];
        active.open -= 1;
        let awaits = active.awaits.expect("an operation has begun");
        if !(blocking && awaits == Awaits::End || active.open == 0 && awaits == Awaits::All) {
            return;
        }
        if active.operations.next().is_some() {
            self.ready.push(Reverse(node));
            return;
        }
        nodes.idle.push(place);
        self.ranks[rank as usize].open -= 1;
        let Program::Stages(staged) = &*self.program else { unreachable!("only for stages") };
        let first = nodes.first[rank as usize];
        for &follower in staged.followers(rank, node) {
            let state = &mut nodes.states[first + follower as usize];
            *state -= 1;
            if *state == 0 {
                self.ready.push(Reverse(follower));
            }
        }
    }
}
