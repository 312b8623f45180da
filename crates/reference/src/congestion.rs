//! Windows between NICs, fixed or under congestion control (model, section 3).

use std::collections::VecDeque;

use odonata_sim::engine::random::{Stream, below, random};
use odonata_sim::spec::{CongestionLaw, CongestionSpec, FabricSpec};

use crate::aries::wire;
use crate::world::World;

/// The longest pause.
const LONGEST_PAUSE: u128 = 1 << 40;

/// What a NIC knows of another one that it has sent something to. The names are those of the model.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// f: payload without an acknowledgement.
    pub(crate) in_flight: u64,
    /// w: the present window.
    pub(crate) window: u64,
    /// a: packets that asked and whose acknowledgement has not come.
    asking: u64,
    /// r: the end of a pause.
    pub(crate) pause_end: u64,
    /// The job that holds the queue for which the NIC waits; none for that of its own messages.
    pub(crate) holder: Option<usize>,
    /// c.
    since: u64,
    /// When the last acknowledgement came.
    answered: u64,
    /// alpha, a and m of `ecn-window`.
    share: u64,
    acknowledged: u64,
    marked: u64,
    /// v of `nscc`.
    mean_queue: u64,
    /// Keys that came back without a mark, the oldest first (`reps`).
    pub(crate) entropies: VecDeque<u32>,
    /// u of `slingshot`, and the payload of the packet that was committed then.
    latest: (u64, u64),
}

/// An acknowledgement that arrives at t: b, l, and whether it is marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement {
    pub(crate) t: u64,
    pub(crate) bytes: u64,
    /// b1: payload of the packet that it acknowledges itself.
    pub(crate) own: u64,
    pub(crate) delay: u64,
    pub(crate) marked: bool,
    /// The job that the mark names.
    pub(crate) named: Option<usize>,
    /// What it says.
    pub(crate) says: u64,
    /// l0 of `nscc`.
    pub(crate) zero_load: u64,
    /// Whether that packet asked for it.
    pub(crate) asks: bool,
}

impl Pair {
    /// A pair that has sent nothing, if NICs have windows towards destinations.
    pub(crate) fn new(fabric: &FabricSpec) -> Self {
        Self {
            in_flight: 0,
            window: fabric.most_in_flight().expect("there are windows"),
            asking: 0,
            pause_end: 0,
            holder: None,
            since: 0,
            answered: 0,
            share: 65_536,
            acknowledged: 0,
            marked: 0,
            mean_queue: 0,
            entropies: VecDeque::new(),
            latest: (0, 0),
        }
    }

    /// Whether the window has room for a full packet.
    pub(crate) fn fits(&self, fabric: &FabricSpec) -> bool {
        let none_asked = fabric.nic.acknowledge_every.is_some() && self.asking == 0;
        none_asked || self.fits_window(fabric)
    }

    /// Whether f(d) and a full packet are within the present window.
    fn fits_window(&self, fabric: &FabricSpec) -> bool {
        let full = u64::from(fabric.packet_bytes);
        let room = match slingshot(fabric) {
            Some(control) => control.window_bytes.min(2 * self.window),
            None => self.window,
        };
        self.in_flight + full <= room.max(full)
    }

    /// Whether something may be sent at t.
    pub(crate) fn open(&self, fabric: &FabricSpec, t: u64) -> bool {
        self.fits(fabric) && t >= self.pause_end
    }

    /// The NIC commits a packet with so much payload at t. Returns whether the packet asks for an acknowledgement.
    pub(crate) fn send(&mut self, fabric: &FabricSpec, t: u64, bytes: u64, last_of_message: bool) -> bool {
        if let Some(control) = slingshot(fabric) {
            if self.in_flight == 0 && t > self.answered.max(self.pause_end) + 4 * round(fabric, &control) {
                self.window = control.window_bytes;
                self.holder = None;
            }
            self.latest = (t, bytes);
            self.pace(fabric, &control);
        }
        self.in_flight += bytes;
        let fills = self.asking == 0 && !self.fits_window(fabric);
        let asks = last_of_message || fills;
        self.asking += u64::from(asks);
        asks
    }

