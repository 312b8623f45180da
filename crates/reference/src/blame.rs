//! Who makes whom wait, and the load of links over time (model, section 9, "Blame" and "Series"): computed after the
//! run from all commits of packets to links.

use std::collections::BTreeMap;

use odonata_sim::output::{Blame, RootRows, Routes, Series, Wait};
use odonata_sim::spec::Spec;

use crate::crossbar::Key as QueueKey;
use crate::link::{Link, Sender};
use crate::packet::Message;

/// The last slice that a series may have.
const LAST_SLICE: u64 = 255;

/// The most rows that a series may have.
const MOST_ROWS: usize = 4_194_304;

/// The link at which a chain of full buffers ends, and the job that occupied it.
type Root = (usize, usize);

/// The commit of a packet to a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commit {
    /// The message of the packet.
    pub(crate) message: usize,
    /// The NIC (endpoint) that it goes to.
    pub(crate) to: usize,
    /// Its bytes on the link.
    pub(crate) wire: u64,
    /// The channel.
    pub(crate) channel: usize,
    /// Since when it waited for room in the far buffer: since it was decided on, or granted its output by a crossbar; at a
    /// NIC, since its message joined the queue.
    pub(crate) since: u64,
    /// When it was committed.
    pub(crate) committed: u64,
    /// When it was ready.
    pub(crate) ready: u64,
    /// From when on the packet has the link.
    pub(crate) occupies: u64,
    /// When its first byte leaves the sender.
    pub(crate) start: u64,
    /// From when it could be sent if the link were free and the far buffer had room, until `start`; 0 at a NIC.
    pub(crate) queued: u64,
    /// When its tail leaves the sender.
    pub(crate) leaves: u64,
    /// When the next router decides on it, or when it is delivered.
    pub(crate) next: u64,
    /// Whether it has payload and the link leads to its node.
    pub(crate) delivers: bool,
    /// Whether it was never diverted.
    pub(crate) minimal: bool,
    /// When the credit for its room in the far buffer reaches the sender, if that is known.
    pub(crate) returned: Option<u64>,
    /// The step of the packet that sends this credit.
    pub(crate) following: Option<Step>,
}

/// A step of a packet that frees room behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Its commit to a link: the link, and the number of the commit there.
    Commit(usize, usize),
    /// Its grant by a crossbar: the number of its passage.
    Grant(usize),
}

/// A packet at a router with a crossbar, from its queue to its output buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// The message of the packet.
    pub(crate) message: usize,
    /// Its bytes.
    pub(crate) wire: u64,
    /// Its queue.
    pub(crate) queue: QueueKey,
    /// Its output: slot and channel.
    pub(crate) output: (usize, usize),
    /// When it joined the queue.
    pub(crate) joined: u64,
    /// When it became the head.
    pub(crate) led: u64,
    /// When it was granted its output.
    pub(crate) granted: u64,
    /// Until when it occupies both sides of the crossbar.
    pub(crate) busy: u64,
    /// Its commit to its link: the link, and the number of the commit there.
    pub(crate) commit: Option<(usize, usize)>,
}

/// All commits of a run, by link, each in order of time.
#[derive(Debug)]
pub(crate) struct Commits {
    /// By link.
    pub(crate) links: Vec<Vec<Commit>>,
    /// Those that were granted, in order.
    pub(crate) passages: Vec<Passage>,
    /// By NIC: the times in which the packet at the head waited for the window (with no key), or in which the window
    /// towards a destination had no room for a full packet; the end of the last may not be known.
    pub(crate) windows: Vec<BTreeMap<Option<usize>, Vec<Hold>>>,
}

/// A time in which a window holds back packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    /// From when to when.
    pub(crate) time: [u64; 2],
    /// The job that holds the queue because of which; none for that of the packets.
    pub(crate) holder: Option<usize>,
}