    /// An acknowledgement arrives.
    pub(crate) fn acknowledge(&mut self, fabric: &FabricSpec, of: Acknowledgement) {
        self.in_flight -= of.bytes;
        self.asking -= u64::from(of.asks);
        self.answered = of.t;
        let Some(control) = fabric.congestion_control else { return };
        let (full, most) = (u64::from(fabric.packet_bytes), control.window_bytes);
        let new = of.t - of.delay >= self.since;
        match control.law {
            CongestionLaw::Slingshot => {
                let share = (most / of.says).max(1);
                let grown = self.window.max(share) + of.bytes.min(self.window) / 16;
                self.window = if of.marked { share.min(self.window) } else { most.min(grown) };
                self.pace(fabric, &control);
            }
            CongestionLaw::EcnWindow => self.ecn_window(full, most, of, new),
            CongestionLaw::ReceiverCredit { .. } => {} // the window is fixed
            CongestionLaw::Nscc { target_ps } => self.nscc(full, most, target_ps, of, new),
        }
        if of.marked {
            self.holder = of.named;
        }
        if self.window == most {
            self.holder = None;
        }
    }

    /// When a pair under `slingshot` may send again.
    fn pace(&mut self, fabric: &FabricSpec, control: &CongestionSpec) {
        let (u, bytes) = self.latest;
        let pause = u128::from(round(fabric, control)) * u128::from(bytes) / u128::from(self.window);
        let paces = self.window < control.window_bytes;
        self.pause_end = if paces { u + pause.min(LONGEST_PAUSE) as u64 } else { 0 };
    }

    fn ecn_window(&mut self, full: u64, most: u64, of: Acknowledgement, round_trip_over: bool) {
        self.acknowledged += of.bytes;
        let with_mark = if of.marked { of.own } else { 0 };
        self.marked += with_mark;
        self.window = most.min(self.window + full * (of.bytes - with_mark) / self.window);
        if !round_trip_over {
            return;
        }
        self.share = self.share - self.share / 16 + (65_536 * self.marked / self.acknowledged) / 16;
        if self.marked > 0 {
            self.window = full.max(self.window - self.window * self.share / 131_072);
        }
        (self.acknowledged, self.marked, self.since) = (0, 0, of.t);
    }

    fn nscc(&mut self, full: u64, most: u64, target: u64, of: Acknowledgement, new: bool) {
        let queue = of.delay.saturating_sub(of.zero_load);
        self.mean_queue = (i128::from(self.mean_queue) + (i128::from(queue) - i128::from(self.mean_queue)) / 16) as u64;
        let mean = self.mean_queue;
        let [b, p, w] = [of.bytes, full, self.window].map(u128::from);
        let grown = match (of.marked, queue < target) {
            (false, true) => w + b * p * u128::from(target - queue) / (u128::from(target) * w),
            (false, false) => w + b * p / (8 * w),
            (true, true) => return,
            (true, false) => {
                if mean > target && new {
                    let cut = (8 * u128::from(mean - target)).min(5 * u128::from(mean));
                    self.window = full.max((w - w * cut / (10 * u128::from(mean))) as u64);
                    self.since = of.t;
                }
                return;
            }
        };
        self.window = grown.min(u128::from(most)) as u64;
    }
}

/// The numbers of `slingshot`, if a fabric has it.
fn slingshot(fabric: &FabricSpec) -> Option<CongestionSpec> {
    fabric.congestion_control.filter(|control| control.law == CongestionLaw::Slingshot)
}

/// T of `slingshot`.
fn round(fabric: &FabricSpec, control: &CongestionSpec) -> u64 {
    let full = u64::from(fabric.packet_bytes);
    let time = fabric.links["node"].bandwidth.serialisation_ps(wire(fabric, full, false, false));
    (u128::from(control.window_bytes) * u128::from(time) / u128::from(full)) as u64
}

impl World<'_> {
    /// The job that a mark at an output names at `t`, if blame is measured.
    pub(crate) fn name_holder(&self, t: u64, out: usize) -> Option<usize> {
        if !self.spec.measure.blame {
            return None;
        }
        let link = &self.links[out];
        let sending = link.sending.iter().map(|of| (of.message, link.serialisation(of.wire).min(of.leaves - t)));
        let in_line = link.line.iter().map(|granted| &granted.packet);
        let blocked = link.channels.iter().flat_map(|channel| &channel.fifo);
        let behind_crossbar = self.crossbars.get(self.map.router(out)).into_iter().flat_map(|of| of.packets_to(out));
        let whole = in_line.chain(blocked).chain(behind_crossbar);
        let mut held = vec![0; self.spec.jobs.len()]; // H
        for (message, ps) in sending.chain(whole.map(|of| (of.message, link.serialisation(of.wire)))) {
            held[self.messages[message].job] += ps;
        }
        let x = below(random(self.spec.seed, Stream::Holder, out as u64, t), held.iter().sum());
        let up_to = held.iter().scan(0, |sum, ps| {
            *sum += ps;
            Some(*sum)
        });
        up_to.into_iter().position(|sum: u64| x < sum)
    }
}