/// How long the windows of a NIC held back a packet to a destination during a wait, and for whom, part by part.
fn held(
    windows: &BTreeMap<Option<usize>, Vec<Hold>>,
    to: usize,
    wait: [u64; 2],
) -> impl Iterator<Item = (Option<usize>, u64)> {
    let times = [None, Some(to)].into_iter().filter_map(|key| windows.get(&key)).flatten();
    times.map(move |of| (of.holder, overlap(wait, of.time)))
}

impl Commits {
    /// The rows of a run.
    pub(crate) fn blame(&self, spec: &Spec, links: &[Link], messages: &[Message]) -> Blame {
        let counts = spec.measure.from_ps..spec.measure.until_ps.unwrap_or(u64::MAX);
        let mut rows: BTreeMap<(usize, usize, Wait, usize), u64> = BTreeMap::new();
        let mut service_ps = vec![0; spec.jobs.len()];
        let first_nic = links.iter().take_while(|link| matches!(link.sender, Sender::Port)).count();
        for (link, commits) in self.links.iter().enumerate() {
            for packet in commits.iter().filter(|packet| counts.contains(&messages[packet.message].joined)) {
                let victim = messages[packet.message].job;
                // Responses count at the injection link of their NIC.
                let at = if let Sender::Responses(nic) = links[link].sender { first_nic + nic.index() } else { link };
                let mut waits = |cause: usize, wait: Wait, ps: u64| {
                    if ps > 0 {
                        *rows.entry((victim, cause, wait, at)).or_default() += ps;
                    }
                };
                // Until the link is free.
                let turn = packet.ready.max(packet.occupies);
                service_ps[victim] += (packet.next - packet.committed) - (turn - packet.ready);
                let nic = match links[link].sender {
                    Sender::Nic(nic) | Sender::Responses(nic) => Some(nic.index()),
                    Sender::Port => None,
                };
                if let Some(nic) = nic {
                    let (wait, to) = ([packet.since, packet.committed], packet.to);
                    let is_request = matches!(links[link].sender, Sender::Nic(_));
                    let mut window = 0;
                    for (holder, ps) in held(&self.windows[nic], to, wait).filter(|_| is_request) {
                        waits(holder.unwrap_or(victim), Wait::Window, ps);
                        window += ps;
                    }
                    waits(victim, Wait::SourceBuffer, packet.committed - packet.since - window);
                    waits(victim, Wait::SourceLink, turn - packet.ready);
                    continue;
                }
                // Packets have the link one after the other, in this order.
                let passed = commits.partition_point(|other| other.leaves <= packet.ready);
                for other in commits[passed..].iter().take_while(|other| other.occupies < turn) {
                    let ps = overlap([packet.ready, turn], [other.occupies, other.leaves]);
                    waits(messages[other.message].job, Wait::Link, ps);
                }
                if packet.since < packet.committed {
                    for (job, ps) in blocked(packet, commits, messages, spec.jobs.len()).into_iter().enumerate() {
                        waits(job, Wait::Buffer, ps);
                    }
                }
            }
        }
        let sides = self.sides();
        for packet in self.passages.iter().filter(|packet| counts.contains(&messages[packet.message].joined)) {
            let waits = self.before_grant(packet, &sides, messages, spec.jobs.len());
            for (cause, wait, ps) in waits.into_iter().filter(|&(_, _, ps)| ps > 0) {
                *rows.entry((messages[packet.message].job, cause, wait, packet.output.0)).or_default() += ps;
            }
        }
        let roots = if spec.measure.roots { self.roots(spec, links, messages, first_nic) } else { RootRows::default() };
        let mut blame = Blame { service_ps, roots, ..Blame::default() };
        for ((victim, cause, wait, link), ps) in rows {
            blame.push(victim as u16, cause as u16, wait, link as u32, ps);
        }
        blame
    }

    /// The packets that were granted an output, by input port and by output port.
    fn sides(&self) -> [BTreeMap<usize, Vec<&Passage>>; 2] {
        let mut sides = [BTreeMap::<_, Vec<_>>::new(), BTreeMap::new()];
        for packet in &self.passages {
            sides[0].entry(packet.queue.0).or_default().push(packet);
            sides[1].entry(packet.output.0).or_default().push(packet);
        }
        sides
    }

    /// The waits for room, by where chains of full buffers end.
    fn roots(&self, spec: &Spec, links: &[Link], messages: &[Message], first_nic: usize) -> RootRows {
        let counts = spec.measure.from_ps..spec.measure.until_ps.unwrap_or(u64::MAX);
        let mut rows: BTreeMap<(usize, usize, usize), u64> = BTreeMap::new();
        // The root of a step may be that of an earlier one.
        let grants = self.passages.iter().enumerate().map(|(number, packet)| (packet.granted, Step::Grant(number)));
        let commits = self.links.iter().enumerate().flat_map(|(link, of)| {
            of.iter().enumerate().map(move |(number, packet)| (packet.committed, Step::Commit(link, number)))
        });
        let mut order: Vec<_> = grants.chain(commits).collect();
        order.sort_unstable();
        let mut roots: BTreeMap<Step, Root> = BTreeMap::new();
        let sides = self.sides();
        for (_, step) in order {
            let (message, room, root, of_room) = match step {
                Step::Grant(number) => {
                    let waits = self.before_grant(&self.passages[number], &sides, messages, spec.jobs.len());
                    self.root_at_grant(number, &waits, messages, &roots)
                }
                Step::Commit(link, number) => {
                    self.root_at_commit((link, number), &links[link], messages, first_nic, &roots)
                }
            };
            let victim = &messages[message];
            if room > 0 && counts.contains(&victim.joined) {
                *rows.entry((victim.job, of_room.1, of_room.0)).or_default() += room;
            }
            roots.insert(step, root);
        }
        let mut sorted = RootRows::default();
        for ((victim, cause, link), ps) in rows {
            sorted.push(victim as u16, cause as u16, link as u32, ps);
        }
        sorted
    }

    /// Of a packet that is committed to a link: its message, its wait for room, its root, and the root of that wait.
    fn root_at_commit(
        &self,
        (link, number): (usize, usize),
        of: &Link,
        messages: &[Message],
        first_nic: usize,
        roots: &BTreeMap<Step, Root>,
    ) -> (usize, u64, Root, Root) {
        let (commits, packet) = (&self.links[link], &self.links[link][number]);
        let job = |commit: &Commit| messages[commit.message].job;
        let mut room = packet.committed - packet.since;
        let mut at = link;
        match of.sender {
            Sender::Nic(nic) => {
                let wait = [packet.since, packet.committed];
                room -= held(&self.windows[nic.index()], packet.to, wait).map(|(_, ps)| ps).sum::<u64>();
            }
            Sender::Responses(nic) => at = first_nic + nic.index(),
            Sender::Port => {}
        }
        let busy = packet.ready.max(packet.occupies) - packet.ready;
        let own = (at, if busy > 0 && number > 0 { job(&commits[number - 1]) } else { job(packet) });
        let arrived = commits[..number].iter().filter(|other| other.channel == packet.channel).filter_map(|other| {
            let stamp = other.returned.filter(|&stamp| stamp <= packet.committed)?;
            other.following.map(|step| (stamp, self.link_of(step), step))
        });
        let of_room = if room > 0 { arrived.max().map_or(own, |(_, _, step)| roots[&step]) } else { own };
        (packet.message, room, if room > busy { of_room } else { own }, of_room)
    }

    /// The link by which the packet of a step leaves.
    fn link_of(&self, step: Step) -> usize {
        match step {
            Step::Commit(link, _) => link,
            Step::Grant(number) => self.passages[number].output.0,
        }
    }

    /// The same of a packet that is granted its output, for the wait for room in the output buffer. Its waits before the
    /// grant are given.
    fn root_at_grant(
        &self,
        number: usize,
        waits: &[(usize, Wait, u64)],
        messages: &[Message],
        roots: &BTreeMap<Step, Root>,
    ) -> (usize, u64, Root, Root) {
        let packet = &self.passages[number];
        let of = |kind: Wait| waits.iter().filter(|wait| wait.1 == kind).map(|wait| wait.2).sum::<u64>();
        let [queue, input, output, room] =
            [Wait::Queue, Wait::CrossbarInput, Wait::CrossbarOutput, Wait::OutputBuffer].map(of);
        let before = || self.passages[..number].iter().enumerate().rev();
        let has_passed = if input + output == 0 {
            None
        } else if input > output {
            before().find(|(_, other)| other.queue.0 == packet.queue.0)
        } else {
            before().find(|(_, other)| other.output.0 == packet.output.0)
        };
        let crossbar = (packet.output.0, messages[has_passed.map_or(packet, |other| other.1).message].job);
        let mut of_room = crossbar;
        if room > 0 {
            let left = before().filter(|(_, other)| other.output == packet.output).find_map(|(_, other)| {
                let (link, number) = other.commit?;
                (self.links[link][number].leaves <= packet.granted).then_some(Step::Commit(link, number))
            });
            of_room = roots[&left.expect("a packet that has left has made room")];
        }
        let root = if room > queue.max(input + output) {
            of_room
        } else if queue > input + output {
            let head = before().find(|(_, other)| other.queue == packet.queue).expect("it has waited behind a head");
            roots[&Step::Grant(head.0)]
        } else {
            crossbar
        };
        (packet.message, room, root, of_room)
    }

    /// What a packet waited for from its decision to its grant: causes, kinds and times. The others are those that came by
    /// the same input, and those that left by the same output.
    fn before_grant<'a>(
        &self,
        packet: &Passage,
        [by_input, by_output]: &'a [BTreeMap<usize, Vec<&'a Passage>>; 2],
        messages: &[Message],
        jobs: usize,
    ) -> Vec<(usize, Wait, u64)> {
        // Passages are in the order of their grants, and a side serves one after the other. So only those that still had the
        // side after this packet had come, and were granted before it, can have held it up.
        let earlier = |side: &'a [&'a Passage]| &side[..side.partition_point(|other| other.granted < packet.granted)];
        let (by_input, by_output) = (earlier(&by_input[&packet.queue.0]), earlier(&by_output[&packet.output.0]));
        let since = |side: &'a [&'a Passage], time: u64| &side[side.partition_point(|other| other.busy <= time)..];
        let mut waits = Vec::new();
        let job = |other: &Passage| messages[other.message].job;
        for other in since(by_input, packet.joined).iter().filter(|other| other.queue == packet.queue) {
            waits.push((job(other), Wait::Queue, overlap([packet.joined, packet.led], [other.led, other.granted])));
        }
        // The times during which it is the head, without those for which a cause is found.
        let mut left = vec![[packet.led, packet.granted]];
        for other in since(by_input, packet.led) {
            waits.push((job(other), Wait::CrossbarInput, take(&mut left, [other.granted, other.busy])));
        }
        for other in since(by_output, packet.led) {
            waits.push((job(other), Wait::CrossbarOutput, take(&mut left, [other.granted, other.busy])));
        }
        let mut held = vec![0; jobs];
        for other in by_output.iter().rev().filter(|other| other.output == packet.output) {
            let leaves = other.commit.map_or(u64::MAX, |(link, number)| self.links[link][number].leaves);
            if leaves <= packet.led {
                break; // those before it have left, too
            }
            let stays = [other.granted, leaves];
            let time: u64 = left.iter().map(|&part| overlap(part, stays)).sum();
            held[job(other)] += u128::from(other.wire) * u128::from(time);
        }
        let room = left.iter().map(|[from, until]| until - from).sum();
        if room > 0 {
            let of = |(job, ps)| (job, Wait::OutputBuffer, ps);
            waits.extend(shares(room, &held).into_iter().enumerate().map(of));
        }
        waits
    }

    /// The load of the first `links` links over time: with the least width for which there are few enough slices and rows.
    pub(crate) fn series(&self, links: usize, messages: &[Message]) -> Series {
        let latest = self.links[..links].iter().flatten().map(|packet| packet.start).max();
        let Some(latest) = latest else { return Series::default() };
        let mut width_ps = 1;
        loop {
            let mut rows: BTreeMap<(usize, u64, usize), (u64, u64)> = BTreeMap::new();
            if latest / width_ps <= LAST_SLICE {
                for (link, commits) in self.links[..links].iter().enumerate() {
                    for packet in commits {
                        let at = (link, packet.start / width_ps, messages[packet.message].job);
                        let (bytes, queued) = rows.entry(at).or_default();
                        *bytes += packet.wire;
                        *queued += packet.queued;
                    }
                }
                if rows.len() <= MOST_ROWS {
                    let mut series = Series { width_ps, ..Series::default() };
                    for ((link, slice, job), (bytes, queued)) in rows {
                        series.push(link as u32, slice as u16, job as u16, bytes, queued);
                    }
                    series.routes = self.routes(width_ps, messages);
                    return series;
                }
            }
            width_ps *= 2;
        }
    }

    /// The packets that reach their node, and the minimal ones, by slice and job.
    fn routes(&self, width_ps: u64, messages: &[Message]) -> Routes {
        let mut rows: BTreeMap<(u64, usize), (u64, u64)> = BTreeMap::new();
        for packet in self.links.iter().flatten().filter(|packet| packet.delivers) {
            let (packets, minimal) = rows.entry((packet.start / width_ps, messages[packet.message].job)).or_default();
            *packets += 1;
            *minimal += u64::from(packet.minimal);
        }
        let mut routes = Routes::default();
        for ((slice, job), (packets, minimal)) in rows {
            routes.push(slice as u16, job as u16, packets, minimal);
        }
        routes
    }
}

/// The wait of a packet for room, divided among the jobs.
fn blocked(packet: &Commit, commits: &[Commit], messages: &[Message], jobs: usize) -> Vec<u64> {
    let mut held = vec![0_u128; jobs]; // H
    let before = commits.iter().take_while(|other| other.committed < packet.committed);
    for other in before.filter(|other| other.channel == packet.channel) {
        let holds = [other.committed, other.returned.unwrap_or(u64::MAX)];
        let time = overlap([packet.since, packet.committed], holds);
        held[messages[other.message].job] += u128::from(other.wire) * u128::from(time);
    }
    shares(packet.committed - packet.since, &held)
}

/// The parts of a wait that are due to each job, by what each held.
fn shares(wait: u64, held: &[u128]) -> Vec<u64> {
    let all = held.iter().sum();
    let (mut up_to, mut before, mut shares) = (0, 0, Vec::new());
    for of in held {
        up_to += of;
        let share = part(wait, up_to, all); // A
        shares.push(share - before);
        before = share;
    }
    shares
}

/// Removes an interval from others, which do not overlap; returns how long what is removed is.
fn take(from: &mut Vec<[u64; 2]>, interval: [u64; 2]) -> u64 {
    let taken = from.iter().map(|&part| overlap(part, interval)).sum();
    let rest = |[a, b]: [u64; 2]| [[a, b.min(interval[0])], [a.max(interval[1]), b]];
    *from = from.iter().copied().flat_map(rest).filter(|[a, b]| a < b).collect();
    taken
}

/// The length of the overlap of both intervals.
fn overlap([a, b]: [u64; 2], [c, d]: [u64; 2]) -> u64 {
    b.min(d).saturating_sub(a.max(c))
}

/// `floor(time * part / whole)`, where the part is at most the whole. Uses long division in base 2, because the product
/// may have more than 128 bits.
fn part(time: u64, part: u128, whole: u128) -> u64 {
    let (mut quotient, mut rest) = (0, 0);
    for bit in (0..u64::BITS).rev() {
        rest = 2 * rest + if time >> bit & 1 == 1 { part } else { 0 };
        quotient = 2 * quotient + (rest / whole) as u64;
        rest %= whole;
    }
    quotient
}
